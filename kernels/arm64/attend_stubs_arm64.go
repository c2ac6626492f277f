//go:build !noasm

package arm64

// The assembly of attention as Go sees it, see stubs_arm64.go.

// The unpackers, rows ≥ 1, padded ≥ 16, in unpack_arm64.s; table is read up to 4
// bits. Reference: kernels.UnpackInt8.

//go:noescape
func unpack1NEON(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)

//go:noescape
func unpack2NEON(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)

//go:noescape
func unpack3NEON(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)

//go:noescape
func unpack4NEON(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)

//go:noescape
func unpack5NEON(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)

//go:noescape
func unpack6NEON(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)

//go:noescape
func unpack7NEON(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)

//go:noescape
func unpack8NEON(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)

// The scores of rows ≥ 1 rows, their scales and minima scaleBytes bytes a row;
// minima and qSum are nil together. In score_arm64.s. Reference: kernels.Score.

//go:noescape
func scoreNEON(scores *float32, codes *int8, padded, rows int, q *int8,
	qScale, qSum, scales, minima *float32, scaleBytes, group int)

// scoreDot needs SDOT.
//
//go:noescape
func scoreDot(scores *float32, codes *int8, padded, rows int, q *int8,
	qScale, qSum, scales, minima *float32, scaleBytes, group int)

// Panels of 64 or 16 channels of weighted rows, stride bytes apart, their
// weights wStride bytes apart; rows ≥ 1. In mix_arm64.s. Reference: kernels.Mix.

// mix64NEON takes the weight of channels 32 to 63 second bytes behind that of the
// others.
//
//go:noescape
func mix64NEON(out *float32, codes *int8, stride, rows int, w *float32, wStride, second int)

// mix16NEON has one weight a row.
//
//go:noescape
func mix16NEON(out *float32, codes *int8, stride, rows int, w *float32, wStride int)

// dotRowsNEON computes the dots of rows ≥ 1 rows, stride bytes apart, of n ≥ 1
// values. In float_rows_arm64.s. Reference: kernels.DotRows.
//
//go:noescape
func dotRowsNEON(scores, x *float32, stride, rows int, q *float32, n int)

// The weighted sums of 64, 16, 4 channels or one of rows ≥ 1 rows, stride bytes
// apart. In float_rows_arm64.s. Reference: kernels.AxpyRows.

//go:noescape
func axpyRows64NEON(out, w, x *float32, stride, rows int)

//go:noescape
func axpyRows16NEON(out, w, x *float32, stride, rows int)

//go:noescape
func axpyRows4NEON(out, w, x *float32, stride, rows int)

//go:noescape
func axpyRows1NEON(out, w, x *float32, stride, rows int)

// expSumNEON adds to the eight partial sums at sums; n ≥ 8, a multiple of eight. In
// softmax_arm64.s. Reference: kernels.ExpSum.
//
//go:noescape
func expSumNEON(x *float32, n int, largest float32, sums *float32)

// maxNEON returns the largest of n ≥ 1 values. Reference: kernels.Max.
//
//go:noescape
func maxNEON(x *float32, n int) float32

// quantizeQueryNEON takes n ≥ 16, a multiple of 16, group likewise. In
// query_arm64.s. Reference: kernels.QuantizeQuery.
//
//go:noescape
func quantizeQueryNEON(dst *int8, scale, sum, x *float32, n, group int)

// walshNEON turns count values in blocks of n ≥ 16. Reference: kernels.Walsh.
//
//go:noescape
func walshNEON(x *float32, count, n int, scale float32)
