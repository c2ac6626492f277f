//go:build linux || darwin

package arena

// The mapping lies between two pages that nobody may touch. They keep the
// system from merging it with a neighbour, so that its own account of the
// mapping (smaps) is ours to the byte, and stop a write that runs over an end.

import (
	"golang.org/x/sys/unix"
)

// region is the whole reservation, guards included.
type region struct{ reserved []byte }

// PageBytes is the page size of this machine: 4, 16 or 64 KiB.
func PageBytes() int { return unix.Getpagesize() }

func mapRegion(bytes int) (region, []byte, error) {
	guard := PageBytes()
	reserved, err := unix.Mmap(-1, 0, bytes+2*guard, unix.PROT_NONE,
		unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return region{}, nil, err
	}
	r := region{reserved}
	memory := reserved[guard : guard+bytes : guard+bytes]
	if err := unix.Mprotect(memory, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		r.unmap()
		return region{}, nil, err
	}
	return r, memory, nil
}

func (r region) unmap() error { return unix.Munmap(r.reserved) }

func lock(memory []byte) error { return unix.Mlock(memory) }
