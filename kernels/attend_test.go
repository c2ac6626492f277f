package kernels

// Tests of what attention does with a tile, for every Set: the references
// against arithmetic that this file does by itself, the Sets against the
// references, cuts of rows against the whole, all between guard pages.

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// A rowsCase is the shape of a run of rows.
type rowsCase struct{ padded, rows, group int }

func (c rowsCase) groups() int { return (c.padded + c.group - 1) / c.group }

func (c rowsCase) String() string {
	return fmt.Sprintf("padded=%d, rows=%d, group=%d", c.padded, c.rows, c.group)
}

// wholeRow is a group longer than any row.
const wholeRow = 4096

// rowsCases have rows below, at and above any unroll and tile; groups that are
// short, single and longer than the row.
func rowsCases() (cases []rowsCase) {
	widths := []int{16, 32, 48, 64, 80, 96, 112, 128, 144, 256, 1024}
	counts := []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33}
	if testing.Short() {
		widths, counts = []int{16, 48, 64, 80, 128, 256}, []int{1, 7, 8, 9, 32}
	}
	for _, padded := range widths {
		for _, rows := range counts {
			for _, group := range []int{16, 32, 48, 64, 128, wholeRow} {
				cases = append(cases, rowsCase{padded, rows, group})
			}
		}
	}
	return cases
}

// cuts are the two ends of each part, when rows are cut at chance.
func cuts(r *rand.Rand, rows int) (ends []int) {
	for at := 0; at < rows; {
		at += 1 + r.IntN(rows-at)
		ends = append(ends, at)
	}
	return ends
}

// int8s is place as n int8.
func (g *guarded) int8s(n int) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(&g.place(n, 1)[0])), n)
}

// floatsOf is floats filled with data.
func (g *guarded) floatsOf(data []float32) []float32 {
	x := g.floats(len(data))
	copy(x, data)
	return x
}

func normalFloats(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	fillNormal(r, x, 1)
	return x
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool {
		return math.Float32bits(x) == math.Float32bits(y)
	})
}

// ---- Unpack

func TestUnpack(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		if s.Unpack[0] != nil {
			t.Error("there is a function for codes of 0 bits")
		}
		const size = 33 * (1024 + 3)
		dst, payload, table := newGuarded(t, size), newGuarded(t, size), newGuarded(t, 16)
		for _, c := range rowsCases() {
			if c.group != wholeRow {
				continue
			}
			for width := 1; width <= 8; width++ {
				r := newRand(uint64(c.padded<<8 | c.rows<<4 | width))
				for _, gap := range []int{0, 3} {
					checkUnpack(t, r, s, c, width, gap, dst, payload, table)
				}
			}
		}
	})
}

// checkUnpack packs random codes in rows with gap bytes between them.
func checkUnpack(t *testing.T, r *rand.Rand, s Set, c rowsCase, width, gap int,
	gd, gp, gt *guarded) {
	t.Helper()
	rowBytes := c.padded*width/8 + gap
	codes := make([]uint8, c.rows*c.padded)
	payload, table, dst := gp.place(c.rows*rowBytes-gap, 1), gt.int8s(16), gd.int8s(len(codes))
	for i := range codes {
		codes[i] = uint8(r.UintN(1 << width))
	}
	for i := range table {
		table[i] = int8(r.Uint32())
	}
	for row := range c.rows {
		PackCodes(payload[row*rowBytes:], codes[row*c.padded:(row+1)*c.padded], width)
	}
	noFault(t, func() { s.Unpack[width](dst, payload, rowBytes, c.padded, c.rows, table) })
	for i, code := range codes {
		want := int8(int(code) - 1<<(width-1))
		if width <= 4 {
			want = table[code]
		}
		if dst[i] != want {
			t.Fatalf("Unpack[%d](%s, gap %d): channel %d of row %d, code %d, = %d; want %d",
				width, c, gap, i%c.padded, i/c.padded, code, dst[i], want)
		}
	}
}

// FuzzTile reads rows from raw bytes and scores them with a query made of the
// same bytes; every Set must give the bits of the references.
func FuzzTile(f *testing.F) {
	f.Add(uint8(4), uint8(3), uint8(31), uint8(2), []byte("codes of no particular meaning"))
	f.Add(uint8(3), uint8(4), uint8(8), uint8(1), []byte{0, 255, 128, 127})
	f.Add(uint8(8), uint8(0), uint8(6), uint8(0), []byte{0})
	f.Fuzz(func(t *testing.T, width, units, rows, group uint8, data []byte) {
		if len(data) == 0 {
			return
		}
		bits := int(width%8) + 1
		c := rowsCase{16 * (int(units%20) + 1), int(rows%40) + 1, 16 * (int(group%20) + 1)}
		payload := make([]byte, c.padded*bits/8*c.rows)
		for i := range payload {
			payload[i] = data[i%len(data)]
		}
		table := make([]int8, 16)
		for i := range table {
			table[i] = int8(data[(i+1)%len(data)])
		}
		var want tileResult
		for i, s := range All() {
			got := readTile(s, c, bits, payload, table, data)
			if i == 0 {
				want = got
			}
			if !slices.Equal(got.codes, want.codes) || !sameBits(got.scores, want.scores) {
				t.Errorf("%s: %d bits, %s: codes or scores differ from the references",
					s.Name, bits, c)
			}
		}
	})
}

// tileResult is what reading and scoring a tile leaves.
type tileResult struct {
	codes  []int8
	scores []float32
}

func readTile(s Set, c rowsCase, bits int, payload []byte, table []int8, data []byte) tileResult {
	to := tileResult{make([]int8, c.rows*c.padded), make([]float32, c.rows)}
	s.Unpack[bits](to.codes, payload, c.padded*bits/8, c.padded, c.rows, table)
	query, factors := make([]float32, c.padded), make([]float32, c.rows*c.groups())
	for i := range query {
		query[i] = float32(data[i%len(data)]) - 100
	}
	for i := range factors {
		factors[i] = float32(data[i%len(data)]) / 16
	}
	ng := c.groups()
	q, scale, sum := make([]int8, c.padded), make([]float32, ng), make([]float32, ng)
	s.QuantizeQuery(q, scale, sum, query, c.group)
	s.Score(to.scores, to.codes, c.padded, c.rows, q, scale, sum, factors, factors, c.group)
	return to
}

// ---- Score

// scoreCase is a query with rows to score; minima is nil or like scales.
type scoreCase struct {
	rowsCase
	codes, q             []int8
	qScale, qSum         []float32
	scales, minima, prev []float32
}

func newScoreCase(r *rand.Rand, shape rowsCase, withMinima bool) *scoreCase {
	ng := shape.groups()
	c := &scoreCase{
		rowsCase: shape,
		codes:    make([]int8, shape.rows*shape.padded), q: make([]int8, shape.padded),
		qScale: normalFloats(r, ng), qSum: normalFloats(r, ng),
		scales: normalFloats(r, ng*shape.rows), prev: normalFloats(r, shape.rows),
	}
	if withMinima {
		c.minima = normalFloats(r, ng*shape.rows)
	}
	// Every few cases all operands are at the ends of their ranges.
	extreme := r.IntN(4) == 0
	for i := range c.codes {
		c.codes[i] = int8(r.Uint32())
		if extreme {
			c.codes[i] = -128
		}
	}
	for i := range c.q {
		c.q[i] = int8(r.IntN(255) - 127)
		if extreme {
			c.q[i] = int8(127 - i/32%2*254)
		}
	}
	return c
}

// run scores rows [from, to).
func (c *scoreCase) run(score func(scores []float32, codes []int8, padded, rows int,
	q []int8, qScale, qSum, scales, minima []float32, group int), scores []float32, from, to int) {
	ng := c.groups()
	minima := c.minima
	if minima != nil {
		minima = minima[from*ng : to*ng]
	}
	score(scores[from:to], c.codes[from*c.padded:to*c.padded], c.padded, to-from,
		c.q, c.qScale, c.qSum, c.scales[from*ng:to*ng], minima, c.group)
}

// exact is the score of one row in float64 with what a float32 sum may be off.
func (c *scoreCase) exact(row int) (score, bound float64) {
	score = float64(c.prev[row])
	size, ng := math.Abs(score), c.groups()
	for g := range ng {
		dot := 0
		for i := g * c.group; i < min((g+1)*c.group, c.padded); i++ {
			dot += int(c.q[i]) * int(c.codes[row*c.padded+i])
		}
		term := float64(c.qScale[g]) * float64(c.scales[row*ng+g]) * float64(dot)
		score, size = score+term, size+math.Abs(term)
		if c.minima != nil {
			term = float64(c.minima[row*ng+g]) * float64(c.qSum[g])
			score, size = score+term, size+math.Abs(term)
		}
	}
	return score, float64(2*ng+3) * 0x1p-24 * size
}

func TestScore(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		var g [7]*guarded
		for i := range g {
			g[i] = newGuarded(t, 34*1024)
		}
		for i, shape := range rowsCases() {
			for _, withMinima := range []bool{false, true} {
				r := newRand(uint64(i))
				c := newScoreCase(r, shape, withMinima)
				want := slices.Clone(c.prev)
				c.run(Score, want, 0, c.rows)
				for row, v := range want {
					exact, bound := c.exact(row)
					if !(math.Abs(float64(v)-exact) <= bound) {
						t.Fatalf("reference (%s): row %d = %g; want %g ± %.2g",
							c, row, v, exact, bound)
					}
				}
				c.guard(g)
				checkScore(t, r, s, c, g[6], want)
			}
		}
	})
}

// guard moves the operands between guard pages.
func (c *scoreCase) guard(g [7]*guarded) {
	codes, q := g[0].int8s(len(c.codes)), g[1].int8s(len(c.q))
	copy(codes, c.codes)
	copy(q, c.q)
	c.codes, c.q = codes, q
	c.qScale, c.qSum = g[2].floatsOf(c.qScale), g[3].floatsOf(c.qSum)
	c.scales = g[4].floatsOf(c.scales)
	if c.minima != nil {
		c.minima = g[5].floatsOf(c.minima)
	}
}

// checkScore scores all rows at once, then in parts.
func checkScore(t *testing.T, r *rand.Rand, s Set, c *scoreCase, g *guarded, want []float32) {
	t.Helper()
	for _, ends := range [][]int{{c.rows}, cuts(r, c.rows)} {
		got, from := g.floatsOf(c.prev), 0
		for _, to := range ends {
			noFault(t, func() { c.run(s.Score, got, from, to) })
			from = to
		}
		if !sameBits(got, want) {
			t.Fatalf("Score(%s, minima: %v) in parts up to %d = %v; want %v",
				c, c.minima != nil, ends, got, want)
		}
	}
}

// ---- Mix, AxpyRows, DotRows

// checkWeighted holds out against before + Σ_r term(r, c) within the bound of
// Set.Mix.
func checkWeighted(t *testing.T, what string, out, before []float32, rows int,
	term func(r, c int) float64) {
	t.Helper()
	for c, v := range out {
		want := float64(before[c])
		size := math.Abs(want)
		for r := range rows {
			want += term(r, c)
			size += math.Abs(term(r, c))
		}
		if bound := float64(rows+1) * 0x1p-23 * size; !(math.Abs(float64(v)-want) <= bound) {
			t.Fatalf("%s: channel %d = %g; want %g ± %.2g", what, c, v, want, bound)
		}
	}
}

func TestMix(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		g, gw, gout := newGuarded(t, 33*1024), newGuarded(t, 4*33*64), newGuarded(t, 4*1024)
		for i, c := range rowsCases() {
			r, ng := newRand(uint64(i)), c.groups()
			codes, w := g.int8s(c.rows*c.padded), gw.floatsOf(normalFloats(r, c.rows*ng))
			for i := range codes {
				codes[i] = int8(r.Uint32())
			}
			before := normalFloats(r, c.padded)
			whole := gout.floatsOf(before)
			noFault(t, func() { s.Mix(whole, codes, c.padded, c.rows, w, c.group) })
			checkWeighted(t, fmt.Sprintf("Mix(%s)", c), whole, before, c.rows,
				func(r, i int) float64 {
					return float64(w[r*ng+i/c.group]) * float64(codes[r*c.padded+i])
				})
			parts, from := slices.Clone(before), 0
			for _, to := range cuts(r, c.rows) {
				s.Mix(parts, codes[from*c.padded:], c.padded, to-from, w[from*ng:], c.group)
				from = to
			}
			if !sameBits(parts, whole) {
				t.Fatalf("Mix(%s) in parts = %v; want %v", c, parts, whole)
			}
		}
	})
}

// floatRowsCases give the length of a row and what lies between two.
func floatRowsCases() (cases []struct{ n, gap, rows int }) {
	lengths := []int{64, 65, 72, 79, 80, 96, 127, 128, 129, 143, 144, 256, 257}
	for n := 1; n <= 34; n++ {
		lengths = append(lengths, n)
	}
	counts := []int{1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33}
	if testing.Short() {
		counts = []int{1, 7, 8, 9, 32}
	}
	for _, n := range lengths {
		for _, gap := range []int{0, 1, 5} {
			for _, rows := range counts {
				cases = append(cases, struct{ n, gap, rows int }{n, gap, rows})
			}
		}
	}
	return cases
}

func TestAxpyRows(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		gx, gw, gout := newGuarded(t, 4*33*262), newGuarded(t, 4*33), newGuarded(t, 4*257)
		for i, c := range floatRowsCases() {
			r, stride := newRand(uint64(i)), c.n+c.gap
			x := gx.floatsOf(normalFloats(r, c.rows*stride-c.gap))
			w, before := gw.floatsOf(normalFloats(r, c.rows)), normalFloats(r, c.n)
			whole := gout.floatsOf(before)
			noFault(t, func() { s.AxpyRows(whole, w, x, stride, c.rows) })
			checkWeighted(t, fmt.Sprintf("AxpyRows(%+v)", c), whole, before, c.rows,
				func(r, i int) float64 { return float64(w[r]) * float64(x[r*stride+i]) })
			parts, from := slices.Clone(before), 0
			for _, to := range cuts(r, c.rows) {
				s.AxpyRows(parts, w[from:], x[from*stride:], stride, to-from)
				from = to
			}
			if !sameBits(parts, whole) {
				t.Fatalf("AxpyRows(%+v) in parts = %v; want %v", c, parts, whole)
			}
		}
	})
}

func TestDotRows(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		gx, gq, gs := newGuarded(t, 4*33*262), newGuarded(t, 4*257), newGuarded(t, 4*33)
		for i, c := range floatRowsCases() {
			r, stride := newRand(uint64(i)), c.n+c.gap
			x := gx.floatsOf(normalFloats(r, c.rows*stride-c.gap))
			q, whole := gq.floatsOf(normalFloats(r, c.n)), gs.floats(c.rows)
			noFault(t, func() { s.DotRows(whole, x, stride, c.rows, q) })
			for row, v := range whole {
				var want, size float64
				for i, qv := range q {
					product := float64(qv) * float64(x[row*stride+i])
					want, size = want+product, size+math.Abs(product)
				}
				if bound := float64(c.n) * 0x1p-23 * size; !(math.Abs(float64(v)-want) <= bound) {
					t.Fatalf("DotRows(%+v): row %d = %g; want %g ± %.2g", c, row, v, want, bound)
				}
			}
			parts, from := make([]float32, c.rows), 0
			for _, to := range cuts(r, c.rows) {
				s.DotRows(parts[from:], x[from*stride:], stride, to-from, q)
				from = to
			}
			if !sameBits(parts, whole) {
				t.Fatalf("DotRows(%+v) in parts = %v; want %v", c, parts, whole)
			}
		}
	})
}

// TestNoRows: nothing is read or written where there are no rows or channels.
func TestNoRows(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		out, scores := []float32{1, 2}, []float32{3, 4}
		for bits := 1; bits <= 8; bits++ {
			s.Unpack[bits](nil, nil, 0, 64, 0, make([]int8, 16))
		}
		s.Score(nil, nil, 64, 0, make([]int8, 64), []float32{1}, nil, nil, nil, 64)
		s.Mix(out, nil, 64, 0, nil, 64)
		s.AxpyRows(out, nil, nil, 2, 0)
		s.DotRows(scores[:0], nil, 2, 0, out)
		s.DotRows(scores[:1], nil, 0, 1, nil)
		s.QuantizeQuery(nil, nil, nil, nil, 32)
		s.Walsh(nil, 64)
		if sum := s.ExpSum(nil, 0); sum != 0 {
			t.Errorf("ExpSum of nothing = %g; want 0", sum)
		}
		if out[0] != 1 || out[1] != 2 || scores[0] != 0 || scores[1] != 4 {
			t.Errorf("out = %v, scores = %v; want [1 2], [0 4]", out, scores)
		}
	})
}

// TestManyRows: a Set may cut long runs of rows, and must not lose the pieces.
func TestManyRows(t *testing.T) {
	const padded, rows = 64, 5003
	r := newRand(8)
	codes, scales := make([]int8, rows*padded), make([]float32, rows)
	x, packed := make([]float32, rows*padded), make([]byte, rows*padded)
	for i := range codes {
		packed[i] = byte(r.Uint32())
		codes[i] = int8(packed[i] - 128)
		x[i] = float32(codes[i])
	}
	for i := range scales {
		scales[i] = float32(r.IntN(9) - 4) // sums of these are exact
	}
	q, one := make([]int8, padded), []float32{1}
	qf := make([]float32, padded)
	for i := range q {
		q[i] = int8(r.IntN(255) - 127)
		qf[i] = float32(q[i])
	}
	wantDots, wantMix := make([]float32, rows), make([]float32, padded)
	DotRows(wantDots, x, padded, rows, qf)
	AxpyRows(wantMix, scales, x, padded, rows)
	eachSet(t, func(t *testing.T, s Set) {
		unpacked := make([]int8, len(codes))
		s.Unpack[8](unpacked, packed, padded, padded, rows, nil)
		if !slices.Equal(unpacked, codes) {
			t.Error("Unpack of many rows differs")
		}
		dots, mix, axpy := make([]float32, rows), make([]float32, padded), make([]float32, padded)
		s.DotRows(dots, x, padded, rows, qf)
		s.Mix(mix, codes, padded, rows, scales, padded)
		s.AxpyRows(axpy, scales, x, padded, rows)
		if !slices.Equal(dots, wantDots) {
			t.Error("DotRows of many rows differs")
		}
		if !slices.Equal(mix, wantMix) || !slices.Equal(axpy, wantMix) {
			t.Error("Mix or AxpyRows of many rows differs")
		}
		scores := make([]float32, rows)
		s.Score(scores, codes, padded, rows, q, one, nil, scales, nil, padded)
		for i, v := range scores {
			if v != scales[i]*wantDots[i] {
				t.Fatalf("Score of many rows: row %d = %g; want %g", i, v, scales[i]*wantDots[i])
			}
		}
	})
}

// ---- QuantizeQuery

func TestQuantizeQuery(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		gq, gd := newGuarded(t, 4*1024), newGuarded(t, 1024)
		gscale, gsum := newGuarded(t, 4*64), newGuarded(t, 4*64)
		for _, c := range rowsCases() {
			if c.rows != 1 {
				continue
			}
			for name, fill := range quantizeCases {
				q := gq.floats(c.padded)
				fill(newRand(uint64(c.padded)), q)
				ng := c.groups()
				dst, scale, sum := gd.int8s(c.padded), gscale.floats(ng), gsum.floats(ng)
				noFault(t, func() { s.QuantizeQuery(dst, scale, sum, q, c.group) })
				codes := make([]int8, c.padded)
				scales, sums := make([]float32, ng), make([]float32, ng)
				QuantizeQuery(codes, scales, sums, q, c.group)
				if !slices.Equal(dst, codes) || !sameBits(scale, scales) || !sameBits(sum, sums) {
					t.Fatalf("QuantizeQuery(%s, %s) = %v %v %v; want %v %v %v", name, c,
						dst, scale, sum, codes, scales, sums)
				}
			}
		}
	})
}

// TestQuantizeQueryIsQuantizeRow: in groups of 32 the two have one formula.
func TestQuantizeQueryIsQuantizeRow(t *testing.T) {
	const n = 256
	for name, fill := range quantizeCases {
		q, row := make([]float32, n), make([]byte, Int8RowBytes(n))
		fill(newRand(1), q)
		QuantizeRow(row, q)
		codes, scales, sums := Int8Row(row, n)
		dst, scale, sum := make([]int8, n), make([]float32, n/32), make([]float32, n/32)
		QuantizeQuery(dst, scale, sum, q, 32)
		for i, code := range dst {
			if code != int8(codes[i]) {
				t.Fatalf("%s: code %d = %d; want %d", name, i, code, int8(codes[i]))
			}
		}
		for g := range scale {
			if scale[g] != f32At(scales[4*g:]) || sum[g] != f32At(sums[4*g:]) {
				t.Fatalf("%s: group %d has scale %g, sum %g; want %g, %g",
					name, g, scale[g], sum[g], f32At(scales[4*g:]), f32At(sums[4*g:]))
			}
		}
	}
}

// ---- Walsh

// TestWalshIsTheMatrix holds the reference against the sum it stands for, entry
// (i, j) being −1 where i and j share an odd number of bits.
func TestWalshIsTheMatrix(t *testing.T) {
	for n := 1; n <= 256; n *= 2 {
		x := normalFloats(newRand(uint64(n)), n)
		got := slices.Clone(x)
		Walsh(got, n)
		rotated := slices.Clone(x)
		NewRotation(n).Apply(rotated)
		for i, v := range got {
			var want, size float64
			for j, w := range x {
				want += float64(w) * float64(1-2*(bits.OnesCount(uint(i&j))&1))
				size += math.Abs(float64(w))
			}
			root := math.Sqrt(float64(n))
			if !(math.Abs(float64(v)-want/root) <= 0x1p-20*size/root) || v != rotated[i] {
				t.Fatalf("Walsh(n=%d): x[%d] = %g; want %g, as Rotation: %g",
					n, i, v, want/root, rotated[i])
			}
		}
	}
}

func TestWalsh(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		g := newGuarded(t, 4*70000)
		for n := 1; n <= 1024; n *= 2 {
			for _, blocks := range []int{1, 2, 3, 5, 66000 / n} {
				x := normalFloats(newRand(uint64(n+blocks)), n*blocks)
				x[0] = float32(math.Copysign(0, -1))
				want, got := slices.Clone(x), g.floatsOf(x)
				Walsh(want, n)
				noFault(t, func() { s.Walsh(got, n) })
				if !sameBits(got, want) {
					t.Fatalf("Walsh(n=%d, %d blocks) differs from the reference", n, blocks)
				}
			}
		}
	})
}

// ---- ExpSum, Max

func TestExpSum(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	edges := []float32{0, -1e-30, 1e-30, -87.3, -87.4, -103.9, -103.98, -104, -1e30, -inf,
		88.7, 88.8, inf, nan, -0.5, 0.5, 1}
	eachSet(t, func(t *testing.T, s Set) {
		g, r := newGuarded(t, 4*40000), newRand(9)
		for _, n := range append(vectorLengths(), 40000) {
			for _, largest := range []float32{0, 3.25, -1} {
				x := normalFloats(r, n)
				for i := range x {
					x[i] *= 25
				}
				for range n / 40 {
					x[r.IntN(n)] = edges[r.IntN(len(edges))]
				}
				checkExpSum(t, s, g, x, largest)
			}
		}
		for i := range edges {
			checkExpSum(t, s, g, edges[i:i+1], 0)
		}
		checkExpSum(t, s, g, edges, 0)
	})
}

func checkExpSum(t *testing.T, s Set, g *guarded, x []float32, largest float32) {
	t.Helper()
	var partial [8]float32
	want := make([]float32, len(x))
	for i, v := range x {
		want[i] = Exp(v - largest)
		partial[i%8] += want[i]
	}
	wantSum := ((partial[0] + partial[4]) + (partial[2] + partial[6])) +
		((partial[1] + partial[5]) + (partial[3] + partial[7]))
	got := g.floatsOf(x)
	var sum float32
	noFault(t, func() { sum = s.ExpSum(got, largest) })
	for i, v := range got {
		if math.Float32bits(v) != math.Float32bits(want[i]) && !bothNaN(v, want[i]) {
			t.Fatalf("ExpSum: e^(%g−%g) = %g; want %g", x[i], largest, v, want[i])
		}
	}
	if sum != wantSum && !bothNaN(sum, wantSum) {
		t.Fatalf("ExpSum(n=%d, largest=%g) = %g; want %g", len(x), largest, sum, wantSum)
	}
}

func TestMax(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		g, r := newGuarded(t, 4*40000), newRand(10)
		for _, n := range append(vectorLengths(), 40000) {
			x := g.floatsOf(normalFloats(r, n))
			want := float32(math.Inf(-1))
			for i := range x {
				switch r.IntN(20) {
				case 0:
					x[i] = float32(math.NaN())
				case 1:
					x[i] = float32(math.Inf(-1))
				}
				if x[i] > want {
					want = x[i]
				}
			}
			if n > 3 { // the largest is everywhere once, also in a tail
				x[r.IntN(n)] = 1e9
				want = 1e9
			}
			var got float32
			noFault(t, func() { got = s.Max(x) })
			if got != want {
				t.Fatalf("Max(n=%d) = %g; want %g", n, got, want)
			}
		}
	})
}

// ---- Allocations

// addTileOps adds one call of each function of this file's subject to ops.
func addTileOps(ops map[string]func(), s Set) {
	const padded, rows, group = 80, 13, 32
	const ng = (padded + group - 1) / group
	codes, q, table := make([]int8, rows*padded), make([]int8, padded), make([]int8, 16)
	payload, x := make([]byte, rows*padded), make([]float32, rows*padded)
	scores, out, w := make([]float32, rows), make([]float32, padded), make([]float32, rows*ng)
	scale, sum := make([]float32, ng), make([]float32, ng)
	for bits := 1; bits <= 8; bits++ {
		ops[fmt.Sprintf("Unpack[%d]", bits)] = func() {
			s.Unpack[bits](codes, payload, padded*bits/8, padded, rows, table)
		}
	}
	ops["Score"] = func() {
		s.Score(scores, codes, padded, rows, q, scale, sum, w, w, group)
		s.Score(scores, codes, padded, 3, q, scale, sum, w, nil, group)
	}
	ops["Mix"] = func() { s.Mix(out, codes, padded, rows, w, group) }
	ops["DotRows"] = func() {
		s.DotRows(scores, x, padded, rows, out)
		s.DotRows(scores, x, padded, 3, out)
	}
	ops["AxpyRows"] = func() { s.AxpyRows(out, w, x, padded, rows) }
	ops["QuantizeQuery"] = func() { s.QuantizeQuery(q, scale, sum, out, group) }
	ops["Walsh"] = func() { s.Walsh(out, 16) }
	ops["ExpSum"] = func() { scores[0] = s.ExpSum(x, 0) }
	ops["Max"] = func() { scores[0] = s.Max(x) }
}
