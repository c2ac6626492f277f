package kv

import (
	"math"
	"testing"

	"edgeinfer/kernels"
)

// largestError is the largest difference of two outputs relative to the root
// mean square of the first.
func largestError(want, got outputs) float64 {
	var largest, squares, n float64
	for i := range want {
		for at, v := range want[i] {
			largest = max(largest, math.Abs(float64(v)-float64(got[i][at])))
			squares += float64(v) * float64(v)
			n++
		}
	}
	return largest / math.Sqrt(squares/n)
}

// TestTransformsLeaveFloatRowsAlone: while every tile is still 16-bit rows, a plan
// that rotates gives what the f16 cache gives, and one that centres the same but
// for the rounding of q·μ.
func TestTransformsLeaveFloatRowsAlone(t *testing.T) {
	const n = 200
	rotated, centred := kr(4), kr(4)
	rotated.Centre, centred.Rotate = false, false
	for _, headDim := range []int{8, 64, 72, 80, 96, 128} {
		plain := uniform(1, 4, 2, headDim, f16, f16, n, 1, 1)
		in := newTokens(plain, n, 21)
		cache, _ := newCache(t, plain, 1)
		want := in.newOutputs()
		in.run(newSession(t, cache), want, n, 50)
		for _, c := range []struct {
			name  string
			k     kernels.KVFormat
			bound float64
		}{{"rotated", rotated, 1e-5}, {"centred", centred, 1e-4}, {"both", kr(4), 1e-4}} {
			g := uniform(1, 4, 2, headDim, c.k, vr(4), n, n, 1)
			cache, _ := newCache(t, g, 1)
			got := in.newOutputs()
			in.run(newSession(t, cache), got, n, 50)
			if e := largestError(want, got); e > c.bound {
				t.Errorf("%s, head dim %d: relative error %.2g; want at most %g", c.name, headDim, e, c.bound)
			}
		}
	}
}

// TestAttentionIsInvariant: attention itself does not see that keys and queries
// are rotated together, that all keys are shifted by one vector, or that values
// are rotated and the result turned back.
func TestAttentionIsInvariant(t *testing.T) {
	const n = 100
	for _, headDim := range []int{8, 64, 72, 80, 96, 128, 256} {
		g := uniform(1, 4, 2, headDim, f32, f32, n, 1, 1)
		in := newTokens(g, n, 22)
		run := func(in tokens) outputs {
			cache, _ := newCache(t, g, 1)
			out := in.newOutputs()
			in.run(newSession(t, cache), out, n, 50)
			return out
		}
		want := run(in)
		keys, values := kernels.NewKeyRotation(headDim), kernels.NewValueRotation(headDim)
		rows := func(x []float32, change func([]float32)) {
			for at := 0; at < len(x); at += headDim {
				change(x[at : at+headDim])
			}
		}
		rotated := newTokens(g, n, 22)
		rows(rotated.layers[0].q, keys.Apply)
		rows(rotated.layers[0].k, keys.Apply)
		rows(rotated.layers[0].v, values.Apply)
		got := run(rotated)
		rows(got[0], values.Invert)
		if e := largestError(want, got); e > 1e-5 {
			t.Errorf("rotated, head dim %d: relative error %.2g; want at most 1e-5", headDim, e)
		}
		shifted := newTokens(g, n, 22)
		rows(shifted.layers[0].k, func(x []float32) {
			for i := range x {
				x[i] -= float32(i%7) / 2
			}
		})
		if e := largestError(want, run(shifted)); e > 1e-4 {
			t.Errorf("shifted, head dim %d: relative error %.2g; want at most 1e-4", headDim, e)
		}
	}
}
