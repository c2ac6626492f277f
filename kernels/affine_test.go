package kernels

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestAffineRowsEqualTheVectors packs the golden inputs, 128 values a row, and
// holds what the tile then contains against another implementation's codes and
// fp16 metadata: exact.
func TestAffineRowsEqualTheVectors(t *testing.T) {
	const d = 128
	cases, read := goldenVectors(t, "minmax")
	held := 0
	for i, c := range cases {
		if c.Meta != "f16" {
			continue
		}
		held++
		x, codes, scale, low := read(c.X), read(c.Codes), read(c.Scale), read(c.Min)
		f := AffineRows(c.Bits, c.Group)
		tile, groups := make([]byte, f.Tile(d).Bytes()), groupsOf(d, f.Group)
		for row := range len(x) / d {
			at := row % TileTokens
			f.PackRow(tile, at, x[row*d:(row+1)*d])
			gotScale, gotLow, gotCodes := readAffineRow(tile, f, at, d)
			same(t, i, "scale", gotScale, scale[row*groups:(row+1)*groups])
			same(t, i, "min", gotLow, low[row*groups:(row+1)*groups])
			same(t, i, "code", widen(gotCodes), codes[row*d:(row+1)*d])
		}
	}
	if held < 48 {
		t.Errorf("%d golden cases with fp16 metadata, want 48", held)
	}
}

// readAffineRow takes one row of a tile apart.
func readAffineRow(tile []byte, f KVFormat, row, padded int) (scale, low []float32, codes []uint8) {
	scales, minima, payload := affineRow(tile, f, row, padded)
	for g := range groupsOf(padded, f.Group) {
		scale, low = append(scale, f16At(scales[2*g:])), append(low, f16At(minima[2*g:]))
	}
	codes = make([]uint8, padded)
	UnpackCodes(codes, payload, f.Bits)
	return scale, low, codes
}

// TestAffineTileReadsWhatWasFitted packs random rows and reads them back: every
// value is scale·code + min of its own group, within half a step of what it was.
func TestAffineTileReadsWhatWasFitted(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, d := range []int{8, 16, 64, 72, 80, 96, 128, 256} {
		for bits := 1; bits <= 8; bits++ {
			for _, group := range []int{16, 32, 64, 128} {
				f := AffineRows(bits, group)
				padded := PaddedHeadDim(d)
				x, got := make([]float32, 32*padded), make([]float32, 32*padded)
				for row := range 32 {
					for i := range d {
						x[row*padded+i] = float32(random.NormFloat64()) * float32(row+1)
					}
				}
				tile := bytes.Repeat([]byte{0xff}, f.Tile(d).Bytes())
				f.PackTile(tile, nil, x, d)
				f.UnpackRows(got, tile, nil, d, 32)
				checkAffineRows(t, f, d, x, got, tile)
			}
		}
	}
}

func checkAffineRows(t *testing.T, f KVFormat, d int, x, got []float32, tile []byte) {
	t.Helper()
	padded := PaddedHeadDim(d)
	for row := range 32 {
		scale, low, codes := readAffineRow(tile, f, row, padded)
		for i := range padded {
			at := row*padded + i
			if i >= d {
				if got[at] != 0 || codes[i] != 0 {
					t.Fatalf("%v, d=%d: padded channel %d of row %d reads %v, code %d",
						f, d, i, row, got[at], codes[i])
				}
				continue
			}
			s, m := scale[i/f.Group], low[i/f.Group]
			if want := float32(s*float32(codes[i])) + m; got[at] != want {
				t.Fatalf("%v, d=%d: row %d channel %d reads %v, want %v",
					f, d, row, i, got[at], want)
			}
			// Half a step, and what rounding scale and minimum to fp16 moves.
			steps := float64(int(1)<<f.Bits - 1)
			bound := float64(s)/2 + (math.Abs(float64(m))+steps*float64(s))*0x1p-10
			if off := math.Abs(float64(got[at] - x[at])); off > bound {
				t.Fatalf("%v, d=%d: row %d channel %d reads %v for %v, off by %v > %v",
					f, d, row, i, got[at], x[at], off, bound)
			}
		}
	}
}

// TestPaddingIsZero: padded channels leave no bit in the payload, whatever lay
// there before.
func TestPaddingIsZero(t *testing.T) {
	for _, d := range []int{8, 24, 72} {
		for bits := 1; bits <= 8; bits++ {
			f := AffineRows(bits, 32)
			padded := PaddedHeadDim(d)
			tile := bytes.Repeat([]byte{0xff}, f.Tile(d).Bytes())
			x := make([]float32, d)
			for i := range x {
				x[i] = float32(i % 5)
			}
			f.PackRow(tile, 7, x)
			_, _, codes := readAffineRow(tile, f, 7, padded)
			for i, c := range codes[d:] {
				if c != 0 {
					t.Errorf("%v: padded channel %d of %d has code %d", f, d+i, padded, c)
				}
			}
		}
	}
}

// TestRowOrderDoesNotMatter: a tile written row by row in any order is the tile
// written at once.
func TestRowOrderDoesNotMatter(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for bits := 1; bits <= 8; bits++ {
		f, d := AffineRows(bits, 32), 80
		x := make([]float32, 32*d)
		for i := range x {
			x[i] = float32(random.NormFloat64())
		}
		whole, rows := make([]byte, f.Tile(d).Bytes()), make([]byte, f.Tile(d).Bytes())
		f.PackTile(whole, nil, x, d)
		for _, row := range random.Perm(32) {
			f.PackRow(rows, row, x[row*d:(row+1)*d])
		}
		if !bytes.Equal(whole, rows) {
			t.Errorf("%v: rows one by one differ from the tile at once", f)
		}
	}
}

// TestDegenerateGroups are the inputs on which the formula alone would fail.
func TestDegenerateGroups(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	fill := func(v float32) []float32 {
		x := make([]float32, 16)
		for i := range x {
			x[i] = v
		}
		return x
	}
	with := func(x []float32, at int, v float32) []float32 { x[at] = v; return x }
	for _, c := range []struct {
		name     string
		x        []float32
		bits     int
		scale, m float32
		want     map[int]float32 // what some channels read as
	}{
		{"zero", fill(0), 4, 0, 0, map[int]float32{0: 0, 15: 0}},
		{"constant", fill(1.5), 4, 0, 1.5, map[int]float32{0: 1.5, 15: 1.5}},
		{"constant no half", fill(0.1), 4, 0, 0.099975586, map[int]float32{3: 0.099975586}},
		{"denormal float32", fill(1e-42), 2, 0, 0, map[int]float32{3: 0}},
		{"range below the smallest half", with(fill(0), 2, 1e-8), 2, 0, 0, map[int]float32{2: 0}},
		{"subnormal scale", with(fill(0), 2, 0x1p-20), 4, 0x1p-24, 0,
			map[int]float32{0: 0, 2: 15 * 0x1p-24}},
		{"one outlier", with(fill(0), 2, 65504), 4, 4368, 0, map[int]float32{0: 0, 2: 65520}},
		{"widest range", with(fill(-65504), 2, 65504), 2, 43680, -65504,
			map[int]float32{0: -65504, 2: 65536}},
		{"widest range, one bit", with(fill(-65504), 2, 65504), 1, 65504, -65504,
			map[int]float32{0: -65504, 2: 0}},
		{"beyond half", with(fill(0), 2, 1e9), 4, 4368, 0, map[int]float32{0: 0, 2: 65520}},
		{"infinite", with(with(fill(0), 2, inf), 3, -inf), 8, 514, -65504,
			map[int]float32{0: -226, 2: 65566, 3: -65504}},
		{"NaN", with(fill(2), 2, nan), 1, 2, 0, map[int]float32{0: 2, 2: 0}},
		{"all NaN", fill(nan), 8, 0, 0, map[int]float32{0: 0, 15: 0}},
	} {
		f := AffineRows(c.bits, 16)
		tile, got := make([]byte, f.Tile(16).Bytes()), make([]float32, 16)
		f.PackRow(tile, 0, c.x)
		if scale, low, _ := readAffineRow(tile, f, 0, 16); scale[0] != c.scale || low[0] != c.m {
			t.Errorf("%s: scale %v, min %v, want %v, %v", c.name, scale[0], low[0], c.scale, c.m)
		}
		f.UnpackRows(got, tile, nil, 16, 1)
		for i, want := range c.want {
			if got[i] != want {
				t.Errorf("%s: channel %d reads %v, want %v", c.name, i, got[i], want)
			}
		}
	}
}

// TestFiniteHalfToF32 widens every finite half as the reference does.
func TestFiniteHalfToF32(t *testing.T) {
	for h := range 1 << 16 {
		if h&0x7c00 == 0x7c00 {
			continue
		}
		got, want := finiteHalfToF32(uint16(h)), F16ToF32(uint16(h))
		if math.Float32bits(got) != math.Float32bits(want) {
			t.Fatalf("finiteHalfToF32(%#x) = %v, want %v", h, got, want)
		}
	}
}

// FuzzAffineRow: any bytes as a row give finite metadata and finite readings.
func FuzzAffineRow(f *testing.F) {
	f.Add(uint8(3), []byte{0, 0, 0xc0, 0x7f, 0, 0, 0x80, 0xff, 1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, bits uint8, data []byte) {
		format := AffineRows(int(bits%8)+1, 32)
		x := make([]float32, 80)
		for i := range x {
			if 4*i+4 <= len(data) {
				x[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
			}
		}
		tile, got := make([]byte, format.Tile(80).Bytes()), make([]float32, 80)
		format.PackRow(tile, 0, x)
		format.UnpackRows(got, tile, nil, 80, 1)
		for i, v := range got {
			if v != v || v > 2*maxHalf+64 || v < -maxHalf {
				t.Errorf("%v: %v reads as %v", format, x[i], v)
			}
		}
	})
}

func BenchmarkAffineTile(b *testing.B) {
	for _, bits := range []int{2, 3, 4, 8} {
		f, x := AffineRows(bits, 32), make([]float32, 32*64)
		random := rand.New(rand.NewPCG(7, 8))
		for i := range x {
			x[i] = float32(random.NormFloat64())
		}
		tile := make([]byte, f.Tile(64).Bytes())
		b.Run(fmt.Sprintf("pack/bits=%d", bits), func(b *testing.B) {
			b.SetBytes(32 * 64)
			for b.Loop() {
				f.PackTile(tile, nil, x, 64)
			}
		})
		b.Run(fmt.Sprintf("unpack/bits=%d", bits), func(b *testing.B) {
			b.SetBytes(32 * 64)
			for b.Loop() {
				f.UnpackRows(x, tile, nil, 64, 32)
			}
		})
	}
}
