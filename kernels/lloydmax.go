package kernels

// Lloyd–Max tables: the levels that quantize a unit Gaussian with the least
// squared error (Max, 1960; Lloyd, 1982). Rotated rows are nearly Gaussian, so
// one scale a group and a fixed table beat a fitted scale and offset at 1–4 bits.

// lloydMax holds the levels of 1–4 bits in rising order.
var lloydMax = [5][]float32{
	1: {-0.7978845834732056, 0.7978845834732056},
	2: {-1.5104175806045532, -0.4527800381183624, 0.4527800381183624, 1.5104175806045532},
	3: {-2.1519455909729004, -1.3439092636108398, -0.7560052871704102, -0.2450941801071167,
		0.2450941801071167, 0.7560052871704102, 1.3439092636108398, 2.1519455909729004},
	4: {-2.7325894832611084, -2.069017171859741, -1.6180464029312134, -1.2562311887741089,
		-0.9423404335975647, -0.6567591428756714, -0.38804829120635986, -0.12839503586292267,
		0.12839503586292267, 0.38804829120635986, 0.6567591428756714, 0.9423404335975647,
		1.2562311887741089, 1.6180464029312134, 2.069017171859741, 2.7325894832611084},
}

// LloydMaxBits is the largest width that has a table.
const LloydMaxBits = 4

// LloydMaxTable returns the 2^bits levels for a unit Gaussian.
func LloydMaxTable(bits int) []float32 { return lloydMax[bits] }

var levelTables = func() (tables [LloydMaxBits + 1][]float32) {
	for bits := 1; bits <= LloydMaxBits; bits++ {
		tables[bits] = levelTable(lloydMax[bits])
	}
	return tables
}()

// LevelTable returns the table of bits as FitLevels takes it.
func LevelTable(bits int) []float32 { return levelTables[bits] }

// FitLloydMax fits one group to the table of bits: x̂ = scale·table[code]. With
// debias the inner product of x̂ with x is that of x with itself, which values need
// more than a small squared error. See FitLevels.
func FitLloydMax(codes []byte, x []float32, bits int, debias bool) (scale float32) {
	return FitLevels(codes, x, levelTables[bits], 1<<(bits-1), debias)
}
