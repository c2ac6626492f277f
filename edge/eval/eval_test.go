package eval

import (
	"math"
	"strings"
	"testing"

	"edgeinfer/edge"
	"edgeinfer/edge/tokenizer"
)

func TestSummaries(t *testing.T) {
	var values []float64
	for i := 100; i >= 0; i-- {
		values = append(values, float64(i))
	}
	s := Summarize(values)
	if s.Mean != 50 || s.Median != 50 || s.P99 != 99 || s.Max != 100 {
		t.Errorf("Summarize(0…100) = %+v", s)
	}
	// The deviation of 0…100 is √(850), its standard error that over √(n−1).
	if want := math.Sqrt(850.0 / 100); math.Abs(s.Error-want) > 1e-9 {
		t.Errorf("standard error %v, want %v", s.Error, want)
	}
}

// open starts the embedded model with a plan of the cache.
func open(t *testing.T, kv string) *edge.Engine {
	t.Helper()
	e, err := edge.Open(edge.Options{KV: kv, ContextTokens: 128, BatchTokens: 48, LogitRows: 16})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// story is a text the embedded model knows well.
func story(e *edge.Engine) []int32 {
	text := strings.Repeat("Once upon a time, there was a little girl named Lily. She loved to play "+
		"outside in the park. One day, she saw a big, red ball. ", 12)
	return e.Tokenizer().Encode(nil, text, tokenizer.Options{})
}

func TestPerplexityEqualsADirectSum(t *testing.T) {
	e := open(t, "f32")
	tokens := story(e)
	bos := e.Tokenizer().BOS()
	results, err := Perplexity(t.Context(), []*edge.Engine{e}, tokens,
		Options{ContextTokens: 100, Chunks: 2, BOS: bos}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := results[0]
	s, err := e.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var loss float64
	n := 0
	for c := range 2 {
		chunk := append([]int32{}, tokens[100*c:100*c+100]...)
		chunk[0] = bos
		err := s.Eval(chunk, func(position int, logits []float32) {
			if position >= 50 && position < 99 {
				loss += slowLogSum(logits) - float64(logits[chunk[position+1]])
				n++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := math.Exp(loss / float64(n)); n != got.Tokens || math.Abs(got.PPL-want) > 1e-9*want {
		t.Errorf("PPL %v over %d tokens, want %v over %d", got.PPL, got.Tokens, want, n)
	}
	if got.PPL > 40 {
		t.Errorf("PPL %v of a story the model was trained on", got.PPL)
	}
}

func TestDivergenceGrowsAsBitsFall(t *testing.T) {
	reference := open(t, "f16")
	o := Options{ContextTokens: 128, Chunks: 3, BOS: -1}
	last := -1.0
	plans := []string{"f16", "k8v8", "k4v4", "k2v2"}
	var engines []*edge.Engine
	for _, kv := range plans {
		engines = append(engines, open(t, kv))
	}
	calls := 0
	together, err := Divergence(t.Context(), reference, engines, story(reference), o,
		func(done, chunks int, sofar []Result) {
			if calls++; done != calls || chunks != 3 || len(sofar) != len(plans) {
				t.Errorf("progress %d of %d with %d results", done, chunks, len(sofar))
			}
		})
	if err != nil || calls != 3 {
		t.Fatal(err, calls)
	}
	for i, kv := range plans {
		alone, err := Divergence(t.Context(), reference, engines[i:i+1], story(reference), o, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := together[i]
		if r != alone[0] {
			t.Errorf("%s among others %+v, alone %+v", kv, r, alone[0])
		}
		if kv == "f16" && (r.KLD.Max != 0 || r.SameTop != 1 || r.LogRatio != 0) {
			t.Errorf("the same cache diverges: %+v", r)
		}
		if !(r.KLD.Mean > last) {
			t.Errorf("%s: mean KLD %v, not above %v", kv, r.KLD.Mean, last)
		}
		last = r.KLD.Mean
	}
}

func TestTextsThatAreTooShortAreRefused(t *testing.T) {
	e := open(t, "f16")
	for _, o := range []Options{{ContextTokens: 128}, {ContextTokens: 4}, {ContextTokens: 4096}} {
		if _, err := Perplexity(t.Context(), []*edge.Engine{e}, make([]int32, 20), o, nil); err == nil {
			t.Errorf("%+v is accepted for a text of 20 tokens", o)
		}
	}
}

func TestTokensOutsideTheVocabularyAreRefused(t *testing.T) {
	e := open(t, "f16")
	for _, at := range []int{0, 47, 48, 99} {
		tokens := make([]int32, 100)
		tokens[at] = 100000
		_, err := Perplexity(t.Context(), []*edge.Engine{e}, tokens,
			Options{ContextTokens: 100, BOS: -1}, nil)
		if err == nil || !strings.Contains(err.Error(), "token 100000 is outside") {
			t.Errorf("token 100000 at %d: error %v", at, err)
		}
	}
	one, tokens, o := []*edge.Engine{e}, make([]int32, 100), Options{ContextTokens: 100}
	if _, err := Divergence(t.Context(), e, one, tokens, o, nil); err == nil {
		t.Error("an engine is compared with itself")
	}
	if _, err := Divergence(t.Context(), nil, one, tokens, o, nil); err == nil {
		t.Error("a divergence from nothing")
	}
	if _, err := Perplexity(t.Context(), nil, tokens, o, nil); err == nil {
		t.Error("a perplexity of nothing")
	}
}
