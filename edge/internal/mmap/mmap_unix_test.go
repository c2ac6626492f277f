//go:build unix

package mmap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestNamedPipeDoesNotHang: opening a pipe to read waits for a writer.
func TestNamedPipeDoesNotHang(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	refused := make(chan error, 1)
	go func() {
		_, err := Open(path)
		refused <- err
	}()
	select {
	case err := <-refused:
		if err == nil || !strings.Contains(err.Error(), "pipe is no regular file") {
			t.Errorf("Open of a pipe = %v; want a refusal", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("Open of a pipe waits for a writer")
	}
}

func TestUnreadableFile(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	path := write(t, []byte("x"))
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("Open without permission = %v; want an error with the path", err)
	}
}
