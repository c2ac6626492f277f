package kernels

// The fits of sealing against arithmetic in float64 that this file does by itself.

import (
	"math"
	"math/rand/v2"
	"testing"
)

// sealLengths are the lengths of groups: all a format has, those of the last group
// of odd head dims, and odd ones.
var sealLengths = []int{1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 48, 63, 64, 72, 80, 96,
	112, 127, 128}

// sealInputs fill a group; each aims at one rule of the fits.
var sealInputs = map[string]func(r *rand.Rand, x []float32){
	"normal": func(r *rand.Rand, x []float32) { fillNormal(r, x, 1) },
	"large":  func(r *rand.Rand, x []float32) { fillUniform(r, x, maxHalf) },
	"small":  func(r *rand.Rand, x []float32) { fillNormal(r, x, 1e-6) },
	"around the smallest half": func(r *rand.Rand, x []float32) {
		fillNormal(r, x, 0x1p-25)
	},
	"denormal": func(r *rand.Rand, x []float32) { fillNormal(r, x, 1e-40) },
	"zero":     func(_ *rand.Rand, x []float32) { clear(x) },
	"signed zeros": func(r *rand.Rand, x []float32) {
		for i := range x {
			x[i] = float32(math.Copysign(float64(r.IntN(2)), float64(r.IntN(2))-0.5))
		}
	},
	"constant": func(_ *rand.Rand, x []float32) { fillWith(x, -3) },
	"outlier": func(r *rand.Rand, x []float32) {
		fillNormal(r, x, 1)
		x[r.IntN(len(x))] = maxHalf
	},
	"two sizes": func(r *rand.Rand, x []float32) {
		for i := range x {
			x[i] = float32(r.IntN(3)-1) * 0x1p-24
		}
	},
	"whole": func(r *rand.Rand, x []float32) {
		for i := range x {
			x[i] = float32(r.IntN(17) - 8)
		}
	},
}

func fillUniform(r *rand.Rand, x []float32, size float32) {
	for i := range x {
		x[i] = size * (2*r.Float32() - 1)
	}
}

// TestFitsChooseTheNearest: for the scale that is returned no code names a value
// farther from its own than another would.
func TestFitsChooseTheNearest(t *testing.T) {
	r := newRand(21)
	for name, fill := range sealInputs {
		for _, n := range sealLengths {
			for bits := 1; bits <= 8; bits++ {
				x, codes := make([]float32, n), make([]uint8, n)
				fill(r, x)
				scale := fitRow(codes, x, bits, false)
				if scale == 0 {
					continue
				}
				levels := rowLevels(bits)
				for i, v := range x {
					got := math.Abs(float64(v) - float64(scale)*levels[codes[i]])
					best := math.Inf(1)
					for _, level := range levels {
						best = min(best, math.Abs(float64(v)-float64(scale)*level))
					}
					if slack := 1e-6 * math.Abs(float64(v)); got > best+slack {
						t.Fatalf("%s, %d bits, n=%d: %g at scale %g is coded as %d, %g off; "+
							"the nearest is %g off", name, bits, n, v, scale, codes[i], got, best)
					}
				}
			}
		}
	}
}

// fitRow is the fit of level rows.
func fitRow(codes []uint8, x []float32, bits int, debias bool) float32 {
	if bits <= LloydMaxBits {
		return FitLloydMax(codes, x, bits, debias)
	}
	return FitUniform(codes, x, bits, debias)
}

// rowLevels are the levels of all codes of level rows.
func rowLevels(bits int) (levels []float64) {
	for code := range 1 << bits {
		if bits <= LloydMaxBits {
			levels = append(levels, float64(lloydMax[bits][code]))
		} else {
			levels = append(levels, float64(code-1<<(bits-1)))
		}
	}
	return levels
}

// TestScalesOfFits: the scale that is stored is, for the codes beside it, the one of
// the formula in float64 to the rounding of a half: with debias ⟨x,x⟩/⟨x,c⟩; without
// it ⟨x,c⟩/⟨c,c⟩ wherever another pass would choose the same codes.
func TestScalesOfFits(t *testing.T) {
	r := newRand(22)
	settled := 0
	for range 2000 {
		bits, n := 1+r.IntN(8), sealLengths[r.IntN(len(sealLengths))]
		x, codes := make([]float32, n), make([]uint8, n)
		fillNormal(r, x, math.Exp(3*r.NormFloat64()))
		debias := r.IntN(2) == 1
		scale := float64(fitRow(codes, x, bits, debias))
		levels := rowLevels(bits)
		var xx, xc, cc float64
		for i, v := range x {
			c := levels[codes[i]]
			xx, xc, cc = xx+float64(v)*float64(v), xc+float64(v)*c, cc+c*c
		}
		want := xc / cc
		if debias {
			want = xx / xc
		}
		// Half a step of halves, normal and subnormal, and the float32 sums.
		near := math.Abs(scale-want) <= (0x1p-11+1e-6)*math.Abs(want)+0x1p-25
		if debias && !near {
			t.Fatalf("%d bits, n=%d: de-biased scale %g; want %g", bits, n, scale, want)
		}
		if near {
			settled++
		}
	}
	if settled < 1500 {
		t.Errorf("the scale is the least-squares one of its codes in %d of 2000 fits", settled)
	}
}

// TestGroupsWithoutScale: what rounds to a scale of 0 has the codes of zeros.
func TestGroupsWithoutScale(t *testing.T) {
	for bits := 1; bits <= 8; bits++ {
		for _, v := range []float32{0, float32(math.Copysign(0, -1)), 1e-30, -1e-12} {
			x, codes := make([]float32, 33), make([]uint8, 33)
			fillWith(x, v)
			fillCodes(codes)
			scale, want := fitRow(codes, x, bits, true), uint8(0)
			if bits > LloydMaxBits {
				want = 1 << (bits - 1)
			}
			for _, code := range codes {
				if math.Float32bits(scale)&^(1<<31) != 0 || code != want {
					t.Fatalf("%d bits, all %g: scale %g, code %d; want 0 and %d",
						bits, v, scale, code, want)
				}
			}
		}
	}
}

// fillCodes leaves what no fit writes.
func fillCodes(codes []uint8) {
	for i := range codes {
		codes[i] = 0xa5
	}
}
