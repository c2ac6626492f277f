package kernels

// The references: scalar Go, one formula each. They are the specification of
// every assembly routine and the whole implementation where there is none.

import (
	"encoding/binary"
	"math"
)

// minQuantAmax is the largest magnitude below which a block of activations is
// taken as zero: 127/amax would overflow float32 for denormal magnitudes.
const minQuantAmax = 1e-30

// QuantizeRow is the reference of Set.Quantize. Per block of 32:
//
//	amax = max|x|, scale = amax/127, code = rne(x·(127/amax)), sum = scale·Σ code
//
// in float32 with every operation rounded; a block with amax < 1e-30 is all zero.
func QuantizeRow(dst []byte, x []float32) {
	cols := len(x)
	blocks := cols / BlockValues
	scales, sums := dst[cols:cols+4*blocks], dst[cols+4*blocks:cols+8*blocks]
	for b := 0; b < blocks; b++ {
		block := x[b*BlockValues : (b+1)*BlockValues]
		var amax float32
		for _, v := range block {
			if a := float32(math.Abs(float64(v))); a > amax {
				amax = a
			}
		}
		var scale, inverse float32
		if amax >= minQuantAmax {
			scale, inverse = amax/127, 127/amax
		}
		var sum int32
		for i, v := range block {
			code := int8(math.RoundToEven(float64(v * inverse)))
			dst[b*BlockValues+i] = byte(code)
			sum += int32(code)
		}
		putF32(scales[4*b:], scale)
		putF32(sums[4*b:], scale*float32(sum))
	}
}

// Int8Row gives the three parts of an int8 activation row of cols values.
func Int8Row(row []byte, cols int) (codes, scales, sums []byte) {
	n := 4 * (cols / BlockValues)
	return row[:cols], row[cols : cols+n], row[cols+n : cols+2*n]
}

// ProductF32 is the reference of Set.Product[F32].
func ProductF32(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	floatProduct(y, yStride, w, x, xStride, rows, cols, tokens, 4, f32At)
}

// ProductF16 is the reference of Set.Product[F16].
func ProductF16(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	floatProduct(y, yStride, w, x, xStride, rows, cols, tokens, 2, f16At)
}

// ProductBF16 is the reference of Set.Product[BF16].
func ProductBF16(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	floatProduct(y, yStride, w, x, xStride, rows, cols, tokens, 2, bf16At)
}

// floatProduct is the product of a float format, value by value: at reads the
// weight that begins at b[0], size is its bytes.
func floatProduct(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens, size int,
	at func(b []byte) float32) {
	for t := 0; t < tokens; t++ {
		in := x[t*xStride : t*xStride+4*cols]
		for r := 0; r < rows; r++ {
			row := w[r*cols*size : (r+1)*cols*size]
			var sum float32
			for c := 0; c < cols; c++ {
				sum += at(row[c*size:]) * f32At(in[4*c:])
			}
			y[t*yStride+r] = sum
		}
	}
}

// ProductQ8_0 is the reference of Set.Product[Q8_0]: Σ_b d·s·Σ q·a.
func ProductQ8_0(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	blockProduct(y, yStride, w, x, xStride, rows, cols, tokens, 34,
		func(block []byte, a []byte, scale, sum float32) float32 {
			var dot int32
			for i := 0; i < BlockValues; i++ {
				dot += int32(int8(block[2+i])) * int32(int8(a[i]))
			}
			return f16At(block) * scale * float32(dot)
		})
}

// ProductQ4_0 is the reference of Set.Product[Q4_0]: Σ_b d·s·Σ (q−8)·a.
func ProductQ4_0(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	blockProduct(y, yStride, w, x, xStride, rows, cols, tokens, 18,
		func(block []byte, a []byte, scale, sum float32) float32 {
			return f16At(block) * scale * float32(nibbleDot(block[2:18], a, 8))
		})
}

// ProductQ4_1 is the reference of Set.Product[Q4_1]: Σ_b d·s·Σ q·a + m·s·Σ a.
func ProductQ4_1(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
	blockProduct(y, yStride, w, x, xStride, rows, cols, tokens, 20,
		func(block []byte, a []byte, scale, sum float32) float32 {
			dot := nibbleDot(block[4:20], a, 0)
			return f16At(block)*scale*float32(dot) + f16At(block[2:])*sum
		})
}

// blockProduct runs over blocks of 32 weights; term gives the contribution of
// one weight block with its 32 int8 activations, their scale and their sum.
func blockProduct(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens, blockBytes int,
	term func(block, a []byte, scale, sum float32) float32) {
	blocks := cols / BlockValues
	for t := 0; t < tokens; t++ {
		codes, scales, sums := Int8Row(x[t*xStride:], cols)
		for r := 0; r < rows; r++ {
			row := w[r*blocks*blockBytes:]
			var total float32
			for b := 0; b < blocks; b++ {
				total += term(row[b*blockBytes:(b+1)*blockBytes],
					codes[b*BlockValues:(b+1)*BlockValues], f32At(scales[4*b:]), f32At(sums[4*b:]))
			}
			y[t*yStride+r] = total
		}
	}
}

// nibbleDot is Σ (q_i − offset)·a_i; byte j holds q_j low and q_{j+16} high.
func nibbleDot(nibbles, a []byte, offset int32) int32 {
	var dot int32
	for j := 0; j < 16; j++ {
		dot += (int32(nibbles[j]&15) - offset) * int32(int8(a[j]))
		dot += (int32(nibbles[j]>>4) - offset) * int32(int8(a[j+16]))
	}
	return dot
}

// Dot is the reference of Set.Dot.
func Dot(x, y []float32) float32 {
	y = y[:len(x)]
	var sum float32
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// Axpy is the reference of Set.Axpy.
func Axpy(y []float32, a float32, x []float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += a * v
	}
}

func f32At(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

func f16At(b []byte) float32 { return F16ToF32(binary.LittleEndian.Uint16(b)) }

func bf16At(b []byte) float32 {
	return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16)
}

func putF32(b []byte, v float32) { binary.LittleEndian.PutUint32(b, math.Float32bits(v)) }
