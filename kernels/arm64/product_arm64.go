//go:build !noasm

package arm64

// The products in Go: check what the assembly will touch, then cut the work
// into calls it takes: a slice of rows short enough for one call, all tokens
// over it (the slice stays in the L2 cache), then the next slice.

const (
	blockValues = 32 // values of a weight block

	// sliceBytes of weights make one call: assembly cannot be preempted, so a
	// call should end within 200 µs. On a Cortex-A53 at 1 GHz the longest, Q4_0
	// with eight tokens, takes about 175 µs (llvm-mca: 310 cycles per block of
	// four rows); reading the slice takes 90 µs when four cores share 1.8 GB/s.
	sliceBytes = 40 << 10

	// groupRows is how many rows the assembly takes at a time.
	groupRows = 4
)

// kernel is one product in assembly, see stubs_arm64.go.
type kernel func(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)

// operands are the arguments of one product, see kernels.Product.
type operands struct {
	y       []float32 // [tokens][yStride]
	yStride int
	w       []byte // [rows][rowBytes]
	x       []byte // [tokens][xStride]
	xStride int
	rows    int
	cols    int
	tokens  int
}

// ProductF32NEON is kernels.ProductF32.
func ProductF32NEON(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	o := operands{y, yStride, w, x, xStride, rows, cols, tokens}
	o.multiply(productF32NEON, 4*cols, 4*cols, 4)
}

// ProductF16NEON is kernels.ProductF16.
func ProductF16NEON(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	o := operands{y, yStride, w, x, xStride, rows, cols, tokens}
	o.multiply(productF16NEON, 2*cols, 4*cols, 4)
}

// ProductBF16NEON is kernels.ProductBF16.
func ProductBF16NEON(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	o := operands{y, yStride, w, x, xStride, rows, cols, tokens}
	o.multiply(productBF16NEON, 2*cols, 4*cols, 4)
}

// ProductQ8_0NEON is kernels.ProductQ8_0.
func ProductQ8_0NEON(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	o := operands{y, yStride, w, x, xStride, rows, cols, tokens}
	o.multiplyBlocks(productQ8_0NEON, 34)
}

// ProductQ4_0NEON is kernels.ProductQ4_0.
func ProductQ4_0NEON(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	o := operands{y, yStride, w, x, xStride, rows, cols, tokens}
	o.multiplyBlocks(productQ4_0NEON, 18)
}

// ProductQ4_1NEON is kernels.ProductQ4_1.
func ProductQ4_1NEON(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	o := operands{y, yStride, w, x, xStride, rows, cols, tokens}
	o.multiplyBlocks(productQ4_1NEON, 20)
}

// ProductQ8_0Dot is kernels.ProductQ8_0.
func ProductQ8_0Dot(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	o := operands{y, yStride, w, x, xStride, rows, cols, tokens}
	o.multiplyBlocks(productQ8_0Dot, 34)
}

// ProductQ4_0Dot is kernels.ProductQ4_0.
func ProductQ4_0Dot(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	o := operands{y, yStride, w, x, xStride, rows, cols, tokens}
	o.multiplyBlocks(productQ4_0Dot, 18)
}

// ProductQ4_1Dot is kernels.ProductQ4_1.
func ProductQ4_1Dot(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	o := operands{y, yStride, w, x, xStride, rows, cols, tokens}
	o.multiplyBlocks(productQ4_1Dot, 20)
}

// multiplyBlocks runs k over weights in blocks of blockBytes and int8 activations.
func (o operands) multiplyBlocks(k kernel, blockBytes int) {
	blocks := o.cols / blockValues
	o.multiply(k, blocks*blockBytes, o.cols+2*4*blocks, 8)
}

// multiply runs k over weight rows of rowBytes and activation rows of
// inputBytes, at most maxTokens tokens at a time.
func (o operands) multiply(k kernel, rowBytes, inputBytes, maxTokens int) {
	if o.rows <= 0 || o.tokens <= 0 {
		return
	}
	y := o.y[:(o.tokens-1)*o.yStride+o.rows]
	if o.cols == 0 {
		o.clear()
		return
	}
	w := o.w[:o.rows*rowBytes]
	x := o.x[:(o.tokens-1)*o.xStride+inputBytes]
	sliceRows := max(sliceBytes/rowBytes/groupRows, 1) * groupRows
	for r := 0; r < o.rows; r += sliceRows {
		rows := min(sliceRows, o.rows-r)
		for t := 0; t < o.tokens; {
			n := 1
			switch left := o.tokens - t; {
			case left >= maxTokens:
				n = maxTokens
			case left >= 4:
				n = 4
			}
			k(y[t*o.yStride+r:], o.yStride, w[r*rowBytes:], x[t*o.xStride:], o.xStride,
				rows, o.cols, n)
			t += n
		}
	}
}

// clear sets every element to zero: sums over no columns.
func (o operands) clear() {
	for t := range o.tokens {
		clear(o.y[t*o.yStride : t*o.yStride+o.rows])
	}
}
