package kernels

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestPackUnpackIdentity holds packing against its inverse for every width and
// row length, and the packed row against its exact size.
func TestPackUnpackIdentity(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for bits := 1; bits <= 8; bits++ {
		for channels := 16; channels <= 256; channels += 16 {
			codes := make([]uint8, channels)
			for i := range codes {
				codes[i] = uint8(random.IntN(1 << bits))
			}
			packed := bytes.Repeat([]byte{0xa5}, channels*bits/8+1)
			PackCodes(packed, codes, bits)
			if packed[channels*bits/8] != 0xa5 {
				t.Errorf("PackCodes(n=%d, bits=%d) writes past %d bytes",
					channels, bits, channels*bits/8)
			}
			got := bytes.Repeat([]byte{0xff}, channels)
			UnpackCodes(got, packed, bits)
			if !bytes.Equal(got, codes) {
				t.Errorf("UnpackCodes(PackCodes(n=%d, bits=%d)) = %v, want %v",
					channels, bits, got, codes)
			}
		}
	}
}

// TestPackLayout is the layout of the formats, bit by bit, by a second formula.
func TestPackLayout(t *testing.T) {
	planes := map[int][]int{
		1: {1}, 2: {2}, 3: {2, 1}, 4: {4}, 5: {4, 1}, 6: {4, 2}, 7: {4, 2, 1}, 8: {8},
	}
	for bits := 1; bits <= 8; bits++ {
		for _, channels := range []int{16, 32, 48, 80, 128} {
			for channel := range channels {
				for bit := range bits {
					codes, packed := make([]uint8, channels), make([]byte, channels*bits/8)
					codes[channel] = 1 << bit
					PackCodes(packed, codes, bits)
					at, shift := bitAt(planes[bits], channels, channel, bit)
					want := make([]byte, len(packed))
					want[at] = 1 << shift
					if !bytes.Equal(packed, want) {
						t.Fatalf("bit %d of channel %d (n=%d, bits=%d) packs as %x, want %x",
							bit, channel, channels, bits, packed, want)
					}
				}
			}
		}
	}
}

// bitAt says in which byte and at which place one bit of one code lies.
func bitAt(planes []int, channels, channel, bit int) (at, shift int) {
	for _, width := range planes {
		if bit >= width {
			bit, at = bit-width, at+channels*width/8
			continue
		}
		unit := channel / 32 * 32
		size := min(32, channels-unit)
		at += unit * width / 8
		if width == 1 {
			return at + channel%32/8, channel % 8
		}
		stride := size * width / 8
		return at + channel%32%stride, channel%32/stride*width + bit
	}
	panic("bit beyond the planes")
}

func BenchmarkUnpackCodes(b *testing.B) {
	for bits := 1; bits <= 8; bits++ {
		b.Run(fmt.Sprintf("bits=%d", bits), func(b *testing.B) {
			codes, packed := make([]uint8, 64), make([]byte, 8*bits)
			b.SetBytes(64)
			for b.Loop() {
				UnpackCodes(codes, packed, bits)
			}
		})
	}
}
