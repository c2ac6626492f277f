package kv

import (
	"math"
	"math/rand/v2"
	"testing"

	"edgeinfer/arena"
	"edgeinfer/edge/internal/workers"
	"edgeinfer/kernels"
)

var (
	f16 = kernels.CacheF16
	f32 = kernels.CacheF32
)

func ra(bits, group int) kernels.KVFormat { return kernels.AffineRows(bits, group) }

func kr(bits int) kernels.KVFormat { return kernels.KeyRows(bits, 64) }

func vr(bits int) kernels.KVFormat { return kernels.ValueRows(bits, 64) }

// newCache builds a cache in an arena of exactly the planned size.
func newCache(t testing.TB, g kernels.KVGeometry, threads int) (*Cache, *arena.Arena) {
	t.Helper()
	a, err := arena.New(g.Bytes().Total()+ScratchBytes(g, threads, 512), arena.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pool, set := workers.New(threads), kernels.Best()
	c, err := New(g, a, &set, pool)
	if err != nil {
		t.Fatal(err)
	}
	a.Seal()
	t.Cleanup(func() {
		pool.Close()
		a.Close()
	})
	return c, a
}

func newSession(t testing.TB, c *Cache) *Session {
	t.Helper()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tokens is the input of every layer at every position, seeded.
type tokens struct{ layers []layerTokens }

type layerTokens struct {
	l       kernels.KVLayer
	q, k, v []float32 // [n][heads][headDim]
}

// newTokens draws n positions. Keys have a mean and a few loud channels, as
// real ones do.
func newTokens(g kernels.KVGeometry, n int, seed uint64) tokens {
	random := rand.New(rand.NewPCG(seed, 99))
	in := tokens{make([]layerTokens, len(g.Layers))}
	for i, l := range g.Layers {
		t := layerTokens{l: l,
			q: make([]float32, n*l.QueryHeads*l.HeadDim),
			k: make([]float32, n*l.KVHeads*l.HeadDim),
			v: make([]float32, n*l.KVHeads*l.HeadDim)}
		for at := range t.q {
			t.q[at] = float32(random.NormFloat64())
		}
		for at := range t.k {
			t.k[at] = float32(random.NormFloat64()) + float32(at%l.HeadDim%5)/2
			if at%l.HeadDim == 3 {
				t.k[at] *= 4
			}
			t.v[at] = float32(random.NormFloat64())
		}
		in.layers[i] = t
	}
	return in
}

// outputs is what Step wrote, [layer][n][heads][headDim].
type outputs [][]float32

func (in tokens) newOutputs() outputs {
	out := make(outputs, len(in.layers))
	for i, t := range in.layers {
		out[i] = make([]float32, len(t.q))
	}
	return out
}

// run takes a session from its length to position to, chunk tokens a call.
func (in tokens) run(s *Session, out outputs, to, chunk int) {
	for s.Len() < to {
		n := min(chunk, to-s.Len())
		in.step(s, out, s.Len(), n)
		s.Advance(n)
	}
}

// step is one call for every layer with the tokens at first to first+n−1.
func (in tokens) step(s *Session, out outputs, first, n int) {
	for i, t := range in.layers {
		q, kv := t.l.QueryHeads*t.l.HeadDim, t.l.KVHeads*t.l.HeadDim
		s.Step(i, n, t.q[first*q:(first+n)*q], t.k[first*kv:(first+n)*kv],
			t.v[first*kv:(first+n)*kv], out[i][first*q:(first+n)*q])
	}
}

// firstDifference is the first position at or after from where two outputs
// differ in a bit, −1 for none.
func (in tokens) firstDifference(a, b outputs, from, to int) int {
	for position := from; position < to; position++ {
		for i, t := range in.layers {
			q := t.l.QueryHeads * t.l.HeadDim
			for at := position * q; at < (position+1)*q; at++ {
				if math.Float32bits(a[i][at]) != math.Float32bits(b[i][at]) {
					return position
				}
			}
		}
	}
	return -1
}

// uniform is a geometry of equal layers and one session.
func uniform(layers, queryHeads, kvHeads, headDim int, k, v kernels.KVFormat,
	context, window, sinks int) kernels.KVGeometry {
	g := kernels.KVGeometry{ContextTokens: context, Sessions: 1,
		WindowTiles: window, SinkTiles: sinks}
	for range layers {
		g.Layers = append(g.Layers, kernels.KVLayer{QueryHeads: queryHeads, KVHeads: kvHeads,
			HeadDim: headDim, K: k, V: v})
	}
	return g
}

// sliding gives a layer of g a window in tokens.
func sliding(g kernels.KVGeometry, layer, windowTokens int) kernels.KVGeometry {
	g.Layers = append([]kernels.KVLayer{}, g.Layers...)
	g.Layers[layer].WindowTokens = windowTokens
	return g
}

// mixed is a geometry whose layers differ in formats and windows.
func mixed(context, window, sinks int) kernels.KVGeometry {
	g := uniform(4, 2, 1, 16, f16, f16, context, window, sinks)
	g.Layers[1].QueryHeads, g.Layers[1].KVHeads = 4, 2
	g.Layers[0].K, g.Layers[0].V = kr(8), ra(6, 16)
	g.Layers[1].K, g.Layers[1].V = ra(4, 32), f16
	g.Layers[2].K, g.Layers[2].V = f32, vr(3)
	g.Layers[3].K, g.Layers[3].V = kr(5), vr(2)
	if window >= 0 {
		g.Layers[1].K = kernels.CompactChannels(4)
	}
	return sliding(g, 3, 70)
}
