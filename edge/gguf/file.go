package gguf

// Files: what a parsed file offers. Lookups go through two sorted indexes
// instead of maps, which take a tenth of the heap.

import (
	"errors"
	"fmt"
	"sort"

	"edgeinfer/edge/internal/mmap"
)

// File is a parsed GGUF file. It may be read from several goroutines.
//
// Strings and tensor data are views of the file, not copies: they are valid
// until Close, and for a File from Parse as long as the caller leaves the
// bytes alone.
type File struct {
	Version    uint32   // 2 or 3
	Alignment  int      // of the data section and every tensor, in bytes
	Metadata   []Value  // in file order, keys unique
	Tensors    []Tensor // in file order, names unique, no two overlapping
	DataOffset int64    // where the data section starts, bytes from the file's start

	name     string
	data     []byte
	mapping  *mmap.File
	others   []*File // of a split model, the parts after this
	byKey    []int32 // places in Metadata, sorted by key
	byTensor []int32 // places in Tensors, sorted by name
}

// Tensor is one tensor in place.
type Tensor struct {
	Name   string
	Type   Type
	Dims   []uint64 // fastest first, one to four, each > 0
	Offset uint64   // bytes from File.DataOffset, or from that of the tensor's part
	Data   []byte   // [Dims[3]][Dims[2]][Dims[1]] rows of Dims[0] values, by blocks of Type
}

// Values returns the number of values, the product of Dims. It is at most the
// largest int.
func (t Tensor) Values() uint64 {
	n := uint64(1)
	for _, dim := range t.Dims {
		n *= dim
	}
	return n
}

// Open maps the file at path and parses it. No tensor data is read. The file
// must not be shortened while it is open. A part of a split model, whichever it
// is, opens all of them: the File is then the first part, with the tensors of all.
func Open(path string) (*File, error) {
	f, err := openOne(path)
	if err != nil {
		return nil, err
	}
	whole, err := f.complete()
	if err != nil {
		f.Close()
		return nil, err
	}
	return whole, nil
}

// openOne is Open for one file, be it split or not.
func openOne(path string) (*File, error) {
	mapping, err := mmap.Open(path)
	if err != nil {
		return nil, fmt.Errorf("gguf: %w", err) // which names the path
	}
	f, err := Parse(path, mapping.Bytes())
	if err != nil {
		mapping.Close()
		return nil, err
	}
	f.mapping = mapping
	return f, nil
}

// WillNeed says that the tensor data is about to be read, so that a mapped
// file begins to come in.
func (f *File) WillNeed() {
	if f.mapping != nil {
		f.mapping.WillNeed()
	}
	for _, other := range f.others {
		other.WillNeed()
	}
}

// Close releases the mapping; for a File from Parse it lets go of the bytes.
// Strings and tensor data taken from the file must not be used afterwards; the
// File itself is then empty. Closing twice is allowed.
func (f *File) Close() error {
	mapping, others := f.mapping, f.others
	*f = File{name: f.name}
	var err error
	if mapping != nil {
		if err = mapping.Close(); err != nil {
			err = fmt.Errorf("gguf: %s: %w", f.name, err)
		}
	}
	for _, other := range others {
		err = errors.Join(err, other.Close())
	}
	return err
}

// Name returns the name the file was opened or parsed under, for messages.
func (f *File) Name() string { return f.name }

// Size returns the size of the whole file in bytes, of a split model that of all
// parts.
func (f *File) Size() int64 {
	size := int64(len(f.data))
	for _, other := range f.others {
		size += other.Size()
	}
	return size
}

// Keys returns the metadata keys in file order.
func (f *File) Keys() []string {
	keys := make([]string, len(f.Metadata))
	for i := range f.Metadata {
		keys[i] = f.Metadata[i].Key
	}
	return keys
}

// Value returns the metadata entry of a key; ok is false where there is none.
func (f *File) Value(key string) (v Value, ok bool) {
	i, ok := find(f.byKey, key, f.keyAt)
	if !ok {
		return Value{}, false
	}
	return f.Metadata[i], true
}

// Tensor returns the tensor of a name; ok is false where there is none.
func (f *File) Tensor(name string) (t Tensor, ok bool) {
	i, ok := find(f.byTensor, name, f.tensorNameAt)
	if !ok {
		return Tensor{}, false
	}
	return f.Tensors[i], true
}

// Parameters returns the number of values in all tensors together.
func (f *File) Parameters() uint64 {
	var n uint64
	for i := range f.Tensors {
		n += f.Tensors[i].Values()
	}
	return n
}

// TypeCount is what one tensor type has of a file.
type TypeCount struct {
	Type    Type
	Tensors int
	Values  uint64
	Bytes   int64 // of tensor data, without the padding between tensors
}

// TypeCounts returns one row per tensor type in use, in order of type id.
func (f *File) TypeCounts() []TypeCount {
	var counts [numTypes]TypeCount
	for i := range f.Tensors {
		t := &f.Tensors[i]
		c := &counts[t.Type]
		c.Tensors++
		c.Values += t.Values()
		c.Bytes += int64(len(t.Data))
	}
	var used []TypeCount
	for i := range counts {
		if counts[i].Tensors > 0 {
			counts[i].Type = Type(i)
			used = append(used, counts[i])
		}
	}
	return used
}

func (f *File) keyAt(i int32) string        { return f.Metadata[i].Key }
func (f *File) tensorNameAt(i int32) string { return f.Tensors[i].Name }

// find looks a name up in an index sorted by the names that nameAt gives.
func find(index []int32, name string, nameAt func(int32) string) (place int32, ok bool) {
	n := sort.Search(len(index), func(i int) bool { return nameAt(index[i]) >= name })
	if n == len(index) || nameAt(index[n]) != name {
		return 0, false
	}
	return index[n], true
}
