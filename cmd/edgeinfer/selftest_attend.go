package main

// The part of the self-test that is about attention over packed tiles.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"edgeinfer/kernels"
)

// tileShape is a run of rows as attention meets them.
type tileShape struct{ padded, rows, group int }

// testTiles are head dims with whole, short and single groups, whole tiles and
// parts of one.
var testTiles = []tileShape{
	{16, 32, 32}, {64, 32, 32}, {64, 5, 64}, {80, 32, 64}, {96, 7, 32}, {128, 32, 32}, {256, 3, 256},
}

func (s tileShape) groups() int { return (s.padded + s.group - 1) / s.group }

// selfTestAttention runs what attention uses.
func selfTestAttention(s kernels.Set) []testResult {
	results := []testResult{testQuery(s), testScore(s), testMix(s), testDotRows(s), testAxpyRows(s),
		testWalsh(s), testExpSum(s), testMax(s)}
	for bits := 1; bits < len(s.Unpack); bits++ {
		results = append(results, testUnpack(s, bits))
	}
	return results
}

func randomCodes(r *rand.Rand, n int) []int8 {
	codes := make([]int8, n)
	for i := range codes {
		codes[i] = int8(r.Uint32())
	}
	return codes
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool {
		return math.Float32bits(x) == math.Float32bits(y)
	})
}

func testUnpack(s kernels.Set, bits int) testResult {
	result, r := testResult{Operation: fmt.Sprintf("unpack %d bits", bits)}, testRandom()
	table := randomCodes(r, 16)
	for _, shape := range testTiles {
		rowBytes := shape.padded * bits / 8
		payload := make([]byte, rowBytes*shape.rows)
		for i := range payload {
			payload[i] = byte(r.Uint32())
		}
		got, want := make([]int8, shape.padded*shape.rows), make([]int8, shape.padded*shape.rows)
		s.Unpack[bits](got, payload, rowBytes, shape.padded, shape.rows, table)
		kernels.UnpackInt8(want, payload, rowBytes, shape.padded, shape.rows, table, bits)
		result.exact(slices.Equal(got, want))
	}
	return result
}

func testQuery(s kernels.Set) testResult {
	result, r := testResult{Operation: "quantize query"}, testRandom()
	for _, shape := range testTiles {
		q := normals(r, shape.padded)
		var codes [2][]int8
		var scales, sums [2][]float32
		for i, quantize := range []func([]int8, []float32, []float32, []float32, int){
			s.QuantizeQuery, kernels.QuantizeQuery} {
			codes[i] = make([]int8, shape.padded)
			scales[i], sums[i] = make([]float32, shape.groups()), make([]float32, shape.groups())
			quantize(codes[i], scales[i], sums[i], q, shape.group)
		}
		result.exact(slices.Equal(codes[0], codes[1]) && sameBits(scales[0], scales[1]) &&
			sameBits(sums[0], sums[1]))
	}
	return result
}

func testScore(s kernels.Set) testResult {
	result, r := testResult{Operation: "score"}, testRandom()
	for _, shape := range testTiles {
		q, ng := make([]int8, shape.padded), shape.groups()
		qScale, qSum := make([]float32, ng), make([]float32, ng)
		kernels.QuantizeQuery(q, qScale, qSum, normals(r, shape.padded), shape.group)
		codes, scales := randomCodes(r, shape.padded*shape.rows), normals(r, ng*shape.rows)
		for _, minima := range [][]float32{nil, normals(r, ng*shape.rows)} {
			got := normals(r, shape.rows)
			want := slices.Clone(got)
			s.Score(got, codes, shape.padded, shape.rows,
				q, qScale, qSum, scales, minima, shape.group)
			kernels.Score(want, codes, shape.padded, shape.rows,
				q, qScale, qSum, scales, minima, shape.group)
			result.exact(sameBits(got, want))
		}
	}
	return result
}

func testMix(s kernels.Set) testResult {
	result, r := testResult{Operation: "mix"}, testRandom()
	for _, shape := range testTiles {
		ng := shape.groups()
		codes, w := randomCodes(r, shape.padded*shape.rows), normals(r, ng*shape.rows)
		before := normals(r, shape.padded)
		got := slices.Clone(before)
		s.Mix(got, codes, shape.padded, shape.rows, w, shape.group)
		for c := range got {
			result.weightedSum(got[c], before[c], shape.rows, func(row int) float64 {
				return float64(w[row*ng+c/shape.group]) * float64(codes[row*shape.padded+c])
			})
		}
	}
	return result
}

func testAxpyRows(s kernels.Set) testResult {
	result, r := testResult{Operation: "axpy rows"}, testRandom()
	for _, shape := range testTiles {
		stride := shape.padded + 5
		x, w := normals(r, stride*shape.rows), normals(r, shape.rows)
		before := normals(r, shape.padded)
		got := slices.Clone(before)
		s.AxpyRows(got, w, x, stride, shape.rows)
		for c := range got {
			result.weightedSum(got[c], before[c], shape.rows, func(row int) float64 {
				return float64(w[row]) * float64(x[row*stride+c])
			})
		}
	}
	return result
}

// weightedSum adds the case got = before + Σ term within the bound of Set.Mix.
func (r *testResult) weightedSum(got, before float32, rows int, term func(row int) float64) {
	sum, size := float64(before), math.Abs(float64(before))
	for row := range rows {
		v := term(row)
		sum += v
		size += math.Abs(v)
	}
	r.bounded(math.Abs(float64(got)-sum), float64(rows+1)*2*unitRoundoff*size)
}

func testDotRows(s kernels.Set) testResult {
	result, r := testResult{Operation: "dot rows"}, testRandom()
	for _, shape := range testTiles {
		stride := shape.padded + 5
		x, q := normals(r, stride*shape.rows), normals(r, shape.padded)
		got := make([]float32, shape.rows)
		s.DotRows(got, x, stride, shape.rows, q)
		for row, v := range got {
			var sum, size float64
			for c := range q {
				product := float64(q[c]) * float64(x[row*stride+c])
				sum += product
				size += math.Abs(product)
			}
			result.bounded(math.Abs(float64(v)-sum), 2*float64(len(q))*unitRoundoff*size)
		}
	}
	return result
}

func testWalsh(s kernels.Set) testResult {
	result, r := testResult{Operation: "walsh"}, testRandom()
	for n := 1; n <= 256; n *= 2 {
		got := normals(r, 3*n)
		want := slices.Clone(got)
		s.Walsh(got, n)
		kernels.Walsh(want, n)
		result.exact(sameBits(got, want))
	}
	return result
}

func testExpSum(s kernels.Set) testResult {
	result, r := testResult{Operation: "exp sum"}, testRandom()
	for _, n := range testLengths {
		got := normals(r, n)
		for i := range got {
			got[i] *= 30
		}
		want, largest := slices.Clone(got), slices.Max(got)
		gotSum, wantSum := s.ExpSum(got, largest), kernels.ExpSum(want, largest)
		result.exact(sameBits(append(got, gotSum), append(want, wantSum)))
	}
	return result
}

func testMax(s kernels.Set) testResult {
	result, r := testResult{Operation: "max"}, testRandom()
	for _, n := range testLengths {
		x := normals(r, n)
		result.exact(s.Max(x) == kernels.Max(x))
	}
	return result
}
