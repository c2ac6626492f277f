package kv

import (
	"bytes"
	"fmt"
	"testing"

	"edgeinfer/kernels"
)

// TestResultsDependOnPositionsOnly: bit-equal outputs for any chunk size and
// number of threads, in all kinds of plans. 530 tokens cross a range's border.
func TestResultsDependOnPositionsOnly(t *testing.T) {
	const n = 530
	k4v2 := func(window, sinks int) kernels.KVGeometry {
		return uniform(1, 2, 1, 16, kr(4), vr(2), n, window, sinks)
	}
	every, some := []int{1, 7, 32, 512}, []int{1, 23}
	if testing.Short() { // under emulation
		every, some = []int{1, 32}, []int{23}
	}
	for _, c := range []struct {
		name   string
		chunks []int
		g      kernels.KVGeometry
	}{
		{"f32", every, uniform(1, 2, 1, 16, f32, f32, n, 1, 1)},
		{"f16", every, uniform(1, 2, 2, 16, f16, f16, n, 1, 1)},
		{"k8v8", every, uniform(1, 2, 1, 16, kr(8), vr(8), n, 1, 1)},
		{"k4v2", every, uniform(1, 4, 2, 16, kr(4), vr(2), n, 1, 1)},
		{"k4v2, head dim 8", some, uniform(1, 2, 1, 8, kr(4), vr(2), n, 1, 1)},
		{"k4v2, own tile only, no sinks", some, k4v2(0, 0)},
		{"k4v2, window 3, sinks 2", some, k4v2(3, 2)},
		{"k4v2, no window", some, k4v2(-1, 1)},
		{"k4v2, no window, no sinks", some, k4v2(-1, 0)},
		{"k4v2, affine", some, uniform(1, 4, 2, 16, ra(4, 32), ra(2, 64), n, 1, 1)},
		{"k4v2, head dim 80", some, uniform(1, 2, 1, 80, kr(4), vr(2), n, 1, 1)},
		{"chan-a", some, uniform(1, 4, 2, 16, kernels.KeyChannels(4), vr(4), n, 1, 1)},
		{"chan-c", some, uniform(1, 4, 2, 16, kernels.CompactChannels(3), vr(3), n, 0, 0)},
		{"mixed", every, mixed(n, 1, 1)},
		{"mixed, no window", some, mixed(n, -1, 1)},
		{"sliding below the tile", some, sliding(k4v2(1, 1), 0, 20)},
		{"sliding within the rows", some, sliding(k4v2(3, 1), 0, 33)},
		{"sliding across a border of ranges", some, sliding(k4v2(1, 1), 0, 470)},
		{"more sinks than tiles", some, k4v2(1, 30)},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := newTokens(c.g, n, 3)
			want := in.newOutputs()
			cache, _ := newCache(t, c.g, 1)
			in.run(newSession(t, cache), want, n, n)
			for threads := 1; threads <= 2; threads++ {
				for _, chunk := range c.chunks {
					other, _ := newCache(t, c.g, threads)
					s, got := newSession(t, other), in.newOutputs()
					if threads > 1 && chunk == 1 {
						in.run(s, got, 480, 512) // the rest shows it, and costs less
					}
					in.run(s, got, n, chunk)
					if at := in.firstDifference(got, want, 0, n); at >= 0 {
						t.Errorf("chunks of %d, %d threads: position %d differs",
							chunk, threads, at)
					}
					if layer := differentMemory(cache, other); layer >= 0 {
						t.Errorf("chunks of %d, %d threads: memory of layer %d differs",
							chunk, threads, layer)
					}
				}
			}
		})
	}
}

// differentMemory is the first layer in which the pages or raw slots of two
// caches differ, −1 for none.
func differentMemory(a, b *Cache) int {
	for i := range a.layers {
		for side := range a.layers[i].sides {
			x, y := &a.layers[i].sides[side], &b.layers[i].sides[side]
			if !bytes.Equal(x.pages, y.pages) || !bytes.Equal(x.raw, y.raw) {
				return i
			}
		}
	}
	return -1
}

// TestSealedTilesAreTheFormatsOfTheirRows: each sealed tile holds what packing
// its rows, rounded to 16 bits, centred and rotated, gives; with the window and
// without one, token by token and in bulk.
func TestSealedTilesAreTheFormatsOfTheirRows(t *testing.T) {
	const n, sinks = 200, 1
	combination := 0
	for _, headDim := range []int{8, 64, 80} {
		for bits := 1; bits <= 8; bits++ {
			for _, k := range []kernels.KVFormat{kr(bits), ra(bits, 32),
				kernels.KeyChannels(bits), kernels.CompactChannels(bits)} {
				for _, window := range []int{-1, 0, 1} {
					if combination++; testing.Short() && combination%11 != 0 {
						continue // 11 is prime to the lists: all their entries are met
					}
					if window < 0 && !k.ByRow() {
						continue
					}
					g := uniform(1, 2, 2, headDim, k, vr(9-bits), n, window, sinks)
					for _, chunk := range []int{1, 50} {
						checkSealed(t, g, n, chunk)
					}
				}
			}
		}
	}
}

func checkSealed(t *testing.T, g kernels.KVGeometry, n, chunk int) {
	t.Helper()
	cache, _ := newCache(t, g, 1)
	s, in := newSession(t, cache), newTokens(g, n, 8)
	in.run(s, in.newOutputs(), n, chunk)
	r, l := newReference(g, 0, in.layers[0], nil), &cache.layers[0]
	sealedBelow := n / tileTokens // whole tiles only, also without a window
	if g.WindowTiles >= 0 {
		sealedBelow -= g.WindowTiles
	}
	for tile := g.SinkTiles; tile < sealedBelow; tile++ {
		for head := range l.KVHeads {
			for side := range l.sides {
				d := &l.sides[side]
				x := make([]float32, tileTokens*l.padded)
				for row := range tileTokens {
					copy(x[row*l.padded:], r.coded(side, tile*tileTokens+row, head))
				}
				want, header := make([]byte, d.tileBytes), make([]byte, 2)
				d.format.PackTile(want, header, x, l.HeadDim)
				if !bytes.Equal(d.page(s, tile, head), want) ||
					(d.headerBytes > 0 && !bytes.Equal(d.header(s, tile, head), header)) {
					t.Errorf("d=%d, %v, r=%d, chunks of %d: tile %d, head %d differs",
						l.HeadDim, d.format, g.WindowTiles, chunk, tile, head)
				}
			}
		}
	}
}

// TestPaddingStaysZero: rows shorter than their storage leave the rest zero.
func TestPaddingStaysZero(t *testing.T) {
	const n, d, padded = 300, 8, 16
	g := uniform(1, 2, 1, d, f16, f32, n, 1, 1)
	g.Layers = append(g.Layers,
		kernels.KVLayer{QueryHeads: 1, KVHeads: 1, HeadDim: d, K: kr(4), V: ra(2, 16)})
	cache, _ := newCache(t, g, 1)
	in := newTokens(g, n, 4)
	in.run(newSession(t, cache), in.newOutputs(), n, 64)
	check := func(name string, b []byte, valueBytes int) {
		nonZero := false
		for i, v := range b {
			if channel := i / valueBytes % padded; channel >= d && v != 0 {
				t.Errorf("%s: byte %d of padded channel %d is %d", name, i, channel, v)
				return
			}
			nonZero = nonZero || v != 0
		}
		if !nonZero {
			t.Errorf("%s: all zero, nothing was written", name)
		}
	}
	check("f16 keys", cache.layers[0].sides[0].pages, 2)
	check("f32 values", cache.layers[0].sides[1].pages, 4)
	check("rows of keys", cache.layers[1].sides[0].raw, 2)
	check("rows of values", cache.layers[1].sides[1].raw, 2)
}

// TestSessionsDoNotTouchEachOther: sessions that take turns give what each
// gives alone.
func TestSessionsDoNotTouchEachOther(t *testing.T) {
	const n = 200
	g := mixed(3*n, 1, 1)
	g.Sessions = 3
	cache, _ := newCache(t, g, 2)
	var sessions [3]*Session
	var in [3]tokens
	var got [3]outputs
	for i := range sessions {
		sessions[i], in[i] = newSession(t, cache), newTokens(g, n, uint64(10+i))
		got[i] = in[i].newOutputs()
	}
	for to := 0; to < n; {
		to = min(to+13, n)
		for i, s := range sessions {
			in[i].run(s, got[i], to, 5+i)
		}
	}
	for i := range sessions {
		alone, _ := newCache(t, mixed(n, 1, 1), 1)
		want := in[i].newOutputs()
		in[i].run(newSession(t, alone), want, n, 64)
		if at := in[i].firstDifference(got[i], want, 0, n); at >= 0 {
			t.Errorf("session %d of three differs from itself alone at position %d", i, at)
		}
	}
}

// BenchmarkWrite is what 32 tokens cost to write in one layer of SmolLM2, one by
// one, with the tile they seal, at two depths: it must not grow with the context.
func BenchmarkWrite(b *testing.B) {
	for _, pair := range [][2]kernels.KVFormat{{f16, f16}, {kr(4), vr(4)}, {kr(8), vr(8)},
		{kernels.CompactChannels(4), vr(4)}} {
		for _, depth := range []int{96, 8000} { // whole tiles, so that both seal the same rows
			b.Run(fmt.Sprintf("%v %v/depth=%d", pair[0], pair[1], depth), func(b *testing.B) {
				g := uniform(1, 9, 3, 64, pair[0], pair[1], depth+tileTokens, 1, 1)
				cache, _ := newCache(b, g, 1)
				s, in := newSession(b, cache), newTokens(g, tileTokens, 5).layers[0]
				if err := s.Reserve(depth + tileTokens); err != nil {
					b.Fatal(err)
				}
				width := 3 * 64
				for b.Loop() {
					for i := range tileTokens {
						cache.write.run(s, &cache.layers[0], depth+i, 1,
							in.k[i*width:(i+1)*width], in.v[i*width:(i+1)*width])
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*tileTokens), "ns/token")
			})
		}
	}
}

func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		name string
		k, v kernels.KVFormat
	}{{"f16", f16, f16}, {"k8v8", kr(8), vr(8)}, {"k4v2", kr(4), vr(2)}} {
		for _, depth := range []int{96, 1984} {
			b.Run(fmt.Sprintf("%s/depth=%d", c.name, depth), func(b *testing.B) {
				g := uniform(1, 9, 3, 64, c.k, c.v, depth+32, 1, 1)
				cache, _ := newCache(b, g, 1)
				s, in := newSession(b, cache), newTokens(g, depth+32, 1)
				out := in.newOutputs()
				in.run(s, out, depth+1, 512)
				for b.Loop() {
					if s.Len() == depth+32 {
						s.Keep(depth + 1) // within the newest tile, which costs nothing
					}
					in.run(s, out, s.Len()+1, 1)
				}
			})
		}
	}
	b.Run("k4v2/prefill=512", func(b *testing.B) {
		g := uniform(1, 9, 3, 64, kr(4), vr(2), 512, 1, 1)
		cache, _ := newCache(b, g, 1)
		s, in := newSession(b, cache), newTokens(g, 512, 1)
		out := in.newOutputs()
		for b.Loop() {
			s.Keep(0)
			in.run(s, out, 512, 512)
		}
	})
}
