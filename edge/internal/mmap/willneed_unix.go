//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package mmap

import "golang.org/x/sys/unix"

// willNeed is the hint of WillNeed.
func willNeed(data []byte) { _ = unix.Madvise(data, unix.MADV_WILLNEED) }
