package kernels

// Channel tiles: each channel of a tile of keys has a range of its own, shared by
// its 32 tokens (KIVI, Liu et al., 2024, with groups of 32 tokens). Loud channels
// then cost the quiet ones nothing. A tile lies as
//
//	chan-A: [padded] fp16 scale, [padded] fp16 min, [32] rows of padded·bits/8 bytes
//	chan-C: [padded] u8 scale, [padded] i8 zero, [32] rows of padded·bits/8 bytes
//
// and chan-C has one fp16 super-scale S for each head in the header of the page:
// x̂ = S·u·(code − 2^(bits−1) − zero). The zero counts from the middle code, so that
// 8-bit codes reach both ends of their range.

import "encoding/binary"

// PackChannelTile codes a tile of x [32][padded], of which headDim channels count.
// header is the head's two bytes in the header of the page (chan-C; else unused).
// Padded channels have scale and codes 0. Infinities and NaN are taken as by
// finiteHalf.
func PackChannelTile(tile, header []byte, f KVFormat, x []float32, headDim int) {
	padded := PaddedHeadDim(headDim)
	var (
		codes   [TileTokens][MaxHeadDim]uint8
		column  [TileTokens]float32
		channel [TileTokens]uint8
		scale   [MaxHeadDim]uint16
		low     [MaxHeadDim]uint16
		need    [MaxHeadDim]float32
	)
	for c := range headDim {
		for r := range column {
			column[r] = finiteHalf(x[r*padded+c])
		}
		scale[c], low[c] = f.fitAffine(channel[:], column[:])
		if f.Kind == KVCompact {
			need[c] = compactNeed(column[:], F16ToF32(scale[c]), f.Bits)
		}
		for r, code := range channel {
			codes[r][c] = code
		}
	}
	if f.Kind == KVCompact {
		super := packCompact(tile, &need, &low, headDim, padded, f.Bits)
		binary.LittleEndian.PutUint16(header, F32ToF16(super))
		for c := range headDim {
			s, m := f.channel(tile, super, c, padded)
			for r := range TileTokens {
				codes[r][c] = nearestAffine(finiteHalf(x[r*padded+c]), s, m, f.Bits)
			}
		}
	} else {
		for c := range padded {
			binary.LittleEndian.PutUint16(tile[2*c:], scale[c])
			binary.LittleEndian.PutUint16(tile[2*(padded+c):], low[c])
		}
	}
	rowBytes := padded * f.Bits / 8
	payload := tile[f.channelScaleBytes()*padded:]
	for r := range TileTokens {
		PackCodes(payload[r*rowBytes:(r+1)*rowBytes], codes[r][:padded], f.Bits)
	}
}

// compactReach is how many steps a zero is counted on to move the codes: one fewer
// than it can, for its rounding.
const compactReach = 127

// compactNeed is the least step S·u of a channel of chan-C whose codes reach all
// its values. The fit's scale spans their range; a range far from 0 compared with
// its width needs a coarser step, for a zero moves codes by 128 steps at most.
func compactNeed(x []float32, scale float32, bits int) float32 {
	half := float32(int(1) << (bits - 1))
	need := scale
	for _, v := range x {
		need = max(need, v/(half-1+compactReach), -v/(half+compactReach))
	}
	return need
}

// packCompact writes the u8 scales and the i8 zeros of chan-C and returns S:
//
//	S = max need/255 as an fp16, u = ⌈need/S⌉, zero = rint(−min/(S·u)) − 2^(bits−1)
//
// both clamped to their bytes. S and u are rounded up so that every channel is
// covered. Where all channels are 0 so is S, and the tile reads as zeros.
func packCompact(tile []byte, need *[MaxHeadDim]float32, low *[MaxHeadDim]uint16,
	headDim, padded, bits int) float32 {
	var most float32
	for c := range headDim {
		most = max(most, need[c])
	}
	super := roundHalfUp(most / 255)
	clear(tile[:2*padded])
	if super == 0 {
		return 0
	}
	for c := range headDim {
		u := min(max(ceil(need[c]/super), 1), 255)
		zero := rint(-F16ToF32(low[c])/float32(super*u)) - float32(int(1)<<(bits-1))
		tile[c] = byte(u)
		tile[padded+c] = byte(int8(min(max(zero, -128), 127)))
	}
	return super
}

// roundHalfUp is the least IEEE half that is not below v, which is not negative
// and below 65504.
func roundHalfUp(v float32) float32 {
	h := F32ToF16(v)
	if F16ToF32(h) < v {
		h++
	}
	return F16ToF32(h)
}

// ceil rounds up; v is not negative.
func ceil(v float32) float32 {
	whole := float32(int32(min(v, 1<<20)))
	if whole < v {
		whole++
	}
	return whole
}

// nearestAffine is the code nearest to v under x̂ = s·code + m.
func nearestAffine(v, s, m float32, bits int) uint8 {
	if s == 0 {
		return 0
	}
	return clampCode(rint((v-m)/s), 1<<bits-1)
}

// channel returns the scale and the minimum of channel c: x̂ = s·code + m.
func (f KVFormat) channel(tile []byte, super float32, c, padded int) (s, m float32) {
	if f.Kind == KVChannels {
		return finiteHalfToF32(binary.LittleEndian.Uint16(tile[2*c:])),
			finiteHalfToF32(binary.LittleEndian.Uint16(tile[2*(padded+c):]))
	}
	s = super * float32(tile[c])
	zero := float32(int(1)<<(f.Bits-1)) + float32(int8(tile[padded+c]))
	return s, -float32(s * zero)
}

// UnpackChannelRows reads the first rows rows of tile into dst [rows][padded]:
// float32(scale·code) + min. Padded channels read as 0.
func UnpackChannelRows(dst []float32, tile, header []byte, f KVFormat, headDim, rows int) {
	padded := PaddedHeadDim(headDim)
	super := superScale(header)
	rowBytes, payload := padded*f.Bits/8, tile[f.channelScaleBytes()*padded:]
	var codes [MaxHeadDim]uint8
	for r := range rows {
		UnpackCodes(codes[:padded], payload[r*rowBytes:(r+1)*rowBytes], f.Bits)
		for c := range headDim {
			s, m := f.channel(tile, super, c, padded)
			dst[r*padded+c] = float32(s*float32(codes[c])) + m
		}
		clear(dst[r*padded+headDim : (r+1)*padded])
	}
}

// superScale reads a head's S; chan-A has none.
func superScale(header []byte) float32 {
	if len(header) < 2 {
		return 0
	}
	return finiteHalfToF32(binary.LittleEndian.Uint16(header))
}
