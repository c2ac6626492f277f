package model

// Rotary position embedding: by which angles a model turns its queries and
// keys. θ_j = base^(−2j/n), angle = position·θ_j (Su et al., RoFormer, 2021),
// and the ways in which families stretch θ beyond the trained context: linear
// interpolation, YaRN (Peng et al., 2023), LongRoPE (Ding et al., 2024) and
// the per-frequency divisors of Llama 3.1.

import (
	"cmp"
	"math"

	"edgeinfer/kernels"
)

// YaRN's bounds, in turns over the original context: frequencies above the
// first keep their value, below the second they are interpolated.
const (
	yarnFast = 32
	yarnSlow = 1
)

// ropeSpec is what the metadata says of the angles.
type ropeSpec struct {
	base      float64
	baseLocal float64 // of sliding-window layers, which are never scaled
	scaling   string  // none, linear, yarn, longrope
	factor    float64 // ≥ 1 stretches
	original  int     // context before stretching
	magnitude float64 // attn_factor
}

// rope reads the rotary keys.
func (m *metadata) rope(s *Spec) {
	if m.err != nil {
		return
	}
	r := &s.rope
	r.base = m.float("rope.freq_base", 10000, 0, 1e12)
	r.baseLocal = m.float("rope.freq_base_swa", cmp.Or(s.family.localBase, r.base), 0, 1e12)
	r.factor = m.float("rope.scaling.factor", 0, -1, 1e6)
	if r.factor == 0 {
		r.factor = m.float("rope.scale_linear", 0, -1, 1e6)
	}
	if r.factor == 0 {
		r.factor = 1
	}
	if r.factor < 0 {
		m.fail("rope.scaling.factor", r.factor, "must be positive")
	}
	r.original = m.optional("rope.scaling.original_context_length", s.ContextTokens, 1, maxContext)
	r.magnitude = m.float("rope.scaling.attn_factor", 1, 0, 1e6)
	scaling, ok, err := m.f.String(m.prefix + "rope.scaling.type")
	if err != nil && m.err == nil {
		m.err = err
	}
	if !ok {
		scaling = "linear"
	}
	switch r.scaling = scaling; scaling {
	case "none":
		r.factor = 1
	case "linear", "yarn", "longrope":
	default:
		m.fail("rope.scaling.type", scaling, "supported: none, linear, yarn, longrope")
	}
}

// angleTable holds the frequencies of one kind of layer.
type angleTable struct {
	theta     []float64 // [ropeDims/2]
	magnitude float32   // multiplies the rotated values
}

// ropeTables returns the frequencies of global and of sliding-window layers
// for a context of contextTokens per sequence. They are a few hundred bytes.
func (s *Spec) ropeTables(w *weights, contextTokens int) (global, local angleTable) {
	local = angleTable{powers(s.rope.baseLocal, s.RopeDims), 1}
	global = angleTable{powers(s.rope.base, s.RopeDims), 1}
	divide(global.theta, w.ropeFactors)
	r := s.rope
	switch r.scaling {
	case "yarn":
		global.magnitude = float32(r.yarn(global.theta))
	case "longrope":
		// LongRoPE chooses once, from the size of the context.
		factors := w.ropeShort
		if contextTokens > r.original {
			factors = w.ropeLong
		}
		divide(global.theta, factors)
		scale(global.theta, 1/r.factor)
		global.magnitude = float32(r.magnitude)
	default:
		scale(global.theta, 1/r.factor)
	}
	return global, local
}

// powers returns θ_j = base^(−2j/n), j < n/2.
func powers(base float64, n int) []float64 {
	theta := make([]float64, n/2)
	for j := range theta {
		theta[j] = math.Pow(base, -2*float64(j)/float64(n))
	}
	return theta
}

// yarn stretches theta: low j keep their frequency, high j are divided by the
// factor, a ramp lies between. It returns the magnitude.
func (r ropeSpec) yarn(theta []float64) float64 {
	n := float64(2 * len(theta))
	turns := func(beta float64) float64 {
		return n * math.Log(float64(r.original)/(2*math.Pi*beta)) / (2 * math.Log(r.base))
	}
	low := math.Max(0, math.Floor(turns(yarnFast)))
	high := math.Min(n-1, math.Ceil(turns(yarnSlow)))
	for j := range theta {
		ramp := (float64(j) - low) / math.Max(0.001, high-low)
		keep := 1 - math.Min(1, math.Max(0, ramp))
		theta[j] *= keep + (1-keep)/r.factor
	}
	if r.factor <= 1 {
		return r.magnitude
	}
	return (1 + 0.1*math.Log(r.factor)) * r.magnitude
}

func divide(theta []float64, factors []float32) {
	for j, f := range factors {
		theta[j] /= float64(f)
	}
}

func scale(theta []float64, by float64) {
	for j := range theta {
		theta[j] *= by
	}
}

// ropeVectors binds the tensors that rescale frequencies.
func (b *binder) ropeVectors(w *weights, s *Spec) {
	bindIf := func(name string) []float32 {
		if _, ok := b.f.Tensor(name); !ok {
			return nil
		}
		return b.vector(name, s.RopeDims/2)
	}
	w.ropeFactors = bindIf("rope_freqs.weight")
	w.ropeLong, w.ropeShort = bindIf("rope_factors_long.weight"), bindIf("rope_factors_short.weight")
	if s.rope.scaling == "longrope" && b.err == nil && (w.ropeLong == nil || w.ropeShort == nil) {
		b.fail("%s: rope.scaling.type is longrope, but tensor rope_factors_long.weight or "+
			"rope_factors_short.weight is missing", b.f.Name())
	}
	for _, factors := range [][]float32{w.ropeFactors, w.ropeLong, w.ropeShort} {
		for j, f := range factors {
			if !(f > 0) {
				b.fail("%s: rotary factor %d is %v, must be positive", b.f.Name(), j, f)
			}
		}
	}
}

// fill computes the cosines and sines [ropeDims/2] of one position.
func (t angleTable) fill(cos, sin []float32, position int) {
	for j, theta := range t.theta {
		sn, cs := math.Sincos(float64(position) * theta)
		cos[j], sin[j] = float32(cs)*t.magnitude, float32(sn)*t.magnitude
	}
}

// rotate turns the first 2·len(cos) values of one head, pairs (2j, 2j+1) or,
// with neox, (j, j+n/2): (u, v) → (u·cos − v·sin, u·sin + v·cos).
func rotate(head, cos, sin []float32, neox bool) {
	half := len(cos)
	sin = sin[:half]
	if neox {
		for j, c := range cos {
			u, v := head[j], head[j+half]
			head[j], head[j+half] = u*c-v*sin[j], u*sin[j]+v*c
		}
		return
	}
	for j, c := range cos {
		u, v := head[2*j], head[2*j+1]
		head[2*j], head[2*j+1] = u*c-v*sin[j], u*sin[j]+v*c
	}
}

// normHeads applies an RMS norm to each head of x [heads][len(weight)].
func normHeads(x, weight []float32, epsilon float32) {
	for d := len(weight); len(x) >= d; x = x[d:] {
		kernels.RMSNorm(x[:d], x[:d], weight, epsilon)
	}
}
