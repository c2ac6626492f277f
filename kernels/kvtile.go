package kernels

// What the cache does with a tile, whatever its format: write rows, read rows.

import "fmt"

// PackRow quantizes x [headDim] into one row of a tile of f, which must be a
// row format. Reference of the row-wise writes: a tile written row by row in
// any order equals the tile written at once.
func (f KVFormat) PackRow(tile []byte, row int, x []float32) {
	switch f.Kind {
	case KVAffine:
		PackAffineRow(tile, f, row, x)
	default:
		panic(fmt.Sprintf("kernels: BUG: format %v has no quantized rows", f))
	}
}

// PackTile quantizes 32 rows, x [32][padded] of which headDim channels count.
func (f KVFormat) PackTile(tile []byte, x []float32, headDim int) {
	padded := PaddedHeadDim(headDim)
	for row := 0; row < TileTokens; row++ {
		f.PackRow(tile, row, x[row*padded:row*padded+headDim])
	}
}

// UnpackRows reads the first rows rows of a tile of quantized codes into dst
// [rows][padded]; padded channels read as 0.
func (f KVFormat) UnpackRows(dst []float32, tile []byte, headDim, rows int) {
	switch f.Kind {
	case KVAffine:
		UnpackAffineRows(dst, tile, f, headDim, rows)
	default:
		panic(fmt.Sprintf("kernels: BUG: format %v has no quantized rows", f))
	}
}
