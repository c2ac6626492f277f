package gguf_test

// Damage: files cut anywhere, and files with any one byte of the header
// changed. None may panic, hang or take more heap than its bound.

import (
	"errors"
	"math/bits"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeinfer/edge/gguf"
	"edgeinfer/tests/shared"
)

func TestModelCutAnywhere(t *testing.T) {
	path := shared.Path(t, "models", "stories260K.gguf")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := mustParse(t, data)
	end := int64(0) // of the last tensor's data; what follows is padding
	for _, tensor := range f.Tensors {
		end = max(end, f.DataOffset+int64(tensor.Offset)+int64(len(tensor.Data)))
	}
	random := rand.New(rand.NewSource(1))
	var cuts []int64
	for n := range f.DataOffset + 1 {
		cuts = append(cuts, n)
	}
	for range 200 {
		cuts = append(cuts, f.DataOffset+random.Int63n(end-f.DataOffset))
	}
	for _, n := range append(cuts, end-1) {
		f, err := gguf.Parse("cut.gguf", data[:n])
		if f != nil || err == nil || !strings.HasPrefix(err.Error(), "gguf: cut.gguf: ") ||
			!strings.Contains(err.Error(), "file too short") {
			t.Fatalf("cut at %d (data at %d): %v, %v", n, mustParse(t, data).DataOffset, f, err)
		}
	}
	mustParse(t, data[:end])
}

// Every byte of a small file's header with every other value it can have. Those
// that matter most, one bit or an extreme, are measured and read to the end.
func TestEveryHeaderByteChanged(t *testing.T) {
	data := tiny()
	header := int(mustParse(t, data).DataOffset)
	valid := 0
	for i := range header {
		was := data[i]
		for change := range 256 {
			if data[i] = byte(change); data[i] == was {
				continue
			}
			parse := func() (*gguf.File, error) { return gguf.Parse("bad.gguf", data) }
			extreme := change == 0 || change == 0x7f || change == 0xff
			closely := extreme || bits.OnesCount8(was^byte(change)) == 1
			if closely {
				parse = func() (*gguf.File, error) { return parseBounded(t, data) }
			}
			f, err := parse()
			if err == nil {
				valid++
			}
			if err == nil && closely {
				checkWhole(t, f)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "gguf: bad.gguf: ") {
				t.Errorf("error %q", err)
			}
			if t.Failed() {
				t.Fatalf("at byte %d changed from %d to %d", i, was, change)
			}
		}
		data[i] = was
	}
	// Names, values and padding can change and stay valid; counts cannot.
	if all := header * 255; valid == 0 || valid == all {
		t.Errorf("%d of %d changed files parse", valid, all)
	}
}

// Several bytes of the header of a real model at once, seeded.
func TestManyHeaderBytesChanged(t *testing.T) {
	whole, err := os.ReadFile(shared.Path(t, "models", "stories260K.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	header := int(mustParse(t, whole).DataOffset)
	random := rand.New(rand.NewSource(2))
	for range 2000 {
		data := append([]byte(nil), whole...)
		for range 1 + random.Intn(4) {
			// Half of the changes go to the first KiB, where the counts are.
			data[random.Intn([]int{1 << 10, header}[random.Intn(2)])] = byte(random.Intn(256))
		}
		if f, err := parseBounded(t, data); err == nil {
			checkWhole(t, f)
		}
		if t.Failed() {
			break
		}
	}
}

// A header may claim entries as long as the rest of the file could hold them.
// Whatever it claims, the heap stays below the file's size plus 16 MiB.
func TestClaimedCountsTakeLittleHeap(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 200 MB")
	}
	const million, mebi = 1_000_000, 1 << 20
	array := func(elem gguf.Kind, count uint64, bytes int) []byte {
		return header(0, 1).key("k", gguf.KindArray).u32(uint32(elem)).u64(count).zeros(bytes)
	}
	tables := header(1<<16, 1<<14)
	for i := range 1 << 14 {
		tables = tables.key(string(rune(0x10000+i)), gguf.KindU8).u8(0)
	}
	for i := range 1 << 16 {
		tables = tables.tensor(string(rune(0x10000+i)), gguf.TypeI8, uint64(i*32), 1)
	}
	cases := []struct {
		name  string
		data  []byte
		above bool // the getters' limit
	}{
		{"full tables", tables.aligned().zeros(2 * mebi), false},
		{"claimed tensors", header(1<<16, 0).zeros(2 * mebi), false},
		{"strings at the limit", array(gguf.KindString, 2*million, 16*million), false},
		{"strings above it", array(gguf.KindString, 2*million+1, 16*million+8), true},
		{"bytes at the limit", array(gguf.KindU8, 2*million, 2*million), false},
		{"bytes above it", array(gguf.KindU8, 2*million+1, 2*million+1), true},
		{"many more", array(gguf.KindU8, 64*million, 64*million), true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var err error
			taken := heapTaken(func() {
				var f *gguf.File
				if f, err = gguf.Parse("claims.gguf", c.data); err != nil || len(f.Tensors) > 0 {
					return
				}
				if _, _, err = f.Strings("k"); f.Metadata[0].Elem != gguf.KindString {
					_, _, err = f.Uints("k")
				}
			})
			if bound := uint64(len(c.data) + 16*mebi); taken > bound {
				t.Errorf("took %d bytes of heap for a file of %d, bound %d",
					taken, len(c.data), bound)
			}
			wantError := c.above || c.name == "claimed tensors"
			if (err != nil) != wantError {
				t.Errorf("error %v, want one: %v", err, wantError)
			}
			if c.above && !strings.Contains(err.Error(), "at most 2000000 are read") {
				t.Errorf("error %q does not name the limit", err)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, path := range []string{dir, filepath.Join(dir, "absent"), write("empty", nil),
		write("short", []byte("GGUF")), write("other", []byte("not a model at all, only text"))} {
		f, err := gguf.Open(path)
		if f != nil || err == nil || !strings.HasPrefix(err.Error(), "gguf: ") ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("Open(%s) = %v, %v, want an error that names it", path, f, err)
		}
	}
	if _, err := gguf.Open(filepath.Join(dir, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open of an absent file: %v, want one that is os.ErrNotExist", err)
	}
}

func TestCloseEmptiesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(path, tiny(), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if f.Name() != path || len(f.Tensors) != 2 {
		t.Errorf("%s has %d tensors, want 2", f.Name(), len(f.Tensors))
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	_, hasTensor := f.Tensor("a.weight")
	_, hasKey := f.Value("general.architecture")
	if hasTensor || hasKey || f.Size() != 0 || len(f.Tensors) != 0 || len(f.Keys()) != 0 {
		t.Errorf("after Close: tensor %v, key %v, size %d", hasTensor, hasKey, f.Size())
	}
}
