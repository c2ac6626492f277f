package kernels

// κ, the relative square error E‖x − x̂‖²/E‖x‖² on unit Gaussians: the table of the
// notes on quantization, §1.2, measured again with the fits, on float32 scales, and
// with the tiles, on IEEE halves.

import (
	"math"
	"testing"
)

// kappaRow is a line of the table; 0 where it has no entry. The table's least
// squares and Lloyd–Max end with a scale; the fits go on to choose the nearest codes
// for it, which lowers κ by up to 3 %. The last two columns are κ then, of 2²² values
// in float64.
type kappaRow struct {
	bits, group                    int
	minMax, hqq, ls, signed, level float64
	lsCoded, levelCoded            float64
}

var kappaTable = []kappaRow{
	{1, 32, 1.97, 1.56, 0.329, 0, 0.353, 0.3278, 0.3521},
	{1, 64, 2.73, 2.19, 0.347, 0, 0.357, 0.3466, 0.3578},
	{2, 32, 0.155, 0.137, 0.0974, 0.131, 0.107, 0.0960, 0.1064},
	{2, 64, 0.203, 0.187, 0.113, 0.156, 0.112, 0.1113, 0.1117},
	{2, 128, 0.250, 0.239, 0.123, 0.179, 0.114, 0.1197, 0.1145},
	{3, 32, 0.0282, 0.0245, 0.0233, 0.0305, 0.0291, 0.02304, 0.02875},
	{3, 64, 0.0368, 0.0332, 0.0305, 0.0367, 0.0316, 0.03027, 0.03129},
	{3, 128, 0.0456, 0.0425, 0.0372, 0.0429, 0.0330, 0.03661, 0.03277},
	{4, 32, 0.00614, 0.00547, 0.00534, 0.00740, 0.00784, 0.005304, 0.00769},
	{4, 64, 0.00802, 0.00739, 0.00724, 0.00900, 0.00850, 0.007201, 0.008384},
	{4, 128, 0.00994, 0.00934, 0.00915, 0.0106, 0.00895, 0.009087, 0.008859},
	// The table goes on to Lloyd–Max levels of 5 and 6 bits, which no format has.
	{5, 64, 0.00188, 0.00173, 0.00173, 0.00223, 0, 0.001719, 0},
	{6, 64, 4.55e-4, 4.19e-4, 4.20e-4, 5.56e-4, 0, 4.189e-4, 0},
	{8, 64, 2.77e-5, 2.55e-5, 2.56e-5, 3.46e-5, 0, 2.553e-5, 0},
	// Below the table: 16-wide groups have 0.69 times the error of 32-wide ones.
	{8, 32, 2.1e-5, 0, 0, 0, 0, 0, 0},
	{4, 16, 0.69 * 0.00614, 0, 0, 0, 0, 0, 0},
}

// kappaSample is how much is drawn, and how far an entry may then be off.
func kappaSample() (values int, limit float64) {
	if testing.Short() {
		return 1 << 15, 0.05
	}
	return 1 << 19, 0.02
}

func TestKappaTable(t *testing.T) {
	values, limit := kappaSample()
	x := normalFloats(newRand(7), values)
	for _, c := range kappaTable {
		minMax := kappaOfFit(x, c, fitMinMaxGroup)
		expectKappa(t, "min–max", c, minMax, c.minMax, limit)
		if c.hqq != 0 {
			// HQQ takes a power of each value in each step. What it gains over min–max
			// on the same values varies less than either, and little beyond 1 bit.
			few := x[:max(values/16, 1<<13)]
			if c.bits == 1 {
				few = x[:max(values/4, 1<<14)]
			}
			gain := kappaOfFit(few, c, nil) / kappaOfFit(few, c, fitMinMaxGroup)
			expectKappa(t, "HQQ", c, gain*minMax, c.hqq, limit)
		}
		if c.ls != 0 {
			expectKappa(t, "line through codes", c, kappaOfFit(x, c, lineThroughCodes), c.ls, limit)
			expectKappa(t, "least squares", c, kappaOfFit(x, c, fitLeastSquaresGroup), c.lsCoded, limit)
		}
		if c.signed != 0 {
			expectKappa(t, "signed maximum", c, kappaOfFit(x, c, signedMaximum), c.signed, limit)
		}
		if c.level != 0 {
			expectKappa(t, "scale of levels", c, kappaOfFit(x, c, scaleOfLevels), c.level, limit)
			expectKappa(t, "Lloyd–Max", c, kappaOfFit(x, c, fitLloydMaxGroup), c.levelCoded, limit)
		}
	}
}

func expectKappa(t *testing.T, name string, c kappaRow, got, want, limit float64) {
	t.Helper()
	if !(math.Abs(got-want) <= limit*want) {
		t.Errorf("%s, %d bits, groups of %d: κ = %.4g; the table has %.4g, %+.1f %%",
			name, c.bits, c.group, got, want, 100*(got/want-1))
	}
}

// A groupFit codes one group and writes what it reads as to dst.
type groupFit func(dst, x []float32, codes []byte, bits int)

// kappaOf measures a fit over the groups of x; nil is HQQ, which sees all groups at
// once: its stop rule does.
func kappaOfFit(x []float32, c kappaRow, fit groupFit) float64 {
	codes, got := make([]byte, len(x)), make([]float32, len(x))
	if fit == nil {
		g := RowGroups(len(x), c.group)
		scale, zero := make([]float32, g.Count), make([]float32, g.Count)
		FitHQQ(codes, scale, zero, x, g, c.bits)
		for i, code := range codes {
			got[i] = (float32(code) - zero[i/c.group]) * scale[i/c.group]
		}
		return relativeError(got, x)
	}
	for at := 0; at < len(x); at += c.group {
		end := at + c.group
		fit(got[at:end], x[at:end], codes[at:end], c.bits)
	}
	return relativeError(got, x)
}

func relativeError(got, x []float32) float64 {
	var noise, energy float64
	for i, v := range x {
		d := float64(v) - float64(got[i])
		noise, energy = noise+d*d, energy+float64(v)*float64(v)
	}
	return noise / energy
}

func fitMinMaxGroup(dst, x []float32, codes []byte, bits int) {
	var s, m [1]float32
	FitMinMax(codes, s[:], m[:], x, RowGroups(len(x), len(x)), bits, false)
	readAffine(dst, codes, s[0], m[0])
}

func fitLeastSquaresGroup(dst, x []float32, codes []byte, bits int) {
	var s, m [1]float32
	FitLeastSquares(codes, s[:], m[:], x, RowGroups(len(x), len(x)), bits, false)
	readAffine(dst, codes, s[0], m[0])
}

// lineThroughCodes is least squares as the table counts it: three lines, the codes
// chosen before each and not after the last.
func lineThroughCodes(dst, x []float32, codes []byte, bits int) {
	var scale, low [1]float32
	g := RowGroups(len(x), len(x))
	FitMinMax(codes, scale[:], low[:], x, g, bits, false)
	s, m, _ := line(codes, x, g, 0)
	for range 2 {
		assign(codes, x, g, 0, s, m, 1<<bits-1)
		s, m, _ = line(codes, x, g, 0)
	}
	readAffine(dst, codes, s, m)
}

func readAffine(dst []float32, codes []byte, s, m float32) {
	for i, code := range codes {
		dst[i] = float32(s*float32(code)) + m
	}
}

// signedMaximum is where FitUniform begins, ggml's rule of q4_0 for any width: the
// value of largest magnitude, with its sign, is the lowest level.
func signedMaximum(dst, x []float32, _ []byte, bits int) {
	half, most := float32(int(1)<<(bits-1)), float32(0)
	for _, v := range x {
		if max(v, -v) > max(most, -most) {
			most = v
		}
	}
	s := -most / half
	for i, v := range x {
		dst[i] = s * min(max(rint(v/s), -half), half-1)
	}
}

// scaleOfLevels is Lloyd–Max as the table counts it: two scales, the codes chosen
// before each and not after the last.
func scaleOfLevels(dst, x []float32, codes []byte, bits int) {
	table := LloydMaxTable(bits)
	var square float64
	for _, v := range x {
		square += float64(v) * float64(v)
	}
	s := math.Sqrt(square / float64(len(x)))
	for range 2 {
		var xc, cc float64
		for i, v := range x {
			k := 0
			for k+1 < len(table) && float64(table[k]+table[k+1])/2*s < float64(v) {
				k++
			}
			c := float64(table[k])
			codes[i], xc, cc = byte(k), xc+float64(v)*c, cc+c*c
		}
		s = xc / cc
	}
	for i, code := range codes {
		dst[i] = float32(s) * table[code]
	}
}

func fitLloydMaxGroup(dst, x []float32, codes []byte, bits int) {
	s, table := FitLloydMax(codes, x, bits, false), LloydMaxTable(bits)
	for i, code := range codes {
		dst[i] = s * table[code]
	}
}

// TestKappaOfTiles: halves for scales and minima and int8 for levels cost nothing
// that the table shows. Uniform levels, above 4 bits, are refitted twice from the
// signed maximum and lie up to 5 % below it. A compact channel pays less than a
// tenth for its 8-bit scale and zero, beyond 1 bit.
func TestKappaOfTiles(t *testing.T) {
	values, limit := kappaSample()
	x := normalFloats(newRand(8), values/2)
	for _, c := range kappaTable {
		expectKappa(t, "affine rows", c, kappaOfTiles(x, AffineRows(c.bits, c.group)), c.minMax, limit)
		rows := kappaOfTiles(x, KeyRows(c.bits, c.group))
		switch {
		case c.level != 0:
			expectKappa(t, "level rows", c, rows, c.levelCoded, limit)
		case c.signed != 0 && !(rows < c.signed && rows > (0.97-limit)*c.signed):
			t.Errorf("uniform rows, %d bits, groups of %d: κ = %.4g; the signed maximum has %.4g",
				c.bits, c.group, rows, c.signed)
		}
		if c.group != TileTokens {
			continue
		}
		expectKappa(t, "chan-a", c, kappaOfTiles(x, KeyChannels(c.bits)), c.minMax, limit)
		compact := kappaOfTiles(x, CompactChannels(c.bits)) / c.minMax
		if c.bits > 1 && !(compact > 1 && compact < 1.1) {
			t.Errorf("chan-c, %d bits: %.3f times the error of min–max", c.bits, compact)
		}
	}
}

// kappaOfTiles packs x as tiles of 128 channels.
func kappaOfTiles(x []float32, f KVFormat) float64 {
	const d = 128
	var header [2]byte
	tile, got := make([]byte, f.Tile(d).Bytes()), make([]float32, len(x))
	for at := 0; at < len(x); at += TileTokens * d {
		f.PackTile(tile, header[:], x[at:at+TileTokens*d], d)
		f.UnpackRows(got[at:], tile, header[:], d, TileTokens)
	}
	return relativeError(got, x)
}
