package budget

import (
	"math"
	"testing"

	"edgeinfer/kernels"
)

func TestHalfErrorIsThatOfRoundingToHalves(t *testing.T) {
	var sum, energy float64
	for i := range 100_000 {
		// A spread of mantissas over many powers of two, without a pattern that
		// meets the grid.
		x := float32(math.Exp2(4 * math.Sin(float64(i))))
		half := kernels.F16ToF32(kernels.F32ToF16(x))
		sum += float64(half-x) * float64(half-x) / float64(x) / float64(x)
		energy++
	}
	if got, want := sum/energy, halfError; got < want/1.5 || got > want*1.5 {
		t.Errorf("mean relative square error of halves = %.3g; halfError %.3g", got, want)
	}
}

// predictedDistortion is what the model that knows nothing predicts.
func predictedDistortion(formats []LayerFormats) float64 {
	return uniformDistortion(len(formats)).plan(formats)
}

func TestDistortionRanksFormats(t *testing.T) {
	// Each entry is predicted to be worse than the next.
	order := []string{"k2v2", "k3v2", "k3v3", "k4v3", "k5v4", "k6v6", "k8v8", "k16v8", "f16", "f32"}
	last := math.Inf(1)
	for _, text := range order {
		choice, err := ParsePlan(text, 2)
		if err != nil {
			t.Fatal(err)
		}
		got := predictedDistortion(choice.Layers)
		if got >= last || got < 0 {
			t.Errorf("predictedDistortion(%s) = %g; want less than %g", text, got, last)
		}
		last = got
	}
	for _, c := range [][2]string{{"k4v2", "k2v4"}, {"k4v3", "k3v4"}, {"k8v4", "k4v8"}} {
		good, _ := ParsePlan(c[0], 1)
		bad, _ := ParsePlan(c[1], 1)
		if predictedDistortion(good.Layers) >= predictedDistortion(bad.Layers) {
			t.Errorf("%s is predicted to be no better than %s", c[0], c[1])
		}
	}
	mixed, _ := ParsePlan("0:k8v8,1:k4v3", 2)
	eights, _ := ParsePlan("k8v8", 2)
	fours, _ := ParsePlan("k4v3", 2)
	want := (predictedDistortion(eights.Layers) + predictedDistortion(fours.Layers)) / 2
	if got := predictedDistortion(mixed.Layers); math.Abs(got-want) > 1e-12 {
		t.Errorf("mean over layers = %g; want %g", got, want)
	}
}
