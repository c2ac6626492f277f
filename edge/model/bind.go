package model

// Binding: every tensor a family needs is found, its type and dims checked,
// and used in place. The only values copied are float32 vectors that the file
// (or the embedded copy) does not align.

import (
	"fmt"
	"strings"
	"unsafe"

	"edgeinfer/edge/gguf"
	"edgeinfer/kernels"
)

// weights are all tensors of a model.
type weights struct {
	embedding  kernels.Matrix // [vocab][embedding]
	output     kernels.Matrix // [vocab][embedding]; the embedding where tied
	outputNorm []float32      // [embedding]
	layers     []layerWeights

	ropeFactors         []float32 // [ropeDims/2] divisors of the frequencies, or nil
	ropeLong, ropeShort []float32 // LongRoPE's divisors, or nil
}

// layerWeights are the tensors of one block; fields a family lacks are empty.
type layerWeights struct {
	attnNorm, ffnNorm   []float32      // [embedding]
	q                   kernels.Matrix // [heads·headDim][embedding]
	k, v                kernels.Matrix // [kvHeads·headDim][embedding]
	o                   kernels.Matrix // [embedding][heads·headDim]
	gate, up            kernels.Matrix // [feedForward][embedding]
	down                kernels.Matrix // [embedding][feedForward]
	qBias, kBias, vBias []float32
	qNorm, kNorm        []float32 // [headDim], or [heads·headDim] and [kvHeads·headDim]
	postAttn, postFeed  []float32 // [embedding]
}

// formats maps the tensor types that run to their kernels.
var formats = map[gguf.Type]kernels.Format{
	gguf.TypeF32: kernels.F32, gguf.TypeF16: kernels.F16, gguf.TypeBF16: kernels.BF16,
	gguf.TypeQ8_0: kernels.Q8_0, gguf.TypeQ4_0: kernels.Q4_0, gguf.TypeQ4_1: kernels.Q4_1,
	gguf.TypeQ5_0: kernels.Q5_0, gguf.TypeQ5_1: kernels.Q5_1,
	gguf.TypeQ2_K: kernels.Q2_K, gguf.TypeQ3_K: kernels.Q3_K, gguf.TypeQ4_K: kernels.Q4_K,
	gguf.TypeQ5_K: kernels.Q5_K, gguf.TypeQ6_K: kernels.Q6_K,
	gguf.TypeIQ4_NL: kernels.IQ4_NL, gguf.TypeIQ4_XS: kernels.IQ4_XS,
}

// supportedTypes lists the formats for the message that refuses another.
func supportedTypes() string {
	var names []string
	for f := range kernels.NumFormats {
		names = append(names, f.String())
	}
	return strings.Join(names, ", ")
}

// binder looks tensors up and keeps the first error.
type binder struct {
	f     *gguf.File
	bound map[string]bool
	err   error
}

// bind finds the tensors of s in f.
func bind(f *gguf.File, s *Spec) (*weights, error) {
	b := &binder{f: f, bound: map[string]bool{}}
	w := &weights{
		embedding:  b.matrix("token_embd.weight", s.Vocab, s.Embedding),
		outputNorm: b.vector("output_norm.weight", s.Embedding),
		layers:     make([]layerWeights, len(s.Layers)),
	}
	w.output = w.embedding
	if _, untied := f.Tensor("output.weight"); untied {
		w.output = b.matrix("output.weight", s.Vocab, s.Embedding)
	}
	for i := range w.layers {
		b.layer(&w.layers[i], s, i)
	}
	b.ropeVectors(w, s)
	b.nothingLeft(s)
	if b.err != nil {
		return nil, b.err
	}
	return w, nil
}

// nothingLeft refuses a file with tensors that the family does not use: to
// leave one out would compute something else than the model.
func (b *binder) nothingLeft(s *Spec) {
	for _, t := range b.f.Tensors {
		if !b.bound[t.Name] {
			b.fail("%s: tensor %s is not one of architecture %s as it is supported here",
				b.f.Name(), t.Name, s.Architecture)
		}
	}
}

// layer binds block i.
func (b *binder) layer(w *layerWeights, s *Spec, i int) {
	l, d := s.Layers[i], s.HeadDim
	name := func(part string) string { return fmt.Sprintf("blk.%d.%s", i, part) }
	qRows, kvRows := l.Heads*d, l.KVHeads*d
	if !s.family.bare {
		w.attnNorm = b.vector(name("attn_norm.weight"), s.Embedding)
		w.ffnNorm = b.vector(name("ffn_norm.weight"), s.Embedding)
	}
	if s.family.fused {
		qkv := b.matrix(name("attn_qkv.weight"), qRows+2*kvRows, s.Embedding)
		w.q, w.k, w.v = rows(qkv, 0, qRows), rows(qkv, qRows, kvRows), rows(qkv, qRows+kvRows, kvRows)
		gateUp := b.matrix(name("ffn_up.weight"), 2*l.FeedForward, s.Embedding)
		w.gate, w.up = rows(gateUp, 0, l.FeedForward), rows(gateUp, l.FeedForward, l.FeedForward)
	} else {
		w.q = b.matrix(name("attn_q.weight"), qRows, s.Embedding)
		w.k = b.matrix(name("attn_k.weight"), kvRows, s.Embedding)
		w.v = b.matrix(name("attn_v.weight"), kvRows, s.Embedding)
		w.gate = b.matrix(name("ffn_gate.weight"), l.FeedForward, s.Embedding)
		w.up = b.matrix(name("ffn_up.weight"), l.FeedForward, s.Embedding)
	}
	w.o = b.matrix(name("attn_output.weight"), s.Embedding, qRows)
	w.down = b.matrix(name("ffn_down.weight"), s.Embedding, l.FeedForward)
	// Some files of families without biases have them.
	if _, biased := b.f.Tensor(name("attn_q.bias")); biased || s.family.qkvBias {
		w.qBias = b.vector(name("attn_q.bias"), qRows)
		w.kBias = b.vector(name("attn_k.bias"), kvRows)
		w.vBias = b.vector(name("attn_v.bias"), kvRows)
	}
	if s.family.headNorm || s.family.rowNorm {
		qNorm, kNorm := d, d
		if s.family.rowNorm {
			qNorm, kNorm = qRows, kvRows
		}
		w.qNorm = b.vector(name("attn_q_norm.weight"), qNorm)
		w.kNorm = b.vector(name("attn_k_norm.weight"), kNorm)
	}
	if s.family.postNorms {
		w.postAttn = b.vector(name("post_attention_norm.weight"), s.Embedding)
		w.postFeed = b.vector(name("post_ffw_norm.weight"), s.Embedding)
	}
}

// rows is the part of a matrix from row first on, n rows, in place.
func rows(m kernels.Matrix, first, n int) kernels.Matrix {
	if m.Data == nil {
		return m
	}
	size := m.Format.RowBytes(m.Cols)
	m.Data, m.Rows = m.Data[first*size:(first+n)*size], n
	return m
}

// matrix binds a weight matrix of the given shape.
func (b *binder) matrix(name string, rows, cols int) kernels.Matrix {
	t, format, ok := b.tensor(name, uint64(cols), uint64(rows))
	if !ok {
		return kernels.Matrix{}
	}
	if values, _ := format.Block(); cols%values != 0 {
		b.fail("%s: tensor %s: rows of %d values are no multiple of the %d in a block of %v",
			b.f.Name(), name, cols, values, format)
		return kernels.Matrix{}
	}
	if want := rows * format.RowBytes(cols); len(t.Data) < want {
		b.fail("%s: tensor %s has %d bytes, needs %d", b.f.Name(), name, len(t.Data), want)
		return kernels.Matrix{}
	}
	return kernels.Matrix{Format: format, Rows: rows, Cols: cols, Data: t.Data}
}

// vector binds n float32 values.
func (b *binder) vector(name string, n int) []float32 {
	t, format, ok := b.tensor(name, uint64(n))
	if !ok {
		return nil
	}
	if format != kernels.F32 {
		b.fail("%s: tensor %s has type %v, want F32", b.f.Name(), name, format)
		return nil
	}
	if len(t.Data) < 4*n {
		b.fail("%s: tensor %s has %d bytes, needs %d", b.f.Name(), name, len(t.Data), 4*n)
		return nil
	}
	first := unsafe.Pointer(unsafe.SliceData(t.Data))
	if uintptr(first)%unsafe.Alignof(float32(0)) == 0 {
		return unsafe.Slice((*float32)(first), n)
	}
	values := make([]float32, n)
	kernels.DequantizeRow(kernels.F32, values, t.Data)
	return values
}

// tensor finds a tensor and checks its dims (fastest first) and type.
func (b *binder) tensor(name string, dims ...uint64) (gguf.Tensor, kernels.Format, bool) {
	t, ok := b.f.Tensor(name)
	b.bound[name] = true
	if !ok {
		b.fail("%s: tensor %s is missing", b.f.Name(), name)
		return t, 0, false
	}
	if !sameDims(t.Dims, dims) {
		b.fail("%s: tensor %s has dims %v, want %v", b.f.Name(), name, t.Dims, dims)
		return t, 0, false
	}
	format, ok := formats[t.Type]
	if !ok {
		b.fail("%s: tensor %s has type %v, which is not supported; quantize the model to one of: %s",
			b.f.Name(), name, t.Type, supportedTypes())
	}
	return t, format, ok
}

// sameDims compares dims, trailing ones aside.
func sameDims(got, want []uint64) bool {
	for len(got) > len(want) && got[len(got)-1] == 1 {
		got = got[:len(got)-1]
	}
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if got[i] != want[i] {
			return false
		}
	}
	return true
}

func (b *binder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}
