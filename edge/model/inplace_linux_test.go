package model

import (
	"fmt"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"edgeinfer/edge/gguf"
	"edgeinfer/tests/shared"
)

// TestWeightsStayWhereTheyAre opens the real model from memory whose tensors
// fault when they are read: nothing is read but the header, and all that is
// bound lies in that memory, so that nothing was copied.
func TestWeightsStayWhereTheyAre(t *testing.T) {
	path := shared.Path(t, "models", "SmolLM2-135M-Instruct.Q4_1.gguf")
	memory := headerThenFaults(t, path)
	f, err := gguf.Parse(path, memory)
	if err != nil {
		t.Fatal(err)
	}
	src, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	first, n := uintptr(unsafe.Pointer(unsafe.SliceData(memory))), 0
	inPlace := func(what string, at unsafe.Pointer, bytes int) {
		if from := uintptr(at); from < first || from+uintptr(bytes) > first+uintptr(len(memory)) {
			t.Errorf("%s was copied", what)
		}
		n += bytes
	}
	src.w.each(func(name string, data []byte) {
		inPlace(name, unsafe.Pointer(unsafe.SliceData(data)), len(data))
	})
	if left := len(memory) - int(f.DataOffset) - n; left < 0 || left > 64*len(f.Tensors) {
		t.Errorf("%d bytes are bound of %d; want all but the gaps", n, len(memory)-int(f.DataOffset))
	}
}

// each visits the bytes of every tensor that is bound.
func (w *weights) each(visit func(name string, data []byte)) {
	vector := func(name string, v []float32) {
		if v != nil {
			visit(name, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v)))
		}
	}
	visit("embedding", w.embedding.Data)
	if unsafe.SliceData(w.output.Data) != unsafe.SliceData(w.embedding.Data) {
		visit("output", w.output.Data)
	}
	vector("output norm", w.outputNorm)
	for i := range w.layers {
		l := &w.layers[i]
		for j, m := range [][]byte{l.q.Data, l.k.Data, l.v.Data, l.o.Data, l.gate.Data, l.up.Data,
			l.down.Data} {
			visit(fmt.Sprintf("matrix %d of layer %d", j, i), m)
		}
		for j, v := range [][]float32{l.attnNorm, l.ffnNorm, l.qBias, l.kBias, l.vBias, l.qNorm,
			l.kNorm, l.postAttn, l.postFeed} {
			vector(fmt.Sprintf("vector %d of layer %d", j, i), v)
		}
	}
}

// headerThenFaults returns memory as long as the file at path: its header, and
// pages that cannot be read.
func headerThenFaults(t *testing.T, path string) []byte {
	t.Helper()
	whole, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	header, size := int(whole.DataOffset), int(whole.Size())
	whole.Close()
	memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(memory) })
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.ReadAt(memory[:header], 0); err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	header = (header + page - 1) / page * page // the first tensor may share a page with the header
	if err := unix.Mprotect(memory[header:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return memory
}
