package model

import (
	"math"
	"slices"
	"strings"
	"testing"

	"edgeinfer/arena"
	"edgeinfer/budget"
	"edgeinfer/edge/gguf"
	"edgeinfer/edge/gguf/gguftest"
	"edgeinfer/edge/internal/workers"
	"edgeinfer/edge/kv"
	"edgeinfer/kernels"
)

// tiny describes a model file of one layer: 2 query heads, 1 KV head of dim 4.
type tiny struct {
	keys    map[string]any
	tensors map[string][]uint64
	types   map[string]gguf.Type
	fill    map[string]float32 // value of every element, 0 if absent
}

func newTiny() *tiny {
	return &tiny{
		keys: map[string]any{
			"general.architecture":                   "llama",
			"llama.context_length":                   uint32(64),
			"llama.embedding_length":                 uint32(8),
			"llama.block_count":                      uint32(1),
			"llama.feed_forward_length":              uint32(16),
			"llama.attention.head_count":             uint32(2),
			"llama.attention.head_count_kv":          uint32(1),
			"llama.attention.layer_norm_rms_epsilon": float32(1e-5),
		},
		tensors: map[string][]uint64{
			"token_embd.weight": {8, 5}, "output_norm.weight": {8},
			"blk.0.attn_norm.weight": {8}, "blk.0.ffn_norm.weight": {8},
			"blk.0.attn_q.weight": {8, 8}, "blk.0.attn_k.weight": {8, 4},
			"blk.0.attn_v.weight": {8, 4}, "blk.0.attn_output.weight": {8, 8},
			"blk.0.ffn_gate.weight": {8, 16}, "blk.0.ffn_up.weight": {8, 16},
			"blk.0.ffn_down.weight": {16, 8},
		},
		types: map[string]gguf.Type{},
		fill:  map[string]float32{},
	}
}

// open writes the file and opens the model in it.
func (y *tiny) open(t *testing.T) (*Source, error) {
	t.Helper()
	b := gguftest.New(3)
	for _, key := range sorted(y.keys) {
		b.Key(key, y.keys[key])
	}
	for _, name := range sorted(y.tensors) {
		n := uint64(1)
		for _, d := range y.tensors[name] {
			n *= d
		}
		values := make([]float32, n)
		for i := range values {
			values[i] = y.fill[name]
		}
		b.Tensor(name, y.types[name], y.tensors[name], gguftest.F32(values...))
	}
	f, err := gguf.Parse("tiny.gguf", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return Open(f)
}

func sorted[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func TestHostileShapesAreRefusedByName(t *testing.T) {
	if _, err := newTiny().open(t); err != nil {
		t.Fatalf("the sound file is refused: %v", err)
	}
	set := func(key string, v any) func(*tiny) { return func(y *tiny) { y.keys[key] = v } }
	for want, change := range map[string]func(*tiny){
		"general.architecture is missing":      func(y *tiny) { delete(y.keys, "general.architecture") },
		`"qwen3moe" is not supported`:          set("general.architecture", "qwen3moe"),
		"llama.context_length is missing":      func(y *tiny) { delete(y.keys, "llama.context_length") },
		"llama.block_count is 0":               set("llama.block_count", uint32(0)),
		"llama.block_count is 4294967295":      set("llama.block_count", uint32(math.MaxUint32)),
		"llama.embedding_length is 1844":       set("llama.embedding_length", uint64(math.MaxUint64)),
		"head_count_kv is 3":                   set("llama.attention.head_count_kv", uint32(3)),
		"head_count is 0":                      set("llama.attention.head_count", uint32(0)),
		"head_count is 3":                      set("llama.attention.head_count", []uint32{3}),
		"feed_forward_length is an array of 2": set("llama.feed_forward_length", []uint32{16, 16}),
		"feed_forward_length":                  set("llama.feed_forward_length", "many"),
		"value_length is 8":                    set("llama.attention.value_length", uint32(8)),
		"key_length is 100000":                 set("llama.attention.key_length", uint32(100000)),
		"dimension_count is 3":                 set("llama.rope.dimension_count", uint32(3)),
		"dimension_count is 6":                 set("llama.rope.dimension_count", uint32(6)),
		"freq_base is NaN":                     set("llama.rope.freq_base", float32(math.NaN())),
		"freq_base is -1":                      set("llama.rope.freq_base", float32(-1)),
		"rms_epsilon is +Inf":                  set("llama.attention.layer_norm_rms_epsilon", float32(math.Inf(1))),
		"scaling.type is magic":                set("llama.rope.scaling.type", "magic"),
		"rope_factors_long":                    set("llama.rope.scaling.type", "longrope"),
		"scaling.factor is -2":                 set("llama.rope.scaling.factor", float32(-2)),
		"expert_count is 8":                    set("llama.expert_count", uint32(8)),
		"split.count is 3":                     set("split.count", uint16(3)),
		"blk.0.attn_output.bias is not one of": func(y *tiny) { y.tensors["blk.0.attn_output.bias"] = []uint64{8} },
		"blk.0.attn_k.bias is missing":         func(y *tiny) { y.tensors["blk.0.attn_q.bias"] = []uint64{8} },
		"token_embd.weight is missing":         func(y *tiny) { delete(y.tensors, "token_embd.weight") },
		"blk.0.attn_k.weight is missing":       func(y *tiny) { delete(y.tensors, "blk.0.attn_k.weight") },
		"attn_v.weight has dims [4 8]":         func(y *tiny) { y.tensors["blk.0.attn_v.weight"] = []uint64{4, 8} },
		"ffn_norm.weight has dims [8 8]":       func(y *tiny) { y.tensors["blk.0.ffn_norm.weight"] = []uint64{8, 8} },
		"attn_norm.weight has type F16":        func(y *tiny) { y.types["blk.0.attn_norm.weight"] = gguf.TypeF16 },
		"attn_q.weight has type I32":           func(y *tiny) { y.types["blk.0.attn_q.weight"] = gguf.TypeI32 },
		"rope_freqs.weight has dims [7]":       func(y *tiny) { y.tensors["rope_freqs.weight"] = []uint64{7} },
		"rotary factor 0 is 0":                 func(y *tiny) { y.tensors["rope_freqs.weight"] = []uint64{2} },
	} {
		y := newTiny()
		change(y)
		_, err := y.open(t)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "tiny.gguf") {
			t.Errorf("error %v, want one that names tiny.gguf and says %q", err, want)
		}
	}
}

// TestEpsilonIsUsed runs a model whose layers add nothing and whose embedding
// is as small as the root of epsilon, so that logits show epsilon itself.
func TestEpsilonIsUsed(t *testing.T) {
	const epsilon, embedding = 0.25, 0.5
	y := newTiny()
	y.keys["llama.attention.layer_norm_rms_epsilon"] = float32(epsilon)
	y.fill["token_embd.weight"], y.fill["output_norm.weight"] = embedding, 1
	src, err := y.open(t)
	if err != nil {
		t.Fatal(err)
	}
	m, s := start(t, src, 4)
	if err := m.Forward([]Span{{s, []int32{3}}}); err != nil {
		t.Fatal(err)
	}
	m.Project([]int{0})
	want := 8 * embedding * embedding / math.Sqrt(embedding*embedding+epsilon)
	if got := float64(m.Logits(0)[0]); math.Abs(got-want) > 1e-6 {
		t.Errorf("logit %v, want %v with epsilon %v", got, want, epsilon)
	}
}

// TestRefusedArchitectures: each is named, with what it needs; none runs.
func TestRefusedArchitectures(t *testing.T) {
	missing := map[string]string{"qwen3moe": "mixture of experts", "deepseek2": "latent attention",
		"mamba2": "state-space", "jamba": "state-space", "rwkv7": "recurrent", "qwen2vl": "image input",
		"clip": "vision", "bert": "both sides", "gpt-oss": "mixture of experts"}
	for _, r := range refused {
		for _, architecture := range r.architectures {
			if _, runs := families[architecture]; runs {
				t.Errorf("%s is refused and runs", architecture)
			}
			y := newTiny()
			y.keys["general.architecture"] = architecture
			_, err := y.open(t)
			if err == nil || !strings.Contains(err.Error(), r.missing) ||
				!strings.Contains(err.Error(), missing[architecture]) ||
				!strings.Contains(err.Error(), architecture) || !strings.Contains(err.Error(), "olmo2") {
				t.Errorf("%s: error %v, want one that says it needs %s and what runs", architecture, err,
					r.missing)
			}
			delete(missing, architecture)
		}
	}
	for architecture := range missing {
		t.Errorf("%s is not refused by name", architecture)
	}
}

// start gives a model its memory and a session, with the reference kernels.
func start(t *testing.T, src *Source, batchTokens int) (*Model, *kv.Session) {
	t.Helper()
	return startWith(t, src, startOptions{batchTokens, 64, "f32", kernels.Generic()})
}

// startOptions are what a test chooses; kv is a plan.
type startOptions struct {
	batch, context int
	kv             string
	set            kernels.Set
}

func startWith(t *testing.T, src *Source, o startOptions) (*Model, *kv.Session) {
	t.Helper()
	shape := src.Spec.Shape()
	plan, err := budget.ParsePlan(o.kv, len(shape))
	if err != nil {
		t.Fatal(err)
	}
	for i := range shape {
		shape[i].K, shape[i].V = plan.Layers[i].K, plan.Layers[i].V
	}
	g := kernels.KVGeometry{Layers: shape, ContextTokens: o.context, Sessions: 1, WindowTiles: 1,
		SinkTiles: 1}
	if plan.WindowTiles != nil {
		g.WindowTiles = *plan.WindowTiles
	}
	if plan.SinkTiles != nil {
		g.SinkTiles = *plan.SinkTiles
	}
	lines, err := src.Spec.Lines(o.batch, 1)
	if err != nil {
		t.Fatal(err)
	}
	size := g.Bytes().Total() + kv.ScratchBytes(g, 1, o.batch)
	for _, l := range lines {
		size += l.Bytes
	}
	a, err := arena.New(size, arena.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pool := workers.New(1)
	t.Cleanup(func() { pool.Close(); a.Close() })
	cache, err := kv.New(g, a, &o.set, pool)
	if err != nil {
		t.Fatal(err)
	}
	s, err := cache.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	return New(src, a, &o.set, pool, o.batch, 1, o.context), s
}

func TestForwardRefusesWhatItCannotRun(t *testing.T) {
	src, err := newTiny().open(t)
	if err != nil {
		t.Fatal(err)
	}
	m, s := start(t, src, 4)
	for _, tokens := range [][]int32{nil, {5}, {-1}, {0, 1, 2, 3, 4}} {
		if err := m.Forward([]Span{{s, tokens}}); err == nil {
			t.Errorf("tokens %v run", tokens)
		}
		if s.Len() != 0 {
			t.Errorf("refused tokens %v left %d positions in the cache", tokens, s.Len())
		}
	}
}

// TestQueriesOfTheLargestGemma: with 62 layers scores are divided by the root
// of embedding/heads, which the cache, dividing by √headDim, must not see.
func TestQueriesOfTheLargestGemma(t *testing.T) {
	y := newTiny()
	for key, v := range y.keys {
		if rest, ok := strings.CutPrefix(key, "llama."); ok {
			delete(y.keys, key)
			y.keys["gemma3."+rest] = v
		}
	}
	y.keys["general.architecture"], y.keys["gemma3.block_count"] = "gemma3", uint32(62)
	y.keys["gemma3.attention.key_length"] = uint32(2)
	y.keys["gemma3.attention.value_length"] = uint32(2)
	b := gguftest.New(3)
	for _, key := range sorted(y.keys) {
		b.Key(key, y.keys[key])
	}
	b.Tensor("token_embd.weight", gguf.TypeF32, []uint64{8, 5}, make([]byte, 160))
	f, err := gguf.Parse("gemma.gguf", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	s, err := ReadSpec(f)
	if err != nil {
		t.Fatal(err)
	}
	// Head dim 2, embedding 8, 2 heads: √(2/4).
	if want := float32(math.Sqrt(0.5)); s.queryScale != want {
		t.Fatalf("queries are scaled by %v, want %v", s.queryScale, want)
	}
	m := &Model{spec: s, w: &weights{layers: make([]layerWeights, 62)}, q: []float32{1, 2, 3, 4},
		k: []float32{5, 6}, cos: []float32{1}, sin: []float32{0}, cosL: []float32{1}, sinL: []float32{0}}
	m.turn.m = m
	m.turn.Do(0, 0)
	if want := s.queryScale; m.q[0] != want || m.q[1] != 2*want || m.k[0] != 5 {
		t.Errorf("q %v, k %v after scaling by %v", m.q, m.k, want)
	}
}
