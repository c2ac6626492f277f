package kernels

// A Set is one table of functions: everything the path of a token computes.
// Each better Set copies the one below it and overrides what it improves, so
// there are no holes and no fallback lists. Tests, the self-test and the
// override by name all run over the same table.

import (
	"fmt"
	"strings"
)

// Product computes rows × tokens dot products of a weight matrix with
// activation rows:
//
//	y[t*yStride+r] = Σ_c W[r][c] · X[t][c],  0 ≤ r < rows, 0 ≤ t < tokens
//
// w holds rows rows of Format.RowBytes(cols) bytes, x holds tokens rows
// xStride bytes apart, each in the form of Format.InputBytes. The value of one
// element must not depend on rows, tokens or the position of the element in
// the call: within a Set it is bit-equal for any way to cut the work.
type Product func(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)

// Set is one implementation of every operation; every field is non-nil.
type Set struct {
	// Name is what --kernels takes: generic, avx2, avx512vnni, neon, neon-dotprod.
	Name string

	// Quantize writes one int8 activation row (layout: Format.InputBytes).
	// len(x) is a multiple of BlockValues, len(dst) ≥ Int8RowBytes(len(x)).
	// Reference: QuantizeRow. Exact.
	Quantize func(dst []byte, x []float32)

	// Product holds the matrix products by weight format. References: ProductF32,
	// ProductQ4_K and so on, one a format.
	// Bound: |y − exact| ≤ 2·cols·2⁻²⁴·Σ|W·X| for the same inputs,
	// where |W| of an affine weight is |d·q| + |m|: its two terms may cancel.
	Product [NumFormats]Product

	// Dot returns Σ x[i]·y[i], len(y) ≥ len(x). Reference: Dot.
	// Bound as for Product.
	Dot func(x, y []float32) float32

	// Axpy computes y[i] += a·x[i], len(y) ≥ len(x). Reference: Axpy.
	// Bound: one rounding more or less (fused or not): 2⁻²³·(|y|+|a·x|).
	Axpy func(y []float32, a float32, x []float32)

	// WidenF16 converts IEEE halves to float32, len(src) = 2·len(dst).
	// Reference: WidenF16. Exact, subnormals included.
	WidenF16 func(dst []float32, src []byte)

	// NarrowF16 converts float32 to IEEE halves, ties to even, out of range to
	// infinity, len(dst) = 2·len(src). Reference: NarrowF16. Exact but for NaN payloads.
	NarrowF16 func(dst []byte, src []float32)

	// The steps of attention over one tile, or over any run of its rows. They
	// take any alignment, and a result does not depend on how rows are cut into
	// calls. padded is a multiple of 16; group is a multiple of 16, the last
	// group of a row may be short, group ≥ padded is one group; a row has
	// ng = ⌈padded/group⌉ groups.

	// Unpack reads rows of codes of 1 to 8 bits (the index; 0 is nil), packed as
	// by PackCodes, row r from byte r·rowBytes of payload on, into dst
	// [rows][padded]: table[code] up to 4 bits (table has 16 entries),
	// code − 2^(bits−1) above (table is not read).
	// Reference: UnpackInt8. Exact.
	Unpack [9]func(dst []int8, payload []byte, rowBytes, padded, rows int, table []int8)

	// Score adds the products of an int8 query with int8 rows, codes
	// [rows][padded]:
	//
	//	scores[r] += Σ_g qScale[g]·scales[r·ng+g]·Σ_{c in g} q[c]·codes[r·padded+c]
	//	                + minima[r·ng+g]·qSum[g]
	//
	// q [padded] is within ±127 (QuantizeQuery), codes are any int8; minima may
	// be nil. A query of two int8 planes takes two calls.
	// Reference: Score. Exact.
	Score func(scores []float32, codes []int8, padded, rows int,
		q []int8, qScale, qSum, scales, minima []float32, group int)

	// Mix adds weighted rows, out [padded], the first row first:
	//
	//	out[c] += Σ_r w[r·ng+g(c)]·codes[r·padded+c]
	//
	// w is the softmax weight times the scale of the row's group.
	// Reference: Mix. Bound: (rows+1)·2⁻²³·(|out| + Σ|w·code|).
	Mix func(out []float32, codes []int8, padded, rows int, w []float32, group int)

	// ScaleRows computes what Mix takes: dst[r·ng+g] = w[r]·scales[r·ng+g], ng scales
	// a row, r < len(w), g < ng. Reference: ScaleRows. Exact.
	ScaleRows func(dst, w, scales []float32, ng int)

	// DotRows computes scores[r] = Σ_{c < len(q)} q[c]·x[r·stride+c].
	// Reference: DotRows. Bound as for Product.
	DotRows func(scores, x []float32, stride, rows int, q []float32)

	// AxpyRows adds weighted rows, the first row first:
	// out[c] += Σ_r w[r]·x[r·stride+c], c < len(out).
	// Reference: AxpyRows. Bound: (rows+1)·2⁻²³·(|out| + Σ|w·x|).
	AxpyRows func(out, w, x []float32, stride, rows int)

	// QuantizeQuery writes the codes of q, len(q) a multiple of 16, and for each
	// group its scale and scale·Σ code; what Score takes.
	// Reference: QuantizeQuery. Exact for finite q.
	QuantizeQuery func(dst []int8, scale, sum []float32, q []float32, group int)

	// Walsh turns each block of n values of x by the orthonormal Walsh–Hadamard
	// matrix; n is a power of two, len(x) a multiple of n.
	// Reference: Walsh. Exact.
	Walsh func(x []float32, n int)

	// ExpSum computes x[i] = Exp(x[i] − largest) and returns the sum of the
	// results, in the order of the reference. Reference: ExpSum. Exact.
	ExpSum func(x []float32, largest float32) (sum float32)

	// Max returns the largest of x, −∞ where x is empty; NaN counts as nothing.
	// Reference: Max. Exact but for the sign of zero.
	Max func(x []float32) float32

	// The steps of sealing a row, see seal.go.

	// Finite maps NaN to 0 and magnitudes above 65504 to ±65504.
	// Reference: FiniteRow. Exact.
	Finite func(x []float32)

	// FitLevels fits one group of 1 to 128 values within ±65504 to half levels on
	// either side of 0: it writes codes [len(x)] and returns the scale, a half.
	// table is a LevelTable, half 1 to 8. Reference: FitLevels. Exact.
	FitLevels func(codes []uint8, x, table []float32, half int, debias bool) (scale float32)

	// FitUniform fits one group of 1 to 128 values within ±65504 to a uniform grid
	// of 2^bits levels, 1 to 8 bits: it writes codes [len(x)] and returns the scale,
	// a half. Reference: FitUniform. Exact.
	FitUniform func(codes []uint8, x []float32, bits int, debias bool) (scale float32)

	// Pack writes the codes of a row as planes, len(codes)·bits/8 bytes; len(codes) is
	// a multiple of 16. Reference: PackCodes. Exact.
	Pack func(dst []byte, codes []uint8, bits int)
}

// Generic returns the Set made of the references alone. It runs everywhere.
func Generic() Set {
	return Set{
		Name:     "generic",
		Quantize: QuantizeRow,
		Product: [NumFormats]Product{
			F32: ProductF32, F16: ProductF16, BF16: ProductBF16,
			Q8_0: ProductQ8_0, Q4_0: ProductQ4_0, Q4_1: ProductQ4_1,
			Q5_0: ProductQ5_0, Q5_1: ProductQ5_1, Q2_K: ProductQ2_K, Q3_K: ProductQ3_K,
			Q4_K: ProductQ4_K, Q5_K: ProductQ5_K, Q6_K: ProductQ6_K,
			IQ4_NL: ProductIQ4_NL, IQ4_XS: ProductIQ4_XS,
		},
		Dot: Dot, Axpy: Axpy, WidenF16: WidenF16, NarrowF16: NarrowF16,
		Unpack: unpackInt8(), Score: Score, Mix: Mix, DotRows: DotRows, AxpyRows: AxpyRows,
		QuantizeQuery: QuantizeQuery, Walsh: Walsh, ExpSum: ExpSum, Max: Max,
		ScaleRows: ScaleRows, Finite: FiniteRow, FitLevels: FitLevels, FitUniform: FitUniform,
		Pack: PackCodes,
	}
}

// All returns the Sets this CPU can run, Generic first, the best last.
func All() []Set { return arch([]Set{Generic()}) }

// Best returns the best Set this CPU can run.
func Best() Set {
	sets := All()
	return sets[len(sets)-1]
}

// Names lists the Sets this CPU can run, the best last.
func Names() []string {
	var names []string
	for _, s := range All() {
		names = append(names, s.Name)
	}
	return names
}

// ByName returns the named Set; "" and "auto" mean the best one. The error
// names the Sets this CPU has.
func ByName(name string) (Set, error) {
	if name == "" || name == "auto" {
		return Best(), nil
	}
	for _, s := range All() {
		if s.Name == name {
			return s, nil
		}
	}
	return Set{}, fmt.Errorf("kernels: no set %q on this CPU; available: auto, %s",
		name, strings.Join(Names(), ", "))
}
