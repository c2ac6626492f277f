// Package eval measures what a quantized cache costs in quality: perplexity of
// a text, and the Kullback–Leibler divergence of the next-token distributions
// from those of a reference cache. It holds the arithmetic only; models, plans
// and files belong to its callers.
package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"edgeinfer/edge"
)

// Options say how a text is cut.
type Options struct {
	ContextTokens int   // tokens of a chunk
	Chunks        int   // at most; 0: all of the text
	BOS           int32 // replaces the first token of each chunk; −1: none
}

// Result is what was measured over the scored tokens.
type Result struct {
	Tokens       int     // scored
	Chunks       int     // run
	PPL          float64 // exp of the mean negative log-likelihood
	PPLReference float64 // of the reference cache; 0 without one
	// LogRatio is ln(PPL/PPLReference), LogRatioError its standard error from
	// the paired differences.
	LogRatio, LogRatioError float64
	KLD                     Summary // D(reference ‖ tested), nats
	SameTop                 float64 // share of tokens with the same arg-max
}

// Summary describes the values of one quantity.
type Summary struct{ Mean, Error, Median, P99, Max float64 }

// Progress is called after each chunk with the result so far.
type Progress func(done, chunks int, sofar Result)

// Perplexity scores the second half of each chunk, as llama-perplexity does:
// the first half gives the context.
func Perplexity(ctx context.Context, e *edge.Engine, tokens []int32, o Options, p Progress) (Result, error) {
	return run(ctx, nil, e, tokens, o, p)
}

// Divergence runs both engines in lock step over the same chunks and compares
// the distributions at every scored position. No logits are kept.
func Divergence(ctx context.Context, reference, tested *edge.Engine, tokens []int32, o Options,
	p Progress) (Result, error) {
	if reference == tested || reference.ContextTokens() < o.ContextTokens {
		return Result{}, errors.New("eval: the reference must be another engine whose context holds a chunk")
	}
	if reference.BatchTokens() != tested.BatchTokens() || reference.LogitRows() != tested.LogitRows() {
		return Result{}, errors.New("eval: the engines must have the same batch size and rows of logits")
	}
	return run(ctx, reference, tested, tokens, o, p)
}

// lane is one engine's session and its running sum.
type lane struct {
	engine  *edge.Engine
	session *edge.Session
	loss    float64 // Σ −ln p(next token)
}

// measure is the state of a run.
type measure struct {
	reference, tested *lane
	chunk             []int32
	divergences       []float64 // one a scored token
	sameTop           int
	ratio, ratio2     float64 // Σ d and Σ d² of the paired loss differences
}

func run(ctx context.Context, reference, tested *edge.Engine, tokens []int32, o Options,
	progress Progress) (Result, error) {
	n := o.ContextTokens
	if n < 8 || n > tested.ContextTokens() {
		return Result{}, fmt.Errorf("eval: chunks of %d tokens, must be 8 to %d (the context)",
			n, tested.ContextTokens())
	}
	chunks := len(tokens) / n
	if o.Chunks > 0 {
		chunks = min(chunks, o.Chunks)
	}
	if chunks == 0 {
		return Result{}, fmt.Errorf("eval: the text has %d tokens, one chunk needs %d; "+
			"give a longer text or a smaller context", len(tokens), n)
	}
	for _, id := range append(tokens[:chunks*n:chunks*n], max(o.BOS, 0)) {
		if vocab := tested.Spec().Vocab; id < 0 || int(id) >= vocab {
			return Result{}, fmt.Errorf("eval: token %d is outside the vocabulary of %d", id, vocab)
		}
	}
	m := &measure{chunk: make([]int32, n)}
	for _, l := range []struct {
		engine *edge.Engine
		lane   **lane
	}{{tested, &m.tested}, {reference, &m.reference}} {
		if l.engine == nil {
			continue
		}
		s, err := l.engine.NewSession()
		if err != nil {
			return Result{}, err
		}
		defer s.Close()
		*l.lane = &lane{engine: l.engine, session: s}
	}
	if m.reference != nil {
		m.divergences = make([]float64, 0, chunks*(n-n/2-1))
	}
	for c := range chunks {
		copy(m.chunk, tokens[c*n:])
		if o.BOS >= 0 {
			m.chunk[0] = o.BOS
		}
		if err := m.exclusive(ctx); err != nil {
			return Result{}, err
		}
		if progress != nil {
			progress(c+1, chunks, m.result(c+1, n))
		}
	}
	return m.result(chunks, n), nil
}

// exclusive scores one chunk while nobody else uses the engines.
func (m *measure) exclusive(ctx context.Context) error {
	work := func() error { return m.run(ctx) }
	if m.reference == nil {
		return m.tested.engine.Exclusive(work)
	}
	return m.reference.engine.Exclusive(func() error { return m.tested.engine.Exclusive(work) })
}

// run scores one chunk: positions n/2 … n−2 predict the token after them.
func (m *measure) run(ctx context.Context) error {
	n, batch := len(m.chunk), m.tested.engine.BatchTokens()
	for _, l := range m.lanes() {
		l.session.Reset()
	}
	for first := 0; first < n; first += batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		last := min(first+batch, n)
		for _, l := range m.lanes() {
			if err := l.session.Append(m.chunk[first:last]); err != nil {
				return err
			}
		}
		rows := m.tested.engine.LogitRows()
		for at := max(first, n/2); at < min(last, n-1); at += rows {
			m.score(at, first, min(rows, min(last, n-1)-at))
		}
	}
	return nil
}

// lanes are the engines that run.
func (m *measure) lanes() []*lane {
	if m.reference == nil {
		return []*lane{m.tested}
	}
	return []*lane{m.reference, m.tested}
}

// score takes the logits of count positions from at on; the last Append began
// at position first.
func (m *measure) score(at, first, count int) {
	for _, l := range m.lanes() {
		l.session.Project(at-first, count)
	}
	for i := range count {
		next := m.chunk[at+i+1]
		q := m.tested.session.Logits(i)
		lossQ := -logProbability(q, next)
		m.tested.loss += lossQ
		if m.reference == nil {
			continue
		}
		p := m.reference.session.Logits(i)
		lossP := -logProbability(p, next)
		m.reference.loss += lossP
		d := lossQ - lossP
		m.ratio, m.ratio2 = m.ratio+d, m.ratio2+d*d
		divergence, same := compare(p, q)
		m.divergences = append(m.divergences, divergence)
		if same {
			m.sameTop++
		}
	}
}

// result sums up after some chunks of n tokens.
func (m *measure) result(chunks, n int) Result {
	r := Result{Chunks: chunks, Tokens: chunks * (n - n/2 - 1)}
	count := float64(r.Tokens)
	r.PPL = math.Exp(m.tested.loss / count)
	if m.reference == nil {
		return r
	}
	r.PPLReference = math.Exp(m.reference.loss / count)
	r.LogRatio = m.ratio / count
	r.LogRatioError = standardError(m.ratio, m.ratio2, count)
	r.SameTop = float64(m.sameTop) / count
	r.KLD = Summarize(m.divergences)
	return r
}

// standardError of a mean from Σ v and Σ v² of n values.
func standardError(sum, sum2, n float64) float64 {
	if n < 2 {
		return 0
	}
	return math.Sqrt(math.Max(0, sum2/n-sum/n*sum/n) / (n - 1))
}

// Summarize describes values; it leaves them as they are.
func Summarize(values []float64) Summary {
	if len(values) == 0 {
		return Summary{}
	}
	var sum, sum2 float64
	for _, v := range values {
		sum, sum2 = sum+v, sum2+v*v
	}
	n := float64(len(values))
	sorted := slices.Sorted(slices.Values(values))
	return Summary{Mean: sum / n, Error: standardError(sum, sum2, n),
		Median: quantile(sorted, 0.5), P99: quantile(sorted, 0.99), Max: sorted[len(sorted)-1]}
}

// quantile interpolates between the neighbours of position q·(n−1).
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// logSum returns the largest logit and ln Σ e^(logit − largest).
func logSum(logits []float32) (largest, logarithm float64) {
	top := logits[0]
	for _, v := range logits {
		top = max(top, v)
	}
	var sum float64
	for _, v := range logits {
		sum += math.Exp(float64(v - top))
	}
	return float64(top), math.Log(sum)
}

// logProbability is ln softmax(logits)[id].
func logProbability(logits []float32, id int32) float64 {
	top, logarithm := logSum(logits)
	return float64(logits[id]) - top - logarithm
}

// compare returns Σ p·ln(p/q) and whether both have the same arg-max. Rounding
// can leave a sum a hair below 0; it is then 0.
func compare(p, q []float32) (divergence float64, sameTop bool) {
	topP, logP := logSum(p)
	topQ, logQ := logSum(q)
	bestP, bestQ := 0, 0
	for i := range p {
		if p[i] > p[bestP] {
			bestP = i
		}
		if q[i] > q[bestQ] {
			bestQ = i
		}
		a := float64(p[i]) - topP - logP
		divergence += math.Exp(a) * (a - (float64(q[i]) - topQ - logQ))
	}
	return max(0, divergence), bestP == bestQ
}
