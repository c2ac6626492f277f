package budget

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"edgeinfer/kernels"
)

// kappaFormats are formats that show each scheme.
func kappaFormats(bits, group int) [numKappaSchemes]kernels.KVFormat {
	levels, affine := kernels.KeyRows(bits, group), kernels.AffineRows(bits, group)
	leastSquares, hqq := affine, affine
	leastSquares.Fit, hqq.Fit = kernels.FitsLS, kernels.FitsHQQ
	return [...]kernels.KVFormat{levels, affine, leastSquares, hqq}
}

// measureKappa codes tiles of seeded Gaussians of 128 channels.
func measureKappa(f kernels.KVFormat, tiles int) float64 {
	const d = 128
	random := rand.New(rand.NewPCG(20, 26))
	x, got := make([]float32, kernels.TileTokens*d), make([]float32, kernels.TileTokens*d)
	tile := make([]byte, f.Tile(d).Bytes())
	var noise, energy float64
	for range tiles {
		for i := range x {
			x[i] = float32(random.NormFloat64())
		}
		f.PackTile(tile, nil, x, d)
		f.UnpackRows(got, tile, nil, d, kernels.TileTokens)
		for i := range x {
			noise += (float64(x[i]) - float64(got[i])) * (float64(x[i]) - float64(got[i]))
			energy += float64(x[i]) * float64(x[i])
		}
	}
	return noise / energy
}

func TestKappaTableIsWhatTheFormatsDo(t *testing.T) {
	tiles := 40
	if testing.Short() {
		tiles = 8
	}
	var table strings.Builder
	for scheme := range numKappaSchemes {
		for g, group := range kappaGroups {
			for bits := 1; bits <= 8; bits++ {
				got := measureKappa(kappaFormats(bits, group)[scheme], tiles)
				fmt.Fprintf(&table, "%.3g, ", got)
				want := kappa[scheme][g][bits-1]
				limit := 0.02
				if testing.Short() {
					limit = 0.06
				}
				if math.Abs(got-want) > limit*want {
					t.Errorf("scheme %d, %d bits, groups of %d: measured %.4g; the table has %.4g",
						scheme, bits, group, got, want)
				}
			}
			table.WriteString("\n")
		}
	}
	if t.Failed() {
		t.Logf("measured:\n%s", table.String())
	}
}

// A de-biased scale leaves κ/(1−κ), and one scale a channel of a tile is a group
// of 32.
func TestKappaOfOtherFormats(t *testing.T) {
	for _, f := range []kernels.KVFormat{kernels.ValueRows(2, 64), kernels.ValueRows(3, 64),
		kernels.ValueRows(4, 128), kernels.ValueRows(6, 64), kernels.KeyChannels(3),
		kernels.KeyChannels(4)} {
		got, want := measureKappa(f, 20), relativeError(f, 1)
		if math.Abs(got-want) > 0.04*want {
			t.Errorf("%v: measured %.4g; predicted %.4g", f, got, want)
		}
	}
}

func TestRowsThatAreNotRotatedArePredictedWorse(t *testing.T) {
	rotated, plain := kernels.KeyRows(4, 64), kernels.KeyRows(4, 64)
	plain.Rotate = false
	if got := relativeError(plain, 0) / relativeError(rotated, 0); got != keyShape {
		t.Errorf("unrotated keys: %v times the error; want %v", got, keyShape)
	}
	if got := relativeError(plain, 1) / relativeError(rotated, 1); got != valueShape {
		t.Errorf("unrotated values: %v times the error; want %v", got, valueShape)
	}
}
