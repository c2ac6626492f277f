package kernels

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestDequantizeRowFollowsTheFormulas writes blocks with known scales and
// codes and compares with the formulas beside the Format constants.
func TestDequantizeRowFollowsTheFormulas(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for f := F32; f < NumFormats; f++ {
		values, size := f.Block()
		cols := 3 * max(values, BlockValues)
		row := make([]byte, f.RowBytes(cols))
		for i := range row {
			row[i] = byte(r.Uint32())
		}
		got := make([]float32, cols)
		DequantizeRow(f, got, row)
		for c := range got {
			block := row[c/values*size : (c/values+1)*size]
			want := dequantized(f, block, c%values)
			if want != float64(got[c]) && want == want {
				t.Fatalf("%v value %d = %v, want %v", f, c, got[c], want)
			}
		}
	}
}

// dequantized is value i of one block, in float64 with the roundings of float32.
func dequantized(f Format, block []byte, i int) float64 {
	nibble := func(codes []byte) float64 {
		if i < 16 {
			return float64(codes[i] & 15)
		}
		return float64(codes[i-16] >> 4)
	}
	half := func(at int) float64 { return float64(f16At(block[at:])) }
	round := func(v float64) float64 { return float64(float32(v)) }
	switch f {
	case F32:
		return float64(f32At(block))
	case F16:
		return half(0)
	case BF16:
		return float64(bf16At(block))
	case Q8_0:
		return round(half(0) * float64(int8(block[2+i])))
	case Q4_0:
		return round(half(0) * (nibble(block[2:]) - 8))
	case Q4_1:
		return round(round(half(0)*nibble(block[4:])) + half(2))
	}
	v, offset := codeBlockValue(f, block, i)
	return round(round(v) + offset)
}

func TestElementwiseStepsAgainstFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for n := 1; n < 70; n++ {
		x, w := make([]float32, n), make([]float32, n)
		var square float64
		for i := range x {
			x[i], w[i] = float32(4*r.NormFloat64()), float32(r.NormFloat64())
			square += float64(x[i]) * float64(x[i])
		}
		const epsilon = 1e-2 // large, so that leaving it out or misplacing it shows
		normed, gated, soft := make([]float32, n), append([]float32{}, x...), append([]float32{}, x...)
		RMSNorm(normed, x, w, epsilon)
		SwiGLU(gated, w)
		GeGLU(soft, w)
		for i, v := range x {
			g, u := float64(v), float64(w[i])
			tanh := math.Tanh(math.Sqrt(2/math.Pi) * g * (1 + 0.044715*g*g))
			near(t, "RMSNorm", n, i, normed[i], g*u/math.Sqrt(square/float64(n)+epsilon))
			near(t, "SwiGLU", n, i, gated[i], g/(1+math.Exp(-g))*u)
			near(t, "GeGLU", n, i, soft[i], 0.5*g*(1+tanh)*u)
		}
	}
}

// near allows a few roundings of float32.
func near(t *testing.T, what string, n, i int, got float32, want float64) {
	t.Helper()
	if math.Abs(float64(got)-want) > 1e-6*math.Abs(want)+1e-7 {
		t.Fatalf("%s(n=%d)[%d] = %v, want %v", what, n, i, got, want)
	}
}
