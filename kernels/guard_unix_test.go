//go:build unix

package kernels

import (
	"testing"

	"golang.org/x/sys/unix"
)

// guardPages says that a touch outside a guarded buffer faults here.
const guardPages = true

// mapGuarded returns at least size bytes between two pages that nobody may
// read or write.
func mapGuarded(t testing.TB, size int) []byte {
	t.Helper()
	page := unix.Getpagesize()
	inner := (size + page - 1) / page * page
	all, err := unix.Mmap(-1, 0, inner+2*page, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatalf("mapping %d bytes: %v", inner+2*page, err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(all); err != nil {
			t.Errorf("unmapping a guarded buffer: %v", err)
		}
	})
	for _, guard := range [][]byte{all[:page], all[page+inner:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			t.Fatalf("protecting a guard page: %v", err)
		}
	}
	return all[page : page+inner : page+inner]
}
