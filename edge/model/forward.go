package model

// The forward pass, one for all families. Work is split over the pool by rows
// of weights or by tokens; no result depends on the split.

import (
	"fmt"
	"math"

	"edgeinfer/kernels"
)

// Forward runs the tokens of all spans through every block, appends their keys
// and values to their sessions and leaves the hidden state of each token, in
// order, for Project. The spans hold at most BatchTokens tokens in all; a
// token outside the vocabulary is an error and changes nothing.
func (m *Model) Forward(spans []Span) error {
	n := 0
	for i := range spans {
		n += len(spans[i].Tokens)
		for _, id := range spans[i].Tokens {
			if id < 0 || int(id) >= m.spec.Vocab {
				return fmt.Errorf("model: token %d is outside the vocabulary of %d", id, m.spec.Vocab)
			}
		}
	}
	if n == 0 || n > m.batchTokens {
		return fmt.Errorf("model: a pass takes 1 to %d tokens, got %d", m.batchTokens, n)
	}
	m.embed(spans)
	m.norm.pending = false
	for i := range m.w.layers {
		m.attention(i, n, spans)
		m.feedForward(i, n)
	}
	m.norm.run(n, nil, m.previousPost(len(m.w.layers)), false)
	for i := range spans {
		spans[i].Session.Advance(len(spans[i].Tokens))
	}
	return nil
}

// embed fills x with embeddings and the angle tables with the positions.
func (m *Model) embed(spans []Span) {
	d, half, t := m.spec.Embedding, m.spec.RopeDims/2, 0
	for i := range spans {
		first := spans[i].Session.Len()
		for j, id := range spans[i].Tokens {
			x := m.x[t*d : (t+1)*d]
			kernels.DequantizeRow(m.w.embedding.Format, x, m.w.embedding.Row(int(id)))
			if s := m.spec.embedScale; s != 0 {
				scaleAll(x, s)
			}
			low, high := t*half, (t+1)*half
			m.global.fill(m.cos[low:high], m.sin[low:high], first+j)
			if m.spec.family.slidingPattern > 0 {
				m.local.fill(m.cosL[low:high], m.sinL[low:high], first+j)
			}
			t++
		}
	}
}

// attention runs the first half of block i and leaves its output in delta.
func (m *Model) attention(i, n int, spans []Span) {
	w, l := &m.w.layers[i], m.spec.Layers[i]
	qLen, kvLen := l.Heads*m.spec.HeadDim, l.KVHeads*m.spec.HeadDim
	int8Input := w.q.Format.Int8Input() || w.k.Format.Int8Input() || w.v.Format.Int8Input()
	m.norm.run(n, w.attnNorm, m.previousPost(i), int8Input)
	m.product.begin(n, m.h)
	m.product.add(w.q, m.q, qLen)
	m.product.add(w.k, m.k, kvLen)
	m.product.add(w.v, m.v, kvLen)
	m.product.run()
	m.turn.run(i, n)
	t := 0
	for j := range spans {
		c := len(spans[j].Tokens)
		spans[j].Session.Step(i, c, m.q[t*qLen:(t+c)*qLen], m.k[t*kvLen:(t+c)*kvLen],
			m.v[t*kvLen:(t+c)*kvLen], m.att[t*qLen:(t+c)*qLen])
		t += c
	}
	m.project(w.o, n, m.att, m.delta)
}

// feedForward runs the second half of block i and leaves its output in delta.
func (m *Model) feedForward(i, n int) {
	w := &m.w.layers[i]
	m.norm.run(n, w.ffnNorm, w.postAttn, w.gate.Format.Int8Input() || w.up.Format.Int8Input())
	m.feed.run(w.gate, w.up, n)
	m.project(w.down, n, m.gate, m.delta)
}

// previousPost is the norm of what the block before i left in delta.
func (m *Model) previousPost(i int) []float32 {
	if i == 0 {
		return nil
	}
	return m.w.layers[i-1].postFeed
}

// project computes y[n][w.Rows] = w·x for rows x that no norm precedes.
func (m *Model) project(w kernels.Matrix, n int, x, y []float32) {
	if w.Format.Int8Input() {
		m.pack.run(n, x, w.Cols)
	}
	m.product.begin(n, x)
	m.product.add(w, y, w.Rows)
	m.product.run()
}

// Project computes the logits of the hidden states of the last Forward that
// rows names by token index; row i of the result is Logits(i).
func (m *Model) Project(rows []int) {
	if len(rows) > m.logitRows {
		panic(fmt.Sprintf("model: BUG: %d rows of logits, planned %d", len(rows), m.logitRows))
	}
	d, w := m.spec.Embedding, m.w.output
	for i, r := range rows {
		kernels.RMSNorm(m.h[i*d:(i+1)*d], m.x[r*d:(r+1)*d], m.w.outputNorm, m.spec.Epsilon)
	}
	m.project(w, len(rows), m.h, m.logits)
	if s := m.spec.logitScale; s != 0 {
		scaleAll(m.logits[:len(rows)*m.spec.Vocab], s)
	}
	if c := m.spec.logitCap; c > 0 {
		for i, v := range m.logits[:len(rows)*m.spec.Vocab] {
			m.logits[i] = c * float32(math.Tanh(float64(v/c)))
		}
	}
}

func scaleAll(x []float32, by float32) {
	for i := range x {
		x[i] *= by
	}
}
