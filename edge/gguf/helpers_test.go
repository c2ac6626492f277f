package gguf_test

import (
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"testing"

	"edgeinfer/edge/gguf"
	"edgeinfer/edge/gguf/gguftest"
)

// rawFile builds files that gguftest rightly cannot: every field as given.
type rawFile []byte

// header starts a version 3 file with any counts.
func header(tensors, keys uint64) rawFile {
	return rawFile("GGUF").u32(3).u64(tensors).u64(keys)
}

func (r rawFile) u8(v uint8) rawFile    { return append(r, v) }
func (r rawFile) u32(v uint32) rawFile  { return binary.LittleEndian.AppendUint32(r, v) }
func (r rawFile) u64(v uint64) rawFile  { return binary.LittleEndian.AppendUint64(r, v) }
func (r rawFile) text(s string) rawFile { return append(r, s...) }
func (r rawFile) str(s string) rawFile  { return r.u64(uint64(len(s))).text(s) }
func (r rawFile) zeros(n int) rawFile   { return append(r, make([]byte, n)...) }

// key adds a key and its kind, without a value.
func (r rawFile) key(s string, k gguf.Kind) rawFile { return r.str(s).u32(uint32(k)) }

// tensor adds one entry of the tensor table.
func (r rawFile) tensor(name string, t gguf.Type, offset uint64, dims ...uint64) rawFile {
	r = r.str(name).u32(uint32(len(dims)))
	for _, dim := range dims {
		r = r.u64(dim)
	}
	return r.u32(uint32(t)).u64(offset)
}

// aligned pads to the default alignment.
func (r rawFile) aligned() rawFile { return r.zeros(-len(r) & 31) }

// mustFail parses data and wants an error of the house's form that holds all
// of wants, within the heap bound.
func mustFail(t *testing.T, data []byte, wants ...string) {
	t.Helper()
	f, err := parseBounded(t, data)
	if err == nil {
		t.Fatalf("Parse of %d bytes = %d keys, %d tensors, want an error",
			len(data), len(f.Metadata), len(f.Tensors))
	}
	if f != nil {
		t.Errorf("Parse gave a file beside the error")
	}
	for _, want := range append(wants, "gguf: bad.gguf: ", "; ") {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q, want %q in it", err, want)
		}
	}
	if len(err.Error()) > 1000 {
		t.Errorf("error has %d bytes, too long to read", len(err.Error()))
	}
}

// parseBounded parses data and checks what the parser took from the heap
// against the bound in limits.go, here for small files: eight times the file,
// for entries whose place in the heap is larger than in the file, and 4 KiB
// for the message.
func parseBounded(t *testing.T, data []byte) (*gguf.File, error) {
	t.Helper()
	var f *gguf.File
	var err error
	taken := heapTaken(func() { f, err = gguf.Parse("bad.gguf", data) })
	if bound := uint64(8*len(data) + 4<<10); taken > bound {
		t.Errorf("Parse of %d bytes took %d bytes of heap, bound %d (error %v)",
			len(data), taken, bound, err)
	}
	return f, err
}

// tiny is a valid file with one entry of every kind and two tensors.
func tiny() []byte {
	return gguftest.New(3).
		Key("general.architecture", "llama").
		Key("general.alignment", uint32(64)).
		Key("k.u8", uint8(200)).Key("k.i8", int8(-3)).
		Key("k.u16", uint16(60000)).Key("k.i16", int16(-300)).
		Key("k.i32", int32(-70000)).
		Key("k.u64", uint64(1<<63)).Key("k.i64", int64(-1<<40)).
		Key("k.f32", float32(1.5)).Key("k.f64", 0.1).
		Key("k.bool", true).
		Key("k.strings", []string{"a", "", "\xff\xfe", "\u2581the"}).
		Key("k.bools", []bool{true, false, true}).
		Key("k.ints", []int32{1, -2, 3}).
		Key("k.floats", []float32{0.25, -4}).
		Key("k.empty", []string{}).
		Tensor("a.weight", gguf.TypeF32, []uint64{3, 2}, gguftest.F32(1, 2, 3, 4, 5, 6)).
		Tensor("b.weight", gguf.TypeQ4_0, []uint64{64}, make([]byte, 36)).
		Bytes()
}

// mustParse parses what the test made itself.
func mustParse(t testing.TB, data []byte) *gguf.File {
	t.Helper()
	f, err := gguf.Parse("good.gguf", data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// heapTaken returns the bytes that do allocates, freed or not: the least of three
// times, for the runtime's own goroutines allocate as well. It stops the world, so
// it is not for inner loops.
func heapTaken(do func()) uint64 {
	least := uint64(math.MaxUint64)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}
