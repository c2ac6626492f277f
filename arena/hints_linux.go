package arena

import (
	"errors"

	"golang.org/x/sys/unix"
)

func adviseHuge(memory []byte) error { return unix.Madvise(memory, unix.MADV_HUGEPAGE) }

// prefault makes every page present. One system call does it since Linux 5.14;
// an older kernel (EINVAL) or a filter (EPERM, ENOSYS) leaves touching. Any
// other refusal, such as no memory, is final: touching would end the process.
// Success is followed by touching as well, for there are kernels in name only
// that take any advice and do nothing (QEMU's user mode); where the pages are
// present already that is a few nanoseconds a page.
func prefault(memory []byte) error {
	err := unix.Madvise(memory, unix.MADV_POPULATE_WRITE)
	for errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
		err = unix.Madvise(memory, unix.MADV_POPULATE_WRITE)
	}
	switch {
	case err == nil, errors.Is(err, unix.EINVAL), errors.Is(err, unix.EPERM),
		errors.Is(err, unix.ENOSYS):
		touch(memory)
		return nil
	}
	return err
}
