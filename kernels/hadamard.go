package kernels

// Rotations: orthogonal matrices whose product with a row costs n·log n. They
// spread outlier channels over all channels, so that one scale serves a row
// (Ashkboos et al., QuaRot, 2024). Keys and queries turned by the same
// rotation keep their scores; a head output is turned back by the transpose.

import (
	"math"
	"math/bits"
)

// Rotation is an orthogonal transform of rows of Dim values: an optional ±1
// diagonal, then a Hadamard matrix over √n.
//
// Powers of two take the Walsh–Hadamard matrix in Sylvester's order; 96 is
// H12⊗H8 and 80 is H2⊗H20⊗H2 with Paley's matrices (Paley, 1933), whose
// transposes differ from themselves; every other dim is block-diagonal over
// descending powers of two, 72 = 64 + 8.
type Rotation struct {
	Dim   int
	block int       // rows turn in blocks of so many values, the last shorter; 0: whole
	signs []float32 // [Dim] of ±1, nil: all +1
}

// The seeds of the signs in use. They are part of the format: a saved cache is
// read with the signs it was written with.
const (
	keySeed   = 0x6b657973
	valueSeed = 0x76616c7565
	// valueBlock is the width of the blocks that values turn in.
	valueBlock = 64
)

// NewKeyRotation is the rotation of keys and queries of dim values.
func NewKeyRotation(dim int) Rotation { return NewSignedRotation(dim, keySeed) }

// NewValueRotation turns values in blocks of 64, which spreads outliers as well
// and costs less to undo.
func NewValueRotation(dim int) Rotation {
	r := NewSignedRotation(dim, valueSeed)
	r.block = valueBlock
	return r
}

// NewRotation returns the rotation of rows of dim values with all signs +1.
func NewRotation(dim int) Rotation { return Rotation{Dim: dim} }

// NewSignedRotation draws the signs from seed: they keep the first row of the
// matrix, which is all ones, from collecting the mean of a row.
func NewSignedRotation(dim int, seed uint64) Rotation {
	r := Rotation{Dim: dim, signs: make([]float32, dim)}
	for i := range r.signs {
		// SplitMix64 (Steele et al., 2014): the same signs on every machine.
		seed += 0x9e3779b97f4a7c15
		z := (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		r.signs[i] = 1 - 2*float32((z^z>>31)&1)
	}
	return r
}

// Apply turns x [Dim] in place: x ← H·diag(signs)·x / √n.
func (r Rotation) Apply(x []float32) { r.ApplyBy(Walsh, x) }

// Invert turns x [Dim] back: x ← diag(signs)·Hᵀ·x / √n.
func (r Rotation) Invert(x []float32) { r.InvertBy(Walsh, x) }

// ApplyBy is Apply with the Walsh of a Set: the same bits, sooner.
func (r *Rotation) ApplyBy(walsh func(x []float32, n int), x []float32) {
	r.flip(x)
	r.each(x, false, walsh)
}

// InvertBy is Invert with the Walsh of a Set.
func (r *Rotation) InvertBy(walsh func(x []float32, n int), x []float32) {
	r.each(x, true, walsh)
	r.flip(x)
}

// flip multiplies by the signs.
func (r *Rotation) flip(x []float32) {
	if r.signs == nil {
		return
	}
	x = x[:len(r.signs)]
	for i, s := range r.signs {
		x[i] *= s
	}
}

// each runs the factors over the blocks of x.
func (r *Rotation) each(x []float32, transpose bool, walsh func(x []float32, n int)) {
	block := r.block
	if block == 0 {
		block = r.Dim
	}
	for at := 0; at < r.Dim; at += block {
		turn(x[at:min(at+block, r.Dim)], transpose, walsh)
	}
}

// turn multiplies one block by the Hadamard matrix of its length, over √n.
func turn(x []float32, transpose bool, hadamard func(x []float32, n int)) {
	switch len(x) {
	case 96:
		paley(x, 8, &paley12, transpose)
		walsh(x, 1, 8)
		rescale(x)
	case 80:
		walsh(x, 40, 80)
		paley(x, 2, &paley20, transpose)
		walsh(x, 1, 2)
		rescale(x)
	default:
		for len(x) > 0 {
			n := 1 << (bits.Len(uint(len(x))) - 1)
			hadamard(x[:n], n)
			x = x[n:]
		}
	}
}

// walsh runs the butterflies of strides from, 2·from, … below to over x.
func walsh(x []float32, from, to int) {
	for stride := from; stride < to; stride *= 2 {
		for block := 0; block+2*stride <= len(x); block += 2 * stride {
			low, high := x[block:block+stride], x[block+stride:block+2*stride]
			for i, a := range low {
				b := high[i]
				low[i], high[i] = a+b, a-b
			}
		}
	}
}

// rescale divides by the root of the length.
func rescale(x []float32) {
	s := float32(1 / math.Sqrt(float64(len(x))))
	for i := range x {
		x[i] *= s
	}
}

// paleyMax is the order of the largest Paley matrix in use.
const paleyMax = 20

// paleyMatrix is a Hadamard matrix of order n, entries ±1, in the first n rows
// and columns.
type paleyMatrix struct {
	n       int
	entries [paleyMax][paleyMax]int8
}

var paley12, paley20 = newPaley(11), newPaley(19)

// newPaley is Paley's first construction for a prime q ≡ 3 mod 4: order q+1,
// H = I + S with S = [0 −1; 1 Q] and Q[i][j] the Legendre symbol of i−j.
func newPaley(q int) paleyMatrix {
	m := paleyMatrix{n: q + 1}
	square := make([]bool, q)
	for i := 1; i < q; i++ {
		square[i*i%q] = true
	}
	for i := 0; i <= q; i++ {
		for j := 0; j <= q; j++ {
			entry := int8(-1)
			switch {
			case i == j, j == 0, i > 0 && square[(i-j+q)%q]:
				entry = 1
			}
			m.entries[i][j] = entry
		}
	}
	return m
}

// paley multiplies by the matrix along an axis of x: the values at a distance
// of stride, in blocks of n·stride.
func paley(x []float32, stride int, m *paleyMatrix, transpose bool) {
	var in, out [paleyMax]float32
	for block := 0; block < len(x); block += m.n * stride {
		for offset := 0; offset < stride; offset++ {
			for i := 0; i < m.n; i++ {
				in[i] = x[block+i*stride+offset]
			}
			m.multiply(&out, &in, transpose)
			for i := 0; i < m.n; i++ {
				x[block+i*stride+offset] = out[i]
			}
		}
	}
}

// multiply computes out = M·in or Mᵀ·in.
func (m *paleyMatrix) multiply(out, in *[paleyMax]float32, transpose bool) {
	for i := 0; i < m.n; i++ {
		var sum float32
		for j := 0; j < m.n; j++ {
			entry := m.entries[i][j]
			if transpose {
				entry = m.entries[j][i]
			}
			sum += float32(entry) * in[j]
		}
		out[i] = sum
	}
}
