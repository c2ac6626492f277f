package eval

import (
	"math"
	"math/rand/v2"
	"testing"
)

// slowLogSum is ln Σ e^logit by the library's exponential.
func slowLogSum(logits []float32) float64 {
	largest := float64(logits[argMax(logits)])
	var sum float64
	for _, v := range logits {
		sum += math.Exp(float64(v) - largest)
	}
	return largest + math.Log(sum)
}

// slowDivergence is Σ p·(ln p − ln q), term by term.
func slowDivergence(p, q []float32) (sum float64) {
	logP, logQ := slowLogSum(p), slowLogSum(q)
	for i := range p {
		a, b := float64(p[i])-logP, float64(q[i])-logQ
		sum += math.Exp(a) * (a - b)
	}
	return sum
}

// compare is distribution.compare of one pair.
func compare(p, q []float32) comparison {
	d := newDistribution(len(p))
	d.set(p)
	return d.compare(q)
}

func TestCompareAgainstTheDefinition(t *testing.T) {
	p, q := []float32{1, 2, 3}, []float32{3, 2, 1}
	// Reversing leaves Z as it is and the middle term out: D = 2·(p₃ − p₁).
	want := 2 * (math.Exp(2) - 1) / (1 + math.E + math.Exp(2))
	got := compare(p, q)
	if math.Abs(got.divergence-want) > 1e-13 || got.sameTop {
		t.Errorf("compare = %+v; want a divergence of %v and another top", got, want)
	}
	if math.Abs(got.logZ-math.Log(math.E+math.Exp(2)+math.Exp(3))) > 1e-14 {
		t.Errorf("ln Z = %v", got.logZ)
	}
	if got := compare(p, p); got.divergence != 0 || !got.sameTop {
		t.Errorf("compare with itself = %+v; want 0 and the same top", got)
	}
}

// noisy makes logits as a vocabulary has them, and the same with an error.
func noisy(r *rand.Rand, vocab int, deviation float64) (p, q []float32) {
	p, q = make([]float32, vocab), make([]float32, vocab)
	for i := range p {
		p[i] = float32(3 * r.NormFloat64())
		q[i] = p[i] + float32(deviation*r.NormFloat64())
	}
	top := r.IntN(vocab)
	p[top], q[top] = p[top]+15, q[top]+15
	return p, q
}

func TestFastScoringEqualsTheSlowForm(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 7))
	for _, deviation := range []float64{0.02, 0.08, 0.5, 3} {
		var fast, slow float64
		for range 8 {
			p, q := noisy(r, 49152, deviation)
			got := compare(p, q)
			fast, slow = fast+got.divergence, slow+slowDivergence(p, q)
			if want := slowLogSum(q); math.Abs(got.logZ-want) > 1e-12 || logSum(q) != got.logZ {
				t.Errorf("ln Z = %v and %v, want %v", got.logZ, logSum(q), want)
			}
		}
		if !(math.Abs(fast-slow) <= 1e-9*slow) {
			t.Errorf("deviation %v: mean divergence %v, the slow form has %v, a relative error of %.1e",
				deviation, fast/8, slow/8, math.Abs(fast-slow)/slow)
		}
		t.Logf("deviation %v: mean divergence %.6f, relative error %.1e", deviation, slow/8,
			math.Abs(fast-slow)/slow)
	}
}

func TestExpOfNegative(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200000 {
		for _, c := range []struct{ least, bound float64 }{{-60, 1e-14}, {-700, 1e-13}} {
			x := c.least * r.Float64()
			if got, want := expOfNegative(x), math.Exp(x); math.Abs(got-want) > c.bound*want {
				t.Fatalf("expOfNegative(%v) = %v, want %v", x, got, want)
			}
		}
	}
	for x, want := range map[float64]float64{0: 1, -700: math.Exp(-700), -1e9: math.Exp(-700),
		math.Inf(-1): math.Exp(-700)} {
		if got := expOfNegative(x); math.Abs(got-want) > 1e-13*want {
			t.Errorf("expOfNegative(%v) = %v, want %v", x, got, want)
		}
	}
	if got := expOfNegative(math.NaN()); !math.IsNaN(got) {
		t.Errorf("expOfNegative(NaN) = %v", got)
	}
}

// The work of one position: the reference's once, another's for each plan.
func BenchmarkScoring(b *testing.B) {
	p, q := noisy(rand.New(rand.NewPCG(3, 7)), 49152, 0.1)
	d := newDistribution(len(p))
	b.Run("reference", func(b *testing.B) {
		for b.Loop() {
			d.set(p)
		}
	})
	b.Run("plan", func(b *testing.B) {
		for b.Loop() {
			d.compare(q)
		}
	})
	b.Run("plan by math.Exp", func(b *testing.B) {
		for b.Loop() {
			slowDivergence(p, q)
		}
	})
}
