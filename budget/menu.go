package budget

// The menu: every format a side of a layer can be given, and which of them are
// worth a look.

import (
	"cmp"
	"slices"

	"edgeinfer/kernels"
)

// pairMenu lists what one pair for all layers is made of, not below a floor: rows in
// all groups, which are sealed by vector code, and 16-bit rows. A floor of one bit is
// for those who ask for it: it loses a third of the signal (kappa.go).
func pairMenu(side int, floor kernels.KVFormat) (formats []kernels.KVFormat) {
	for bits := 1; bits <= 8; bits++ {
		formats = append(formats, kindDefaults(kernels.KVRows, side, bits))
		for _, group := range kappaGroups {
			rows := kindDefaults(kernels.KVRows, side, bits)
			rows.Group = group
			formats = append(formats, rows)
		}
	}
	return restrict(append(formats, kernels.CacheF16, kernels.CacheF32), floor, 0)
}

// menu lists everything a side can be given where each layer chooses for itself: the
// pair's menu, affine rows fitted by least squares, keys by channel where there is a
// window, and what else was measured. All are rotated and keys centred, as their
// defaults are.
func menu(side int, floor kernels.KVFormat, windowTiles int,
	measured []kernels.KVFormat) []kernels.KVFormat {
	formats := pairMenu(side, floor)
	for bits := 1; bits <= 8; bits++ {
		for _, group := range kappaGroups {
			affine := kernels.AffineRows(bits, group)
			affine.Fit, affine.Rotate, affine.Centre = kernels.FitsLS, true, side == 0
			formats = append(formats, affine)
		}
		if side == 0 {
			formats = append(formats, kernels.KeyChannels(bits), kernels.CompactChannels(bits))
		}
	}
	return restrict(append(formats, measured...), floor, windowTiles)
}

// restrict leaves out what is below the floor, needs a window that is not there, or
// comes again. Float rows of 32 bits are for those whose floor they are.
func restrict(formats []kernels.KVFormat, floor kernels.KVFormat, windowTiles int) []kernels.KVFormat {
	var kept []kernels.KVFormat
	for _, f := range formats {
		fits := f.Bits >= floor.Bits && (f.ByRow() || windowTiles >= 0) &&
			(f != kernels.CacheF32 || floor == kernels.CacheF32)
		if fits && !slices.Contains(kept, f) {
			kept = append(kept, f)
		}
	}
	return kept
}

// option is a format with what it takes and what it is predicted to cost.
type option struct {
	format     kernels.KVFormat
	bytes      int64
	distortion float64
}

// pareto keeps of the options those that cost least for their bytes, in rising order
// of bytes; of equals the first.
func pareto(options []option) []option {
	slices.SortStableFunc(options, func(a, b option) int {
		return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.distortion, b.distortion))
	})
	kept := options[:0]
	for _, o := range options {
		if len(kept) == 0 || o.distortion < kept[len(kept)-1].distortion {
			kept = append(kept, o)
		}
	}
	return kept
}
