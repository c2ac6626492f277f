//go:build !unix && !windows

package mmap

import (
	"io"
	"os"
)

func mapFile(file *os.File, size int) ([]byte, func() error, error) {
	data := make([]byte, size)
	if _, err := io.ReadFull(file, data); err != nil {
		return nil, nil, err
	}
	return data, func() error { return nil }, nil
}
