//go:build !noasm

package amd64

// The assembly of sealing as Go sees it, see stubs_amd64.go.

// The fits of one group, padded with zeros to blocks·16 values, blocks ≥ 1; in
// fit_amd64.s. They write blocks·16 codes.

// fitLevelsAVX2 takes count values; mask has an int32 for each of the padded ones,
// −1 and beyond the count 0. table is [4][8]. Reference: kernels.FitLevels.
//
//go:noescape
func fitLevelsAVX2(codes *uint8, x *float32, blocks int, mask *int32, table *float32,
	half int, count float32, debias bool) float32

// fitUniformAVX2 takes half = 2^(bits−1). Reference: kernels.FitUniform.
//
//go:noescape
func fitUniformAVX2(codes *uint8, x *float32, blocks int, half float32, debias bool) float32

// The rest is in seal_amd64.s.

// finiteAVX2 takes n ≥ 0. Reference: kernels.FiniteRow.
//
//go:noescape
func finiteAVX2(x *float32, n int)

// packCodesAVX2 takes n ≥ 16, a multiple of 16, and 1 to 7 bits. Reference:
// kernels.PackCodes.
//
//go:noescape
func packCodesAVX2(dst, codes *uint8, n, bits int)

// scaleRowsAVX2 takes rows ≥ 1, ng ≥ 1. Reference: kernels.ScaleRows.
//
//go:noescape
func scaleRowsAVX2(dst, w, scales *float32, rows, ng int)
