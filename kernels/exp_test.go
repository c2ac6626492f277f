package kernels

import (
	"math"
	"testing"
)

// TestExpWithinOneUlp walks every 97th float32 (under emulation, fewer) from
// below the smallest subnormal result to above the largest finite one.
func TestExpWithinOneUlp(t *testing.T) {
	step := uint32(97)
	if testing.Short() {
		step = 9973
	}
	worst, worstAt := 0.0, float32(0)
	check := func(x float32) {
		exact := math.Exp(float64(x))
		got := float64(Exp(x))
		ulp := math.Max(math.Ldexp(1, math.Ilogb(exact)-23), 0x1p-149)
		if off := math.Abs(got-exact) / ulp; off > worst {
			worst, worstAt = off, x
		}
	}
	for bits := uint32(0); bits < math.Float32bits(88.72); bits += step {
		check(math.Float32frombits(bits))
	}
	for bits := uint32(1) << 31; bits < math.Float32bits(-104); bits += step {
		check(math.Float32frombits(bits))
	}
	if worst > 1 {
		t.Errorf("Exp(%v) is off by %.3f ulp; want at most 1", worstAt, worst)
	}
	t.Logf("worst: %.3f ulp at %v", worst, worstAt)
}

func TestExpAtTheEdges(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct{ x, want float32 }{
		{0, 1}, {float32(math.Copysign(0, -1)), 1}, {inf, inf}, {-inf, 0}, {88.73, inf}, {-104, 0},
		{-1e30, 0}, {1e30, inf}, {1e-30, 1}, {-1e-30, 1},
	} {
		if got := Exp(c.x); got != c.want {
			t.Errorf("Exp(%v) = %v, want %v", c.x, got, c.want)
		}
	}
	if got := Exp(float32(math.NaN())); got == got {
		t.Errorf("Exp(NaN) = %v, want NaN", got)
	}
}
