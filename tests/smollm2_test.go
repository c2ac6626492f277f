package tests

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"edgeinfer/edge"
	"edgeinfer/edge/chat"
	"edgeinfer/edge/sample"
	"edgeinfer/edge/tokenizer"
	"edgeinfer/tests/shared"
)

const smollm2 = "SmolLM2-135M-Instruct.Q4_1.gguf"

// openSmolLM2 starts the real model, or skips where it is absent or where the
// build has no assembly: the references alone take minutes.
func openSmolLM2(t testing.TB, o edge.Options) *edge.Engine {
	t.Helper()
	if noasm {
		t.Skip("the large model runs only with assembly")
	}
	if testing.Short() {
		t.Skip("the large model does not run in short mode")
	}
	o.Model = shared.Path(t, "models", smollm2)
	e, err := edge.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// session takes a session of e for the length of the test.
func session(t testing.TB, e *edge.Engine) *edge.Session {
	t.Helper()
	s, err := e.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestSmolLM2LogitsEqualTheReference(t *testing.T) {
	data, err := os.ReadFile(shared.Path(t, "golden", "vectors", "smollm2-logits.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Prompts []struct {
			IDs         []int32   `json:"ids"`
			TopIDs      []int     `json:"top20_ids"`
			TopLogits   []float64 `json:"top20_logits"`
			GreedyIDs   []int32   `json:"greedy_ids"`
			GreedyMargs []float64 `json:"greedy_margins"`
		}
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	e := openSmolLM2(t, edge.Options{ContextTokens: 512, KV: "f32"})
	s := session(t, e)
	for i, p := range golden.Prompts {
		if len(p.TopIDs) != 20 || len(p.GreedyIDs) != 32 {
			t.Fatalf("prompt %d: golden fields are missing", i)
		}
		var last []float32
		err := s.Eval(p.IDs, func(position int, logits []float32) {
			if position == len(p.IDs)-1 {
				last = append(last[:0], logits...)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := sample.Greedy(last), int32(p.TopIDs[0]); got != want {
			t.Errorf("prompt %d: arg-max %d, want %d", i, got, want)
		}
		kl := divergence(last, p.TopIDs, p.TopLogits)
		t.Logf("prompt %d: KL over the top 20 is %.5f", i, kl)
		if !(kl < 0.01) {
			t.Errorf("prompt %d: KL over the top 20 is %v, want below 0.01", i, kl)
		}
		r, err := s.Generate(t.Context(), edge.Request{Tokens: p.IDs, MaxTokens: len(p.GreedyIDs),
			Sampling: greedy, IgnoreEOS: true}, func([]byte) {})
		if err != nil {
			t.Fatal(err)
		}
		checkGreedy(t, r.Tokens, goldenCase{Greedy: p.GreedyIDs, GreedyMargin: p.GreedyMargs}, int8Margin)
	}
}

// int8Margin is the logit margin below which int8 activations may choose
// another token than float32 ones.
const int8Margin = 0.3

// divergence is Σ p·ln(p/q) over the listed tokens, both distributions
// normalised to them; want are the golden logits.
func divergence(logits []float32, ids []int, want []float64) float64 {
	var sumP, sumQ float64
	for i, id := range ids {
		sumP += math.Exp(want[i] - want[0])
		sumQ += math.Exp(float64(logits[id]) - want[0])
	}
	var kl float64
	for i, id := range ids {
		logP := want[i] - want[0] - math.Log(sumP)
		logQ := float64(logits[id]) - want[0] - math.Log(sumQ)
		kl += math.Exp(logP) * (logP - logQ)
	}
	return kl
}

func TestSmolLM2CompletesAndChats(t *testing.T) {
	for _, kv := range []string{"f16", "k8v8"} {
		t.Run(kv, func(t *testing.T) {
			e := openSmolLM2(t, edge.Options{ContextTokens: 1024, KV: kv})
			tok := e.Tokenizer()
			prompt := tok.Encode(nil, "The capital of France is", tokenizer.Options{BOS: true})
			if got := generate(t, e, prompt, 8); !strings.HasPrefix(got, " Paris") {
				t.Errorf("completion = %q, want it to begin with %q", got, " Paris")
			}
			template, err := e.ChatTemplate()
			if err != nil {
				t.Fatal(err)
			}
			rendered, err := template.Render(chat.Request{
				Messages: chat.Messages{{Role: "user", Content: "What color is the sky?"}}})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(rendered.Text, "You are a helpful AI assistant named SmolLM") {
				t.Errorf("prompt %q lacks the model's default system prompt", rendered.Text)
			}
			prompt = nil
			for _, part := range rendered.Parts {
				prompt = tok.EncodeParts(prompt, []tokenizer.Part{{Text: part.Text, Special: part.Special}}, false)
			}
			if got := generate(t, e, prompt, 64); !strings.Contains(got, "blue") {
				t.Errorf("answer = %q, want it to say blue", got)
			}
		})
	}
}

// generate continues prompt greedily in a session of its own.
func generate(t testing.TB, e *edge.Engine, prompt []int32, n int) string {
	t.Helper()
	s, err := e.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Generate(t.Context(), edge.Request{Tokens: prompt, MaxTokens: n, Sampling: greedy},
		func([]byte) {})
	if err != nil {
		t.Fatal(err)
	}
	return r.Text
}

// tokenizerOptions encode a prompt as run does.
var tokenizerOptions = tokenizer.Options{BOS: true}
