package kernels

// Quanto's fits (optimum-quanto 0.2.7): affine codes of 2 and 4 bits with a
// float shift, or with an integer zero point, and symmetric 8-bit codes.

// FitQuanto is the MaxOptimizer: scale = (max−min)/(2^bits−1), shift = −min,
// code = clamp(rint((x+shift)/scale)), x̂ = scale·code − shift. A constant group
// has scale 0, codes 0 and x̂ = −shift, where the original divides by zero.
func FitQuanto(codes []byte, scale, shift []float32, x []float32, g Grouping, bits int) {
	FitMinMax(codes, scale, shift, x, g, bits, false)
	for j := range shift {
		shift[j] = -shift[j]
	}
}

// FitQuantoZeroPoint is the variant with an integer zero point:
// zero = clamp(rint(shift/scale)), code = clamp(rint(x/scale) + zero),
// x̂ = scale·(code − zero).
func FitQuantoZeroPoint(codes []byte, scale []float32, zero []byte, x []float32, g Grouping, bits int) {
	top := 1<<bits - 1
	for j := 0; j < g.Count; j++ {
		least, most := g.bounds(x, j)
		s := (most - least) / float32(top)
		scale[j], zero[j] = s, 0
		if s > 0 {
			zero[j] = clampCode(rint(-least/s), top)
		}
		for r := 0; r < g.Size; r++ {
			codes[j*g.Size+r] = 0
			if s > 0 {
				codes[j*g.Size+r] = clampCode(rint(x[g.At(j, r)]/s)+float32(zero[j]), top)
			}
		}
	}
}

// FitQuantoAbsmax is qint8: scale = max|x|/127, code = clamp(rint(x/scale),
// −128, 127), x̂ = scale·code. Groups of zeros have scale 0 and codes 0.
func FitQuantoAbsmax(codes []int8, scale []float32, x []float32, g Grouping) {
	for j := 0; j < g.Count; j++ {
		least, most := g.bounds(x, j)
		s := max(-least, most) / 127
		scale[j] = s
		for r := 0; r < g.Size; r++ {
			codes[j*g.Size+r] = 0
			if s > 0 {
				codes[j*g.Size+r] = int8(min(max(rint(x[g.At(j, r)]/s), -128), 127))
			}
		}
	}
}

// quantoKappa is the growth of β at each improvement.
const quantoKappa = 1.01

// FitQuantoHQQ is Quanto's HqqOptimizer. It begins as FitQuanto and moves the
// shift to the mean of code·scale − (x − e); unlike FitHQQ it works in data
// units, lets β grow, and drops a step that does not lower the mean absolute
// error over all groups. trial and trialCodes are scratch of
// len(shift) and len(codes). It returns the number of iterations run.
func FitQuantoHQQ(codes []byte, scale, shift []float32, x []float32, g Grouping, bits int,
	trial []float32, trialCodes []byte) (iterations int) {
	FitQuanto(codes, scale, shift, x, g, bits)
	top, beta := 1<<bits-1, float64(hqqBeta)
	best := quantoError(codes, scale, shift, x, g)
	for iterations < hqqIterations {
		iterations++
		for j := 0; j < g.Count; j++ {
			var sum float64
			for r, code := range codes[j*g.Size : (j+1)*g.Size] {
				v, scaled := x[g.At(j, r)], float32(scale[j]*float32(code))
				e := shrink(v-(scaled-shift[j]), beta)
				sum += float64(scaled - (v - e))
			}
			trial[j] = float32(sum / float64(g.Size))
			assign(trialCodes[j*g.Size:(j+1)*g.Size], x, g, j, scale[j], -trial[j], top)
		}
		err := quantoError(trialCodes, scale, trial, x, g)
		if !(err < best) {
			break
		}
		best, beta = err, beta*quantoKappa
		copy(shift, trial)
		copy(codes, trialCodes)
	}
	return iterations
}

// quantoError is the mean of |x − x̂| over all groups.
func quantoError(codes []byte, scale, shift []float32, x []float32, g Grouping) float32 {
	var sum float64
	for j := 0; j < g.Count; j++ {
		for r, code := range codes[j*g.Size : (j+1)*g.Size] {
			d := x[g.At(j, r)] - (float32(scale[j]*float32(code)) - shift[j])
			sum += max(float64(d), -float64(d))
		}
	}
	return float32(sum / float64(g.Count*g.Size))
}
