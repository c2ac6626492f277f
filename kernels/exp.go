package kernels

import "math"

// Exp returns e^x in float32, within 1 ulp of the exact value where that is a
// normal number, within 2^-149 where it is subnormal; 0 below −103.98, +Inf
// above 88.72, NaN for NaN. It is the only exponential on the path of a token.
// No step is fused, so that all architectures give the same bits.
//
// Method: x = n·ln 2 + r with |r| ≤ ½·ln 2, ln 2 in two parts so that n·high is
// exact; e^r by the polynomial of Cephes' expf; times 2^n by exponent bits.
func Exp(x float32) float32 {
	const (
		log2e    = 1.44269504
		ln2High  = 0.693359375
		ln2Low   = -2.12194440e-4
		toInt    = 3 << 22 // 1.5·2^23: adding it rounds to a whole number
		overflow = 88.72284
		vanish   = -103.97208
	)
	switch {
	case x != x:
		return x
	case x > overflow:
		return float32(math.Inf(1))
	case x < vanish:
		return 0
	}
	n := float32(float32(x*log2e)+toInt) - toInt
	r := x - float32(n*ln2High)
	r -= float32(n * ln2Low)
	p := float32(1.9875691500e-4*r) + 1.3981999507e-3
	p = float32(p*r) + 8.3334519073e-3
	p = float32(p*r) + 4.1665795894e-2
	p = float32(p*r) + 1.6666665459e-1
	p = float32(p*r) + 5.0000001201e-1
	p = float32(p*float32(r*r)) + r + 1
	// 2^n in two factors: n reaches 128, and −150 where the result is subnormal.
	half := int32(n) >> 1
	rest := int32(n) - half
	return p * math.Float32frombits(uint32(half+127)<<23) *
		math.Float32frombits(uint32(rest+127)<<23)
}
