package edge

// Session: one sequence of tokens and its cache. Generate is the loop from a
// prompt to text; after its set-up it allocates nothing per token.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"edgeinfer/edge/kv"
	"edgeinfer/edge/model"
	"edgeinfer/edge/sample"
)

// ErrFull says that every session is in use, ErrContext that a prompt is
// longer than the context has room for.
var (
	ErrFull    = errors.New("no session free")
	ErrContext = errors.New("the context is too small")
)

// contextError is an ErrContext with its figures.
type contextError struct{ promptTokens, contextTokens int }

func (e contextError) Error() string {
	return fmt.Sprintf("edge: the prompt has %d tokens, the context holds %d with room for one "+
		"to come; shorten it or raise --ctx-size", e.promptTokens, e.contextTokens)
}

func (e contextError) Is(target error) bool { return target == ErrContext }

// Session is one sequence. It serves one caller at a time.
type Session struct {
	engine  *Engine
	cache   *kv.Session
	history []int32 // [context], the first length are in the cache
	length  int
	buffers sample.Buffers
	sampler sample.Sampler
	span    [1]model.Span
	rows    []int // of Project; room for Engine.LogitRows
	next    int32 // the token sampled last
}

// Request is one prompt and how to continue it.
type Request struct {
	Tokens    []int32 // the prompt, at least one, fewer than the context
	MaxTokens int     // −1: until the context is full
	Sampling  sample.Params
	Stop      []string // texts that end the answer; they are not part of it
	IgnoreEOS bool     // go on at end-of-generation tokens
}

// Result is what Generate made.
type Result struct {
	Text         string
	Tokens       []int32 // generated, an end-of-generation token not included
	PromptTokens int
	CachedTokens int    // of the prompt, taken from the cache
	FinishReason string // stop, length, cancelled
	Timings      Timings
}

// Timings are the speeds of one Generate.
type Timings struct {
	Prompt, Predicted  time.Duration
	PromptTokens       int // computed, cached ones aside
	PredictedTokens    int // passes after the prompt
	FirstToken         time.Duration
	PromptPerSecond    float64
	PredictedPerSecond float64
	FirstTokenMS       float64
}

// Generate continues r.Tokens and calls emit with each piece of text as it
// comes, whole UTF-8 characters only; emit must not keep the slice. What the
// cache already holds of the prompt is not computed again. When ctx ends, the
// result so far is returned with the reason "cancelled" and no error.
func (s *Session) Generate(ctx context.Context, r Request, emit func(piece []byte)) (Result, error) {
	start := time.Now()
	result := Result{PromptTokens: len(r.Tokens)}
	if err := s.check(r); err != nil {
		return result, inputError{err}
	}
	result.CachedTokens = s.reuse(r.Tokens)
	s.sampler.Reset(r.Sampling, s.buffers)
	t := &result.Timings
	t.PromptTokens = len(r.Tokens) - result.CachedTokens
	if !s.prefill(ctx, r.Tokens[result.CachedTokens:]) {
		result.FinishReason = "cancelled"
		return result, nil
	}
	t.Prompt = time.Since(start)
	out := newStream(s.engine.tokenizer, r.Stop, s.room(r))
	var count int
	count, result.FinishReason = s.predict(ctx, r, out, emit, t)
	t.FirstToken = t.Prompt
	t.Predicted = time.Since(start) - t.Prompt
	t.rates()
	result.Text = string(out.text[:out.shown])
	result.Tokens = append([]int32{}, s.history[len(r.Tokens):len(r.Tokens)+count]...)
	return result, nil
}

// room is the most tokens a request can generate: prompt and answer together
// never exceed the context.
func (s *Session) room(r Request) int {
	room := len(s.history) - len(r.Tokens)
	if r.MaxTokens >= 0 {
		room = min(room, r.MaxTokens)
	}
	return room
}

// check refuses requests that cannot run.
func (s *Session) check(r Request) error {
	context := s.engine.ContextTokens()
	switch {
	case len(r.Tokens) == 0:
		return errors.New("edge: the prompt is empty and the model adds no token of its own; " +
			"give at least one token")
	case len(r.Tokens) >= context:
		return contextError{len(r.Tokens), context}
	case r.MaxTokens < -1:
		return fmt.Errorf("edge: max tokens is %d, must be −1 (no limit) or more", r.MaxTokens)
	}
	return errors.Join(s.checkVocabulary(r.Tokens), r.Sampling.Check())
}

// checkVocabulary refuses ids that name no token.
func (s *Session) checkVocabulary(tokens []int32) error {
	for _, id := range tokens {
		if vocab := s.engine.Spec().Vocab; id < 0 || int(id) >= vocab {
			return fmt.Errorf("edge: token %d is outside the vocabulary of %d", id, vocab)
		}
	}
	return nil
}

// reuse keeps the longest common prefix of the cache and tokens, less the last
// token, which must be computed for its logits. It returns the kept length.
func (s *Session) reuse(tokens []int32) int {
	n := 0
	for n < s.length && n < len(tokens)-1 && s.history[n] == tokens[n] {
		n++
	}
	s.engine.compute.Lock()
	defer s.engine.compute.Unlock()
	s.length = s.cache.Keep(n)
	return s.length
}

// prefill runs tokens through the model in chunks and samples the token after
// them; false if ctx ended first.
func (s *Session) prefill(ctx context.Context, tokens []int32) bool {
	chunk := s.engine.model.BatchTokens()
	for ; len(tokens) > chunk; tokens = tokens[chunk:] {
		if ctx.Err() != nil {
			return false
		}
		s.advance(tokens[:chunk])
	}
	s.step(tokens)
	return ctx.Err() == nil
}

// advance runs tokens, at most a batch.
func (s *Session) advance(tokens []int32) {
	s.engine.compute.Lock()
	defer s.engine.compute.Unlock()
	s.forward(tokens)
}

// step runs tokens, at most a batch, and samples the next one.
func (s *Session) step(tokens []int32) {
	s.engine.compute.Lock()
	defer s.engine.compute.Unlock()
	s.forward(tokens)
	s.rows = append(s.rows[:0], len(tokens)-1)
	s.engine.model.Project(s.rows)
	s.next = s.sampler.Next(s.engine.model.Logits(0), s.history[:s.length])
}

// forward runs tokens through the model and into the history. The caller holds
// the engine's lock.
func (s *Session) forward(tokens []int32) {
	s.span[0] = model.Span{Session: s.cache, Tokens: tokens}
	if err := s.engine.model.Forward(s.span[:]); err != nil {
		panic("edge: BUG: checked tokens are refused: " + err.Error())
	}
	s.length += copy(s.history[s.length:], tokens)
}

// predict emits the sampled token and feeds it back until one of the ends. It
// returns the number of tokens generated and the reason to finish.
func (s *Session) predict(ctx context.Context, r Request, out *stream, emit func([]byte),
	t *Timings) (count int, reason string) {
	defer func() {
		if piece := out.flush(); len(piece) > 0 {
			emit(piece)
		}
	}()
	for room := s.room(r); ; {
		switch {
		case count == room:
			return count, "length"
		case ctx.Err() != nil:
			return count, "cancelled"
		}
		if count > 0 {
			s.step(s.history[s.length : s.length+1])
			t.PredictedTokens++
		}
		if s.engine.tokenizer.IsEOG(s.next) && !r.IgnoreEOS {
			return count, "stop"
		}
		s.history[s.length] = s.next
		count++
		piece, stopped := out.push(s.next)
		if len(piece) > 0 {
			emit(piece)
		}
		if stopped {
			return count, "stop"
		}
	}
}

// Eval runs tokens from an empty cache and calls each with the logits of every
// position, which are valid during the call. Other sessions wait meanwhile, so
// each must not use the engine.
func (s *Session) Eval(tokens []int32, each func(position int, logits []float32)) error {
	if len(tokens) == 0 {
		return inputError{errors.New("edge: no tokens to evaluate; give at least one")}
	}
	return s.engine.Exclusive(func() error { return s.eval(tokens, each) })
}

func (s *Session) eval(tokens []int32, each func(position int, logits []float32)) error {
	s.Reset()
	for first := 0; first < len(tokens); {
		n := min(s.engine.model.BatchTokens(), len(tokens)-first)
		if err := s.Append(tokens[first : first+n]); err != nil {
			return err
		}
		for i := 0; i < n; i += s.engine.LogitRows() {
			rows := min(s.engine.LogitRows(), n-i)
			s.Project(i, rows)
			for r := range rows {
				each(first+i+r, s.Logits(r))
			}
		}
		first += n
	}
	return nil
}

// Reset empties the session. See Engine.Exclusive.
func (s *Session) Reset() {
	s.engine.mustBeExclusive()
	s.length = s.cache.Keep(0)
}

// Append runs tokens, at most Engine.BatchTokens, after those the session
// holds. Their hidden states wait for Project. See Engine.Exclusive.
func (s *Session) Append(tokens []int32) error {
	if room := len(s.history) - s.length; len(tokens) > room {
		return inputError{fmt.Errorf("edge: %d tokens more than the %d held, the context holds %d; "+
			"raise --ctx-size", len(tokens), s.length, len(s.history))}
	}
	if n := s.engine.BatchTokens(); len(tokens) == 0 || len(tokens) > n {
		return inputError{fmt.Errorf("edge: %d tokens at once, must be 1 to %d", len(tokens), n)}
	}
	if err := s.checkVocabulary(tokens); err != nil {
		return inputError{err}
	}
	s.engine.mustBeExclusive()
	s.forward(tokens)
	return nil
}

// Project computes the logits of n tokens of the last Append, at most
// Engine.LogitRows, beginning with its token first. See Engine.Exclusive.
func (s *Session) Project(first, n int) {
	s.engine.mustBeExclusive()
	s.rows = s.rows[:0]
	for i := range n {
		s.rows = append(s.rows, first+i)
	}
	s.engine.model.Project(s.rows)
}

// Logits returns row i of the last Project, [vocabulary]. See Engine.Exclusive.
func (s *Session) Logits(i int) []float32 { return s.engine.model.Logits(i) }

// Close gives the session and its pages back. It must not be used afterwards,
// not even closed: it may be somebody else's by then.
func (s *Session) Close() {
	s.release()
	s.engine.free <- s
}

// release gives the pages back.
func (s *Session) release() {
	s.engine.compute.Lock()
	defer s.engine.compute.Unlock()
	s.cache.Close()
	s.cache = nil
}

// rates fills in the speeds.
func (t *Timings) rates() {
	if t.Prompt > 0 {
		t.PromptPerSecond = float64(t.PromptTokens) / t.Prompt.Seconds()
	}
	if t.Predicted > 0 {
		t.PredictedPerSecond = float64(t.PredictedTokens) / t.Predicted.Seconds()
	}
	t.FirstTokenMS = float64(t.FirstToken.Microseconds()) / 1000
}
