//go:build !noasm

package amd64

// Products of the block formats with int8 activation rows. Every element is
// one chain over its blocks, whichever path computes it (see rows_amd64.s), so
// the two tiers and all cuts of a product agree to the bit:
//
//   - few tokens: eight rows side by side, straight from the weights;
//   - many tokens: groups of rows are unpacked once into a panel and multiplied
//     with all tokens (batch_amd64.go).

// blockKernel is one block format on one tier.
type blockKernel uint8

const (
	q8_0AVX2 blockKernel = iota
	q4_0AVX2
	q4_1AVX2
	q8_0VNNI
	q4_0VNNI
	q4_1VNNI
)

// blockValues is the number of weights in a block of every format here.
const blockValues = 32

// blockBytes is the size of a block by kernel.
var blockBytes = [...]int{34, 18, 20, 34, 18, 20}

// ProductQ8_0AVX2 equals kernels.ProductQ8_0 within the bound of kernels.Set.
// It needs AVX2, FMA and F16C. Activation codes are −127..127.
func ProductQ8_0AVX2(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	blockProduct(q8_0AVX2, y, yStride, w, x, xStride, rows, cols, tokens)
}

// ProductQ4_0AVX2 is the like of kernels.ProductQ4_0.
func ProductQ4_0AVX2(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	blockProduct(q4_0AVX2, y, yStride, w, x, xStride, rows, cols, tokens)
}

// ProductQ4_1AVX2 is the like of kernels.ProductQ4_1.
func ProductQ4_1AVX2(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	blockProduct(q4_1AVX2, y, yStride, w, x, xStride, rows, cols, tokens)
}

// ProductQ8_0VNNI is ProductQ8_0AVX2 for CPUs with AVX-512 F, BW, VL, DQ and VNNI.
func ProductQ8_0VNNI(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	blockProduct(q8_0VNNI, y, yStride, w, x, xStride, rows, cols, tokens)
}

// ProductQ4_0VNNI is ProductQ4_0AVX2 on AVX-512 VNNI.
func ProductQ4_0VNNI(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	blockProduct(q4_0VNNI, y, yStride, w, x, xStride, rows, cols, tokens)
}

// ProductQ4_1VNNI is ProductQ4_1AVX2 on AVX-512 VNNI.
func ProductQ4_1VNNI(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	blockProduct(q4_1VNNI, y, yStride, w, x, xStride, rows, cols, tokens)
}

// blockOperands is a product as the steps below see it.
type blockOperands struct {
	kernel   blockKernel
	y        []float32 // [tokens][yStride]
	yStride  int
	w        []byte // [rows][rowBytes]
	rowBytes int
	x        []byte // [tokens][xStride]: codes, scales, sums
	xStride  int
	rows     int
	cols     int
	tokens   int
}

func blockProduct(k blockKernel, y []float32, yStride int, w, x []byte,
	xStride, rows, cols, tokens int) {
	if rows == 0 || tokens == 0 {
		return
	}
	o := blockOperands{
		kernel: k, y: y[:(tokens-1)*yStride+rows], yStride: yStride,
		rowBytes: cols / blockValues * blockBytes[k], xStride: xStride,
		rows: rows, cols: cols, tokens: tokens,
	}
	// The assembly checks nothing: operands that are too short panic here.
	o.w = w[:rows*o.rowBytes]
	o.x = x[:(tokens-1)*xStride+cols+8*(cols/blockValues)]
	switch {
	case cols == 0:
		for t := range tokens {
			clear(o.y[t*yStride:][:rows])
		}
	case tokens >= tileTokens && rows >= panelRows(k):
		o.batch()
	default:
		o.rowByRow(0)
	}
}

// callBytes bounds the weights that one assembly call reads. It cannot be
// preempted; at a slow board's 3 GB/s it takes some 40 µs.
const callBytes = 128 << 10

// rowByRow computes the tokens from first on, a slice of rows for all of them
// before the next, so that weights come from memory once.
func (o *blockOperands) rowByRow(first int) {
	step := max(1, callBytes/(8*o.rowBytes)) * 8
	for r := 0; r < o.rows; r += step {
		for t := first; t < o.tokens; t++ {
			o.rowsTimesToken(r, min(step, o.rows-r), t)
		}
	}
}

// rowsTimesToken computes rows [r, r+rows) of token t.
func (o *blockOperands) rowsTimesToken(r, rows, t int) {
	y, x := o.y[t*o.yStride+r:][:rows], &o.x[t*o.xStride]
	if groups := rows / 8; groups > 0 {
		o.rowGroups(&y[0], &o.w[r*o.rowBytes], o.rowBytes, x, groups)
	}
	// The last few rows: each fills all eight lanes of a group by itself.
	var lanes [8]float32
	for i := rows &^ 7; i < rows; i++ {
		o.rowGroups(&lanes[0], &o.w[(r+i)*o.rowBytes], 0, x, 1)
		y[i] = lanes[0]
	}
}

func (o *blockOperands) rowGroups(y *float32, w *byte, rowBytes int, x *byte, groups int) {
	switch o.kernel {
	case q8_0AVX2, q8_0VNNI:
		rowsQ8_0AVX2(y, w, rowBytes, x, o.cols, groups)
	case q4_0AVX2, q4_0VNNI:
		rowsQ4_0AVX2(y, w, rowBytes, x, o.cols, groups)
	case q4_1AVX2, q4_1VNNI:
		rowsQ4_1AVX2(y, w, rowBytes, x, o.cols, groups)
	}
}
