package kernels

// Tiles taken apart: what attention reads through TileCodes is what UnpackRows says
// a tile means, on every Set and format, for any bytes; codes of every row length
// come back as they were packed; and nothing on this path allocates.

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// headDims are dims with whole and padded rows, short and single groups.
var headDims = []int{8, 24, 64, 72, 80, 96, 128, 256}

// formatsOf are all formats of so many bits with the groups they have.
func formatsOf(bits int) (formats []KVFormat) {
	for _, g := range []int{16, 32, 64, 128} {
		formats = append(formats, KeyRows(bits, g), ValueRows(bits, g), AffineRows(bits, g))
	}
	return append(formats, KeyChannels(bits), CompactChannels(bits))
}

// randomTile is a tile of any codes whose halves, and those of the header, are
// finite: large, small, subnormal, negative.
func randomTile(r *rand.Rand, f KVFormat, d int) (tile, header []byte) {
	tile, header = make([]byte, f.Tile(d).Bytes()), make([]byte, 2)
	for i := range tile {
		tile[i] = byte(r.Uint32())
	}
	halves := tile[:f.channelScaleBytes()*f.TileScales(d)]
	if f.Kind == KVCompact {
		halves = header // its scales are whole numbers
	}
	for i := 0; i < len(halves); i += 2 {
		h := uint16(r.Uint32())
		if h&0x7c00 == 0x7c00 {
			h &^= 0x0400
		}
		binary.LittleEndian.PutUint16(halves[i:], h)
	}
	return tile, header
}

// newTileCodes is room for a tile of f, canaries where nothing is written.
func newTileCodes(f KVFormat, d int) *TileCodes {
	t := &TileCodes{
		Codes:  make([]int8, TileTokens*PaddedHeadDim(d)),
		Scales: make([]float32, f.TileScales(d)),
		Minima: make([]float32, f.TileScales(d)),
	}
	fillCanary(t.Scales)
	fillCanary(t.Minima)
	for i := range t.Codes {
		t.Codes[i] = 77
	}
	return t
}

func TestTileCodesAreTheRows(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		r := newRand(41)
		generic := Generic()
		for bits := 1; bits <= 8; bits++ {
			for _, f := range formatsOf(bits) {
				for _, d := range headDims {
					tile, header := randomTile(r, f, d)
					whole := newTileCodes(f, d)
					whole.Read(&s, &f, tile, header, d, 0, TileTokens)
					checkTileCodes(t, f, d, whole, tile, header)

					same := newTileCodes(f, d)
					same.Read(&generic, &f, tile, header, d, 0, TileTokens)
					if !slices.Equal(whole.Codes, same.Codes) || !sameBits(whole.Scales, same.Scales) ||
						!sameBits(whole.Minima, same.Minima) {
						t.Fatalf("%v, d=%d: differs from the references", f, d)
					}
					from := r.IntN(TileTokens)
					end := from + 1 + r.IntN(TileTokens-from)
					part := newTileCodes(f, d)
					part.Read(&s, &f, tile, header, d, from, end)
					checkPart(t, f, d, part, whole, from, end)
				}
			}
		}
	})
}

// checkTileCodes holds scale·code + minimum against UnpackRows: exact where there
// are no minima; else the minimum is that of code 0, in 2⁻²² of the terms.
func checkTileCodes(t *testing.T, f KVFormat, d int, c *TileCodes, tile, header []byte) {
	t.Helper()
	padded := PaddedHeadDim(d)
	want := make([]float32, TileTokens*padded)
	f.UnpackRows(want, tile, header, d, TileTokens)
	ng := len(c.Scales) / TileTokens
	for row := range TileTokens {
		for channel := range d {
			at, i := channel, row*padded+channel
			if f.ByRow() {
				at = row*ng + channel/f.Group
			}
			scale, code := c.Scales[at], float32(c.Codes[i])
			if !f.HasMinima() {
				if got := scale * code; got != want[i] {
					t.Fatalf("%v, d=%d: row %d, channel %d is %v; UnpackRows has %v",
						f, d, row, channel, got, want[i])
				}
				continue
			}
			low := float64(c.Minima[at])
			got := float64(scale)*float64(code) + low
			bound := 0x1p-22 * (math.Abs(low) + math.Abs(float64(scale))*math.Exp2(float64(f.Bits)))
			if !(math.Abs(got-float64(want[i])) <= bound) {
				t.Fatalf("%v, d=%d: row %d, channel %d is %v; UnpackRows has %v ± %.2g",
					f, d, row, channel, got, want[i], bound)
			}
		}
	}
	if !f.HasMinima() && slices.ContainsFunc(c.Minima, func(v float32) bool { return !isCanary(v) }) {
		t.Fatalf("%v, d=%d: minima were written", f, d)
	}
}

// checkPart holds rows from to end against the whole; the others are as they were.
func checkPart(t *testing.T, f KVFormat, d int, part, whole *TileCodes, from, end int) {
	t.Helper()
	padded := PaddedHeadDim(d)
	for i, code := range part.Codes {
		if row := i / padded; row < from || row >= end {
			if code != 77 {
				t.Fatalf("%v, d=%d: reading rows %d to %d wrote row %d", f, d, from, end, row)
			}
		} else if code != whole.Codes[i] {
			t.Fatalf("%v, d=%d: rows %d to %d read differently from the whole", f, d, from, end)
		}
	}
	first, last := 0, len(whole.Scales)
	if f.ByRow() {
		ng := len(whole.Scales) / TileTokens
		first, last = from*ng, end*ng
	}
	for i := range whole.Scales {
		inside := i >= first && i < last
		if inside && !sameBits(part.Scales[i:i+1], whole.Scales[i:i+1]) ||
			inside && !sameBits(part.Minima[i:i+1], whole.Minima[i:i+1]) ||
			!inside && !(isCanary(part.Scales[i]) && isCanary(part.Minima[i])) {
			t.Fatalf("%v, d=%d: scale %d of rows %d to %d", f, d, i, from, end)
		}
	}
}

// TestCompactChannelsByTheBook holds the bytes of chan-c against its formula, on
// channels of many sizes, two of which lie too far from 0 for an 8-bit zero at the
// step of their range:
//
//	need = max(s, max x/(2^(bits−1)−1+127), −min x/(2^(bits−1)+127)), S = max need/255
//	as the next half, u = clamp(⌈need/S⌉, 1, 255), zero = rint(−min/(S·u)) − 2^(bits−1)
func TestCompactChannelsByTheBook(t *testing.T) {
	const d = 16
	x := normalFloats(newRand(44), TileTokens*d)
	for i := range x {
		x[i] *= float32(i%d) / 8
		x[i] += float32(map[int]float64{3: 200, 4: -200}[i%d])
	}
	for bits := 1; bits <= 8; bits++ {
		f, top := CompactChannels(bits), math.Exp2(float64(bits))-1
		tile, header := make([]byte, f.Tile(d).Bytes()), make([]byte, 2)
		f.PackTile(tile, header, x, d)
		var need, low [d]float64
		half := math.Exp2(float64(bits - 1))
		for c := range d {
			column := make([]float32, 0, TileTokens)
			for r := range TileTokens {
				column = append(column, x[r*d+c])
			}
			least, most := slices.Min(column), slices.Max(column)
			need[c] = max(float64(roundHalf((most-least)/float32(top))), float64(most)/(half+126),
				-float64(least)/(half+127))
			low[c] = float64(roundHalf(least))
		}
		super := float64(roundHalf(float32(slices.Max(need[:]) / 255)))
		if super < slices.Max(need[:])/255 {
			super = float64(F16ToF32(F32ToF16(float32(super)) + 1))
		}
		if got := float64(f16At(header)); got != super {
			t.Fatalf("%d bits: super-scale %v; want %v", bits, got, super)
		}
		for c := range d {
			u := min(max(math.Ceil(need[c]/super*(1-1e-7)), 1), 255)
			zero := math.RoundToEven(-low[c]/(super*u)) - math.Exp2(float64(bits-1))
			zero = min(max(zero, -128), 127)
			if float64(tile[c]) != u || float64(int8(tile[d+c])) != zero {
				t.Errorf("%d bits, channel %d: scale %d, zero %d; want %v, %v", bits, c, tile[c],
					int8(tile[d+c]), u, zero)
			}
		}
	}
}

// TestCompactChannelsReachTheirValues: wherever a channel lies, as far from 0 as
// its range times 40, each value reads within half a step of itself.
func TestCompactChannelsReachTheirValues(t *testing.T) {
	const d = 64
	x := normalFloats(newRand(45), TileTokens*d)
	for i := range x {
		x[i] = x[i]*float32(1+i%7)/4 + float32(i%d-32)/2*float32(i%3)
	}
	for bits := 1; bits <= 8; bits++ {
		f := CompactChannels(bits)
		tile, header, got := make([]byte, f.Tile(d).Bytes()), make([]byte, 2), make([]float32, TileTokens*d)
		f.PackTile(tile, header, x, d)
		f.UnpackRows(got, tile, header, d, TileTokens)
		for i, v := range x {
			step := float64(f16At(header)) * float64(tile[i%d])
			if off := math.Abs(float64(v - got[i])); off > 0.501*step+math.Abs(float64(v))/1024 {
				t.Fatalf("%d bits, channel %d: %v reads as %v, off by %.2f steps", bits, i%d, v, got[i], off/step)
			}
		}
	}
}

// TestCodesComeBack: packing and unpacking every width and row length up to the
// longest, by the references and by every Set, which reads levels: here the code
// itself up to 4 bits.
func TestCodesComeBack(t *testing.T) {
	r := newRand(43)
	table := make([]int8, 16)
	for i := range table {
		table[i] = int8(i)
	}
	sets := All()
	for bits := 1; bits <= 8; bits++ {
		for padded := 16; padded <= MaxHeadDim; padded += 16 {
			codes := make([]uint8, padded)
			for i := range codes {
				codes[i] = uint8(r.IntN(1 << bits))
			}
			codes[0], codes[padded-1] = 1<<bits-1, 1<<bits-1
			packed, got := make([]byte, padded*bits/8), make([]uint8, padded)
			PackCodes(packed, codes, bits)
			UnpackCodes(got, packed, bits)
			if !bytes.Equal(got, codes) {
				t.Fatalf("%d bits, %d channels: codes come back as others", bits, padded)
			}
			for _, s := range sets {
				signed := make([]int8, padded)
				s.Unpack[bits](signed, packed, len(packed), padded, 1, table)
				for i, code := range codes {
					want := int8(code)
					if bits > LloydMaxBits {
						want = int8(int(code) - 1<<(bits-1))
					}
					if signed[i] != want {
						t.Fatalf("%s, %d bits, %d channels: code %d of channel %d reads as %d",
							s.Name, bits, padded, code, i, signed[i])
					}
				}
			}
		}
	}
}

// TestTilesAllocateNothing: writing rows and tiles with a Set, and taking tiles
// apart, for every format and fit.
func TestTilesAllocateNothing(t *testing.T) {
	const d = 72
	padded := PaddedHeadDim(d)
	x, codes := normalFloats(newRand(47), TileTokens*padded), make([]uint8, padded)
	widths := []int{1, 4, 5, 8} // levels by table and uniform ones, and absmax
	if testing.Short() {
		widths = []int{3, 8}
	}
	eachSet(t, func(t *testing.T, s Set) {
		for _, bits := range widths {
			for _, f := range append(formatsOf(bits), formatsWithFits(bits)...) {
				tile, header := make([]byte, f.Tile(d).Bytes()), make([]byte, 2)
				read := newTileCodes(f, d)
				ops := map[string]func(){
					"PackTileBy": func() { f.PackTileBy(&s, tile, header, x, d, codes) },
					"Read":       func() { read.Read(&s, &f, tile, header, d, 0, TileTokens) },
				}
				if f.ByRow() {
					// A tile by rows is its rows.
					ops["PackTileBy"] = func() { f.PackRowBy(&s, tile, 3, x[:d], codes) }
				}
				for name, op := range ops {
					// Of three runs, so that a stray allocation of the runtime does not count.
					if n := testing.AllocsPerRun(3, op); n != 0 {
						t.Errorf("%s of %v, %v, clip %d allocates %v times", name, f, f.Fit,
							f.ClipPercent, n)
					}
				}
			}
		}
	})
}
