// Package gguftest builds GGUF files in memory for tests. It writes what it is
// asked to, well-formed or not as to content; layout, counts and lengths are
// always right. Nothing that ships imports it.
package gguftest

import (
	"encoding/binary"
	"fmt"
	"slices"

	"edgeinfer/edge/gguf"
)

// Writer collects keys and tensors; its methods return it for chaining.
type Writer struct {
	version               uint32
	alignment             int
	keys, table           []byte
	keyCount, tensorCount uint64
	data                  []byte
}

// New starts a file of a GGUF version.
func New(version uint32) *Writer { return &Writer{version: version, alignment: 32} }

// Key adds a metadata entry. The type of value chooses the type in the file:
// the sized integers, float32, float64, bool, string, and slices of these.
// general.alignment, given as a uint32 that is a power of two up to 64 KiB,
// also aligns the tensors; it must come before them.
func (w *Writer) Key(name string, value any) *Writer {
	w.keys = appendString(w.keys, name)
	kind, elem, payload := encode(value)
	w.keys = binary.LittleEndian.AppendUint32(w.keys, uint32(kind))
	if kind == gguf.KindArray {
		w.keys = binary.LittleEndian.AppendUint32(w.keys, uint32(elem))
	}
	w.keys = append(w.keys, payload...)
	w.keyCount++
	n, ok := value.(uint32)
	if ok && name == "general.alignment" && n > 0 && n <= 1<<16 && n&(n-1) == 0 {
		w.alignment = int(n)
	}
	return w
}

// Tensor adds a tensor with its data, which is written as it is, whether or
// not its length is that of the type and dimensions (fastest first).
func (w *Writer) Tensor(name string, t gguf.Type, dims []uint64, data []byte) *Writer {
	w.data = pad(w.data, w.alignment)
	w.table = appendString(w.table, name)
	w.table = binary.LittleEndian.AppendUint32(w.table, uint32(len(dims)))
	for _, dim := range dims {
		w.table = binary.LittleEndian.AppendUint64(w.table, dim)
	}
	w.table = binary.LittleEndian.AppendUint32(w.table, uint32(t))
	w.table = binary.LittleEndian.AppendUint64(w.table, uint64(len(w.data)))
	w.data = append(w.data, data...)
	w.tensorCount++
	return w
}

// Bytes returns the file. Its data section is padded to the alignment at both
// ends; a file without tensors ends with its last key.
func (w *Writer) Bytes() []byte {
	file := []byte("GGUF")
	file = binary.LittleEndian.AppendUint32(file, w.version)
	file = binary.LittleEndian.AppendUint64(file, w.tensorCount)
	file = binary.LittleEndian.AppendUint64(file, w.keyCount)
	file = slices.Concat(file, w.keys, w.table)
	if w.tensorCount == 0 {
		return file
	}
	return append(pad(file, w.alignment), pad(w.data, w.alignment)...)
}

// F32 returns values as the data of an F32 tensor.
func F32(values ...float32) []byte {
	_, _, payload := encode(values)
	return payload[8:]
}

// encode returns a value's kind, the kind of its elements if it is an array,
// and the bytes that follow these.
func encode(value any) (kind, elem gguf.Kind, payload []byte) {
	switch v := value.(type) {
	case string:
		return gguf.KindString, 0, appendString(nil, v)
	case bool:
		return gguf.KindBool, 0, raw(v)
	case uint8:
		return gguf.KindU8, 0, raw(v)
	case int8:
		return gguf.KindI8, 0, raw(v)
	case uint16:
		return gguf.KindU16, 0, raw(v)
	case int16:
		return gguf.KindI16, 0, raw(v)
	case uint32:
		return gguf.KindU32, 0, raw(v)
	case int32:
		return gguf.KindI32, 0, raw(v)
	case uint64:
		return gguf.KindU64, 0, raw(v)
	case int64:
		return gguf.KindI64, 0, raw(v)
	case float32:
		return gguf.KindF32, 0, raw(v)
	case float64:
		return gguf.KindF64, 0, raw(v)
	default:
		elem, payload = encodeArray(value)
		return gguf.KindArray, elem, payload
	}
}

// encodeArray returns the kind of a slice's elements, and its count and bytes.
func encodeArray(value any) (elem gguf.Kind, payload []byte) {
	switch v := value.(type) {
	case []string:
		payload = raw(uint64(len(v)))
		for _, s := range v {
			payload = appendString(payload, s)
		}
		return gguf.KindString, payload
	case []bool:
		return gguf.KindBool, array(len(v), v)
	case []uint8:
		return gguf.KindU8, array(len(v), v)
	case []int8:
		return gguf.KindI8, array(len(v), v)
	case []uint16:
		return gguf.KindU16, array(len(v), v)
	case []int16:
		return gguf.KindI16, array(len(v), v)
	case []uint32:
		return gguf.KindU32, array(len(v), v)
	case []int32:
		return gguf.KindI32, array(len(v), v)
	case []uint64:
		return gguf.KindU64, array(len(v), v)
	case []int64:
		return gguf.KindI64, array(len(v), v)
	case []float32:
		return gguf.KindF32, array(len(v), v)
	case []float64:
		return gguf.KindF64, array(len(v), v)
	}
	panic(fmt.Sprintf("gguftest: BUG: no GGUF type for a %T", value))
}

// array returns a count and the elements of a slice of numbers or bools.
func array(count int, elements any) []byte {
	return append(raw(uint64(count)), raw(elements)...)
}

func raw(v any) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic("gguftest: BUG: " + err.Error())
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

func pad(b []byte, alignment int) []byte {
	return append(b, make([]byte, -len(b)&(alignment-1))...)
}
