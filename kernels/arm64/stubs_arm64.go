//go:build !noasm

package arm64

// The assembly as Go sees it. The caller has checked every length. Strides:
// yStride in values, xStride in bytes. tokens is 1, 4 or 8 for block formats,
// 1 or 4 for float formats; rows, cols and tokens are at least 1.

// productF32NEON is kernels.ProductF32.
//
//go:noescape
func productF32NEON(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)

// productF16NEON is kernels.ProductF16.
//
//go:noescape
func productF16NEON(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)

// productBF16NEON is kernels.ProductBF16.
//
//go:noescape
func productBF16NEON(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)

// productQ8_0NEON is kernels.ProductQ8_0.
//
//go:noescape
func productQ8_0NEON(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)

// productQ4_0NEON is kernels.ProductQ4_0.
//
//go:noescape
func productQ4_0NEON(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)

// productQ4_1NEON is kernels.ProductQ4_1.
//
//go:noescape
func productQ4_1NEON(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)

// productQ8_0Dot is kernels.ProductQ8_0.
//
//go:noescape
func productQ8_0Dot(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)

// productQ4_0Dot is kernels.ProductQ4_0.
//
//go:noescape
func productQ4_0Dot(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)

// productQ4_1Dot is kernels.ProductQ4_1.
//
//go:noescape
func productQ4_1Dot(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)

// quantizeNEON is kernels.QuantizeRow with the three parts of the row apart.
//
//go:noescape
func quantizeNEON(codes, scales, sums []byte, x []float32)

// dotNEON is kernels.Dot.
//
//go:noescape
func dotNEON(x, y []float32) float32

// axpyNEON is kernels.Axpy.
//
//go:noescape
func axpyNEON(y []float32, a float32, x []float32)

// widenF16NEON is kernels.WidenF16.
//
//go:noescape
func widenF16NEON(dst []float32, src []byte)

// narrowF16NEON is kernels.NarrowF16.
//
//go:noescape
func narrowF16NEON(dst []byte, src []float32)
