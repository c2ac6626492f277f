package kv

import (
	"errors"
	"testing"

	"edgeinfer/kernels"

	"pgregory.net/rapid"
)

// TestKeepRounds is the rule by examples: r = window, one sink tile but where
// it says otherwise.
func TestKeepRounds(t *testing.T) {
	sealed := func(window, sinks int) kernels.KVGeometry {
		return uniform(1, 1, 1, 16, kr(4), f16, 1000, window, sinks)
	}
	float := uniform(1, 1, 1, 16, f16, f32, 1000, 1, 1)
	for _, c := range []struct {
		name      string
		g         kernels.KVGeometry
		length, n int
		want      int
	}{
		{"beyond the end", sealed(1, 1), 500, 501, 500},
		{"the end", sealed(1, 1), 500, 500, 500},
		{"within the newest tile", sealed(1, 1), 500, 481, 481},
		{"start of the newest tile", sealed(1, 1), 500, 480, 480},
		{"the tile before it", sealed(1, 1), 500, 479, 32 * (14 - 1)},
		{"in general", sealed(1, 1), 500, 300, 32 * (9 - 1)},
		{"in general, on a border", sealed(1, 1), 500, 320, 32 * (10 - 1)},
		{"r = 0", sealed(0, 1), 500, 300, 32 * 9},
		{"r = 0, on a border", sealed(0, 1), 500, 320, 320},
		{"r = 3", sealed(3, 1), 500, 300, 32 * (9 - 3)},
		{"full newest tile", sealed(1, 1), 512, 500, 500},
		{"next to the sink", sealed(1, 1), 500, 70, 32},
		{"next to the sink, its rows still there", sealed(1, 1), 90, 40, 40},
		{"just behind the sink", sealed(1, 1), 500, 33, 32},
		{"the sink's end", sealed(1, 1), 500, 32, 32},
		{"within the sink", sealed(1, 1), 500, 17, 17},
		{"nothing", sealed(1, 1), 500, 0, 0},
		{"less than nothing", sealed(1, 1), 500, -5, 0},
		{"no sinks, small", sealed(1, 0), 500, 31, 0},
		{"no sinks, in general", sealed(1, 0), 500, 300, 32 * 8},
		{"two sinks", sealed(1, 2), 500, 65, 64},
		{"within two sinks", sealed(1, 2), 500, 50, 50},
		{"no window", sealed(-1, 1), 500, 299, 299},
		{"float", float, 500, 299, 299},
		{"window longer than the session", sealed(40, 1), 500, 299, 299},
		{"sliding, ring turned", sliding(sealed(1, 1), 0, 64), 500, 300, 0},
		{"sliding, newest tile", sliding(sealed(1, 1), 0, 64), 500, 490, 490},
		{"sliding, not yet turned", sliding(sealed(1, 1), 0, 64), 90, 63, 0},
		{"sliding wider than the session", sliding(sealed(1, 1), 0, 800), 500, 300, 256},
		{"sliding float, still in the ring", sliding(float, 0, 64), 500, 480, 480},
		{"sliding float, gone from the ring", sliding(float, 0, 64), 500, 300, 0},
	} {
		cache, _ := newCache(t, c.g, 1)
		s, in := newSession(t, cache), newTokens(c.g, c.length, 8)
		in.run(s, in.newOutputs(), c.length, 64)
		if got := s.Keep(c.n); got != c.want || s.Len() != got {
			t.Errorf("%s: Keep(%d) of %d = %d, Len() = %d, want %d",
				c.name, c.n, c.length, got, s.Len(), c.want)
		}
		s.Close()
		checkAllFree(t, cache)
	}
}

// TestKeepRemembersWhatTheRingLost: a ring that had turned further than it is
// now has not got its old tiles back.
func TestKeepRemembersWhatTheRingLost(t *testing.T) {
	g := sliding(uniform(1, 1, 1, 16, f16, f16, 1000, 1, 1), 0, 33)
	cache, _ := newCache(t, g, 1)
	s, in := newSession(t, cache), newTokens(g, 300, 14)
	out := in.newOutputs()
	in.run(s, out, 300, 64) // three tiles: 7, 8, 9
	if got := s.Keep(260); got != 260 {
		t.Errorf("Keep(260) = %d, want 260: tiles 7 and 8 are there", got)
	}
	in.run(s, out, 270, 64)
	if got := s.Keep(230); got != 0 {
		t.Errorf("Keep(230) = %d, want 0: tile 6 was overwritten by tile 9", got)
	}
	in.run(s, out, 40, 64)
	if got := s.Keep(35); got != 35 {
		t.Errorf("Keep(35) = %d, want 35: the ring was begun anew", got)
	}
}

// TestKeepThenRunAgainIsAFreshRun: whatever was cut and run again, queries at
// and after the length asked for give the bits of a session never cut.
func TestKeepThenRunAgainIsAFreshRun(t *testing.T) {
	const n = 256
	geometries := []kernels.KVGeometry{
		uniform(1, 2, 1, 16, kr(4), vr(2), n, 1, 1),
		uniform(1, 2, 1, 16, kr(4), vr(2), n, 0, 0),
		uniform(1, 2, 1, 16, kr(4), f16, n, 2, 1),
		uniform(1, 2, 1, 16, f16, f16, n, 1, 1),
		uniform(1, 2, 1, 16, kr(4), f32, n, -1, 1),
		uniform(1, 2, 1, 16, kr(4), f32, n, -1, 0),
		mixed(n, 1, 1),
		sliding(mixed(n, 2, 0), 3, 100),
		sliding(mixed(n, 3, 2), 3, 33),
		sliding(uniform(1, 2, 1, 16, f16, f16, n, 1, 1), 0, 34),
	}
	var in []tokens
	var fresh []outputs
	var caches []*Cache
	for _, g := range geometries {
		c, _ := newCache(t, g, 1)
		x := newTokens(g, n, 9)
		out := x.newOutputs()
		s := newSession(t, c)
		x.run(s, out, n, 64)
		s.Close()
		in, fresh, caches = append(in, x), append(fresh, out), append(caches, c)
	}
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, len(geometries)-1).Draw(t, "geometry")
		s, err := caches[at].NewSession()
		if err != nil {
			t.Fatal(err)
		}
		defer checkAllFree(t, caches[at])
		defer s.Close()
		got, asked := in[at].newOutputs(), 0
		for range rapid.IntRange(1, 5).Draw(t, "cuts") {
			from := s.Len()
			to := rapid.IntRange(s.Len(), n).Draw(t, "length")
			in[at].run(s, got, to, rapid.SampledFrom([]int{1, 9, 64}).Draw(t, "chunk"))
			checkFresh(t, in[at], got, fresh[at], max(from, asked), to)
			if cut := rapid.IntRange(0, to).Draw(t, "cut"); cut < to {
				asked = cut
				if kept := s.Keep(cut); kept > cut {
					t.Fatalf("Keep(%d) of %d = %d", cut, to, kept)
				}
			}
		}
		from := s.Len()
		in[at].run(s, got, n, 64)
		checkFresh(t, in[at], got, fresh[at], max(from, asked), n)
	})
}

func checkFresh(t *rapid.T, in tokens, got, fresh outputs, from, to int) {
	if at := in.firstDifference(got, fresh, from, to); at >= 0 {
		t.Fatalf("position %d of %d to %d differs from a fresh run", at, from, to)
	}
}

// TestForkedSessionsGoTheirOwnWays: a fork and its origin, continued with
// different tokens, each give what a session with these tokens alone gives.
func TestForkedSessionsGoTheirOwnWays(t *testing.T) {
	const n = 300
	for name, g := range map[string]kernels.KVGeometry{
		"sealed":    uniform(1, 2, 1, 16, kr(4), vr(2), 2*n, 1, 1),
		"float":     uniform(1, 2, 1, 16, f16, f16, 2*n, 1, 1),
		"no window": uniform(1, 2, 1, 16, kr(4), vr(2), 2*n, -1, 1),
		"mixed":     mixed(2*n, 1, 1),
	} {
		for _, at := range []int{1, 32, 95, 200} {
			g.Sessions = 2
			cache, _ := newCache(t, g, 1)
			a, inA := newSession(t, cache), newTokens(g, n, 11)
			inB := branch(inA, newTokens(g, n, 12), at)
			gotA, gotB := inA.newOutputs(), inB.newOutputs()
			inA.run(a, gotA, at, 64)
			for i := range gotB {
				copy(gotB[i], gotA[i]) // the common past
			}
			if err := a.Reserve(64); err != nil { // reserved pages must not be shared
				t.Fatal(err)
			}
			free := [2]int{len(cache.pools[0].free), len(cache.pools[1].free)}
			b, err := a.Fork()
			if err != nil {
				t.Fatal(err)
			}
			if got := [2]int{len(cache.pools[0].free), len(cache.pools[1].free)}; got != free {
				t.Errorf("%s, fork at %d: %v pages free before, %v after", name, at, free, got)
			}
			for to := at; to < n; {
				to = min(to+17, n)
				inA.run(a, gotA, to, 9)
				inB.run(b, gotB, to, 5)
			}
			for i, in := range []tokens{inA, inB} {
				alone, _ := newCache(t, g, 1)
				want := in.newOutputs()
				in.run(newSession(t, alone), want, n, 64)
				if p := in.firstDifference([]outputs{gotA, gotB}[i], want, 0, n); p >= 0 {
					t.Errorf("%s, fork at %d: branch %d differs at position %d", name, at, i, p)
				}
			}
			for i := range cache.sessions {
				cache.sessions[i].Close()
			}
			checkAllFree(t, cache)
		}
	}
}

// branch is a up to position at and b from there on.
func branch(a, b tokens, at int) tokens {
	for i := range b.layers {
		l := b.layers[i].l
		copy(b.layers[i].q, a.layers[i].q[:at*l.QueryHeads*l.HeadDim])
		copy(b.layers[i].k, a.layers[i].k[:at*l.KVHeads*l.HeadDim])
		copy(b.layers[i].v, a.layers[i].v[:at*l.KVHeads*l.HeadDim])
	}
	return b
}

// TestForkedTailNeedsAPage: the copy of a shared tail is counted before it is
// made.
func TestForkedTailNeedsAPage(t *testing.T) {
	g := uniform(1, 1, 1, 16, f16, f16, 96, 1, 1)
	g.Sessions = 3 // five pages
	cache, _ := newCache(t, g, 1)
	a, full := newSession(t, cache), newSession(t, cache)
	in := newTokens(g, 96, 15)
	in.run(a, in.newOutputs(), 40, 8)
	in.run(full, in.newOutputs(), 96, 96)
	b, err := a.Fork()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Reserve(1); !errors.Is(err, ErrFull) {
		t.Errorf("Reserve(1) on a shared tail with no page free: error %v, want ErrFull", err)
	}
	b.Close()
	if err := a.Reserve(1); err != nil {
		t.Errorf("Reserve(1) once the tail is its own: %v", err)
	}
}

// TestForkNeedsASession: no free session, no fork, and nothing leaks.
func TestForkNeedsASession(t *testing.T) {
	g := uniform(1, 1, 1, 16, f16, f16, 64, 1, 1)
	cache, _ := newCache(t, g, 1)
	s, in := newSession(t, cache), newTokens(g, 40, 13)
	in.run(s, in.newOutputs(), 40, 8)
	if f, err := s.Fork(); err == nil {
		t.Errorf("Fork of the only session = %v, want ErrFull", f)
	}
	s.Close()
	checkAllFree(t, cache)
}
