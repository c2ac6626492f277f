//go:build !noasm

package kernels

// arch appends the Sets that this CPU can run.
func arch(sets []Set) []Set { return sets }
