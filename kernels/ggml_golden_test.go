package kernels

// ggml's own blocks: written by its rules here, in the test, and read by
// DequantizeRow, which must give ggml's values to the bit.

import (
	"encoding/binary"
	"math"
	"testing"
)

func TestDequantizeRowEqualsGGML(t *testing.T) {
	cases, read := goldenVectors(t, "ggmlfmt")
	held := 0
	for i, c := range cases {
		format, block := Q8_0, ggmlQ8_0
		switch c.Kind {
		case "q8_0":
		case "q4_0":
			format, block = Q4_0, ggmlQ4_0
		case "q4_1":
			format, block = Q4_1, ggmlQ4_1
		case "q5_0":
			format, block = Q5_0, ggmlQ5_0
		case "q5_1":
			format, block = Q5_1, ggmlQ5_1
		case "iq4_nl":
			format, block = IQ4_NL, ggmlIQ4NL
		default:
			t.Fatalf("case %d is of kind %s, which is not known", i, c.Kind)
		}
		held++
		x, want := read(c.X), read(c.Deq)
		var src []byte
		for at := 0; at < len(x); at += BlockValues {
			src = append(src, block(x[at:at+BlockValues])...)
		}
		got := make([]float32, len(x))
		DequantizeRow(format, got, src)
		same(t, i, c.Kind, got, want)
	}
	if held != 24 {
		t.Errorf("%d golden cases, want 24", held)
	}
}

func halfBytes(v float32) []byte { return binary.LittleEndian.AppendUint16(nil, F32ToF16(v)) }

// ggmlQ8_0: d = max|x|/127, code = round half away from zero.
func ggmlQ8_0(x []float32) []byte {
	var most float32
	for _, v := range x {
		most = max(most, v, -v)
	}
	d := most / 127
	block := halfBytes(d)
	for _, v := range x {
		code := float32(0)
		if d != 0 {
			code = v * (1 / d)
		}
		block = append(block, byte(int8(math.Round(float64(code)))))
	}
	return block
}

// ggmlQ4_0: d = m/−8 with m the value of largest magnitude, code = ⌊x/d + 8.5⌋.
func ggmlQ4_0(x []float32) []byte {
	var most float32
	for _, v := range x {
		if max(v, -v) > max(most, -most) {
			most = v
		}
	}
	d := most / -8
	return append(halfBytes(d), ggmlNibbles(x, d, 0, 8.5)...)
}

// ggmlQ4_1: d = (max−min)/15, code = ⌊(x−min)/d + 0.5⌋.
func ggmlQ4_1(x []float32) []byte {
	low, high := x[0], x[0]
	for _, v := range x {
		low, high = min(low, v), max(high, v)
	}
	d := (high - low) / 15
	return append(append(halfBytes(d), halfBytes(low)...), ggmlNibbles(x, d, low, 0.5)...)
}

func ggmlNibbles(x []float32, d, low, offset float32) []byte {
	var inverse float32
	if d != 0 {
		inverse = 1 / d
	}
	block := make([]byte, BlockValues/2)
	for i, v := range x {
		code := min(byte(int8(float32((v-low)*inverse)+offset)), 15)
		block[i%16] |= code << (i / 16 * 4)
	}
	return block
}

// ggmlQ5_0: d = m/−16 with m the value of largest magnitude, code = ⌊x/d + 16.5⌋.
func ggmlQ5_0(x []float32) []byte {
	var most float32
	for _, v := range x {
		if max(v, -v) > max(most, -most) {
			most = v
		}
	}
	d := most / -16
	return append(halfBytes(d), ggmlFiveBits(x, d, 0, 16.5)...)
}

// ggmlQ5_1: d = (max−min)/31, code = ⌊(x−min)/d + 0.5⌋.
func ggmlQ5_1(x []float32) []byte {
	low, high := x[0], x[0]
	for _, v := range x {
		low, high = min(low, v), max(high, v)
	}
	d := (high - low) / 31
	return append(append(halfBytes(d), halfBytes(low)...), ggmlFiveBits(x, d, low, 0.5)...)
}

// ggmlFiveBits packs the fifth bits, then the nibbles.
func ggmlFiveBits(x []float32, d, low, offset float32) []byte {
	var inverse float32
	if d != 0 {
		inverse = 1 / d
	}
	var high uint32
	block := make([]byte, 4+BlockValues/2)
	for i, v := range x {
		code := min(byte(int8(float32((v-low)*inverse)+offset)), 31)
		block[4+i%16] |= code & 15 << (i / 16 * 4)
		high |= uint32(code>>4) << i
	}
	binary.LittleEndian.PutUint32(block, high)
	return block
}

// ggmlIQ4NL follows the rule for the cache: with m the value of largest magnitude
// and d₀ = m/−127, the nearest level to x/d₀, the higher one on ties; then
// d = Σx²·l·x / Σx²·l² over the levels l, and the codes stay.
func ggmlIQ4NL(x []float32) []byte {
	var most float32
	for _, v := range x {
		if max(v, -v) > max(most, -most) {
			most = v
		}
	}
	block := make([]byte, 2+BlockValues/2)
	if max(most, -most) < 1e-15 {
		return block
	}
	inverse := 1 / (most / float32(iq4Levels[0]))
	var lx, ll float32
	for i, v := range x {
		code, z := 0, v*inverse
		for code < 15 && z-float32(iq4Levels[code]) >= float32(iq4Levels[code+1])-z {
			code++
		}
		level, weight := float32(iq4Levels[code]), v*v
		lx += float32(float32(weight*level) * v)
		ll += float32(float32(weight*level) * level)
		block[2+i%16] |= byte(code) << (i / 16 * 4)
	}
	copy(block, halfBytes(lx/ll))
	return block
}
