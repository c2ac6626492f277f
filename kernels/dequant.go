package kernels

// De-quantization of weights: one row to float32. It serves the embedding
// look-up, model facts and tests; products never go through it.

import "fmt"

// DequantizeRow writes the len(dst) values of one row stored in format f. Each
// value is exact to the block formulas beside the Format constants and in
// codeblock.go, evaluated in float32: d·q rounded, then + m rounded. len(dst) is
// a multiple of the block's values and src holds f.RowBytes(len(dst)) bytes.
func DequantizeRow(f Format, dst []float32, src []byte) {
	src = src[:f.RowBytes(len(dst))]
	switch f {
	case F32:
		for i := range dst {
			dst[i] = f32At(src[4*i:])
		}
	case F16:
		WidenF16(dst, src)
	case BF16:
		for i := range dst {
			dst[i] = bf16At(src[2*i:])
		}
	case Q8_0:
		for b := 0; b < len(dst); b, src = b+BlockValues, src[34:] {
			d := f16At(src)
			for i := 0; i < BlockValues; i++ {
				dst[b+i] = d * float32(int8(src[2+i]))
			}
		}
	case Q4_0:
		for b := 0; b < len(dst); b, src = b+BlockValues, src[18:] {
			nibbleBlock(dst[b:b+BlockValues], src[2:18], f16At(src), 8, noOffset)
		}
	case Q4_1:
		for b := 0; b < len(dst); b, src = b+BlockValues, src[20:] {
			nibbleBlock(dst[b:b+BlockValues], src[4:20], f16At(src), 0, f16At(src[2:]))
		}
	default:
		if !codeBlockFormat(f) {
			panic(fmt.Sprintf("kernels: BUG: no de-quantization of %v", f))
		}
		dequantizeBlocks(f, dst, src)
	}
}

// nibbleBlock is dst_i = d·(q_i − offset) + m with the nibble order of
// nibbleDot. The conversion keeps the compiler from fusing the two roundings.
func nibbleBlock(dst []float32, nibbles []byte, d float32, offset int, m float32) {
	for j := 0; j < 16; j++ {
		dst[j] = float32(d*float32(int(nibbles[j]&15)-offset)) + m
		dst[j+16] = float32(d*float32(int(nibbles[j]>>4)-offset)) + m
	}
}
