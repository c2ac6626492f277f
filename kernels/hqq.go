package kernels

// HQQ: half-quadratic quantization (Badri and Shaji, 2023), as hqq 0.2.8
// computes it in float32 on a CPU. It keeps the min–max scale and moves the
// zero point to lower an ℓ0.7 norm of the residuals.

import "math"

// HQQ's constants: the norm's exponent, the weight of the quadratic term, the
// most iterations, the least range and the largest inverse scale.
const (
	hqqNorm       = 0.7
	hqqBeta       = 10
	hqqIterations = 20
	hqqMinRange   = 1e-4
	hqqMaxInverse = 2e4
)

// FitHQQ fits x̂ = (code − zero)·scale; bits are 1–8. codes are [group][value],
// scale and zero one a group. It returns the number of iterations run.
//
// Three traps of the original are kept. The stop rule looks at the mean error
// over all groups of the call, so a caller that wants codes that do not depend
// on their neighbours passes one block a call. That error is the one before
// the update of its iteration. And the update of the last iteration, which did
// not improve, stays.
func FitHQQ(codes []byte, scale, zero []float32, x []float32, g Grouping, bits int) (iterations int) {
	top := 1<<bits - 1
	for j := 0; j < g.Count; j++ {
		least, most := g.bounds(x, j)
		inverse := float32(top) / (most - least)
		if most-least <= hqqMinRange {
			inverse = 1
		}
		inverse = min(inverse, hqqMaxInverse)
		scale[j], zero[j] = inverse, float32(-least*inverse)
	}
	best := float32(1e4)
	for iterations < hqqIterations {
		iterations++
		var sum float64
		for j := 0; j < g.Count; j++ {
			sum += hqqStep(codes[j*g.Size:(j+1)*g.Size], scale[j], &zero[j], x, g, j, top)
		}
		err := float32(sum / float64(g.Count*g.Size))
		if !(err < best) {
			break
		}
		best = err
	}
	for j := 0; j < g.Count; j++ {
		hqqAssign(codes[j*g.Size:(j+1)*g.Size], scale[j], zero[j], x, g, j, top)
		scale[j] = 1 / scale[j]
	}
	return iterations
}

// hqqAssign chooses code = clamp(rint(x·inverse + zero)).
func hqqAssign(codes []byte, inverse, zero float32, x []float32, g Grouping, j, top int) {
	for r := range codes {
		codes[r] = clampCode(rint(float32(x[g.At(j, r)]*inverse)+zero), top)
	}
}

// hqqStep chooses codes for the zero point, then moves it to the mean of
// code − (x − e)·inverse, where e is the residual after the shrinkage. It
// returns the sum of the absolute residuals before the move.
func hqqStep(codes []byte, inverse float32, zero *float32, x []float32, g Grouping, j, top int) float64 {
	hqqAssign(codes, inverse, *zero, x, g, j, top)
	var sum, moved float64
	for r, code := range codes {
		v := x[g.At(j, r)]
		residual := v - (float32(code)-*zero)/inverse
		e := shrink(residual, hqqBeta)
		moved += float64(float32(code) - float32((v-e)*inverse))
		sum += math.Abs(float64(residual))
	}
	*zero = float32(moved / float64(g.Size))
	return sum
}

// shrink is the generalised soft threshold sign(x)·max(0, |x| − |x|^(p−1)/β);
// at 0 the power is infinite and the result 0.
func shrink(x float32, beta float64) float32 {
	a := math.Abs(float64(x))
	if a == 0 {
		return 0
	}
	kept := float32(a) - float32(math.Pow(a, hqqNorm-1)/beta)
	if kept <= 0 {
		return 0
	}
	return float32(math.Copysign(float64(kept), float64(x)))
}
