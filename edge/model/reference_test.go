package model

// The families once more, in float64 and in the plainest form: one token after
// the other, all keys and values kept, every rule written out where it applies.
// It reads a recipe, not the file, and shares nothing with the forward pass.

import (
	"fmt"
	"math"
	"slices"
)

// exact is the state of one run over a recipe.
type exact struct {
	r    *recipe
	k, v [][][]float64 // [layer][position][kvHeads·dim]
}

// logits returns what the model computes at every position of ids.
func (r *recipe) logits(ids []int32) [][]float64 {
	e := &exact{r: r, k: make([][][]float64, len(r.heads)), v: make([][][]float64, len(r.heads))}
	out := make([][]float64, len(ids))
	for p, id := range ids {
		out[p] = e.step(p, int(id))
	}
	return out
}

// number is a key of the recipe, or fallback.
func (r *recipe) number(key string, fallback float64) float64 {
	switch v := r.keys[key].(type) {
	case float32:
		return float64(v)
	case uint32:
		return float64(v)
	}
	return fallback
}

// row is row i of a tensor with rows of n values, as float64.
func (r *recipe) row(name string, i, n int) []float64 {
	values, ok := r.values[name]
	if !ok {
		panic("no tensor " + name)
	}
	out := make([]float64, n)
	for j := range out {
		out[j] = float64(values[i*n+j])
	}
	return out
}

// times is the product of a matrix with x.
func (r *recipe) times(name string, x []float64) []float64 {
	y := make([]float64, len(r.values[name])/len(x))
	for i := range y {
		for j, w := range r.row(name, i, len(x)) {
			y[i] += w * x[j]
		}
	}
	return y
}

// rms norms x with the weights of a tensor, a stretch of their length a time.
func (r *recipe) rms(name string, x []float64) []float64 {
	n := len(r.values[name])
	weight, out := r.row(name, 0, n), make([]float64, len(x))
	for at := 0; at < len(x); at += n {
		var sum float64
		for _, v := range x[at : at+n] {
			sum += v * v
		}
		scale := 1 / math.Sqrt(sum/float64(n)+float64(r.epsilon))
		for j, w := range weight {
			out[at+j] = x[at+j] * scale * w
		}
	}
	return out
}

// step runs one token.
func (e *exact) step(p, id int) []float64 {
	r := e.r
	x := r.row("token_embd.weight", id, r.embedding)
	switch r.architecture {
	case "gemma3":
		multiply(x, math.Sqrt(float64(r.embedding)))
	case "granite":
		multiply(x, r.number("embedding_scale", 1))
	}
	add := func(delta []float64) {
		if r.architecture == "granite" {
			multiply(delta, r.number("residual_scale", 1))
		}
		for i := range x {
			x[i] += delta[i]
		}
	}
	for l := range r.heads {
		name := func(part string) string { return fmt.Sprintf("blk.%d.%s.weight", l, part) }
		post := r.architecture == "gemma3" || r.architecture == "olmo2"
		before := func(part string) []float64 {
			if r.architecture == "olmo2" {
				return slices.Clone(x)
			}
			return r.rms(name(part), x)
		}
		a := r.times(name("attn_output"), e.attend(l, p, before("attn_norm")))
		if post {
			a = r.rms(name("post_attention_norm"), a)
		}
		add(a)
		h := before("ffn_norm")
		gate, up := r.times(name("ffn_gate"), h), r.times(name("ffn_up"), h)
		for i, g := range gate {
			up[i] *= r.activation(g)
		}
		f := r.times(name("ffn_down"), up)
		if post {
			f = r.rms(name("post_ffw_norm"), f)
		}
		add(f)
	}
	logits := r.times("output.weight", r.rms("output_norm.weight", x))
	if r.architecture == "granite" {
		multiply(logits, 1/r.number("logit_scale", 1))
	}
	return logits
}

func (r *recipe) activation(g float64) float64 {
	if r.architecture == "gemma3" {
		return 0.5 * g * (1 + math.Tanh(math.Sqrt(2/math.Pi)*g*(1+0.044715*g*g)))
	}
	return g / (1 + math.Exp(-g))
}

// attend returns the attention of position p in layer l, [heads·dim].
func (e *exact) attend(l, p int, h []float64) []float64 {
	r, d := e.r, e.r.dim
	name := func(part string) string { return fmt.Sprintf("blk.%d.%s.weight", l, part) }
	q, k, v := r.times(name("attn_q"), h), r.times(name("attn_k"), h), r.times(name("attn_v"), h)
	if _, normed := r.values[name("attn_q_norm")]; normed {
		q, k = r.rms(name("attn_q_norm"), q), r.rms(name("attn_k_norm"), k)
	}
	local, window := r.local(l)
	for _, heads := range [][]float64{q, k} {
		for at := 0; at < len(heads); at += d {
			r.rotate(heads[at:at+d], l, p, local)
		}
	}
	e.k[l], e.v[l] = append(e.k[l], k), append(e.v[l], v)
	first := 0
	if local {
		first = max(0, p-window+1)
	}
	scale := r.number("attention.scale", 1/math.Sqrt(float64(d)))
	out := make([]float64, len(q))
	for head := range r.heads[l] {
		at := head * r.kvHeads[l] / r.heads[l] * d // of the KV head
		weights, sum := make([]float64, p+1), 0.0
		for i := first; i <= p; i++ {
			score := 0.0
			for j := range d {
				score += q[head*d+j] * e.k[l][i][at+j]
			}
			weights[i] = math.Exp(score * scale)
			sum += weights[i]
		}
		for i := first; i <= p; i++ {
			for j := range d {
				out[head*d+j] += weights[i] / sum * e.v[l][i][at+j]
			}
		}
	}
	return out
}

// local says whether layer l has a sliding window, and which.
func (r *recipe) local(l int) (bool, int) {
	window := int(r.number("attention.sliding_window", 0))
	every := map[string]int{"gemma3": 6, "olmo2": 4}[r.architecture]
	if local, ok := r.keys["attention.sliding_window_pattern"].([]bool); ok {
		return local[l], window
	}
	return window > 0 && every > 0 && l%every < every-1, window
}

// rotate turns one head.
func (r *recipe) rotate(x []float64, layer, p int, local bool) {
	if rotates, ok := r.keys["rope.scaling.finetuned"].(bool); ok && !rotates ||
		r.architecture == "smollm3" && (layer+1)%4 == 0 {
		return
	}
	n := int(r.number("rope.dimension_count", float64(r.dim)))
	base, factor := r.number("rope.freq_base", 10000), r.number("rope.scaling.factor", 1)
	if local {
		factor = 1
		if r.architecture == "gemma3" {
			base = 10000
		}
	}
	for j := range n / 2 {
		theta, m := math.Pow(base, -2*float64(j)/float64(n)), 1.0
		if factors := r.vectors["rope_freqs.weight"]; factors != nil {
			theta /= float64(factors[j])
		}
		switch {
		case local:
		case r.keys["rope.scaling.type"] == "yarn":
			theta, m = r.yarn(theta, j, n, base, factor), 1+0.1*math.Log(factor)
		default:
			theta /= factor
		}
		a, b := 2*j, 2*j+1
		if !slices.Contains([]string{"llama", "smollm3", "granite"}, r.architecture) {
			a, b = j, j+n/2
		}
		sin, cos := math.Sincos(float64(p) * theta)
		x[a], x[b] = m*(x[a]*cos-x[b]*sin), m*(x[a]*sin+x[b]*cos)
	}
}

// yarn stretches frequency j of n/2.
func (r *recipe) yarn(theta float64, j, n int, base, factor float64) float64 {
	context := r.number("rope.scaling.original_context_length", 0)
	border := func(turns float64) float64 {
		return float64(n) * math.Log(context/(2*math.Pi*turns)) / (2 * math.Log(base))
	}
	low, high := math.Max(0, math.Floor(border(32))), math.Min(float64(n-1), math.Ceil(border(1)))
	keep := 1 - math.Min(1, math.Max(0, (float64(j)-low)/math.Max(0.001, high-low)))
	return theta * (keep + (1-keep)/factor)
}

func multiply(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}
