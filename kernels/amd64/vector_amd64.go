//go:build !noasm

package amd64

// Operations on vectors: lengths are checked and long vectors are cut here.

// callFloats bounds the values one assembly call works on, as it cannot be
// preempted.
const callFloats = 32 << 10

// QuantizeAVX2 equals kernels.QuantizeRow exactly, for finite x.
func QuantizeAVX2(dst []byte, x []float32) {
	blocks := len(x) / blockValues
	if blocks == 0 {
		return
	}
	dst = dst[:blocks*(blockValues+8)]
	quantizeAVX2(&dst[0], &x[0], blocks)
}

// DotAVX2 equals kernels.Dot within the bound of kernels.Set.
func DotAVX2(x, y []float32) float32 {
	y = y[:len(x)]
	var sum float32
	for len(x) > 0 {
		n := min(callFloats, len(x))
		sum += dotAVX2(&x[0], &y[0], n)
		x, y = x[n:], y[n:]
	}
	return sum
}

// AxpyAVX2 equals kernels.Axpy with one rounding an element less.
func AxpyAVX2(y []float32, a float32, x []float32) {
	y = y[:len(x)]
	for len(x) > 0 {
		n := min(callFloats, len(x))
		axpyAVX2(&y[0], a, &x[0], n)
		x, y = x[n:], y[n:]
	}
}

// WidenF16AVX2 equals kernels.WidenF16 exactly.
func WidenF16AVX2(dst []float32, src []byte) {
	src = src[:2*len(dst)]
	for len(dst) > 0 {
		n := min(callFloats, len(dst))
		widenF16AVX2(&dst[0], &src[0], n)
		dst, src = dst[n:], src[2*n:]
	}
}

// NarrowF16AVX2 equals kernels.NarrowF16 exactly but for the payload of NaN.
func NarrowF16AVX2(dst []byte, src []float32) {
	dst = dst[:2*len(src)]
	for len(src) > 0 {
		n := min(callFloats, len(src))
		narrowF16AVX2(&dst[0], &src[0], n)
		dst, src = dst[2*n:], src[n:]
	}
}
