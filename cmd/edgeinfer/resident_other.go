//go:build !linux

package main

// residentBytes is not known: the system does not say it in the same words.
func residentBytes() (bytes int64, ok bool) { return 0, false }
