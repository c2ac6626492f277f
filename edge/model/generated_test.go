package model

// Small models with random weights, for families and shapes of which no file is
// at hand. The same seed gives the same file on every machine, so that what
// another program computed for it can be kept beside the tests.

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"edgeinfer/edge/gguf"
	"edgeinfer/edge/gguf/gguftest"
)

// recipe describes a generated model. Slices have an element a layer.
type recipe struct {
	name, architecture   string
	embedding, dim       int
	heads, kvHeads, feed []int
	epsilon              float32
	keys                 map[string]any       // further ones, without the architecture
	vectors              map[string][]float32 // further tensors

	values map[string][]float32 // filled by file: all tensors, rows of the fastest dim
	dims   map[string][]uint64
}

// generatedVocab has the control tokens, the bytes and 29 words.
const generatedVocab = 3 + 256 + 29

// each is n layers of v.
func each(n, v int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = v
	}
	return all
}

// file writes the model. Weights are uniform, of a spread that keeps the
// residual stream near 1; norm weights lie around 1.
func (r *recipe) file(t testing.TB) []byte {
	t.Helper()
	b := gguftest.New(3)
	b.Key("general.architecture", r.architecture).Key("general.name", r.name)
	all := map[string]any{
		"context_length": uint32(512), "embedding_length": uint32(r.embedding),
		"block_count": uint32(len(r.heads)), "feed_forward_length": perLayerKey(r.feed),
		"attention.head_count": perLayerKey(r.heads), "attention.head_count_kv": perLayerKey(r.kvHeads),
		"attention.key_length": uint32(r.dim), "attention.value_length": uint32(r.dim),
		"rope.dimension_count":             uint32(r.dim),
		"attention.layer_norm_rms_epsilon": r.epsilon,
	}
	maps.Copy(all, r.keys)
	for _, key := range sorted(all) {
		b.Key(r.architecture+"."+key, all[key])
	}
	writeVocabulary(b)
	r.values, r.dims = map[string][]float32{}, map[string][]uint64{}
	r.tensors()
	for _, name := range sorted(r.dims) {
		b.Tensor(name, gguf.TypeF32, r.dims[name], gguftest.F32(r.values[name]...))
	}
	return b.Bytes()
}

// perLayerKey is one number where all layers agree, else an array.
func perLayerKey(each []int) any {
	array, same := make([]uint32, len(each)), true
	for i, v := range each {
		array[i], same = uint32(v), same && v == each[0]
	}
	if same {
		return array[0]
	}
	return array
}

// writeVocabulary writes a SentencePiece vocabulary.
func writeVocabulary(b *gguftest.Writer) {
	tokens, types := []string{"<unk>", "<s>", "</s>"}, []int32{2, 3, 3}
	for i := range 256 {
		tokens, types = append(tokens, fmt.Sprintf("<0x%02X>", i)), append(types, 6)
	}
	for len(tokens) < generatedVocab {
		tokens, types = append(tokens, fmt.Sprintf("▁word%d", len(tokens))), append(types, 1)
	}
	b.Key("tokenizer.ggml.model", "llama").Key("tokenizer.ggml.tokens", tokens)
	b.Key("tokenizer.ggml.scores", make([]float32, len(tokens)))
	b.Key("tokenizer.ggml.token_type", types)
}

// tensors fills in every tensor that the family has.
func (r *recipe) tensors() {
	d := r.embedding
	r.matrix("token_embd.weight", generatedVocab, d, 1)
	r.matrix("output.weight", generatedVocab, d, 3/math.Sqrt(float64(d)))
	r.norm("output_norm.weight", d)
	for i := range r.heads {
		name := func(part string) string { return fmt.Sprintf("blk.%d.%s.weight", i, part) }
		matrix := func(part string, rows, cols int) {
			r.matrix(name(part), rows, cols, 2/math.Sqrt(float64(cols)))
		}
		q, kv := r.heads[i]*r.dim, r.kvHeads[i]*r.dim
		matrix("attn_q", q, d)
		matrix("attn_k", kv, d)
		matrix("attn_v", kv, d)
		matrix("attn_output", d, q)
		matrix("ffn_gate", r.feed[i], d)
		matrix("ffn_up", r.feed[i], d)
		matrix("ffn_down", d, r.feed[i])
		if r.architecture != "olmo2" {
			r.norm(name("attn_norm"), d)
			r.norm(name("ffn_norm"), d)
		}
		if r.architecture == "olmo2" || r.architecture == "gemma3" {
			r.norm(name("post_attention_norm"), d)
			r.norm(name("post_ffw_norm"), d)
		}
		switch r.architecture {
		case "olmo2":
			r.norm(name("attn_q_norm"), q)
			r.norm(name("attn_k_norm"), kv)
		case "qwen3", "gemma3":
			r.norm(name("attn_q_norm"), r.dim)
			r.norm(name("attn_k_norm"), r.dim)
		}
	}
	maps.Copy(r.values, r.vectors)
	for name, v := range r.vectors {
		r.dims[name] = []uint64{uint64(len(v))}
	}
}

// matrix draws [rows][cols] values from −spread to spread.
func (r *recipe) matrix(name string, rows, cols int, spread float64) {
	r.dims[name] = []uint64{uint64(cols), uint64(rows)}
	r.draw(name, rows*cols, 0, spread)
}

// norm draws n weights around 1.
func (r *recipe) norm(name string, n int) {
	r.dims[name] = []uint64{uint64(n)}
	r.draw(name, n, 1, 0.25)
}

// draw fills a tensor; what it gets depends on the names of model and tensor.
func (r *recipe) draw(name string, n int, middle, spread float64) {
	h := fnv.New64a()
	fmt.Fprint(h, r.name, "/", name)
	random := rand.New(rand.NewPCG(h.Sum64(), 1))
	values := make([]float32, n)
	for i := range values {
		// Thousandths and a rounded product: the same bits on every architecture.
		thousandths := float64(random.IntN(2001)-1000) / 1000
		values[i] = float32(middle + float64(thousandths*spread))
	}
	r.values[name] = values
}

// source opens the generated model.
func (r *recipe) source(t testing.TB) *Source {
	t.Helper()
	f, err := gguf.Parse(r.name+".gguf", r.file(t))
	if err != nil {
		t.Fatal(err)
	}
	src, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// prompt draws n token ids.
func prompt(n int) []int32 {
	random := rand.New(rand.NewPCG(7, uint64(n)))
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = random.Int32N(generatedVocab)
	}
	return ids
}
