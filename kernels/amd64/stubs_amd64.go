//go:build !noasm

package amd64

// The assembly as Go sees it. None of it checks a length, allocates or keeps a
// pointer; each stub names the reference it equals.

// The eight-row kernels: y[r] = Σ_c W[r][c]·x[c] for groups·8 rows, rowBytes
// apart (0: the same row in all lanes of a group), groups ≥ 1, cols ≥ 32.
// x is one int8 row (kernels.Format.InputBytes). See rows_amd64.s. The
// references are kernels.ProductQ8_0, ProductQ4_0 and ProductQ4_1 of one token.

//go:noescape
func rowsQ8_0AVX2(y *float32, w *byte, rowBytes int, x *byte, cols, groups int)

//go:noescape
func rowsQ4_0AVX2(y *float32, w *byte, rowBytes int, x *byte, cols, groups int)

//go:noescape
func rowsQ4_1AVX2(y *float32, w *byte, rowBytes int, x *byte, cols, groups int)

// The packers: eight rows, rowBytes apart, from their block at w on, into
// records whose vectors are vector bytes apart. Blocks ≥ 1. See pack_amd64.s;
// kernels.DequantizeRow has the formats. flip is xored to the codes.

//go:noescape
func packQ8_0(panel *byte, vector int, w *byte, rowBytes, blocks, flip int)

//go:noescape
func packQ4_0(panel *byte, vector int, w *byte, rowBytes, blocks int)

//go:noescape
func packQ4_1(panel *byte, vector int, w *byte, rowBytes, blocks int)

// prefetchRows asks for bytes bytes of each of the rows, rowBytes apart.
//
//go:noescape
func prefetchRows(w *byte, rowBytes, bytes, rows int)

// excess writes −offset·Σ codes of each block, [tokens][panelBlocks].
//
//go:noescape
func excess(dst *int32, x *byte, xStride, blocks, tokens, offset int)

// The tiles: y[t][r] += Σ over the panel's blocks, for sixteen rows (VNNI) or
// eight (AVX2) and the tokens in the name. yStride counts floats, xStride bytes.
// codes, scales and sums point into the first token's row at the panel's first
// block. The references are those of the eight-row kernels.

//go:noescape
func tile8AffineVNNI(y *float32, yStride int, panel, codes, scales, sums *byte, xStride, blocks int)

//go:noescape
func tile4AffineVNNI(y *float32, yStride int, panel, codes, scales, sums *byte, xStride, blocks int)

//go:noescape
func tile8OffsetVNNI(y *float32, yStride int, panel, codes, scales *byte,
	excess *int32, xStride, blocks int)

//go:noescape
func tile4OffsetVNNI(y *float32, yStride int, panel, codes, scales *byte,
	excess *int32, xStride, blocks int)

//go:noescape
func tile4Q8_0AVX2(y *float32, yStride int, panel, codes, scales *byte, xStride, blocks int)

//go:noescape
func tile4Q4_0AVX2(y *float32, yStride int, panel, codes, scales *byte,
	excess *int32, xStride, blocks int)

//go:noescape
func tile4Q4_1AVX2(y *float32, yStride int, panel, codes, scales, sums *byte, xStride, blocks int)

// The float tiles: y[t][r] = Σ_c W[r][c]·x[t][c] for groups·4 rows, rowBytes
// apart (0: the same row in all lanes of a group), groups ≥ 1, and one or three
// tokens. yStride counts floats, xStride bytes. The references are
// kernels.ProductF32, ProductF16 and ProductBF16.

//go:noescape
func rows4Tokens1F32(y *float32, yStride int, w *byte, rowBytes int, x *byte,
	xStride, cols, groups int)

//go:noescape
func rows4Tokens3F32(y *float32, yStride int, w *byte, rowBytes int, x *byte,
	xStride, cols, groups int)

//go:noescape
func rows4Tokens1F16(y *float32, yStride int, w *byte, rowBytes int, x *byte,
	xStride, cols, groups int)

//go:noescape
func rows4Tokens3F16(y *float32, yStride int, w *byte, rowBytes int, x *byte,
	xStride, cols, groups int)

//go:noescape
func rows4Tokens1BF16(y *float32, yStride int, w *byte, rowBytes int, x *byte,
	xStride, cols, groups int)

//go:noescape
func rows4Tokens3BF16(y *float32, yStride int, w *byte, rowBytes int, x *byte,
	xStride, cols, groups int)

// Vectors of n values, n ≥ 1, in vector_amd64.s.

// quantizeAVX2 writes one int8 row of blocks·32 values. Reference:
// kernels.QuantizeRow.
//
//go:noescape
func quantizeAVX2(dst *byte, x *float32, blocks int)

// dotAVX2 returns Σ x[i]·y[i]. Reference: kernels.Dot.
//
//go:noescape
func dotAVX2(x, y *float32, n int) float32

// axpyAVX2 computes y[i] = fma(a, x[i], y[i]). Reference: kernels.Axpy.
//
//go:noescape
func axpyAVX2(y *float32, a float32, x *float32, n int)

// widenF16AVX2 converts IEEE halves. Reference: kernels.WidenF16.
//
//go:noescape
func widenF16AVX2(dst *float32, src *byte, n int)

// narrowF16AVX2 converts to IEEE halves, ties to even. Reference: kernels.NarrowF16.
//
//go:noescape
func narrowF16AVX2(dst *byte, src *float32, n int)
