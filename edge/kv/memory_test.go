package kv

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"edgeinfer/arena"
	"edgeinfer/edge/internal/workers"
	"edgeinfer/kernels"

	"pgregory.net/rapid"
)

// drawGeometry makes a small geometry of any shape the cache takes.
func drawGeometry(t *rapid.T) kernels.KVGeometry {
	g := kernels.KVGeometry{
		ContextTokens: rapid.IntRange(1, 700).Draw(t, "context"),
		Sessions:      rapid.IntRange(1, 4).Draw(t, "sessions"),
		WindowTiles:   rapid.IntRange(-1, 4).Draw(t, "window"),
		SinkTiles:     rapid.IntRange(0, 3).Draw(t, "sinks"),
	}
	headDims := []int{1, 8, 16, 20, 64, 72, 80, 96, 128, 256}
	windows := []int{0, 0, 0, 1, 32, 70, 128, 5000}
	for range rapid.IntRange(1, 4).Draw(t, "layers") {
		kvHeads := rapid.IntRange(1, 3).Draw(t, "kv heads")
		g.Layers = append(g.Layers, kernels.KVLayer{
			QueryHeads:   kvHeads * rapid.IntRange(1, 3).Draw(t, "group of heads"),
			KVHeads:      kvHeads,
			HeadDim:      rapid.SampledFrom(headDims).Draw(t, "head dim"),
			K:            drawFormat(t, "k", g.WindowTiles >= 0),
			V:            drawFormat(t, "v", false),
			WindowTokens: rapid.SampledFrom(windows).Draw(t, "sliding"),
		})
	}
	return g
}

// drawFormat draws any format of keys or of values.
func drawFormat(t *rapid.T, side string, channels bool) kernels.KVFormat {
	bits := rapid.IntRange(1, 8).Draw(t, side+" bits")
	group := rapid.SampledFrom([]int{16, 32, 64, 128}).Draw(t, side+" group")
	choices := []kernels.KVFormat{f32, f16, ra(bits, group), kernels.ValueRows(bits, group)}
	if side == "k" {
		balanced := kernels.KeyRows(bits, group)
		balanced.Balance = true
		choices = append(choices, kernels.KeyRows(bits, group), balanced)
	}
	if channels {
		choices = append(choices, kernels.KeyChannels(bits), kernels.CompactChannels(bits))
	}
	return rapid.SampledFrom(choices).Draw(t, side)
}

// TestLedgerEqualsFormula: what New takes is what the planner was told, line by
// line, and fits an arena of exactly that size.
func TestLedgerEqualsFormula(t *testing.T) {
	set := kernels.Best()
	rapid.Check(t, func(t *rapid.T) {
		g, threads := drawGeometry(t), rapid.IntRange(1, 3).Draw(t, "threads")
		b, scratch := g.Bytes(), ScratchBytes(g, threads, 512)
		a, err := arena.New(b.Total()+scratch, arena.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		pool := workers.New(threads)
		defer pool.Close()
		if _, err := New(g, a, &set, pool); err != nil {
			t.Fatal(err)
		}
		want := map[arena.Purpose]int64{
			arena.KVPayload: b.Payload, arena.KVScales: b.Scales, arena.KVPadding: b.Padding,
			arena.KVWindow: b.Window, arena.KeyMeans: b.KeyMeans, arena.PageTable: b.PageTable,
			arena.Scratch: scratch,
		}
		for _, line := range a.Ledger() {
			if line.Purpose != arena.PageRounding && line.Bytes != want[line.Purpose] {
				t.Errorf("%v: %d bytes taken, %d planned",
					line.Purpose, line.Bytes, want[line.Purpose])
			}
			delete(want, line.Purpose)
		}
		for purpose, bytes := range want {
			if bytes != 0 {
				t.Errorf("%v: nothing taken, %d planned", purpose, bytes)
			}
		}
		if a.UsedBytes() != b.Total()+scratch {
			t.Errorf("%d bytes taken, %d planned", a.UsedBytes(), b.Total()+scratch)
		}
	})
}

func TestNewNamesWhatIsWrong(t *testing.T) {
	set, pool := kernels.Best(), workers.New(1)
	defer pool.Close()
	a, err := arena.New(0, arena.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := uniform(2, 4, 2, 16, f16, ra(4, 17), 64, 1, 1)
	_, err = New(g, a, &set, pool)
	if err == nil || !strings.Contains(err.Error(), "kv: layer 0: values: kernels: groups of 17") {
		t.Errorf("New with group 17: error %v, want one that names layer and side", err)
	}
}

// TestPoolsSuffice: whatever sessions do, tokens that together do not exceed
// the context always find their pages.
func TestPoolsSuffice(t *testing.T) {
	set, pool := kernels.Best(), workers.New(1)
	defer pool.Close()
	rapid.Check(t, func(t *rapid.T) {
		g := uniform(1, 1, 1, 16, ra(2, 16), f16, rapid.IntRange(1, 400).Draw(t, "context"),
			rapid.IntRange(-1, 3).Draw(t, "window"), rapid.IntRange(0, 2).Draw(t, "sinks"))
		g.Sessions = rapid.IntRange(1, 4).Draw(t, "sessions")
		a, err := arena.New(g.Bytes().Total()+ScratchBytes(g, 1, 1), arena.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		c, err := New(g, a, &set, pool)
		if err != nil {
			t.Fatal(err)
		}
		sessions := make([]*Session, g.Sessions)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			at := rapid.IntRange(0, g.Sessions-1).Draw(t, "session")
			if sessions[at] == nil {
				if sessions[at], err = c.NewSession(); err != nil {
					t.Fatal(err)
				}
			}
			total := 0
			for _, s := range sessions {
				if s != nil {
					total += s.Len()
				}
			}
			s := sessions[at]
			switch rapid.IntRange(0, 4).Draw(t, "action") {
			case 0:
				s.Keep(rapid.IntRange(0, s.Len()).Draw(t, "keep"))
			case 1:
				s.Close()
				sessions[at] = nil
			default:
				n := rapid.IntRange(0, g.ContextTokens-total).Draw(t, "tokens")
				if err := s.Reserve(n); err != nil {
					t.Fatalf("%d of %d tokens in use, %d more: %v", total, g.ContextTokens, n, err)
				}
				s.Advance(n)
			}
		}
		for _, s := range sessions {
			if s != nil {
				s.Close()
			}
		}
		checkAllFree(t, c)
	})
}

// checkAllFree fails unless every page lies on its stack once and has no use.
func checkAllFree(t interface{ Errorf(string, ...any) }, c *Cache) {
	for kind := range c.pools {
		p := &c.pools[kind]
		seen := map[int32]bool{}
		for _, page := range p.free {
			seen[page] = true
		}
		if len(p.free) != len(p.uses) || len(seen) != len(p.uses) {
			t.Errorf("pool %d: %d free pages, %d different, of %d",
				kind, len(p.free), len(seen), len(p.uses))
		}
		for page, uses := range p.uses {
			if uses != 0 {
				t.Errorf("pool %d: page %d has %d uses after all sessions closed", kind, page, uses)
			}
		}
	}
}

func TestFullCacheIsAnError(t *testing.T) {
	g := uniform(1, 2, 1, 16, ra(4, 16), f16, 256, 1, 1)
	g.Sessions = 2
	c, _ := newCache(t, g, 1)
	a, b := newSession(t, c), newSession(t, c)
	if _, err := c.NewSession(); !errors.Is(err, ErrFull) {
		t.Errorf("third of two sessions: error %v, want ErrFull", err)
	}
	if err := a.Reserve(257); !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "256") {
		t.Errorf("Reserve(257) of 256: error %v, want ErrFull that names the context", err)
	}
	if err := a.Reserve(256); err != nil {
		t.Fatal(err)
	}
	a.Advance(256)
	if err := b.Reserve(32); err != nil {
		t.Errorf("one tile beside a full session: error %v, want the page for rounding", err)
	}
	free := [2]int{len(c.pools[0].free), len(c.pools[1].free)}
	if err := b.Reserve(200); !errors.Is(err, ErrFull) {
		t.Errorf("200 tokens beside a full session: error %v, want ErrFull", err)
	}
	if got := [2]int{len(c.pools[0].free), len(c.pools[1].free)}; got != free {
		t.Errorf("a refused Reserve left %v pages free, want %v", got, free)
	}
	a.Close()
	a.Close()
	if err := b.Reserve(256); err != nil {
		t.Errorf("256 tokens after the other session closed: %v", err)
	}
	b.Close()
	checkAllFree(t, c)
}

// TestMisuseIsABug: what no input can cause panics, and says whose fault it is.
func TestMisuseIsABug(t *testing.T) {
	g := uniform(1, 2, 1, 16, f16, f16, 64, 1, 1)
	c, _ := newCache(t, g, 1)
	in := newTokens(g, 65, 1)
	out := in.newOutputs()
	l := in.layers[0]
	step := func(layer int, q, k, out []float32) func(*Session) {
		return func(s *Session) { s.Step(layer, 1, q, k, l.v[:16], out) }
	}
	for name, misuse := range map[string]func(s *Session){
		"layer 1":       step(1, l.q[:32], l.k[:16], out[0][:32]),
		"no token":      func(s *Session) { s.Step(0, 0, nil, nil, nil, nil) },
		"short keys":    step(0, l.q[:32], l.k[:15], out[0][:32]),
		"long out":      step(0, l.q[:32], l.k[:16], out[0][:33]),
		"no room":       func(s *Session) { in.step(s, out, 0, 65) },
		"advance":       func(s *Session) { s.Advance(65) },
		"after Close":   func(s *Session) { s.Close(); in.step(s, out, 0, 1) },
		"keep, closed":  func(s *Session) { s.Close(); s.Keep(0) },
		"released page": func(s *Session) { c.pools[0].release(0) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t, c)
			defer s.Close()
			defer func() {
				if r := fmt.Sprint(recover()); !strings.HasPrefix(r, "kv: BUG: ") {
					t.Errorf("panic value %q, want one that begins kv: BUG:", r)
				}
			}()
			misuse(s)
		})
	}
}

// TestStepAllocatesNothing counts mallocs over whole tiles, sealing included.
func TestStepAllocatesNothing(t *testing.T) {
	balanced, hqq, refitted := kernels.KeyChannels(6), ra(8, 32), ra(3, 64)
	balanced.Balance, hqq.Fit, refitted.Fit = true, kernels.FitsHQQ, kernels.FitsLS
	for _, c := range []struct {
		name string
		g    kernels.KVGeometry
	}{
		{"f16", uniform(1, 4, 2, 16, f16, f16, 512, 1, 1)},
		{"k4v2", uniform(1, 4, 2, 16, kr(4), vr(2), 512, 1, 1)},
		{"affine k4v2", uniform(1, 4, 2, 16, ra(4, 32), ra(2, 64), 512, 1, 1)},
		{"chan-c", uniform(1, 4, 2, 16, kernels.CompactChannels(4), vr(7), 512, 1, 1)},
		{"chan-a, balanced", uniform(1, 4, 2, 80, balanced, refitted, 512, 1, 1)},
		{"hqq, two planes", uniform(1, 4, 2, 72, hqq, vr(4), 512, 1, 1)},
		{"k8v2 without window", uniform(1, 4, 2, 16, kr(8), vr(2), 512, -1, 1)},
		{"mixed", mixed(512, 1, 1)},
	} {
		for threads := 1; threads <= 2; threads++ {
			cache, _ := newCache(t, c.g, threads)
			s, in := newSession(t, cache), newTokens(c.g, 512, 2)
			out := in.newOutputs()
			in.run(s, out, 100, 64)
			for _, chunk := range []int{1, 33} {
				allocs := testing.AllocsPerRun(3, func() { in.run(s, out, s.Len()+33, chunk) })
				if allocs != 0 {
					t.Errorf("%s, %d threads: %v allocations for 33 tokens, %d a call, want 0",
						c.name, threads, allocs, chunk)
				}
			}
		}
	}
}
