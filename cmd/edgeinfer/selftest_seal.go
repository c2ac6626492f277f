package main

// The part of the self-test that is about sealing: finite values, fits, packing.

import (
	"bytes"
	"math"
	"math/rand/v2"

	"edgeinfer/kernels"
)

// groupLengths are whole groups, and those that end a row of an odd head dim.
var groupLengths = []int{8, 16, 32, 40, 64, 80, 128}

// selfTestSealing runs what sealing uses.
func selfTestSealing(s kernels.Set) []testResult {
	return []testResult{testFinite(s), testFitLevels(s), testFitUniform(s), testPack(s),
		testScaleRows(s)}
}

// testFinite maps values of any bits.
func testFinite(s kernels.Set) testResult {
	result, r := testResult{Operation: "finite"}, testRandom()
	for _, n := range testLengths {
		got, want := make([]float32, n), make([]float32, n)
		for i := range got {
			got[i] = math.Float32frombits(r.Uint32())
			want[i] = got[i]
		}
		s.Finite(got)
		kernels.FiniteRow(want)
		result.exact(sameBits(got, want))
	}
	return result
}

func testFitLevels(s kernels.Set) testResult {
	result, r := testResult{Operation: "fit levels"}, testRandom()
	for bits := 1; bits <= kernels.LloydMaxBits; bits++ {
		table, half := kernels.LevelTable(bits), 1<<(bits-1)
		result.fits(r, func(got, want []uint8, x []float32, debias bool) (float32, float32) {
			return s.FitLevels(got, x, table, half, debias),
				kernels.FitLevels(want, x, table, half, debias)
		})
	}
	return result
}

func testFitUniform(s kernels.Set) testResult {
	result, r := testResult{Operation: "fit uniform"}, testRandom()
	for bits := 1; bits <= 8; bits++ {
		result.fits(r, func(got, want []uint8, x []float32, debias bool) (float32, float32) {
			return s.FitUniform(got, x, bits, debias), kernels.FitUniform(want, x, bits, debias)
		})
	}
	return result
}

// fits adds cases of a fit, which returns the scale of a Set and the reference's.
func (r *testResult) fits(random *rand.Rand,
	fit func(got, want []uint8, x []float32, debias bool) (float32, float32)) {
	for _, n := range groupLengths {
		for _, debias := range []bool{false, true} {
			x := normals(random, n)
			got, want := make([]uint8, n), make([]uint8, n)
			scale, reference := fit(got, want, x, debias)
			r.exact(scale == reference && bytes.Equal(got, want))
		}
	}
}

func testPack(s kernels.Set) testResult {
	result, r := testResult{Operation: "pack"}, testRandom()
	for bits := 1; bits <= 8; bits++ {
		for _, shape := range testTiles {
			codes := make([]uint8, shape.padded)
			for i := range codes {
				codes[i] = uint8(r.UintN(1 << bits))
			}
			size := shape.padded * bits / 8
			got, want := make([]byte, size), make([]byte, size)
			s.Pack(got, codes, bits)
			kernels.PackCodes(want, codes, bits)
			result.exact(bytes.Equal(got, want))
		}
	}
	return result
}

func testScaleRows(s kernels.Set) testResult {
	result, r := testResult{Operation: "scale rows"}, testRandom()
	for _, shape := range testTiles {
		w, scales := normals(r, shape.rows), normals(r, shape.rows*shape.groups())
		got, want := make([]float32, len(scales)), make([]float32, len(scales))
		s.ScaleRows(got, w, scales, shape.groups())
		kernels.ScaleRows(want, w, scales, shape.groups())
		result.exact(sameBits(got, want))
	}
	return result
}
