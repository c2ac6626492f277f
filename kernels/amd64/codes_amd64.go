//go:build !noasm

package amd64

// Products of the formats of kernels/codeblock.go with int8 activation rows. Their
// codes are packed too tightly to be multiplied where they lie: a group of rows is
// unpacked into a panel on the stack, a run of columns at a time (pack_codes_amd64.s),
// and multiplied from there, be it with one token or with many. Every element is one
// chain over its blocks of 32 columns, as rows_amd64.s has it; y carries it from one
// run of columns to the next, so that the tiers and all cuts agree to the bit.

import "unsafe"

// CodeFormat is a format of weights that ProductOfCodes takes.
type CodeFormat uint8

// The formats, with the names of package kernels.
const (
	Q5_0 CodeFormat = iota
	Q5_1
	Q2_K
	Q3_K
	Q4_K
	Q5_K
	Q6_K
	IQ4_NL
	IQ4_XS
)

// codeKind says what a panel of a format holds.
type codeKind uint8

const (
	affineCodes codeKind = iota // 0..31, with d and m
	offsetCodes                 // signed, with d
	halvesCodes                 // signed, with a d for each 16 columns
)

// codeFacts is one row per CodeFormat.
var codeFacts = [...]struct {
	values, bytes int // of a block
	kind          codeKind
	offset        int // that makes codes unsigned
}{
	Q5_0:   {32, 22, offsetCodes, 16},
	Q5_1:   {32, 24, affineCodes, 0},
	Q2_K:   {256, 84, halvesCodes, 0},
	Q3_K:   {256, 110, halvesCodes, 4},
	Q4_K:   {256, 144, affineCodes, 0},
	Q5_K:   {256, 176, affineCodes, 0},
	Q6_K:   {256, 210, halvesCodes, 32},
	IQ4_NL: {32, 18, offsetCodes, 128},
	IQ4_XS: {256, 136, offsetCodes, 128},
}

// ProductOfCodes returns the product of one format, on AVX2, FMA and F16C or, with
// vnni, on AVX-512 F, BW, VL, DQ and VNNI too. It equals kernels.ProductQ4_K and its
// like within the bound of kernels.Set. Activation codes are −127..127.
func ProductOfCodes(f CodeFormat, vnni bool) func(y []float32, yStride int, w, x []byte,
	xStride, rows, cols, tokens int) {
	return func(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int) {
		if rows == 0 || tokens == 0 {
			return
		}
		facts := &codeFacts[f]
		o := codeOperands{
			format: f, vnni: vnni, y: y[:(tokens-1)*yStride+rows], yStride: yStride,
			rowBytes: cols / facts.values * facts.bytes, xStride: xStride,
			rows: rows, cols: cols, tokens: tokens, vector: avx2Vector,
		}
		if vnni {
			o.vector = vnniVector
		}
		// The assembly checks nothing: operands that are too short panic here.
		o.w = w[:rows*o.rowBytes]
		o.x = x[:(tokens-1)*xStride+cols+8*(cols/blockValues)]
		for t := range tokens {
			clear(o.y[t*yStride:][:rows])
		}
		if tokens < tileTokens {
			o.stream()
		} else {
			o.batch()
		}
	}
}

// codeOperands is a product as the steps below see it.
type codeOperands struct {
	format   CodeFormat
	vnni     bool
	vector   int       // bytes: a dword for each row of a panel
	y        []float32 // [tokens][yStride]
	yStride  int
	w        []byte // [rows][rowBytes]
	rowBytes int
	x        []byte // [tokens][xStride]: codes, scales, sums
	xStride  int
	rows     int
	cols     int
	tokens   int
}

// codeRun is a piece of a product: a group of rows from row on, blocks of 32 columns
// from first on, tokens from token on.
type codeRun struct {
	row, first, blocks, token, tokens int
	ahead                             int    // where to prefetch, from the group's first byte on
	panel                             []byte // [blocks][panelVectors][vector], Q2_K twice
	excess                            []int32
}

// aheadBytes is how far behind a group of rows lies what is prefetched meanwhile.
const aheadBytes = 4096

// panelBuffer has room for a panel on a vector boundary.
type panelBuffer [panelBlocks*panelVectors*vnniVector + vnniVector]byte

// aligned is the panel, see batchScratch.panel.
func (p *panelBuffer) aligned() []byte {
	past := int(uintptr(unsafe.Pointer(&p[0])) % vnniVector)
	return p[(vnniVector-past)%vnniVector:]
}

// stream computes few tokens: weights are read in the order of memory, once.
func (o *codeOperands) stream() {
	var p panelBuffer
	group := o.vector / 4
	run := codeRun{panel: p.aligned(), tokens: o.tokens}
	for run.row = 0; run.row < o.rows; run.row += group {
		for run.first = 0; run.first < o.cols/blockValues; run.first += run.blocks {
			run.blocks = min(o.runBlocks(), o.cols/blockValues-run.first)
			run.ahead = group*o.rowBytes + aheadBytes + (group-1)*o.bytes(run.first)
			o.multiply(&run)
		}
	}
}

// codeBatch lives on the stack of batch.
type codeBatch struct {
	panel  panelBuffer
	excess [batchTokens * panelBlocks]int32 // [tokens][panelBlocks], or half as many by 2
}

// batch computes many tokens: a run of columns of all rows for some of them before the
// next, so that their activations stay in the first-level cache.
func (o *codeOperands) batch() {
	var s codeBatch
	group, most := o.vector/4, batchTokens
	if codeFacts[o.format].kind == halvesCodes {
		most = batchTokens / 2
	}
	run := codeRun{panel: s.panel.aligned(), excess: s.excess[:]}
	for run.token = 0; run.token < o.tokens; run.token += most {
		run.tokens = min(most, o.tokens-run.token)
		for run.first = 0; run.first < o.cols/blockValues; run.first += run.blocks {
			run.blocks = min(o.runBlocks(), o.cols/blockValues-run.first)
			o.addUp(&run)
			for run.row = 0; run.row < o.rows; run.row += group {
				if next := run.row + group; next+group <= o.rows {
					prefetchRows(&o.w[next*o.rowBytes+o.bytes(run.first)], o.rowBytes,
						o.bytes(run.blocks), group)
				}
				o.multiply(&run)
			}
		}
	}
}

// addUp fills the excess of a run's columns and tokens, which tiles of four and more
// tokens read on VNNI.
func (o *codeOperands) addUp(run *codeRun) {
	facts := &codeFacts[o.format]
	if !o.vnni || facts.kind == affineCodes {
		return
	}
	codes := &o.x[run.token*o.xStride+run.first*blockValues]
	if facts.kind == halvesCodes {
		excessOfHalves(&run.excess[0], codes, o.xStride, run.blocks, run.tokens, facts.offset)
	} else {
		excess(&run.excess[0], codes, o.xStride, run.blocks, run.tokens, facts.offset)
	}
}

// runBlocks is the number of blocks of 32 columns that a panel has room for.
func (o *codeOperands) runBlocks() int {
	if o.format == Q2_K {
		return 8 // of sixteen records
	}
	return panelBlocks
}

// bytes is the size of blocks of 32 columns of a row.
func (o *codeOperands) bytes(blocks int) int {
	facts := &codeFacts[o.format]
	return blocks * blockValues / facts.values * facts.bytes
}

// multiply adds a run's columns to its elements.
func (o *codeOperands) multiply(run *codeRun) {
	group, size := o.vector/4, o.bytes(run.blocks)
	w := o.w[run.row*o.rowBytes+o.bytes(run.first):]
	if run.row+group > o.rows {
		o.multiplyLast(run, w)
		return
	}
	o.pack(run, w, o.rowBytes, size)
	for done := 0; done < run.tokens; {
		y := o.y[(run.token+done)*o.yStride+run.row:]
		done += o.tile(run, &y[0], o.yStride, done)
	}
}

// lastRows is the scratch of multiplyLast, for sixteen rows of the longest run.
type lastRows struct {
	w [vnniVector / 4 * panelBlocks / 8 * 210]byte
	y [8 * vnniVector / 4]float32 // [tokens of a tile][rows]
}

// multiplyLast is multiply for the rows that do not fill a group: they are copied to
// the front of one whose others are zero, and so are their sums.
func (o *codeOperands) multiplyLast(run *codeRun, w []byte) {
	var s lastRows
	group, rows, size := o.vector/4, o.rows-run.row, o.bytes(run.blocks)
	for r := range rows {
		copy(s.w[r*size:(r+1)*size], w[r*o.rowBytes:])
	}
	ahead := run.ahead
	run.ahead = 0
	o.pack(run, s.w[:], size, size)
	run.ahead = ahead
	for done := 0; done < run.tokens; {
		first := (run.token+done)*o.yStride + run.row
		n := o.tileOf(run.tokens - done)
		for t := range n {
			copy(s.y[t*group:], o.y[first+t*o.yStride:][:rows])
		}
		o.tile(run, &s.y[0], group, done)
		for t := range n {
			copy(o.y[first+t*o.yStride:][:rows], s.y[t*group:])
		}
		done += n
	}
}

// pack unpacks a run's columns of the group of rows at w, eight rows at a time; each
// row has size bytes of them.
func (o *codeOperands) pack(run *codeRun, w []byte, rowBytes, size int) {
	facts := &codeFacts[o.format]
	blocks, bias, flip := size/facts.bytes, facts.offset, 0
	if o.vnni {
		bias, flip = 0, facts.offset
	}
	for half := 0; half < o.vector; half += avx2Vector {
		to, from := &run.panel[half], &w[half/4*rowBytes]
		ahead := run.ahead + half/4*(size-rowBytes)
		switch o.format {
		case Q5_0:
			packQ5_0(to, o.vector, from, rowBytes, blocks, ahead, bias)
		case Q5_1:
			packQ5_1(to, o.vector, from, rowBytes, blocks, ahead)
		case Q2_K:
			packQ2_K(to, o.vector, from, rowBytes, blocks, ahead)
		case Q3_K:
			packQ3_K(to, o.vector, from, rowBytes, blocks, ahead, bias)
		case Q4_K:
			packQ4_K(to, o.vector, from, rowBytes, blocks, ahead)
		case Q5_K:
			packQ5_K(to, o.vector, from, rowBytes, blocks, ahead)
		case Q6_K:
			packQ6_K(to, o.vector, from, rowBytes, blocks, ahead, bias)
		case IQ4_NL:
			packIQ4_NL(to, o.vector, from, rowBytes, blocks, ahead, flip)
		case IQ4_XS:
			packIQ4_XS(to, o.vector, from, rowBytes, blocks, ahead, flip)
		}
	}
}

// tileOf is the number of tokens that the next tile takes of those left.
func (o *codeOperands) tileOf(left int) int {
	switch {
	case o.vnni && left >= 2*tileTokens:
		return 2 * tileTokens
	case left >= tileTokens:
		return tileTokens
	}
	return 1
}

// tile adds the panel's columns to the tokens from `done` of the run on, y being the
// first one's, and returns how many they were.
func (o *codeOperands) tile(run *codeRun, y *float32, yStride, done int) int {
	n := o.tileOf(run.tokens - done)
	o.records(run, 0, y, yStride, done, n)
	if o.format == Q2_K {
		o.records(run, run.blocks, y, yStride, done, n)
	}
	return n
}

// records multiplies the panel from record `first` on with n tokens.
func (o *codeOperands) records(run *codeRun, first int, y *float32, yStride, done, n int) {
	row := o.x[(run.token+done)*o.xStride:]
	codes, scales := &row[run.first*blockValues], &row[o.cols+4*run.first]
	sums := &row[o.cols+4*(o.cols/blockValues)+4*run.first]
	panel, affine := &run.panel[first*panelVectors*o.vector], codeFacts[o.format].kind == affineCodes
	switch {
	case n == 1:
		o.tile1(y, panel, codes, scales, sums, run.blocks)
	case !o.vnni:
		o.tile4AVX2(y, yStride, panel, codes, scales, sums, run.blocks)
	case affine && n == tileTokens:
		tile4AffineVNNI(y, yStride, panel, codes, scales, sums, o.xStride, run.blocks)
	case affine:
		tile8AffineVNNI(y, yStride, panel, codes, scales, sums, o.xStride, run.blocks)
	case codeFacts[o.format].kind == offsetCodes:
		o.tileOffsetVNNI(y, yStride, panel, codes, scales, &run.excess[done*panelBlocks],
			run.blocks, n)
	default:
		o.tileHalvesVNNI(y, yStride, panel, codes, scales, &run.excess[2*done*panelBlocks],
			run.blocks, n)
	}
}

// tile1 is the tile of one token.
func (o *codeOperands) tile1(y *float32, panel, codes, scales, sums *byte, blocks int) {
	facts := &codeFacts[o.format]
	switch {
	case o.vnni && facts.kind == affineCodes:
		tile1AffineVNNI(y, panel, codes, scales, sums, blocks)
	case o.vnni && facts.kind == offsetCodes:
		tile1OffsetVNNI(y, panel, codes, scales, blocks, facts.offset)
	case o.vnni:
		tile1HalvesVNNI(y, panel, codes, scales, blocks, facts.offset)
	case o.format == Q4_K:
		tile1NibblesAVX2(y, panel, codes, scales, sums, blocks)
	case facts.kind == affineCodes:
		tile1FiveBitsAVX2(y, panel, codes, scales, sums, blocks)
	case facts.kind == halvesCodes:
		tile1HalvesAVX2(y, panel, codes, scales, blocks)
	case o.format == Q5_0:
		tile1SmallAVX2(y, panel, codes, scales, blocks)
	default:
		tile1SignedAVX2(y, panel, codes, scales, blocks)
	}
}

// tile4AVX2 is the tile of four tokens.
func (o *codeOperands) tile4AVX2(y *float32, yStride int, panel, codes, scales, sums *byte,
	blocks int) {
	facts := &codeFacts[o.format]
	switch {
	case o.format == Q4_K:
		tile4Q4_1AVX2(y, yStride, panel, codes, scales, sums, o.xStride, blocks)
	case facts.kind == affineCodes:
		tile4FiveBitsAVX2(y, yStride, panel, codes, scales, sums, o.xStride, blocks)
	case facts.kind == halvesCodes:
		tile4HalvesAVX2(y, yStride, panel, codes, scales, o.xStride, blocks)
	case o.format == Q5_0:
		tile4SmallAVX2(y, yStride, panel, codes, scales, o.xStride, blocks)
	default:
		tile4Q8_0AVX2(y, yStride, panel, codes, scales, o.xStride, blocks)
	}
}

// tileOffsetVNNI is the tile of n tokens, four or eight, with codes that are too large.
func (o *codeOperands) tileOffsetVNNI(y *float32, yStride int, panel, codes, scales *byte,
	excess *int32, blocks, n int) {
	if n == tileTokens {
		tile4OffsetVNNI(y, yStride, panel, codes, scales, excess, o.xStride, blocks)
	} else {
		tile8OffsetVNNI(y, yStride, panel, codes, scales, excess, o.xStride, blocks)
	}
}

// tileHalvesVNNI is the like with a scale for each half.
func (o *codeOperands) tileHalvesVNNI(y *float32, yStride int, panel, codes, scales *byte,
	excess *int32, blocks, n int) {
	if n == tileTokens {
		tile4HalvesVNNI(y, yStride, panel, codes, scales, excess, o.xStride, blocks)
	} else {
		tile8HalvesVNNI(y, yStride, panel, codes, scales, excess, o.xStride, blocks)
	}
}
