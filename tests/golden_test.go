// Package tests holds what no package can show alone: imports, golden logits,
// bytes against the operating system, allocations, whole-program runs and
// other architectures under QEMU.
package tests

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"edgeinfer/edge"
	"edgeinfer/edge/sample"
	"edgeinfer/tests/shared"
)

// goldenCase is one prompt of golden/logits.json or logits-exact.json.
type goldenCase struct {
	Prompt       []int32   `json:"prompt"`
	ArgmaxEach   []int32   `json:"argmax_each"`
	ArgmaxMargin []float64 `json:"argmax_margin"`
	Last         struct {
		Mean, RMS float64
		Top       [][2]float64
		First16   []float64
	}
	Greedy       []int32
	GreedyMargin []float64 `json:"greedy_margin"`
}

// computed is what we make of the same prompt.
type computed struct {
	logits []float32 // of the last position
	argmax []int32   // of every position
	greedy []int32
}

func loadGolden(t *testing.T, name string) map[string]map[string]goldenCase {
	t.Helper()
	data, err := os.ReadFile(shared.Path(t, "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string]map[string]goldenCase
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	return golden
}

// modelPath finds a model of the golden files in the folders it may lie in.
func modelPath(t *testing.T, file string) string {
	t.Helper()
	for _, folder := range []string{"families", "formats", "."} {
		path := filepath.Join(shared.Path(t, "models"), folder, file)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Fatalf("model %s not found", file)
	return ""
}

// compute runs a prompt with an f32 cache and generates n tokens greedily.
func compute(t *testing.T, o edge.Options, prompt []int32, n int) computed {
	t.Helper()
	e, err := edge.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s, err := e.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var c computed
	err = s.Eval(prompt, func(position int, logits []float32) {
		c.argmax = append(c.argmax, sample.Greedy(logits))
		if position == len(prompt)-1 {
			c.logits = slices.Clone(logits)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Generate(t.Context(), edge.Request{Tokens: prompt, MaxTokens: n, IgnoreEOS: true,
		Sampling: greedy}, func([]byte) {})
	if err != nil {
		t.Fatal(err)
	}
	c.greedy = r.Tokens
	return c
}

// greedy takes the arg-max and changes no logit.
var greedy = sample.Params{Temperature: 0, TopP: 1, RepeatPenalty: 1}

// tolerance is one row of the table in golden/README.md.
type tolerance struct {
	each          float64 // of every listed logit, times max(1, |logit|) if relative
	relative      bool
	rms, largest  float64 // over the listed logits, where each is 0
	margin        float64 // arg-max may differ only below it
	misses, short int     // arg-max differences allowed of 96 and of 9
	greedy        bool    // greedy ids are compared
}

var (
	floatExact = tolerance{each: 1e-3, relative: true, margin: 0.01, greedy: true}
	int8Exact  = tolerance{rms: 1, largest: 3, margin: 2, misses: 8, short: 2}
)

func TestLogitsEqualExactArithmetic(t *testing.T) {
	golden := loadGolden(t, "logits-exact.json")
	for _, c := range []struct {
		file string
		tol  tolerance
	}{
		{"stories260K.gguf", floatExact}, {"llama.gguf", floatExact}, {"llama-k256.gguf", floatExact},
		{"headdim80.gguf", floatExact}, {"mistral-spm.gguf", floatExact},
		{"qwen2.gguf", floatExact}, {"qwen3.gguf", floatExact}, {"smollm3.gguf", floatExact},
		{"phi3.gguf", floatExact}, {"phi4-longrope.gguf", floatExact}, {"gemma3.gguf", floatExact},
		{"llama31-ropefreqs.gguf", floatExact}, {"llama-yarn.gguf", floatExact},
		{"llama-linear-rope.gguf", floatExact},
		{"k256-F16.gguf", floatExact}, {"k256-BF16.gguf", floatExact},
		{"k256-Q8_0.gguf", int8Exact}, {"k256-Q4_0.gguf", int8Exact}, {"k256-Q4_1.gguf", int8Exact},
		{"k256-Q5_0.gguf", int8Exact}, {"k256-Q5_1.gguf", int8Exact}, {"k256-Q2_K.gguf", int8Exact},
		{"k256-Q3_K_S.gguf", int8Exact}, {"k256-Q4_K_S.gguf", int8Exact},
		{"k256-Q5_K_S.gguf", int8Exact}, {"k256-Q6_K.gguf", int8Exact},
		{"k256-IQ4_NL.gguf", int8Exact}, {"k256-IQ4_XS.gguf", int8Exact},
	} {
		checkFile(t, c.file, golden[c.file], c.tol)
	}
}

func TestLogitsEqualThePeers(t *testing.T) {
	golden := loadGolden(t, "logits.json")
	family := tolerance{each: 1e-3, relative: true, margin: 0.01, greedy: true}
	loose := tolerance{each: 3e-3, relative: true, margin: 0.01, greedy: true}
	quantized := tolerance{rms: 1.5, largest: 4, margin: math.Inf(1), misses: 10, short: 10}
	for _, c := range []struct {
		file string
		tol  tolerance
	}{
		{"stories260K.gguf", loose}, {"llama.gguf", family}, {"llama-k256.gguf", family},
		{"headdim80.gguf", family}, {"mistral-spm.gguf", family},
		{"qwen2.gguf", family}, {"qwen3.gguf", family}, {"smollm3.gguf", family},
		{"phi3.gguf", family}, {"phi4-longrope.gguf", family}, {"gemma3.gguf", loose},
		{"llama31-ropefreqs.gguf", family}, {"llama-yarn.gguf", family},
		{"llama-linear-rope.gguf", family},
		{"k256-F16.gguf", tolerance{each: 0.05, margin: math.Inf(1), misses: 10, short: 10}},
		{"k256-BF16.gguf", tolerance{each: 0.5, margin: math.Inf(1), misses: 10, short: 10}},
		{"k256-Q8_0.gguf", quantized}, {"k256-Q4_0.gguf", quantized}, {"k256-Q4_1.gguf", quantized},
		{"k256-Q5_0.gguf", quantized}, {"k256-Q5_1.gguf", quantized}, {"k256-Q2_K.gguf", quantized},
		{"k256-Q3_K_S.gguf", quantized}, {"k256-Q4_K_S.gguf", quantized},
		{"k256-Q5_K_S.gguf", quantized}, {"k256-Q6_K.gguf", quantized},
		{"k256-IQ4_NL.gguf", quantized}, {"k256-IQ4_XS.gguf", quantized},
	} {
		checkFile(t, c.file, golden[c.file], c.tol)
	}
}

// checkFile runs all cases of one file.
func checkFile(t *testing.T, file string, cases map[string]goldenCase, tol tolerance) {
	if len(cases) == 0 {
		t.Errorf("no golden cases of %s", file)
	}
	for name, want := range cases {
		t.Run(file+"/"+name, func(t *testing.T) {
			o := edge.Options{Model: modelPath(t, file), ContextTokens: 512, KV: "f32", Threads: 2}
			if name == "short_ctx32" {
				o.ContextTokens = 32
			}
			got := compute(t, o, want.Prompt, len(want.Greedy))
			checkLogits(t, got, want, tol)
			checkArgmax(t, got.argmax, want, tol)
			if tol.greedy {
				checkGreedy(t, got.greedy, want, tol.margin)
			}
		})
	}
}

// checkLogits compares the listed logits.
func checkLogits(t *testing.T, got computed, want goldenCase, tol tolerance) {
	t.Helper()
	var sum, largest float64
	n := 0
	compare := func(id int, want float64) {
		diff := math.Abs(float64(got.logits[id]) - want)
		bound := tol.each
		if tol.relative {
			bound *= max(1, math.Abs(want))
		}
		if tol.each > 0 && !(diff <= bound) {
			t.Errorf("logit of token %d is %v, want %v ± %v", id, got.logits[id], want, bound)
		}
		sum, largest, n = sum+diff*diff, max(largest, diff), n+1
	}
	for _, top := range want.Last.Top {
		compare(int(top[0]), top[1])
	}
	for id, v := range want.Last.First16 {
		compare(id, v)
	}
	rms := math.Sqrt(sum / float64(n))
	t.Logf("%d logits: rms difference %.2g, largest %.2g", n, rms, largest)
	if tol.each == 0 && !(rms <= tol.rms && largest <= tol.largest) {
		t.Errorf("differences: rms %.3f (limit %v), largest %.3f (limit %v)", rms, tol.rms, largest, tol.largest)
	}
}

// checkArgmax compares the best token of every position.
func checkArgmax(t *testing.T, got []int32, want goldenCase, tol tolerance) {
	t.Helper()
	misses := 0
	for i, id := range want.ArgmaxEach {
		if got[i] == id {
			continue
		}
		misses++
		if want.ArgmaxMargin != nil && want.ArgmaxMargin[i] > tol.margin {
			t.Errorf("position %d: arg-max %d, want %d (margin %v)", i, got[i], id, want.ArgmaxMargin[i])
		}
	}
	allowed := tol.misses
	if len(want.ArgmaxEach) < 20 {
		allowed = tol.short
	}
	if tol.each > 0 && tol.relative {
		allowed = len(got) // the margins alone decide
	}
	if misses > allowed {
		t.Errorf("%d of %d arg-maxes differ, %d allowed", misses, len(got), allowed)
	}
}

// checkGreedy compares greedy ids up to the first step that a margin leaves open.
func checkGreedy(t *testing.T, got []int32, want goldenCase, margin float64) {
	t.Helper()
	for i, id := range want.Greedy {
		if want.GreedyMargin != nil && want.GreedyMargin[i] <= margin {
			return
		}
		if got[i] != id {
			t.Errorf("greedy step %d: token %d, want %d", i, got[i], id)
			return
		}
	}
}
