//go:build !noasm

package amd64

// Sealing: lengths are checked here, and groups that are no multiple of a block are
// padded with zeros, which add nothing to a sum.

const (
	fitBlock  = 16  // values that a fit reads at once
	fitValues = 128 // values of a group at most
)

// fitMask is −1 for each value of the longest group and 0 for the padding behind it;
// a shorter group begins further on.
var fitMask = func() (mask [fitValues + fitBlock]int32) {
	for i := range fitValues {
		mask[i] = -1
	}
	return mask
}()

// paddedGroup is a group with the zeros that make its blocks whole, and its codes.
type paddedGroup struct {
	x     [fitValues]float32
	codes [fitValues]uint8
}

// FitLevelsAVX2 equals kernels.FitLevels exactly.
func FitLevelsAVX2(codes []uint8, x, table []float32, half int, debias bool) float32 {
	n := len(x)
	codes, table = codes[:n], table[:4*8]
	blocks, mask := (n+fitBlock-1)/fitBlock, &fitMask[fitValues-n]
	if n&(fitBlock-1) == 0 {
		return fitLevelsAVX2(&codes[0], &x[0], blocks, mask, &table[0], half, float32(n), debias)
	}
	var g paddedGroup
	copy(g.x[:], x)
	scale := fitLevelsAVX2(&g.codes[0], &g.x[0], blocks, mask, &table[0], half, float32(n), debias)
	copy(codes, g.codes[:])
	return scale
}

// FitUniformAVX2 equals kernels.FitUniform exactly.
func FitUniformAVX2(codes []uint8, x []float32, bits int, debias bool) float32 {
	n, half := len(x), float32(int(1)<<(bits-1))
	codes = codes[:n]
	blocks := (n + fitBlock - 1) / fitBlock
	if n&(fitBlock-1) == 0 {
		return fitUniformAVX2(&codes[0], &x[0], blocks, half, debias)
	}
	var g paddedGroup
	copy(g.x[:], x)
	scale := fitUniformAVX2(&g.codes[0], &g.x[0], blocks, half, debias)
	copy(codes, g.codes[:])
	return scale
}

// FiniteAVX2 equals kernels.FiniteRow exactly.
func FiniteAVX2(x []float32) {
	for len(x) > 0 {
		n := min(callFloats, len(x))
		finiteAVX2(&x[0], n)
		x = x[n:]
	}
}

// PackCodesAVX2 equals kernels.PackCodes exactly.
func PackCodesAVX2(dst, codes []uint8, bits int) {
	n := len(codes)
	if n == 0 {
		return
	}
	mustBeSixteens(n)
	dst = dst[:n*bits/8]
	if bits == 8 {
		copy(dst, codes)
		return
	}
	packCodesAVX2(&dst[0], &codes[0], n, bits)
}

// ScaleRowsAVX2 equals kernels.ScaleRows exactly.
func ScaleRowsAVX2(dst, w, scales []float32, ng int) {
	dst, scales = dst[:len(w)*ng], scales[:len(w)*ng]
	for step := max(1, callFloats/ng); len(w) > 0; {
		rows := min(step, len(w))
		scaleRowsAVX2(&dst[0], &w[0], &scales[0], rows, ng)
		dst, w, scales = dst[rows*ng:], w[rows:], scales[rows*ng:]
	}
}
