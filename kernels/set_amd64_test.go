//go:build !noasm

package kernels

import (
	"slices"
	"testing"
)

// TestTiersAgree: the block formats have one chain of roundings an element on
// both tiers, so that a model answers alike with and without AVX-512.
func TestTiersAgree(t *testing.T) {
	low, err := ByName("avx2")
	if err != nil {
		t.Skip(err)
	}
	high, err := ByName("avx512vnni")
	if err != nil {
		t.Skip(err)
	}
	for f := Q8_0; f < NumFormats; f++ {
		for _, tokens := range []int{1, 31} {
			r := newRand(uint64(f))
			c := newProductCase(f, 53, 1024, tokens)
			c.fillWeights(r)
			c.fillInput(r)
			var y [2][]float32
			for i, s := range []Set{low, high} {
				y[i] = make([]float32, c.rows*tokens)
				s.Product[f](y[i], c.rows, c.w, c.x, c.xStride, c.rows, c.cols, tokens)
			}
			if !slices.Equal(y[0], y[1]) {
				t.Errorf("Product(%s) differs between avx2 and avx512vnni", c)
			}
		}
	}
}
