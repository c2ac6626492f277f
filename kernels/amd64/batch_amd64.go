//go:build !noasm

package amd64

// The batch path of the block formats. The loops, from outside in: some
// tokens, some columns, groups of rows, tiles of tokens. A group's columns are
// unpacked once into a panel on the stack (pack_amd64.s), which the tiles then
// read from the first-level cache; y carries the sums from one run of columns
// to the next, so cutting the columns changes no bit.

import "unsafe"

const (
	tileTokens  = 4   // the smallest tile; VNNI has one of twice as many
	batchTokens = 128 // tokens that share one unpacking
	panelBlocks = 24  // blocks of columns in a panel; the assembly knows 4·24 = 96

	panelVectors = 10 // of a record, see pack_amd64.s
	vnniVector   = 64 // bytes: a dword for each of sixteen rows
	avx2Vector   = 32 // bytes: a dword for each of eight rows
)

// vectorBytes is the width of a panel.
func vectorBytes(k blockKernel) int {
	if k >= q8_0VNNI {
		return vnniVector
	}
	return avx2Vector
}

// panelRows is the number of rows side by side in a panel.
func panelRows(k blockKernel) int { return vectorBytes(k) / 4 }

// offset is what a panel's codes exceed the weights' by.
func offset(k blockKernel) int {
	switch k {
	case q4_0AVX2, q4_0VNNI:
		return 8
	case q8_0VNNI:
		return 128
	}
	return 0
}

// batchScratch lives on the stack of batch.
type batchScratch struct {
	panelBytes [panelBlocks*panelVectors*vnniVector + vnniVector]byte
	excess     [batchTokens * panelBlocks]int32 // [tokens][panelBlocks]
}

// panel is the scratch panel on a vector boundary: an unaligned vector costs
// two loads. Should the stack move, only that advantage is lost.
func (s *batchScratch) panel() []byte {
	past := int(uintptr(unsafe.Pointer(&s.panelBytes[0])) % vnniVector)
	return s.panelBytes[(vnniVector-past)%vnniVector:]
}

// batch computes all elements. Rows that do not fill a group are computed with
// their predecessors, again and to the same bits; up to three last tokens go
// row by row.
func (o *blockOperands) batch() {
	var s batchScratch
	group := panelRows(o.kernel)
	whole := o.rows / group * group
	o.batchRows(&s, 0, whole)
	if whole < o.rows {
		o.batchRows(&s, o.rows-group, group)
	}
	o.rowByRow(o.tokens / tileTokens * tileTokens)
}

// batchRows computes rows [first, first+rows), whole groups, of whole tiles.
func (o *blockOperands) batchRows(s *batchScratch, first, rows int) {
	tokens, blocks := o.tokens/tileTokens*tileTokens, o.cols/blockValues
	for t := range tokens {
		clear(o.y[t*o.yStride+first:][:rows])
	}
	for t := 0; t < tokens; t += batchTokens {
		for b := 0; b < blocks; b += panelBlocks {
			o.batchColumns(s, first, rows, b, min(panelBlocks, blocks-b),
				t, min(batchTokens, tokens-t))
		}
	}
}

// batchColumns adds the terms of blocks [b, b+blocks) to tokens [t, t+tokens).
func (o *blockOperands) batchColumns(s *batchScratch, first, rows, b, blocks, t, tokens int) {
	if extra := offset(o.kernel); extra != 0 {
		codes := &o.x[t*o.xStride+b*blockValues]
		excess(&s.excess[0], codes, o.xStride, blocks, tokens, extra)
	}
	panel, group := s.panel(), panelRows(o.kernel)
	for r := first; r < first+rows; r += group {
		o.pack(panel, r, b, blocks)
		if next := r + group; next < first+rows {
			size := blockBytes[o.kernel]
			prefetchRows(&o.w[next*o.rowBytes+b*size], o.rowBytes, blocks*size, group)
		}
		for done := 0; done < tokens; {
			done += o.tile(s, panel, r, b, blocks, t, done, tokens-done)
		}
	}
}

// pack unpacks the group of rows that begins at r, eight rows at a time.
func (o *blockOperands) pack(panel []byte, r, b, blocks int) {
	vector := vectorBytes(o.kernel)
	for half := 0; half < vector; half += 32 {
		to := &panel[half]
		w := &o.w[(r+half/4)*o.rowBytes+b*blockBytes[o.kernel]]
		switch o.kernel {
		case q8_0AVX2:
			packQ8_0(to, vector, w, o.rowBytes, blocks, 0)
		case q8_0VNNI:
			packQ8_0(to, vector, w, o.rowBytes, blocks, 0x80)
		case q4_0AVX2, q4_0VNNI:
			packQ4_0(to, vector, w, o.rowBytes, blocks)
		case q4_1AVX2, q4_1VNNI:
			packQ4_1(to, vector, w, o.rowBytes, blocks)
		}
	}
}

// tile multiplies the panel with four or eight of the left tokens from t+done
// on and returns how many.
func (o *blockOperands) tile(s *batchScratch, panel []byte, r, b, blocks, t, done, left int) int {
	y := &o.y[(t+done)*o.yStride+r]
	row := o.x[(t+done)*o.xStride:]
	codes, scales := &row[b*blockValues], &row[o.cols+4*b]
	sums := &row[o.cols+4*(o.cols/blockValues)+4*b]
	excess := &s.excess[done*panelBlocks]
	if o.kernel >= q8_0VNNI && left >= 8 {
		if o.kernel == q4_1VNNI {
			tile8AffineVNNI(y, o.yStride, &panel[0], codes, scales, sums, o.xStride, blocks)
		} else {
			tile8OffsetVNNI(y, o.yStride, &panel[0], codes, scales, excess, o.xStride, blocks)
		}
		return 8
	}
	switch o.kernel {
	case q4_1VNNI:
		tile4AffineVNNI(y, o.yStride, &panel[0], codes, scales, sums, o.xStride, blocks)
	case q8_0VNNI, q4_0VNNI:
		tile4OffsetVNNI(y, o.yStride, &panel[0], codes, scales, excess, o.xStride, blocks)
	case q8_0AVX2:
		tile4Q8_0AVX2(y, o.yStride, &panel[0], codes, scales, o.xStride, blocks)
	case q4_0AVX2:
		tile4Q4_0AVX2(y, o.yStride, &panel[0], codes, scales, excess, o.xStride, blocks)
	case q4_1AVX2:
		tile4Q4_1AVX2(y, o.yStride, &panel[0], codes, scales, sums, o.xStride, blocks)
	}
	return 4
}
