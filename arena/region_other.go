//go:build !linux && !darwin && !windows

package arena

// Systems without a mapping of ours: plain Go memory, which the collector does
// not move. It is aligned by hand.

import (
	"errors"
	"fmt"
	"os"
	"unsafe"
)

type region struct{}

// PageBytes is the page size of this machine.
func PageBytes() int { return os.Getpagesize() }

func mapRegion(bytes int) (r region, memory []byte, err error) {
	// make panics on a size that no slice can have; the size came from outside.
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%v", cause)
		}
	}()
	whole := make([]byte, bytes+Align)
	start := int(-uintptr(unsafe.Pointer(&whole[0])) & (Align - 1))
	return region{}, whole[start : start+bytes : start+bytes], nil
}

func (region) unmap() error { return nil }

func lock([]byte) error { return errors.New("this system cannot lock memory") }

func adviseHuge([]byte) error {
	return errors.New("this system takes no hint for large pages")
}

func prefault(memory []byte) error {
	touch(memory)
	return nil
}
