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

// Progress is called after each chunk with the results so far, one an engine; of
// the divergences they have the mean and its error alone.
type Progress func(done, chunks int, sofar []Result)

// Perplexity scores the second half of each chunk, as llama-perplexity does:
// the first half gives the context. All engines run in lock step; each has a
// result.
func Perplexity(ctx context.Context, tested []*edge.Engine, tokens []int32, o Options,
	p Progress) ([]Result, error) {
	return run(ctx, nil, tested, tokens, o, p)
}

// Divergence runs the engines in lock step over the same chunks and compares the
// distributions of each with those of the reference at every scored position. No
// logits are kept. The reference computes once, however many are compared.
func Divergence(ctx context.Context, reference *edge.Engine, tested []*edge.Engine, tokens []int32,
	o Options, p Progress) ([]Result, error) {
	if reference == nil {
		return nil, errors.New("eval: a divergence needs a reference")
	}
	return run(ctx, reference, tested, tokens, o, p)
}

// lane is one engine's session and what is summed of it.
type lane struct {
	engine  *edge.Engine
	session *edge.Session

	loss          float64   // Σ −ln p(next token)
	divergences   []float64 // one a scored token
	sameTop       int
	ratio, ratio2 float64 // Σ d and Σ d² of the loss less the reference's

	divergence, divergence2 float64 // Σ and Σ² of divergences
}

// measure is the state of a run.
type measure struct {
	reference *lane // or nil
	tested    []*lane
	chunk     []int32
	expected  distribution // of the reference at one position
}

func run(ctx context.Context, reference *edge.Engine, tested []*edge.Engine, tokens []int32,
	o Options, progress Progress) ([]Result, error) {
	n := o.ContextTokens
	chunks, err := countChunks(reference, tested, tokens, o)
	if err != nil {
		return nil, err
	}
	m := &measure{chunk: make([]int32, n)}
	defer m.close()
	if reference != nil {
		if m.reference, err = newLane(reference, 0); err != nil {
			return nil, err
		}
		m.expected = newDistribution(reference.Spec().Vocab)
	}
	for _, engine := range tested {
		l, err := newLane(engine, chunks*scored(n))
		if err != nil {
			return nil, err
		}
		m.tested = append(m.tested, l)
	}
	for c := range chunks {
		copy(m.chunk, tokens[c*n:])
		if o.BOS >= 0 {
			m.chunk[0] = o.BOS
		}
		if err := exclusively(m.lanes(), func() error { return m.run(ctx) }); err != nil {
			return nil, err
		}
		if progress != nil {
			progress(c+1, chunks, m.results(c+1, false))
		}
	}
	return m.results(chunks, true), nil
}

// scored is how many tokens of a chunk of n are scored.
func scored(n int) int { return n - n/2 - 1 }

// countChunks checks what is to be measured and returns how many chunks that is.
func countChunks(reference *edge.Engine, tested []*edge.Engine, tokens []int32,
	o Options) (int, error) {
	all := tested
	if reference != nil {
		all = append([]*edge.Engine{reference}, tested...)
	}
	if len(tested) == 0 {
		return 0, errors.New("eval: no engine to measure")
	}
	n, first := o.ContextTokens, all[0]
	for i, e := range all {
		if n < 8 || n > e.ContextTokens() {
			return 0, fmt.Errorf("eval: chunks of %d tokens, must be 8 to %d (the context)",
				n, e.ContextTokens())
		}
		if slices.Contains(all[:i], e) {
			return 0, errors.New("eval: an engine runs one cache at a time; open another for each")
		}
		if e.BatchTokens() != first.BatchTokens() || e.LogitRows() != first.LogitRows() ||
			e.Spec().Vocab != first.Spec().Vocab {
			return 0, errors.New("eval: the engines must have the same vocabulary, batch size and " +
				"rows of logits")
		}
	}
	chunks := len(tokens) / n
	if o.Chunks > 0 {
		chunks = min(chunks, o.Chunks)
	}
	if chunks == 0 {
		return 0, fmt.Errorf("eval: the text has %d tokens, one chunk needs %d; "+
			"give a longer text or a smaller context", len(tokens), n)
	}
	for _, id := range append(tokens[:chunks*n:chunks*n], max(o.BOS, 0)) {
		if vocab := first.Spec().Vocab; id < 0 || int(id) >= vocab {
			return 0, fmt.Errorf("eval: token %d is outside the vocabulary of %d", id, vocab)
		}
	}
	return chunks, nil
}

// newLane opens a session of engine.
func newLane(engine *edge.Engine, values int) (*lane, error) {
	s, err := engine.NewSession()
	if err != nil {
		return nil, err
	}
	return &lane{engine: engine, session: s, divergences: make([]float64, 0, values)}, nil
}

// lanes are all engines, the reference first.
func (m *measure) lanes() []*lane {
	if m.reference == nil {
		return m.tested
	}
	return append([]*lane{m.reference}, m.tested...)
}

func (m *measure) close() {
	for _, l := range m.lanes() {
		l.session.Close()
	}
}

// exclusively does work while nobody else uses the engines.
func exclusively(lanes []*lane, work func() error) error {
	if len(lanes) == 0 {
		return work()
	}
	return lanes[0].engine.Exclusive(func() error { return exclusively(lanes[1:], work) })
}

// run scores one chunk: positions n/2 … n−2 predict the token after them.
func (m *measure) run(ctx context.Context) error {
	lanes := m.lanes()
	n, batch, rows := len(m.chunk), lanes[0].engine.BatchTokens(), lanes[0].engine.LogitRows()
	for _, l := range lanes {
		l.session.Reset()
	}
	for first := 0; first < n; first += batch {
		last := min(first+batch, n)
		for _, l := range lanes {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := l.session.Append(m.chunk[first:last]); err != nil {
				return err
			}
		}
		for at := max(first, n/2); at < min(last, n-1); at += rows {
			m.score(at, first, min(rows, min(last, n-1)-at))
		}
		for _, l := range lanes {
			if math.IsNaN(l.loss) || math.IsInf(l.loss, 0) || math.IsNaN(l.divergence) {
				return fmt.Errorf("eval: the logits of positions up to %d of a chunk are not all finite "+
					"numbers: the model file is damaged or its values overflow", last-1)
			}
		}
	}
	return nil
}

// score takes the logits of count positions from at on; the last Append began
// at position first.
func (m *measure) score(at, first, count int) {
	for _, l := range m.lanes() {
		l.session.Project(at-first, count)
	}
	for i := range count {
		next := m.chunk[at+i+1]
		var lossP float64
		if m.reference != nil {
			m.expected.set(m.reference.session.Logits(i))
			lossP = m.expected.logZ - float64(m.expected.logits[next])
			m.reference.loss += lossP
		}
		for _, l := range m.tested {
			q := l.session.Logits(i)
			if m.reference == nil {
				l.loss += logSum(q) - float64(q[next])
				continue
			}
			c := m.expected.compare(q)
			lossQ := c.logZ - float64(q[next])
			d := lossQ - lossP
			l.loss += lossQ
			l.ratio, l.ratio2 = l.ratio+d, l.ratio2+d*d
			l.divergences = append(l.divergences, c.divergence)
			l.divergence += c.divergence
			l.divergence2 += c.divergence * c.divergence
			if c.sameTop {
				l.sameTop++
			}
		}
	}
}

// results sums up after some chunks; quantiles, which sort all divergences, only
// at the end.
func (m *measure) results(chunks int, end bool) []Result {
	var results []Result
	for _, l := range m.tested {
		r := Result{Chunks: chunks, Tokens: chunks * scored(len(m.chunk))}
		count := float64(r.Tokens)
		r.PPL = math.Exp(l.loss / count)
		if m.reference != nil {
			r.PPLReference = math.Exp(m.reference.loss / count)
			r.LogRatio = l.ratio / count
			r.LogRatioError = standardError(l.ratio, l.ratio2, count)
			r.SameTop = float64(l.sameTop) / count
			r.KLD = Summary{Mean: l.divergence / count,
				Error: standardError(l.divergence, l.divergence2, count)}
			if end {
				r.KLD = Summarize(l.divergences)
			}
		}
		results = append(results, r)
	}
	return results
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
