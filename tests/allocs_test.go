package tests

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"edgeinfer/edge"
)

// windowTokens and windows: allocations are counted over three windows of a
// thousand tokens and the least is taken, so that a stray allocation of the
// runtime does not hide or fake a leak.
const (
	windowTokens = 1000
	windows      = 3
)

func TestDecodeAllocatesNothing(t *testing.T) {
	for _, kv := range []string{"f16", "k4v2"} {
		t.Run(kv, func(t *testing.T) {
			e := openSmolLM2(t, edge.Options{ContextTokens: 4096, KV: kv})
			if got := leastMallocs(t, e); got != 0 {
				t.Errorf("%d allocations in the best window of %d tokens, want 0", got, windowTokens)
			}
		})
	}
}

// leastMallocs generates windows of tokens and returns the least number of
// heap allocations in one.
func leastMallocs(t *testing.T, e *edge.Engine) uint64 {
	t.Helper()
	s := session(t, e)
	prompt := e.Tokenizer().Encode(nil, "Once upon a time", tokenizerOptions)
	var stats runtime.MemStats
	marks := make([]uint64, 0, 2*windows) // an append that grows would count itself
	pieces := 0
	_, err := s.Generate(t.Context(), edge.Request{Tokens: prompt, MaxTokens: windows*windowTokens + 200,
		Sampling: greedy, IgnoreEOS: true}, func([]byte) {
		if pieces++; pieces%windowTokens == 100 && len(marks) < cap(marks) {
			runtime.ReadMemStats(&stats)
			marks = append(marks, stats.Mallocs)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var deltas []uint64
	for i := 1; i < len(marks); i++ {
		deltas = append(deltas, marks[i]-marks[i-1])
	}
	if len(deltas) < windows {
		t.Fatalf("only %d windows in %d pieces of text", len(deltas), pieces)
	}
	t.Logf("allocations per window: %v", deltas)
	return slices.Min(deltas)
}

func TestAnyCutOfTheWorkGivesTheSameBits(t *testing.T) {
	for name, path := range models(t) {
		for _, kv := range []string{"f16", "k4v2"} {
			var want []float32
			for _, threads := range []int{1, 2} {
				for _, chunk := range []int{512, 32, 7, 1} {
					got := lastLogits(t, edge.Options{Model: path, ContextTokens: 512, KV: kv,
						Threads: threads, BatchTokens: chunk})
					if want == nil {
						want = got
					} else if !slices.Equal(got, want) {
						t.Errorf("%s %s: chunks of %d on %d threads give other logits", name, kv, chunk, threads)
					}
				}
			}
		}
	}
}

// lastLogits runs a fixed prompt of 140 tokens and joins the logits of its end.
func lastLogits(t *testing.T, o edge.Options) []float32 {
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
	prompt := make([]int32, 140)
	for i := range prompt {
		prompt[i] = int32((i*i*7 + 13*i + 5) % 500)
	}
	var logits []float32
	if err := s.Eval(prompt, func(position int, row []float32) {
		if position >= len(prompt)-3 {
			logits = append(logits, row...)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if len(logits) == 0 {
		t.Fatal(fmt.Errorf("no logits"))
	}
	return logits
}
