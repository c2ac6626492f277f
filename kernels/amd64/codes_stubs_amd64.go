//go:build !noasm

package amd64

// The packers of pack_codes_amd64.s: eight rows, rowBytes apart, from their block at
// w on, into records whose vectors are vector bytes apart. blocks ≥ 1 counts the
// format's own, of 32 or 256 values. While they go, as many bytes are prefetched
// from `ahead` bytes behind w on. Reference of all: kernels.DequantizeRow.

//go:noescape
func packQ5_0(panel *byte, vector int, w *byte, rowBytes, blocks, ahead, bias int)

//go:noescape
func packQ5_1(panel *byte, vector int, w *byte, rowBytes, blocks, ahead int)

// packQ2_K makes two records of 32 columns, see pack_codes_amd64.s.
//
//go:noescape
func packQ2_K(panel *byte, vector int, w *byte, rowBytes, blocks, ahead int)

//go:noescape
func packQ3_K(panel *byte, vector int, w *byte, rowBytes, blocks, ahead, bias int)

//go:noescape
func packQ4_K(panel *byte, vector int, w *byte, rowBytes, blocks, ahead int)

//go:noescape
func packQ5_K(panel *byte, vector int, w *byte, rowBytes, blocks, ahead int)

//go:noescape
func packQ6_K(panel *byte, vector int, w *byte, rowBytes, blocks, ahead, bias int)

//go:noescape
func packIQ4_NL(panel *byte, vector int, w *byte, rowBytes, blocks, ahead, flip int)

//go:noescape
func packIQ4_XS(panel *byte, vector int, w *byte, rowBytes, blocks, ahead, flip int)

// excessOfHalves writes −offset·Σ codes of each half of a block,
// [tokens][panelBlocks][2].
//
//go:noescape
func excessOfHalves(dst *int32, x *byte, xStride, blocks, tokens, offset int)

// The tiles of four and eight tokens, as in stubs_amd64.go. References:
// kernels.ProductQ5_K, ProductQ5_0, ProductQ6_K.

//go:noescape
func tile4FiveBitsAVX2(y *float32, yStride int, panel, codes, scales, sums *byte,
	xStride, blocks int)

//go:noescape
func tile4SmallAVX2(y *float32, yStride int, panel, codes, scales *byte, xStride, blocks int)

//go:noescape
func tile4HalvesAVX2(y *float32, yStride int, panel, codes, scales *byte, xStride, blocks int)

//go:noescape
func tile8HalvesVNNI(y *float32, yStride int, panel, codes, scales *byte,
	excess *int32, xStride, blocks int)

//go:noescape
func tile4HalvesVNNI(y *float32, yStride int, panel, codes, scales *byte,
	excess *int32, xStride, blocks int)

// The tiles of one token: y[r] += Σ over the panel's blocks of 32 columns, for eight
// rows (AVX2) or sixteen (VNNI). References: kernels.ProductQ4_K, ProductQ5_K,
// ProductQ5_0, ProductIQ4_NL, ProductQ6_K.

//go:noescape
func tile1NibblesAVX2(y *float32, panel, codes, scales, sums *byte, blocks int)

//go:noescape
func tile1FiveBitsAVX2(y *float32, panel, codes, scales, sums *byte, blocks int)

//go:noescape
func tile1SmallAVX2(y *float32, panel, codes, scales *byte, blocks int)

//go:noescape
func tile1SignedAVX2(y *float32, panel, codes, scales *byte, blocks int)

//go:noescape
func tile1HalvesAVX2(y *float32, panel, codes, scales *byte, blocks int)

//go:noescape
func tile1AffineVNNI(y *float32, panel, codes, scales, sums *byte, blocks int)

//go:noescape
func tile1OffsetVNNI(y *float32, panel, codes, scales *byte, blocks, offset int)

//go:noescape
func tile1HalvesVNNI(y *float32, panel, codes, scales *byte, blocks, offset int)
