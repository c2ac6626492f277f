package gguf

// Split models: several files, each a whole GGUF file with some of the tensors,
// as llama.cpp's gguf-split and its converters write them. Part i of n is named
//
//	NAME-0000i-of-0000n.gguf        five digits, from 1
//
// and says so in its keys: split.no = i−1, split.count = n; the first part has
// all other keys. split.tensors.count is the number of tensors of all parts. Any
// part opens the model; all of them are mapped and none is copied.

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// The keys of split models.
const (
	keySplitNo      = "split.no"
	keySplitCount   = "split.count"
	keySplitTensors = "split.tensors.count"
)

// maxParts is the largest count in the 16 bits that split.count has.
const maxParts = 1<<16 - 1

// Part is one of the files that a File was read from.
type Part struct {
	Name  string
	Bytes int64
}

// Parts returns the files of a split model in order, of any other the one.
func (f *File) Parts() []Part {
	parts := []Part{{f.name, int64(len(f.data))}}
	for _, other := range f.others {
		parts = append(parts, Part{other.name, int64(len(other.data))})
	}
	return parts
}

// position reads which part of how many f says it is. count is 1 for a file that
// is not split.
func (f *File) position() (index, count int, err error) {
	n, ok, err := f.Uint(keySplitCount)
	if err != nil || !ok || n <= 1 {
		return 0, 1, err
	}
	if n > maxParts {
		return 0, 0, f.failKey(keySplitCount, "%d parts, at most %d are possible; the file is damaged",
			n, maxParts)
	}
	i, ok, err := f.Uint(keySplitNo)
	switch {
	case err != nil:
		return 0, 0, err
	case !ok:
		return 0, 0, f.failKey(keySplitNo, "the key is missing from one of %d parts; "+
			"split the model again", n)
	case i >= n:
		return 0, 0, f.failKey(keySplitNo, "part %d, counted from 0, of %d parts; the file is damaged",
			i, n)
	}
	return int(i), int(n), nil
}

// suffix is what the name of part index, from 0, ends in.
func suffix(index, count int) string { return fmt.Sprintf("-%05d-of-%05d.gguf", index+1, count) }

// complete opens the other parts of a model of which f is one. It returns f
// itself where the model is not split. On an error f stays as it is, to be closed.
func (f *File) complete() (*File, error) {
	index, count, err := f.position()
	if err != nil || count == 1 {
		return f, err
	}
	prefix, ok := strings.CutSuffix(f.name, suffix(index, count))
	if !ok {
		return nil, f.failKey(keySplitNo, "this is part %d of %d of a split model, and its name must "+
			"end in %s for the others to be found; rename it", index+1, count, suffix(index, count))
	}
	parts := make([]*File, 0, min(count, 64))
	for i := range count {
		part := f
		if i != index {
			if part, err = openOther(prefix+suffix(i, count), i, count); err != nil {
				break
			}
		}
		parts = append(parts, part)
	}
	if err == nil {
		err = join(parts)
	}
	if err != nil {
		for _, part := range parts {
			if part != f {
				part.Close()
			}
		}
		return nil, err
	}
	return parts[0], nil
}

// openOther opens part index and checks that it is that part.
func openOther(path string, index, count int) (*File, error) {
	f, err := openOne(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("gguf: %s: part %d of %d of the model is missing; "+
			"put all parts into one folder: %w", path, index+1, count, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	i, n, err := f.position()
	if err == nil && (i != index || n != count) {
		err = f.failKey(keySplitNo, "the file says that it is part %d of %d, and by its name it is "+
			"part %d of %d; download it again", i+1, n, index+1, count)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// join gives the first part the tensors of all parts, in order.
func join(parts []*File) error {
	first, total := parts[0], 0
	for _, part := range parts {
		total += len(part.Tensors)
	}
	if total > maxTensors {
		return first.failKey(keySplitTensors, "%d tensors in %d parts, at most %d are read",
			total, len(parts), maxTensors)
	}
	want, ok, err := first.Uint(keySplitTensors)
	if err != nil {
		return err
	}
	if ok && want != uint64(total) {
		return first.failKey(keySplitTensors, "the model has %d tensors, its %d parts have %d; "+
			"download them again", want, len(parts), total)
	}
	tensors := make([]Tensor, 0, total)
	for _, part := range parts {
		tensors = append(tensors, part.Tensors...)
	}
	index := sortedIndex(total, func(i int32) string { return tensors[i].Name })
	for i := 1; i < total; i++ {
		if name := tensors[index[i]].Name; name == tensors[index[i-1]].Name {
			return fail(first.name, "tensor "+quote(name), "it is in %s and in %s; "+
				"the parts are of different models", filepath.Base(partOf(parts, index[i-1]).name),
				filepath.Base(partOf(parts, index[i]).name))
		}
	}
	first.Tensors, first.byTensor, first.others = tensors, index, parts[1:]
	return nil
}

// partOf returns the part that tensor i of all has come from.
func partOf(parts []*File, i int32) *File {
	for _, part := range parts {
		if int(i) < len(part.Tensors) {
			return part
		}
		i -= int32(len(part.Tensors))
	}
	panic("gguf: BUG: a tensor of no part")
}
