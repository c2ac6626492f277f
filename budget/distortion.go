package budget

// The distortion model "uniform": what a cache format is predicted to do to
// attention, knowing nothing of the model but its number of layers.
//
// Key errors act before the softmax and value errors after it; relative to the
// values' energy a layer suffers, to first order,
//
//	D = S·ρ·κ(K) + κ(V)
//
// where κ is the relative square error of the format, S the mean square logit
// and ρ the share of the attended values that differs from their mean. A
// uniform quantizer of b bits over groups of g Gaussian values has
//
//	κ(b,g) = c(g)² / (12·(2ᵇ−1)²)
//
// with c the expected range in standard deviations. All layers weigh the same.

import (
	"math"

	"edgeinfer/kernels"
)

const (
	// keyWeight is S·ρ: 16 · 0.4, the averages measured on SmolLM2-135M. A key
	// bit is worth as much as a value bit where keys have ½·log2(6.4) ≈ 1.3 more.
	keyWeight = 6.4
	// halfError is κ of IEEE halves: steps of 2⁻¹⁰ relative to the power of two
	// below, ½ for the mean of (that power / value)².
	halfError = 1.0 / (1 << 20) / 12 / 2
)

// rangeOf is c(g), in standard deviations, for the groups affine rows can have.
func rangeOf(group int) float64 {
	switch {
	case group <= 16:
		return 3.61
	case group <= 32:
		return 4.20
	case group <= 64:
		return 4.74
	}
	return 5.22
}

// relativeError is κ of a format.
func relativeError(f kernels.KVFormat) float64 {
	switch f.Kind {
	case kernels.KVF32:
		return 0
	case kernels.KVF16:
		return halfError
	}
	steps := math.Exp2(float64(f.Bits)) - 1
	spread := rangeOf(f.Group) / steps
	return spread * spread / 12
}

// predictedDistortion is the mean of D over the layers. The conversions keep
// products and sums from being fused, so that every machine ranks alike.
func predictedDistortion(plan []LayerFormats) float64 {
	var sum float64
	for _, f := range plan {
		sum += float64(keyWeight*relativeError(f.K)) + relativeError(f.V)
	}
	return sum / float64(len(plan))
}
