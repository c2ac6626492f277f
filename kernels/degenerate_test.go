package kernels

// Inputs on which a formula alone would divide by zero, overflow or spread what is
// no number, for every format and fit; and what else must hold of any input: codes
// that are the same bits whatever lay in the tile and whichever Set wrote them, and
// errors within what the format promises.

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// formatsWithFits are the quantized formats of so many bits with every fit they can
// have, whole ranges and clipped ones.
func formatsWithFits(bits int) (formats []KVFormat) {
	for _, f := range []KVFormat{AffineRows(bits, 16), AffineRows(bits, 64), KeyChannels(bits),
		CompactChannels(bits), KeyRows(bits, 16), ValueRows(bits, 32)} {
		for fit := range numFits {
			for _, clip := range []int{0, 90} {
				if f.Fit, f.ClipPercent = fit, clip; f.Check() == nil {
					formats = append(formats, f)
				}
			}
		}
	}
	return formats
}

// codedDim is a head dim with a short last group and padded channels.
const codedDim = 40

// A coded input is some rows of codedDim values, their tile and what it reads as.
type codedInput struct {
	f    KVFormat
	x    []float32 // [rows][padded]
	rows int
	tile []byte
	head [2]byte
	read []float32
}

// codedRows is how many rows an input has: formats by row need no more.
func codedRows(f KVFormat) int {
	if f.ByRow() {
		return 3
	}
	return TileTokens
}

// codeInput packs the rows of x by the references. at fills the tile before.
func codeInput(f KVFormat, x []float32, before byte) *codedInput {
	c := &codedInput{f: f, x: x, rows: codedRows(f),
		tile: bytes.Repeat([]byte{before}, f.Tile(codedDim).Bytes()), head: [2]byte{before, before}}
	padded := PaddedHeadDim(codedDim)
	if f.ByRow() {
		for row := range c.rows {
			f.PackRow(c.tile, row, x[row*padded:row*padded+codedDim])
		}
	} else {
		f.PackTile(c.tile, c.head[:], x, codedDim)
	}
	c.read = make([]float32, c.rows*padded)
	fillCanary(c.read)
	f.UnpackRows(c.read, c.tile, c.head[:], codedDim, c.rows)
	return c
}

// fatal is what testing and rapid have in common.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkCoded holds what is true of any input: it leaves x alone, the codes depend on
// nothing but the finite halves that x is taken as, and what is read is finite,
// padded channels 0.
func checkCoded(t fatal, f KVFormat, x []float32) *codedInput {
	t.Helper()
	name := fmt.Sprintf("%v, %v, clip %d", f, f.Fit, f.ClipPercent)
	before := slices.Clone(x)
	c := codeInput(f, x, 0)
	if !sameBits(x, before) {
		t.Fatalf("%s: packing changed its input", name)
	}
	padded := PaddedHeadDim(codedDim)
	finite := slices.Clone(x)
	FiniteRow(finite)
	other := codeInput(f, finite, 0xff)
	if !slices.Equal(c.read, other.read) || (!f.ByRow() && !bytes.Equal(c.tile, other.tile)) {
		t.Fatalf("%s: codes depend on what lay there, or on more than finite halves", name)
	}
	for i, v := range c.read {
		switch {
		case v != v || v > 3*maxHalf || v < -3*maxHalf:
			t.Fatalf("%s: value %d, %v, reads as %v", name, i, x[i], v)
		case i%padded >= codedDim && v != 0:
			t.Fatalf("%s: padded channel %d reads as %v", name, i%padded, v)
		}
	}
	for _, s := range All() {
		codes := bytes.Repeat([]byte{0xff}, padded) // room to work in, whatever is there
		tile, head, work := bytes.Clone(other.tile), other.head, slices.Clone(x)
		if f.ByRow() {
			for row := range c.rows {
				f.PackRowBy(&s, tile, row, work[row*padded:row*padded+codedDim], codes)
			}
		} else {
			f.PackTileBy(&s, tile, head[:], work, codedDim, codes)
		}
		if !bytes.Equal(tile, other.tile) || head != other.head {
			t.Fatalf("%s: %s codes differently from the references", name, s.Name)
		}
	}
	return c
}

// degenerateInputs give value i of an input.
func degenerateInputs() map[string]func(i int) float32 {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	pick := func(which bool, a, b float32) float32 {
		if which {
			return a
		}
		return b
	}
	return map[string]func(i int) float32{
		"zero":         func(int) float32 { return 0 },
		"negative 0":   func(int) float32 { return float32(math.Copysign(0, -1)) },
		"constant":     func(int) float32 { return 1.5 },
		"negative":     func(int) float32 { return -3 },
		"largest":      func(int) float32 { return maxHalf },
		"denormal":     func(int) float32 { return 1e-42 },
		"half denorm":  func(i int) float32 { return float32(i%3) * 0x1p-24 },
		"tiny range":   func(i int) float32 { return 1 + float32(i%2)*0x1p-23 },
		"outlier":      func(i int) float32 { return pick(i%77 == 5, maxHalf, float32(i%7)/8) },
		"low outlier":  func(i int) float32 { return pick(i%77 == 5, -maxHalf, float32(i%7)/8) },
		"both ends":    func(i int) float32 { return pick(i%2 == 0, maxHalf, -maxHalf) },
		"beyond half":  func(i int) float32 { return pick(i%9 == 0, 1e30, float32(i%5)) },
		"one NaN":      func(i int) float32 { return pick(i == 7, nan, float32(i%4)) },
		"NaN":          func(i int) float32 { return pick(i%5 == 0, nan, float32(i%4)) },
		"all NaN":      func(int) float32 { return nan },
		"infinite":     func(i int) float32 { return pick(i%6 == 0, inf, float32(i%4)) },
		"all infinite": func(i int) float32 { return pick(i%2 == 0, inf, -inf) },
		"everything": func(i int) float32 {
			return []float32{nan, inf, -inf, maxHalf, 1e-42, -1e30, 0, 1}[i%8]
		},
	}
}

// TestDegenerateTiles: every format × fit × degenerate input.
func TestDegenerateTiles(t *testing.T) {
	widths := []int{1, 2, 3, 4, 5, 6, 7, 8}
	if testing.Short() {
		widths = []int{1, 8}
	}
	padded := PaddedHeadDim(codedDim)
	constants := map[string]float32{"zero": 0, "negative 0": 0, "all NaN": 0, "denormal": 0,
		"constant": 1.5, "negative": -3, "tiny range": 1}
	for name, at := range degenerateInputs() {
		for _, bits := range widths {
			for _, f := range formatsWithFits(bits) {
				x := make([]float32, codedRows(f)*padded)
				for i := range x {
					x[i] = at(i)
				}
				c := checkCoded(t, f, x)
				want, constant := constants[name]
				if !constant || (name == "tiny range" && f.Fit == FitsQuantoZP) {
					continue // a whole zero clips ranges that do not hold 0
				}
				for i, v := range c.read {
					// A level is off by the rounding of its table to int8.
					near := math.Abs(float64(v-want)) <= 0.01*math.Abs(float64(want))
					if i%padded < codedDim && !near {
						t.Fatalf("%v, %v, clip %d: %s, %v, reads as %v", f, f.Fit, f.ClipPercent,
							name, x[i], v)
					}
				}
			}
		}
	}
}

// TestCodesOfConstantGroups: the bytes that a constant group leaves, by fit.
func TestCodesOfConstantGroups(t *testing.T) {
	for _, c := range []struct {
		fit           KVFit
		bits          int
		v, scale, low float32
		code          byte
	}{
		{FitsMinMax, 4, 1.5, 0, 1.5, 0},
		{FitsLS, 4, 1.5, 0, 1.5, 0},
		{FitsQuanto, 4, 1.5, 0, 1.5, 0},
		{FitsQuantoHQQ, 4, 1.5, 0, 1.5, 0},
		{FitsQuantoZP, 4, 1.5, 0, 1.5, 0},
		{FitsQuantoZP, 1, -3, 0, -3, 0},
		{FitsHQQ, 4, 1.5, 0, 1.5, 0}, // where HQQ itself has scale 1
		{FitsHQQ, 8, 0, 0, 0, 0},
		{FitsMinMax, 8, 0, 0, 0, 0},
		{FitsAbsmax, 8, 127, 1, -128, 255},
		{FitsAbsmax, 8, -127, 1, -128, 1},
		{FitsAbsmax, 8, 0, 0, 0, 128},
	} {
		f := AffineRows(c.bits, 16)
		f.Fit = c.fit
		x, tile := make([]float32, 16), make([]byte, f.Tile(16).Bytes())
		fillWith(x, c.v)
		f.PackRow(tile, 5, x)
		scale, low, codes := readAffineRow(tile, f, 5, 16)
		want := bytes.Repeat([]byte{c.code}, 16)
		if scale[0] != c.scale || low[0] != c.low || !bytes.Equal(codes, want) {
			t.Errorf("%v, %d bits, all %v: scale %v, min %v, codes %v; want %v, %v, %d",
				c.fit, c.bits, c.v, scale[0], low[0], codes, c.scale, c.low, c.code)
		}
	}
}

// TestConstantChannelCostsNoOther: channels of chan-c share a super-scale, which a
// channel without a range must not raise.
func TestConstantChannelCostsNoOther(t *testing.T) {
	const d = 32
	for fit := range FitsAbsmax {
		f := CompactChannels(8)
		f.Fit = fit
		errorOf := func(x []float32) float64 {
			var head [2]byte
			tile, got := make([]byte, f.Tile(d).Bytes()), make([]float32, len(x))
			f.PackTile(tile, head[:], x, d)
			f.UnpackRows(got, tile, head[:], d, TileTokens)
			for i := range TileTokens {
				x[i*d], got[i*d] = 0, 0
			}
			return relativeError(got, x)
		}
		x := normalFloats(newRand(12), TileTokens*d)
		for i := range x {
			x[i] *= 0.1
		}
		whole := errorOf(slices.Clone(x))
		for i := range TileTokens {
			x[i*d] = 0
		}
		if got := errorOf(x); got > 1.1*whole {
			t.Errorf("%v: relative square error %.3g beside a constant channel, %.3g without",
				fit, got, whole)
		}
	}
}

// TestAnyInput: any bits as floats, in mixtures, in any format.
func TestAnyInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(formatsWithFits(rapid.IntRange(1, 8).Draw(t, "bits"))).Draw(t, "format")
		kinds := rapid.IntRange(1, 4).Draw(t, "kinds")
		size := math.Exp2(float64(rapid.IntRange(-30, 20).Draw(t, "size")))
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		x := make([]float32, codedRows(f)*PaddedHeadDim(codedDim))
		for i := range x {
			switch random.IntN(kinds) {
			case 0:
				x[i] = float32(size * random.NormFloat64())
			case 1:
				x[i] = F16ToF32(uint16(random.Uint32()))
			case 2:
				x[i] = math.Float32frombits(random.Uint32())
			}
		}
		c := checkCoded(t, f, x)
		if f.ClipPercent == 0 {
			c.checkErrors(t)
		}
	})
}

// groups calls body for the values of each group and what they read as.
func (c *codedInput) groups(body func(x, read []float32)) {
	padded := PaddedHeadDim(codedDim)
	if !c.f.ByRow() {
		for channel := range codedDim {
			var x, read []float32
			for row := range c.rows {
				x = append(x, finiteHalf(c.x[row*padded+channel]))
				read = append(read, c.read[row*padded+channel])
			}
			body(x, read)
		}
		return
	}
	for row := range c.rows {
		for from := 0; from < codedDim; from += c.f.Group {
			end := min(from+c.f.Group, codedDim)
			x := slices.Clone(c.x[row*padded+from : row*padded+end])
			FiniteRow(x)
			body(x, c.read[row*padded+from:row*padded+end])
		}
	}
}

// checkErrors holds the errors of an input against what its format promises.
func (c *codedInput) checkErrors(t fatal) {
	t.Helper()
	f, top := c.f, math.Exp2(float64(c.f.Bits))-1
	c.groups(func(x, read []float32) {
		low, high := float64(slices.Min(x)), float64(slices.Max(x))
		step := (high - low) / top
		// What rounding a scale and a minimum to halves moves: 2⁻¹¹, subnormals 2⁻²⁵.
		halves := (top*step+math.Abs(low))*0x1p-11 + (top+1)*0x1p-25
		square := func(y []float32) (sum float64) {
			for i, v := range x {
				sum += (float64(v) - float64(y[i])) * (float64(v) - float64(y[i]))
			}
			return sum
		}
		switch {
		case f.Kind == KVRows && !f.Debias:
			// A refitted scale is never worse than zeros; int8 levels cost a hundredth.
			if energy := square(make([]float32, len(x))); square(read) > 1.02*energy {
				t.Fatalf("%v: square error %.4g of an energy of %.4g: %v reads as %v",
					f, square(read), energy, x, read)
			}
		case f.Kind != KVAffine && f.Kind != KVChannels || step > maxHalf:
		case f.Fit == FitsMinMax || f.Fit == FitsQuanto:
			for i, v := range x {
				if off := math.Abs(float64(v) - float64(read[i])); off > step/2+2*halves {
					t.Fatalf("%v, %v: %v reads as %v, off by %.4g; half a step is %.4g of [%v, %v]",
						f, f.Fit, v, read[i], off, step/2, low, high)
				}
			}
		case f.Fit == FitsLS:
			minMax := f
			minMax.Fit = FitsMinMax
			codes, y := make([]byte, len(x)), make([]float32, len(x))
			var s, m [1]float32
			FitMinMax(codes, s[:], m[:], x, RowGroups(len(x), len(x)), f.Bits, true)
			readAffine(y, codes, s[0], m[0])
			if got, limit := square(read), square(y); got > limit*(1+1e-6) {
				t.Fatalf("%v: least squares leaves %.6g, min–max %.6g of %v", f, got, limit, x)
			}
		}
	})
}

// TestTilesReadWhatTheirFitMeans: each fit through a tile reads as its authors'
// formula, but for the rounding of scale and minimum to halves.
func TestTilesReadWhatTheirFitMeans(t *testing.T) {
	const d, group = 64, 32
	x := normalFloats(newRand(31), d)
	for i := range x {
		x[i] += 0.25
	}
	for fit := range numFits {
		for bits := 1; bits <= 8; bits++ {
			f := AffineRows(bits, group)
			if f.Fit = fit; f.Check() != nil {
				continue
			}
			tile, got := make([]byte, f.Tile(d).Bytes()), make([]float32, d)
			f.PackRow(tile, 9, x)
			rows := make([]float32, 10*d)
			f.UnpackRows(rows, tile, nil, d, 10)
			copy(got, rows[9*d:])
			_, _, codes := readAffineRow(tile, f, 9, d)
			for from := 0; from < d; from += group {
				values := x[from : from+group]
				wantCodes, want, size := fitByName(fit, values, bits)
				if !bytes.Equal(codes[from:from+group], wantCodes) {
					t.Errorf("%v, %d bits: codes %v; want %v", fit, bits, codes[from:from+group], wantCodes)
				}
				for i, w := range want {
					if off := math.Abs(float64(got[from+i]) - w); off > 0x1p-10*size {
						t.Fatalf("%v, %d bits: value %d reads as %v; want %v", fit, bits, i, got[from+i], w)
					}
				}
			}
		}
	}
}

// fitByName gives the codes of a fit of one group, what they mean by its own formula
// and the size of the terms of it.
func fitByName(fit KVFit, x []float32, bits int) (codes []byte, want []float64, size float64) {
	codes, want = make([]byte, len(x)), make([]float64, len(x))
	var s, o, trial [1]float32
	g := RowGroups(len(x), len(x))
	read := func(code float64) float64 { return code*float64(s[0]) + float64(o[0]) }
	switch fit {
	case FitsMinMax:
		FitMinMax(codes, s[:], o[:], x, g, bits, true)
	case FitsLS:
		FitLeastSquares(codes, s[:], o[:], x, g, bits, true)
	case FitsHQQ:
		FitHQQ(codes, s[:], o[:], x, g, bits)
		read = func(code float64) float64 { return (code - float64(o[0])) * float64(s[0]) }
	case FitsQuanto, FitsQuantoHQQ:
		FitQuanto(codes, s[:], o[:], x, g, bits)
		if fit == FitsQuantoHQQ {
			FitQuantoHQQ(codes, s[:], o[:], x, g, bits, trial[:], make([]byte, len(x)))
		}
		read = func(code float64) float64 { return float64(s[0])*code - float64(o[0]) }
	case FitsQuantoZP:
		var zero [1]byte
		FitQuantoZeroPoint(codes, s[:], zero[:], x, g, bits)
		read = func(code float64) float64 { return float64(s[0]) * (code - float64(zero[0])) }
	case FitsAbsmax:
		signed := make([]int8, len(x))
		FitQuantoAbsmax(signed, s[:], x, g)
		for i, c := range signed {
			codes[i] = byte(int(c) + 128)
		}
		read = func(code float64) float64 { return float64(s[0]) * (code - 128) }
	}
	for i, code := range codes {
		want[i] = read(float64(code))
	}
	return codes, want, float64(int(1)<<bits)*float64(s[0]) + math.Abs(read(0))
}

// TestClipNarrowsTheRange: a clipped group spans the middle of its range, and
// outliers at both ends cost the others less.
func TestClipNarrowsTheRange(t *testing.T) {
	y := []float32{-1, 0, 1, 3}
	clipRange(y, 50)
	if want := []float32{0, 0, 1, 2}; !slices.Equal(y, want) {
		t.Errorf("the middle half of −1…3 = %v; want %v", y, want)
	}
	x := normalFloats(newRand(3), 64)
	x[9], x[40] = 9, -9
	for _, fit := range []KVFit{FitsMinMax, FitsLS, FitsHQQ, FitsQuanto} {
		besides := func(percent int) (sum float64) {
			f := AffineRows(4, 64)
			f.Fit, f.ClipPercent = fit, percent
			tile, got := make([]byte, f.Tile(64).Bytes()), make([]float32, 64)
			f.PackRow(tile, 0, x)
			f.UnpackRows(got, tile, nil, 64, 1)
			for i, v := range x {
				if i != 9 && i != 40 {
					sum += float64(v-got[i]) * float64(v-got[i])
				}
			}
			return sum
		}
		if whole, clipped := besides(0), besides(50); clipped > 0.6*whole {
			t.Errorf("%v: square error beside outliers: %v clipped, %v whole", fit, clipped, whole)
		}
	}
}
