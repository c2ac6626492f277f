package gguf

// Limits: what a file may ask of us.
//
// Each count in a file is held twice: against the bytes that remain (every
// entry has a smallest size), and against the limits here, which keep the heap
// that a header can make us take below the size of the file plus 16 MiB.
// An entry's heap is a Value or Tensor, its dimensions and its places in two
// indexes, about 60 and 130 bytes.

const (
	// maxKeys: published models have less than a hundred. 1 MB of heap.
	maxKeys = 1 << 14

	// maxTensors: published models have some hundred to some thousand, with
	// one tensor per expert. 9 MB of heap.
	maxTensors = 1 << 16

	// maxElements bounds the arrays that the typed getters build. A string
	// takes 8 bytes of the file at least and 16 of heap, a number 1 and 8: two
	// million elements stay within 16 MiB more than the file. The largest
	// published merge lists have about half a million.
	maxElements = 2_000_000

	// maxKeyBytes and maxNameBytes are the lengths the GGUF specification
	// allows for keys and for tensor names.
	maxKeyBytes  = 1<<16 - 1
	maxNameBytes = 64

	// maxDims is the number of dimensions a ggml tensor can have.
	maxDims = 4

	// The data section and every tensor start at a multiple of the
	// alignment. The specification wants a multiple of 8; more than 64 KiB,
	// the largest page in use, serves nobody.
	defaultAlignment = 32
	minAlignment     = 8
	maxAlignment     = 1 << 16

	// The smallest sizes of what the header's counts count, in bytes: a key
	// is its length, one character, a type and one byte of value; a tensor
	// is its length, its number of dimensions, a type and an offset.
	minKeyBytes    = 8 + 1 + 4 + 1
	minTensorBytes = 8 + 4 + 4 + 8
)
