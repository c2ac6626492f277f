package kernels

// Fits: how a group of values gets its scale, its offset and its codes. A fit
// ends in codes and an affine map x̂ = scale·code + min (or, where its authors
// store it so, a zero in code units or a shift in data units that maps onto
// it); packing, layout and attention never learn which fit was used.
//
// Every fit computes in float32 with each operation rounded, as the packages
// it equals do on a CPU, and rounds halves to even. The conversions float32(…)
// around products keep compilers from fusing two roundings into one.

import "math"

// Grouping says which values of a flat tensor form a group: value r of group j
// is x[At(j, r)].
type Grouping struct {
	Count, Size int
	channels    int // 0: rows or strided groups
	strided     bool
}

// RowGroups are runs of size consecutive values of n: HQQ's axis 1, Quanto's
// axis 0.
func RowGroups(n, size int) Grouping { return Grouping{Count: n / size, Size: size} }

// StridedGroups are values n/size apart: HQQ's axis 0, reshape(size, n/size).
func StridedGroups(n, size int) Grouping { return Grouping{Count: n / size, Size: size, strided: true} }

// ChannelGroups are size consecutive rows of one channel, channels values a
// row: Quanto's axis −1. Group j is channel j/g of row block j%g, where g is
// the number of row blocks.
func ChannelGroups(n, channels, size int) Grouping {
	return Grouping{Count: n / size, Size: size, channels: channels}
}

// At is the index of value r of group j.
func (g Grouping) At(j, r int) int {
	switch {
	case g.strided:
		return j + r*g.Count
	case g.channels > 0:
		blocks := g.Count / g.channels
		return (j%blocks*g.Size+r)*g.channels + j/blocks
	}
	return j*g.Size + r
}

// bounds returns the least and the largest value of group j.
func (g Grouping) bounds(x []float32, j int) (low, high float32) {
	low, high = x[g.At(j, 0)], x[g.At(j, 0)]
	for r := 1; r < g.Size; r++ {
		v := x[g.At(j, r)]
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// rint rounds to the nearest integer, halves to even.
func rint(v float32) float32 { return float32(math.RoundToEven(float64(v))) }

// clampCode limits a rounded code to 0…top.
func clampCode(v float32, top int) byte {
	return byte(min(max(v, 0), float32(top)))
}

// roundHalf rounds to the nearest IEEE half.
func roundHalf(v float32) float32 { return F16ToF32(F32ToF16(v)) }

// FitMinMax is the min–max fit: scale = (max−min)/(2^bits−1),
// code = clamp(rint((x−min)/scale)), x̂ = scale·code + min. With half, scale and
// min are rounded to IEEE halves before the codes are chosen, a scale too large
// for one to 65504. A group of one value everywhere has scale 0 and codes 0.
// codes are [group][value].
func FitMinMax(codes []byte, scale, low []float32, x []float32, g Grouping, bits int, half bool) {
	top := 1<<bits - 1
	for j := 0; j < g.Count; j++ {
		least, most := g.bounds(x, j)
		s := (most - least) / float32(top)
		if half {
			s, least = min(roundHalf(s), maxHalf), roundHalf(least)
		}
		scale[j], low[j] = s, least
		assign(codes[j*g.Size:(j+1)*g.Size], x, g, j, s, least, top)
	}
}

// assign chooses the nearest codes of group j for x̂ = s·code + low.
func assign(codes []byte, x []float32, g Grouping, j int, s, low float32, top int) {
	for r := range codes {
		codes[r] = 0
		if s > 0 {
			codes[r] = clampCode(rint((x[g.At(j, r)]-low)/s), top)
		}
	}
}

// refitPasses is how often FitLeastSquares alternates; the error hardly falls
// after the third pass.
const refitPasses = 3

// FitLeastSquares begins as FitMinMax and alternates: with the codes fixed,
// scale and min are the least-squares line through (code, x); with the line
// fixed, the codes are the nearest. A pass that does not lower the squared
// error is not kept.
func FitLeastSquares(codes []byte, scale, low []float32, x []float32, g Grouping, bits int, half bool) {
	FitMinMax(codes, scale, low, x, g, bits, half)
	top := 1<<bits - 1
	var small [maxGroup]byte
	trial := small[:min(g.Size, maxGroup)]
	if g.Size > maxGroup {
		trial = make([]byte, g.Size)
	}
	for j := 0; j < g.Count; j++ {
		kept := codes[j*g.Size : (j+1)*g.Size]
		best := squaredError(kept, x, g, j, scale[j], low[j])
		for range refitPasses {
			s, m, ok := line(kept, x, g, j)
			if !ok {
				break
			}
			if half {
				s, m = roundHalf(s), roundHalf(m)
			}
			assign(trial, x, g, j, s, m, top)
			if e := squaredError(trial, x, g, j, s, m); e < best {
				best, scale[j], low[j] = e, s, m
				copy(kept, trial)
			} else {
				break
			}
		}
	}
}

// line is the least-squares fit x ≈ s·code + m; ok is false for one code only.
func line(codes []byte, x []float32, g Grouping, j int) (s, m float32, ok bool) {
	var sumC, sumX, sumCC, sumCX float64
	for r, code := range codes {
		c, v := float64(code), float64(x[g.At(j, r)])
		sumC, sumX, sumCC, sumCX = sumC+c, sumX+v, sumCC+float64(c*c), sumCX+float64(c*v)
	}
	n := float64(len(codes))
	det := float64(n*sumCC) - float64(sumC*sumC)
	if det <= 0 {
		return 0, 0, false
	}
	slope := (float64(n*sumCX) - float64(sumC*sumX)) / det
	return float32(slope), float32((sumX - float64(slope*sumC)) / n), slope > 0
}

func squaredError(codes []byte, x []float32, g Grouping, j int, s, m float32) float64 {
	var sum float64
	for r, code := range codes {
		d := float64(x[g.At(j, r)] - (float32(s*float32(code)) + m))
		sum += float64(d * d)
	}
	return sum
}
