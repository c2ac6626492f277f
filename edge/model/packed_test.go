package model

// Every family with packed caches. The models have random weights, so that
// nothing is as forgiving as in a trained one: what is asked for is that 8 bits
// change next to nothing and 4 bits nothing to infinity.

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"edgeinfer/edge/gguf"
	"edgeinfer/kernels"
	"edgeinfer/tests/shared"
)

// packedPlans name what a query may find: codes behind a window, and at once.
// The limit holds for the mean divergence from the same model with an f16 cache;
// without any window one model of random weights comes to 0.012.
var packedPlans = []struct {
	plan  string
	limit float64 // nats a token; 0: only finite
	short bool    // runs in short mode too, which emulation uses
}{
	{"k8v8", 0.01, false}, {"k8v8/window=0/sinks=0", 0.01, true},
	{"k8v8/window=none/sinks=0", 0.02, false},
	{"k4v4", 0, false}, {"k4v4/window=none/sinks=0", 0, true},
}

// maxDrift bounds the root mean square by which logits differ with 8 bits, as a
// share of their own: gemma3's are so far apart that no divergence shows.
const maxDrift = 0.1

// familySources returns the sources of all families: shared files and recipes.
func familySources(t *testing.T) map[string]*Source {
	t.Helper()
	all := map[string]*Source{}
	for _, r := range append(recipes(), exactRecipes()...) {
		all[r.name] = r.source(t)
	}
	folder := shared.Path(t, "models", "families")
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		f, err := gguf.Open(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		if all[e.Name()], err = Open(f); err != nil {
			t.Fatal(err)
		}
	}
	if len(entries) < 13 {
		t.Errorf("%d shared families, want 13 or more", len(entries))
	}
	return all
}

func TestFamiliesWithPackedCaches(t *testing.T) {
	n := 160
	if testing.Short() {
		n = 68
	}
	for name, src := range familySources(t) {
		t.Run(name, func(t *testing.T) {
			ids := prompt(n)
			want := logitsOf(t, src, ids, 64, "f16")
			for _, p := range packedPlans {
				if testing.Short() && !p.short {
					continue
				}
				mean, drift := 0.0, 0.0
				for i, got := range logitsOf(t, src, ids, 64, p.plan) {
					mean += divergence(want[i], got) / float64(n)
					drift = max(drift, distance(want[i], got))
				}
				t.Logf("head dim %d, %s: mean divergence %.2g, logits by %.2g",
					src.Spec.HeadDim, p.plan, mean, drift)
				switch {
				case math.IsNaN(mean+drift) || math.IsInf(mean+drift, 0):
					t.Errorf("%s: mean divergence %v, logits by %v", p.plan, mean, drift)
				case p.limit == 0 || src.Spec.HeadDim < 32:
				case mean > p.limit || drift > maxDrift:
					t.Errorf("%s: mean divergence %v, logits by %v; want at most %v and %v",
						p.plan, mean, drift, p.limit, maxDrift)
				}
			}
		})
	}
}

// divergence is Σ p·ln(p/q) over the vocabulary, in nats.
func divergence(p, q []float32) float64 {
	logP, logQ := logSum(p), logSum(q)
	var kl float64
	for i := range p {
		a, b := float64(p[i])-logP, float64(q[i])-logQ
		kl += math.Exp(a) * (a - b)
	}
	return kl
}

// distance is the root mean square of q − p, as a share of p's.
func distance(p, q []float32) float64 {
	var difference, sum float64
	for i, v := range p {
		difference += float64(q[i]-v) * float64(q[i]-v)
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(difference / sum)
}

// logSum is ln Σ exp x.
func logSum(x []float32) float64 {
	largest, sum := float64(x[argmax(x)]), 0.0
	for _, v := range x {
		sum += math.Exp(float64(v) - largest)
	}
	return largest + math.Log(sum)
}

// TestOddHeadDims: dims that are no multiple of 16, or of 64, are padded in the
// cache and compute the same.
func TestOddHeadDims(t *testing.T) {
	for _, c := range []struct {
		dim     int
		padding bool
	}{{72, true}, {80, false}, {96, false}, {40, true}} {
		r := &recipe{name: fmt.Sprint("head dim ", c.dim), architecture: "qwen3",
			embedding: 128, dim: c.dim, heads: each(2, 4), kvHeads: each(2, 2), feed: each(2, 128),
			epsilon: 1e-5}
		src := r.source(t)
		ids := prompt(68)
		want := logitsOf(t, src, ids, 64, "f32")
		for _, b := range []struct {
			bits  int
			limit float64 // of the drift's mean over positions, as of maxDrift
		}{{8, 0.01}, {6, 0.04}, {4, 0.16}, {3, 0.32}} {
			plan := fmt.Sprintf("k%dv%d/window=none/sinks=0", b.bits, b.bits)
			mean := 0.0
			for i, got := range logitsOf(t, src, ids, 64, plan) {
				mean += distance(want[i], got) / float64(len(ids))
			}
			t.Logf("head dim %d, %d bits: logits by %.2g", c.dim, b.bits, mean)
			if !(mean <= b.limit) {
				t.Errorf("head dim %d, %d bits: logits by %v, want at most %v", c.dim, b.bits, mean, b.limit)
			}
		}
		shape := src.Spec.Shape()
		for i := range shape {
			shape[i].K, shape[i].V = kernels.KeyRows(4, 64), kernels.ValueRows(4, 64)
		}
		g := kernels.KVGeometry{Layers: shape, ContextTokens: 64, Sessions: 1}
		if padding := g.Bytes().Padding; (padding > 0) != c.padding {
			t.Errorf("head dim %d: %d bytes of padding", c.dim, padding)
		}
	}
}
