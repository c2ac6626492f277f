package kernels

// Elementwise steps between the products: norms and gates, in plain Go.

import "math"

// RMSNorm computes dst_i = x_i·weight_i / sqrt(mean(x²) + eps). The mean is
// summed in float64. dst may be x.
func RMSNorm(dst, x, weight []float32, eps float32) {
	n := len(x)
	dst, weight = dst[:n], weight[:n]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= n; i += 4 {
		a, b, c, d := float64(x[i]), float64(x[i+1]), float64(x[i+2]), float64(x[i+3])
		s0, s1, s2, s3 = s0+a*a, s1+b*b, s2+c*c, s3+d*d
	}
	for ; i < n; i++ {
		s0 += float64(x[i]) * float64(x[i])
	}
	mean := (s0 + s1 + s2 + s3) / float64(n)
	scale := float32(1 / math.Sqrt(mean+float64(eps)))
	for i, v := range x {
		dst[i] = v * scale * weight[i]
	}
}

// SwiGLU computes gate_i = silu(gate_i)·up_i with silu(g) = g/(1+e^−g).
func SwiGLU(gate, up []float32) {
	up = up[:len(gate)]
	for i, g := range gate {
		gate[i] = g / (1 + Exp(-g)) * up[i]
	}
}

// GeGLU computes gate_i = gelu(gate_i)·up_i with the tanh form of GELU,
// 0.5·g·(1 + tanh(√(2/π)·g·(1 + 0.044715·g²))); since 1 + tanh(u) = 2/(1 + e^−2u)
// it is g/(1 + e^−2u), which needs one exponential.
func GeGLU(gate, up []float32) {
	const root2OverPi = 0.7978845608028654
	up = up[:len(gate)]
	for i, g := range gate {
		u := root2OverPi * g * (1 + 0.044715*g*g)
		gate[i] = g / (1 + Exp(-2*u)) * up[i]
	}
}
