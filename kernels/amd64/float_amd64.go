//go:build !noasm

package amd64

// Products of the float formats with float32 activation rows, on AVX2. An
// element is computed in one way whatever the tile (see float_amd64.s).

// floatKernel is one float format.
type floatKernel uint8

const (
	f32AVX2 floatKernel = iota
	f16AVX2
	bf16AVX2
)

// floatBytes is the size of a weight by kernel.
var floatBytes = [...]int{4, 2, 2}

// ProductF32AVX2 equals kernels.ProductF32 within the bound of kernels.Set. It
// needs AVX2, FMA and F16C.
func ProductF32AVX2(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	floatProduct(f32AVX2, y, yStride, w, x, xStride, rows, cols, tokens)
}

// ProductF16AVX2 is the like of kernels.ProductF16.
func ProductF16AVX2(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	floatProduct(f16AVX2, y, yStride, w, x, xStride, rows, cols, tokens)
}

// ProductBF16AVX2 is the like of kernels.ProductBF16.
func ProductBF16AVX2(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	floatProduct(bf16AVX2, y, yStride, w, x, xStride, rows, cols, tokens)
}

// floatOperands is a product as the steps below see it.
type floatOperands struct {
	kernel   floatKernel
	y        []float32 // [tokens][yStride]
	yStride  int
	w        []byte // [rows][rowBytes]
	rowBytes int
	x        []byte // [tokens][xStride], float32
	xStride  int
	cols     int
}

func floatProduct(k floatKernel, y []float32, yStride int, w, x []byte,
	xStride, rows, cols, tokens int) {
	if rows == 0 || tokens == 0 {
		return
	}
	if cols == 0 {
		for t := range tokens {
			clear(y[t*yStride:][:rows])
		}
		return
	}
	rowBytes := cols * floatBytes[k]
	// The assembly checks nothing: operands that are too short panic here.
	o := floatOperands{
		kernel: k, y: y[:(tokens-1)*yStride+rows], yStride: yStride,
		w: w[:rows*rowBytes], rowBytes: rowBytes,
		x: x[:(tokens-1)*xStride+4*cols], xStride: xStride, cols: cols,
	}
	// A slice of rows meets all tokens before the next, so that weights come
	// from memory once.
	step := max(1, callBytes/(4*rowBytes)) * 4
	for r := 0; r < rows; r += step {
		n := min(step, rows-r)
		t := 0
		for ; t+3 <= tokens; t += 3 {
			o.rowsTimes(r, n, t, 3)
		}
		for ; t < tokens; t++ {
			o.rowsTimes(r, n, t, 1)
		}
	}
}

// rowsTimes computes rows [r, r+rows) with one or three tokens from t on.
func (o *floatOperands) rowsTimes(r, rows, t, tokens int) {
	if groups := rows / 4; groups > 0 {
		o.rowGroups(&o.y[t*o.yStride+r], o.yStride, r, o.rowBytes, t, tokens, groups)
	}
	// The last few rows: each fills all four lanes of a group by itself.
	var lanes [3 * 4]float32
	for i := r + rows&^3; i < r+rows; i++ {
		o.rowGroups(&lanes[0], 4, i, 0, t, tokens, 1)
		for k := range tokens {
			o.y[(t+k)*o.yStride+i] = lanes[4*k]
		}
	}
}

func (o *floatOperands) rowGroups(y *float32, yStride, r, rowBytes, t, tokens, groups int) {
	w, x := &o.w[r*o.rowBytes], &o.x[t*o.xStride]
	switch {
	case o.kernel == f32AVX2 && tokens == 3:
		rows4Tokens3F32(y, yStride, w, rowBytes, x, o.xStride, o.cols, groups)
	case o.kernel == f32AVX2:
		rows4Tokens1F32(y, yStride, w, rowBytes, x, o.xStride, o.cols, groups)
	case o.kernel == f16AVX2 && tokens == 3:
		rows4Tokens3F16(y, yStride, w, rowBytes, x, o.xStride, o.cols, groups)
	case o.kernel == f16AVX2:
		rows4Tokens1F16(y, yStride, w, rowBytes, x, o.xStride, o.cols, groups)
	case o.kernel == bf16AVX2 && tokens == 3:
		rows4Tokens3BF16(y, yStride, w, rowBytes, x, o.xStride, o.cols, groups)
	case o.kernel == bf16AVX2:
		rows4Tokens1BF16(y, yStride, w, rowBytes, x, o.xStride, o.cols, groups)
	}
}
