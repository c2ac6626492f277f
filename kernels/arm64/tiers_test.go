//go:build arm64 && !noasm

package arm64

// What only this package can see: the seams between the pieces of long
// vectors, that both tiers compute the same sums, and the length checks that
// stand before the assembly. The operations themselves are held against the
// references in package kernels.

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/cpuid/v2"
)

// seams are lengths around the pieces that long vectors are cut into.
var seams = []int{
	pieceValues - 32, pieceValues, pieceValues + 32, 2*pieceValues - 32, 2*pieceValues + 64,
}

func normal(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func TestQuantizeAcrossPieces(t *testing.T) {
	for _, n := range seams {
		x, blocks := normal(n, 1), n/blockValues
		got, want := make([]byte, n+8*blocks), make([]byte, n+8*blocks)
		QuantizeNEON(got, x)
		quantizeNEON(want[:n], want[n:n+4*blocks], want[n+4*blocks:], x)
		if string(got) != string(want) {
			t.Errorf("QuantizeNEON(n=%d) in pieces is not what one call gives", n)
		}
	}
}

func TestVectorsAcrossPieces(t *testing.T) {
	for _, even := range seams {
		for _, n := range []int{even, even + 1, even + 7} {
			x, y := normal(n, 2), normal(n, 3)
			var exact, magnitude float64
			for i, v := range x {
				exact += float64(v) * float64(y[i])
				magnitude += math.Abs(float64(v) * float64(y[i]))
			}
			got, bound := float64(DotNEON(x, y)), 0x1p-23*float64(n)*magnitude
			if !(math.Abs(got-exact) <= bound) {
				t.Errorf("DotNEON(n=%d) = %g; want %g ± %.2g", n, got, exact, bound)
			}

			pieces, whole := append([]float32{}, y...), append([]float32{}, y...)
			AxpyNEON(pieces, 0.3, x)
			axpyNEON(whole, 0.3, x)
			halves, wholeHalves := make([]byte, 2*n), make([]byte, 2*n)
			NarrowF16NEON(halves, x)
			narrowF16NEON(wholeHalves, x)
			if string(halves) != string(wholeHalves) {
				t.Errorf("NarrowF16NEON(n=%d) in pieces is not what one call gives", n)
			}
			floats, wholeFloats := make([]float32, n), make([]float32, n)
			WidenF16NEON(floats, halves)
			widenF16NEON(wholeFloats, halves)
			for i := range n {
				if pieces[i] != whole[i] || floats[i] != wholeFloats[i] {
					t.Fatalf("n=%d, value %d: axpy %g, widen %g in pieces; want %g and %g",
						n, i, pieces[i], floats[i], whole[i], wholeFloats[i])
				}
			}
		}
	}
}

// blockProducts pairs the two tiers of every block format.
var blockProducts = []struct {
	name       string
	blockBytes int
	base, dot  kernel
}{
	{"Q8_0", 34, ProductQ8_0NEON, ProductQ8_0Dot},
	{"Q4_0", 18, ProductQ4_0NEON, ProductQ4_0Dot},
	{"Q4_1", 20, ProductQ4_1NEON, ProductQ4_1Dot},
}

// TestTiersAgree: both tiers make the same integer sums and add them in the
// same order, so a model answers alike on a Raspberry Pi 4 and a 5.
func TestTiersAgree(t *testing.T) {
	if !cpuid.CPU.Has(cpuid.ASIMDDP) {
		t.Skip("this CPU has no SDOT, there is only one tier")
	}
	const rows, cols, maxTokens = 11, 96, 13
	for _, p := range blockProducts {
		w, x, xStride := operandsOf(p.blockBytes, rows, cols, maxTokens)
		for tokens := 1; tokens <= maxTokens; tokens++ {
			base, dot := make([]float32, rows*tokens), make([]float32, rows*tokens)
			p.base(base, rows, w, x, xStride, rows, cols, tokens)
			p.dot(dot, rows, w, x, xStride, rows, cols, tokens)
			for i, v := range base {
				if math.Float32bits(v) != math.Float32bits(dot[i]) {
					t.Fatalf("%s, %d tokens: y[%d] = %g with SDOT; want %g as without",
						p.name, tokens, i, dot[i], v)
				}
			}
		}
	}
}

// operandsOf draws weights and activations of a block format.
func operandsOf(blockBytes, rows, cols, tokens int) (w, x []byte, xStride int) {
	r := rand.New(rand.NewPCG(7, uint64(blockBytes)))
	w = make([]byte, rows*cols/blockValues*blockBytes)
	for i := range w {
		w[i] = byte(r.Uint32())
	}
	for at := 0; at < len(w); at += blockBytes {
		for half := at; half < at+blockBytes-16 && half < at+4; half += 2 {
			binary.LittleEndian.PutUint16(w[half:], 0x2000|uint16(r.Uint32N(1<<10)))
		}
	}
	xStride = cols + 8*cols/blockValues
	x = make([]byte, tokens*xStride)
	for t := range tokens {
		QuantizeNEON(x[t*xStride:], normal(cols, uint64(t)))
	}
	return w, x, xStride
}

// TestShortOperandsPanic: lengths are checked in Go, before the assembly
// would run past them.
func TestShortOperandsPanic(t *testing.T) {
	const rows, cols, tokens = 5, 64, 9
	for _, p := range blockProducts {
		w, x, xStride := operandsOf(p.blockBytes, rows, cols, tokens)
		y := make([]float32, rows*tokens)
		cases := map[string]func(){
			"y": func() { p.base(y[:len(y)-1:len(y)-1], rows, w, x, xStride, rows, cols, tokens) },
			"w": func() { p.base(y, rows, w[:len(w)-1:len(w)-1], x, xStride, rows, cols, tokens) },
			"x": func() { p.base(y, rows, w, x[:len(x)-1:len(x)-1], xStride, rows, cols, tokens) },
		}
		for operand, call := range cases {
			mustPanic(t, fmt.Sprintf("Product%sNEON, %s too short", p.name, operand), call)
		}
	}
	x, halves := make([]float32, 64), make([]byte, 127)
	mustPanic(t, "DotNEON, y too short", func() { DotNEON(x, x[:63:63]) })
	mustPanic(t, "AxpyNEON, y too short", func() { AxpyNEON(x[:63:63], 1, x) })
	mustPanic(t, "WidenF16NEON, src too short", func() { WidenF16NEON(x, halves[:127:127]) })
	mustPanic(t, "NarrowF16NEON, dst too short", func() { NarrowF16NEON(halves[:127:127], x) })
	mustPanic(t, "QuantizeNEON, dst too short", func() { QuantizeNEON(halves[:79:79], x) })
}

// TestShortTilesPanic is the same for what attention does with a tile. A case names
// the operand that lacks an element or does not fit.
func TestShortTilesPanic(t *testing.T) {
	const padded, rows, group, ng = 48, 5, 32, 2
	const stride = padded + 3
	codes, q, table := make([]int8, rows*padded), make([]int8, padded), make([]int8, 16)
	payload, f := make([]byte, rows*padded/4), make([]float32, rows*stride)
	less := func(x []float32, n int) []float32 { return x[: n-1 : n-1] }
	unpack := func(dst []int8, payload []byte, table []int8) {
		UnpackNEON(2)(dst, payload, padded/4, padded, rows, table)
	}
	score := func(scores []float32, codes, q []int8, qScale, qSum, scales, minima []float32) {
		Score(false)(scores, codes, padded, rows, q, qScale, qSum, scales, minima, group)
	}
	cases := map[string]func(){
		"Unpack, dst":          func() { unpack(codes[1:], payload, table) },
		"Unpack, payload":      func() { unpack(codes, payload[1:], table) },
		"Unpack, table":        func() { unpack(codes, payload, table[1:]) },
		"Score, scores":        func() { score(less(f, rows), codes, q, f, f, f, f) },
		"Score, codes":         func() { score(f, codes[1:], q, f, f, f, f) },
		"Score, q":             func() { score(f, codes, q[1:], f, f, f, f) },
		"Score, qScale":        func() { score(f, codes, q, less(f, ng), f, f, f) },
		"Score, qSum":          func() { score(f, codes, q, f, less(f, ng), f, f) },
		"Score, scales":        func() { score(f, codes, q, f, f, less(f, rows*ng), f) },
		"Score, minima":        func() { score(f, codes, q, f, f, f, less(f, rows*ng)) },
		"Mix, out":             func() { MixNEON(less(f, padded), codes, padded, rows, f, group) },
		"Mix, codes":           func() { MixNEON(f, codes[1:], padded, rows, f, group) },
		"Mix, w":               func() { MixNEON(f, codes, padded, rows, less(f, rows*ng), group) },
		"Mix, odd group":       func() { MixNEON(f, codes, padded, rows, f, 24) },
		"DotRows, scores":      func() { DotRowsNEON(less(f, rows), f, stride, rows, f[:padded]) },
		"DotRows, x":           func() { DotRowsNEON(f, f[4:], stride, rows, f[:padded]) },
		"AxpyRows, w":          func() { AxpyRowsNEON(f[:padded], less(f, rows), f, stride, rows) },
		"AxpyRows, x":          func() { AxpyRowsNEON(f[:padded], f, f[4:], stride, rows) },
		"QuantizeQuery, dst":   func() { QuantizeQueryNEON(q[1:], f, f, f[:padded], group) },
		"QuantizeQuery, sum":   func() { QuantizeQueryNEON(q, f, less(f, ng), f[:padded], group) },
		"Walsh, part of a row": func() { WalshNEON(f[:24], 16) },
		"Walsh, short block":   func() { WalshNEON(f[:16], 8) },
	}
	for name, call := range cases {
		mustPanic(t, name, call)
	}
}

func mustPanic(t *testing.T, name string, call func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", name)
		}
	}()
	call()
}
