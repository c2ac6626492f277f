package budget

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"edgeinfer/kernels"

	"pgregory.net/rapid"
)

// drawnFacts draws facts of layers, some with large biases.
func drawnFacts(t *rapid.T, layers int) func(bool) ([]LayerFacts, error) {
	facts := make([]LayerFacts, layers)
	positive := rapid.Float64Range(0.01, 100)
	for i := range facts {
		k, v := positive.Draw(t, "k"), positive.Draw(t, "v")
		facts[i] = LayerFacts{K: Norms{k, k / 3}, V: Norms{v, v / 2}, KGain: Norms{k, k / 3},
			KBias2:      rapid.SampledFrom([]float64{0, 0, k, 9 * k * k}).Draw(t, "bias"),
			LogitEnergy: positive.Draw(t, "energy")}
	}
	return func(bool) ([]LayerFacts, error) { return facts, nil }
}

// drawnCalibration draws divergences that fall with the bits.
func drawnCalibration(t *rapid.T, layers int) []LayerCalibration {
	calibration := make([]LayerCalibration, layers)
	for i := range calibration {
		divergence := map[string]float64{}
		for _, side := range sideNames {
			scale := rapid.Float64Range(1e-6, 1).Draw(t, "scale")
			for bits := 2; bits <= 4; bits++ {
				divergence[fmt.Sprint(side, bits)] = scale * math.Pow(4, -float64(bits)) *
					rapid.Float64Range(0.7, 1.3).Draw(t, "noise")
			}
		}
		calibration[i].Divergence = divergence
	}
	return calibration
}

// drawPlanned draws a request that leaves the formats to a drawn planner.
func drawPlanned(t *rapid.T) Request {
	r := drawRequest(t)
	r.KV, r.Planner = nil, rapid.SampledFrom(Planners).Draw(t, "planner")
	r.ContextTokens = rapid.IntRange(r.Sessions, 4000).Draw(t, "context")
	r.Facts = drawnFacts(t, len(r.Shape))
	r.Calibration = drawnCalibration(t, len(r.Shape))
	return r
}

func TestNoPlannerIsWorseThanAPair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawPlanned(t)
		r.Floor, r.Predict = uniform(pair(2, 2), len(r.Shape)), true
		p, err := Solve(r)
		if err != nil {
			t.Skip("does not fit")
		}
		if over(p, r) || p.Planner != r.Planner {
			t.Errorf("%s: plan of %d bytes by %q", r.Planner, p.TotalBytes, p.Planner)
		}
		bits := rapid.IntRange(2, 8)
		v := bits.Draw(t, "v")
		k := min(8, v+rapid.IntRange(0, 4).Draw(t, "more"))
		r.KV = uniform(pair(k, v), len(r.Shape))
		q, err := Solve(r)
		if err == nil && p.GuardedLayers == 0 && q.PredictedDistortion < p.PredictedDistortion {
			t.Errorf("%s chose %s with %g, k%dv%d fits and has %g", r.Planner, p.Choice(),
				p.PredictedDistortion, k, v, q.PredictedDistortion)
		}
	})
}

func TestMoreMemoryIsNeverWorseForAnyPlanner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawPlanned(t)
		r.Predict = true
		less, err := Solve(r)
		if err != nil {
			t.Skip("does not fit")
		}
		r.LimitBytes += rapid.Int64Range(0, 1<<20).Draw(t, "more")
		if r.KVLimitBytes > 0 {
			r.KVLimitBytes += rapid.Int64Range(0, 1<<20).Draw(t, "moreCache")
		}
		more, err := Solve(r)
		if err != nil {
			t.Fatalf("with more memory: %v", err)
		}
		if more.PredictedDistortion > less.PredictedDistortion*(1+1e-9) &&
			more.GuardedLayers == less.GuardedLayers {
			t.Errorf("%s: with more memory %g (%s), before %g (%s)", r.Planner, more.PredictedDistortion,
				more.Choice(), less.PredictedDistortion, less.Choice())
		}
	})
}

// TestFreeLayersAreTheBest compares the planner of measured divergences with all
// combinations of what two layers can be given.
func TestFreeLayersAreTheBest(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 12 {
		r := smolRequest(1 << 40)
		r.Shape = r.Shape[:2]
		r.Shape[1].WindowTokens = 200 * random.IntN(2)
		r.Planner, r.Predict, r.ContextTokens = PlannerCalibrated, true, 1000
		r.Floor = uniform(pair(6, 6), 2)
		r.Calibration = make([]LayerCalibration, 2)
		for i := range r.Calibration {
			r.Calibration[i].Divergence = map[string]float64{
				"k6": random.Float64(), "v6": random.Float64()}
		}
		r.LimitBytes = 0
		base := mustLearn(t, r)
		least, most := base.plan(1000, r.Floor), base.plan(1000, uniform(pair(16, 16), 2))
		r.LimitBytes = least.TotalBytes + random.Int64N(most.TotalBytes-least.TotalBytes)
		p := solve(t, r)
		if best := bestOfAll(mustLearn(t, r)); p.PredictedDistortion > best.PredictedDistortion*(1+1e-6) {
			t.Errorf("limit %d: %s has %g; %s has %g", r.LimitBytes, p.Choice(), p.PredictedDistortion,
				best.Choice(), best.PredictedDistortion)
		}
	}
}

func mustLearn(t *testing.T, r Request) *solver {
	t.Helper()
	s, err := newSolver(r)
	if err == nil {
		err = s.learn()
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bestOfAll tries all that the menu has for two layers.
func bestOfAll(s *solver) (best Plan) {
	c := &chooser{solver: s, contextTokens: s.ContextTokens, floor: s.Floor}
	options := c.options(func(kernels.KVFormat) bool { return true })
	best.PredictedDistortion = math.Inf(1)
	for a := range options[0] {
		for b := range options[1] {
			for d := range options[2] {
				for e := range options[3] {
					p := s.plan(s.ContextTokens, formatsOf(options, []int{a, b, d, e}))
					if s.fits(p) && p.PredictedDistortion < best.PredictedDistortion {
						best = p
					}
				}
			}
		}
	}
	return best
}

func TestEnergyMovesBitsToTheSideThatNeedsThem(t *testing.T) {
	plan := func(energy float64) Plan {
		r := smolRequest(148 << 20)
		r.ContextTokens, r.Floor = 4096, formats(t, "k2v2")
		r.Facts = func(norms bool) ([]LayerFacts, error) {
			if norms {
				t.Error("energy asks for spectral norms")
			}
			facts := make([]LayerFacts, 30)
			for i := range facts {
				facts[i].LogitEnergy = energy
			}
			return facts, nil
		}
		return solve(t, r)
	}
	weak, strong := plan(2.5), plan(640)
	if weak.Planner != PlannerEnergy || !strings.Contains(strong.Basis, "S·ρ = 256.0") ||
		!strings.Contains(strong.Basis, "keys deserve 4.0 bits more") {
		t.Errorf("plan by %q: %s", strong.Planner, strong.Basis)
	}
	w, s := weak.Formats()[0], strong.Formats()[0]
	if w.K.Bits-w.V.Bits > 0 || s.K.Bits-s.V.Bits < 3 {
		t.Errorf("S·ρ = 1 has %s, S·ρ = 256 has %s", weak.Choice(), strong.Choice())
	}
	for i, f := range strong.Formats() {
		if f != s {
			t.Errorf("layer %d has %s, layer 0 %s: one pair is for all", i, f, s)
		}
	}
}

func TestGuardsRaiseKeys(t *testing.T) {
	r := smolRequest(142 << 20)
	r.ContextTokens = 2048
	r.Facts = func(bool) ([]LayerFacts, error) {
		facts := make([]LayerFacts, 30)
		for i := range facts {
			facts[i] = LayerFacts{LogitEnergy: 16, KGain: Norms{Frobenius: 10}}
		}
		facts[0].KBias2 = 401 // more than 4·10²
		facts[27].KNormSpread = 9
		facts[5].KBias2, facts[6].KNormSpread = 399, 7
		return facts, nil
	}
	p := solve(t, r)
	f := p.Formats()
	if f[0].K.Bits != 8 || f[27].K.Bits != max(6, f[1].K.Bits) || f[5] != f[1] || f[6] != f[1] {
		t.Errorf("plan %s; want 8 key bits in layer 0, 6 in layer 27", p.Choice())
	}
	if f[1].K.Bits < 8 && p.GuardedLayers != 2 {
		t.Errorf("plan %s has %d guarded layers; want 2", p.Choice(), p.GuardedLayers)
	}
	// Where there is no room for them, guards yield to the floor.
	floor := smolRequest(1 << 40)
	floor.KV, floor.ContextTokens = formats(t, "k4v3"), 2048
	r.LimitBytes = solve(t, floor).TotalBytes
	if p := solve(t, r); p.Choice().String() != "k4v3" || p.GuardedLayers != 0 {
		t.Errorf("with no room for guards: %s, %d guarded; want the floor", p.Choice(), p.GuardedLayers)
	}
}

// TestGreedyFollowsThePaper recomputes the rule: the largest gain of ‖W‖_F²·4^−b gets
// the next bit.
func TestGreedyFollowsThePaper(t *testing.T) {
	r := smolRequest(1 << 40)
	r.Shape = r.Shape[:2]
	r.ContextTokens, r.Planner, r.Floor, r.Predict = 1024, PlannerNormGreedy, uniform(pair(2, 2), 2), true
	k, v := [2]float64{40, 10}, [2]float64{20, 5}
	r.Facts = func(bool) ([]LayerFacts, error) {
		return []LayerFacts{{K: Norms{Frobenius: k[0]}, V: Norms{Frobenius: v[0]}},
			{K: Norms{Frobenius: k[1]}, V: Norms{Frobenius: v[1]}}}, nil
	}
	given := r
	given.KV = mustParse(t, "0:k5v4,1:k3v2", 2)
	r.LimitBytes = solve(t, given).TotalBytes
	// From 2 bits each, 6 bits go where c·4^−b is largest: c = 1600, 400, 100, 25.
	if p := solve(t, r); p.Choice().String() != "0:k5v4,1:k3v2" {
		t.Errorf("greedy plan %s; want 0:k5v4,1:k3v2", p.Choice())
	}
}

func TestPlannersAskForWhatTheyNeed(t *testing.T) {
	broken := errors.New("the tensor is damaged")
	for _, c := range []struct {
		name   string
		change func(r *Request)
		want   string
	}{
		{"no facts", func(r *Request) { r.Planner = PlannerNorm }, `the planner "norm" needs facts`},
		{"facts fail", func(r *Request) {
			r.Facts = func(bool) ([]LayerFacts, error) { return nil, broken }
		}, "the tensor is damaged"},
		{"facts of other layers", func(r *Request) {
			r.Facts = func(bool) ([]LayerFacts, error) { return make([]LayerFacts, 3), nil }
		}, "facts of 3 layers, the model has 30"},
		{"no calibration", func(r *Request) { r.Planner = PlannerCalibrated },
			`"edgeinfer calibrate" makes one`},
		{"empty calibration", func(r *Request) { r.Calibration = make([]LayerCalibration, 30) },
			"without statistics and without divergences"},
		{"half a calibration", func(r *Request) {
			r.Calibration = make([]LayerCalibration, 30)
			for i := range r.Calibration {
				r.Calibration[i].Divergence = map[string]float64{"k4": 1}
			}
		}, "layer 0 has no divergence of keys, or none of values"},
		{"a calibration of nonsense", func(r *Request) {
			r.Calibration = make([]LayerCalibration, 30)
			for i := range r.Calibration {
				r.Calibration[i].Divergence = map[string]float64{"k4": 1, "x": 2}
			}
		}, `"x" is no format of keys or values`},
		{"a negative divergence", func(r *Request) {
			r.Calibration = make([]LayerCalibration, 30)
			for i := range r.Calibration {
				r.Calibration[i].Divergence = map[string]float64{"k4": 1, "v4": -2}
			}
		}, `"v4" has a divergence of -2`},
	} {
		r := smolRequest(150 << 20)
		c.change(&r)
		if _, err := Solve(r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Solve = %v; want %q", c.name, err, c.want)
		}
	}
	// None of it is needed where 16-bit rows fit, or formats are given.
	r := smolRequest(1 << 40)
	r.Facts = func(bool) ([]LayerFacts, error) { t.Error("facts are asked for"); return nil, broken }
	if p := solve(t, r); p.Planner != PlannerEnergy || p.Choice().String() != "f16" {
		t.Errorf("ample plan %s by %q", p.Choice(), p.Planner)
	}
	r.KV, r.LimitBytes = formats(t, "k4v4"), 200<<20
	solve(t, r)
}

func TestStatisticsChooseOnePair(t *testing.T) {
	r := smolRequest(148 << 20)
	r.ContextTokens, r.Floor = 4096, formats(t, "k2v2")
	r.Calibration = make([]LayerCalibration, 30)
	for i := range r.Calibration {
		r.Calibration[i].Statistics = &LayerStatistics{LogitEnergy: 40, Rho: 0.4}
	}
	r.Calibration[9].Statistics.KeyOutliers = 20
	p := solve(t, r)
	f := p.Formats()
	if p.Planner != PlannerCalibrated || f[9].K.Bits < 6 || f[0] != f[29] ||
		f[0].K.Bits-f[0].V.Bits < 2 || !strings.Contains(p.Basis, "S·ρ = 16.0") {
		t.Errorf("plan %s by %q: %s", p.Choice(), p.Planner, p.Basis)
	}
}

func TestUnmeasuredFormatsFollowTheNearest(t *testing.T) {
	divergences := map[string]float64{"k3": 0.03, "k4": 0.01, "k4/chan-c": 0.008, "v2": 5}
	k := func(text string) kernels.KVFormat {
		_, f, err := ParseSide(text)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if got := measuredError(divergences, 0, k("k4/chan-c")); got != 0.008 {
		t.Errorf("a measured format has %g", got)
	}
	for _, c := range []struct{ text, nearest string }{{"k5", "k4"}, {"k2", "k3"},
		{"k3/chan-c", "k4/chan-c"}, {"k4/g=32", "k4"}} {
		want := divergences[c.nearest] * relativeError(k(c.text), 0) / relativeError(k(c.nearest), 0)
		if got := measuredError(divergences, 0, k(c.text)); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("%s has %g; want %g, by %s", c.text, got, want, c.nearest)
		}
	}
	if got := measuredError(divergences, 0, kernels.CacheF16); got <= 0 || got > 1e-6 {
		t.Errorf("f16 has %g", got)
	}
	if got := measuredError(divergences, 0, kernels.CacheF32); got != 0 {
		t.Errorf("f32 has %g", got)
	}
}

func TestSideTexts(t *testing.T) {
	for side := range 2 {
		for _, f := range menu(side, kernels.KVFormat{Bits: 1}, 1, nil) {
			text := SideText(side, f)
			gotSide, got, err := ParseSide(text)
			if err != nil || got != f || gotSide != side {
				t.Errorf("ParseSide(%q) = %d, %+v, %v; want %d, %+v", text, gotSide, got, err, side, f)
			}
		}
	}
	for _, text := range []string{"", "k", "4", "k4v4", "q4", "k9", "v4/chan-c", "k4/window=1", "v4/k.g=16"} {
		if side, f, err := ParseSide(text); err == nil {
			t.Errorf("ParseSide(%q) = %d, %+v; want an error", text, side, f)
		}
	}
}
