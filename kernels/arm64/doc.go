// Package arm64 is a leaf of assembly for AArch64: plain functions over slices
// that kernels/set_arm64.go composes into Sets. It imports nothing of ours and
// decides nothing: which CPU runs what is the business of package kernels.
package arm64
