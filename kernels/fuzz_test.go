package kernels

// Fuzz targets, one per family of operations: raw bytes become operands, every
// Set answers, the references judge. Run as ordinary tests they replay the
// seeds and testdata/fuzz, which is how other architectures see what amd64 found.

import (
	"encoding/binary"
	"math"
	"testing"
)

func FuzzProduct(f *testing.F) {
	for format := range NumFormats {
		f.Add(uint8(format), uint8(9), uint8(3), uint8(5), []byte("weights"), uint64(1))
		f.Add(uint8(format), uint8(17), uint8(2), uint8(12), []byte{0, 0x3c, 0x80, 0xff}, uint64(2))
	}
	f.Fuzz(func(t *testing.T, format, rows, width, tokens uint8, weights []byte, seed uint64) {
		if len(weights) == 0 {
			return
		}
		form := Format(format % uint8(NumFormats))
		values, _ := form.Block()
		cols := (int(width%7) + 1) * values
		if !form.Int8Input() {
			cols = int(width%80) + 1
		}
		c := newProductCase(form, int(rows%40)+1, cols, int(tokens%20)+1)
		for i := range c.w {
			c.w[i] = weights[i%len(weights)]
		}
		c.fillInput(newRand(seed))
		exact, bound := c.exact()
		for _, s := range All() {
			y := make([]float32, c.rows*c.tokens)
			noFault(t, func() {
				s.Product[form](y, c.rows, c.w, c.x, c.xStride, c.rows, c.cols, c.tokens)
			})
			for i, v := range y {
				if !(bound[i] < 1e30) { // sums may overflow, or weights are not numbers
					continue
				}
				if !(math.Abs(float64(v)-exact[i]) <= bound[i]) {
					t.Errorf("%s: Product(%s): y[%d] = %g; want %g ± %.2g",
						s.Name, c, i, v, exact[i], bound[i])
				}
			}
		}
	})
}

func FuzzQuantize(f *testing.F) {
	f.Add([]byte{0, 0, 128, 63, 0, 0, 0, 191})
	f.Add([]byte("activations of no particular size"))
	f.Fuzz(func(t *testing.T, data []byte) {
		x := fuzzFloats(data, BlockValues)
		g := newGuarded(t, Int8RowBytes(len(x)))
		for _, s := range All() {
			checkQuantize(t, s, g, x, s.Name)
		}
	})
}

func FuzzVectors(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef0123456789abcdef"), float32(-2.5))
	f.Fuzz(func(t *testing.T, data []byte, a float32) {
		x := fuzzFloats(data, 1)
		var want, magnitude float64
		for i, v := range x {
			x[i] = float32(math.Remainder(float64(v), 1e9)) // sums must not overflow
			want += float64(x[i]) * float64(x[i])
			magnitude += float64(x[i]) * float64(x[i])
		}
		a = float32(math.Remainder(float64(a), 1e9))
		for _, s := range All() {
			bound := float64(len(x)) * (0x1p-23*magnitude + 0x1p-148)
			if got := float64(s.Dot(x, x)); !(math.Abs(got-want) <= bound) {
				t.Errorf("%s: Dot(n=%d) = %g; want %g ± %.2g", s.Name, len(x), got, want, bound)
			}
			y := append([]float32{}, x...)
			s.Axpy(y, a, x)
			for i, v := range x {
				product := float64(a) * float64(v)
				bound := 0x1p-23*(math.Abs(float64(v))+math.Abs(product)) + 0x1p-148
				if !(math.Abs(float64(y[i])-float64(v)-product) <= bound) {
					t.Errorf("%s: Axpy(n=%d): y[%d] = %g; want %g", s.Name, len(x), i, y[i],
						float64(v)+product)
				}
			}
		}
	})
}

func FuzzHalf(f *testing.F) {
	f.Add([]byte{0, 0xe0, 0x7f, 0x47, 1, 0, 0, 0x33, 0, 0, 0x80, 0x7f})
	f.Fuzz(func(t *testing.T, data []byte) {
		halves := data[:len(data)/2*2]
		x := fuzzFloats(data, 1)
		for _, s := range All() {
			wide := make([]float32, len(halves)/2)
			s.WidenF16(wide, halves)
			for i, v := range wide {
				want := F16ToF32(binary.LittleEndian.Uint16(halves[2*i:]))
				if math.Float32bits(v) != math.Float32bits(want) && !bothNaN(v, want) {
					t.Errorf("%s: WidenF16: dst[%d] = %g; want %g", s.Name, i, v, want)
				}
			}
			narrow := make([]byte, 2*len(x))
			s.NarrowF16(narrow, x)
			for i, v := range x {
				if got := binary.LittleEndian.Uint16(narrow[2*i:]); got != F32ToF16(v) {
					t.Errorf("%s: NarrowF16(%g) = %#04x; want %#04x", s.Name, v, got, F32ToF16(v))
				}
			}
		}
	})
}

// fuzzFloats makes a multiple of n finite float32 of the bytes; what is not a
// number becomes zero.
func fuzzFloats(data []byte, n int) []float32 {
	x := make([]float32, len(data)/4/n*n)
	for i := range x {
		if v := f32At(data[4*i:]); !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) {
			x[i] = v
		}
	}
	return x
}
