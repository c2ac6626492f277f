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
