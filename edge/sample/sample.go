// Package sample chooses the next token from logits: penalties, top-k, top-p,
// min-p, temperature, in llama.cpp's order. It knows nothing of models or
// text, keeps no buffers of its own and allocates nothing per token.
package sample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Params are the knobs of a Sampler, named and defaulted as llama.cpp's.
type Params struct {
	Temperature   float32 // ≤ 0: greedy
	TopK          int     // ≤ 0: all tokens
	TopP          float32 // ≥ 1: off
	MinP          float32 // ≤ 0: off
	RepeatPenalty float32 // 1: off; Keskar et al., CTRL, 2019
	RepeatLastN   int     // tokens the penalty looks back on; −1: all, 0: none
	Seed          int64   // negative: a new one each time
}

// Defaults returns llama.cpp's defaults.
func Defaults() Params {
	return Params{Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.05,
		RepeatPenalty: 1, RepeatLastN: 64, Seed: -1}
}

// Check returns an error that names the first parameter out of its range.
func (p Params) Check() error {
	bad := func(name string, value any, want string) error {
		return fmt.Errorf("sample: %s is %v, must be %s", name, value, want)
	}
	switch {
	case p.Temperature != p.Temperature || math.IsInf(float64(p.Temperature), 0):
		return bad("temperature", p.Temperature, "a finite number")
	case !(p.TopP > 0):
		return bad("top-p", p.TopP, "above 0 (1 turns it off)")
	case !(p.MinP <= 1):
		return bad("min-p", p.MinP, "at most 1 (0 turns it off)")
	case !(p.RepeatPenalty > 0) || math.IsInf(float64(p.RepeatPenalty), 0):
		return bad("repeat-penalty", p.RepeatPenalty, "above 0 (1 turns it off)")
	case p.RepeatLastN < -1:
		return bad("repeat-last-n", p.RepeatLastN, "−1 or more")
	}
	return nil
}

// Candidate is a token and its logit.
type Candidate struct {
	ID    int32
	Logit float32
}

// Buffers are what a Sampler works in; the caller owns them.
type Buffers struct {
	Candidates []Candidate // [vocab]
	Stamps     []uint32    // [vocab], when a token was last penalised
}

// Sampler chooses tokens for one sequence.
type Sampler struct {
	p      Params
	b      Buffers
	stamp  uint32
	source rand.PCG
}

// Reset makes s ready for a new sequence with parameters p, working in b.
func (s *Sampler) Reset(p Params, b Buffers) {
	seed := uint64(p.Seed)
	if p.Seed < 0 {
		seed = rand.Uint64()
	}
	s.p, s.b, s.stamp = p, b, 0
	s.source.Seed(seed, 0x9e3779b97f4a7c15)
	clear(b.Stamps)
}

// Next chooses a token. logits [vocab] are changed by the repetition penalty;
// history are the tokens before, oldest first. NaN logits are never chosen
// unless all are NaN, when token 0 is.
func (s *Sampler) Next(logits []float32, history []int32) int32 {
	s.penalise(logits, history)
	if s.p.Temperature <= 0 {
		return Greedy(logits)
	}
	kept := s.topK(logits)
	kept = topP(kept, s.p.TopP)
	kept = minP(kept, s.p.MinP)
	return s.draw(kept)
}

// Greedy returns the token of the largest logit, the first on ties.
func Greedy(logits []float32) int32 {
	best, bestLogit := 0, float32(math.Inf(-1))
	for i, v := range logits {
		if v > bestLogit {
			best, bestLogit = i, v
		}
	}
	return int32(best)
}

// penalise divides the positive logits of recent tokens by the penalty and
// multiplies the negative ones, each token once.
func (s *Sampler) penalise(logits []float32, history []int32) {
	if s.p.RepeatPenalty == 1 || s.p.RepeatLastN == 0 {
		return
	}
	if n := s.p.RepeatLastN; n > 0 && len(history) > n {
		history = history[len(history)-n:]
	}
	s.stamp++
	for _, id := range history {
		if s.b.Stamps[id] == s.stamp {
			continue
		}
		s.b.Stamps[id] = s.stamp
		if logits[id] > 0 {
			logits[id] /= s.p.RepeatPenalty
		} else {
			logits[id] *= s.p.RepeatPenalty
		}
	}
}

// topK returns the k largest candidates, largest first, ties by token.
func (s *Sampler) topK(logits []float32) []Candidate {
	k := s.p.TopK
	if k <= 0 || k > len(logits) {
		k = len(logits)
	}
	kept := s.b.Candidates[:0]
	for i, v := range logits {
		if v != v {
			continue
		}
		c := Candidate{int32(i), v}
		if len(kept) < k {
			kept = append(kept, c)
			if len(kept) == k {
				heapify(kept)
			}
		} else if after(kept[0], c) < 0 {
			kept[0] = c
			siftDown(kept, 0)
		}
	}
	slices.SortFunc(kept, func(a, b Candidate) int { return -after(a, b) })
	return kept
}

// after orders candidates: negative where a ranks below b.
func after(a, b Candidate) int {
	switch {
	case a.Logit < b.Logit:
		return -1
	case a.Logit > b.Logit:
		return 1
	}
	return int(b.ID) - int(a.ID)
}

// heapify makes c a heap with its lowest-ranked candidate first.
func heapify(c []Candidate) {
	for i := len(c)/2 - 1; i >= 0; i-- {
		siftDown(c, i)
	}
}

func siftDown(c []Candidate, i int) {
	for {
		child := 2*i + 1
		if child >= len(c) {
			return
		}
		if child+1 < len(c) && after(c[child+1], c[child]) < 0 {
			child++
		}
		if after(c[child], c[i]) >= 0 {
			return
		}
		c[i], c[child] = c[child], c[i]
		i = child
	}
}

// topP keeps the fewest candidates whose probabilities reach p (Holtzman et
// al., nucleus sampling, 2019). c is sorted.
func topP(c []Candidate, p float32) []Candidate {
	if p >= 1 || len(c) == 0 {
		return c
	}
	var total float64
	for _, v := range c {
		total += math.Exp(float64(v.Logit - c[0].Logit))
	}
	var sum float64
	for i, v := range c {
		sum += math.Exp(float64(v.Logit - c[0].Logit))
		if sum >= float64(p)*total {
			return c[:i+1]
		}
	}
	return c
}

// minP keeps candidates at least p times as probable as the first.
func minP(c []Candidate, p float32) []Candidate {
	if p <= 0 || len(c) == 0 {
		return c
	}
	floor := c[0].Logit + float32(math.Log(float64(p)))
	for i, v := range c {
		if i > 0 && v.Logit < floor {
			return c[:i]
		}
	}
	return c
}

// draw picks from c with probabilities softmax(logit/temperature).
func (s *Sampler) draw(c []Candidate) int32 {
	if len(c) == 0 {
		return 0
	}
	t := float64(s.p.Temperature)
	var total float64
	for _, v := range c {
		total += math.Exp(float64(v.Logit-c[0].Logit) / t)
	}
	at := float64(s.source.Uint64()>>11) / (1 << 53) * total
	for _, v := range c {
		if at -= math.Exp(float64(v.Logit-c[0].Logit) / t); at < 0 {
			return v.ID
		}
	}
	return c[len(c)-1].ID
}
