package budget

// κ(format): the relative square error E‖x − x̂‖²/E‖x‖² that a cache format
// leaves of unit Gaussians, which is what rotated rows look like. The table is
// measured with the formats themselves; a test measures it again and fails when
// an entry is off by more than 2 %.
//
// Rows that are not rotated are further from Gaussian: their error is larger by
// a shape factor, 2 for keys and 1.2 for values where nothing is known of the
// model (notes on quantization, §1.2).

import (
	"edgeinfer/kernels"
)

const (
	keyShape   = 2.0
	valueShape = 1.2
)

// kappaScheme is a way to choose scales and codes that has its own errors.
type kappaScheme int

const (
	kappaLevels       kappaScheme = iota // level rows, without de-biasing
	kappaMinMax                          // affine, and Quanto's fits, which span the range too
	kappaLeastSquares                    // affine, refitted
	kappaHQQ                             // affine, HQQ and Quanto's HqqOptimizer
	numKappaSchemes
)

// kappaGroups are the groups of the table.
var kappaGroups = [...]int{16, 32, 64, 128}

// kappa is [scheme][group][bits−1].
var kappa = [numKappaSchemes][len(kappaGroups)][8]float64{
	kappaLevels: {
		{0.341, 0.0963, 0.025, 0.00687, 0.0013, 0.000325, 8.11e-05, 2.03e-05},
		{0.352, 0.107, 0.0287, 0.00772, 0.00173, 0.000432, 0.000108, 2.7e-05},
		{0.358, 0.112, 0.0314, 0.00845, 0.00215, 0.000542, 0.000135, 3.39e-05},
		{0.361, 0.115, 0.033, 0.00893, 0.00259, 0.000649, 0.000162, 4.07e-05},
	},
	kappaMinMax: {
		{1.27, 0.107, 0.0194, 0.00424, 0.000988, 0.00024, 5.89e-05, 1.47e-05},
		{1.96, 0.154, 0.028, 0.0061, 0.00143, 0.000346, 8.5e-05, 2.12e-05},
		{2.74, 0.203, 0.037, 0.00805, 0.00189, 0.000456, 0.000113, 2.79e-05},
		{3.58, 0.251, 0.046, 0.01, 0.00233, 0.000566, 0.000139, 3.47e-05},
	},
	kappaLeastSquares: {
		{0.29, 0.0719, 0.0155, 0.00349, 0.00082, 0.0002, 4.93e-05, 1.26e-05},
		{0.328, 0.0958, 0.0229, 0.00529, 0.00126, 0.000304, 7.52e-05, 1.91e-05},
		{0.347, 0.112, 0.0302, 0.00722, 0.00173, 0.00042, 0.000104, 2.63e-05},
		{0.356, 0.12, 0.0368, 0.00915, 0.00219, 0.000536, 0.000133, 3.34e-05},
	},
	kappaHQQ: {
		{1.05, 0.0939, 0.0165, 0.00364, 0.000851, 0.000207, 5.11e-05, 1.29e-05},
		{1.57, 0.14, 0.0249, 0.00547, 0.00129, 0.00031, 7.65e-05, 1.95e-05},
		{2.19, 0.189, 0.0337, 0.00745, 0.00175, 0.000423, 0.000105, 2.63e-05},
		{2.9, 0.241, 0.0431, 0.00946, 0.0022, 0.000536, 0.000132, 3.35e-05},
	},
}

// schemeOf is the scheme of a quantized format.
func schemeOf(f kernels.KVFormat) kappaScheme {
	switch {
	case f.Kind == kernels.KVRows:
		return kappaLevels
	case f.Fit == kernels.FitsLS:
		return kappaLeastSquares
	case f.Fit == kernels.FitsHQQ || f.Fit == kernels.FitsQuantoHQQ:
		return kappaHQQ
	}
	return kappaMinMax
}

// relativeError is κ of a format for a side, 0 for keys and 1 for values. A
// channel has the 32 values of its tile for a group. De-biasing divides by the
// share 1−κ of the signal that is left, so the error becomes κ/(1−κ).
func relativeError(f kernels.KVFormat, side int) float64 {
	switch f.Kind {
	case kernels.KVF32:
		return 0
	case kernels.KVF16:
		return halfError
	}
	group := f.Group
	if group == 0 {
		group = kernels.TileTokens
	}
	at := 0
	for kappaGroups[at] < group {
		at++
	}
	e := kappa[schemeOf(f)][at][f.Bits-1]
	if f.Debias {
		e /= 1 - e
	}
	if !f.Rotate && f.ByRow() {
		e *= [2]float64{keyShape, valueShape}[side]
	}
	return e
}

// halfError is κ of IEEE halves: steps of 2⁻¹⁰ relative to the power of two
// below, ½ for the mean of (that power / value)².
const halfError = 1.0 / (1 << 20) / 12 / 2
