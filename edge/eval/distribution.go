package eval

// The distribution of the next token by one engine, and how far another is from
// it. A vocabulary has tens of thousands of tokens, so the exponentials are most
// of what scoring costs: each engine's logits are read twice, once for the
// largest and once for one exponential each.
//
// With a the reference's logits, b those compared, w_i = e^(a_i − max a) and Z
// the sum of a distribution's exponentials,
//
//	D(p ‖ q) = Σ p_i·(ln p_i − ln q_i) = Σ w_i·(a_i − b_i) / Σ w_i − ln Z_a + ln Z_b
//
// The divergences of good caches are small differences of large terms. float32
// exponentials would cost their fourth digit, so all of it is float64.

import "math"

// distribution is what a reference expects at one position.
type distribution struct {
	logits  []float32 // [vocabulary], the engine's own: valid until its next pass
	weights []float64 // [vocabulary], e^(logit − largest)
	sum     float64   // of the weights
	logZ    float64   // ln Σ e^logit
	best    int       // arg-max
}

func newDistribution(vocab int) distribution {
	return distribution{weights: make([]float64, vocab)}
}

// set takes the reference's logits.
func (d *distribution) set(logits []float32) {
	best, weights := argMax(logits), d.weights[:len(logits)]
	largest := float64(logits[best])
	var sum float64
	for i, v := range logits {
		e := expOfNegative(float64(v) - largest)
		weights[i] = e
		sum += e
	}
	d.logits, d.best, d.sum, d.logZ = logits, best, sum, largest+math.Log(sum)
}

// comparison is what another distribution is to the reference.
type comparison struct {
	divergence float64 // Σ p·ln(p/q), nats
	logZ       float64 // ln Σ e^logit of the other
	sameTop    bool    // both have the same arg-max
}

// compare returns how far logits are from d. Rounding can leave a divergence a
// hair below 0; it is then 0. Equal logits give exactly 0 and the same logZ.
func (d *distribution) compare(logits []float32) comparison {
	best := argMax(logits)
	largest := float64(logits[best])
	expected, weights := d.logits[:len(logits)], d.weights[:len(logits)]
	var sum, difference float64
	for i, v := range logits {
		sum += expOfNegative(float64(v) - largest)
		difference += weights[i] * (float64(expected[i]) - float64(v))
	}
	logZ := largest + math.Log(sum)
	return comparison{max(0, difference/d.sum+(logZ-d.logZ)), logZ, best == d.best}
}

// logSum returns ln Σ e^logit.
func logSum(logits []float32) float64 {
	largest := float64(logits[argMax(logits)])
	var sum float64
	for _, v := range logits {
		sum += expOfNegative(float64(v) - largest)
	}
	return largest + math.Log(sum)
}

// argMax is the first index of the largest value.
func argMax(logits []float32) (best int) {
	largest := logits[0]
	for i, v := range logits {
		if v > largest {
			largest, best = v, i
		}
	}
	return best
}

// powers[k] holds the bits of 2^(k/256).
var powers = func() (p [256]uint64) {
	for k := range p {
		p[k] = math.Float64bits(math.Exp2(float64(k) / 256))
	}
	return p
}()

// expOfNegative returns e^x for x ≤ 0, to a relative error of 1e-13, 1e-14 where
// x > −60. Below −700 it returns e^−700, which no sum over a vocabulary feels.
// It is small enough to be inlined, which is what makes it fast.
//
// Method: x = (n/256)·ln 2 + r with |r| ≤ ln 2/512; e^r by its series, whose
// first term left out is below 4e-17; 2^(n/256) by a table, to whose exponent
// the upper bits of n are added.
func expOfNegative(x float64) float64 {
	const (
		step    = math.Ln2 / 256
		toWhole = 3 << 51 // 1.5·2^52: adding it leaves n in the lowest bits
	)
	if x < -700 { // the builtin max is slower than this branch, which is never taken
		x = -700
	}
	z := x*(1/step) + toWhole
	n := math.Float64bits(z)
	r := x - (z-toWhole)*step
	e := 1 + r*(1+r*(0.5+r*(1.0/6+r*(1.0/24))))
	return e * math.Float64frombits(powers[n&255]+n&^255<<44)
}
