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
				codes, scales, sums := Int8Row(x[t*xStride:], cols)
				at := first / BlockValues * 4
				y[t*yStride+r] += block.dot(codes[first:first+values], scales[at:], sums[at:])
			}
		}
	}
}

// dot is the block's part of one element. Where both halves of 32 values have one
// offset, their Σ a is the sum that the activation row has ready.
func (b *codeBlock) dot(codes, scales, sums []byte) float32 {
	var total float32
	for k := 0; k < len(codes)/subBlockValues; k += 2 {
		first := (*[subBlockValues]byte)(codes[k*subBlockValues:])
		second := (*[subBlockValues]byte)(codes[(k+1)*subBlockValues:])
		s := f32At(scales[2*k:])
		total += b.scale[k] * (s * float32(b.dotOf(k, first)))
		total += b.scale[k+1] * (s * float32(b.dotOf(k+1, second)))
		if low, high := b.offset[k], b.offset[k+1]; low != high {
			total += low*(s*float32(sumOf(first))) + high*(s*float32(sumOf(second)))
		} else if low != 0 {
			total += low * f32At(sums[2*k:])
		}
	}
	return total
}

// dotOf is Σ code·a over sub-block k.
func (b *codeBlock) dotOf(k int, a *[subBlockValues]byte) (dot int32) {
	q := (*[subBlockValues]byte)(b.codes[k*subBlockValues:])
	for i, code := range q {
		dot += int32(int8(code)) * int32(int8(a[i]))
	}
	return dot
}

func sumOf(a *[subBlockValues]byte) (sum int32) {
	for _, v := range a {
		sum += int32(int8(v))
	}
	return sum
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
			dst[i] = float32(block.scale[k]*float32(int8(block.codes[i]))) + block.offset[k]
		}
	}
}
