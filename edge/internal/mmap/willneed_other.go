//go:build unix && !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package mmap

func willNeed([]byte) {}
