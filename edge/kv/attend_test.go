package kv

import (
	"fmt"
	"math"
	"testing"

	"edgeinfer/kernels"
)

// reference is attention in float64 on what the visibility rule says a query
// reads, written out here a second time from the tokens alone.
type reference struct {
	g        kernels.KVGeometry
	l        kernels.KVLayer
	in       layerTokens
	rows     [2][]float32 // k, v as 16-bit (or float32) rows, [n][heads][headDim]
	sealed   [2][]float32 // as codes read them
	n, width int
}

func newReference(g kernels.KVGeometry, layer int, in layerTokens) *reference {
	r := &reference{g: g, l: g.Layers[layer], in: in}
	r.width = r.l.KVHeads * r.l.HeadDim
	r.n = len(in.k) / r.width
	for side, rows := range [][]float32{in.k, in.v} {
		format := []kernels.KVFormat{r.l.K, r.l.V}[side]
		r.rows[side], r.sealed[side] = make([]float32, len(rows)), make([]float32, len(rows))
		for i, v := range rows {
			r.rows[side][i] = v
			if format != f32 {
				r.rows[side][i] = kernels.F16ToF32(kernels.F32ToF16(v))
			}
		}
		if format.Quantized() {
			r.seal(side, format)
		}
	}
	return r
}

// seal quantizes every row of a side by itself.
func (r *reference) seal(side int, f kernels.KVFormat) {
	d := r.l.HeadDim
	tile, row := make([]byte, f.Tile(d).Bytes()), make([]float32, kernels.PaddedHeadDim(d))
	for at := 0; at < len(r.rows[side]); at += d {
		f.PackRow(tile, 0, r.rows[side][at:at+d])
		f.UnpackRows(row, tile, d, 1)
		copy(r.sealed[side][at:at+d], row)
	}
}

// at is the row that a query reads.
func (r *reference) at(side, query, position, head int) []float32 {
	format := []kernels.KVFormat{r.l.K, r.l.V}[side]
	tile, own := position/tileTokens, query/tileTokens
	sinks := r.g.SinkTiles
	if r.l.WindowTokens > 0 {
		sinks = 0
	}
	from := r.rows[side]
	if format.Quantized() && tile >= sinks && tile < own-r.g.WindowTiles {
		from = r.sealed[side]
	}
	start := position*r.width + head*r.l.HeadDim
	return from[start : start+r.l.HeadDim]
}

// attend returns the output of one query head and the bound of its error.
//
// The bound: a score's float32 dot product is off by at most
// ε = 2·d·2⁻²⁴·Σ|q·k|/√d, which moves a weight by a factor e^±2ε; the sums over
// positions, the exponentials and the rescaling add a few roundings a tile.
func (r *reference) attend(query, head int) (out []float64, bound float64) {
	d := r.l.HeadDim
	q := r.in.q[(query*r.l.QueryHeads+head)*d:][:d]
	kvHead := head * r.l.KVHeads / r.l.QueryHeads
	first := 0
	if r.l.WindowTokens > 0 {
		first = max(0, query-r.l.WindowTokens+1)
	}
	scores, largest, scoreError := make([]float64, query+1), math.Inf(-1), 0.0
	for p := first; p <= query; p++ {
		var dot, size float64
		for i, k := range r.at(0, query, p, kvHead) {
			dot += float64(q[i]) * float64(k)
			size += math.Abs(float64(q[i]) * float64(k))
		}
		scores[p] = dot / math.Sqrt(float64(d))
		largest = max(largest, scores[p])
		scoreError = max(scoreError, 2*float64(d)*0x1p-24*size/math.Sqrt(float64(d)))
	}
	out = make([]float64, d)
	var sum, maxV float64
	for p := first; p <= query; p++ {
		weight := math.Exp(scores[p] - largest)
		sum += weight
		for i, v := range r.at(1, query, p, kvHead) {
			out[i] += weight * float64(v)
			maxV = max(maxV, math.Abs(float64(v)))
		}
	}
	for i := range out {
		out[i] /= sum
	}
	return out, maxV * (4*scoreError + float64(query+64)*0x1p-23)
}

// checkAgainstReference holds the outputs of one layer from position from on.
func checkAgainstReference(t *testing.T, r *reference, got []float32) {
	t.Helper()
	d := r.l.HeadDim
	for query := range r.n {
		for head := range r.l.QueryHeads {
			want, bound := r.attend(query, head)
			for i, w := range want {
				v := got[(query*r.l.QueryHeads+head)*d+i]
				if off := math.Abs(float64(v) - w); !(off <= bound) {
					t.Errorf("query %d, head %d, channel %d: %v, want %v, off by %.3g > %.3g",
						query, head, i, v, w, off, bound)
					return
				}
			}
		}
	}
}

// TestAttentionOfEveryBitPair holds attention over every pair of widths against
// float64 on the de-quantized tiles; in short mode every width of each side.
func TestAttentionOfEveryBitPair(t *testing.T) {
	const n = 150
	for kBits := 1; kBits <= 8; kBits++ {
		for vBits := 1; vBits <= 8; vBits++ {
			if testing.Short() && (kBits+vBits)%4 != 0 {
				continue
			}
			headDim := []int{8, 64, 80}[(kBits+2*vBits)%3]
			group := []int{16, 32, 64, 128}[(kBits+2*vBits)%4]
			g := uniform(1, 2, 1, headDim, ra(kBits, group), ra(vBits, 32), n, 1, 1)
			t.Run(fmt.Sprintf("k%dv%d,d=%d", kBits, vBits, headDim), func(t *testing.T) {
				checkGeometry(t, g, n)
			})
		}
	}
}

// TestAttentionOfEveryWindow does so for windows, sinks, sliding windows and
// the float formats.
func TestAttentionOfEveryWindow(t *testing.T) {
	const n = 200
	for window := -1; window <= 3; window++ {
		for sinks := 0; sinks <= 2; sinks++ {
			checkGeometry(t, uniform(1, 4, 2, 16, ra(4, 16), ra(3, 16), n, window, sinks), n)
			checkGeometry(t, uniform(1, 2, 2, 16, f16, ra(3, 16), n, window, sinks), n)
			checkGeometry(t, uniform(1, 2, 2, 16, ra(3, 16), f32, n, window, sinks), n)
		}
	}
	for _, slide := range []int{1, 5, 32, 33, 64, 100, 1000} {
		for window := -1; window <= 3; window++ {
			g := uniform(1, 2, 1, 16, ra(4, 16), f16, n, window, 1)
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
	out := in.newOutputs()
	in.run(newSession(t, c), out, n, 64)
	checkAgainstReference(t, newReference(g, 0, in.layers[0]), out[0])
}

// TestLongContext crosses several ranges.
func TestLongContext(t *testing.T) {
	const n = 1700
	g := uniform(1, 2, 1, 16, ra(8, 16), ra(8, 16), n, 1, 1)
	c, _ := newCache(t, g, 2)
	in := newTokens(g, n, 6)
	out := in.newOutputs()
	s := newSession(t, c)
	in.run(s, out, n-3, 64)
	in.run(s, out, n, 1)
	r := newReference(g, 0, in.layers[0])
	for _, query := range []int{511, 512, 1024, n - 4, n - 2, n - 1} {
		want, bound := r.attend(query, 1)
		for i, w := range want {
			if v := out[0][(query*2+1)*16+i]; math.Abs(float64(v)-w) > bound {
				t.Errorf("query %d, channel %d: %v, want %v within %.3g", query, i, v, w, bound)
			}
		}
	}
}

// TestExtremeInput: values that are no numbers, or too large for 16 bits, break
// nothing but the results they enter; sealed they are finite again.
func TestExtremeInput(t *testing.T) {
	const n = 130
	g := uniform(1, 2, 1, 16, ra(4, 16), ra(2, 16), n, 0, 0)
	c, _ := newCache(t, g, 2)
	in := newTokens(g, n, 7)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	copy(in.layers[0].k, []float32{nan, inf, -inf, 1e9, -1e9, 65504})
	copy(in.layers[0].v, []float32{nan, inf, -inf, 1e9, -1e9, 65504})
	for i := range in.layers[0].q[64*2*16:] {
		in.layers[0].q[64*2*16+i] /= 1e6 // scores stay comparable to the huge key's
	}
	out := in.newOutputs()
	in.run(newSession(t, c), out, n, 1)
	for i, v := range out[0][64*2*16:] {
		if v != v || math.IsInf(float64(v), 0) {
			t.Fatalf("value %d after the row was sealed is %v, want a number", i, v)
		}
	}
}
