package budget

import (
	"slices"
	"testing"

	"edgeinfer/kernels"
)

// BenchmarkSolve plans a model of 80 layers: one pair for all, then every side of every
// layer for itself.
func BenchmarkSolve(b *testing.B) {
	for _, planner := range []string{PlannerEnergy, PlannerNorm, PlannerNormGreedy} {
		b.Run(planner, func(b *testing.B) {
			r := smolRequest(4 << 30)
			r.Shape = slices.Repeat([]kernels.KVLayer{{QueryHeads: 64, KVHeads: 8, HeadDim: 128}}, 80)
			r.ContextTokens, r.Planner, r.Facts = 32768, planner, variedFacts(80)
			for b.Loop() {
				if _, err := Solve(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// variedFacts are facts of layers that differ.
func variedFacts(layers int) func(bool) ([]LayerFacts, error) {
	facts := make([]LayerFacts, layers)
	for i := range facts {
		k, v := 20+float64(7*i%13), 15+float64(5*i%11)
		facts[i] = LayerFacts{K: Norms{k, k / 4}, V: Norms{v, v / 5},
			KGain: Norms{k, k / 4}, VGain: Norms{v, v / 5},
			LogitEnergy: 4 + float64(3*i%17), ValueEnergy: v * v}
	}
	return func(bool) ([]LayerFacts, error) { return facts, nil }
}
