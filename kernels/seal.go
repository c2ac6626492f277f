package kernels

// Sealing: the references of what turns the values of a group into a scale and
// codes. A fit reads its values three or four times and searches a level for
// each, so it is written for vectors: sixteen partial sums in float32, no step
// fused, and a search without branches. All Sets give the same bits.
//
// Half precision is where a scale ends: float32 sums of 128 values are exact to
// 2⁻²⁰ or so of their size, 2⁸ times finer than what is stored.

import "math"

// fitLanes is how many partial sums a fit has: value i is added to sum i mod 16.
const fitLanes = 16

// partialSums are the partial sums of a fit.
type partialSums [fitLanes]float32

// total adds them: each of the lower eight to its partner eight above, then four,
// two and one above.
func (s *partialSums) total() float32 {
	for step := fitLanes / 2; step > 0; step /= 2 {
		for i := range step {
			s[i] += s[i+step]
		}
	}
	return s[0]
}

// storedScale rounds to an IEEE half within ±65504.
func storedScale(v float32) float32 { return roundHalf(finiteHalf(v)) }

// fitPasses is how often a fit chooses codes for its scale and refits the scale
// to them, before it chooses the codes it keeps.
const fitPasses = 2

// maxPositiveLevels is how many levels above 0 a table has.
const maxPositiveLevels = 8

// levelTable makes of levels that lie symmetrically around 0, in rising order,
// the table that FitLevels takes, [4][8]: the positive levels, and for each step of
// the search, of 4, 2 and 1 levels, the border between level k+step and the one
// below it, +Inf where there is no such level.
func levelTable(levels []float32) []float32 {
	table := make([]float32, 4*maxPositiveLevels)
	positive := levels[len(levels)/2:]
	copy(table, positive)
	for row, step := range []int{4, 2, 1} {
		borders := table[(row+1)*maxPositiveLevels:][:maxPositiveLevels]
		for k := range borders {
			borders[k] = float32(math.Inf(1))
			if above := k + step; above < len(positive) {
				borders[k] = (positive[above-1] + positive[above]) / 2
			}
		}
	}
	return table
}

// FitLevels is the reference of Set.FitLevels. It fits one group of finite values
// within ±65504 to levels around 0: x̂ = ±scale·level[k]. Code half+k is level k of
// table (LevelTable), code half−1−k its negative.
//
// The scale begins as the root mean square and is refitted twice to ⟨x,c⟩/⟨c,c⟩,
// c the levels nearest to x/scale, each time rounded to an IEEE half; the codes are
// the nearest levels for the last scale. With debias the scale that is returned is
// ⟨x,x⟩/⟨x,c⟩ instead, with the codes as they are. A value on a border takes the
// level nearer to 0; 0 takes the one below it. A group whose scale rounds to 0 has
// scale and codes 0.
func FitLevels(codes []uint8, x, table []float32, half int, debias bool) (scale float32) {
	var squares partialSums
	for i, v := range x {
		squares[i%fitLanes] += float32(v * v)
	}
	energy := squares.total()
	scale = storedScale(float32(math.Sqrt(float64(energy / float32(len(x))))))
	for range fitPasses {
		if scale == 0 {
			break
		}
		xc, cc := chooseLevels(codes, x, table, scale, half)
		scale = storedScale(xc / cc)
	}
	if scale == 0 {
		clear(codes[:len(x)])
		return 0
	}
	xc, _ := chooseLevels(codes, x, table, scale, half)
	if debias {
		scale = storedScale(energy / xc)
	}
	return scale
}

// chooseLevels writes the codes for a scale above 0 and returns ⟨x,c⟩ and ⟨c,c⟩.
//
// A level is found in three steps: where |x| is above border·scale, k rises by 4, by
// 2, by 1. Floats that are not negative compare as the integers of their bits.
func chooseLevels(codes []uint8, x, table []float32, scale float32, half int) (xc, cc float32) {
	const lanes = maxPositiveLevels
	var borders [3][lanes]int32
	for i, b := range table[lanes : 4*lanes] {
		borders[i/lanes][i%lanes] = int32(math.Float32bits(b * scale))
	}
	levels := (*[lanes]float32)(table)
	var products, squares partialSums
	for i, v := range x {
		bits := int32(math.Float32bits(v))
		size := bits & math.MaxInt32
		k := (borders[0][0] - size) >> 31 & 4
		k |= (borders[1][k&7] - size) >> 31 & 2
		k |= (borders[2][k&7] - size) >> 31 & 1
		level := levels[k&7]
		products[i%fitLanes] += float32(math.Float32frombits(uint32(size)) * level)
		squares[i%fitLanes] += float32(level * level)
		below := (bits | (bits - 1)) >> 31 // −1 up to 0, where the levels run downwards
		codes[i] = uint8(int32(half) + (k ^ below))
	}
	return products.total(), squares.total()
}

// FitUniform is the reference of Set.FitUniform. It fits one group of finite values
// within ±65504 to a uniform grid around 0: x̂ = scale·(code − half), half =
// 2^(bits−1). The scale begins where the value of largest magnitude, with its sign,
// is the lowest level, as ggml's q4_0 does (of two alike the positive one), and is
// refitted as in FitLevels, each time rounded to an IEEE half; it may be negative.
// With debias the scale that is returned is ⟨x,x⟩/⟨x,c⟩, with the codes as they are.
// A group whose scale rounds to 0 has the codes of 0.
func FitUniform(codes []uint8, x []float32, bits int, debias bool) (scale float32) {
	half := float32(int(1) << (bits - 1))
	var squares partialSums
	var low, high float32
	for i, v := range x {
		low, high = min(low, v), max(high, v)
		squares[i%fitLanes] += float32(v * v)
	}
	energy, most := squares.total(), high
	if high < -low {
		most = low
	}
	scale = storedScale(0 - most/half)
	for range fitPasses {
		if xc, cc := chooseUniform(codes, x, scale, half); xc != 0 {
			scale = storedScale(xc / cc)
		}
	}
	xc, _ := chooseUniform(codes, x, scale, half)
	if debias && xc != 0 {
		scale = storedScale(energy / xc)
	}
	return scale
}

// chooseUniform writes the codes for a scale and returns ⟨x,c⟩ and ⟨c,c⟩, where c
// is x·(1/scale) rounded to the nearest level, ties to even.
func chooseUniform(codes []uint8, x []float32, scale, half float32) (xc, cc float32) {
	const toInt = 3 << 22 // 1.5·2^23: adding it rounds to a whole number
	var inverse float32
	if scale != 0 {
		inverse = 1 / scale
	}
	var products, squares partialSums
	for i, v := range x {
		level := min(max(float32(v*inverse), -half), half-1)
		level = float32(level+toInt) - toInt
		products[i%fitLanes] += float32(v * level)
		squares[i%fitLanes] += float32(level * level)
		codes[i] = uint8(int32(level + half))
	}
	return products.total(), squares.total()
}
