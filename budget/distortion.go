package budget

// Distortion models: what a cache format is predicted to cost one side of one
// layer. A plan's distortion is the sum over layers and sides, divided by the
// number of layers.
//
// Key errors act before the softmax and value errors after it; relative to the
// values' energy a layer suffers, to first order,
//
//	D = S·ρ·κ(K) + κ(V)
//
// where κ is the relative square error of the format (kappa.go), S the mean
// square logit and ρ the share of the attended values that a key's error can
// move (notes on quantization, §1.4). The models differ in what they know of S
// and in how much freedom that earns them:
//
//	uniform      nothing: S·ρ is the average measured on one model
//	energy       S from the weights, ρ = 0.4; one pair of formats for all layers
//	calibrated   S·ρ measured, one pair for all layers; or, measured end to end,
//	             the divergence itself, and every layer for itself
//	norm         the paper's rule ("More for Keys, Less for Values", arXiv
//	             2502.15075): ‖W‖²·κ, with the geometric mean of the squared
//	             Frobenius and spectral norms; every layer for itself
//	norm-greedy  the paper's code: ‖W‖_F²·4^−bits, bit by bit to the largest gain
//
// Models that know weights alone lost to one pair for all layers when they were
// free to move single layers; those that follow the paper do so nevertheless.

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"edgeinfer/kernels"
)

// Names of the planners: who chose the formats.
const (
	PlannerUniform    = "uniform"
	PlannerEnergy     = "energy"
	PlannerCalibrated = "calibrated"
	PlannerNorm       = "norm"
	PlannerNormGreedy = "norm-greedy"
	PlannerGiven      = "given" // the caller
)

// Planners lists the names a Request takes besides Auto.
var Planners = []string{PlannerUniform, PlannerNorm, PlannerNormGreedy, PlannerEnergy,
	PlannerCalibrated}

const (
	// usualKeyWeight is S·ρ where nothing is known: 16 · 0.4, the averages measured
	// on SmolLM2-135M. A key bit is worth as much as a value bit where keys have
	// ½·log2(6.4) ≈ 1.3 more.
	usualKeyWeight = 6.4
	// weightsRho is ρ where only the weights are known.
	weightsRho = 0.4
)

// Guards: key bits that one pair for all layers does not go below in layers whose
// keys are unlike Gaussians (notes on quantization, §1.4).
const (
	biasGuardRatio    = 4 // ‖b_K‖² over ‖W_K·γ‖_F²
	biasGuardBits     = 8
	outlierGuardRatio = 8 // largest channel over the median one
	outlierGuardBits  = 6
)

// distortion is a model of what formats cost.
type distortion struct {
	name  string
	basis string // what it knows, in words

	// weights are the factors of κ, [layer][side].
	weights [][2]float64
	// measured are divergences by side text, [layer]; nil: weights alone count.
	measured []map[string]float64
	// plainBits takes 4^−bits for κ.
	plainBits bool

	onePair bool  // the same formats in all layers, but for the guards
	greedy  bool  // bit by bit instead of exactly
	guards  []int // least key bits, [layer]; nil: none
}

// distortionOf builds the model that a Request names. It asks for what the model
// needs to know.
func distortionOf(r *Request) (*distortion, error) {
	name := r.Planner
	if name == "" || name == Auto {
		name = r.usual()
	}
	switch name {
	case PlannerUniform:
		return uniformDistortion(len(r.Shape)), nil
	case PlannerCalibrated:
		return calibratedDistortion(r.Calibration, len(r.Shape))
	case PlannerEnergy, PlannerNorm, PlannerNormGreedy:
	default:
		return nil, fmt.Errorf("budget: no planner %s; there are %s", quote(r.Planner),
			quotedList(Planners))
	}
	if r.Facts == nil {
		return nil, fmt.Errorf("budget: the planner %q needs facts of the model's weights", name)
	}
	facts, err := r.Facts(name == PlannerNorm)
	if err != nil {
		return nil, fmt.Errorf("budget: the planner %q: %w", name, err)
	}
	if len(facts) != len(r.Shape) {
		return nil, fmt.Errorf("budget: facts of %d layers, the model has %d with a cache",
			len(facts), len(r.Shape))
	}
	if name == PlannerEnergy {
		return energyDistortion(facts), nil
	}
	return normDistortion(name, facts), nil
}

// usual is the planner where none is named: the one that knows most.
func (r *Request) usual() string {
	switch {
	case r.Calibration != nil:
		return PlannerCalibrated
	case r.Facts != nil:
		return PlannerEnergy
	}
	return PlannerUniform
}

func uniformDistortion(layers int) *distortion {
	d := &distortion{name: PlannerUniform, onePair: true, weights: make([][2]float64, layers)}
	for i := range d.weights {
		d.weights[i] = [2]float64{usualKeyWeight, 1}
	}
	d.basis = splitBasis(usualKeyWeight, "the average of a small model")
	return d
}

// energyDistortion weighs keys by S·ρ of each layer and looks for what a pair of
// formats cannot be asked to bear.
func energyDistortion(facts []LayerFacts) *distortion {
	d := &distortion{name: PlannerEnergy, onePair: true, weights: make([][2]float64, len(facts)),
		guards: make([]int, len(facts))}
	var sum float64
	for i, f := range facts {
		weight := f.LogitEnergy * weightsRho
		sum += weight
		d.weights[i] = [2]float64{weight, 1}
		if f.KBias2 > float64(biasGuardRatio*f.KGain.Frobenius)*f.KGain.Frobenius {
			d.guards[i] = biasGuardBits
		} else if f.KNormSpread > outlierGuardRatio {
			d.guards[i] = outlierGuardBits
		}
	}
	d.basis = splitBasis(sum/float64(len(facts)), "the logit energy of the weights")
	return d
}

// calibratedDistortion takes what was measured, end to end if all of it was.
func calibratedDistortion(layers []LayerCalibration, want int) (*distortion, error) {
	if len(layers) != want {
		return nil, fmt.Errorf("budget: the planner %q needs a calibration of %d layers, there are %d; "+
			"\"edgeinfer calibrate\" makes one", PlannerCalibrated, want, len(layers))
	}
	d := &distortion{name: PlannerCalibrated, onePair: true, weights: make([][2]float64, want)}
	whole, sum := true, 0.0
	for i, l := range layers {
		whole = whole && len(l.Divergence) > 0
		if s := l.Statistics; s != nil {
			d.weights[i] = [2]float64{s.LogitEnergy * s.Rho, 1}
			sum += s.LogitEnergy * s.Rho
			d.guards = append(d.guards, 0)
			if s.KeyOutliers > outlierGuardRatio {
				d.guards[i] = outlierGuardBits
			}
		}
	}
	switch {
	case whole:
		return endToEndDistortion(layers)
	case len(d.guards) < want:
		return nil, errors.New("budget: the calibration has layers without statistics and without " +
			"divergences; make it anew with \"edgeinfer calibrate\"")
	}
	d.basis = splitBasis(sum/float64(want), "statistics of a calibration run")
	return d, nil
}

func endToEndDistortion(layers []LayerCalibration) (*distortion, error) {
	d := &distortion{name: PlannerCalibrated,
		basis: "divergences measured with one side of one layer coded at a time"}
	for i, l := range layers {
		sides := [2]bool{}
		for text, divergence := range l.Divergence {
			side, f, err := ParseSide(text)
			if err != nil {
				return nil, fmt.Errorf("budget: calibration of layer %d: %w", i, err)
			}
			if !f.Quantized() || math.IsNaN(divergence) || math.IsInf(divergence, 0) || divergence < 0 {
				return nil, fmt.Errorf("budget: calibration of layer %d: %s has a divergence of %g; it is "+
					"of coded rows, finite and not negative", i, quote(text), divergence)
			}
			sides[side] = true
		}
		if !sides[0] || !sides[1] {
			return nil, fmt.Errorf("budget: the calibration of layer %d has no divergence of keys, or "+
				"none of values", i)
		}
		d.measured = append(d.measured, l.Divergence)
	}
	return d, nil
}

// normDistortion follows the paper: a matrix of larger norm deserves more bits.
func normDistortion(name string, facts []LayerFacts) *distortion {
	d := &distortion{name: name, weights: make([][2]float64, len(facts)),
		basis: "‖W‖_F·‖W‖₂ of key and value matrices"}
	if name == PlannerNormGreedy {
		d.greedy, d.plainBits = true, true
		d.basis = "‖W‖_F² of key and value matrices, one bit at a time"
	}
	for i, f := range facts {
		for side, n := range [2]Norms{f.K, f.V} {
			d.weights[i][side] = n.Frobenius * n.Frobenius
			if !d.greedy {
				d.weights[i][side] = n.Frobenius * n.Spectral
			}
		}
	}
	return d
}

// splitBasis says what S·ρ means for one pair of formats.
func splitBasis(keyWeight float64, source string) string {
	more := math.Log2(max(keyWeight, 1)) / 2
	return fmt.Sprintf("S·ρ = %.1f, %s: keys deserve %.1f bits more than values", keyWeight, source, more)
}

// of returns what format f costs one side of a layer.
func (d *distortion) of(layer, side int, f kernels.KVFormat) float64 {
	if d.measured != nil {
		return measuredError(d.measured[layer], side, f)
	}
	if d.plainBits && f.Quantized() {
		return d.weights[layer][side] / float64(int(1)<<(2*f.Bits))
	}
	return float64(d.weights[layer][side] * relativeError(f, side))
}

// plan is the mean over the layers. The conversions keep products and sums from
// being fused, so that every machine ranks alike.
func (d *distortion) plan(formats []LayerFormats) float64 {
	var sum float64
	for i, f := range formats {
		sum += d.of(i, 0, f.K)
		sum += d.of(i, 1, f.V)
	}
	return sum / float64(len(formats))
}

// measuredError is the divergence measured with f, or that of the format whose
// error is nearest, in proportion to κ: divergence is quadratic in the error.
func measuredError(divergences map[string]float64, side int, f kernels.KVFormat) float64 {
	text := SideText(side, f)
	if value, ok := divergences[text]; ok {
		return value
	}
	wanted := relativeError(f, side)
	nearest, estimate := math.Inf(1), 0.0
	for _, other := range slices.Sorted(maps.Keys(divergences)) {
		otherSide, g, err := ParseSide(other)
		if err != nil || otherSide != side {
			continue
		}
		have := relativeError(g, side)
		apart := max(have/wanted, wanted/have)
		if g.Kind != f.Kind {
			apart *= 1 << 20 // its own kind first
		}
		if wanted == 0 || apart < nearest {
			nearest, estimate = apart, float64(divergences[other]/have)*wanted
		}
	}
	return estimate
}

// formats are those that were measured of a side.
func (d *distortion) formats(side int) []kernels.KVFormat {
	var formats []kernels.KVFormat
	for _, divergences := range d.measured[:min(1, len(d.measured))] {
		for _, text := range slices.Sorted(maps.Keys(divergences)) {
			if of, f, err := ParseSide(text); err == nil && of == side {
				formats = append(formats, f)
			}
		}
	}
	return formats
}
