package main

// The self-test of a kernel set: the same inputs for every set, from a fixed
// seed. Products, Dot and Axpy are held against float64 arithmetic within the
// bounds that kernels.Set states; everything else must equal the reference.

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"

	"edgeinfer/kernels"
)

// testResult is the outcome for one operation of one set.
type testResult struct {
	Set       string `json:"set"`
	Operation string `json:"operation"`
	Cases     int    `json:"cases"`
	// Worst is the largest error as a share of its bound; for operations that
	// must be exact, the number of cases that were not.
	Worst float64 `json:"worst"`
	OK    bool    `json:"ok"`
}

// unitRoundoff is the relative error of one float32 operation.
const unitRoundoff = 0x1p-24

// selfTest runs every operation of s.
func selfTest(s kernels.Set) []testResult {
	results := []testResult{testQuantize(s)}
	for f := range kernels.NumFormats {
		results = append(results, testProduct(s, f))
	}
	results = append(results, testDot(s), testAxpy(s), testWiden(s), testNarrow(s))
	results = append(results, selfTestAttention(s)...)
	results = append(results, selfTestSealing(s)...)
	for i := range results {
		results[i].Set = s.Name
	}
	return results
}

// bounded adds a case with an error and its bound. NaN fails.
func (r *testResult) bounded(errorSize, bound float64) {
	share := errorSize / bound
	if math.IsNaN(share) || math.IsInf(share, 0) {
		share = math.MaxFloat64
	}
	r.Cases++
	r.Worst = max(r.Worst, share)
	r.OK = r.Worst <= 1
}

// exact adds a case that must be equal.
func (r *testResult) exact(equal bool) {
	r.Cases++
	if !equal {
		r.Worst++
	}
	r.OK = r.Worst == 0
}

// testRandom gives every operation the same numbers each time.
func testRandom() *rand.Rand { return rand.New(rand.NewPCG(3, 5)) }

func normals(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func testQuantize(s kernels.Set) testResult {
	result, r := testResult{Operation: "quantize"}, testRandom()
	for _, cols := range []int{32, 96, 288, 576} {
		x := normals(r, cols)
		x[r.IntN(cols)] *= 100
		got, want := make([]byte, kernels.Int8RowBytes(cols)), make([]byte, kernels.Int8RowBytes(cols))
		s.Quantize(got, x)
		kernels.QuantizeRow(want, x)
		result.exact(bytes.Equal(got, want))
	}
	return result
}

// testProduct multiplies matrices of shapes around the unrolling of kernels.
func testProduct(s kernels.Set, f kernels.Format) testResult {
	result, r := testResult{Operation: "product " + f.String()}, testRandom()
	widths := []int{32, 64, 288, 576}
	if values, _ := f.Block(); values > kernels.BlockValues {
		widths = []int{values, 2 * values, 3 * values}
	}
	for _, cols := range widths {
		for _, rows := range []int{1, 3, 8, 21} {
			for _, tokens := range []int{1, 4, 9} {
				w := testWeights(r, f, rows*cols)
				x, values := testInputs(r, f, cols, tokens)
				y := make([]float32, rows*tokens)
				s.Product[f](y, rows, w, x, f.InputBytes(cols), rows, cols, tokens)
				checkProduct(&result, f, y, w, values, rows, cols)
			}
		}
	}
	return result
}

// testWeights makes n stored values. Scales are positive halves of like size and
// so is what the minima add, so that no weight is a difference of large numbers.
func testWeights(r *rand.Rand, f kernels.Format, n int) []byte {
	values, blockBytes := f.Block()
	w := make([]byte, n/values*blockBytes)
	for at := 0; at < len(w); at += blockBytes {
		block := w[at : at+blockBytes]
		switch f {
		case kernels.F32:
			binary.LittleEndian.PutUint32(block, math.Float32bits(float32(r.NormFloat64())))
		case kernels.F16:
			binary.LittleEndian.PutUint16(block, kernels.F32ToF16(float32(r.NormFloat64())))
		case kernels.BF16:
			binary.LittleEndian.PutUint16(block, uint16(math.Float32bits(float32(r.NormFloat64()))>>16))
		default:
			for i := range block {
				block[i] = byte(r.Uint32())
			}
			scale, minimum := f.Halves()
			binary.LittleEndian.PutUint16(block[scale:], kernels.F32ToF16(0.01+0.1*r.Float32()))
			if minimum >= 0 {
				m := 0.1 + r.Float32()
				if values > kernels.BlockValues {
					m = -m // which super-blocks subtract
				}
				binary.LittleEndian.PutUint16(block[minimum:], kernels.F32ToF16(m))
			}
		}
	}
	return w
}

// testInputs makes activation rows as f takes them, and the values they hold.
func testInputs(r *rand.Rand, f kernels.Format, cols, tokens int) (x []byte, values []float64) {
	stride := f.InputBytes(cols)
	x = make([]byte, stride*tokens)
	for t := range tokens {
		row, floats := x[t*stride:(t+1)*stride], normals(r, cols)
		if !f.Int8Input() {
			for i, v := range floats {
				binary.LittleEndian.PutUint32(row[4*i:], math.Float32bits(v))
				values = append(values, float64(v))
			}
			continue
		}
		kernels.QuantizeRow(row, floats)
		codes, scales, _ := kernels.Int8Row(row, cols)
		for i := range cols {
			scale := math.Float32frombits(binary.LittleEndian.Uint32(scales[i/kernels.BlockValues*4:]))
			values = append(values, float64(int8(codes[i]))*float64(scale))
		}
	}
	return x, values
}

// checkProduct holds y [tokens][rows] against w [rows][cols] times the inputs
// [tokens][cols].
func checkProduct(result *testResult, f kernels.Format, y []float32, w []byte, inputs []float64,
	rows, cols int) {
	weights := make([]float32, cols)
	for row := range rows {
		kernels.DequantizeRow(f, weights, w[row*f.RowBytes(cols):(row+1)*f.RowBytes(cols)])
		for t := range len(inputs) / cols {
			var sum, size float64
			for c, v := range inputs[t*cols : (t+1)*cols] {
				sum += float64(weights[c]) * v
				size += math.Abs(float64(weights[c]) * v)
			}
			result.bounded(math.Abs(float64(y[t*rows+row])-sum), 2*float64(cols)*unitRoundoff*size)
		}
	}
}

// testLengths lie around the widths of vectors and their unrolling.
var testLengths = []int{1, 7, 8, 31, 32, 64, 100, 576}

func testDot(s kernels.Set) testResult {
	result, r := testResult{Operation: "dot"}, testRandom()
	for _, n := range testLengths {
		x, y := normals(r, n), normals(r, n)
		var sum, size float64
		for i := range x {
			sum += float64(x[i]) * float64(y[i])
			size += math.Abs(float64(x[i]) * float64(y[i]))
		}
		result.bounded(math.Abs(float64(s.Dot(x, y))-sum), 2*float64(n)*unitRoundoff*size)
	}
	return result
}

func testAxpy(s kernels.Set) testResult {
	result, r := testResult{Operation: "axpy"}, testRandom()
	for _, n := range testLengths {
		x, y, a := normals(r, n), normals(r, n), float32(r.NormFloat64())
		got := append([]float32{}, y...)
		s.Axpy(got, a, x)
		for i := range got {
			product := float64(a) * float64(x[i])
			size := math.Abs(float64(y[i])) + math.Abs(product)
			result.bounded(math.Abs(float64(got[i])-(float64(y[i])+product)), 2*unitRoundoff*size)
		}
	}
	return result
}

// testWiden converts every half.
func testWiden(s kernels.Set) testResult {
	result := testResult{Operation: "widen f16"}
	src := make([]byte, 2<<16)
	for h := range 1 << 16 {
		binary.LittleEndian.PutUint16(src[2*h:], uint16(h))
	}
	got := make([]float32, 1<<16)
	s.WidenF16(got, src)
	for h, v := range got {
		want := kernels.F16ToF32(uint16(h))
		result.exact(math.Float32bits(v) == math.Float32bits(want) || (v != v && want != want))
	}
	return result
}

// testNarrow converts random bit patterns and the neighbours of halves' ties.
func testNarrow(s kernels.Set) testResult {
	result, r := testResult{Operation: "narrow f16"}, testRandom()
	x := make([]float32, 1<<14)
	for i := range x {
		bits := r.Uint32()
		if i%2 == 0 { // a tie between two halves, and its neighbours
			bits = bits&^0x1fff | 0x1000 + uint32(i/2%3) - 1
		}
		x[i] = math.Float32frombits(bits)
	}
	got := make([]byte, 2*len(x))
	s.NarrowF16(got, x)
	for i, v := range x {
		h := binary.LittleEndian.Uint16(got[2*i:])
		isNaN := h&0x7fff > 0x7c00
		result.exact(h == kernels.F32ToF16(v) || (isNaN && v != v))
	}
	return result
}
