package edge

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"edgeinfer/edge/sample"
	"edgeinfer/edge/tokenizer"
	"edgeinfer/tests/shared"
)

var greedy = sample.Params{TopP: 1, RepeatPenalty: 1}

// open starts the embedded model with o for the length of the test.
func open(t *testing.T, o Options) *Engine {
	t.Helper()
	e, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func newSession(t *testing.T, e *Engine) *Session {
	t.Helper()
	s, err := e.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// generate runs r and returns the result and the text that was emitted.
func generate(t *testing.T, s *Session, r Request) (Result, string) {
	t.Helper()
	var emitted strings.Builder
	result, err := s.Generate(t.Context(), r, func(p []byte) { emitted.Write(p) })
	if err != nil {
		t.Fatal(err)
	}
	return result, emitted.String()
}

func TestStoryEqualsTheReference(t *testing.T) {
	data, err := os.ReadFile(shared.Path(t, "golden", "logits.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string]map[string]struct{ Prompt, Greedy []int32 }
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	e := open(t, Options{ContextTokens: 512, KV: "f32", Threads: 2})
	s := newSession(t, e)
	cases := golden["stories260K.gguf"]
	if len(cases) == 0 {
		t.Fatal("no golden cases of stories260K")
	}
	for name, c := range cases {
		got, _ := generate(t, s, Request{Tokens: c.Prompt, MaxTokens: len(c.Greedy), Sampling: greedy, IgnoreEOS: true})
		if len(c.Greedy) != 64 || !slices.Equal(got.Tokens, c.Greedy) {
			t.Errorf("%s: tokens %v, want %v", name, got.Tokens, c.Greedy)
		}
	}
}

// story is a prompt of the embedded model with its first token.
func story(e *Engine) []int32 {
	return e.Tokenizer().Encode(nil, "Once upon a time", tokenizer.Options{BOS: true})
}

func TestEmittedPiecesAreTheText(t *testing.T) {
	e := open(t, Options{})
	r, emitted := generate(t, newSession(t, e), Request{Tokens: story(e), MaxTokens: 100, Sampling: greedy})
	if r.Text != emitted || len(r.Text) < 100 {
		t.Errorf("text %q, emitted %q", r.Text, emitted)
	}
	if r.FinishReason != "length" && r.FinishReason != "stop" {
		t.Errorf("finish reason %q", r.FinishReason)
	}
}

func TestPrefixIsReusedAndChangesNothing(t *testing.T) {
	e := open(t, Options{KV: "k8v8", ContextTokens: 512})
	s := newSession(t, e)
	first, _ := generate(t, s, Request{Tokens: story(e), MaxTokens: 150, Sampling: greedy, IgnoreEOS: true})
	for _, at := range []int{140, 60} {
		longer := append(story(e), first.Tokens[:at]...)
		again, _ := generate(t, s, Request{Tokens: longer, MaxTokens: 10, Sampling: greedy, IgnoreEOS: true})
		// The end is still held in 16 bits; further back whole tiles are kept.
		if c := again.CachedTokens; c != len(longer)-1 && (c == 0 || c%32 != 0) {
			t.Errorf("cached %d tokens of %d", c, len(longer))
		}
		if !slices.Equal(again.Tokens, first.Tokens[at:at+10]) {
			t.Errorf("with a cached prefix %v, without %v", again.Tokens, first.Tokens[at:at+10])
		}
	}
}

func TestStopTexts(t *testing.T) {
	e := open(t, Options{ContextTokens: 256})
	s := newSession(t, e)
	whole, _ := generate(t, s, Request{Tokens: story(e), MaxTokens: 60, Sampling: greedy})
	stop := whole.Text[20:29]
	at := strings.Index(whole.Text, stop)
	r, emitted := generate(t, s, Request{Tokens: story(e), MaxTokens: 60, Sampling: greedy,
		Stop: []string{"not in the story", stop}})
	if r.Text != whole.Text[:at] || emitted != r.Text || r.FinishReason != "stop" {
		t.Errorf("text %q, emitted %q, reason %q; want %q and stop", r.Text, emitted, r.FinishReason, whole.Text[:at])
	}
	r, emitted = generate(t, s, Request{Tokens: story(e), MaxTokens: 60, Sampling: greedy,
		Stop: []string{whole.Text[len(whole.Text)-3:] + "never comes"}})
	if r.Text != whole.Text || emitted != whole.Text {
		t.Errorf("a stop text that only begins to match cut %q to %q", whole.Text, r.Text)
	}
}

func TestCancelKeepsWhatCame(t *testing.T) {
	e := open(t, Options{ContextTokens: 256})
	s := newSession(t, e)
	ctx, cancel := context.WithCancel(t.Context())
	pieces := 0
	r, err := s.Generate(ctx, Request{Tokens: story(e), MaxTokens: -1, Sampling: greedy, IgnoreEOS: true},
		func([]byte) {
			if pieces++; pieces == 5 {
				cancel()
			}
		})
	if err != nil || r.FinishReason != "cancelled" || len(r.Tokens) < 5 || len(r.Tokens) > 10 {
		t.Errorf("cancelled after 5 pieces: %d tokens, reason %q, error %v", len(r.Tokens), r.FinishReason, err)
	}
	r, err = s.Generate(ctx, Request{Tokens: story(e), MaxTokens: 5, Sampling: greedy}, func([]byte) {})
	if err != nil || r.FinishReason != "cancelled" || len(r.Tokens) != 0 {
		t.Errorf("cancelled before: %d tokens, reason %q, error %v", len(r.Tokens), r.FinishReason, err)
	}
}

func TestAnswerNeverExceedsTheContext(t *testing.T) {
	e := open(t, Options{ContextTokens: 64})
	s := newSession(t, e)
	prompt := make([]int32, 63)
	for i := range prompt {
		prompt[i] = int32(300 + i)
	}
	r, _ := generate(t, s, Request{Tokens: prompt, MaxTokens: -1, Sampling: greedy, IgnoreEOS: true})
	if len(r.Tokens) != 1 || r.FinishReason != "length" {
		t.Errorf("63 of 64 tokens used: %d generated, reason %q; want 1 and length", len(r.Tokens), r.FinishReason)
	}
	for _, n := range []int{0, 64, 10000} {
		_, err := s.Generate(t.Context(), Request{Tokens: make([]int32, n), Sampling: greedy}, func([]byte) {})
		if !IsInputError(err) {
			t.Errorf("prompt of %d tokens: error %v, want an input error", n, err)
		}
	}
}

func TestSessionsAreCounted(t *testing.T) {
	e := open(t, Options{Parallel: 2, ContextTokens: 256})
	a, b := newSession(t, e), newSession(t, e)
	if _, err := e.NewSession(); !errors.Is(err, ErrFull) {
		t.Errorf("third of two sessions: error %v, want ErrFull", err)
	}
	ra, _ := generate(t, a, Request{Tokens: story(e), MaxTokens: 40, Sampling: greedy})
	rb, _ := generate(t, b, Request{Tokens: story(e), MaxTokens: 40, Sampling: greedy})
	if ra.Text != rb.Text {
		t.Errorf("two sessions answer %q and %q", ra.Text, rb.Text)
	}
}

func TestBadOptionsAreInputErrors(t *testing.T) {
	three := 3
	for name, o := range map[string]Options{
		"negative threads": {Threads: -1}, "no such set": {Kernels: "sse9"}, "bad plan": {KV: "k9v9"},
		"negative context": {ContextTokens: -5}, "huge context": {ContextTokens: 1 << 30},
		"tiny budget": {BudgetBytes: 1}, "tiny cache budget": {KVBudgetBytes: 1},
		"missing file": {Model: filepath.Join(t.TempDir(), "none.gguf")}, "folder": {Model: t.TempDir()},
		"huge batch": {BatchTokens: 1 << 30}, "sinks": {SinkTiles: &three},
	} {
		s, err := Load(o)
		if err == nil {
			_, err = s.Plan()
			s.Close()
		}
		if !IsInputError(err) {
			t.Errorf("%s: error %v, want an input error", name, err)
		}
	}
}

// TestCutFilesAreRefused loads the embedded file cut short: at every 16th byte
// of its header and at 200 places of its data.
func TestCutFilesAreRefused(t *testing.T) {
	s, err := Load(Options{})
	if err != nil {
		t.Fatal(err)
	}
	header, size := int(s.File().DataOffset), len(embedded)
	s.Close()
	var cuts []int
	for at := 0; at < header; at += 16 {
		cuts = append(cuts, at)
	}
	for i := range 200 {
		cuts = append(cuts, header+i*(size-header)/200)
	}
	path := filepath.Join(t.TempDir(), "cut.gguf")
	for _, at := range cuts {
		if err := os.WriteFile(path, embedded[:at], 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := Open(Options{Model: path})
		if err == nil {
			e.Close()
			t.Errorf("cut at byte %d of %d: loads", at, size)
		} else if !IsInputError(err) || !strings.Contains(err.Error(), "cut.gguf") {
			t.Errorf("cut at byte %d: error %q, want an input error that names the file", at, err)
		}
	}
}
