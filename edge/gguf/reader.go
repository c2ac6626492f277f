package gguf

// The reader: takes pieces from the front of a file and cannot leave it. It
// knows which entry it is in, so that what is missing or wrong has a name.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// reader is a position in a file.
type reader struct {
	file string
	data []byte
	pos  int

	part  string // "header", "key" or "tensor"
	index int    // of the key or tensor, from 0
	name  string // of the key or tensor; "" until it is read
}

// enter says which key or tensor the pieces that follow belong to.
func (r *reader) enter(part string, index int) {
	r.part, r.index, r.name = part, index, ""
}

// left returns the number of bytes not yet taken.
func (r *reader) left() uint64 { return uint64(len(r.data) - r.pos) }

// take returns the next n bytes; what names them in the message.
func (r *reader) take(n int, what string) ([]byte, error) {
	if uint64(n) > r.left() {
		return nil, r.short(what, uint64(n))
	}
	piece := r.data[r.pos : r.pos+n : r.pos+n]
	r.pos += n
	return piece, nil
}

// u32 takes a 32-bit number.
func (r *reader) u32(what string) (uint32, error) {
	piece, err := r.take(4, what)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(piece), nil
}

// u64 takes a 64-bit number.
func (r *reader) u64(what string) (uint64, error) {
	piece, err := r.take(8, what)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(piece), nil
}

// count takes a number of entries of at least minBytes each, at most limit.
func (r *reader) count(what string, minBytes, limit uint64) (int, error) {
	n, err := r.u64("the number of " + what)
	if err != nil {
		return 0, err
	}
	if n > limit {
		return 0, r.fail("%d %s, at most %d are read; the file is damaged", n, what, limit)
	}
	if n > r.left()/minBytes {
		return 0, r.shortTable(fmt.Sprintf("a table of %d %s", n, what))
	}
	return int(n), nil
}

// kind takes the id of a value's type.
func (r *reader) kind() (Kind, error) {
	id, err := r.u32("the type of the value")
	if err != nil {
		return 0, err
	}
	if id >= numKinds {
		return 0, r.fail("value type %d is not known, types below %d are; the file is damaged",
			id, numKinds)
	}
	return Kind(id), nil
}

// string takes a length and that many bytes.
func (r *reader) string(what string) ([]byte, error) {
	n, err := r.u64("the length of " + what)
	if err != nil {
		return nil, err
	}
	if n > r.left() {
		return nil, r.short(what, n)
	}
	return r.take(int(n), what)
}

// label takes the name of the entry the reader is in.
func (r *reader) label(maxBytes int) (string, error) {
	piece, err := r.string("the name")
	if err != nil {
		return "", err
	}
	if len(piece) == 0 {
		return "", r.fail("the name is empty; the file is damaged")
	}
	r.name = view(piece)
	if len(piece) > maxBytes {
		return "", r.fail("the name has %d bytes, at most %d are allowed; the file is damaged",
			len(piece), maxBytes)
	}
	return r.name, nil
}

// short is the message for a piece of n bytes that is not all there. Nearly
// always the file was cut while it was copied or downloaded.
func (r *reader) short(what string, n uint64) error {
	return r.fail("file too short: %s needs %d bytes at offset %d, where %d remain; "+
		"download the file again", what, n, r.pos, r.left())
}

// shortTable is short for what has too many elements to be all there.
func (r *reader) shortTable(what string) error {
	return r.fail("file too short: %s starts at offset %d, where %d bytes remain; "+
		"download the file again", what, r.pos, r.left())
}

// shortElement is short for a string at the reader's position that was found
// not to be all there.
func (r *reader) shortElement(what string) error {
	const lengthBytes = 8
	if r.left() < lengthBytes {
		return r.short("the length of "+what, lengthBytes)
	}
	n := binary.LittleEndian.Uint64(r.data[r.pos:])
	r.pos += lengthBytes
	return r.short(what, n)
}

// fail makes an error that names the file and the entry the reader is in.
func (r *reader) fail(format string, args ...any) error {
	return fail(r.file, r.where(), format, args...)
}

// where names the entry, by its name as soon as that is known.
func (r *reader) where() string {
	switch {
	case r.name != "":
		return r.part + " " + quote(r.name)
	case r.part == "header":
		return r.part
	default:
		return fmt.Sprintf("%s %d", r.part, r.index)
	}
}

// fail makes an error of this package about one part of a file.
func fail(file, where, format string, args ...any) error {
	return errors.New("gguf: " + file + ": " + where + ": " + fmt.Sprintf(format, args...))
}

// shape returns dimensions in the order of the file, "64x512".
func shape(dims []uint64) string {
	var b strings.Builder
	for i, dim := range dims {
		if i > 0 {
			b.WriteByte('x')
		}
		fmt.Fprint(&b, dim)
	}
	return b.String()
}
