package mmap

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

func mapFile(file *os.File, size int) ([]byte, func() error, error) {
	mapping, err := windows.CreateFileMapping(windows.Handle(file.Fd()), nil,
		windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, nil, err
	}
	// The view keeps the mapping alive.
	defer windows.CloseHandle(mapping)
	address, err := windows.MapViewOfFile(mapping, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	if err != nil {
		return nil, nil, err
	}
	// The address comes from the system, not from the Go heap; reading it as a
	// pointer through its variable is the form vet accepts for that.
	pointer := *(*unsafe.Pointer)(unsafe.Pointer(&address))
	data := unsafe.Slice((*byte)(pointer), size)
	return data, func() error { return windows.UnmapViewOfFile(address) }, nil
}
