//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package mmap

import "golang.org/x/sys/unix"

// willNeed asks the system to begin reading. It is a hint: a refusal costs
// time, not correctness.
func willNeed(data []byte) { _ = unix.Madvise(data, unix.MADV_WILLNEED) }
