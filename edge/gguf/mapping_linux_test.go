package gguf_test

import (
	"os"
	"path/filepath"
	"strings"
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

// A file that does not parse, and one that was closed, stay mapped nowhere.
func TestNothingStaysMapped(t *testing.T) {
	dir := t.TempDir()
	mapped := func(name string) bool {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(maps), filepath.Join(dir, name))
	}
	for name, data := range map[string][]byte{"good.gguf": tiny(), "bad.gguf": tiny()[:500]} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := gguf.Open(path)
		if err != nil {
			if mapped(name) {
				t.Errorf("%s is mapped after an error", name)
			}
			continue
		}
		if !mapped(name) {
			t.Errorf("%s is not mapped while it is open", name)
		}
		if f.Close(); mapped(name) {
			t.Errorf("%s is mapped after Close", name)
		}
	}
}

// All parts of a split model are mapped while it is open; none stays where one is
// missing.
func TestPartsAreMappedTogether(t *testing.T) {
	paths := writeSplit(t, splitPart(0, 3), splitPart(1, 3), splitPart(2, 3))
	mapped := func() (n int) {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			n += strings.Count(string(maps), path)
		}
		return n
	}
	for _, path := range paths {
		f, err := gguf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := mapped(); n != 3 {
			t.Errorf("%d of 3 parts are mapped", n)
		}
		if f.Close(); mapped() != 0 {
			t.Errorf("%d parts are mapped after Close", mapped())
		}
	}
	if err := os.Remove(paths[2]); err != nil {
		t.Fatal(err)
	}
	for _, path := range paths[:2] {
		if _, err := gguf.Open(path); err == nil || mapped() != 0 {
			t.Errorf("error %v, %d parts are mapped", err, mapped())
		}
	}
}
