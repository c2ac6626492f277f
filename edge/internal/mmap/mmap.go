// Package mmap maps a file into memory, read-only: the weights stay in the
// page cache, shared between processes and dropped by the system when memory
// is short. It knows nothing of what the file holds.
package mmap

// Where a system has no mapping of ours, the file is read whole; callers see
// no difference but in memory.

import (
	"fmt"
	"math"
	"os"
)

// File is a mapped file.
type File struct {
	data  []byte
	unmap func() error
}

// Open maps the whole of a regular file. What is missing, not readable, a
// directory, no regular file, empty or too large for the address space is an
// error that names the path. The file must not shrink while it is mapped:
// reading what is gone ends the process.
func Open(path string) (*File, error) {
	// Looked at before it is opened: opening a named pipe would wait for a writer.
	if info, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("mmap: %w", err)
	} else if err := check(path, info); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("mmap: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("mmap: %w", err)
	}
	if err := check(path, info); err != nil {
		return nil, err
	}
	data, unmap, err := mapFile(file, int(info.Size()))
	if err != nil {
		return nil, fmt.Errorf("mmap: mapping the %d bytes of %s: %w", info.Size(), path, err)
	}
	return &File{data, unmap}, nil
}

func check(path string, info os.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return fmt.Errorf("mmap: %s is a directory; name a file in it", path)
	case !mode.IsRegular():
		return fmt.Errorf("mmap: %s is no regular file (%s)", path, mode)
	case info.Size() == 0:
		return fmt.Errorf("mmap: %s is empty", path)
	case info.Size() > math.MaxInt:
		return fmt.Errorf("mmap: %s is %d bytes long; a 32-bit system maps at most %d: "+
			"use a 64-bit one", path, info.Size(), math.MaxInt)
	}
	return nil
}

// Bytes returns the file's content. It must not be written to: the system ends
// a process that does. After Close it is nil, and earlier results are invalid.
func (f *File) Bytes() []byte { return f.data }

// WillNeed asks the system to begin reading the whole file, for callers that
// are about to. It is a hint: a refusal costs time, not correctness.
func (f *File) WillNeed() { willNeed(f.data) }

// Close unmaps the file. A second Close does nothing.
func (f *File) Close() error {
	if f.data == nil {
		return nil
	}
	f.data = nil
	if err := f.unmap(); err != nil {
		return fmt.Errorf("mmap: unmapping: %w", err)
	}
	return nil
}
