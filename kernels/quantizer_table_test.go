package kernels

// HQQ and Quanto by the book: the notes on quantization, §3. The vectors hold what
// the packages computed (fit_golden_test.go); here the rules that other writers of
// them get wrong are tested one by one. Both solvers are written a second time in
// float32, each with a switch for every trap: the fits must equal the book to the
// bit and differ from the book with any trap sprung.

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestSixteenValuesOfTheNotes is the table of §3.3, which hqq 0.2.8.post1 and
// optimum-quanto 0.2.7 gave: sixteen values in two groups of eight.
func TestSixteenValuesOfTheNotes(t *testing.T) {
	x := make([]float32, 16)
	for i := range x {
		x[i] = float32(math.Sin(0.7*float64(i)+0.3) * (1 + 0.5*float64(i%5)))
	}
	quarter, sixteenth := [2]string{"1.250080", "1.119750"}, [2]string{"0.250016", "0.223950"}
	shift := [2]string{"1.766909", "1.875212"}
	const four = "8 12 15 14 8 5 1 0 4 13 12 15 14 9 0 4"
	for _, c := range []struct {
		name          string
		bits          int
		codes         string
		scale, offset [2]string
		iterations    int
	}{
		{"quanto", 2, "2 2 3 3 2 1 0 0 1 3 2 3 3 2 0 1", quarter, shift, 0},
		{"quanto", 4, four, sixteenth, shift, 0},
		{"hqq", 2, "2 2 3 3 2 1 0 0 1 3 3 3 3 2 0 1", quarter, [2]string{"1.478900", "1.852449"}, 7},
		{"hqq", 4, four, sixteenth, [2]string{"7.120351", "8.391558"}, 2},
		{"quanto-hqq", 2, "2 2 3 3 2 1 0 0 1 3 3 3 3 2 0 1", quarter,
			[2]string{"1.834254", "2.062591"}, 5},
		{"quanto-hqq", 4, four, sixteenth, shift, 1},
	} {
		codes, other := make([]byte, 16), make([]byte, 16)
		var scale, offset, trial [2]float32
		g, iterations := RowGroups(16, 8), 0
		switch c.name {
		case "quanto":
			FitQuanto(codes, scale[:], offset[:], x, g, c.bits)
		case "hqq":
			iterations = FitHQQ(codes, scale[:], offset[:], x, g, c.bits)
		default:
			iterations = FitQuantoHQQ(codes, scale[:], offset[:], x, g, c.bits, trial[:], other)
		}
		if got := fmt.Sprint(codes); got != "["+c.codes+"]" || iterations != c.iterations {
			t.Errorf("%s, %d bits: codes %s in %d iterations; want %s in %d",
				c.name, c.bits, got, iterations, c.codes, c.iterations)
		}
		for j := range scale {
			scale, offset := fmt.Sprintf("%.6f", scale[j]), sixDigits(offset[j], c.offset[j])
			if scale != c.scale[j] || offset != c.offset[j] {
				t.Errorf("%s, %d bits, group %d: scale %s, offset %s; want %s, %s",
					c.name, c.bits, j, scale, offset, c.scale[j], c.offset[j])
			}
		}
	}
}

// sixDigits prints v, or a float32 beside it where that prints as want: an offset
// is a mean, which the packages sum in float32 and in another order.
func sixDigits(v float32, want string) string {
	for _, near := range []float32{math.Nextafter32(v, -100), math.Nextafter32(v, 100)} {
		if fmt.Sprintf("%.6f", near) == want {
			return want
		}
	}
	return fmt.Sprintf("%.6f", v)
}

// A trap is a way to get a solver wrong.
type trap string

const (
	faithful     trap = ""
	rollsBack    trap = "the update of the last, failing iteration is dropped"
	keepsLast    trap = "the update of the last, failing iteration stays"
	growsBeta    trap = "β grows"
	fixedBeta    trap = "β does not grow"
	errorAfter   trap = "the error compared is the one after the update"
	stopsByGroup trap = "each group stops by itself"
	anyImproves  trap = "an equal error counts as better"
	roundsHalfUp trap = "halves round away from zero"
	wholeZero    trap = "the zero is rounded"
	movesScale   trap = "the scale moves"
)

// bookFit is what a solver written in this file gives: codes [group][value], and for
// each group a scale and HQQ's zero or Quanto's shift.
type bookFit struct {
	codes         []byte
	scale, offset []float32
	iterations    int
}

func (f bookFit) differs(g bookFit) bool {
	return !slices.Equal(f.codes, g.codes) || !sameBits(f.scale, g.scale) ||
		!sameBits(f.offset, g.offset) || f.iterations != g.iterations
}

// byGroup solves each group alone and puts the results together.
func byGroup(groups [][]float32, solve func([][]float32) bookFit) (all bookFit) {
	for _, group := range groups {
		f := solve([][]float32{group})
		all.codes, all.scale = append(all.codes, f.codes...), append(all.scale, f.scale...)
		all.offset = append(all.offset, f.offset...)
		all.iterations = max(all.iterations, f.iterations)
	}
	return all
}

// bookCode is clamp(rint(v), 0, top).
func bookCode(v, top float32, wrong trap) float32 {
	round := math.RoundToEven
	if wrong == roundsHalfUp {
		round = math.Round
	}
	return min(max(float32(round(float64(v))), 0), top)
}

// bookShrink is the generalised soft threshold of the ℓ0.7 norm.
func bookShrink(x float32, beta float64) float32 {
	size := math.Abs(float64(x))
	if size == 0 {
		return 0
	}
	kept := max(0, float32(size)-float32(math.Pow(size, 0.7-1)/beta))
	return float32(math.Copysign(float64(kept), float64(x)))
}

// bookHQQ is §3.1, steps 2 to 4.
func bookHQQ(groups [][]float32, bits int, wrong trap) bookFit {
	if wrong == stopsByGroup {
		return byGroup(groups, func(g [][]float32) bookFit { return bookHQQ(g, bits, faithful) })
	}
	top := float32(int(1)<<bits - 1)
	inverse, zero := bookHQQStart(groups, top, wrong)
	best, beta, iterations := float32(1e4), 10.0, 0
	for iterations < 20 {
		iterations++
		next, before, after := bookHQQPass(groups, inverse, zero, top, beta, wrong)
		err := before
		if wrong == errorAfter {
			err = after
		}
		worse := !(err < best) && !(wrong == anyImproves && err == best)
		if !worse || wrong != rollsBack {
			zero = next
		}
		if worse {
			break
		}
		if best = err; wrong == growsBeta {
			beta *= 1.01
		}
	}
	f := bookFit{offset: zero, iterations: iterations}
	for j, group := range groups {
		for _, v := range group {
			f.codes = append(f.codes, byte(bookCode(float32(v*inverse[j])+zero[j], top, wrong)))
		}
		f.scale = append(f.scale, 1/inverse[j])
	}
	return f
}

// bookHQQStart is the inverse scale and the first zero of each group.
func bookHQQStart(groups [][]float32, top float32, wrong trap) (inverse, zero []float32) {
	for _, group := range groups {
		low, high := slices.Min(group), slices.Max(group)
		i := float32(1)
		if high-low > 1e-4 {
			i = min(top/(high-low), 2e4)
		}
		z := -float32(low * i)
		if wrong == wholeZero {
			z = float32(math.RoundToEven(float64(z)))
		}
		inverse, zero = append(inverse, i), append(zero, z)
	}
	return inverse, zero
}

// bookHQQPass is one iteration: the next zeros, and the mean |x − x̂| over all values
// before and after the update.
func bookHQQPass(groups [][]float32, inverse, zero []float32, top float32, beta float64,
	wrong trap) (next []float32, before, after float32) {
	var sumBefore, sumAfter float64
	values := 0
	for j, group := range groups {
		i, z := inverse[j], zero[j]
		var moved float64
		for _, v := range group {
			q := bookCode(float32(v*i)+z, top, wrong)
			residual := v - (q-z)/i
			sumBefore += math.Abs(float64(residual))
			moved += float64(q - float32((v-bookShrink(residual, beta))*i))
		}
		moved /= float64(len(group))
		for _, v := range group {
			q := bookCode(float32(v*i)+float32(moved), top, wrong)
			sumAfter += math.Abs(float64(v - (q-float32(moved))/i))
		}
		next, values = append(next, float32(moved)), values+len(group)
		if wrong == movesScale {
			inverse[j] *= 1.01
		}
	}
	return next, float32(sumBefore / float64(values)), float32(sumAfter / float64(values))
}

// bookQuantoHQQ is Quanto's HqqOptimizer, §3.2.
func bookQuantoHQQ(groups [][]float32, bits int, wrong trap) bookFit {
	if wrong == stopsByGroup {
		return byGroup(groups, func(g [][]float32) bookFit { return bookQuantoHQQ(g, bits, faithful) })
	}
	top := float32(int(1)<<bits - 1)
	var f bookFit
	values := 0
	for _, group := range groups {
		low, high := slices.Min(group), slices.Max(group)
		f.scale, f.offset = append(f.scale, (high-low)/top), append(f.offset, -low)
		values += len(group)
	}
	assign := func(shift []float32) (codes []byte, err float32) {
		var sum float64
		for j, group := range groups {
			for _, v := range group {
				q := bookCode((v+shift[j])/f.scale[j], top, wrong)
				codes = append(codes, byte(q))
				sum += math.Abs(float64(v - (float32(f.scale[j]*q) - shift[j])))
			}
		}
		return codes, float32(sum / float64(values))
	}
	codes, best := assign(f.offset)
	f.codes = codes
	for beta := 10.0; f.iterations < 20; {
		f.iterations++
		next, at := make([]float32, len(groups)), 0
		for j, group := range groups {
			var sum float64
			for _, v := range group {
				scaled := float32(f.scale[j] * float32(f.codes[at]))
				sum += float64(scaled - (v - bookShrink(v-(scaled-f.offset[j]), beta)))
				at++
			}
			next[j] = float32(sum / float64(len(group)))
		}
		codes, err := assign(next)
		worse := !(err < best) && !(wrong == anyImproves && err == best)
		if !worse || wrong == keepsLast {
			f.codes, f.offset = codes, next
		}
		if worse {
			break
		}
		if best = err; wrong != fixedBeta {
			beta *= 1.01
		}
	}
	return f
}

// solverInputs are eight groups of 32 each: of sizes at which the threshold of the
// shrinkage, 0.17, takes all residuals, some and none; with ties, and constant.
func solverInputs() (inputs [][]float32) {
	for seed, size := range []float64{1, 0.05, 20, 300} {
		x := make([]float32, 256)
		fillNormal(newRand(uint64(seed)), x, size)
		inputs = append(inputs, x)
	}
	ties, constant := make([]float32, 256), make([]float32, 256)
	for i := range ties {
		ties[i], constant[i] = float32(i*i*7%511)/2, 1.5
	}
	return append(inputs, ties, constant)
}

// solverGroups are the groups of x along both axes of HQQ, by the reshape each is
// named for: (n/size, size), and (size, n/size) column by column.
func solverGroups(x []float32, size int) (groupings []Grouping, groups [][][]float32) {
	count := len(x) / size
	rows, columns := make([][]float32, count), make([][]float32, count)
	for i, v := range x {
		rows[i/size] = append(rows[i/size], v)
		columns[i%count] = append(columns[i%count], v)
	}
	return []Grouping{RowGroups(len(x), size), StridedGroups(len(x), size)},
		[][][]float32{rows, columns}
}

// TestSolversByTheBook: FitHQQ and FitQuantoHQQ, 1 to 8 bits, both axes.
func TestSolversByTheBook(t *testing.T) {
	hqqTraps := map[trap]int{rollsBack: 0, growsBeta: 0, errorAfter: 0, stopsByGroup: 0,
		anyImproves: 0, roundsHalfUp: 0, wholeZero: 0, movesScale: 0}
	quantoTraps := map[trap]int{keepsLast: 0, fixedBeta: 0, stopsByGroup: 0, roundsHalfUp: 0}
	widths := []int{1, 2, 3, 4, 5, 6, 7, 8}
	if testing.Short() {
		widths = []int{1, 4, 8}
	}
	for at, x := range solverInputs() {
		constant := slices.Min(x) == slices.Max(x) // Quanto divides by 0
		groupings, groups := solverGroups(x, 32)
		for axis, g := range groupings {
			for _, bits := range widths {
				name := fmt.Sprintf("input %d, %d bits, grouping %d", at, bits, axis)
				expectBook(t, "HQQ, "+name, runHQQ(x, g, bits), groups[axis], bits, bookHQQ, hqqTraps)
				if !constant {
					expectBook(t, "Quanto HQQ, "+name, runQuantoHQQ(x, g, bits), groups[axis], bits,
						bookQuantoHQQ, quantoTraps)
				}
			}
		}
	}
	for _, traps := range []map[trap]int{hqqTraps, quantoTraps} {
		for wrong, times := range traps {
			if times == 0 {
				t.Errorf("no input shows the trap %q", wrong)
			}
		}
	}
}

// expectBook holds a fit against the book and counts the traps it shows.
func expectBook(t *testing.T, name string, got bookFit, groups [][]float32, bits int,
	book func([][]float32, int, trap) bookFit, traps map[trap]int) {
	t.Helper()
	if want := book(groups, bits, faithful); got.differs(want) {
		t.Errorf("%s: %d iterations, scale %v, offset %v\nwant %d, %v, %v", name,
			got.iterations, got.scale, got.offset, want.iterations, want.scale, want.offset)
	}
	for wrong := range traps {
		if got.differs(book(groups, bits, wrong)) {
			traps[wrong]++
		}
	}
}

func runHQQ(x []float32, g Grouping, bits int) bookFit {
	f := bookFit{codes: make([]byte, len(x)), scale: make([]float32, g.Count),
		offset: make([]float32, g.Count)}
	f.iterations = FitHQQ(f.codes, f.scale, f.offset, x, g, bits)
	return f
}

func runQuantoHQQ(x []float32, g Grouping, bits int) bookFit {
	f := bookFit{codes: make([]byte, len(x)), scale: make([]float32, g.Count),
		offset: make([]float32, g.Count)}
	trial, codes := make([]float32, g.Count), make([]byte, len(x))
	f.iterations = FitQuantoHQQ(f.codes, f.scale, f.offset, x, g, bits, trial, codes)
	return f
}

// TestHQQGroupByGroup: one group a call is the stop rule of a cache, where a tile
// does not depend on its neighbours.
func TestHQQGroupByGroup(t *testing.T) {
	x := normalFloats(newRand(5), 256)
	_, groups := solverGroups(x, 32)
	for bits := 1; bits <= 8; bits++ {
		got := byGroup(groups[0], func(g [][]float32) bookFit {
			return runHQQ(g[0], RowGroups(32, 32), bits)
		})
		if want := bookHQQ(groups[0], bits, stopsByGroup); got.differs(want) {
			t.Errorf("%d bits: zeros %v; want %v", bits, got.offset, want.offset)
		}
	}
}

// TestHQQLimits: ranges up to 1e-4 keep scale 1, inverse scales end at 2e4, and the
// shrinkage begins at β^(−1/1.3) = 0.170.
func TestHQQLimits(t *testing.T) {
	for _, c := range []struct {
		high  float32
		bits  int
		scale float32
	}{
		{0, 4, 1}, {9.9e-5, 8, 1}, {1.1e-4, 1, 1.1e-4}, {1.1e-4, 2, 5e-5}, {1e-3, 8, 5e-5},
		{0.01, 8, 5e-5}, {0.0128, 8, 0.0128 / 255}, {2, 1, 2}, {30, 4, 2},
	} {
		x := []float32{0, c.high, 0, c.high / 2}
		if f := runHQQ(x, RowGroups(4, 4), c.bits); math.Abs(float64(f.scale[0]/c.scale-1)) > 1e-6 {
			t.Errorf("range %v, %d bits: scale %v; want %v", c.high, c.bits, f.scale[0], c.scale)
		}
	}
	for _, c := range []struct{ x, want float64 }{
		{0, 0}, {0.169, 0}, {-0.169, 0}, {0.171, 0.171 - math.Pow(0.171, -0.3)/10},
		{1, 0.9}, {-1, -0.9}, {32, 32 - math.Pow(32, -0.3)/10},
	} {
		if got := float64(shrink(float32(c.x), hqqBeta)); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("shrink(%v) = %v; want %v", c.x, got, c.want)
		}
	}
}

// TestZeroPointVariant: Quanto with an integer zero in code units, which ranges that
// do not hold 0 clip.
func TestZeroPointVariant(t *testing.T) {
	for _, c := range []struct {
		x     []float32
		bits  int
		scale float32
		zero  byte
		codes []byte
	}{
		{[]float32{-1, 0, 1, 2}, 2, 1, 1, []byte{0, 1, 2, 3}},
		{[]float32{1, 2, 3, 4}, 2, 1, 0, []byte{1, 2, 3, 3}},
		{[]float32{-4, -3, -2, -1}, 2, 1, 3, []byte{0, 0, 1, 2}},
		{[]float32{-2.5, 2.5, 5, 12.5}, 4, 1, 2, []byte{0, 4, 7, 14}}, // ties to even
		{[]float32{-1.5, 13.5, -0.5, 0.5}, 4, 1, 2, []byte{0, 15, 2, 2}},
		{[]float32{-3, 5, 0, 1}, 1, 8, 0, []byte{0, 1, 0, 0}},
		{[]float32{-100, 155, 0, 27}, 8, 1, 100, []byte{0, 255, 100, 127}},
		{[]float32{7, 7, 7, 7}, 3, 0, 0, []byte{0, 0, 0, 0}},
	} {
		codes, scale, zero := make([]byte, 4), make([]float32, 1), make([]byte, 1)
		FitQuantoZeroPoint(codes, scale, zero, c.x, RowGroups(4, 4), c.bits)
		if scale[0] != c.scale || zero[0] != c.zero || !slices.Equal(codes, c.codes) {
			t.Errorf("%v, %d bits: scale %v, zero %d, codes %v; want %v, %d, %v",
				c.x, c.bits, scale[0], zero[0], codes, c.scale, c.zero, c.codes)
		}
	}
}

// TestAbsmaxByTheBook: qint8 of rows and of channels: scale = max|x|/127.
func TestAbsmaxByTheBook(t *testing.T) {
	const rows, channels = 16, 12
	x := normalFloats(newRand(9), rows*channels)
	x[3] = -40
	for _, c := range []struct {
		g  Grouping
		at func(j, r int) int
	}{
		{RowGroups(len(x), channels), func(j, r int) int { return j*channels + r }},
		{ChannelGroups(len(x), channels, rows), func(j, r int) int { return r*channels + j }},
	} {
		codes, scale := make([]int8, len(x)), make([]float32, c.g.Count)
		FitQuantoAbsmax(codes, scale, x, c.g)
		for j := range scale {
			var most float32
			for r := range c.g.Size {
				most = max(most, float32(math.Abs(float64(x[c.at(j, r)]))))
			}
			if scale[j] != most/127 {
				t.Fatalf("group %d: scale %v; want %v", j, scale[j], most/127)
			}
			for r := range c.g.Size {
				want := int8(math.RoundToEven(float64(x[c.at(j, r)] / scale[j])))
				if got := codes[j*c.g.Size+r]; got != want {
					t.Fatalf("group %d, value %d: code %d; want %d", j, r, got, want)
				}
			}
		}
	}
}

// TestGroupingsAreReshapes holds Grouping.At against the tensor operations of the
// packages: with A channels and n values, Quanto's axis −1 views x as (n/(A·g), g, A)
// and permutes it to (g, A, n/(A·g)); a group is a column of that.
func TestGroupingsAreReshapes(t *testing.T) {
	const blocks, size, channels = 3, 4, 5
	const n = blocks * size * channels
	for r := range size {
		for j := range n / size {
			if got, want := RowGroups(n, size).At(j, r), j*size+r; got != want {
				t.Errorf("RowGroups.At(%d, %d) = %d; want %d", j, r, got, want)
			}
			if got, want := StridedGroups(n, size).At(j, r), r*(n/size)+j; got != want {
				t.Errorf("StridedGroups.At(%d, %d) = %d; want %d", j, r, got, want)
			}
		}
		for channel := range channels {
			for block := range blocks {
				column := channel*blocks + block
				want := block*(size*channels) + r*channels + channel
				if got := ChannelGroups(n, channels, size).At(column, r); got != want {
					t.Errorf("ChannelGroups.At(%d, %d) = %d; want %d", column, r, got, want)
				}
			}
		}
	}
}
