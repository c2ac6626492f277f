//go:build 386 || arm

package gguf_test

import (
	"testing"

	"edgeinfer/edge/gguf"
)

// Where int has 32 bits, a file of 0.3 GB can hold more values than int
// counts. The data is never touched, so neither is the memory.
func TestMoreValuesThanAnInt(t *testing.T) {
	const blocks = 1 << 31 / 128
	data := append(make([]byte, 0, blocks*18+96), header(1, 0).
		tensor("t", gguf.TypeQ1_0, 0, 1<<31).aligned()...)
	data = data[:cap(data)]
	mustFail(t, data, `tensor "t": 2147483648 are 2147483648 values, at most 2147483647`)
}
