package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func sampler(p Params, vocab int) *Sampler {
	s := new(Sampler)
	s.Reset(p, Buffers{make([]Candidate, vocab), make([]uint32, vocab)})
	return s
}

func TestGreedy(t *testing.T) {
	nan := float32(math.NaN())
	cases := []struct {
		logits []float32
		want   int32
	}{
		{[]float32{1, 3, 2}, 1},
		{[]float32{3, 3, 2}, 0},
		{[]float32{nan, -2, -1}, 2},
		{[]float32{nan, nan}, 0},
	}
	for _, c := range cases {
		if got := sampler(Params{RepeatPenalty: 1}, len(c.logits)).Next(c.logits, nil); got != c.want {
			t.Errorf("Next(%v) = %d, want %d", c.logits, got, c.want)
		}
	}
}

func TestPenaltyCountsTokensOnceWithinItsReach(t *testing.T) {
	logits := []float32{4, -1, 2, 1}
	s := sampler(Params{RepeatPenalty: 2, RepeatLastN: 3}, 4)
	s.Next(logits, []int32{3, 0, 1, 0})
	if want := []float32{2, -2, 2, 1}; !slices.Equal(logits, want) {
		t.Errorf("penalised logits = %v, want %v", logits, want)
	}
}

func TestTopKEqualsSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		logits := make([]float32, 1+r.IntN(50))
		for i := range logits {
			logits[i] = float32(r.IntN(20))
		}
		k := r.IntN(len(logits) + 3)
		s := sampler(Params{TopK: k}, len(logits))
		got := slices.Clone(s.topK(logits))
		want := make([]Candidate, len(logits))
		for i, v := range logits {
			want[i] = Candidate{int32(i), v}
		}
		slices.SortStableFunc(want, func(a, b Candidate) int { return int(b.Logit) - int(a.Logit) })
		if k > 0 && k < len(want) {
			want = want[:k]
		}
		if !slices.Equal(got, want) {
			t.Fatalf("topK(k=%d, %v) = %v, want %v", k, logits, got, want)
		}
	}
}

func TestNucleusAndMinP(t *testing.T) {
	// Probabilities 0.5, 0.3, 0.15, 0.05.
	var c []Candidate
	for i, p := range []float64{0.5, 0.3, 0.15, 0.05} {
		c = append(c, Candidate{int32(i), float32(math.Log(p))})
	}
	for _, x := range []struct {
		got  []Candidate
		want int
	}{
		{topP(c, 0.4), 1}, {topP(c, 0.79), 2}, {topP(c, 0.94), 3}, {topP(c, 1), 4},
		{minP(c, 0.5), 2}, {minP(c, 0.2), 3}, {minP(c, 0), 4}, {minP(c, 1), 1},
	} {
		if len(x.got) != x.want {
			t.Errorf("kept %v, want %d candidates", x.got, x.want)
		}
	}
}

func TestDrawFollowsTheDistribution(t *testing.T) {
	s := sampler(Params{Temperature: 1, TopK: 0, TopP: 1, RepeatPenalty: 1, Seed: 7}, 3)
	want := []float64{0.6, 0.3, 0.1}
	counts := make([]float64, 3)
	const draws = 20000
	for range draws {
		logits := []float32{float32(math.Log(0.6)), float32(math.Log(0.3)), float32(math.Log(0.1))}
		counts[s.Next(logits, nil)]++
	}
	for i, w := range want {
		if got := counts[i] / draws; math.Abs(got-w) > 0.02 {
			t.Errorf("token %d drawn with frequency %.3f, want %.1f", i, got, w)
		}
	}
}

func TestSeedRepeatsAndAllocatesNothing(t *testing.T) {
	p := Defaults()
	p.Seed, p.RepeatPenalty = 42, 1.1
	draw := func(s *Sampler) []int32 {
		r := rand.New(rand.NewPCG(3, 4))
		var ids []int32
		logits := make([]float32, 500)
		for range 50 {
			for i := range logits {
				logits[i] = float32(r.NormFloat64()) * 3
			}
			ids = append(ids, s.Next(logits, ids))
		}
		return ids
	}
	a, b := draw(sampler(p, 500)), draw(sampler(p, 500))
	if !slices.Equal(a, b) {
		t.Errorf("seed 42 gave %v and %v", a, b)
	}
	s, logits, history := sampler(p, 500), make([]float32, 500), []int32{1, 2, 3}
	if n := testing.AllocsPerRun(100, func() { s.Next(logits, history) }); n != 0 {
		t.Errorf("Next allocates %v times", n)
	}
}

func TestCheckNamesTheParameter(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []func(p *Params){
		func(p *Params) { p.Temperature = nan }, func(p *Params) { p.TopP = 0 },
		func(p *Params) { p.TopP = nan }, func(p *Params) { p.MinP = nan },
		func(p *Params) { p.RepeatPenalty = 0 }, func(p *Params) { p.RepeatLastN = -2 },
	} {
		p := Defaults()
		if err := p.Check(); err != nil {
			t.Fatalf("defaults are refused: %v", err)
		}
		if c(&p); p.Check() == nil {
			t.Errorf("%+v is accepted", p)
		}
	}
}
