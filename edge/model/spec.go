package model

// Spec: the shape of a model, read from the metadata and checked. Nothing
// here touches a tensor's data.

import (
	"errors"
	"fmt"
	"math"

	"edgeinfer/edge/gguf"
	"edgeinfer/kernels"
)

// Limits on what a file may ask for. They are far above every model that fits
// a board and keep every product of sizes inside an int64.
const (
	maxBlocks    = 1024
	maxEmbedding = 1 << 17
	maxHeads     = 1 << 12
	maxHeadDim   = 256
	maxFeed      = 1 << 20
	maxContext   = 1 << 26
	maxVocab     = 1 << 22
)

// Spec is the shape of a model.
type Spec struct {
	Architecture  string
	Name          string
	ContextTokens int // trained context
	Embedding     int // length of the residual stream
	HeadDim       int
	RopeDims      int // rotary dims of a head, even, ≤ HeadDim
	Vocab         int
	Epsilon       float32 // of every RMS norm
	Layers        []Layer

	family        family
	rope          ropeSpec
	logitCap      float32 // 0: none
	logitScale    float32 // 0: none
	embedScale    float32 // 0: none
	residualScale float32 // of what a block adds to the residual stream
	queryScale    float32 // of queries, where scores are not divided by √HeadDim; 0: none
}

// Layer is the shape of one block.
type Layer struct {
	Heads, KVHeads int
	FeedForward    int
	WindowTokens   int  // sliding window, 0 = sees all
	NoRope         bool // keys and queries are not rotated
}

// metadata reads keys of one architecture and keeps the first error.
type metadata struct {
	f      *gguf.File
	prefix string
	err    error
}

// ReadSpec reads and checks the shape of the model in f.
func ReadSpec(f *gguf.File) (*Spec, error) {
	architecture, ok, err := f.String("general.architecture")
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%s: key general.architecture is missing; not a model file", f.Name())
	}
	fam, err := lookFamily(architecture)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	// Opening a part by its path opens them all; a part in memory stays alone.
	if count, ok, _ := f.Uint("split.count"); ok && count > uint64(len(f.Parts())) {
		return nil, fmt.Errorf("%s: key split.count is %d: this is one part of a split model; "+
			"open it by its path, with the other parts beside it", f.Name(), count)
	}
	m := &metadata{f: f, prefix: architecture + "."}
	s := &Spec{Architecture: architecture, family: fam}
	s.Name, _, _ = f.String("general.name")
	s.ContextTokens = m.need("context_length", 1, maxContext)
	s.Embedding = m.need("embedding_length", 1, maxEmbedding)
	s.Epsilon = float32(m.needFloat("attention.layer_norm_rms_epsilon", 0, 1))
	m.layers(s)
	m.heads(s)
	m.scales(s)
	m.sliding(s)
	m.rope(s)
	m.vocabulary(s)
	if experts := m.optional("expert_count", 0, 0, 1<<16); experts > 0 {
		m.fail("expert_count", experts, "mixture of experts is not supported")
	}
	if m.err != nil {
		return nil, m.err
	}
	return s, nil
}

// layers reads the block count and what may differ from block to block.
func (m *metadata) layers(s *Spec) {
	blocks := m.need("block_count", 1, maxBlocks)
	if m.err != nil {
		return
	}
	s.Layers = make([]Layer, blocks)
	feed := m.perLayer("feed_forward_length", blocks, 1, maxFeed, 0)
	heads := m.perLayer("attention.head_count", blocks, 1, maxHeads, 0)
	kvHeads := m.perLayer("attention.head_count_kv", blocks, 1, maxHeads, -1)
	if m.err != nil {
		return
	}
	for i := range s.Layers {
		l := &s.Layers[i]
		l.FeedForward, l.Heads, l.KVHeads = feed[i], heads[i], kvHeads[i]
		if l.KVHeads < 0 {
			l.KVHeads = l.Heads
		}
		if l.Heads%l.KVHeads != 0 {
			m.fail("attention.head_count_kv", l.KVHeads,
				fmt.Sprintf("must divide the %d query heads of layer %d", l.Heads, i))
			return
		}
		if n := s.family.noRopeEvery; n > 0 && (i+1)%n == 0 {
			l.NoRope = true
		}
	}
}

// heads reads the head dim; values must be as long as keys.
func (m *metadata) heads(s *Spec) {
	if m.err != nil {
		return
	}
	dim := m.optional("attention.key_length", -1, 1, maxHeadDim)
	if dim < 0 {
		dim = s.Embedding / s.Layers[0].Heads
		if dim*s.Layers[0].Heads != s.Embedding || dim > maxHeadDim {
			m.fail("attention.head_count", s.Layers[0].Heads, fmt.Sprintf(
				"must divide embedding_length %d into heads of at most %d", s.Embedding, maxHeadDim))
			return
		}
	}
	if v := m.optional("attention.value_length", dim, 1, maxHeadDim); v != dim {
		m.fail("attention.value_length", v, fmt.Sprintf("must equal the key length %d", dim))
	}
	s.HeadDim = dim
	s.RopeDims = m.optional("rope.dimension_count", dim, 0, maxHeadDim)
	if s.RopeDims > dim || s.RopeDims%2 != 0 {
		m.fail("rope.dimension_count", s.RopeDims, fmt.Sprintf("must be even and at most %d", dim))
	}
}

// scales reads the factors that some families put between their layers.
func (m *metadata) scales(s *Spec) {
	if m.err != nil {
		return
	}
	s.residualScale = 1
	s.logitCap = float32(m.factor("final_logit_softcapping"))
	if s.family.scaleEmbedding {
		s.embedScale = float32(math.Sqrt(float64(s.Embedding)))
	}
	if s.Architecture == "gemma3" && len(s.Layers) == 62 {
		// The 27B model divides scores by the root of embedding/heads.
		by := float64(s.Embedding) / float64(s.Layers[0].Heads)
		s.queryScale = float32(math.Sqrt(float64(s.HeadDim) / by))
	}
	if !s.family.scaled {
		return
	}
	s.logitScale = float32(1 / m.needFloat("logit_scale", 0, 1e6))
	s.embedScale = float32(m.factor("embedding_scale"))
	if r := m.factor("residual_scale"); r != 0 {
		s.residualScale = float32(r)
	}
	// The cache divides scores by √HeadDim, which the file's factor replaces.
	s.queryScale = float32(m.factor("attention.scale") * math.Sqrt(float64(s.HeadDim)))
	rotates, ok, err := m.f.Bool(m.prefix + "rope.scaling.finetuned")
	m.err = errors.Join(m.err, err)
	for i := range s.Layers {
		s.Layers[i].NoRope = ok && !rotates
	}
}

// sliding reads the window of local layers: layer L is local but for every
// n-th one, or as a boolean array says. Without a positive window none is.
func (m *metadata) sliding(s *Spec) {
	if m.err != nil || s.family.slidingPattern == 0 {
		return
	}
	window := m.optional("attention.sliding_window", 0, 0, maxContext)
	if window == 0 {
		return
	}
	const key = "attention.sliding_window_pattern"
	var local []bool
	every := s.family.slidingPattern
	if v, ok := m.f.Value(m.prefix + key); ok && v.Kind == gguf.KindArray {
		var err error
		if local, _, err = m.f.Bools(m.prefix + key); err != nil {
			m.err = errors.Join(m.err, err)
			return
		}
		if len(local) != len(s.Layers) {
			m.fail(key, fmt.Sprintf("an array of %d", len(local)), fmt.Sprintf("want %d layers", len(s.Layers)))
			return
		}
	} else {
		every = m.optional(key, every, 1, maxBlocks)
	}
	for i := range s.Layers {
		if local != nil && local[i] || local == nil && i%every < every-1 {
			s.Layers[i].WindowTokens = window
		}
	}
}

// vocabulary takes the number of tokens from the embedding matrix.
func (m *metadata) vocabulary(s *Spec) {
	if m.err != nil {
		return
	}
	t, ok := m.f.Tensor("token_embd.weight")
	switch {
	case !ok:
		m.err = fmt.Errorf("%s: tensor token_embd.weight is missing; "+
			"a vocabulary-only file can be used with tokenize alone", m.f.Name())
	case len(t.Dims) != 2 || t.Dims[1] > maxVocab:
		m.err = fmt.Errorf("%s: tensor token_embd.weight has dims %v, want 2 and at most %d rows",
			m.f.Name(), t.Dims, maxVocab)
	default:
		s.Vocab = int(t.Dims[1])
	}
}

func (m *metadata) fail(key string, value any, why string) {
	if m.err == nil {
		m.err = fmt.Errorf("%s: key %s%s is %v: %s", m.f.Name(), m.prefix, key, value, why)
	}
}

// optional reads an integer key within [low, high]; absent, it is fallback.
func (m *metadata) optional(key string, fallback, low, high int) int {
	v, ok, err := m.f.Uint(m.prefix + key)
	if err != nil && m.err == nil {
		m.err = err
	}
	if err != nil || !ok {
		return fallback
	}
	if v < uint64(low) || v > uint64(high) {
		m.fail(key, v, fmt.Sprintf("must be between %d and %d", low, high))
		return fallback
	}
	return int(v)
}

// need is optional for a key that must be there.
func (m *metadata) need(key string, low, high int) int {
	v := m.optional(key, -1, low, high)
	if v < 0 && m.err == nil {
		m.err = fmt.Errorf("%s: key %s%s is missing", m.f.Name(), m.prefix, key)
	}
	return v
}

// perLayer reads a key that is one number for all layers or an array of one
// number a layer. Absent, every layer has absent; absent 0 means it must be there.
func (m *metadata) perLayer(key string, blocks, low, high, absent int) []int {
	values := make([]int, blocks)
	if v, ok := m.f.Value(m.prefix + key); !ok || v.Kind != gguf.KindArray {
		one := absent
		if absent == 0 {
			one = m.need(key, low, high)
		} else {
			one = m.optional(key, absent, low, high)
		}
		for i := range values {
			values[i] = one
		}
		return values
	}
	array, _, err := m.f.Uints(m.prefix + key)
	if err != nil {
		m.err = errors.Join(m.err, err)
		return values
	}
	if len(array) != blocks {
		m.fail(key, fmt.Sprintf("an array of %d", len(array)), fmt.Sprintf("want %d layers", blocks))
		return values
	}
	for i, v := range array {
		if v < uint64(low) || v > uint64(high) {
			m.fail(key, v, fmt.Sprintf("layer %d must be between %d and %d", i, low, high))
			return values
		}
		values[i] = int(v)
	}
	return values
}

// float reads a float key within (low, high]; absent, it is fallback.
func (m *metadata) float(key string, fallback, low, high float64) float64 {
	v, ok, err := m.f.Float(m.prefix + key)
	if err != nil && m.err == nil {
		m.err = err
	}
	if err != nil || !ok {
		return fallback
	}
	if !(v > low && v <= high) {
		m.fail(key, v, fmt.Sprintf("must be above %g and at most %g", low, high))
		return fallback
	}
	return v
}

// factor reads a float key that is no less than 0; absent, it is 0, which
// everywhere means that there is no factor.
func (m *metadata) factor(key string) float64 {
	return m.float(key, 0, -math.SmallestNonzeroFloat64, 1e6)
}

func (m *metadata) needFloat(key string, low, high float64) float64 {
	v := m.float(key, -1, low, high)
	if v < 0 && m.err == nil {
		m.err = fmt.Errorf("%s: key %s%s is missing", m.f.Name(), m.prefix, key)
	}
	return v
}

// Shape gives the cache's view of the layers, formats left open.
func (s *Spec) Shape() []kernels.KVLayer {
	shape := make([]kernels.KVLayer, len(s.Layers))
	for i, l := range s.Layers {
		shape[i] = kernels.KVLayer{
			QueryHeads: l.Heads, KVHeads: l.KVHeads, HeadDim: s.HeadDim, WindowTokens: l.WindowTokens,
		}
	}
	return shape
}
