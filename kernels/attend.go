package kernels

// The references of what attention does with a cached tile: read its codes,
// score its keys, mix its values, and the steps around that. They are called
// once per KV head and tile (Unpack) or per query head and tile (the others).
//
// Every element depends on its own row and on the rows before it only, in an
// order that is written down here, so that a tile may be cut into calls
// anywhere. Where a float result is called exact, no step is fused and all
// Sets give the same bits.

import (
	"math"
	"unsafe"
)

// UnpackInt8 is the reference of Set.Unpack, for one width. A row of padded
// codes (a multiple of 16) lies as PackCodes writes it, row r from byte
// r·rowBytes of payload on:
//
//	bits ≤ 4: dst[r·padded+c] = table[code],  table [16]
//	bits ≥ 5: dst[r·padded+c] = code − 2^(bits−1), table unused
func UnpackInt8(dst []int8, payload []byte, rowBytes, padded, rows int, table []int8, bits int) {
	zero := uint8(1) << (bits - 1)
	for r := range rows {
		out := dst[r*padded : (r+1)*padded]
		UnpackCodes(asCodes(out), payload[r*rowBytes:], bits)
		if bits <= LloydMaxBits {
			for c, code := range out {
				out[c] = table[code&15]
			}
			continue
		}
		for c, code := range out {
			out[c] = int8(uint8(code) - zero)
		}
	}
}

// asCodes views int8 as the unsigned codes they are made from.
func asCodes(x []int8) []uint8 {
	return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// unpackInt8 is UnpackInt8 by width, as Set.Unpack has it.
func unpackInt8() (unpack [9]func([]int8, []byte, int, int, int, []int8)) {
	for bits := 1; bits <= 8; bits++ {
		unpack[bits] = func(dst []int8, payload []byte, rowBytes, padded, rows int, table []int8) {
			UnpackInt8(dst, payload, rowBytes, padded, rows, table, bits)
		}
	}
	return unpack
}

// groupsOf is the number of groups of a row; the last may be short, and a
// group longer than the row is the row.
func groupsOf(padded, group int) int { return (padded + group - 1) / group }

// Score is the reference of Set.Score. With ng = ⌈padded/group⌉, for each row r
//
//	scores[r] += Σ_g (qScale[g]·scales[r·ng+g])·Σ_{c in g} q[c]·codes[r·padded+c]
//	                + minima[r·ng+g]·qSum[g]
//
// The inner sums are exact integers below 2²⁴; the outer one goes g by g, the
// scale before the minimum, every operation rounded. minima may be nil, qSum
// then too.
func Score(scores []float32, codes []int8, padded, rows int,
	q []int8, qScale, qSum, scales, minima []float32, group int) {
	ng := groupsOf(padded, group)
	for r := range rows {
		row := codes[r*padded : (r+1)*padded]
		var sum float32
		for g := range ng {
			from, to := g*group, min((g+1)*group, padded)
			var dot int32
			for c := from; c < to; c++ {
				dot += int32(q[c]) * int32(row[c])
			}
			sum += float32(float32(qScale[g]*scales[r*ng+g]) * float32(dot))
			if minima != nil {
				sum += float32(minima[r*ng+g] * qSum[g])
			}
		}
		scores[r] += sum
	}
}

// Mix is the reference of Set.Mix: row by row, with g(c) = c/group,
//
//	out[c] += w[r·ng+g(c)]·codes[r·padded+c]
func Mix(out []float32, codes []int8, padded, rows int, w []float32, group int) {
	ng := groupsOf(padded, group)
	for r := range rows {
		for g := range ng {
			from, to := g*group, min((g+1)*group, padded)
			row, weight := codes[r*padded+from:r*padded+to], w[r*ng+g]
			for i, code := range row {
				out[from+i] += weight * float32(code)
			}
		}
	}
}

// DotRows is the reference of Set.DotRows: scores[r] = Σ_c q[c]·x[r·stride+c].
func DotRows(scores, x []float32, stride, rows int, q []float32) {
	for r := range rows {
		scores[r] = Dot(q, x[r*stride:])
	}
}

// AxpyRows is the reference of Set.AxpyRows: row by row out[c] += w[r]·x[r·stride+c].
func AxpyRows(out, w, x []float32, stride, rows int) {
	for r := range rows {
		Axpy(out, w[r], x[r*stride:][:len(out)])
	}
}

// QuantizeQuery is the reference of Set.QuantizeQuery: the formula of
// QuantizeRow for any group,
//
//	amax = max|q|, scale = amax/127, code = rne(q·(127/amax)), sum = scale·Σ code
//
// with every operation rounded; a group with amax < 1e-30 is all zero.
func QuantizeQuery(dst []int8, scale, sum []float32, q []float32, group int) {
	for g := range groupsOf(len(q), group) {
		from, to := g*group, min((g+1)*group, len(q))
		var amax float32
		for _, v := range q[from:to] {
			if a := float32(math.Abs(float64(v))); a > amax {
				amax = a
			}
		}
		var s, inverse float32
		if amax >= minQuantAmax {
			s, inverse = amax/127, 127/amax
		}
		var codes int32
		for i, v := range q[from:to] {
			code := int8(math.RoundToEven(float64(v * inverse)))
			dst[from+i] = code
			codes += int32(code)
		}
		scale[g], sum[g] = s, s*float32(codes)
	}
}

// Walsh is the reference of Set.Walsh: the orthonormal Walsh–Hadamard
// transform of each block of n values, n a power of two, in Sylvester's order:
// butterflies of strides 1, 2, … n/2, then ×1/√n.
func Walsh(x []float32, n int) {
	for at := 0; at < len(x); at += n {
		walsh(x[at:at+n], 1, n)
		rescale(x[at : at+n])
	}
}

// expLanes is how many partial sums ExpSum has.
const expLanes = 8

// ExpSum is the reference of Set.ExpSum: x[i] ← Exp(x[i] − largest). Value i is
// added to partial sum i mod 8, in rising order, and then
//
//	((s0+s4) + (s2+s6)) + ((s1+s5) + (s3+s7))
func ExpSum(x []float32, largest float32) float32 {
	var s [expLanes]float32
	for i, v := range x {
		e := Exp(v - largest)
		x[i] = e
		s[i%expLanes] += e
	}
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

// Max is the reference of Set.Max.
func Max(x []float32) float32 {
	largest := float32(math.Inf(-1))
	for _, v := range x {
		if v > largest {
			largest = v
		}
	}
	return largest
}
