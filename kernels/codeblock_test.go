package kernels

// The block formats of codeblock.go a second time, value by value from the
// description of their layouts: what the shared tests of dequant_test.go and
// set_test.go hold every Set against.

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/x448/float16"
)

// halfPlaces gives the bytes at which a block's scale and minimum stand; there is
// no minimum where the second is negative.
func halfPlaces(f Format) (scale, minimum int) {
	switch f {
	case Q4_1, Q5_1, Q4_K, Q5_K:
		return 0, 2
	case Q2_K:
		return 80, 82
	case Q3_K:
		return 108, -1
	case Q6_K:
		return 208, -1
	}
	return 0, -1
}

// bitOf returns bit n of a little-endian row of bytes.
func bitOf(row []byte, n int) int { return int(row[n/8]>>(n%8)) & 1 }

// bitsOf returns n bits from bit first of a byte on.
func bitsOf(b byte, first, n int) int { return int(b>>first) & (1<<n - 1) }

// codeBlockValue gives the two terms d·s·q and m of value i of a block.
func codeBlockValue(f Format, block []byte, i int) (v, offset float64) {
	at, minimum := halfPlaces(f)
	half := func(at int) float64 {
		return float64(float16.Frombits(binary.LittleEndian.Uint16(block[at:])).Float32())
	}
	d, dmin := half(at), 0.0
	if minimum >= 0 {
		dmin = half(minimum)
	}
	levels := []float64{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}
	switch f {
	case Q5_0:
		return d * float64(bitsOf(block[6+i%16], i/16*4, 4)+16*bitOf(block[2:], i)-16), 0
	case Q5_1:
		return d * float64(bitsOf(block[8+i%16], i/16*4, 4)+16*bitOf(block[4:], i)), dmin
	case IQ4_NL:
		return d * levels[bitsOf(block[2+i%16], i/16*4, 4)], 0
	case Q2_K:
		q := bitsOf(block[16+i/128*32+i%32], i%128/32*2, 2)
		return d * float64(bitsOf(block[i/16], 0, 4)*q), -dmin * float64(bitsOf(block[i/16], 4, 4))
	case Q3_K:
		q := bitsOf(block[32+i/128*32+i%32], i%128/32*2, 2) + 4*bitsOf(block[i%32], i/32, 1)
		k, packed := i/16, block[96:108]
		s := bitsOf(packed[k%8], k/8*4, 4) + 16*bitsOf(packed[8+k%4], k/4*2, 2)
		return d * float64((s-32)*(q-4)), 0
	case Q4_K, Q5_K:
		s, m := scaleAndMinimum(block[4:16], i/32)
		q := bitsOf(block[16+i/64*32+i%32], i/32%2*4, 4)
		if f == Q5_K {
			q = bitsOf(block[48+i/64*32+i%32], i/32%2*4, 4) + 16*bitsOf(block[16+i%32], i/32, 1)
		}
		return d * float64(s*q), -dmin * float64(m)
	case Q6_K:
		low := bitsOf(block[i/128*64+i%64], i%128/64*4, 4)
		high := bitsOf(block[128+i/128*32+i%32], i%128/32*2, 2)
		return d * float64(int(int8(block[192+i/16]))*(low+16*high-32)), 0
	case IQ4_XS:
		g, high := i/32, int(binary.LittleEndian.Uint16(block[2:]))
		s := bitsOf(block[4+g/2], g%2*4, 4) + 16*(high>>(2*g)&3)
		return d * float64(s-32) * levels[bitsOf(block[8+16*g+i%16], i%32/16*4, 4)], 0
	}
	panic("kernels: BUG: no definition of " + f.String())
}

// scaleAndMinimum reads the twelve bytes as three words of four: low six bits of
// the scales and of the minima of groups 0 to 3 with two more bits on top of each,
// then the low nibbles of groups 4 to 7.
func scaleAndMinimum(packed []byte, g int) (scale, minimum int) {
	scales, minima, low := packed[0:4], packed[4:8], packed[8:12]
	j := g % 4
	if g == j {
		return bitsOf(scales[j], 0, 6), bitsOf(minima[j], 0, 6)
	}
	scale = bitsOf(low[j], 0, 4) + 16*bitsOf(scales[j], 6, 2)
	return scale, bitsOf(low[j], 4, 4) + 16*bitsOf(minima[j], 6, 2)
}

// TestBlockSizes: bits a value as the formats are advertised, and no room between
// the parts of a block.
func TestBlockSizes(t *testing.T) {
	for f, want := range map[Format]float64{
		Q5_0: 5.5, Q5_1: 6, Q2_K: 2.625, Q3_K: 3.4375, Q4_K: 4.5, Q5_K: 5.5, Q6_K: 6.5625,
		IQ4_NL: 4.5, IQ4_XS: 4.25, Q8_0: 8.5, Q4_0: 4.5, Q4_1: 5,
	} {
		values, size := f.Block()
		if got := float64(size) * 8 / float64(values); got != want {
			t.Errorf("%v has %v bits a value, want %v", f, got, want)
		}
		if got := f.RowBytes(3 * values); got != 3*size {
			t.Errorf("%v: a row of three blocks has %d bytes, want %d", f, got, 3*size)
		}
	}
}

// TestBlockValuesReadEveryBit: each bit of a block changes the value of some
// weight, so that no part of the layout is passed over.
func TestBlockValuesReadEveryBit(t *testing.T) {
	for f := Q5_0; f < NumFormats; f++ {
		values, size := f.Block()
		r := newRand(uint64(f))
		block, before, after := make([]byte, size), make([]float32, values), make([]float32, values)
		for i := range block {
			block[i] = byte(r.Uint32())
		}
		scale, minimum := halfPlaces(f)
		binary.LittleEndian.PutUint16(block[scale:], halfOf(0.5))
		if minimum >= 0 {
			binary.LittleEndian.PutUint16(block[minimum:], halfOf(0.25))
		}
		DequantizeRow(f, before, block)
		for n := range 8 * size {
			block[n/8] ^= 1 << (n % 8)
			DequantizeRow(f, after, block)
			same := true
			for i := range after {
				same = same && math.Float32bits(after[i]) == math.Float32bits(before[i])
			}
			if same {
				t.Errorf("%v: bit %d of byte %d changes no value", f, n%8, n/8)
			}
			block[n/8] ^= 1 << (n % 8)
		}
	}
}
