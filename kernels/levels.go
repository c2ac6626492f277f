package kernels

// Level rows (KR, VR): each row of a tile is cut into groups of channels with one
// fp16 scale, and a code names a level: of a Lloyd–Max table up to 4 bits, of a
// uniform grid around 0 above. A tile lies as
//
//	[32][groups] fp16 scale, [32] rows of padded·bits/8 bytes
//
// The tables are fitted and stored as floats (lloydmax.go) and read as int8, so
// that scores are sums of integers: level = unit·int8, and a value is
// (scale·unit)·int8.

import (
	"encoding/binary"
	"math"
)

// int8Levels are the int8 tables by bits, 16 entries each as Set.Unpack takes
// them; levelUnit is what one step of them is worth.
var int8Levels, levelUnit = quantizeLevels()

// quantizeLevels finds for each table the unit, of those that put its top level
// on a whole number from 64 to 127, that leaves the least square error.
func quantizeLevels() (tables [LloydMaxBits + 1][16]int8, units [LloydMaxBits + 1]float32) {
	for bits := 1; bits <= LloydMaxBits; bits++ {
		levels := LloydMaxTable(bits)
		top, best := float64(levels[len(levels)-1]), math.Inf(1)
		for steps := 64; steps <= math.MaxInt8; steps++ {
			unit := top / float64(steps)
			var sum float64
			for _, level := range levels {
				off := float64(level) - float64(unit*math.RoundToEven(float64(level)/unit))
				sum += float64(off * off)
			}
			if sum < best {
				best, units[bits] = sum, float32(unit)
			}
		}
		for i, level := range levels {
			tables[bits][i] = int8(math.RoundToEven(float64(level) / float64(units[bits])))
		}
	}
	return tables, units
}

// packLevelRow fits row of tile to x [headDim] and writes it; codes of padded
// channels are 0. It overwrites x and codes [padded]. Any input has a defined
// result: what is no finite half is taken as one first (finiteHalf), a scale beyond
// 65504 is stored as 65504, and a group whose scale rounds to 0 reads as zeros.
func packLevelRow(set *Set, tile []byte, f *KVFormat, row int, x []float32, codes []uint8) {
	padded := PaddedHeadDim(len(x))
	scales, payload := levelRow(tile, f, row, padded)
	set.Finite(x)
	for g := 0; g*f.Group < len(x); g++ {
		from, to := g*f.Group, min((g+1)*f.Group, len(x))
		var scale float32
		if f.Bits <= LloydMaxBits {
			scale = set.FitLevels(codes[from:to], x[from:to], levelTables[f.Bits],
				1<<(f.Bits-1), f.Debias)
		} else {
			scale = set.FitUniform(codes[from:to], x[from:to], f.Bits, f.Debias)
		}
		binary.LittleEndian.PutUint16(scales[2*g:], F32ToF16(scale))
	}
	clear(codes[len(x):padded])
	set.Pack(payload, codes[:padded], f.Bits)
}

// UnpackLevelRows reads the first rows rows of tile into dst [rows][padded]:
// float32(scale·unit)·int8, each step rounded. Padded channels read as 0.
func UnpackLevelRows(dst []float32, tile []byte, f KVFormat, headDim, rows int) {
	padded := PaddedHeadDim(headDim)
	var codes [MaxHeadDim]int8
	for row := 0; row < rows; row++ {
		scales, payload := levelRow(tile, &f, row, padded)
		UnpackInt8(codes[:padded], payload, len(payload), padded, 1, f.table(), f.Bits)
		x := dst[row*padded : (row+1)*padded]
		for g := 0; g*f.Group < headDim; g++ {
			s := finiteHalfToF32(binary.LittleEndian.Uint16(scales[2*g:])) * f.unit()
			for i := g * f.Group; i < min((g+1)*f.Group, headDim); i++ {
				x[i] = s * float32(codes[i])
			}
		}
		clear(x[headDim:])
	}
}

// unit is what one step of the codes that Unpack gives is worth, times the scale.
func (f KVFormat) unit() float32 {
	if f.Kind == KVRows && f.Bits <= LloydMaxBits {
		return levelUnit[f.Bits]
	}
	return 1
}

// centredTable maps codes to code − 2^(bits−1), the table of affine codes: the
// offset is half the range, which keeps the integer products small.
var centredTable = func() (tables [LloydMaxBits + 1][16]int8) {
	for bits := 1; bits <= LloydMaxBits; bits++ {
		for code := range 1 << bits {
			tables[bits][code] = int8(code - 1<<(bits-1))
		}
	}
	return tables
}()

// table is the table that Set.Unpack reads codes by; above 4 bits it has none.
func (f KVFormat) table() []int8 {
	switch {
	case f.Bits > LloydMaxBits:
		return nil
	case f.Kind == KVRows:
		return int8Levels[f.Bits][:]
	}
	return centredTable[f.Bits][:]
}

// levelRow cuts out the scales and the codes of one row.
func levelRow(tile []byte, f *KVFormat, row, padded int) (scales, payload []byte) {
	metaBytes, rowBytes := 2*groupsOf(padded, f.Group), padded*f.Bits/8
	start := TileTokens*metaBytes + row*rowBytes
	return tile[row*metaBytes : (row+1)*metaBytes], tile[start : start+rowBytes]
}
