package edge

import (
	"slices"
	"sync"
	"testing"

	"edgeinfer/edge/sample"
)

// TestSessionsAreApart takes, uses and closes sessions from many goroutines:
// each must be its owner's alone, and every answer the one given alone.
func TestSessionsAreApart(t *testing.T) {
	const parallel = 8
	e := open(t, Options{Parallel: parallel, ContextTokens: parallel * 64, KV: "k8v8"})
	request := Request{Tokens: story(e), MaxTokens: 12, Sampling: greedy}
	alone := newSession(t, e)
	want, _ := generate(t, alone, request)
	var wait sync.WaitGroup
	for range parallel - 1 {
		wait.Go(func() {
			for range 5 {
				s, err := e.NewSession()
				if err != nil {
					t.Error(err)
					return
				}
				got, err := s.Generate(t.Context(), request, func([]byte) {})
				if err != nil || got.Text != want.Text {
					t.Errorf("among others %q (%v), alone %q", got.Text, err, want.Text)
				}
				s.Close()
			}
		})
	}
	wait.Wait()
}

// TestEvalIsNotDisturbed evaluates while another session generates.
func TestEvalIsNotDisturbed(t *testing.T) {
	e := open(t, Options{Parallel: 2, ContextTokens: 256, BatchTokens: 4})
	quiet, busy := newSession(t, e), newSession(t, e)
	tokens := append(story(e), 300, 301, 302, 303, 304, 305)
	arguments := func() (ids []int32) {
		err := quiet.Eval(tokens, func(_ int, logits []float32) { ids = append(ids, sample.Greedy(logits)) })
		if err != nil {
			t.Error(err)
		}
		return ids
	}
	want := arguments()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 5 {
			if _, err := busy.Generate(t.Context(), Request{Tokens: story(e), MaxTokens: 60,
				Sampling: greedy, IgnoreEOS: true}, func([]byte) {}); err != nil {
				t.Error(err)
			}
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if got := arguments(); !slices.Equal(got, want) {
			t.Fatalf("arg-maxes %v beside another session, %v alone", got, want)
		}
	}
}

func TestPassesOutsideExclusiveAreABug(t *testing.T) {
	e := open(t, Options{})
	s := newSession(t, e)
	defer func() {
		if recover() == nil {
			t.Error("Append outside Exclusive does not panic")
		}
	}()
	s.Append([]int32{1})
}

// TestNothingFollowsAStopText pushes the start of a character in the token
// that completes the stop text, and more after it.
func TestNothingFollowsAStopText(t *testing.T) {
	e := open(t, Options{})
	id := func(piece string) int32 {
		n, ok := e.Tokenizer().ID(piece)
		if !ok {
			t.Fatalf("no token %q", piece)
		}
		return n
	}
	s := newStream(e.Tokenizer(), []string{"X"}, 10)
	var shown []byte
	for _, piece := range []string{"<0x61>", "<0x58>", "<0xE2>", "<0x62>"} {
		text, _ := s.push(id(piece))
		shown = append(shown, text...)
	}
	shown = append(shown, s.flush()...)
	if string(shown) != "a" || string(s.text[:s.shown]) != "a" {
		t.Errorf("shown %q, text %q; want a alone", shown, s.text[:s.shown])
	}
}
