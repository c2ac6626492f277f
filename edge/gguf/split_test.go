package gguf_test

// Split models: whole from any part, and refused by name where a part is missing,
// another's or damaged.

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeinfer/edge/gguf"
	"edgeinfer/edge/gguf/gguftest"
)

// splitPart is part i, from 0, of n of a model with a tensor a part.
func splitPart(i, n int) *gguftest.Writer {
	w := gguftest.New(3).Key("split.no", uint16(i)).Key("split.count", uint16(n)).
		Key("split.tensors.count", int32(n))
	if i == 0 {
		w.Key("general.architecture", "llama")
	}
	return w.Tensor(fmt.Sprintf("blk.%d.weight", n-i), gguf.TypeF32, []uint64{2, 3},
		gguftest.F32(float32(i), 1, 2, 3, 4, 5))
}

// writeSplit writes the parts of a model and returns their paths.
func writeSplit(t *testing.T, parts ...*gguftest.Writer) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i, p := range parts {
		path := filepath.Join(dir, fmt.Sprintf("tiny-q4-%05d-of-%05d.gguf", i+1, len(parts)))
		if err := os.WriteFile(path, p.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

func TestSplitModelOpensFromAnyPart(t *testing.T) {
	for _, n := range []int{2, 3, 12} {
		var parts []*gguftest.Writer
		size := 0
		for i := range n {
			parts = append(parts, splitPart(i, n))
			size += len(parts[i].Bytes())
		}
		fingerprints := map[string]bool{}
		paths := writeSplit(t, parts...)
		for _, path := range paths {
			f, err := gguf.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			checkSplit(t, f, paths, size)
			fingerprints[f.Fingerprint()] = true
			f.WillNeed()
			for range 2 {
				if err := f.Close(); err != nil {
					t.Errorf("Close = %v", err)
				}
			}
			if len(f.Tensors) != 0 || f.Size() != 0 {
				t.Errorf("after Close there are %d tensors in %d bytes", len(f.Tensors), f.Size())
			}
		}
		if len(fingerprints) != 1 {
			t.Errorf("%d fingerprints from %d parts, want 1", len(fingerprints), n)
		}
	}
}

// checkSplit holds an opened model of splitPart's against the files at paths.
func checkSplit(t *testing.T, f *gguf.File, paths []string, size int) {
	t.Helper()
	if a, ok, err := f.String("general.architecture"); a != "llama" || !ok || err != nil {
		t.Errorf("architecture = %q, %v, %v", a, ok, err)
	}
	if f.Name() != paths[0] || f.Size() != int64(size) || len(f.Tensors) != len(paths) {
		t.Errorf("%s has %d bytes and %d tensors, want %s, %d and %d",
			f.Name(), f.Size(), len(f.Tensors), paths[0], size, len(paths))
	}
	for i, p := range f.Parts() {
		data, err := os.ReadFile(paths[i])
		if err != nil || p.Name != paths[i] || p.Bytes != int64(len(data)) {
			t.Errorf("part %d is %v, want %s of %d bytes (%v)", i, p, paths[i], len(data), err)
		}
		name := fmt.Sprintf("blk.%d.weight", len(paths)-i)
		tensor, ok := f.Tensor(name)
		if want := gguftest.F32(float32(i), 1, 2, 3, 4, 5); !ok || !bytes.Equal(tensor.Data, want) {
			t.Errorf("tensor %s = %v, %v, want %v", name, tensor.Data, ok, want)
		}
	}
	if got := f.TypeCounts(); len(got) != 1 || got[0].Tensors != len(paths) {
		t.Errorf("types %v", got)
	}
}

// A file that says it is the only part is no split model, whatever its name.
func TestOnePartIsNoSplit(t *testing.T) {
	for _, count := range []uint16{0, 1} {
		path := filepath.Join(t.TempDir(), "model.gguf")
		data := gguftest.New(3).Key("split.count", count).
			Tensor("t", gguf.TypeF32, []uint64{8}, make([]byte, 32)).Bytes()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := gguf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Parts(); len(got) != 1 || got[0].Name != path {
			t.Errorf("split.count %d: parts %v", count, got)
		}
		f.Close()
	}
}

// noPart is a file without the keys of split models.
func noPart() *gguftest.Writer { return gguftest.New(3).Key("k", "v") }

// numbered is a part without tensors whose number and count are as given.
func numbered(no, count any) *gguftest.Writer {
	return noPart().Key("split.no", no).Key("split.count", count)
}

// firstRenamed gives the first part another name and opens that.
func firstRenamed(name string) func(t *testing.T, paths []string) string {
	return func(t *testing.T, paths []string) string {
		path := filepath.Join(filepath.Dir(paths[0]), name)
		if err := os.Rename(paths[0], path); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

// splitRefusal is a damaged set of parts.
type splitRefusal struct {
	name   string
	parts  []*gguftest.Writer // with a nil for one that is not written
	change func(t *testing.T, paths []string) string
	wants  []string
}

var splitRefusals = []splitRefusal{
	{"second is missing", []*gguftest.Writer{splitPart(0, 3), nil, splitPart(2, 3)}, nil,
		[]string{"tiny-q4-00002-of-00003.gguf: part 2 of 3 of the model is missing"}},
	{"last is missing", []*gguftest.Writer{splitPart(0, 3), splitPart(1, 3), nil}, nil,
		[]string{"tiny-q4-00003-of-00003.gguf: part 3 of 3 of the model is missing"}},
	{"renamed", []*gguftest.Writer{splitPart(0, 2), splitPart(1, 2)},
		firstRenamed("model.gguf"),
		[]string{"model.gguf", "part 1 of 2", "must end in -00001-of-00002.gguf"}},
	{"number and name differ", []*gguftest.Writer{splitPart(1, 2), splitPart(1, 2)}, nil,
		[]string{"tiny-q4-00001", "part 2 of 2", "must end in -00002-of-00002.gguf"}},
	{"parts swapped", []*gguftest.Writer{splitPart(0, 3), splitPart(2, 3), splitPart(1, 3)}, nil,
		[]string{"tiny-q4-00002-of-00003.gguf", `key "split.no"`, "it is part 3 of 3",
			"by its name it is part 2 of 3"}},
	{"of another split", []*gguftest.Writer{splitPart(0, 2), splitPart(1, 4)}, nil,
		[]string{"tiny-q4-00002-of-00002.gguf", "it is part 2 of 4"}},
	{"other is no part", []*gguftest.Writer{splitPart(0, 2), noPart()}, nil,
		[]string{"tiny-q4-00002-of-00002.gguf", "it is part 1 of 1"}},
	{"no number", []*gguftest.Writer{noPart().Key("split.count", uint16(2)), splitPart(1, 2)}, nil,
		[]string{`key "split.no": the key is missing`}},
	{"number too large", []*gguftest.Writer{numbered(uint16(2), uint16(2)), splitPart(1, 2)}, nil,
		[]string{`key "split.no": part 2, counted from 0, of 2 parts`}},
	{"number of 64 bits", []*gguftest.Writer{numbered(uint64(1)<<63, uint16(2)), splitPart(1, 2)}, nil,
		[]string{`key "split.no": part 9223372036854775808`}},
	{"number negative", []*gguftest.Writer{numbered(int32(-1), uint16(2)), splitPart(1, 2)}, nil,
		[]string{`key "split.no"`, "-1"}},
	{"count of 2^16", []*gguftest.Writer{numbered(uint16(0), uint32(1<<16)), splitPart(1, 2)}, nil,
		[]string{`key "split.count": 65536 parts, at most 65535`}},
	{"count is text", []*gguftest.Writer{numbered(uint16(0), "2"), splitPart(1, 2)}, nil,
		[]string{`key "split.count"`, "string"}},
	{"count larger than there are", []*gguftest.Writer{numbered(uint16(0), uint16(65535))},
		firstRenamed("m-00001-of-65535.gguf"),
		[]string{"m-00002-of-65535.gguf: part 2 of 65535 of the model is missing"}},
	{"tensors missing", []*gguftest.Writer{splitPart(0, 2),
		numbered(uint16(1), uint16(2))}, nil,
		[]string{`key "split.tensors.count": the model has 2 tensors, its 2 parts have 1`}},
	{"tensor in two parts", []*gguftest.Writer{
		numbered(uint16(0), uint16(2)).Tensor("t", gguf.TypeF32, []uint64{8}, make([]byte, 32)),
		numbered(uint16(1), uint16(2)).Tensor("t", gguf.TypeF32, []uint64{8}, make([]byte, 32))}, nil,
		[]string{`tensor "t": it is in tiny-q4-00001-of-00002.gguf and in tiny-q4-00002-of-00002.gguf`}},
	{"other is cut", []*gguftest.Writer{splitPart(0, 2), splitPart(1, 2)},
		func(t *testing.T, paths []string) string {
			if err := os.Truncate(paths[1], 40); err != nil {
				t.Fatal(err)
			}
			return paths[0]
		},
		[]string{"tiny-q4-00002-of-00002.gguf", "file too short"}},
}

func TestSplitModelsAreRefusedByName(t *testing.T) {
	for _, c := range splitRefusals {
		t.Run(c.name, func(t *testing.T) {
			written := make([]*gguftest.Writer, len(c.parts))
			for i, p := range c.parts {
				if written[i] = p; p == nil {
					written[i] = noPart()
				}
			}
			paths := writeSplit(t, written...)
			for i, p := range c.parts {
				if p == nil {
					os.Remove(paths[i])
				}
			}
			path := paths[0]
			if c.change != nil {
				path = c.change(t, paths)
			}
			f, err := gguf.Open(path)
			if f != nil || err == nil {
				t.Fatalf("Open = %v, %v, want an error", f, err)
			}
			for _, want := range append(c.wants, "gguf: ", "; ") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q, want %q in it", err, want)
				}
			}
			missing := strings.Contains(err.Error(), "of the model is missing;")
			if missing != errors.Is(err, fs.ErrNotExist) {
				t.Errorf("error %q: fs.ErrNotExist is %v", err, !missing)
			}
		})
	}
}
