package gguf_test

import (
	"testing"

	"edgeinfer/edge/gguf"
)

// Block sizes as ggml-common.h composes them: half-precision scales of 2
// bytes, then packed scales and codes.
func TestTypeBlocks(t *testing.T) {
	const half, super = 2, 256
	cases := []struct {
		id            gguf.Type
		name          string
		values, bytes int
	}{
		{0, "F32", 1, 4}, {1, "F16", 1, 2}, {30, "BF16", 1, 2}, {28, "F64", 1, 8},
		{24, "I8", 1, 1}, {25, "I16", 1, 2}, {26, "I32", 1, 4}, {27, "I64", 1, 8},
		{2, "Q4_0", 32, half + 32/2},
		{3, "Q4_1", 32, 2*half + 32/2},
		{6, "Q5_0", 32, half + 4 + 32/2},
		{7, "Q5_1", 32, 2*half + 4 + 32/2},
		{8, "Q8_0", 32, half + 32},
		{9, "Q8_1", 32, 2*half + 32},
		{10, "Q2_K", super, 2*half + super/16 + super/4},
		{11, "Q3_K", super, half + super/4 + super/8 + 12},
		{12, "Q4_K", super, 2*half + 12 + super/2},
		{13, "Q5_K", super, 2*half + 12 + super/2 + super/8},
		{14, "Q6_K", super, half + super/16 + 3*super/4},
		{15, "Q8_K", super, 4 + super + super/16*2},
		{16, "IQ2_XXS", super, half + super/8*2},
		{17, "IQ2_XS", super, half + super/8*2 + super/32},
		{18, "IQ3_XXS", super, half + 3*(super/8)},
		{19, "IQ1_S", super, half + super/8 + super/16},
		{20, "IQ4_NL", 32, half + 32/2},
		{21, "IQ3_S", super, half + 13*(super/32) + super/64},
		{22, "IQ2_S", super, half + super/4 + super/16},
		{23, "IQ4_XS", super, half + 2 + super/64 + super/2},
		{29, "IQ1_M", super, super/8 + super/16 + super/32},
		{34, "TQ1_0", super, half + super/64 + (super-4*super/64)/5},
		{35, "TQ2_0", super, half + super/4},
		{39, "MXFP4", 32, 1 + 32/2},
		{40, "NVFP4", 64, 64/16 + 64/2},
		{41, "Q1_0", 128, half + 128/8},
		{42, "Q2_0", 64, half + 64/4},
	}
	known := map[gguf.Type]bool{}
	for _, c := range cases {
		values, bytes, ok := c.id.Block()
		if values != c.values || bytes != c.bytes || !ok || c.id.String() != c.name {
			t.Errorf("type %d = %v, blocks of %d in %d bytes, %v, want %s, %d in %d",
				uint32(c.id), c.id, values, bytes, ok, c.name, c.values, c.bytes)
		}
		// Tensor.Values relies on it: a byte never holds eight values.
		if values >= 8*bytes {
			t.Errorf("%v has %d values in %d bytes", c.id, values, bytes)
		}
		known[c.id] = true
	}
	for id := gguf.Type(0); id < 300; id++ {
		values, bytes, ok := id.Block()
		if !known[id] && (ok || values != 0 || bytes != 0 || id.String() == "") {
			t.Errorf("type %d = %q, blocks of %d in %d bytes, want none", uint32(id), id, values, bytes)
		}
	}
	if got := gguf.Type(99).String(); got != "type 99" {
		t.Errorf("an unknown type prints as %q", got)
	}
	if got := gguf.Kind(99).String(); got != "kind 99" {
		t.Errorf("an unknown kind prints as %q", got)
	}
}
