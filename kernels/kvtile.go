package kernels

// What the cache does with a tile, whatever its format: write rows, read rows as
// floats, or take a tile apart for integer arithmetic.

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// PackRow quantizes x [headDim] into one row of a tile of f, which must be a
// row format. Reference of the row-wise writes: a tile written row by row in
// any order equals the tile written at once.
func (f KVFormat) PackRow(tile []byte, row int, x []float32) {
	f.PackRowBy(&references, tile, row, slices.Clone(x), make([]uint8, PaddedHeadDim(len(x))))
}

// PackTile quantizes 32 rows, x [32][padded] of which headDim channels count.
// header is the head's two bytes of f.PageHeaderBytes, nil where there are none.
func (f KVFormat) PackTile(tile, header []byte, x []float32, headDim int) {
	f.PackTileBy(&references, tile, header, slices.Clone(x), headDim,
		make([]uint8, PaddedHeadDim(headDim)))
}

// references are what the packing above is done by.
var references = Generic()

// PackRowBy is PackRow with the functions of a Set: the same bits, sooner. It
// overwrites x, and codes [padded], which is room to work in.
func (f *KVFormat) PackRowBy(set *Set, tile []byte, row int, x []float32, codes []uint8) {
	switch f.Kind {
	case KVAffine:
		PackAffineRow(tile, *f, row, x)
	case KVRows:
		packLevelRow(set, tile, f, row, x, codes)
	default:
		panic(fmt.Sprintf("kernels: BUG: format %v has no quantized rows", f))
	}
}

// PackTileBy is PackTile with the functions of a Set: the same bits, sooner. It
// overwrites x, and codes [padded], which is room to work in.
func (f *KVFormat) PackTileBy(set *Set, tile, header []byte, x []float32, headDim int,
	codes []uint8) {
	if !f.ByRow() {
		PackChannelTile(tile, header, *f, x, headDim)
		return
	}
	padded := PaddedHeadDim(headDim)
	for row := 0; row < TileTokens; row++ {
		f.PackRowBy(set, tile, row, x[row*padded:row*padded+headDim], codes)
	}
}

// UnpackRows reads the first rows rows of a tile of quantized codes into dst
// [rows][padded]; padded channels read as 0. It is what a tile means; attention
// reads the same values through TileCodes.
func (f KVFormat) UnpackRows(dst []float32, tile, header []byte, headDim, rows int) {
	switch f.Kind {
	case KVAffine:
		UnpackAffineRows(dst, tile, f, headDim, rows)
	case KVRows:
		UnpackLevelRows(dst, tile, f, headDim, rows)
	case KVChannels, KVCompact:
		UnpackChannelRows(dst, tile, header, f, headDim, rows)
	default:
		panic(fmt.Sprintf("kernels: BUG: format %v has no quantized rows", f))
	}
}

// TileCodes is a tile taken apart. With g(c) = c/group and ng groups a row, row
// formats read as
//
//	x̂[r][c] = Scales[r·ng+g(c)]·Codes[r·padded+c] + Minima[r·ng+g(c)]
//
// and channel formats as x̂[r][c] = Scales[c]·Codes[r·padded+c] + Minima[c]. Minima
// are read where f.HasMinima says so.
type TileCodes struct {
	Codes          []int8    // [32][padded]
	Scales, Minima []float32 // [32][ng], or [padded]
}

// TileScales is how many scales a tile of f has.
func (f KVFormat) TileScales(headDim int) int {
	padded := PaddedHeadDim(headDim)
	if f.ByRow() {
		return TileTokens * groupsOf(padded, f.Group)
	}
	return padded
}

// Read takes rows from to end of a tile apart, each at its own place; of channel
// formats all scales. Equal to UnpackRows but for the rounding of a minimum.
func (t *TileCodes) Read(set *Set, f *KVFormat, tile, header []byte, headDim, from, end int) {
	padded := PaddedHeadDim(headDim)
	rowBytes, scaleBytes := padded*f.Bits/8, f.channelScaleBytes()
	first, scales := 0, padded
	if f.ByRow() {
		ng := groupsOf(padded, f.Group)
		first, scales = from*ng, (end-from)*ng
		scaleBytes *= TileTokens * ng
	} else {
		scaleBytes *= padded
	}
	set.Unpack[f.Bits](t.Codes[from*padded:end*padded], tile[scaleBytes+from*rowBytes:],
		rowBytes, padded, end-from, f.table())
	s, m := t.Scales[first:first+scales], t.Minima
	if f.HasMinima() {
		m = m[first : first+scales]
	}
	if f.Kind == KVCompact {
		f.readCompact(s, m, tile, header)
		return
	}
	set.WidenF16(s, tile[2*first:2*(first+scales)])
	if f.Kind == KVRows {
		if unit := f.unit(); unit != 1 {
			for i := range s {
				s[i] *= unit
			}
		}
		return
	}
	set.WidenF16(m, tile[scaleBytes/2+2*first:scaleBytes/2+2*(first+scales)])
	middle := float32(int(1) << (f.Bits - 1))
	for i, v := range s {
		m[i] += float32(v * middle)
	}
}

// readCompact widens the scales and zeros of chan-C.
func (f *KVFormat) readCompact(s, m []float32, tile, header []byte) {
	super := finiteHalfToF32(binary.LittleEndian.Uint16(header))
	padded := len(s)
	for c := range s {
		s[c] = super * float32(tile[c])
		m[c] = -float32(s[c] * float32(int8(tile[padded+c])))
	}
}

// FiniteRow maps what no finite IEEE half holds, before a row is centred or
// rotated: NaN to 0, magnitudes above 65504 to ±65504. Reference of Set.Finite.
func FiniteRow(x []float32) {
	for i, v := range x {
		x[i] = finiteHalf(v)
	}
}
