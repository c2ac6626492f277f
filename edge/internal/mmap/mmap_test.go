package mmap

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func write(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBytesAreTheFile(t *testing.T) {
	for _, size := range []int{1, 4095, 4096, 4097, 16384, 65536*3 + 5} {
		content := make([]byte, size)
		for i := range content {
			content[i] = byte(i*7 + i>>8)
		}
		f, err := Open(write(t, content))
		if err != nil {
			t.Fatalf("Open of %d bytes = %v", size, err)
		}
		if got := f.Bytes(); !bytes.Equal(got, content) {
			t.Errorf("Bytes of a %d-byte file = %d bytes that differ", size, len(got))
		}
		for range 2 {
			if err := f.Close(); err != nil {
				t.Errorf("Close = %v", err)
			}
		}
		if f.Bytes() != nil {
			t.Error("Bytes after Close is not nil")
		}
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	cases := []struct{ path, want string }{
		{filepath.Join(dir, "missing.gguf"), "missing.gguf"},
		{dir, dir + " is a directory; name a file in it"},
		{write(t, nil), "model.gguf is empty"},
		{"", "mmap: "},
		{"nul\x00byte", "invalid argument"},
	}
	if runtime.GOOS == "linux" {
		cases = append(cases, struct{ path, want string }{"/dev/zero", "is no regular file"})
	}
	for _, c := range cases {
		f, err := Open(c.path)
		if err == nil {
			f.Close()
			t.Errorf("Open(%q) succeeded; want %q", c.path, c.want)
		} else if !strings.HasPrefix(err.Error(), "mmap: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open(%q) = %q; want mmap: … %q", c.path, err, c.want)
		}
	}
	if _, err := Open(filepath.Join(dir, "missing.gguf")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of a missing file = %v; want fs.ErrNotExist within", err)
	}
}

func TestMappingIsReadOnly(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("faults are turned into panics on Unix only")
	}
	path := write(t, []byte("weights"))
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a write to the mapping succeeded; want a fault")
			}
		}()
		f.Bytes()[0] = 'X'
	}()
	if got, err := os.ReadFile(path); err != nil || string(got) != "weights" {
		t.Errorf("file after the write = %q, %v; want it unchanged", got, err)
	}
}
