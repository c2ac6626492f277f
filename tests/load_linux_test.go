package tests

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"edgeinfer/edge"
	"edgeinfer/tests/shared"
)

// TestInspectReadsNoTensor gives inspect the header of the real model before a
// hole as large as its tensors. The kernel says which pages of a file are in
// memory: of the hole none is, but what it reads ahead of the header.
func TestInspectReadsNoTensor(t *testing.T) {
	f, err := edge.OpenFile(shared.Path(t, "models", smollm2), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	header, size := f.DataOffset, f.Size()
	path := filepath.Join(t.TempDir(), "sparse.gguf")
	data, err := os.ReadFile(shared.Path(t, "models", smollm2))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:header], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program(t), "inspect", "--json", "-m", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var facts struct {
		Parameters uint64
		Supported  bool
		Layers     int `json:"block_count"`
	}
	if err := json.Unmarshal(out, &facts); err != nil {
		t.Fatal(err)
	}
	if facts.Parameters != 134515008 || facts.Layers != 30 || !facts.Supported {
		t.Errorf("inspect says %s", out)
	}
	const readAhead = 2 << 20
	if in := cachedBytes(t, path, header); in > readAhead {
		t.Errorf("%d bytes of the tensors were read, of %d", in, size-header)
	}
	if _, err := os.ReadFile(path); err != nil { // that it would be seen
		t.Fatal(err)
	}
	if in := cachedBytes(t, path, header); in < (size-header)/2 {
		t.Skipf("this file system shows %d of %d bytes in memory after all were read", in, size-header)
	}
}

// cachedBytes counts the bytes from an offset on that the page cache holds.
func cachedBytes(t *testing.T, path string, from int64) (bytes int64) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	memory, err := unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(memory)
	page := int64(os.Getpagesize())
	pages := make([]byte, (info.Size()+page-1)/page)
	if err := mincore(memory, pages); err != nil {
		t.Skipf("mincore: %v", err)
	}
	for i := (from + page - 1) / page; i < int64(len(pages)); i++ {
		bytes += int64(pages[i]&1) * page
	}
	return bytes
}

// mincore says of each page whether it is in memory.
func mincore(memory, pages []byte) error {
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&memory[0])),
		uintptr(len(memory)), uintptr(unsafe.Pointer(&pages[0])))
	if errno != 0 {
		return errno
	}
	return nil
}
