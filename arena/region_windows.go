package arena

// The same shape as on Unix: a reservation whose first and last page are never
// committed, so that a write over an end faults.

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

type region struct{ base uintptr }

// PageBytes is the page size of this machine.
func PageBytes() int { return os.Getpagesize() }

func mapRegion(bytes int) (region, []byte, error) {
	guard := uintptr(PageBytes())
	base, err := windows.VirtualAlloc(0, uintptr(bytes)+2*guard,
		windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	if err != nil {
		return region{}, nil, err
	}
	r := region{base}
	start, err := windows.VirtualAlloc(base+guard, uintptr(bytes),
		windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		r.unmap()
		return region{}, nil, err
	}
	// The address comes from the system, not from the Go heap; reading it as a
	// pointer through its variable is the form vet accepts for that.
	pointer := *(*unsafe.Pointer)(unsafe.Pointer(&start))
	return r, unsafe.Slice((*byte)(pointer), bytes), nil
}

func (r region) unmap() error { return windows.VirtualFree(r.base, 0, windows.MEM_RELEASE) }

func lock(memory []byte) error {
	return windows.VirtualLock(uintptr(unsafe.Pointer(&memory[0])), uintptr(len(memory)))
}

func adviseHuge([]byte) error {
	return errors.New("large pages need a privilege on Windows and are not asked for")
}

func prefault(memory []byte) error {
	touch(memory)
	return nil
}
