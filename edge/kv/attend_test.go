package kv

import (
	"fmt"
	"math"
	"testing"

	"edgeinfer/kernels"
)

// headDims are those of the models that are run, and the embedded one's.
var headDims = []int{8, 64, 72, 80, 96, 128, 256}

// TestAttentionOfEveryBitPair holds attention over the default formats of every
// pair of widths and every head dimension against float64 on the de-quantized tiles
// and the quantized query; in short mode every width of each side.
func TestAttentionOfEveryBitPair(t *testing.T) {
	const n = 135
	for _, headDim := range headDims {
		for kBits := 1; kBits <= 8; kBits++ {
			for vBits := 1; vBits <= 8; vBits++ {
				if testing.Short() && (kBits+vBits+headDim/8)%8 != 0 {
					continue
				}
				group := []int{16, 32, 64, 128}[(kBits+2*vBits)%4]
				k, v := kernels.KeyRows(kBits, group), kernels.ValueRows(vBits, 64)
				g := uniform(1, 2, 1, headDim, k, v, n, 1, 1)
				t.Run(fmt.Sprintf("k%dv%d,d=%d", kBits, vBits, headDim), func(t *testing.T) {
					checkGeometry(t, g, n)
				})
			}
		}
	}
}

// TestAttentionOfEveryFormat does so for the other formats, fits and transforms,
// each width of them, with a window of one tile and without one where it can be.
func TestAttentionOfEveryFormat(t *testing.T) {
	const n = 135
	plainRows := kernels.KVFormat{Kind: kernels.KVRows, Group: 64}
	turned, centred, balanced := ra(0, 32), ra(0, 32), kernels.KeyRows(0, 32)
	turned.Rotate, centred.Centre, balanced.Balance = true, true, true
	clipped := ra(0, 16)
	clipped.Fit, clipped.ClipPercent = kernels.FitsLS, 90
	turnedChannels := kernels.KeyChannels(0)
	turnedChannels.Rotate, turnedChannels.Centre = true, true
	keys := []kernels.KVFormat{ra(0, 16), plainRows, turned, centred, balanced, clipped,
		kernels.KeyChannels(0), kernels.CompactChannels(0), turnedChannels}
	values := []kernels.KVFormat{ra(0, 32), turned, plainRows, f16, kernels.ValueRows(0, 128)}
	for i, k := range keys {
		for bits := 1; bits <= 8; bits++ {
			if testing.Short() && (bits+i)%4 != 0 {
				continue
			}
			headDim, v := headDims[(bits+i)%len(headDims)], values[(bits+i)%len(values)]
			k.Bits = bits
			if v.Quantized() {
				v.Bits = 9 - bits
			}
			for window := -1; window <= 1; window += 2 {
				if window < 0 && !k.ByRow() {
					continue
				}
				g := uniform(1, 4, 2, headDim, k, v, n, window, 1)
				t.Run(fmt.Sprintf("%v,%v,d=%d,r=%d", k, v, headDim, window), func(t *testing.T) {
					checkGeometry(t, g, n)
				})
			}
		}
	}
}

// TestAttentionOfEveryWindow does so for windows, sinks, sliding windows and
// the float formats.
func TestAttentionOfEveryWindow(t *testing.T) {
	const n = 200
	for window := -1; window <= 3; window++ {
		for sinks := 0; sinks <= 2; sinks++ {
			checkGeometry(t, uniform(1, 4, 2, 16, kr(4), vr(3), n, window, sinks), n)
			checkGeometry(t, uniform(1, 4, 2, 16, ra(4, 16), ra(3, 16), n, window, sinks), n)
			checkGeometry(t, uniform(1, 2, 2, 16, f16, ra(3, 16), n, window, sinks), n)
			checkGeometry(t, uniform(1, 2, 2, 16, ra(3, 16), f32, n, window, sinks), n)
		}
	}
	for _, slide := range []int{1, 5, 32, 33, 64, 100, 1000} {
		for window := -1; window <= 3; window++ {
			g := uniform(1, 2, 1, 16, kr(4), vr(5), n, window, 1)
			checkGeometry(t, sliding(g, 0, slide), n)
		}
		checkGeometry(t, sliding(uniform(1, 2, 1, 8, f32, f16, n, 1, 1), 0, slide), n)
	}
	checkGeometry(t, uniform(1, 2, 1, 72, f32, f32, n, 1, 1), n)
	checkGeometry(t, uniform(1, 2, 1, 72, f16, f16, n, 1, 1), n)
}

func checkGeometry(t *testing.T, g kernels.KVGeometry, n int) {
	t.Helper()
	c, _ := newCache(t, g, 2)
	in := newTokens(g, n, 5)
	var balance []float32
	if g.Layers[0].K.Balance {
		for i := range g.BalanceValues(g.Layers[0]) {
			balance = append(balance, float32(1+i%7)/4)
		}
		if err := c.Balance(0, balance); err != nil {
			t.Fatal(err)
		}
	}
	out := in.newOutputs()
	in.run(newSession(t, c), out, n, 64)
	checkAgainstReference(t, newReference(g, 0, in.layers[0], balance), out[0])
}

// TestLongContext crosses several ranges.
func TestLongContext(t *testing.T) {
	const n = 1700
	g := uniform(1, 2, 1, 16, kr(8), vr(8), n, 1, 1)
	c, _ := newCache(t, g, 2)
	in := newTokens(g, n, 6)
	out := in.newOutputs()
	s := newSession(t, c)
	in.run(s, out, n-3, 64)
	in.run(s, out, n, 1)
	r := newReference(g, 0, in.layers[0], nil)
	for _, query := range []int{511, 512, 1024, n - 4, n - 2, n - 1} {
		want, bound := r.attend(query, 1)
		for i, w := range want {
			if v := out[0][(query*2+1)*16+i]; math.Abs(float64(v)-w) > bound {
				t.Errorf("query %d, channel %d: %v, want %v within %.3g", query, i, v, w, bound)
			}
		}
	}
}

// TestExtremeInput: keys and values that are no numbers, or too large for 16 bits,
// are taken as the nearest that is one, in the window as in codes: every result is
// a number.
func TestExtremeInput(t *testing.T) {
	const n = 130
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	extreme := []float32{nan, inf, -inf, 1e9, -1e9, 65504}
	for _, c := range []struct {
		name string
		g    kernels.KVGeometry
	}{
		{"affine", uniform(1, 2, 1, 16, ra(4, 16), ra(2, 16), n, 0, 0)},
		{"rows", uniform(1, 2, 1, 16, kr(4), vr(4), n, 1, 1)},
		{"no window", uniform(1, 2, 1, 16, kr(8), vr(2), n, -1, 1)},
		{"channels", uniform(1, 2, 1, 16, kernels.CompactChannels(4), vr(4), n, 1, 0)},
	} {
		cache, _ := newCache(t, c.g, 2)
		in := newTokens(c.g, n, 7)
		for _, position := range []int{0, 40, 100} { // a sink, what is sealed later, the window
			copy(in.layers[0].k[position*16:], extreme)
			copy(in.layers[0].v[position*16:], extreme)
		}
		out := in.newOutputs()
		in.run(newSession(t, cache), out, n, 1)
		for i, v := range out[0] {
			if v != v || math.IsInf(float64(v), 0) {
				t.Fatalf("%s: value %d is %v, want a number", c.name, i, v)
			}
		}
	}
}
