package gguf_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"edgeinfer/edge/gguf"
	"edgeinfer/tests/shared"
)

// The header of the real model in memory, and behind it pages that fault when
// they are read: parsing and every look-up leave the tensors' data alone.
func TestTensorDataIsNotRead(t *testing.T) {
	path := shared.Path(t, "models", "SmolLM2-135M-Instruct.Q4_1.gguf")
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
	defer unix.Munmap(memory)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.ReadAt(memory[:header], 0); err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	if header%page != 0 { // then the first tensor shares a page with the header
		header += page - header%page
	}
	if err := unix.Mprotect(memory[header:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Parse(path, memory)
	if err != nil {
		t.Fatal(err)
	}
	checkWhole(t, f)
	if n := f.Parameters(); n != 134515008 {
		t.Errorf("%d parameters, want 134515008", n)
	}
}
