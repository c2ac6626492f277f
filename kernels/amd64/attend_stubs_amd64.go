//go:build !noasm

package amd64

// The assembly of attention as Go sees it, see stubs_amd64.go.

// The unpackers, rows ≥ 1, padded ≥ 16, in unpack_amd64.s. Reference:
// kernels.UnpackInt8.

//go:noescape
func unpack1AVX2(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)

//go:noescape
func unpack2AVX2(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)

//go:noescape
func unpack3AVX2(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)

//go:noescape
func unpack4AVX2(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)

//go:noescape
func unpack5AVX2(dst *int8, payload *byte, rowBytes, padded, rows int)

//go:noescape
func unpack6AVX2(dst *int8, payload *byte, rowBytes, padded, rows int)

//go:noescape
func unpack7AVX2(dst *int8, payload *byte, rowBytes, padded, rows int)

//go:noescape
func unpack8AVX2(dst *int8, payload *byte, rowBytes, padded, rows int)

// The scores of blocks·8 rows, stride bytes apart (0: the same row in all
// lanes), their scales and minima scaleStride bytes apart; minima and qSum may
// be nil. In score_amd64.s. Reference: kernels.Score.

//go:noescape
func scoreAVX2(scores *float32, codes *int8, stride, padded, blocks int, q *int8,
	qScale, qSum, scales, minima *float32, scaleStride, group int)

//go:noescape
func scoreVNNI(scores *float32, codes *int8, stride, padded, blocks int, q *int8,
	qScale, qSum, scales, minima *float32, scaleStride, group int)

// Panels of 64 or 16 channels of weighted rows, stride bytes apart, their
// weights wStride bytes apart; rows ≥ 1. In mix_amd64.s. Reference: kernels.Mix.

// mix64AVX2 has one weight a row.
//
//go:noescape
func mix64AVX2(out *float32, codes *int8, stride, rows int, w *float32, wStride int)

// mix2x32AVX2 has a weight for each 32 channels.
//
//go:noescape
func mix2x32AVX2(out *float32, codes *int8, stride, rows int, w *float32, wStride int)

// mix16AVX2 has 16 channels and one weight a row.
//
//go:noescape
func mix16AVX2(out *float32, codes *int8, stride, rows int, w *float32, wStride int)

// The two in vectors of sixteen, in mix_avx512_amd64.s.

//go:noescape
func mix64AVX512(out *float32, codes *int8, stride, rows int, w *float32, wStride int)

//go:noescape
func mix2x32AVX512(out *float32, codes *int8, stride, rows int, w *float32, wStride int)

// axpyRows64AVX2 adds rows of 64 float32, stride bytes apart; rows ≥ 1.
// Reference: kernels.AxpyRows.
//
//go:noescape
func axpyRows64AVX2(out, w, x *float32, stride, rows int)

// axpyRowsTailAVX2 is axpyRows64AVX2 for n in 1..16 channels.
//
//go:noescape
func axpyRowsTailAVX2(out, w, x *float32, stride, rows, n int)

// dotRowsAVX2 computes the dots of blocks·8 rows, stride bytes apart (0: the
// same row in all lanes), of n ≥ 1 values. Reference: kernels.DotRows.
//
//go:noescape
func dotRowsAVX2(scores, x *float32, stride, blocks int, q *float32, n int)

// quantizeQueryAVX2 takes n ≥ 16, a multiple of 16. Reference:
// kernels.QuantizeQuery.
//
//go:noescape
func quantizeQueryAVX2(dst *int8, scale, sum, x *float32, n, group int)

// walshAVX2 turns count values in blocks of n ≥ 8. Reference: kernels.Walsh.
//
//go:noescape
func walshAVX2(x *float32, count, n int, scale float32)

// expSumAVX2 adds to the eight partial sums at sums and returns their sum;
// n ≥ 1. Reference: kernels.ExpSum.
//
//go:noescape
func expSumAVX2(x *float32, n int, largest float32, sums *float32) float32

// maxAVX2 returns the largest of n ≥ 1 values. Reference: kernels.Max.
//
//go:noescape
func maxAVX2(x *float32, n int) float32
