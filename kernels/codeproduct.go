package kernels

// Products and values of the formats of codeblock.go. A block is taken apart once
// for all tokens of a call.

// ProductQ5_0 is the reference of Set.Product[Q5_0].
func ProductQ5_0(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	codeProduct(Q5_0, y, yStride, w, x, xStride, rows, cols, tokens)
}

// ProductQ5_1 is the reference of Set.Product[Q5_1].
func ProductQ5_1(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	codeProduct(Q5_1, y, yStride, w, x, xStride, rows, cols, tokens)
}

// ProductQ2_K is the reference of Set.Product[Q2_K].
func ProductQ2_K(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	codeProduct(Q2_K, y, yStride, w, x, xStride, rows, cols, tokens)
}

// ProductQ3_K is the reference of Set.Product[Q3_K].
func ProductQ3_K(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	codeProduct(Q3_K, y, yStride, w, x, xStride, rows, cols, tokens)
}

// ProductQ4_K is the reference of Set.Product[Q4_K].
func ProductQ4_K(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	codeProduct(Q4_K, y, yStride, w, x, xStride, rows, cols, tokens)
}

// ProductQ5_K is the reference of Set.Product[Q5_K].
func ProductQ5_K(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	codeProduct(Q5_K, y, yStride, w, x, xStride, rows, cols, tokens)
}

// ProductQ6_K is the reference of Set.Product[Q6_K].
func ProductQ6_K(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	codeProduct(Q6_K, y, yStride, w, x, xStride, rows, cols, tokens)
}

// ProductIQ4_NL is the reference of Set.Product[IQ4_NL].
func ProductIQ4_NL(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	codeProduct(IQ4_NL, y, yStride, w, x, xStride, rows, cols, tokens)
}

// ProductIQ4_XS is the reference of Set.Product[IQ4_XS].
func ProductIQ4_XS(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	codeProduct(IQ4_XS, y, yStride, w, x, xStride, rows, cols, tokens)
}

// codeProduct adds up, for each element, block by block:
//
//	Σ_k scale[k]·(s·Σ code·a) + offset[k]·(s·Σ a)      over sub-blocks k of 16
//
// with s the scale of the activations a. The integer sums are exact.
func codeProduct(f Format, y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	values, size := f.Block()
	rowBytes := f.RowBytes(cols)
	var block codeBlock
	for r := range rows {
		for t := range tokens {
			y[t*yStride+r] = 0
		}
		row := w[r*rowBytes : (r+1)*rowBytes]
		for first := 0; len(row) > 0; first, row = first+values, row[size:] {
			block.unpack(f, row[:size])
			for t := range tokens {
				codes, scales, _ := Int8Row(x[t*xStride:], cols)
				y[t*yStride+r] += block.dot(codes[first:first+values], scales[first/BlockValues*4:])
			}
		}
	}
}

// dot is the block's part of one element.
func (b *codeBlock) dot(codes, scales []byte) float32 {
	var total float32
	for k := range len(codes) / subBlockValues {
		q := (*[subBlockValues]int8)(b.codes[k*subBlockValues:])
		a := (*[subBlockValues]byte)(codes[k*subBlockValues:])
		var dot, sum int32
		for i, code := range q {
			v := int32(int8(a[i]))
			dot += int32(code) * v
			sum += v
		}
		s := f32At(scales[k/2*4:])
		total += b.scale[k]*(s*float32(dot)) + b.offset[k]*(s*float32(sum))
	}
	return total
}

// dequantizeBlocks is DequantizeRow for the formats of codeblock.go. The
// conversion keeps the compiler from fusing the two roundings.
func dequantizeBlocks(f Format, dst []float32, src []byte) {
	values, size := f.Block()
	var block codeBlock
	for ; len(dst) > 0; dst, src = dst[values:], src[size:] {
		block.unpack(f, src[:size])
		for i := range dst[:values] {
			k := i / subBlockValues
			dst[i] = float32(block.scale[k]*float32(block.codes[i])) + block.offset[k]
		}
	}
}
