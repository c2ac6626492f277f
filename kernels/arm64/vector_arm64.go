//go:build !noasm

package arm64

// The operations on one vector in Go: check lengths, then call the assembly
// for pieces short enough for one call.

// pieceValues of two float32 vectors are as many bytes as sliceBytes.
const pieceValues = sliceBytes / 8

// QuantizeNEON is kernels.QuantizeRow.
func QuantizeNEON(dst []byte, x []float32) {
	cols := len(x)
	blocks := cols / blockValues
	codes, scales := dst[:cols], dst[cols:cols+4*blocks]
	sums := dst[cols+4*blocks : cols+8*blocks]
	for len(x) > 0 {
		n := min(len(x), pieceValues)
		quantizeNEON(codes, scales, sums, x[:n])
		codes, x = codes[n:], x[n:]
		scales, sums = scales[4*(n/blockValues):], sums[4*(n/blockValues):]
	}
}

// DotNEON is kernels.Dot.
func DotNEON(x, y []float32) float32 {
	y = y[:len(x)]
	var sum float32
	for len(x) > pieceValues {
		sum += dotNEON(x[:pieceValues], y)
		x, y = x[pieceValues:], y[pieceValues:]
	}
	return sum + dotNEON(x, y)
}

// AxpyNEON is kernels.Axpy.
func AxpyNEON(y []float32, a float32, x []float32) {
	y = y[:len(x)]
	for len(x) > 0 {
		n := min(len(x), pieceValues)
		axpyNEON(y, a, x[:n])
		x, y = x[n:], y[n:]
	}
}

// WidenF16NEON is kernels.WidenF16.
func WidenF16NEON(dst []float32, src []byte) {
	src = src[:2*len(dst)]
	for len(dst) > 0 {
		n := min(len(dst), pieceValues)
		widenF16NEON(dst[:n], src)
		dst, src = dst[n:], src[2*n:]
	}
}

// NarrowF16NEON is kernels.NarrowF16.
func NarrowF16NEON(dst []byte, src []float32) {
	dst = dst[:2*len(src)]
	for len(src) > 0 {
		n := min(len(src), pieceValues)
		narrowF16NEON(dst, src[:n])
		dst, src = dst[2*n:], src[n:]
	}
}
