package kernels

// Packing of codes of 1 to 8 bits. A code is split into planes of 4, 2 and 1
// bits (8 bits: one plane of bytes), the low bits in the widest plane, and the
// planes of a row lie one after the other, the widest first. Within a plane
// channels go in units of 32 (the last of 16 where a row is no multiple), so
// that one load, a mask and a shift yield codes in order:
//
//	4 bits: byte j = c[j] | c[j+U/2]<<4
//	2 bits: byte j = c[j] | c[j+U/4]<<2 | c[j+2U/4]<<4 | c[j+3U/4]<<6
//	1 bit:  bit i%8 of byte i/8 = c[i]
//
// with U the channels of the unit. A row of n channels takes n·bits/8 bytes.

import "encoding/binary"

// unitChannels is the number of channels whose codes share the bytes of a plane.
const unitChannels = 32

// PackCodes writes codes of the given bits into dst, len(codes)·bits/8 bytes.
// len(codes) is a multiple of 16, each code below 2^bits.
func PackCodes(dst []byte, codes []uint8, bits int) {
	if bits == 8 {
		copy(dst[:len(codes)], codes)
		return
	}
	shift := 0
	for width := 4; width > 0; width >>= 1 {
		if bits&width == 0 {
			continue
		}
		n := len(codes) * width / 8
		packPlane(dst[:n], codes, width, shift)
		dst, shift = dst[n:], shift+width
	}
}

// packPlane writes bits shift to shift+width−1 of each code.
func packPlane(dst []byte, codes []uint8, width, shift int) {
	mask := uint8(1<<width - 1)
	for len(codes) > 0 {
		unit := codes[:min(unitChannels, len(codes))]
		n := len(unit) * width / 8
		out := dst[:n]
		clear(out)
		for i, c := range unit {
			at, bit := i%n, i/n*width
			if width == 1 {
				at, bit = i/8, i%8
			}
			out[at] |= c >> shift & mask << bit
		}
		codes, dst = codes[len(unit):], dst[n:]
	}
}

// UnpackCodes is the inverse of PackCodes.
func UnpackCodes(codes []uint8, src []byte, bits int) {
	if bits == 8 {
		copy(codes, src[:len(codes)])
		return
	}
	clear(codes)
	shift := 0
	for width := 4; width > 0; width >>= 1 {
		if bits&width == 0 {
			continue
		}
		n := len(codes) * width / 8
		unpackPlane(codes, src[:n], width, shift)
		src, shift = src[n:], shift+width
	}
}

// unpackPlane adds bits shift to shift+width−1 to each code.
func unpackPlane(codes []uint8, src []byte, width, shift int) {
	for len(codes) > 0 {
		unit := codes[:min(unitChannels, len(codes))]
		n := len(unit) * width / 8
		switch width {
		case 4:
			unpackNibbles(unit, src[:n], shift)
		case 2:
			unpackPairs(unit, src[:n], shift)
		default:
			unpackBits(unit, src[:n], shift)
		}
		codes, src = codes[len(unit):], src[n:]
	}
}

// The three below work on eight codes at a time, one in each byte of a word.

func unpackNibbles(unit []uint8, src []byte, shift int) {
	const each = 0x0f0f0f0f0f0f0f0f
	n := len(src)
	for j := 0; j < n; j += 8 {
		word := binary.LittleEndian.Uint64(src[j:])
		addCodes(unit[j:], word&each<<shift)
		addCodes(unit[n+j:], word>>4&each<<shift)
	}
}

func unpackPairs(unit []uint8, src []byte, shift int) {
	const each = 0x0303030303030303
	if len(src) == 4 { // a unit of 16
		word := uint64(binary.LittleEndian.Uint32(src))
		word |= word >> 2 << 32
		addCodes(unit, word&each<<shift)
		addCodes(unit[8:], word>>4&each<<shift)
		return
	}
	word := binary.LittleEndian.Uint64(src)
	for k := 0; k < 4; k++ {
		addCodes(unit[8*k:], word>>(2*k)&each<<shift)
	}
}

func unpackBits(unit []uint8, src []byte, shift int) {
	const each, own = 0x0101010101010101, 0x8040201008040201
	for j, b := range src {
		// Byte i keeps bit i of b; adding 127 turns it into bit 7, if it is set.
		word := uint64(b) * each & own
		addCodes(unit[8*j:], (word+0x7f*each)>>7&each<<shift)
	}
}

// addCodes puts the bits of word into eight codes.
func addCodes(codes []uint8, word uint64) {
	binary.LittleEndian.PutUint64(codes, binary.LittleEndian.Uint64(codes)|word)
}
