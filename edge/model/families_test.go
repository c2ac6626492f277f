package model

// What every family computes: against an exact second implementation, against
// llama.cpp where no golden file has the family, and with packed caches.

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeinfer/kernels"
)

// recipes are models of families and shapes that no shared file has. An epsilon
// as large as the mean squares is one that no norm can leave out unnoticed.
func recipes() []*recipe {
	four, two := each(4, 4), each(4, 2)
	granite := map[string]any{"logit_scale": float32(4), "embedding_scale": float32(12),
		"residual_scale": float32(0.22), "attention.scale": float32(0.0625)}
	bare := map[string]any{"logit_scale": float32(1), "rope.scaling.finetuned": false}
	return []*recipe{
		{name: "granite", architecture: "granite", embedding: 128, dim: 32, heads: four,
			kvHeads: two, feed: each(4, 192), epsilon: 1e-5, keys: granite},
		{name: "granite-unscaled", architecture: "granite", embedding: 128, dim: 32, heads: four,
			kvHeads: two, feed: each(4, 192), epsilon: 0.5, keys: bare},
		{name: "olmo2", architecture: "olmo2", embedding: 128, dim: 32, heads: four,
			kvHeads: two, feed: each(4, 192), epsilon: 0.5,
			keys: map[string]any{"rope.freq_base": float32(5e5)}},
		{name: "olmo3", architecture: "olmo2", embedding: 128, dim: 32, heads: each(5, 4),
			kvHeads: each(5, 4), feed: each(5, 160), epsilon: 1e-6,
			keys: map[string]any{"rope.freq_base": float32(5e5), "attention.sliding_window": uint32(24),
				"rope.scaling.type": "yarn", "rope.scaling.factor": float32(8),
				"rope.scaling.original_context_length": uint32(64)}},
	}
}

// exactRecipes are further shapes, which only the second implementation covers.
func exactRecipes() []*recipe {
	local := map[string]any{"attention.sliding_window": uint32(20),
		"attention.sliding_window_pattern": []bool{true, false, true},
		"rope.freq_base":                   float32(1e6), "rope.scaling.factor": float32(8)}
	return []*recipe{
		{name: "heads by layer", architecture: "llama", embedding: 128, dim: 32,
			heads: []int{4, 2, 6, 1}, kvHeads: []int{2, 2, 3, 1}, feed: []int{192, 64, 128, 32},
			epsilon: 0.5},
		{name: "KV heads by layer", architecture: "qwen3", embedding: 96, dim: 48,
			heads: each(3, 4), kvHeads: []int{4, 1, 2}, feed: each(3, 96), epsilon: 0.5},
		{name: "local by array", architecture: "gemma3", embedding: 64, dim: 40,
			heads: each(3, 2), kvHeads: each(3, 1), feed: each(3, 96), epsilon: 0.5, keys: local},
		{name: "partial rotary", architecture: "llama", embedding: 80, dim: 40, heads: each(2, 2),
			kvHeads: each(2, 1), feed: each(2, 96), epsilon: 1e-5, keys: map[string]any{
				"rope.dimension_count": uint32(24), "rope.scaling.type": "linear",
				"rope.scaling.factor": float32(2)}},
		{name: "no RoPE in the fourth", architecture: "smollm3", embedding: 64, dim: 32,
			heads: each(5, 2), kvHeads: each(5, 1), feed: each(5, 96), epsilon: 0.5,
			vectors: map[string][]float32{"rope_freqs.weight": {1, 1, 1, 1, 1.5, 2, 3, 4, 5, 6, 7,
				8, 8, 8, 8, 8}}},
	}
}

// logitsOf runs ids in passes of batch tokens and returns the logits of all.
func logitsOf(t *testing.T, src *Source, ids []int32, batch int, kv string) [][]float32 {
	t.Helper()
	m, s := startWith(t, src, startOptions{batch: batch, context: 512, kv: kv, set: kernels.Best()})
	var out [][]float32
	for from := 0; from < len(ids); from += batch {
		pass := ids[from:min(from+batch, len(ids))]
		if err := m.Forward([]Span{{s, pass}}); err != nil {
			t.Fatal(err)
		}
		for i := range pass {
			m.Project([]int{i})
			out = append(out, append([]float32(nil), m.Logits(0)...))
		}
	}
	return out
}

// compare holds logits against what they should be.
func compare[F float32 | float64](t *testing.T, got []float32, want []F, bound float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d logits, want %d", len(got), len(want))
	}
	for id, w := range want {
		if d := math.Abs(float64(got[id]) - float64(w)); !(d <= bound*max(1, math.Abs(float64(w)))) {
			t.Errorf("logit of token %d is %v, want %v within %v", id, got[id], w, bound)
			return
		}
	}
}

func TestFamiliesEqualTheSecondImplementation(t *testing.T) {
	n := 70
	if testing.Short() {
		n = 36
	}
	ids := prompt(n)
	for _, r := range append(recipes(), exactRecipes()...) {
		t.Run(r.name, func(t *testing.T) {
			got := logitsOf(t, r.source(t), ids, 32, "f32")
			for p, want := range r.logits(ids) {
				compare(t, got[p], want, 1e-4)
				if t.Failed() {
					t.Fatalf("at position %d", p)
				}
			}
		})
	}
}

// TestEveryNormUsesEpsilon: where the comparison above would not see it, it
// would prove nothing.
func TestEveryNormUsesEpsilon(t *testing.T) {
	ids := prompt(8)
	for _, r := range append(recipes(), exactRecipes()...) {
		if r.epsilon < 0.1 {
			continue
		}
		r.file(t)
		want := r.logits(ids)[7]
		r.epsilon *= 1.01
		var largest float64
		for id, v := range r.logits(ids)[7] {
			largest = max(largest, math.Abs(v-want[id])/max(1, math.Abs(want[id])))
		}
		if largest < 1e-3 {
			t.Errorf("%s: epsilon 1%% larger moves logits by %v, not enough to be seen", r.name, largest)
		}
	}
}

// peerLogits is testdata/peer-logits.json.
type peerLogits struct {
	Provenance string
	Models     map[string]map[string]struct {
		ArgmaxEach []int32 `json:"argmax_each"`
		Last       []float64
	}
}

// write asks for the generated models as files, for the peer to run.
var write = flag.String("write", "", "write the generated models and prompts into this folder")

func TestFamiliesEqualThePeer(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "peer-logits.json"))
	if err != nil && *write == "" {
		t.Fatal(err)
	}
	var golden peerLogits
	if err := json.Unmarshal(data, &golden); err != nil && *write == "" {
		t.Fatal(err)
	}
	for _, r := range recipes() {
		if *write != "" {
			writeForThePeer(t, r)
			continue
		}
		src := r.source(t)
		for _, n := range []int{9, 96} {
			t.Run(fmt.Sprint(r.name, "/", n), func(t *testing.T) {
				want := golden.Models[r.name][fmt.Sprint(n)]
				if len(want.ArgmaxEach) != n {
					t.Fatalf("%d golden positions, want %d", len(want.ArgmaxEach), n)
				}
				got := logitsOf(t, src, prompt(n), 32, "f32")
				compare(t, got[n-1], want.Last, 1e-3)
				for p, id := range want.ArgmaxEach {
					if best := argmax(got[p]); best != id && got[p][best]-got[p][id] > 0.01 {
						t.Errorf("arg-max at %d is %d, want %d", p, best, id)
					}
				}
			})
		}
	}
}

// writeForThePeer writes a model and the prompts for testdata/logits.cpp.
func writeForThePeer(t *testing.T, r *recipe) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(*write, r.name+".gguf"), r.file(t), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{9, 96} {
		ids := strings.Trim(fmt.Sprint(prompt(n)), "[]")
		path := filepath.Join(*write, fmt.Sprintf("prompt-%d.txt", n))
		if err := os.WriteFile(path, []byte(ids+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func argmax(logits []float32) int32 {
	best := 0
	for id, v := range logits {
		if v > logits[best] {
			best = id
		}
	}
	return int32(best)
}
