package kernels

// Lloyd–Max tables: the levels that quantize a unit Gaussian with the least
// squared error (Max, 1960; Lloyd, 1982). Rotated rows are nearly Gaussian, so
// one scale a group and a fixed table beat a fitted scale and offset at 1–4 bits.

import "math"

// lloydMax holds the levels of 1–4 bits in rising order.
var lloydMax = [5][]float32{
	1: {-0.7978845834732056, 0.7978845834732056},
	2: {-1.5104175806045532, -0.4527800381183624, 0.4527800381183624, 1.5104175806045532},
	3: {-2.1519455909729004, -1.3439092636108398, -0.7560052871704102, -0.2450941801071167,
		0.2450941801071167, 0.7560052871704102, 1.3439092636108398, 2.1519455909729004},
	4: {-2.7325894832611084, -2.069017171859741, -1.6180464029312134, -1.2562311887741089,
		-0.9423404335975647, -0.6567591428756714, -0.38804829120635986, -0.12839503586292267,
		0.12839503586292267, 0.38804829120635986, 0.6567591428756714, 0.9423404335975647,
		1.2562311887741089, 1.6180464029312134, 2.069017171859741, 2.7325894832611084},
}

// LloydMaxBits is the largest width that has a table.
const LloydMaxBits = 4

// LloydMaxTable returns the 2^bits levels for a unit Gaussian.
func LloydMaxTable(bits int) []float32 { return lloydMax[bits] }

// FitLloydMax fits one group: x̂ = scale·table[code]. The scale begins as the
// root mean square and is refitted twice to ⟨x,c⟩/⟨c,c⟩ (c the levels chosen),
// each time rounded to an IEEE half; the codes are the nearest levels for the
// last scale. With debias the scale that is stored is ⟨x,x⟩/⟨x,c⟩ instead, with
// the codes as they are: the inner product of x̂ with x is then unbiased, which
// values need more than a small squared error.
func FitLloydMax(codes []byte, x []float32, bits int, debias bool) (scale float32) {
	table := lloydMax[bits]
	var square float64
	for _, v := range x {
		square += float64(float64(v) * float64(v))
	}
	scale = storedScale(math.Sqrt(square / float64(len(x))))
	for range 2 {
		nearest(codes, x, table, scale)
		if xc, cc := moments(codes, x, table); cc > 0 {
			scale = storedScale(xc / cc)
		}
	}
	nearest(codes, x, table, scale)
	if debias {
		if xc, _ := moments(codes, x, table); xc > 0 {
			scale = storedScale(square / xc)
		}
	}
	return scale
}

// nearest chooses code = number of thresholds strictly below x/scale, the
// thresholds being the midpoints between levels. A scale of 0 gives codes 0.
func nearest(codes []byte, x []float32, table []float32, scale float32) {
	for i, v := range x {
		codes[i] = 0
		if scale == 0 {
			continue
		}
		z := v / scale
		for t := 1; t < len(table); t++ {
			if (table[t-1]+table[t])/2 < z {
				codes[i]++
			}
		}
	}
}

// moments returns ⟨x,c⟩ and ⟨c,c⟩ for the levels c that codes name.
func moments(codes []byte, x []float32, table []float32) (xc, cc float64) {
	for i, code := range codes {
		c := float64(table[code])
		xc, cc = xc+float64(float64(x[i])*c), cc+float64(c*c)
	}
	return xc, cc
}
