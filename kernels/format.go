package kernels

// Weight formats: how a matrix row lies in a model file, and which form of
// activation its products take. Block layouts are those of GGUF.

import "fmt"

// Format names how the values of a weight matrix are stored.
type Format uint8

const (
	F32  Format = iota // 4 bytes a value
	F16                // IEEE half, 2 bytes a value
	BF16               // the upper half of a float32
	Q8_0               // 32 values: f16 d, 32 int8 q;         w = d*q
	Q4_0               // 32 values: f16 d, 16 bytes nibbles;  w = d*(q-8)
	Q4_1               // 32 values: f16 d, f16 m, 16 bytes;   w = d*q + m

	// Blocks of 32 and of 256 values whose layouts codeblock.go gives, with 16 or
	// 32 values a sub-block: scale s and minimum m are whole numbers there.
	Q5_0   // 32 values, 22 bytes;  w = d*(q-16)
	Q5_1   // 32 values, 24 bytes;  w = d*q + m
	Q2_K   // 256 values, 84 bytes;  w = d*s*q - dmin*m, a sub-block is 16
	Q3_K   // 256 values, 110 bytes; w = d*(s-32)*(q-4), a sub-block is 16
	Q4_K   // 256 values, 144 bytes; w = d*s*q - dmin*m, a sub-block is 32
	Q5_K   // 256 values, 176 bytes; w = d*s*q - dmin*m, a sub-block is 32
	Q6_K   // 256 values, 210 bytes; w = d*s*(q-32), a sub-block is 16
	IQ4_NL // 32 values, 18 bytes;  w = d*table[q]
	IQ4_XS // 256 values, 136 bytes; w = d*(s-32)*table[q], a sub-block is 32
	NumFormats
)

// BlockValues is the number of activations one scale of an int8 input row serves,
// and the number of weights in a block of the formats that are no super-blocks.
const BlockValues = 32

// SuperBlockValues is the number of weights in a block of the K formats and IQ4_XS.
const SuperBlockValues = 256

// formatFacts is one row per Format: what no code path should have to switch on.
var formatFacts = [NumFormats]struct {
	name                string
	blockValues, blockB int
	int8Input           bool
	scaleAt             int // of the f16 scale in a block, bytes
	minimumAt           int // of the f16 minimum; -1: none
}{
	F32:  {"F32", 1, 4, false, 0, -1},
	F16:  {"F16", 1, 2, false, 0, -1},
	BF16: {"BF16", 1, 2, false, 0, -1},
	Q8_0: {"Q8_0", BlockValues, 34, true, 0, -1},
	Q4_0: {"Q4_0", BlockValues, 18, true, 0, -1},
	Q4_1: {"Q4_1", BlockValues, 20, true, 0, 2},

	Q5_0:   {"Q5_0", BlockValues, 22, true, 0, -1},
	Q5_1:   {"Q5_1", BlockValues, 24, true, 0, 2},
	Q2_K:   {"Q2_K", SuperBlockValues, 84, true, 80, 82},
	Q3_K:   {"Q3_K", SuperBlockValues, 110, true, 108, -1},
	Q4_K:   {"Q4_K", SuperBlockValues, 144, true, 0, 2},
	Q5_K:   {"Q5_K", SuperBlockValues, 176, true, 0, 2},
	Q6_K:   {"Q6_K", SuperBlockValues, 210, true, 208, -1},
	IQ4_NL: {"IQ4_NL", BlockValues, 18, true, 0, -1},
	IQ4_XS: {"IQ4_XS", SuperBlockValues, 136, true, 0, -1},
}

// String returns the format's name as GGUF tools print it.
func (f Format) String() string {
	if f < NumFormats {
		return formatFacts[f].name
	}
	return fmt.Sprintf("Format(%d)", uint8(f))
}

// Block returns how many values one storage block holds and its size in bytes.
func (f Format) Block() (values, bytes int) {
	return formatFacts[f].blockValues, formatFacts[f].blockB
}

// RowBytes returns the bytes of one row of cols values. cols must be a
// multiple of the block's values; the model loader checks that.
func (f Format) RowBytes(cols int) int {
	values, bytes := f.Block()
	return cols / values * bytes
}

// Int8Input says whether products with this format take int8 activations
// (see Set.Quantize) instead of float32.
func (f Format) Int8Input() bool { return formatFacts[f].int8Input }

// Halves gives the bytes of a block at which its f16 scale and minimum stand, for
// who makes blocks; the second is negative where there is no minimum. It is not
// for the float formats.
func (f Format) Halves() (scale, minimum int) {
	return formatFacts[f].scaleAt, formatFacts[f].minimumAt
}

// InputBytes returns the bytes of one activation row of cols values in the
// form that products with this format take. Float rows are 4·cols bytes of
// little-endian float32. Int8 rows are laid out as
//
//	[cols]int8 codes, [cols/32]float32 scales, [cols/32]float32 sums
//
// with sum_b = scale_b·Σ codes of block b, rounded up to InputAlign bytes.
func (f Format) InputBytes(cols int) int {
	if !f.Int8Input() {
		return 4 * cols
	}
	return Int8RowBytes(cols)
}

// InputAlign is the multiple to which int8 activation rows are rounded, so
// that rows of an aligned buffer start on a cache line.
const InputAlign = 64

// Int8RowBytes is the size of an int8 activation row, see Format.InputBytes.
func Int8RowBytes(cols int) int {
	n := cols + 2*4*(cols/BlockValues)
	return (n + InputAlign - 1) / InputAlign * InputAlign
}

// Matrix is a weight matrix in place: Rows rows of Cols values, row-major.
// It is the only tensor the runtime needs.
type Matrix struct {
	Format     Format
	Rows, Cols int
	Data       []byte // [Rows][RowBytes(Cols)]
}

// Row returns the bytes of row r.
func (m Matrix) Row(r int) []byte {
	n := m.Format.RowBytes(m.Cols)
	return m.Data[r*n : (r+1)*n : (r+1)*n]
}
