package gguf

// Parsing: one pass over the header with a reader that cannot leave the file.
//
//	magic "GGUF", u32 version, u64 tensors, u64 keys
//	keys:    string key, u32 kind, value
//	tensors: string name, u32 dimensions, u64 each, u32 type, u64 offset
//	padding to the alignment, then the data section
//
// All numbers are little-endian. A string is a u64 length and its bytes, an
// array a u32 kind, a u64 count and the elements.

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
)

const magic = "GGUF"

// Parse reads the header of a GGUF file that is in memory. name stands for the
// file in messages. data stays referenced: strings and tensors are views of
// it.
func Parse(name string, data []byte) (*File, error) {
	f := &File{name: name, data: data}
	r := &reader{file: name, data: data}
	tensors, keys, err := r.header(f)
	if err != nil {
		return nil, err
	}
	if err := r.metadata(f, keys); err != nil {
		return nil, err
	}
	if err := r.alignment(f); err != nil {
		return nil, err
	}
	if err := r.tensors(f, tensors); err != nil {
		return nil, err
	}
	if err := r.place(f); err != nil {
		return nil, err
	}
	return f, nil
}

// header reads everything before the first key.
func (r *reader) header(f *File) (tensors, keys int, err error) {
	r.part = "header"
	found, err := r.take(len(magic), "the magic number")
	if err != nil {
		return 0, 0, err
	}
	if string(found) != magic {
		return 0, 0, r.fail("the file begins with %s, a GGUF file with %q; "+
			"download the model file itself, or convert it to GGUF", quote(string(found)), magic)
	}
	if f.Version, err = r.u32("the version"); err != nil {
		return 0, 0, err
	}
	if err := r.version(f.Version); err != nil {
		return 0, 0, err
	}
	if tensors, err = r.count("tensors", minTensorBytes, maxTensors); err != nil {
		return 0, 0, err
	}
	if keys, err = r.count("keys", minKeyBytes, maxKeys); err != nil {
		return 0, 0, err
	}
	return tensors, keys, nil
}

// version refuses what is not version 2 or 3 in little-endian order.
func (r *reader) version(v uint32) error {
	switch {
	case v == 2 || v == 3:
		return nil
	case v == 1:
		return r.fail("GGUF version 1, with its 32-bit counts, is not read; " +
			"convert the model again to version 3")
	case v&0xffff == 0 && v != 0:
		// A small number with its bytes reversed has nothing in its low half.
		return r.fail("the file is big-endian (version %d reads as %d); "+
			"convert the model again for little-endian machines", bits.ReverseBytes32(v), v)
	default:
		return r.fail("GGUF version is %d, versions 2 and 3 are read; "+
			"convert the model to version 3", v)
	}
}

// metadata reads the keys and their values.
func (r *reader) metadata(f *File, keys int) error {
	f.Metadata = make([]Value, keys)
	for i := range f.Metadata {
		r.enter("key", i)
		v := &f.Metadata[i]
		var err error
		if v.Key, err = r.label(maxKeyBytes); err != nil {
			return err
		}
		if v.Kind, err = r.kind(); err != nil {
			return err
		}
		if err := r.value(v); err != nil {
			return err
		}
	}
	f.byKey = sortedIndex(keys, f.keyAt)
	return r.refuseTwins("key", f.byKey, f.keyAt)
}

// value reads what follows a key's kind.
func (r *reader) value(v *Value) (err error) {
	v.Elem, v.Count = v.Kind, 1
	switch v.Kind {
	case KindArray:
		return r.array(v)
	case KindString:
		v.data, err = r.string("the string")
		return err
	default:
		v.data, err = r.take(kindFacts[v.Kind].bytes, "the value")
		if err != nil {
			return err
		}
		return r.checkBools(v)
	}
}

// array reads an array's kind, count and elements.
func (r *reader) array(v *Value) (err error) {
	if v.Elem, err = r.kind(); err != nil {
		return err
	}
	if v.Elem == KindArray {
		return r.fail("the value is an array of arrays, which no model uses; " +
			"only arrays of numbers, bools and strings are read")
	}
	count, err := r.u64("the array's count")
	if err != nil {
		return err
	}
	if v.Elem == KindString {
		return r.stringArray(v, count)
	}
	size := kindFacts[v.Elem].bytes
	if count > r.left()/uint64(size) {
		return r.shortTable(fmt.Sprintf("an array of %d %v", count, v.Elem))
	}
	v.Count = int(count)
	if v.data, err = r.take(v.Count*size, "the array"); err != nil {
		return err
	}
	return r.checkBools(v)
}

// stringArray walks over the elements of an array of strings, to see that they
// are all there and where they end. Nothing is kept of them.
func (r *reader) stringArray(v *Value, count uint64) error {
	const lengthBytes = 8
	if count > r.left()/lengthBytes {
		return r.shortTable(fmt.Sprintf("an array of %d strings", count))
	}
	v.Count = int(count)
	rest := r.data[r.pos:]
	walk := stringWalk{rest: rest}
	for i := range v.Count {
		if _, ok := walk.next(); !ok {
			r.pos = len(r.data) - len(walk.rest)
			return r.shortElement(fmt.Sprintf("string %d of %d", i, v.Count))
		}
	}
	used := len(rest) - len(walk.rest)
	v.data = rest[:used]
	r.pos += used
	return nil
}

// checkBools refuses bools that are neither 0 nor 1, as the specification asks.
func (r *reader) checkBools(v *Value) error {
	if v.Elem != KindBool {
		return nil
	}
	for i, b := range v.data {
		if b > 1 {
			return r.fail("bool %d of %d is stored as %d, it must be 0 or 1; "+
				"the file is damaged", i, v.Count, b)
		}
	}
	return nil
}

// alignment takes the alignment from the metadata.
func (r *reader) alignment(f *File) error {
	const key = "general.alignment"
	f.Alignment = defaultAlignment
	v, ok := f.Value(key)
	if !ok {
		return nil
	}
	r.enter("key", 0)
	r.name = key
	if v.Kind != KindU32 {
		return r.fail("the alignment is %s %v, it must be a u32; convert the model again",
			v.TypeName(), v)
	}
	n := v.integerAt(0).bits
	if n < minAlignment || n > maxAlignment || n&(n-1) != 0 {
		return r.fail("the alignment is %d, it must be a power of two from %d to %d; "+
			"convert the model again", n, minAlignment, maxAlignment)
	}
	f.Alignment = int(n)
	return nil
}

// tensors reads the tensor table; where the data lies is left to place.
func (r *reader) tensors(f *File, count int) error {
	f.Tensors = make([]Tensor, count)
	dims := make([]uint64, count*maxDims)
	for i := range f.Tensors {
		r.enter("tensor", i)
		if err := r.tensor(&f.Tensors[i], dims[i*maxDims:(i+1)*maxDims:(i+1)*maxDims]); err != nil {
			return err
		}
	}
	f.byTensor = sortedIndex(count, f.tensorNameAt)
	return r.refuseTwins("tensor", f.byTensor, f.tensorNameAt)
}

// tensor reads one entry of the table into t, its dimensions into dims.
func (r *reader) tensor(t *Tensor, dims []uint64) (err error) {
	if t.Name, err = r.label(maxNameBytes); err != nil {
		return err
	}
	n, err := r.u32("the number of dimensions")
	if err != nil {
		return err
	}
	if n > maxDims {
		return r.fail("%d dimensions, at most %d are possible; the file is damaged", n, maxDims)
	}
	t.Dims = dims[:n]
	for i := range t.Dims {
		if t.Dims[i], err = r.u64("a dimension"); err != nil {
			return err
		}
		if t.Dims[i] == 0 {
			return r.fail("dimension %d is 0, it must be at least 1; the file is damaged", i)
		}
	}
	if n == 0 { // ggml's scalar; one dimension spares every reader a case
		t.Dims = append(t.Dims, 1)
	}
	id, err := r.u32("the type")
	if err != nil {
		return err
	}
	t.Type = Type(id)
	t.Offset, err = r.u64("the offset")
	return err
}

// place gives every tensor its bytes, having seen that they are in the file,
// aligned and nobody else's.
func (r *reader) place(f *File) error {
	start, padding := uint64(r.pos), uint64(f.Alignment-1)
	start = (start + padding) &^ padding
	if len(f.Tensors) == 0 {
		// Vocabulary-only files end with the header, mostly without padding.
		f.DataOffset = int64(min(start, uint64(len(f.data))))
		return nil
	}
	f.DataOffset = int64(start)
	for i := range f.Tensors {
		t := &f.Tensors[i]
		r.enter("tensor", i)
		r.name = t.Name
		size, err := r.tensorBytes(t)
		if err != nil {
			return err
		}
		if t.Offset&padding != 0 {
			return r.fail("offset %d is no multiple of the alignment %d; the file is damaged",
				t.Offset, f.Alignment)
		}
		if err := r.locate(t, start, size); err != nil {
			return err
		}
	}
	return r.refuseOverlap(f)
}

// tensorBytes computes the size of a tensor's data from its shape and type.
func (r *reader) tensorBytes(t *Tensor) (uint64, error) {
	values, bytes, known := t.Type.Block()
	if !known {
		return 0, r.unknownType(t.Type)
	}
	row := t.Dims[0]
	if row%uint64(values) != 0 {
		return 0, r.fail("rows of %d values do not divide into %v blocks of %d; "+
			"the file is damaged", row, t.Type, values)
	}
	over, size := bits.Mul64(row/uint64(values), uint64(bytes))
	for _, dim := range t.Dims[1:] {
		if over == 0 {
			over, size = bits.Mul64(size, dim)
		}
	}
	if over != 0 {
		return 0, r.fail("the size of %s %v overflows 64 bits; the file is damaged",
			shape(t.Dims), t.Type)
	}
	return size, nil
}

// unknownType says why a tensor's type cannot be read.
func (r *reader) unknownType(t Type) error {
	if t < numTypes {
		return r.fail("type %v (id %d) was withdrawn from GGUF; convert the model to %s",
			t, uint32(t), typeFacts[t].successor)
	}
	return r.fail("type id %d is not known, ids below %d are; the file comes from a newer "+
		"or a different converter", uint32(t), numTypes)
}

// locate sets t.Data to size bytes at the tensor's offset after start.
func (r *reader) locate(t *Tensor, start, size uint64) error {
	total := uint64(len(r.data))
	if start > total || t.Offset > total-start || size > total-start-t.Offset {
		return r.fail("file too short: %s %v needs %d bytes at offset %d of the data, "+
			"which starts at %d, and the file has %d; download the file again",
			shape(t.Dims), t.Type, size, t.Offset, start, total)
	}
	// A file of 0.3 GB can hold 2^31 values of one bit and a bit. Up to here
	// the product is known not to overflow: no type has 8 values in a byte.
	if n := t.Values(); n > math.MaxInt {
		return r.fail("%s are %d values, at most %d are read on this machine; "+
			"use a 64-bit system", shape(t.Dims), n, math.MaxInt)
	}
	begin, end := start+t.Offset, start+t.Offset+size
	t.Data = r.data[begin:end:end]
	return nil
}

// refuseOverlap refuses files in which two tensors share bytes: they are never
// written so, and planning would count the bytes twice.
func (r *reader) refuseOverlap(f *File) error {
	order := make([]int32, len(f.Tensors))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(f.Tensors[a].Offset, f.Tensors[b].Offset), cmp.Compare(a, b))
	})
	for i := 1; i < len(order); i++ {
		before, t := &f.Tensors[order[i-1]], &f.Tensors[order[i]]
		if end := before.Offset + uint64(len(before.Data)); t.Offset < end {
			r.enter("tensor", int(order[i]))
			r.name = t.Name
			return r.fail("offset %d lies in tensor %s, which ends at %d; the file is damaged",
				t.Offset, quote(before.Name), end)
		}
	}
	return nil
}

// sortedIndex returns the places 0 to n-1 in order of their names, equal names
// in order of place.
func sortedIndex(n int, nameAt func(int32) string) []int32 {
	index := make([]int32, n)
	for i := range index {
		index[i] = int32(i)
	}
	slices.SortFunc(index, func(a, b int32) int {
		return cmp.Or(strings.Compare(nameAt(a), nameAt(b)), cmp.Compare(a, b))
	})
	return index
}

// refuseTwins refuses an index in which a name occurs twice: which of the two
// is meant would depend on the reader.
func (r *reader) refuseTwins(part string, index []int32, nameAt func(int32) string) error {
	for i := 1; i < len(index); i++ {
		if name := nameAt(index[i]); name == nameAt(index[i-1]) {
			r.enter(part, int(index[i]))
			r.name = name
			return r.fail("the name is there twice, as %s %d and %d; the file is damaged",
				part, index[i-1], index[i])
		}
	}
	return nil
}
