//go:build noasm

package tests

// noasm says that this build has no assembly.
const noasm = true
