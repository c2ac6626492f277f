package kernels

// Benchmarks of every Set at the shapes of SmolLM2-135M. MB/s are bytes of
// weights (or of the input) per second. Products stream a bank of matrices
// larger than the last-level cache, as the layers of a model do, and state the
// median call besides the mean, which a busy machine makes meaningless.
//
//	go test ./kernels -run - -bench Product -benchtime 200ms

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// bankBytes is the working set of a product benchmark.
const bankBytes = 96 << 20

var benchShapes = []struct {
	format     Format
	rows, cols int
}{
	{Q4_1, 576, 576}, {Q4_1, 1536, 576}, {Q4_1, 576, 1536}, {Q4_0, 576, 1536},
	{Q8_0, 576, 1536}, {Q8_0, 49152, 576}, {F16, 576, 1536}, {BF16, 576, 1536}, {F32, 576, 1536},
	{Q5_0, 576, 1536}, {Q5_1, 576, 1536}, {Q2_K, 576, 1536}, {Q3_K, 576, 1536}, {Q4_K, 576, 1536},
	{Q5_K, 576, 1536}, {Q6_K, 576, 1536}, {IQ4_NL, 576, 1536}, {IQ4_XS, 576, 1536},
}

func BenchmarkProduct(b *testing.B) {
	for _, shape := range benchShapes {
		for _, tokens := range []int{1, 64} {
			if tokens > 1 && shape.rows > 10000 {
				continue // the head computes the logits of one token
			}
			name := fmt.Sprintf("%s/%dx%d/tokens=%d", shape.format, shape.rows, shape.cols, tokens)
			b.Run(name, func(b *testing.B) {
				bank := newBank(shape.format, shape.rows, shape.cols, tokens)
				for _, s := range All() {
					b.Run(s.Name, func(b *testing.B) { bank.bench(b, s) })
				}
			})
		}
	}
}

// bank is many matrices of one shape and one input.
type bank struct {
	*productCase
	matrices int
	y        []float32
}

func newBank(f Format, rows, cols, tokens int) bank {
	r := newRand(5)
	one := newProductCase(f, rows, cols, tokens)
	one.fillWeights(r)
	one.fillInput(r)
	n := max(1, bankBytes/len(one.w))
	w := make([]byte, 0, n*len(one.w))
	for range n {
		w = append(w, one.w...)
	}
	one.w = w
	return bank{productCase: one, matrices: n, y: make([]float32, rows*tokens)}
}

func (k bank) bench(b *testing.B, s Set) {
	size := len(k.w) / k.matrices
	b.SetBytes(int64(size))
	var calls []float64
	for at := 0; b.Loop(); at = (at + 1) % k.matrices {
		w := k.w[at*size : (at+1)*size]
		start := time.Now()
		s.Product[k.format](k.y, k.rows, w, k.x, k.xStride, k.rows, k.cols, k.tokens)
		calls = append(calls, time.Since(start).Seconds())
	}
	slices.Sort(calls)
	median := calls[len(calls)/2]
	b.ReportMetric(float64(size)/median/1e6, "median-MB/s")
	work := float64(k.rows) * float64(k.cols) * float64(k.tokens)
	b.ReportMetric(work/median/1e9, "median-GMAC/s")
}

func BenchmarkVectors(b *testing.B) {
	const n = 1536
	x, y := make([]float32, n), make([]float32, n)
	fillNormal(newRand(6), x, 1)
	halves, row := make([]byte, 2*n), make([]byte, Int8RowBytes(n))
	for _, s := range All() {
		for _, op := range []struct {
			name string
			run  func()
		}{
			{"Quantize", func() { s.Quantize(row, x) }},
			{"Dot", func() { y[0] = s.Dot(x, x) }},
			{"Axpy", func() { s.Axpy(y, 0.5, x) }},
			{"NarrowF16", func() { s.NarrowF16(halves, x) }},
			{"WidenF16", func() { s.WidenF16(y, halves) }},
		} {
			b.Run(op.name+"/"+s.Name, func(b *testing.B) {
				b.SetBytes(4 * n)
				for b.Loop() {
					op.run()
				}
			})
		}
	}
}

// BenchmarkRead is the yardstick: reading as many bytes with two loads and one
// multiplication a vector, in pieces of one call's length.
func BenchmarkRead(b *testing.B) {
	const piece = 16 << 10
	x := make([]float32, bankBytes/4)
	fillWith(x, 1)
	for _, s := range All() {
		b.Run(s.Name, func(b *testing.B) {
			b.SetBytes(bankBytes)
			for b.Loop() {
				for at := 0; at < len(x); at += 2 * piece {
					s.Dot(x[at:at+piece], x[at+piece:])
				}
			}
		})
	}
}
