package kernels

// One body of tests for every Set this machine has. Products are held against
// float64 arithmetic on weights that this file de-quantizes by itself; the
// other operations against the references.

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/x448/float16"
)

// eachSet runs one test body for every Set of this CPU, by name.
func eachSet(t *testing.T, body func(t *testing.T, s Set)) {
	for _, s := range All() {
		t.Run(s.Name, func(t *testing.T) { body(t, s) })
	}
}

func TestSetsAreComplete(t *testing.T) {
	sets := All()
	if sets[0].Name != "generic" {
		t.Errorf("All()[0].Name = %q; want generic", sets[0].Name)
	}
	seen := map[string]bool{}
	for _, s := range sets {
		if s.Name == "" || seen[s.Name] {
			t.Errorf("set name %q is empty or used twice", s.Name)
		}
		seen[s.Name] = true
		if hole := holeIn(s); hole != "" {
			t.Errorf("%s has no %s", s.Name, hole)
		}
		if got, err := ByName(s.Name); err != nil || got.Name != s.Name {
			t.Errorf("ByName(%q) = %q, %v", s.Name, got.Name, err)
		}
	}
	if got, err := ByName("auto"); err != nil || got.Name != Best().Name {
		t.Errorf("ByName(auto) = %q, %v; want %q", got.Name, err, Best().Name)
	}
	if _, err := ByName("mmx"); err == nil {
		t.Error("ByName(mmx) found a set")
	}
	t.Logf("sets of this CPU: %v; guard pages: %v", Names(), guardPages)
}

// holeIn names a function that s lacks; there are no codes of 0 bits.
func holeIn(s Set) string {
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		switch field.Kind() {
		case reflect.Func:
			if field.IsNil() {
				return name
			}
		case reflect.Array:
			for j := range field.Len() {
				if field.Index(j).IsNil() && !(name == "Unpack" && j == 0) {
					return fmt.Sprintf("%s[%d]", name, j)
				}
			}
		}
	}
	return ""
}

// ---- Quantize

func TestQuantize(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		r := newRand(1)
		g := newGuarded(t, Int8RowBytes(2048))
		gx := newGuarded(t, 4*2048)
		for _, cols := range []int{32, 64, 96, 128, 160, 288, 576, 1536, 2048} {
			for name, fill := range quantizeCases {
				x := gx.floats(cols)
				fill(r, x)
				checkQuantize(t, s, g, x, name)
			}
		}
	})
}

// quantizeCases fill one row; each case aims at one rule of the formula.
var quantizeCases = map[string]func(r *rand.Rand, x []float32){
	"normal": func(r *rand.Rand, x []float32) { fillNormal(r, x, 1) },
	"outlier": func(r *rand.Rand, x []float32) {
		fillNormal(r, x, 1)
		for i := r.IntN(7); i < len(x); i += 29 {
			x[i] *= 500
		}
	},
	"zero":     func(_ *rand.Rand, x []float32) { clear(x) },
	"negative": func(_ *rand.Rand, x []float32) { fillWith(x, -3) },
	"signed zero": func(_ *rand.Rand, x []float32) {
		fillWith(x, float32(math.Copysign(0, -1)))
		x[0] = -1
	},
	"ties": func(r *rand.Rand, x []float32) {
		for i := range x { // scale 1, so these lie half way between two codes
			x[i] = float32(r.IntN(254)-127) + 0.5
		}
		for i := 0; i < len(x); i += BlockValues {
			x[i] = 127
		}
	},
	"around the smallest scale": func(r *rand.Rand, x []float32) {
		for i := range x {
			block := float32(i/BlockValues%5) - 2
			x[i] = minQuantAmax * (1 + block*0x1p-23) * float32(r.IntN(3)-1)
		}
	},
	"denormal": func(r *rand.Rand, x []float32) {
		for i := range x {
			x[i] = math.Float32frombits(r.Uint32N(1 << 22))
		}
	},
	"huge": func(r *rand.Rand, x []float32) {
		for i := range x {
			x[i] = math.MaxFloat32 * (2*r.Float32() - 1)
		}
		x[0] = -math.MaxFloat32
	},
	"all magnitudes": func(r *rand.Rand, x []float32) {
		for i := range x {
			x[i] = float32(math.Ldexp(r.NormFloat64(), r.IntN(60)-30))
		}
	},
}

func checkQuantize(t *testing.T, s Set, g *guarded, x []float32, name string) {
	t.Helper()
	cols := len(x)
	want := make([]byte, Int8RowBytes(cols))
	dst := g.place(len(want), 1)
	for i := range dst {
		dst[i], want[i] = 0xa5, 0xa5
	}
	QuantizeRow(want, x)
	noFault(t, func() { s.Quantize(dst, x) })
	for i := range want {
		if dst[i] != want[i] {
			t.Fatalf("Quantize(%s, cols=%d): byte %d = %#x; want %#x (codes end at %d)",
				name, cols, i, dst[i], want[i], cols)
		}
	}
}

// ---- Products

// The largest product of the tests; every smaller one is cut from it.
const (
	maxRows   = 41
	maxTokens = 38
)

// The rows and tokens of a cut: below, at and above the unrolls of any Set.
var cutSizes = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33}

// productCols are the columns of a format's cases, around the unrolls.
func productCols(f Format) []int {
	if values, _ := f.Block(); values == SuperBlockValues {
		return []int{256, 512, 768, 1536}
	}
	if f.Int8Input() {
		return []int{32, 64, 96, 128, 576, 1536}
	}
	cols := []int{95, 96, 127, 128, 576, 577}
	for c := 1; c <= 70; c++ {
		cols = append(cols, c)
	}
	return cols
}

// TestProduct holds whole products against float64 and cuts of them against
// the whole. The reference, which goes value by value, need not show that for
// long rows.
func TestProduct(t *testing.T) {
	for f := range NumFormats {
		for _, cols := range productCols(f) {
			r := newRand(uint64(f)<<32 | uint64(cols))
			c := newProductCase(f, maxRows, cols, maxTokens)
			c.fillWeights(r)
			c.fillInput(r)
			exact, bound := c.exact()
			for _, s := range All() {
				whole := checkWhole(t, s, c, exact, bound)
				if (cols > 70 || cols%9 < 2 || f.Int8Input()) &&
					(s.Name != "generic" || cols <= SuperBlockValues) {
					checkCuts(t, s, c, whole)
				}
			}
		}
	}
}

// productCase is one pair of operands: w [rows][RowBytes(cols)], x [tokens]
// rows xStride bytes apart with rubbish in the gaps.
type productCase struct {
	format             Format
	rows, cols, tokens int
	w, x               []byte
	xStride            int
}

func newProductCase(f Format, rows, cols, tokens int) *productCase {
	c := &productCase{format: f, rows: rows, cols: cols, tokens: tokens}
	c.xStride = f.InputBytes(cols) + 64
	c.w = make([]byte, rows*f.RowBytes(cols))
	c.x = make([]byte, tokens*c.xStride)
	return c
}

func (c *productCase) String() string {
	return fmt.Sprintf("%s %d×%d, %d tokens", c.format, c.rows, c.cols, c.tokens)
}

// fillWeights draws weights as models have them.
func (c *productCase) fillWeights(r *rand.Rand) {
	_, size := c.format.Block()
	for at := 0; at < len(c.w); at += size {
		block := c.w[at : at+size]
		switch c.format {
		case F32:
			putF32(block, float32(r.NormFloat64()))
		case F16:
			binary.LittleEndian.PutUint16(block, halfOf(r.NormFloat64()))
		case BF16:
			v := math.Float32bits(float32(r.NormFloat64()))
			binary.LittleEndian.PutUint16(block, uint16(v>>16))
		default:
			for i := range block {
				block[i] = byte(r.Uint32())
			}
			scale, minimum := halfPlaces(c.format)
			binary.LittleEndian.PutUint16(block[scale:], halfOf(0.01*r.NormFloat64()))
			if minimum >= 0 {
				binary.LittleEndian.PutUint16(block[minimum:], halfOf(0.1*r.NormFloat64()))
			}
		}
	}
}

// fillInput draws activations, some of them outliers.
func (c *productCase) fillInput(r *rand.Rand) {
	for t := range c.tokens {
		x := make([]float32, c.cols)
		fillNormal(r, x, 1)
		x[r.IntN(c.cols)] *= 30
		c.setInput(t, x)
	}
}

// setInput stores x as activation row t; the gap behind it is poisoned.
func (c *productCase) setInput(t int, x []float32) {
	row := c.x[t*c.xStride : (t+1)*c.xStride]
	for i := range row {
		row[i] = 0xff
	}
	if c.format.Int8Input() {
		QuantizeRow(row, x)
	} else {
		copy(row, asBytes(x))
	}
}

// exact returns, for [tokens][rows], the product in float64 and the bound
// that Set.Product promises, with the magnitudes of the two terms of an affine
// weight added up separately because they may cancel.
func (c *productCase) exact() (y, bound []float64) {
	w, magnitude := dequantize(c.format, c.w)
	x := c.input()
	y = make([]float64, c.tokens*c.rows)
	bound = make([]float64, c.tokens*c.rows)
	for t := range c.tokens {
		xt := x[t*c.cols : (t+1)*c.cols]
		for r := range c.rows {
			var sum, sumMagnitude float64
			row := w[r*c.cols : (r+1)*c.cols]
			rowMagnitude := magnitude[r*c.cols : (r+1)*c.cols]
			for i, v := range row {
				sum += v * xt[i]
				sumMagnitude += rowMagnitude[i] * math.Abs(xt[i])
			}
			y[t*c.rows+r] = sum
			bound[t*c.rows+r] = float64(c.cols) * (0x1p-23*sumMagnitude + 0x1p-148)
		}
	}
	return y, bound
}

// input returns the activations as values, [tokens][cols].
func (c *productCase) input() []float64 {
	var x []float64
	for t := range c.tokens {
		row := c.x[t*c.xStride:]
		codes, scales, _ := Int8Row(row[:c.format.InputBytes(c.cols)], c.cols/BlockValues*BlockValues)
		for i := range c.cols {
			if c.format.Int8Input() {
				x = append(x, float64(int8(codes[i]))*float64(f32At(scales[i/BlockValues*4:])))
			} else {
				x = append(x, float64(f32At(row[4*i:])))
			}
		}
	}
	return x
}

// dequantize expands weight blocks to values, written from the formats'
// definition and not from the references. magnitude is |d·q| + |m|.
func dequantize(f Format, data []byte) (values, magnitude []float64) {
	n, size := f.Block()
	for ; len(data) > 0; data = data[size:] {
		for i := range n {
			v, offset := blockValue(f, data[:size], i)
			values = append(values, v+offset)
			magnitude = append(magnitude, math.Abs(v)+math.Abs(offset))
		}
	}
	return values, magnitude
}

// blockValue gives the two terms of weight i of a block.
func blockValue(f Format, block []byte, i int) (v, offset float64) {
	half := func(at int) float64 {
		return float64(float16.Frombits(binary.LittleEndian.Uint16(block[at:])).Float32())
	}
	nibble := func(from int) float64 {
		return float64(block[from+i%16] >> (i / 16 * 4) & 15)
	}
	switch f {
	case F32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(block))), 0
	case F16:
		return half(0), 0
	case BF16:
		bits := uint32(binary.LittleEndian.Uint16(block)) << 16
		return float64(math.Float32frombits(bits)), 0
	case Q8_0:
		return half(0) * float64(int8(block[2+i])), 0
	case Q4_0:
		return half(0) * (nibble(2) - 8), 0
	case Q4_1:
		return half(0) * nibble(4), half(2)
	}
	return codeBlockValue(f, block, i)
}

// checkWhole runs the case in one call and holds it against float64.
func checkWhole(t *testing.T, s Set, c *productCase, exact, bound []float64) []float32 {
	t.Helper()
	y := make([]float32, c.tokens*c.rows)
	fillCanary(y)
	s.Product[c.format](y, c.rows, c.w, c.x, c.xStride, c.rows, c.cols, c.tokens)
	for i, v := range y {
		if !(math.Abs(float64(v)-exact[i]) <= bound[i]) {
			t.Fatalf("%s: Product(%s): y[token %d][row %d] = %g; want %g ± %.2g",
				s.Name, c, i/c.rows, i%c.rows, v, exact[i], bound[i])
		}
	}
	return y
}

// checkCuts computes parts of the case on guarded operands: every element must
// have the bits it has in the whole, and nothing else may change.
func checkCuts(t *testing.T, s Set, c *productCase, whole []float32) {
	t.Helper()
	r := newRand(uint64(c.cols))
	rowBytes, inputBytes := c.format.RowBytes(c.cols), c.format.InputBytes(c.cols)
	gw := newGuarded(t, c.rows*rowBytes)
	gx := newGuarded(t, c.tokens*c.xStride)
	gy := newGuarded(t, 4*c.tokens*(c.rows+9))
	for _, rows := range cutSizes {
		for _, tokens := range cutSizes {
			row, token := r.IntN(c.rows-rows+1), r.IntN(c.tokens-tokens+1)
			w := gw.copyOf(c.w[row*rowBytes:(row+rows)*rowBytes], 2)
			last := (token+tokens-1)*c.xStride + inputBytes
			x := gx.copyOf(c.x[token*c.xStride:last], 4)
			yStride := rows + r.IntN(9)
			y := gy.floats((tokens-1)*yStride + rows)
			noFault(t, func() {
				s.Product[c.format](y, yStride, w, x, c.xStride, rows, c.cols, tokens)
			})
			for i, v := range y {
				want := canary
				if i%yStride < rows {
					want = whole[(token+i/yStride)*c.rows+row+i%yStride]
				}
				if math.Float32bits(v) != math.Float32bits(want) {
					t.Fatalf("%s: Product(%s cols=%d rows=%d+%d tokens=%d+%d yStride=%d): "+
						"y[%d] = %g (%#x); want %g (%#x)", s.Name, c.format, c.cols, row, rows,
						token, tokens, yStride, i, v, math.Float32bits(v),
						want, math.Float32bits(want))
				}
			}
		}
	}
}

// TestLargeProduct is large enough for every way in which a Set slices its own
// work: by bytes of weights, by tokens, by columns. Pieces of odd sizes must have
// the bits of the whole.
func TestLargeProduct(t *testing.T) {
	for f := range NumFormats {
		values, _ := f.Block()
		for _, size := range []struct{ rows, cols, tokens int }{{301, 1536, 3}, {37, 64, 150}} {
			r := newRand(uint64(f))
			c := newProductCase(f, size.rows, max(size.cols, values), size.tokens)
			c.fillWeights(r)
			c.fillInput(r)
			exact, bound := c.exact()
			for _, s := range All() {
				whole := checkWhole(t, s, c, exact, bound)
				y := make([]float32, c.rows)
				for token := range c.tokens {
					x := c.x[token*c.xStride:]
					for row := 0; row < c.rows; row += 23 {
						n := min(23, c.rows-row)
						w := c.w[row*f.RowBytes(c.cols):]
						s.Product[f](y[row:], c.rows, w, x, c.xStride, n, c.cols, 1)
					}
					for row, v := range y {
						if want := whole[token*c.rows+row]; v != want {
							t.Fatalf("%s: Product(%s): token %d alone, row %d = %g; want %g",
								s.Name, c, token, row, v, want)
						}
					}
				}
			}
		}
	}
}

// TestProductOfNothing: no rows, no tokens or no columns touch nothing, or give zero.
func TestProductOfNothing(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		for f, product := range s.Product {
			y := []float32{canary, canary}
			product(y, 2, nil, make([]byte, 64), 64, 0, 0, 1)
			cols := SuperBlockValues
			product(y, 2, make([]byte, 2*Format(f).RowBytes(cols)), nil, 0, 2, cols, 0)
			if !isCanary(y[0]) || !isCanary(y[1]) {
				t.Errorf("%s wrote into an empty product", Format(f))
			}
			product(y, 2, nil, make([]byte, 64), 0, 2, 0, 1)
			if y[0] != 0 || y[1] != 0 {
				t.Errorf("%s over no columns = %v; want zeros", Format(f), y)
			}
		}
	})
}

// TestProductExtremes uses the codes and scales at the ends of their ranges:
// integer sums must not saturate, tiny scales must not vanish.
func TestProductExtremes(t *testing.T) {
	scales := map[string]uint16{
		"one": 0x3c00, "largest": 0x7bff, "smallest denormal": 0x0001,
		"largest denormal": 0x83ff, "zero": 0, "minus zero": 0x8000,
	}
	inputs := map[string]func(i int) float32{
		"all highest": func(int) float32 { return 127 },
		"all lowest":  func(int) float32 { return -127 },
		"alternating": func(i int) float32 { return float32(127 - i%2*254) },
		"pairs":       func(i int) float32 { return float32(127 - i/2%2*254) },
		"zero":        func(int) float32 { return 0 },
	}
	for f := Q8_0; f < NumFormats; f++ {
		values, _ := f.Block()
		for _, code := range []byte{0x00, 0x7f, 0x80, 0x81, 0xff, 0x0f, 0xf0, 0x88} {
			for scaleName, scale := range scales {
				for inputName, input := range inputs {
					c := newProductCase(f, 17, max(96, values), 9)
					c.fillBlocks(code, scale)
					c.fillInputFrom(input)
					exact, bound := c.exact()
					for _, s := range All() {
						y := make([]float32, c.tokens*c.rows)
						s.Product[f](y, c.rows, c.w, c.x, c.xStride, c.rows, c.cols, c.tokens)
						for i, v := range y {
							if !(math.Abs(float64(v)-exact[i]) <= bound[i]) {
								t.Fatalf("%s: Product(%s, codes %#x, scale %s, input %s): "+
									"y[%d] = %g; want %g ± %.2g", s.Name, c, code, scaleName,
									inputName, i, v, exact[i], bound[i])
							}
						}
					}
				}
			}
		}
	}
}

// fillBlocks gives every weight block the same codes and f16 scale; an affine
// minimum is the scale's negative.
func (c *productCase) fillBlocks(code byte, scale uint16) {
	_, size := c.format.Block()
	for at := 0; at < len(c.w); at += size {
		block := c.w[at : at+size]
		for i := range block {
			block[i] = code
		}
		at, minimum := halfPlaces(c.format)
		binary.LittleEndian.PutUint16(block[at:], scale)
		if minimum >= 0 {
			binary.LittleEndian.PutUint16(block[minimum:], scale^0x8000)
		}
	}
}

func (c *productCase) fillInputFrom(input func(i int) float32) {
	x := make([]float32, c.cols)
	for i := range x {
		x[i] = input(i)
	}
	for t := range c.tokens {
		c.setInput(t, x)
	}
}

// TestProductOfInfinity: an infinite or undefined scale in a file spoils its
// own row and no other.
func TestProductOfInfinity(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		for f := F16; f < NumFormats; f++ {
			if f == BF16 {
				continue // has no half to spoil
			}
			values, _ := f.Block()
			place, _ := halfPlaces(f)
			for _, bad := range []uint16{0x7c00, 0xfc00, 0x7e00} {
				r := newRand(uint64(f))
				c := newProductCase(f, 19, max(64, values), 6)
				c.fillWeights(r)
				c.fillInput(r)
				sound := make([]float32, c.rows*c.tokens)
				s.Product[f](sound, c.rows, c.w, c.x, c.xStride, c.rows, c.cols, c.tokens)
				const spoilt = 5
				binary.LittleEndian.PutUint16(c.w[spoilt*f.RowBytes(c.cols)+place:], bad)
				y := make([]float32, c.rows*c.tokens)
				s.Product[f](y, c.rows, c.w, c.x, c.xStride, c.rows, c.cols, c.tokens)
				for i, v := range y {
					finite := !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0)
					if (i%c.rows == spoilt) == finite || i%c.rows != spoilt && v != sound[i] {
						t.Fatalf("Product(%s) with scale %#x in row %d: row %d = %g (was %g)",
							f, bad, spoilt, i%c.rows, v, sound[i])
					}
				}
			}
		}
	})
}

// ---- Vectors

func TestDot(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		r := newRand(2)
		gx, gy := newGuarded(t, 4*1024), newGuarded(t, 4*1024)
		for _, n := range vectorLengths() {
			x, y := gx.floats(n), gy.floats(n)
			fillNormal(r, x, 1)
			fillNormal(r, y, 1)
			var got float32
			noFault(t, func() { got = s.Dot(x, y) })
			var want, magnitude float64
			for i, v := range x {
				want += float64(v) * float64(y[i])
				magnitude += math.Abs(float64(v) * float64(y[i]))
			}
			if bound := float64(n) * 0x1p-23 * magnitude; !(math.Abs(float64(got)-want) <= bound) {
				t.Fatalf("Dot(n=%d) = %g; want %g ± %.2g", n, got, want, bound)
			}
			longer := append(append([]float32{}, y...), canary)
			if again := s.Dot(x, longer); again != got {
				t.Fatalf("Dot(n=%d) with a longer y = %g; want %g", n, again, got)
			}
		}
	})
}

func TestAxpy(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		r := newRand(3)
		gx, gy := newGuarded(t, 4*1024), newGuarded(t, 4*1024)
		for _, n := range vectorLengths() {
			x, y := gx.floats(n), gy.floats(n)
			fillNormal(r, x, 1)
			fillNormal(r, y, 1)
			a, before := float32(r.NormFloat64()), append([]float32{}, y...)
			noFault(t, func() { s.Axpy(y, a, x) })
			for i, v := range y {
				product := float64(a) * float64(x[i])
				want := float64(before[i]) + product
				bound := 0x1p-23 * (math.Abs(float64(before[i])) + math.Abs(product))
				if !(math.Abs(float64(v)-want) <= bound) {
					t.Fatalf("Axpy(n=%d): y[%d] = %g; want %g ± %.2g", n, i, v, want, bound)
				}
			}
			longer := append(append([]float32{}, before...), canary)
			s.Axpy(longer, a, x)
			if !isCanary(longer[n]) || n > 0 && longer[n-1] != y[n-1] {
				t.Fatalf("Axpy(n=%d) with a longer y reached beyond x", n)
			}
		}
	})
}

func TestWidenF16(t *testing.T) {
	all := make([]byte, 2<<16)
	for i := range 1 << 16 {
		binary.LittleEndian.PutUint16(all[2*i:], uint16(i))
	}
	eachSet(t, func(t *testing.T, s Set) {
		dst := make([]float32, 1<<16)
		s.WidenF16(dst, all)
		for i, v := range dst {
			want := float16.Frombits(uint16(i)).Float32()
			if math.Float32bits(v) != math.Float32bits(want) && !bothNaN(v, want) {
				t.Fatalf("WidenF16(%#04x) = %g; want %g", i, v, want)
			}
		}
		gd, gs := newGuarded(t, 4*1024), newGuarded(t, 2*1024)
		for _, n := range vectorLengths() {
			dst, src := gd.floats(n), gs.copyOf(all[2*1000:2*(1000+n)], 2)
			noFault(t, func() { s.WidenF16(dst, src) })
			for i, v := range dst {
				if want := F16ToF32(uint16(1000 + i)); v != want {
					t.Fatalf("WidenF16(n=%d): dst[%d] = %g; want %g", n, i, v, want)
				}
			}
		}
	})
}

func TestNarrowF16(t *testing.T) {
	values := narrowCases()
	eachSet(t, func(t *testing.T, s Set) {
		dst := make([]byte, 2*len(values))
		s.NarrowF16(dst, values)
		for i, v := range values {
			got, want := binary.LittleEndian.Uint16(dst[2*i:]), float16.Fromfloat32(v).Bits()
			if got != want && !(v != v && bothNaN(F16ToF32(got), F16ToF32(want))) {
				t.Fatalf("NarrowF16(%g = %#08x) = %#04x; want %#04x", v, math.Float32bits(v), got, want)
			}
		}
		gd, gs := newGuarded(t, 2*1024), newGuarded(t, 4*1024)
		for _, n := range vectorLengths() {
			dst, src := gd.place(2*n, 2), gs.floats(n)
			copy(src, values[7:])
			noFault(t, func() { s.NarrowF16(dst, src) })
			for i, v := range src {
				if got := binary.LittleEndian.Uint16(dst[2*i:]); got != F32ToF16(v) && v == v {
					t.Fatalf("NarrowF16(n=%d): dst[%d] = %#04x; want %#04x", n, i, got, F32ToF16(v))
				}
			}
		}
	})
}

// narrowCases are all halves, the float32 next to them, the points half way to
// the next half with their neighbours, and random bits.
func narrowCases() []float32 {
	var values []float32
	around := func(v float32) {
		bits := math.Float32bits(v)
		for _, b := range []uint32{bits - 1, bits, bits + 1} {
			values = append(values, math.Float32frombits(b))
		}
	}
	for h := range 1 << 15 {
		low, high := F16ToF32(uint16(h)), F16ToF32(uint16(h+1))
		around(low)
		around(-low)
		around((low + high) / 2)
		around(-(low + high) / 2)
	}
	around(65520)
	around(-65520)
	around(0x1p-25)
	r := newRand(4)
	for range 20000 {
		values = append(values, math.Float32frombits(r.Uint32()))
	}
	return values
}

// TestLongVectors: a Set may cut a long vector, and must not lose the pieces.
func TestLongVectors(t *testing.T) {
	const n = 70001
	r := newRand(7)
	x, ones := make([]float32, n), make([]float32, n)
	for i := range x {
		x[i] = float32(r.IntN(17) - 8) // sums of these are exact
	}
	fillWith(ones, 1)
	var sum float32
	for _, v := range x {
		sum += v
	}
	eachSet(t, func(t *testing.T, s Set) {
		if got := s.Dot(x, ones); got != sum {
			t.Errorf("Dot(n=%d) = %g; want %g", n, got, sum)
		}
		y, halves, back := make([]float32, n), make([]byte, 2*n), make([]float32, n)
		s.Axpy(y, -2, x)
		s.NarrowF16(halves, x)
		s.WidenF16(back, halves)
		for i, v := range x {
			if y[i] != -2*v || back[i] != v {
				t.Fatalf("of n=%d, Axpy gave y[%d] = %g; want %g; halves gave %g; want %g",
					n, i, y[i], -2*v, back[i], v)
			}
		}
	})
}

// vectorLengths covers every remainder of any unroll twice, and some long rows.
func vectorLengths() []int {
	lengths := []int{191, 192, 255, 256, 257, 576}
	for n := range 131 {
		lengths = append(lengths, n)
	}
	return lengths
}

// ---- Allocations

// TestSetAllocatesNothing: a token must not cost the garbage collector anything.
func TestSetAllocatesNothing(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		x, y := make([]float32, 1536), make([]float32, 64*64)
		halves := make([]byte, 2*len(x))
		row := make([]byte, Int8RowBytes(len(x)))
		ops := map[string]func(){
			"Quantize":  func() { s.Quantize(row, x) },
			"Dot":       func() { y[0] = s.Dot(x, x) },
			"Axpy":      func() { s.Axpy(y, 0.5, x) },
			"WidenF16":  func() { s.WidenF16(x, halves) },
			"NarrowF16": func() { s.NarrowF16(halves, x) },
		}
		addTileOps(ops, s)
		for f := range NumFormats {
			for _, tokens := range []int{1, 19} {
				values, _ := f.Block()
				c := newProductCase(f, 37, max(64, values), tokens)
				ops[c.String()] = func() {
					s.Product[f](y, c.rows, c.w, c.x, c.xStride, c.rows, c.cols, c.tokens)
				}
			}
		}
		for name, op := range ops {
			if n := testing.AllocsPerRun(10, op); n != 0 {
				t.Errorf("%s allocates %v times a call", name, n)
			}
		}
	})
}

// ---- Helpers

func fillNormal(r *rand.Rand, x []float32, scale float64) {
	for i := range x {
		x[i] = float32(scale * r.NormFloat64())
	}
}

func fillWith(x []float32, v float32) {
	for i := range x {
		x[i] = v
	}
}

func halfOf(v float64) uint16 { return float16.Fromfloat32(float32(v)).Bits() }

func bothNaN(a, b float32) bool { return a != a && b != b }
