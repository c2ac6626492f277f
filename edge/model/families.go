package model

// The families: what differs between architectures that share one forward
// pass. A new family of the same shape is a new row here, not a new file.

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// family is one architecture as GGUF names it. The zero value of every field
// is Llama's choice.
type family struct {
	// neox pairs the rotary dims (j, j+n/2); Llama pairs (2j, 2j+1).
	neox bool
	// qkvBias adds attn_{q,k,v}.bias after the projections.
	qkvBias bool
	// headNorm applies RMS norms attn_q_norm and attn_k_norm to every head before RoPE.
	headNorm bool
	// rowNorm applies them to all heads together, as one row.
	rowNorm bool
	// fused names families whose files hold q, k, v in attn_qkv and gate, up in ffn_up.
	fused bool
	// postNorms applies RMS norms to the outputs of attention and feed-forward
	// before they are added to the residual stream.
	postNorms bool
	// bare leaves out the norms before attention and feed-forward.
	bare bool
	// scaled takes factors of the embedding, of what blocks add, of scores and
	// of logits from the file, and lets it switch RoPE off.
	scaled bool
	// gelu gates with GELU instead of SiLU.
	gelu bool
	// scaleEmbedding multiplies the embedding by the root of its length.
	scaleEmbedding bool
	// slidingPattern n makes layers local but every n-th; 0: no local layers.
	slidingPattern int
	// localBase is the rotary base of local layers where the file has none of
	// its own for them; 0: that of the other layers.
	localBase float64
	// noRopeEvery n leaves RoPE out of every n-th layer; 0: none.
	noRopeEvery int
}

// families holds every architecture that runs, by general.architecture.
// The rules were taken from the definitions of the models' authors.
var families = map[string]family{
	"llama":   {},
	"qwen2":   {neox: true, qkvBias: true},
	"qwen3":   {neox: true, headNorm: true},
	"phi3":    {neox: true, fused: true},
	"smollm3": {noRopeEvery: 4},
	"granite": {scaled: true},
	"olmo2":   {neox: true, rowNorm: true, postNorms: true, bare: true, slidingPattern: 4},
	"gemma3": {neox: true, headNorm: true, postNorms: true, gelu: true, scaleEmbedding: true,
		slidingPattern: 6, localBase: 10000},
}

// refused lists architectures that people try, by what is missing for them.
var refused = []struct {
	missing       string
	architectures []string
}{
	{"mixture of experts", []string{"afmoe", "arctic", "bailingmoe", "bailingmoe2", "cohere2moe",
		"dbrx", "deepseek", "dots1", "ernie4_5-moe", "exaone-moe", "glm4moe", "gpt-oss", "granitemoe",
		"grok", "grovemoe", "hunyuan-moe", "llada-moe", "llama4", "mimo2", "minimax-m2", "mixtral",
		"nomic-bert-moe", "olmoe", "phimoe", "qwen2moe", "qwen3moe", "smallthinker"}},
	{"multi-head latent attention", []string{"deepseek2", "deepseek2-ocr", "deepseek32", "glm-dsa",
		"minicpm3", "plm"}},
	{"state-space layers", []string{"falcon-h1", "granitehybrid", "jamba", "mamba", "mamba2",
		"nemotron_h", "nemotron_h_moe", "plamo2"}},
	{"linear attention or convolution layers", []string{"kimi-linear", "lfm2", "lfm2moe",
		"minimax-01", "qwen3next", "qwen35", "qwen35moe"}},
	{"recurrent layers", []string{"arwkv7", "rwkv6", "rwkv6qwen2", "rwkv7"}},
	{"a vision or audio encoder", []string{"clip", "mllama"}},
	{"image input and positions of several axes", []string{"chameleon", "cogvlm", "hunyuan_vl",
		"paddleocr", "qwen2vl", "qwen3vl", "qwen3vlmoe"}},
	{"per-layer embeddings and shared caches", []string{"gemma3n", "gemma4"}},
	{"soft-capped attention scores", []string{"gemma2"}},
	{"attention to both sides, as encoders have it", []string{"bert", "eurobert", "gemma-embedding",
		"jina-bert-v2", "jina-bert-v3", "modern-bert", "neo-bert", "nomic-bert", "t5", "t5encoder"}},
	{"diffusion over whole texts", []string{"dream", "llada", "rnd1"}},
}

// lookFamily returns the row of an architecture or an error that says what runs.
func lookFamily(architecture string) (family, error) {
	if f, ok := families[architecture]; ok {
		return f, nil
	}
	names := slices.Sorted(maps.Keys(families))
	reason := ""
	for _, r := range refused {
		if slices.Contains(r.architectures, architecture) {
			reason = " (it needs " + r.missing + ")"
		}
	}
	return family{}, fmt.Errorf("architecture %q is not supported%s; supported: %s",
		architecture, reason, strings.Join(names, ", "))
}
