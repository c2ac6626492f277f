package kernels

// Affine rows (RA): each row of a tile is cut into groups of channels, and in
// each group x̂ = scale·code + min with an fp16 scale and an fp16 minimum.
//
// A tile lies as
//
//	[32][groups] fp16 scale, [32][groups] fp16 min, [32] rows of padded·bits/8 bytes
//
// and a row of codes as planes, see PackCodes. A fit (fit.go) chooses scale, min
// and codes and knows nothing of the layout; the layout knows nothing of the fit.

import (
	"encoding/binary"
	"math"
)

// maxHalf is the largest finite fp16.
const maxHalf = 65504

// maxGroup is the largest group a format has, see KVFormat.Check.
const maxGroup = 128

// finiteHalf maps v to what the formats can hold: NaN to 0, the rest into
// ±65504.
func finiteHalf(v float32) float32 {
	if v != v {
		return 0
	}
	return min(max(v, -maxHalf), maxHalf)
}

// finiteHalfToF32 widens a half that is neither infinite nor NaN.
func finiteHalfToF32(h uint16) float32 {
	magnitude := math.Float32frombits(uint32(h&0x7fff)<<13) * 0x1p112
	return math.Float32frombits(math.Float32bits(magnitude) | uint32(h&0x8000)<<16)
}

// PackAffineRow fits row of tile to x [headDim] and writes it. tile has
// f.Tile(headDim).Bytes() bytes. Codes of padded channels are 0. Each group is
// fitted by itself (fitAffine), so a tile does not depend on how it was filled.
func PackAffineRow(tile []byte, f KVFormat, row int, x []float32) {
	padded := PaddedHeadDim(len(x))
	scales, minima, payload := affineRow(tile, f, row, padded)
	var (
		codes  [MaxHeadDim]uint8
		finite [maxGroup]float32
	)
	for g := 0; g*f.Group < len(x); g++ {
		from, to := g*f.Group, min((g+1)*f.Group, len(x))
		for i, v := range x[from:to] {
			finite[i] = finiteHalf(v)
		}
		scale, low := f.fitAffine(codes[from:to], finite[:to-from])
		binary.LittleEndian.PutUint16(scales[2*g:], scale)
		binary.LittleEndian.PutUint16(minima[2*g:], low)
	}
	PackCodes(payload, codes[:padded], f.Bits)
}

// fitAffine chooses codes and the fp16 scale and minimum of one group of up to
// maxGroup finite values by f.Fit, after clipping. HQQ and Quanto fit a float
// zero or shift, which becomes the minimum: −zero·scale, −shift; they choose the
// codes before the rounding to fp16, min–max and least squares after it. HQQ's
// early stop sees this one group. Any input has a defined result:
//
//   - What is no finite half has been taken as one, see finiteHalf.
//   - A scale that rounds to 0 (constant groups, ranges lost in fp16's
//     subnormals) is stored as 0: every value of the group reads as its minimum.
//   - A scale or minimum beyond ±65504 (1 bit and a range above 65504) is stored
//     as ±65504: the group reads finite, if not where it was.
func (f KVFormat) fitAffine(codes []byte, x []float32) (scale, low uint16) {
	var (
		s, m  [1]float32
		zero  [1]byte
		trial [1]float32
		other [maxGroup]byte
		bytes [maxGroup]int8
	)
	n := len(x)
	g := RowGroups(n, n)
	if f.ClipPercent > 0 {
		clipRange(x, f.ClipPercent)
	}
	switch f.Fit {
	case FitsMinMax:
		FitMinMax(codes, s[:], m[:], x, g, f.Bits, true)
	case FitsLS:
		FitLeastSquares(codes, s[:], m[:], x, g, f.Bits, true)
	case FitsHQQ:
		FitHQQ(codes, s[:], m[:], x, g, f.Bits)
		m[0] = -float32(m[0] * s[0])
		if least, most := g.bounds(x, 0); most-least <= hqqMinRange {
			s[0] = 0 // HQQ's scale of 1 stands for nothing, and chan-c would share it
		}
	case FitsQuanto:
		FitQuanto(codes, s[:], m[:], x, g, f.Bits)
		m[0] = -m[0]
	case FitsQuantoHQQ:
		FitQuantoHQQ(codes, s[:], m[:], x, g, f.Bits, trial[:], other[:n])
		m[0] = -m[0]
	case FitsQuantoZP:
		FitQuantoZeroPoint(codes, s[:], zero[:], x, g, f.Bits)
		m[0] = -float32(float32(zero[0]) * s[0])
		if roundHalf(s[0]) == 0 {
			m[0], _ = g.bounds(x, 0) // no whole zero stands for it
		}
	case FitsAbsmax:
		FitQuantoAbsmax(bytes[:n], s[:], x, g)
		for i, c := range bytes[:n] {
			codes[i] = byte(int(c) + 128)
		}
		m[0] = -128 * s[0]
	}
	return F32ToF16(finiteHalf(s[0])), F32ToF16(finiteHalf(m[0]))
}

// clipRange clamps x to percent of its range around the middle of it.
func clipRange(x []float32, percent int) {
	low, high := x[0], x[0]
	for _, v := range x {
		low, high = min(low, v), max(high, v)
	}
	cut := float32((high-low)/2) * float32(100-percent) / 100
	for i, v := range x {
		x[i] = min(max(v, low+cut), high-cut)
	}
}

// UnpackAffineRows reads the first rows rows of tile into dst [rows][padded]:
// float32(scale·code) + min, each step rounded. Padded channels read as 0.
func UnpackAffineRows(dst []float32, tile []byte, f KVFormat, headDim, rows int) {
	padded := PaddedHeadDim(headDim)
	var codes [MaxHeadDim]uint8
	for row := 0; row < rows; row++ {
		scales, minima, payload := affineRow(tile, f, row, padded)
		UnpackCodes(codes[:padded], payload, f.Bits)
		x := dst[row*padded : (row+1)*padded]
		for g := 0; g*f.Group < headDim; g++ {
			s := finiteHalfToF32(binary.LittleEndian.Uint16(scales[2*g:]))
			m := finiteHalfToF32(binary.LittleEndian.Uint16(minima[2*g:]))
			from, to := g*f.Group, min((g+1)*f.Group, headDim)
			out := x[from:to]
			for i, c := range codes[from:to] {
				out[i] = float32(s*float32(c)) + m
			}
		}
		clear(x[headDim:])
	}
}

// affineRow cuts out the scales, the minima and the codes of one row.
func affineRow(tile []byte, f KVFormat, row, padded int) (scales, minima, payload []byte) {
	metaBytes, rowBytes := 2*groupsOf(padded, f.Group), padded*f.Bits/8
	half := TileTokens * metaBytes
	start := 2*half + row*rowBytes
	return tile[row*metaBytes : (row+1)*metaBytes],
		tile[half+row*metaBytes : half+(row+1)*metaBytes],
		tile[start : start+rowBytes]
}
