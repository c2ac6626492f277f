package kernels

// The formats that take more to read than a scale and bytes: Q5_0, Q5_1, the K
// formats, IQ4_NL and IQ4_XS. A block is taken apart into codes and, for every 16
// of them, a scale and an offset:
//
//	w[i] = scale[i/16]·code[i] + offset[i/16]
//
// Layouts and rules are those of llama.cpp's ggml-common.h and ggml-quants.c,
// which define the formats; numbers are little-endian, [n] counts bytes. In blocks
// of 256, value i is value v = i mod 32 of group g = i/32, and u = g mod 4 and
// h = i/128 place it in the halves of the 2-, 3- and 6-bit formats:
//
//	Q5_0    f16 d, high[4], low[16]
//	        q = nibble(low, v) + 16·bit v of high            w = d·(q−16)
//	Q5_1    f16 d, f16 m, high[4], low[16]                   w = d·q + m
//	Q2_K    scales[16], codes[64], f16 d, f16 dmin
//	        q = codes[32h+v]>>2u & 3, s|m<<4 = scales[i/16]  w = d·s·q − dmin·m
//	Q3_K    high[32], codes[64], scales[12], f16 d
//	        q = codes[32h+v]>>2u & 3 + 4·bit g of high[v]    w = d·(s−32)·(q−4)
//	        s, k = i/16: four bits in nibble k/8 of scales[k mod 8], then two at
//	        bit 2·(k/4) of scales[8 + k mod 4]
//	Q4_K    f16 d, f16 dmin, scales[12], codes[128]
//	        q = codes[32·(g/2)+v]>>4(g mod 2) & 15           w = d·s·q − dmin·m
//	        s, m: see scaleMin
//	Q5_K    f16 d, f16 dmin, scales[12], high[32], low[128]
//	        q = low as in Q4_K + 16·bit g of high[v]         w = d·s·q − dmin·m
//	Q6_K    low[128], high[64], scales[16] int8, f16 d
//	        q = low[64h + 32(u mod 2) + v]>>4(u/2) & 15
//	            + 16·(high[32h+v]>>2u & 3), s = scales[i/16] w = d·s·(q−32)
//	IQ4_NL  f16 d, codes[16]
//	        q = table[nibble(codes, v)]                      w = d·q
//	IQ4_XS  f16 d, u16 high, low[4], codes[128]
//	        q = table[nibble(codes[16g:], v)], s = four bits in nibble g mod 2 of
//	        low[g/2], then two at bit 2g of high             w = d·(s−32)·q
//
// nibble(b, v) is b[v] & 15 for v < 16 and b[v−16]>>4 above. Scales times codes
// are whole numbers of at most 13 bits and d has 11, so that d·s·q is exact in
// float32 and only adding an offset rounds.

import (
	"encoding/binary"
	"math"
)

// codeBlock is one block taken apart; blocks of 32 values fill its front.
type codeBlock struct {
	codes         [SuperBlockValues]byte // of int8
	scale, offset [SuperBlockValues / subBlockValues]float32
}

// subBlockValues is the number of codes that share a scale and an offset.
const subBlockValues = 16

// noOffset leaves every float32 it is added to as it is, also both zeros.
var noOffset = float32(math.Copysign(0, -1))

// iq4Levels are the levels of IQ4_NL and IQ4_XS by code.
var iq4Levels = [16]int8{
	-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
}

// codeBlockFormat says whether unpack reads blocks of f.
func codeBlockFormat(f Format) bool { return f >= Q5_0 && f < NumFormats }

// unpack takes one block of a format of this file apart.
func (b *codeBlock) unpack(f Format, src []byte) {
	switch f {
	case Q5_0:
		b.fiveBits(src[2:6], src[6:22], 16)
		b.terms(0, 2, f16At(src), noOffset)
	case Q5_1:
		b.fiveBits(src[4:8], src[8:24], 0)
		b.terms(0, 2, f16At(src), f16At(src[2:]))
	case Q2_K:
		b.q2K(src)
	case Q3_K:
		b.q3K(src)
	case Q4_K:
		b.nibblePairs(src[16:144])
		b.scalesAndMinima(src)
	case Q5_K:
		b.nibblePairs(src[48:176])
		b.fifthBits(src[16:48])
		b.scalesAndMinima(src)
	case Q6_K:
		b.q6K(src)
	case IQ4_NL:
		b.levels(0, src[2:18])
		b.terms(0, 2, f16At(src), noOffset)
	case IQ4_XS:
		b.iq4XS(src)
	}
}

// terms gives sub-blocks k to k+n-1 one scale and offset.
func (b *codeBlock) terms(k, n int, scale, offset float32) {
	for ; n > 0; k, n = k+1, n-1 {
		b.scale[k], b.offset[k] = scale, offset
	}
}

// Codes are read eight at a time: a word has a byte for each.

// repeat returns a word of eight equal bytes.
func repeat(b byte) uint64 { return uint64(b) * 0x0101010101010101 }

// below returns codes, each less than 128, minus bias, at most 128, as int8.
func below(codes uint64, bias byte) uint64 {
	return (codes | repeat(0x80)) - repeat(bias) ^ repeat(0x80)
}

// spread returns 16 in each byte whose bit of b is set, the lowest first.
func spread(b byte) uint64 {
	own := repeat(b) & 0x8040201008040201
	return (own + repeat(0x7f)) >> 3 & repeat(16)
}

func word(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// put stores the codes of eight values from value i on.
func (b *codeBlock) put(i int, codes uint64) { binary.LittleEndian.PutUint64(b.codes[i:], codes) }

// fiveBits reads 32 codes, nibbles and their fifth bits, and takes bias off.
func (b *codeBlock) fiveBits(high, low []byte, bias byte) {
	for i := 0; i < 16; i += 8 {
		both := word(low[i:])
		b.put(i, below(both&repeat(15)|spread(high[i/8]), bias))
		b.put(i+16, below(both>>4&repeat(15)|spread(high[i/8+2]), bias))
	}
}

// levels reads 32 codes that are places in iq4Levels, from code first on.
func (b *codeBlock) levels(first int, nibbles []byte) {
	for j := range 16 {
		b.codes[first+j] = byte(iq4Levels[nibbles[j]&15])
		b.codes[first+j+16] = byte(iq4Levels[nibbles[j]>>4])
	}
}

// q2K reads a block of Q2_K.
func (b *codeBlock) q2K(src []byte) {
	b.twoBits(src[16:80])
	d, dmin := f16At(src[80:]), f16At(src[82:])
	for k, both := range src[:16] {
		b.terms(k, 1, d*float32(both&15), -dmin*float32(both>>4))
	}
}

// q3K reads a block of Q3_K.
func (b *codeBlock) q3K(src []byte) {
	high, packed, d := src[:32], src[96:108], f16At(src[108:])
	b.twoBits(src[32:96])
	for i := 0; i < SuperBlockValues; i += 8 {
		third := word(high[i%32:]) >> (i / 32) & repeat(1) << 2
		b.put(i, below(word(b.codes[i:])|third, 4))
	}
	for k := range b.scale {
		s := packed[k%8]>>(k/8*4)&15 | packed[8+k%4]>>(k/4*2)&3<<4
		b.terms(k, 1, d*float32(int(s)-32), noOffset)
	}
}

// twoBits reads 256 codes of two bits: a byte has the same value of four groups.
func (b *codeBlock) twoBits(packed []byte) {
	for i := 0; i < SuperBlockValues; i += 8 {
		b.put(i, word(packed[i/128*32+i%32:])>>(i/32%4*2)&repeat(3))
	}
}

// nibblePairs reads 256 nibbles: a byte has the same value of two groups.
func (b *codeBlock) nibblePairs(packed []byte) {
	for i := 0; i < SuperBlockValues; i += 8 {
		b.put(i, word(packed[i/64*32+i%32:])>>(i/32%2*4)&repeat(15))
	}
}

// fifthBits adds bit g of high[v] to value v of each group g.
func (b *codeBlock) fifthBits(high []byte) {
	for i := 0; i < SuperBlockValues; i += 8 {
		b.put(i, word(b.codes[i:])|word(high[i%32:])>>(i/32)&repeat(1)<<4)
	}
}

// scalesAndMinima reads the sixteen bytes that Q4_K and Q5_K begin with.
func (b *codeBlock) scalesAndMinima(src []byte) {
	d, dmin := f16At(src), f16At(src[2:])
	for g := range SuperBlockValues / BlockValues {
		s, m := scaleMin(src[4:16], g)
		b.terms(2*g, 2, d*float32(s), -dmin*float32(m))
	}
}

// scaleMin returns the six-bit scale and minimum of group g. Those of the first
// four groups are the low six bits of bytes g and g+4. Of the others, byte g+4 has
// the low nibbles and the two bits that bytes g−4 and g spare are on top.
func scaleMin(packed []byte, g int) (scale, minimum byte) {
	if g < 4 {
		return packed[g] & 63, packed[g+4] & 63
	}
	low := packed[g+4]
	return low&15 | packed[g-4]>>6<<4, low>>4 | packed[g]>>6<<4
}

// q6K reads a block of Q6_K.
func (b *codeBlock) q6K(src []byte) {
	low, high, scales, d := src[:128], src[128:192], src[192:208], f16At(src[208:])
	for i := 0; i < SuperBlockValues; i += 8 {
		v, u, h := i%32, i/32%4, i/128
		q := word(low[64*h+u%2*32+v:]) >> (u / 2 * 4) & repeat(15)
		q |= word(high[32*h+v:]) >> (2 * u) & repeat(3) << 4
		b.put(i, below(q, 32))
	}
	for k, s := range scales {
		b.terms(k, 1, d*float32(int8(s)), noOffset)
	}
}

// iq4XS reads a block of IQ4_XS.
func (b *codeBlock) iq4XS(src []byte) {
	d, high, low := f16At(src), binary.LittleEndian.Uint16(src[2:]), src[4:8]
	for g := range SuperBlockValues / BlockValues {
		b.levels(32*g, src[8+16*g:24+16*g])
		s := low[g/2]>>(g%2*4)&15 | byte(high>>(2*g)&3)<<4
		b.terms(2*g, 2, d*float32(int(s)-32), noOffset)
	}
}
