package budget

// The distortion model "uniform": what a cache format is predicted to do to
// attention, knowing nothing of the model but its number of layers.
//
// Key errors act before the softmax and value errors after it; relative to the
// values' energy a layer suffers, to first order,
//
//	D = S·ρ·κ(K) + κ(V)
//
// where κ is the relative square error of the format (kappa.go), S the mean
// square logit and ρ the share of the attended values that differs from their
// mean. All layers weigh the same.

// keyWeight is S·ρ: 16 · 0.4, the averages measured on SmolLM2-135M. A key bit
// is worth as much as a value bit where keys have ½·log2(6.4) ≈ 1.3 more.
const keyWeight = 6.4

// predictedDistortion is the mean of D over the layers. The conversions keep
// products and sums from being fused, so that every machine ranks alike.
func predictedDistortion(plan []LayerFormats) float64 {
	var sum float64
	for _, f := range plan {
		sum += float64(keyWeight*relativeError(f.K, 0)) + relativeError(f.V, 1)
	}
	return sum / float64(len(plan))
}
