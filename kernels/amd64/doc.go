// Package amd64 is a leaf of assembly for x86-64: plain functions over slices
// that kernels/set_amd64.go composes into Sets. It imports nothing of ours and
// decides nothing: which CPU runs what is the business of package kernels.
package amd64
