//go:build !noasm

package amd64

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
	if rows*rowBytes <= callBytes {
		return rows
	}
	return min(rows, max(8, callBytes/rowBytes&^7))
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
		panic("amd64: BUG: the channels of a row and of a group must be multiples of 16")
	}
}

// UnpackFunc is the type of kernels.Set.Unpack[bits].
type UnpackFunc = func(dst []int8, payload []byte, rowBytes, padded, rows int, table []int8)

// UnpackAVX2 returns the function of one width that equals kernels.UnpackInt8
// exactly.
func UnpackAVX2(bits int) UnpackFunc {
	onePlane := bits&(bits-1) == 0
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
				unpackAVX2(bits, &dst[0], &payload[0], 0, n*padded, 1, levels)
			} else {
				unpackAVX2(bits, &dst[0], &payload[0], rowBytes, padded, n, levels)
			}
			if rows -= n; rows == 0 {
				return
			}
			dst, payload = dst[n*padded:], payload[n*rowBytes:]
		}
	}
}

func unpackAVX2(bits int, dst *int8, payload *byte, rowBytes, padded, rows int, table *int8) {
	switch bits {
	case 1:
		unpack1AVX2(dst, payload, rowBytes, padded, rows, table)
	case 2:
		unpack2AVX2(dst, payload, rowBytes, padded, rows, table)
	case 3:
		unpack3AVX2(dst, payload, rowBytes, padded, rows, table)
	case 4:
		unpack4AVX2(dst, payload, rowBytes, padded, rows, table)
	case 5:
		unpack5AVX2(dst, payload, rowBytes, padded, rows)
	case 6:
		unpack6AVX2(dst, payload, rowBytes, padded, rows)
	case 7:
		unpack7AVX2(dst, payload, rowBytes, padded, rows)
	case 8:
		unpack8AVX2(dst, payload, rowBytes, padded, rows)
	}
}

// ScoreFunc is the type of kernels.Set.Score.
type ScoreFunc = func(scores []float32, codes []int8, padded, rows int,
	q []int8, qScale, qSum, scales, minima []float32, group int)

// Score returns the function that equals kernels.Score exactly, on AVX2 or, with
// vnni, on AVX-512 VL and VNNI.
func Score(vnni bool) ScoreFunc {
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
			low, sum = &minima[:rows*groups][0], &qSum[:groups][0]
		}
		r, tail := 0, rows&7
		for r < rows-tail {
			n := callRows(rows-tail-r, padded)
			if vnni {
				scoreVNNI(&scores[r], &codes[r*padded], padded, padded, n/8, query,
					scale, sum, &scales[r*groups], low, 4*groups, group)
			} else {
				scoreAVX2(&scores[r], &codes[r*padded], padded, padded, n/8, query,
					scale, sum, &scales[r*groups], low, 4*groups, group)
			}
			if r += n; low != nil && r < rows {
				low = &minima[r*groups]
			}
		}
		if tail > 0 {
			scoreTail(vnni, scores, tail, codes, padded, query, scale, sum, scales, minima, group)
		}
	}
}

// scoreTail adds the last tail < 8 of all scores: in a block that begins with rows
// that are done or, if there are not as many, row by row.
func scoreTail(vnni bool, scores []float32, tail int, codes []int8, padded int, q *int8,
	qScale, qSum *float32, scales, minima []float32, group int) {
	var lanes [8]float32
	rows, groups := len(scores), len(scales)/len(scores)
	first, step, stride, scaleStride := rows-8, 8, padded, 4*groups
	if rows < 8 {
		first, step, stride, scaleStride = 0, 1, 0, 0
	}
	for r := first; r < rows; r += step {
		copy(lanes[:], scores[r:])
		var low *float32
		if minima != nil {
			low = &minima[r*groups]
		}
		if vnni {
			scoreVNNI(&lanes[0], &codes[r*padded], stride, padded, 1, q,
				qScale, qSum, &scales[r*groups], low, scaleStride, group)
		} else {
			scoreAVX2(&lanes[0], &codes[r*padded], stride, padded, 1, q,
				qScale, qSum, &scales[r*groups], low, scaleStride, group)
		}
		if stride == 0 {
			scores[r] = lanes[0]
		} else {
			copy(scores[rows-tail:], lanes[8-tail:])
		}
	}
}

// MixFunc is the type of kernels.Set.Mix.
type MixFunc = func(out []float32, codes []int8, padded, rows int, w []float32, group int)

// Mix returns the function that equals kernels.Mix within the bound of kernels.Set, on
// AVX2 or, with wide, on AVX-512: the same bits.
func Mix(wide bool) MixFunc {
	return func(out []float32, codes []int8, padded, rows int, w []float32, group int) {
		if rows == 0 {
			return
		}
		groups, group := rowGroups(padded, group)
		out, codes, w = out[:padded], codes[:rows*padded], w[:rows*groups]
		for r := 0; r < rows; {
			n := callRows(rows-r, padded)
			c, g, left := 0, 0, group // left: channels of group g from c on
			for c < padded {
				panel := 16
				if c+64 <= padded && (left >= 64 || group == 32) {
					panel = 64
				}
				mixPanel(wide, panel, left >= 64, &out[c], &codes[r*padded+c], padded, n,
					&w[r*groups+g], 4*groups)
				for left -= panel; left <= 0; left += group {
					g++
				}
				c += panel
			}
			r += n
		}
	}
}

// mixPanel adds the rows of a panel of 64 or 16 channels; oneWeight says that 64
// channels share a weight, else each 32 have one.
func mixPanel(wide bool, panel int, oneWeight bool, out *float32, codes *int8, stride, rows int,
	w *float32, wStride int) {
	switch {
	case panel == 16:
		mix16AVX2(out, codes, stride, rows, w, wStride)
	case wide && oneWeight:
		mix64AVX512(out, codes, stride, rows, w, wStride)
	case wide:
		mix2x32AVX512(out, codes, stride, rows, w, wStride)
	case oneWeight:
		mix64AVX2(out, codes, stride, rows, w, wStride)
	default:
		mix2x32AVX2(out, codes, stride, rows, w, wStride)
	}
}

// DotRowsAVX2 equals kernels.DotRows within the bound of kernels.Set.
func DotRowsAVX2(scores, x []float32, stride, rows int, q []float32) {
	if rows == 0 {
		return
	}
	if len(q) == 0 {
		clear(scores[:rows])
		return
	}
	scores, x = scores[:rows], x[:(rows-1)*stride+len(q)]
	r, tail := 0, rows&7
	for r < rows-tail {
		n := callRows(rows-tail-r, 4*len(q))
		dotRowsAVX2(&scores[r], &x[r*stride], 4*stride, n/8, &q[0], len(q))
		r += n
	}
	switch {
	case tail == 0:
	case rows > 8: // in a block with rows that are done
		dotRowsAVX2(&scores[rows-8], &x[(rows-8)*stride], 4*stride, 1, &q[0], len(q))
	default:
		var lanes [8]float32
		for r := range scores {
			dotRowsAVX2(&lanes[0], &x[r*stride], 0, 1, &q[0], len(q))
			scores[r] = lanes[0]
		}
	}
}

// AxpyRowsAVX2 equals kernels.AxpyRows within the bound of kernels.Set.
func AxpyRowsAVX2(out, w, x []float32, stride, rows int) {
	if rows == 0 || len(out) == 0 {
		return
	}
	w, x = w[:rows], x[:(rows-1)*stride+len(out)]
	for r := 0; r < rows; {
		n, c := callRows(rows-r, 4*len(out)), 0
		for ; c+64 <= len(out); c += 64 {
			axpyRows64AVX2(&out[c], &w[r], &x[r*stride+c], 4*stride, n)
		}
		for ; c < len(out); c += 16 {
			axpyRowsTailAVX2(&out[c], &w[r], &x[r*stride+c], 4*stride, n, min(16, len(out)-c))
		}
		r += n
	}
}

// QuantizeQueryAVX2 equals kernels.QuantizeQuery exactly, for finite q.
func QuantizeQueryAVX2(dst []int8, scale, sum, q []float32, group int) {
	if len(q) == 0 {
		return
	}
	groups, group := rowGroups(len(q), group)
	dst, scale, sum = dst[:len(q)], scale[:groups], sum[:groups]
	quantizeQueryAVX2(&dst[0], &scale[0], &sum[0], &q[0], len(q), group)
}

// WalshAVX2 equals kernels.Walsh exactly; n ≥ 8.
func WalshAVX2(x []float32, n int) {
	if n < 8 || n&(n-1) != 0 || len(x)&(n-1) != 0 {
		panic(fmt.Sprintf("amd64: BUG: %d values in blocks of %d; blocks must be a power of "+
			"two from 8 on, and whole", len(x), n))
	}
	scale := float32(1 / math.Sqrt(float64(n)))
	for step := max(n, callFloats); len(x) > 0; {
		count := min(step, len(x))
		walshAVX2(&x[0], count, n, scale)
		x = x[count:]
	}
}

// ExpSumAVX2 equals kernels.ExpSum exactly.
func ExpSumAVX2(x []float32, largest float32) (sum float32) {
	var sums [8]float32
	for len(x) > 0 {
		n := min(callFloats, len(x))
		sum = expSumAVX2(&x[0], n, largest, &sums[0])
		x = x[n:]
	}
	return sum
}

// MaxAVX2 equals kernels.Max.
func MaxAVX2(x []float32) float32 {
	largest := float32(math.Inf(-1))
	for len(x) > 0 {
		n := min(callFloats, len(x))
		largest = max(largest, maxAVX2(&x[0], n))
		x = x[n:]
	}
	return largest
}
