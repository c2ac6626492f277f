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
	NumFormats
)

// BlockValues is the number of values one scale of a quantized format serves,
// and the number of activations one scale of an int8 input row serves.
const BlockValues = 32

// formatFacts is one row per Format: what no code path should have to switch on.
var formatFacts = [NumFormats]struct {
	name                string
	blockValues, blockB int
	int8Input           bool
}{
	F32:  {"F32", 1, 4, false},
	F16:  {"F16", 1, 2, false},
	BF16: {"BF16", 1, 2, false},
	Q8_0: {"Q8_0", BlockValues, 34, true},
	Q4_0: {"Q4_0", BlockValues, 18, true},
	Q4_1: {"Q4_1", BlockValues, 20, true},
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
