package model

// The families: what differs between architectures that share one forward
// pass. A new family of the same shape is a new row here, not a new file.

import (
	"fmt"
	"sort"
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

// refused names architectures that people try, and what is missing for them.
var refused = map[string]string{
	"llama4":    "mixture of experts",
	"qwen2moe":  "mixture of experts",
	"qwen3moe":  "mixture of experts",
	"mixtral":   "mixture of experts",
	"deepseek2": "multi-head latent attention",
	"mamba":     "state-space layers",
	"mamba2":    "state-space layers",
	"rwkv6":     "recurrent layers",
	"rwkv7":     "recurrent layers",
	"clip":      "a vision encoder",
	"qwen2vl":   "vision input",
	"bert":      "encoder-only attention",
	"t5":        "an encoder",
}

// lookFamily returns the row of an architecture or an error that says what runs.
func lookFamily(architecture string) (family, error) {
	if f, ok := families[architecture]; ok {
		return f, nil
	}
	names := make([]string, 0, len(families))
	for name := range families {
		names = append(names, name)
	}
	sort.Strings(names)
	reason := ""
	if missing, ok := refused[architecture]; ok {
		reason = " (it needs " + missing + ")"
	}
	return family{}, fmt.Errorf("architecture %q is not supported%s; supported: %s",
		architecture, reason, strings.Join(names, ", "))
}
