//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package mmap

func willNeed([]byte) {}
