//go:build !noasm

package arm64

// What attention does with a tile: lengths are checked here (operands that are
// too short panic), and runs of rows are cut so that one assembly call stays
// short. No result depends on the cuts.

import (
	"fmt"
	"math"
)

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

// DotRowsNEON equals kernels.DotRows within the bound of kernels.Set.
func DotRowsNEON(scores, x []float32, stride, rows int, q []float32) {
	if rows == 0 {
		return
	}
	if len(q) == 0 {
		clear(scores[:rows])
		return
	}
	scores, x = scores[:rows], x[:(rows-1)*stride+len(q)]
	for r := 0; r < rows; {
		n := callRows(rows-r, 4*len(q))
		dotRowsNEON(&scores[r], &x[r*stride], 4*stride, n, &q[0], len(q))
		r += n
	}
}

// AxpyRowsNEON equals kernels.AxpyRows within the bound of kernels.Set.
func AxpyRowsNEON(out, w, x []float32, stride, rows int) {
	if rows == 0 || len(out) == 0 {
		return
	}
	w, x = w[:rows], x[:(rows-1)*stride+len(out)]
	for r := 0; r < rows; {
		n := callRows(rows-r, 4*len(out))
		for c := 0; c < len(out); {
			to, weights, from := &out[c], &w[r], &x[r*stride+c]
			switch left := len(out) - c; {
			case left >= 64:
				axpyRows64NEON(to, weights, from, 4*stride, n)
				c += 64
			case left >= 16:
				axpyRows16NEON(to, weights, from, 4*stride, n)
				c += 16
			case left >= 4:
				axpyRows4NEON(to, weights, from, 4*stride, n)
				c += 4
			default:
				axpyRows1NEON(to, weights, from, 4*stride, n)
				c++
			}
		}
		r += n
	}
}

// ExpSumNEON equals kernels.ExpSum exactly.
func ExpSumNEON(x []float32, largest float32) float32 {
	var s [8]float32
	for len(x) >= len(s) {
		n := min(len(x), pieceValues) &^ 7
		expSumNEON(&x[0], n, largest, &s[0])
		x = x[n:]
	}
	if len(x) > 0 {
		var last, unused [8]float32
		copy(last[:], x)
		expSumNEON(&last[0], len(last), largest, &unused[0])
		copy(x, last[:])
		for i, e := range x {
			s[i] += e
		}
	}
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

// MaxNEON equals kernels.Max.
func MaxNEON(x []float32) float32 {
	largest := float32(math.Inf(-1))
	for len(x) > 0 {
		n := min(len(x), pieceValues)
		largest = max(largest, maxNEON(&x[0], n))
		x = x[n:]
	}
	return largest
}

// QuantizeQueryNEON equals kernels.QuantizeQuery exactly, for finite q.
func QuantizeQueryNEON(dst []int8, scale, sum, q []float32, group int) {
	if len(q) == 0 {
		return
	}
	groups, group := rowGroups(len(q), group)
	dst, scale, sum = dst[:len(q)], scale[:groups], sum[:groups]
	quantizeQueryNEON(&dst[0], &scale[0], &sum[0], &q[0], len(q), group)
}

// WalshNEON equals kernels.Walsh exactly; n ≥ 16.
func WalshNEON(x []float32, n int) {
	if n < 16 || n&(n-1) != 0 || len(x)&(n-1) != 0 {
		panic(fmt.Sprintf("arm64: BUG: %d values in blocks of %d; blocks must be a power of "+
			"two from 16 on, and whole", len(x), n))
	}
	scale := float32(1 / math.Sqrt(float64(n)))
	for step := max(n, pieceValues/n*n); len(x) > 0; {
		count := min(step, len(x))
		walshNEON(&x[0], count, n, scale)
		x = x[count:]
	}
}
