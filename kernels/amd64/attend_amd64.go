//go:build !noasm

package amd64

// What attention does with a tile: lengths are checked here (operands that are
// too short panic), and runs of rows are cut so that one assembly call stays
// short. No result depends on the cuts.

import (
	"fmt"
	"math"
)

// callRows is how many rows of rowBytes bytes one call works on.
func callRows(rowBytes int) int { return max(8, callBytes/rowBytes&^7) }

// rowGroups returns the groups of a row and the length of all but the last. The
// assembly takes channels sixteen by sixteen.
func rowGroups(padded, group int) (groups, channels int) {
	group = min(group, padded)
	if (padded|group)&15 != 0 || group <= 0 {
		panic(fmt.Sprintf("amd64: BUG: rows of %d channels in groups of %d; both must be "+
			"positive multiples of 16", padded, group))
	}
	if group == padded {
		return 1, group
	}
	return (padded + group - 1) / group, group
}

// Unpack1AVX2 equals kernels.UnpackInt8 of 1 bit exactly; the next seven are
// the like of 2 to 8 bits.
func Unpack1AVX2(dst []int8, payload []byte, rowBytes, padded, rows int, table []int8) {
	unpack(1, dst, payload, rowBytes, padded, rows, table)
}

func Unpack2AVX2(dst []int8, payload []byte, rowBytes, padded, rows int, table []int8) {
	unpack(2, dst, payload, rowBytes, padded, rows, table)
}

func Unpack3AVX2(dst []int8, payload []byte, rowBytes, padded, rows int, table []int8) {
	unpack(3, dst, payload, rowBytes, padded, rows, table)
}

func Unpack4AVX2(dst []int8, payload []byte, rowBytes, padded, rows int, table []int8) {
	unpack(4, dst, payload, rowBytes, padded, rows, table)
}

func Unpack5AVX2(dst []int8, payload []byte, rowBytes, padded, rows int, table []int8) {
	unpack(5, dst, payload, rowBytes, padded, rows, nil)
}

func Unpack6AVX2(dst []int8, payload []byte, rowBytes, padded, rows int, table []int8) {
	unpack(6, dst, payload, rowBytes, padded, rows, nil)
}

func Unpack7AVX2(dst []int8, payload []byte, rowBytes, padded, rows int, table []int8) {
	unpack(7, dst, payload, rowBytes, padded, rows, nil)
}

func Unpack8AVX2(dst []int8, payload []byte, rowBytes, padded, rows int, table []int8) {
	unpack(8, dst, payload, rowBytes, padded, rows, nil)
}

// unpack cuts rows. Where a format has one plane and rows of whole units that
// lie end to end, many rows are one long row.
func unpack(bits int, dst []int8, payload []byte, rowBytes, padded, rows int, table []int8) {
	if rows == 0 || padded == 0 {
		return
	}
	rowGroups(padded, padded)
	size := padded * bits / 8
	dst, payload = dst[:rows*padded], payload[:(rows-1)*rowBytes+size]
	var levels *int8
	if bits <= 4 {
		levels = &table[:16][0]
	}
	endToEnd := bits&(bits-1) == 0 && padded%32 == 0 && rowBytes == size
	for step := callRows(padded); rows > 0; rows -= step {
		n, cols := min(step, rows), padded
		at, from := &dst[0], &payload[0]
		if n < rows {
			dst, payload = dst[n*padded:], payload[n*rowBytes:]
		}
		if endToEnd {
			n, cols = 1, n*padded
		}
		unpackRows(bits, at, from, rowBytes, cols, n, levels)
	}
}

func unpackRows(bits int, dst *int8, payload *byte, rowBytes, padded, rows int, table *int8) {
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

// ScoreAVX2 equals kernels.Score exactly.
func ScoreAVX2(scores []float32, codes []int8, padded, rows int,
	q []int8, qScale, qSum, scales, minima []float32, group int) {
	score(false, scores, codes, padded, rows, q, qScale, qSum, scales, minima, group)
}

// ScoreVNNI is ScoreAVX2 for CPUs with AVX-512 VL and VNNI.
func ScoreVNNI(scores []float32, codes []int8, padded, rows int,
	q []int8, qScale, qSum, scales, minima []float32, group int) {
	score(true, scores, codes, padded, rows, q, qScale, qSum, scales, minima, group)
}

// scoreOperands is one run of rows and a query.
type scoreOperands struct {
	vnni          bool
	codes         []int8 // [rows][padded]
	padded        int
	q             *int8 // [padded]
	qScale, qSum  *float32
	scales        []float32 // [rows][groups]
	minima        []float32 // the like, or nil
	groups, group int
}

func score(vnni bool, scores []float32, codes []int8, padded, rows int,
	q []int8, qScale, qSum, scales, minima []float32, group int) {
	if rows == 0 || padded == 0 {
		return
	}
	groups, group := rowGroups(padded, group)
	scores, q, qScale = scores[:rows], q[:padded], qScale[:groups]
	o := scoreOperands{
		vnni: vnni, codes: codes[:rows*padded], padded: padded, q: &q[0],
		qScale: &qScale[0], scales: scales[:rows*groups], groups: groups, group: group,
	}
	if minima != nil {
		o.minima, o.qSum = minima[:rows*groups], &qSum[:groups][0]
	}
	whole := rows &^ 7
	for r, step := 0, callRows(padded); r < whole; r += step {
		o.blocks(&scores[r], r, min(step, whole-r)/8, padded, groups)
	}
	if whole < rows {
		o.tail(scores, whole)
	}
}

// tail computes the last few rows in a block that begins with rows that are
// done or, if there are not as many, one by one.
func (o *scoreOperands) tail(scores []float32, whole int) {
	var lanes [8]float32
	if first := len(scores) - 8; first >= 0 {
		copy(lanes[whole-first:], scores[whole:])
		o.blocks(&lanes[0], first, 1, o.padded, o.groups)
		copy(scores[whole:], lanes[whole-first:])
		return
	}
	for r := range scores {
		lanes[0] = scores[r]
		o.blocks(&lanes[0], r, 1, 0, 0)
		scores[r] = lanes[0]
	}
}

// blocks adds the scores of rows [r, r+8·blocks); with strides of 0 all lanes
// are row r.
func (o *scoreOperands) blocks(scores *float32, r, blocks, stride, scaleStride int) {
	var minima *float32
	if o.minima != nil {
		minima = &o.minima[r*o.groups]
	}
	codes, scales := &o.codes[r*o.padded], &o.scales[r*o.groups]
	if o.vnni {
		scoreVNNI(scores, codes, stride, o.padded, blocks, o.q,
			o.qScale, o.qSum, scales, minima, 4*scaleStride, o.group)
		return
	}
	scoreAVX2(scores, codes, stride, o.padded, blocks, o.q,
		o.qScale, o.qSum, scales, minima, 4*scaleStride, o.group)
}

// MixAVX2 equals kernels.Mix within the bound of kernels.Set.
func MixAVX2(out []float32, codes []int8, padded, rows int, w []float32, group int) {
	if rows == 0 || padded == 0 {
		return
	}
	groups, group := rowGroups(padded, group)
	out, codes, w = out[:padded], codes[:rows*padded], w[:rows*groups]
	for r, step := 0, callRows(padded); r < rows; r += step {
		n := min(step, rows-r)
		for c := 0; c < padded; {
			to, from, weights := &out[c], &codes[r*padded+c], &w[r*groups+c/group]
			switch {
			case c+64 <= padded && (groups == 1 || group%64 == 0):
				mix64AVX2(to, from, padded, n, weights, 4*groups)
				c += 64
			case c+64 <= padded && group == 32:
				mix2x32AVX2(to, from, padded, n, weights, 4*groups)
				c += 64
			default:
				mix16AVX2(to, from, padded, n, weights, 4*groups)
				c += 16
			}
		}
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
	whole := rows &^ 7
	for r, step := 0, callRows(4*len(q)); r < whole; r += step {
		dotRowsAVX2(&scores[r], &x[r*stride], 4*stride, min(step, whole-r)/8, &q[0], len(q))
	}
	switch {
	case whole == rows:
	case whole > 0: // once more for rows that are done
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
	for r, step := 0, callRows(4*len(out)); r < rows; r += step {
		n, c := min(step, rows-r), 0
		for ; c+64 <= len(out); c += 64 {
			axpyRows64AVX2(&out[c], &w[r], &x[r*stride+c], 4*stride, n)
		}
		for ; c < len(out); c += 16 {
			axpyRowsTailAVX2(&out[c], &w[r], &x[r*stride+c], 4*stride, n, min(16, len(out)-c))
		}
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
