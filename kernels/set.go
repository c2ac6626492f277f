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

	// Product holds the matrix products by weight format. References:
	// ProductF32, ProductF16, ProductBF16, ProductQ8_0, ProductQ4_0, ProductQ4_1.
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
}

// Generic returns the Set made of the references alone. It runs everywhere.
func Generic() Set {
	return Set{
		Name:     "generic",
		Quantize: QuantizeRow,
		Product: [NumFormats]Product{
			F32: ProductF32, F16: ProductF16, BF16: ProductBF16,
			Q8_0: ProductQ8_0, Q4_0: ProductQ4_0, Q4_1: ProductQ4_1,
		},
		Dot:       Dot,
		Axpy:      Axpy,
		WidenF16:  WidenF16,
		NarrowF16: NarrowF16,
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
