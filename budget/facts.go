package budget

// Facts: what the planner knows of a model beyond its shape, from the weights
// (LayerFacts) and from a calibration run (LayerCalibration). Both are measured
// elsewhere and come in as plain numbers.

// Norms are those of one matrix.
type Norms struct {
	Frobenius float64 // √Σ w²
	Spectral  float64 // the largest singular value; 0: not computed
}

// LayerFacts are what the weights say of the attention of one layer. γ is the gain
// of the norm before the projections, ones where there is none.
type LayerFacts struct {
	K, V         Norms // of W_K and W_V, the rows of all KV heads
	KGain, VGain Norms // of W_K·diag(γ) and W_V·diag(γ)

	KBias2, VBias2 float64 // ‖b_K‖² and ‖b_V‖², 0 without biases
	// KNormSpread is the largest |γ_k| of the norm of key heads over their median; 0
	// without such a norm.
	KNormSpread float64

	// LogitEnergy is S = E‖q‖²·E‖k‖²·scale², the mean square logit of unrelated
	// queries and keys, as the weights predict it: the mean of the KV heads.
	LogitEnergy float64
	ValueEnergy float64 // E‖v‖², the mean of the KV heads

	Heads []HeadFacts // of each KV head
}

// HeadFacts are the same of one KV head; a query head's part is the mean over the
// query heads that read it.
type HeadFacts struct {
	K, V, KGain, VGain       Norms
	KBias2, VBias2           float64
	LogitEnergy, ValueEnergy float64
}

// Levels of a calibration.
const (
	CalibrationStatistics = "statistics"
	CalibrationEndToEnd   = "end-to-end"
)

// LayerCalibration is what a calibration run measured of one layer.
type LayerCalibration struct {
	Statistics *LayerStatistics // nil: not measured
	// Divergence is what the model's answers lose, in nats a token, when one side of
	// this layer alone is coded, by the side as a plan's text has it: "k3", "v2",
	// "k4/chan-c". Empty: not measured end to end.
	Divergence map[string]float64
}

// LayerStatistics are means over tokens and heads of one text; the first positions
// are left out, their keys are unlike all others.
type LayerStatistics struct {
	LogitEnergy float64 // S = E‖q‖²·E‖k − μ‖²·scale², with centred keys
	// Rho is E[Σa²‖v−o‖²] / E[Σa²‖v‖²]: the share of the attended values that a key's
	// error can move.
	Rho             float64
	ValueEnergy     float64 // E‖v‖²
	EffectiveTokens float64 // the mean of 1/Σa²
	KeyOutliers     float64 // largest channel rms of centred keys over the median one
}
