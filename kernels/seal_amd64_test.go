//go:build !noasm

package kernels

import "testing"

// TestMixOfTiers: the two tiers have one chain of fused additions a channel, so that
// a cache answers alike with and without AVX-512.
func TestMixOfTiers(t *testing.T) {
	low, err := ByName("avx2")
	if err != nil {
		t.Skip(err)
	}
	high, err := ByName("avx512vnni")
	if err != nil {
		t.Skip(err)
	}
	for _, c := range rowsCases() {
		r := newRand(uint64(c.padded<<8 | c.rows))
		codes, w := make([]int8, c.rows*c.padded), normalFloats(r, c.rows*c.groups())
		for i := range codes {
			codes[i] = int8(r.Uint32())
		}
		before := normalFloats(r, c.padded)
		got, want := append([]float32{}, before...), append([]float32{}, before...)
		high.Mix(got, codes, c.padded, c.rows, w, c.group)
		low.Mix(want, codes, c.padded, c.rows, w, c.group)
		if !sameBits(got, want) {
			t.Fatalf("Mix(%s) differs between avx2 and avx512vnni", c)
		}
	}
}
