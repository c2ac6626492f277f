package model

// Model: a bound file plus its buffers. All sizes come from one table of
// extents, summed by Lines for the plan and taken by New from the arena.

import (
	"fmt"
	"math"

	"edgeinfer/arena"
	"edgeinfer/edge/gguf"
	"edgeinfer/edge/internal/workers"
	"edgeinfer/edge/kv"
	"edgeinfer/kernels"
)

// Source is a model file whose shape and tensors were checked; nothing of it
// has been read but the metadata and the few rotary factors.
type Source struct {
	Spec *Spec
	w    *weights
}

// Open checks that f holds a model this package runs.
func Open(f *gguf.File) (*Source, error) {
	spec, err := ReadSpec(f)
	if err != nil {
		return nil, err
	}
	w, err := bind(f, spec)
	if err != nil {
		return nil, err
	}
	return &Source{Spec: spec, w: w}, nil
}

// extents are the lengths of all buffers of a model, in elements.
type extents struct {
	stream int64 // batch × embedding
	heads  int64 // batch × query heads × head dim
	kv     int64 // batch × KV heads × head dim
	feed   int64 // batch × feed-forward
	input  int64 // bytes: batch × the longest int8 row
	angles int64 // batch × rotary dims / 2
	logits int64 // rows × vocabulary
}

// extents sizes the buffers for batchTokens tokens a pass and logitRows rows
// of logits at a time.
func (s *Spec) extents(batchTokens, logitRows int) extents {
	var heads, kvHeads, feed int
	for _, l := range s.Layers {
		heads, kvHeads, feed = max(heads, l.Heads), max(kvHeads, l.KVHeads), max(feed, l.FeedForward)
	}
	batch, dim := int64(batchTokens), int64(s.HeadDim)
	longest := max(s.Embedding, heads*s.HeadDim, feed)
	return extents{
		stream: batch * int64(s.Embedding),
		heads:  batch * int64(heads) * dim,
		kv:     batch * int64(kvHeads) * dim,
		feed:   batch * int64(feed),
		input:  batch * int64(kernels.Int8RowBytes(longest)),
		angles: batch * int64(s.RopeDims/2),
		logits: int64(logitRows) * int64(s.Vocab),
	}
}

// Lines is what New takes from the arena, to the byte. It returns an error
// where the sizes exceed what this machine can address.
func (s *Spec) Lines(batchTokens, logitRows int) ([]arena.Line, error) {
	e := s.extents(batchTokens, logitRows)
	floats := func(n int64) int64 { return arena.Round(4 * n) }
	activations := 3*floats(e.stream) + 2*floats(e.heads) + 2*floats(e.kv) + 2*floats(e.feed) +
		arena.Round(e.input) + 4*floats(e.angles)
	logits := floats(e.logits)
	if activations+logits > math.MaxInt/2 {
		return nil, fmt.Errorf("model: a batch of %d tokens needs %d bytes of activations; "+
			"use a smaller --batch-size", batchTokens, activations+logits)
	}
	return []arena.Line{
		{Purpose: arena.Activations, Bytes: activations},
		{Purpose: arena.Logits, Bytes: logits},
	}, nil
}

// Model runs forward passes over one set of weights. It serves one caller at
// a time.
type Model struct {
	spec          *Spec
	w             *weights
	set           *kernels.Set
	pool          *workers.Pool
	batchTokens   int
	logitRows     int
	global, local angleTable

	x          []float32 // [batch][embedding], the residual stream
	h          []float32 // [batch][embedding], normed input of products
	delta      []float32 // [batch][embedding], what a block adds to x
	q          []float32 // [batch][heads·headDim]
	att        []float32 // [batch][heads·headDim]
	k, v       []float32 // [batch][kvHeads·headDim]
	gate, up   []float32 // [batch][feedForward]
	input      []byte    // [batch][int8 row]
	cos, sin   []float32 // [batch][ropeDims/2] of global layers
	cosL, sinL []float32 // the same of sliding-window layers
	logits     []float32 // [logitRows][vocab]

	norm    normJob
	pack    packJob
	product productJob
	feed    feedJob
	turn    turnJob
}

// New takes the buffers from a. contextTokens is the context allocated to one
// sequence, from which LongRoPE chooses its factors.
func New(src *Source, a *arena.Arena, set *kernels.Set, pool *workers.Pool,
	batchTokens, logitRows, contextTokens int) *Model {
	s, e := src.Spec, src.Spec.extents(batchTokens, logitRows)
	floats := func(n int64) []float32 { return arena.Slice[float32](a, arena.Activations, int(n)) }
	m := &Model{
		spec: s, w: src.w, set: set, pool: pool, batchTokens: batchTokens, logitRows: logitRows,
		x: floats(e.stream), h: floats(e.stream), delta: floats(e.stream),
		q: floats(e.heads), att: floats(e.heads), k: floats(e.kv), v: floats(e.kv),
		gate: floats(e.feed), up: floats(e.feed),
		input: arena.Slice[byte](a, arena.Activations, int(e.input)),
		cos:   floats(e.angles), sin: floats(e.angles), cosL: floats(e.angles), sinL: floats(e.angles),
		logits: arena.Slice[float32](a, arena.Logits, int(e.logits)),
	}
	m.global, m.local = s.ropeTables(src.w, contextTokens)
	m.norm.m, m.pack.m, m.product.m, m.feed.m, m.turn.m = m, m, m, m, m
	return m
}

// Spec returns the shape of the model.
func (m *Model) Spec() *Spec { return m.spec }

// BatchTokens is the most tokens one Forward takes.
func (m *Model) BatchTokens() int { return m.batchTokens }

// LogitRows is the most rows one Project takes.
func (m *Model) LogitRows() int { return m.logitRows }

// Logits returns row i of the last Project, [vocab].
func (m *Model) Logits(i int) []float32 {
	n := m.spec.Vocab
	return m.logits[i*n : (i+1)*n : (i+1)*n]
}

// Span is a run of tokens that continues one session.
type Span struct {
	Session *kv.Session
	Tokens  []int32
}
