//go:build !noasm

package arm64

// What attention does with a tile: lengths are checked here (operands that are
// too short panic), and runs of rows are cut so that one assembly call stays
// short. No result depends on the cuts.

// callRows is how many of rows rows of rowBytes bytes the next call works on: all
// of them or, where that takes long, a multiple of eight.
func callRows(rows, rowBytes int) int {
	if rows*rowBytes <= sliceBytes {
		return rows
	}
	return min(rows, max(8, sliceBytes/rowBytes&^7))
}

// rowGroups returns the groups of a row and the length of all but the last. The
// assembly takes channels sixteen by sixteen.
func rowGroups(padded, group int) (groups, channels int) {
	mustBeSixteens(padded | group)
	if group >= padded {
		return 1, padded
	}
	return (padded + group - 1) / group, group
}

// mustBeSixteens panics unless n is positive and a multiple of 16.
func mustBeSixteens(n int) {
	if n&15 != 0 || n <= 0 {
		panic("arm64: BUG: the channels of a row and of a group must be multiples of 16")
	}
}

// UnpackFunc is the type of kernels.Set.Unpack[bits].
type UnpackFunc = func(dst []int8, payload []byte, rowBytes, padded, rows int, table []int8)

// unpackers are the assembly by width.
var unpackers = [9]func(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8){
	1: unpack1NEON, 2: unpack2NEON, 3: unpack3NEON, 4: unpack4NEON,
	5: unpack5NEON, 6: unpack6NEON, 7: unpack7NEON, 8: unpack8NEON,
}

// UnpackNEON returns the function of one width that equals kernels.UnpackInt8
// exactly.
func UnpackNEON(bits int) UnpackFunc {
	onePlane, unpack := bits&(bits-1) == 0, unpackers[bits]
	return func(dst []int8, payload []byte, rowBytes, padded, rows int, table []int8) {
		if rows == 0 {
			return
		}
		mustBeSixteens(padded)
		size := padded * bits / 8
		dst, payload = dst[:rows*padded], payload[:(rows-1)*rowBytes+size]
		var levels *int8
		if bits <= 4 {
			levels = &table[:16][0]
		}
		endToEnd := onePlane && padded&31 == 0 && rowBytes == size
		for {
			n := callRows(rows, padded)
			if endToEnd { // rows of whole units in one plane are one long row
				unpack(&dst[0], &payload[0], 0, n*padded, 1, levels)
			} else {
				unpack(&dst[0], &payload[0], rowBytes, padded, n, levels)
			}
			if rows -= n; rows == 0 {
				return
			}
			dst, payload = dst[n*padded:], payload[n*rowBytes:]
		}
	}
}

// ScoreFunc is the type of kernels.Set.Score.
type ScoreFunc = func(scores []float32, codes []int8, padded, rows int,
	q []int8, qScale, qSum, scales, minima []float32, group int)

// Score returns the function that equals kernels.Score exactly, on base ASIMD or,
// with dot, on SDOT.
func Score(dot bool) ScoreFunc {
	score := scoreNEON
	if dot {
		score = scoreDot
	}
	return func(scores []float32, codes []int8, padded, rows int,
		q []int8, qScale, qSum, scales, minima []float32, group int) {
		if rows == 0 {
			return
		}
		groups, group := rowGroups(padded, group)
		scores, codes, scales = scores[:rows], codes[:rows*padded], scales[:rows*groups]
		query, scale := &q[:padded][0], &qScale[:groups][0]
		var low, sum *float32
		if minima != nil {
			minima, sum = minima[:rows*groups], &qSum[:groups][0]
		}
		for r := 0; r < rows; {
			n := callRows(rows-r, padded)
			if minima != nil {
				low = &minima[r*groups]
			}
			score(&scores[r], &codes[r*padded], padded, n, query,
				scale, sum, &scales[r*groups], low, 4*groups, group)
			r += n
		}
	}
}

// MixNEON equals kernels.Mix within the bound of kernels.Set.
func MixNEON(out []float32, codes []int8, padded, rows int, w []float32, group int) {
	if rows == 0 {
		return
	}
	groups, group := rowGroups(padded, group)
	out, codes, w = out[:padded], codes[:rows*padded], w[:rows*groups]
	for r := 0; r < rows; {
		n := callRows(rows-r, padded)
		c, g, left := 0, 0, group // left: channels of group g from c on
		for c < padded {
			to, from, weights := &out[c], &codes[r*padded+c], &w[r*groups+g]
			panel := 16
			switch {
			case c+64 <= padded && left >= 64:
				panel = 64
				mix64NEON(to, from, padded, n, weights, 4*groups, 0)
			case c+64 <= padded && left == 32 && group >= 32:
				panel = 64
				mix64NEON(to, from, padded, n, weights, 4*groups, 4)
			default:
				mix16NEON(to, from, padded, n, weights, 4*groups)
			}
			for left -= panel; left <= 0; left += group {
				g++
			}
			c += panel
		}
		r += n
	}
}
