package kernels

// The rotations in use, NewKeyRotation and NewValueRotation, as matrices: what a
// saved cache was written with must not change, so signs, order of factors and
// blocks are held against matrices that this file builds by itself.

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"
)

// rotatedDims are powers of two, the two with Paley factors, and block-diagonal ones.
var rotatedDims = []int{1, 2, 8, 16, 32, 40, 48, 64, 72, 80, 96, 100, 112, 128, 160, 192, 256}

// matrix is row-major.
type matrix [][]float64

// sylvester is the Walsh–Hadamard matrix of order n: −1 where row and column share
// an odd number of bits.
func sylvester(n int) matrix {
	m := make(matrix, n)
	for i := range m {
		for j := range n {
			m[i] = append(m[i], float64(1-2*(bits.OnesCount(uint(i&j))&1)))
		}
	}
	return m
}

// paleyByReciprocity is Paley's first matrix of order q+1: +1 in the first column and
// on the diagonal, −1 in the rest of the first row, and the Legendre symbol of i−j by
// Euler's criterion, a^((q−1)/2) mod q.
func paleyByReciprocity(q int) matrix {
	m := make(matrix, q+1)
	for i := range m {
		for j := range q + 1 {
			entry := -1.0
			power := 1
			for range (q - 1) / 2 {
				power = power * ((i - j + q) % q) % q
			}
			if j == 0 || i == j || (i > 0 && power == 1) {
				entry = 1
			}
			m[i] = append(m[i], entry)
		}
	}
	return m
}

// kronecker is a ⊗ b.
func kronecker(a, b matrix) (m matrix) {
	for i := range len(a) * len(b) {
		var row []float64
		for j := range len(a) * len(b) {
			row = append(row, a[i/len(b)][j/len(b)]*b[i%len(b)][j%len(b)])
		}
		m = append(m, row)
	}
	return m
}

// factorsOf are the Hadamard matrices down the diagonal of a block of n values.
func factorsOf(n int) (factors []matrix) {
	switch n {
	case 96:
		return []matrix{kronecker(paleyByReciprocity(11), sylvester(8))}
	case 80:
		return []matrix{kronecker(kronecker(sylvester(2), paleyByReciprocity(19)), sylvester(2))}
	}
	for power := 256; power > 0; power /= 2 {
		if n >= power {
			factors, n = append(factors, sylvester(power)), n-power
		}
	}
	return factors
}

// wantRotation is diag(H_n₁/√n₁, …)·diag(signs), in blocks of so many values.
func wantRotation(dim, block int, signs []float32) matrix {
	m := make(matrix, dim)
	for i := range m {
		m[i] = make([]float64, dim)
	}
	for from := 0; from < dim; from += block {
		at := from
		for _, h := range factorsOf(min(block, dim-from)) {
			m.place(h, at, signs)
			at += len(h)
		}
	}
	return m
}

// place writes h/√n·diag(signs) on the diagonal from at on.
func (m matrix) place(h matrix, at int, signs []float32) {
	root := math.Sqrt(float64(len(h)))
	for i, row := range h {
		for j, v := range row {
			m[at+i][at+j] = v / root * float64(signs[at+j])
		}
	}
}

// splitMixSigns are ±1 by the lowest bit of SplitMix64 from a seed on: its state
// grows by the golden ratio.
func splitMixSigns(seed uint64, n int) (signs []float32) {
	for i := range n {
		z := seed + uint64(i+1)*0x9e3779b97f4a7c15
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb
		z ^= z >> 31
		signs = append(signs, 1-2*float32(z%2))
	}
	return signs
}

// TestSignsOfRotations: the signs are part of the format.
func TestSignsOfRotations(t *testing.T) {
	text := func(signs []float32) (s string) {
		for _, v := range signs {
			s += map[float32]string{1: "+", -1: "-"}[v]
		}
		return s
	}
	key, value := NewKeyRotation(64).signs, NewValueRotation(64).signs
	if got := text(key[:32]); got != "-+-++--+++-+-++-+--+--+-+++-++--" {
		t.Errorf("signs of keys begin with %s", got)
	}
	if got := text(value[:32]); got != "--++++-++-+++-+-++---+++++-++++-" {
		t.Errorf("signs of values begin with %s", got)
	}
	for _, dim := range rotatedDims {
		// "keys" and "value" in ASCII.
		if !slices.Equal(NewKeyRotation(dim).signs, splitMixSigns(0x6b657973, dim)) ||
			!slices.Equal(NewValueRotation(dim).signs, splitMixSigns(0x76616c7565, dim)) {
			t.Errorf("dim %d: signs are not those of the seeds", dim)
		}
		if NewRotation(dim).signs != nil {
			t.Errorf("dim %d: a plain rotation has signs", dim)
		}
	}
}

// TestRotationsAreTheirMatrices: every entry, by turning unit vectors; and
// orthonormal, the transpose as the inverse, with the Walsh of every Set.
func TestRotationsAreTheirMatrices(t *testing.T) {
	for _, dim := range rotatedDims {
		plain := make([]float32, dim)
		fillWith(plain, 1)
		for name, c := range map[string]struct {
			r    Rotation
			want matrix
		}{
			"plain":  {NewRotation(dim), wantRotation(dim, dim, plain)},
			"keys":   {NewKeyRotation(dim), wantRotation(dim, dim, splitMixSigns(keySeed, dim))},
			"values": {NewValueRotation(dim), wantRotation(dim, 64, splitMixSigns(valueSeed, dim))},
		} {
			t.Run(fmt.Sprintf("%s/%d", name, dim), func(t *testing.T) {
				checkMatrix(t, c.r, c.want)
			})
		}
	}
}

func checkMatrix(t *testing.T, r Rotation, want matrix) {
	dim := len(want)
	for j := range dim {
		column, row := make([]float32, dim), make([]float32, dim)
		column[j], row[j] = 1, 1
		r.Apply(column)
		r.Invert(row)
		for i := range dim {
			if math.Abs(float64(column[i])-want[i][j]) > 1e-6 {
				t.Fatalf("entry (%d, %d) is %v; want %v", i, j, column[i], want[i][j])
			}
			if math.Abs(float64(row[i])-want[j][i]) > 1e-6 {
				t.Fatalf("entry (%d, %d) of the inverse is %v; want %v", i, j, row[i], want[j][i])
			}
		}
	}
	for i := range dim {
		for k := range i + 1 {
			var product float64
			for j := range dim {
				product += want[i][j] * want[k][j]
			}
			if one := map[bool]float64{true: 1}[i == k]; math.Abs(product-one) > 1e-12 {
				t.Fatalf("rows %d and %d have product %v", i, k, product)
			}
		}
	}
	for _, s := range All() {
		x := normalFloats(newRand(uint64(dim)), dim)
		turned, by := slices.Clone(x), slices.Clone(x)
		r.Apply(turned)
		if r.ApplyBy(s.Walsh, by); !sameBits(by, turned) {
			t.Errorf("ApplyBy with the Walsh of %s is not Apply", s.Name)
		}
		r.Invert(turned)
		if r.InvertBy(s.Walsh, by); !sameBits(by, turned) {
			t.Errorf("InvertBy with the Walsh of %s is not Invert", s.Name)
		}
		for i, v := range turned {
			if math.Abs(float64(v-x[i])) > 1e-5 {
				t.Fatalf("turned back, value %d is %v; was %v", i, v, x[i])
			}
		}
	}
}

// TestRotationsKeepProducts: lengths, and products of queries and keys, within 1e-5.
func TestRotationsKeepProducts(t *testing.T) {
	dot := func(x, y []float32) (sum float64) {
		for i, v := range x {
			sum += float64(v) * float64(y[i])
		}
		return sum
	}
	for _, dim := range rotatedDims {
		for _, r := range []Rotation{NewKeyRotation(dim), NewValueRotation(dim)} {
			q, k := normalFloats(newRand(51), dim), normalFloats(newRand(52), dim)
			k[0] = 300 // an outlier channel is what rotations are for
			before := [...]float64{dot(q, k), dot(q, q), dot(k, k)}
			r.Apply(q)
			r.Apply(k)
			size := math.Sqrt(before[1] * before[2])
			limits := [...]float64{1e-5 * size, 1e-5 * before[1], 1e-5 * before[2]}
			for i, got := range [...]float64{dot(q, k), dot(q, q), dot(k, k)} {
				if math.Abs(got-before[i]) > limits[i] {
					t.Errorf("dim %d: product %d is %v; was %v", dim, i, got, before[i])
				}
			}
		}
	}
}

// TestSignsSpreadTheMean: a row of ones, all of which Sylvester's matrix alone would
// gather in its first value, is spread over at least four.
func TestSignsSpreadTheMean(t *testing.T) {
	for _, dim := range []int{64, 72, 80, 96, 128, 256} {
		for _, r := range []Rotation{NewKeyRotation(dim), NewValueRotation(dim)} {
			x := make([]float32, dim)
			fillWith(x, 1)
			r.Apply(x)
			for i, v := range x {
				if float64(v*v) > float64(dim)/4 {
					t.Errorf("dim %d: value %d holds %v of a square length of %d", dim, i, v*v, dim)
				}
			}
		}
	}
}
