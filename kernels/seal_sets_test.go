package kernels

// What sealing and mixing use, of every Set, against the references, between guard
// pages. All of it is exact.

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"
)

// codes is place as n codes that no fit has written.
func (g *guarded) codes(n int) []uint8 {
	codes := g.place(n, 1)
	fillCodes(codes)
	return codes
}

func TestFitsOfSets(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		r := newRand(31)
		values, codes := newGuarded(t, 4*maxGroup), newGuarded(t, maxGroup)
		for name, fill := range sealInputs {
			for _, n := range sealLengths {
				for bits := 1; bits <= 8; bits++ {
					for _, debias := range []bool{false, true} {
						x := values.floats(n)
						fill(r, x)
						what := fmt.Sprintf("%s, n=%d, %d bits, de-biased %t", name, n, bits, debias)
						checkFits(t, s, x, codes, bits, debias, what)
					}
				}
			}
		}
	})
}

// checkFits holds the fits of a Set against the references. x may be any values
// within ±65504.
func checkFits(t *testing.T, s Set, x []float32, codes *guarded, bits int, debias bool,
	what string) {
	t.Helper()
	type fit struct {
		name     string
		set, ref func([]uint8, []float32) float32
	}
	fits := []fit{{"FitUniform",
		func(c []uint8, x []float32) float32 { return s.FitUniform(c, x, bits, debias) },
		func(c []uint8, x []float32) float32 { return FitUniform(c, x, bits, debias) }}}
	if bits <= LloydMaxBits {
		table, half := LevelTable(bits), 1<<(bits-1)
		fits = append(fits, fit{"FitLevels",
			func(c []uint8, x []float32) float32 { return s.FitLevels(c, x, table, half, debias) },
			func(c []uint8, x []float32) float32 { return FitLevels(c, x, table, half, debias) }})
	}
	for _, f := range fits {
		got, want := codes.codes(len(x)), make([]uint8, len(x))
		before := slices.Clone(x)
		var scale float32
		noFault(t, func() { scale = f.set(got, x) })
		reference := f.ref(want, x)
		if math.Float32bits(scale) != math.Float32bits(reference) {
			t.Fatalf("%s: %s: scale %g (%#08x); want %g (%#08x)", f.name, what, scale,
				math.Float32bits(scale), reference, math.Float32bits(reference))
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%s: %s: codes %v; want %v", f.name, what, got, want)
		}
		if !sameBits(before, x) {
			t.Fatalf("%s: %s: the values were changed", f.name, what)
		}
	}
}

// FuzzFits fits raw bits, made finite.
func FuzzFits(f *testing.F) {
	f.Add([]byte("values of no particular size, nor of any meaning at all"), uint8(3), true)
	f.Add([]byte{0, 0, 128, 63, 0, 0, 0, 191, 0, 0, 0, 128, 1, 0, 0, 0}, uint8(0), false)
	f.Fuzz(func(t *testing.T, data []byte, bits uint8, debias bool) {
		x := fuzzFloats(data, 1)
		x = x[:min(len(x), maxGroup)]
		if len(x) == 0 {
			return
		}
		FiniteRow(x)
		codes := newGuarded(t, maxGroup)
		for _, s := range All() {
			checkFits(t, s, x, codes, int(bits%8)+1, debias, s.Name)
		}
	})
}

// TestValuesOnBorders: where a value lies on a border, or one step of float32 beside
// it, the Sets choose alike. The values settle the scale at 1 or close to it.
func TestValuesOnBorders(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		codes := newGuarded(t, maxGroup)
		for bits := 1; bits <= LloydMaxBits; bits++ {
			levels := lloydMax[bits]
			for _, scale := range []float32{1, 0.75, 0x1p-14, 3000} {
				x := make([]float32, 0, maxGroup)
				for i := 1; i < len(levels); i++ {
					border := (levels[i-1] + levels[i]) / 2 * scale
					x = append(x, border, math.Nextafter32(border, 1e9), math.Nextafter32(border, -1e9))
				}
				for len(x) < maxGroup {
					x = append(x, scale*levels[len(x)%len(levels)])
				}
				for _, debias := range []bool{false, true} {
					checkFits(t, s, x, codes, bits, debias, fmt.Sprintf("borders at %g", scale))
				}
			}
		}
	})
}

func TestFinite(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	edges := []float32{nan, -nan, inf, -inf, maxHalf, -maxHalf, math.Nextafter32(maxHalf, inf),
		-math.Nextafter32(maxHalf, inf), 0, float32(math.Copysign(0, -1)), 1e-45, 1e38,
		math.Float32frombits(0xff800001), math.Float32frombits(0x7fffffff)}
	eachSet(t, func(t *testing.T, s Set) {
		g, r := newGuarded(t, 4*40000), newRand(32)
		for _, n := range append(vectorLengths(), 0, 40000) {
			want := make([]float32, n)
			for i := range want {
				want[i] = math.Float32frombits(r.Uint32())
				if r.IntN(3) == 0 {
					want[i] = edges[r.IntN(len(edges))]
				}
			}
			got := g.floatsOf(want)
			noFault(t, func() { s.Finite(got) })
			for i, v := range want {
				switch {
				case v != v:
					v = 0
				case v > 65504:
					v = 65504
				case v < -65504:
					v = -65504
				}
				if math.Float32bits(got[i]) != math.Float32bits(v) {
					t.Fatalf("Finite(n=%d): %g (%#08x) became %g; want %g", n, want[i],
						math.Float32bits(want[i]), got[i], v)
				}
			}
		}
	})
}

func TestPackOfSets(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		r := newRand(33)
		gd, gc := newGuarded(t, MaxHeadDim), newGuarded(t, MaxHeadDim)
		for bits := 1; bits <= 8; bits++ {
			for n := 0; n <= MaxHeadDim; n += 16 {
				if testing.Short() && n > 256 {
					break
				}
				codes := gc.place(n, 1)
				for i := range codes {
					codes[i] = uint8(r.UintN(1 << bits))
				}
				got, want := gd.codes(n*bits/8), make([]byte, n*bits/8)
				noFault(t, func() { s.Pack(got, codes, bits) })
				PackCodes(want, codes, bits)
				if !bytes.Equal(got, want) {
					t.Fatalf("Pack(n=%d, bits=%d) = %x; want %x", n, bits, got, want)
				}
			}
		}
	})
}

func TestScaleRows(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		r := newRand(34)
		const most = 33 * 64
		gd, gw, gs := newGuarded(t, 4*most), newGuarded(t, 4*33), newGuarded(t, 4*most)
		for _, ng := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 64} {
			for rows := 0; rows <= 33; rows++ {
				w, scales := gw.floatsOf(normalFloats(r, rows)), gs.floatsOf(normalFloats(r, rows*ng))
				got := gd.floats(rows * ng)
				noFault(t, func() { s.ScaleRows(got, w, scales, ng) })
				for i, v := range got {
					if want := w[i/ng] * scales[i]; math.Float32bits(v) != math.Float32bits(want) {
						t.Fatalf("ScaleRows(rows=%d, ng=%d): %d = %g; want %g", rows, ng, i, v, want)
					}
				}
			}
		}
	})
}

// TestPackingByASet: whole tiles and rows of every format, by every Set, are the ones
// that the references write, and the row's own codes end where the row ends.
func TestPackingByASet(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		r := newRand(35)
		for _, d := range []int{8, 40, 64, 72, 80, 128, 256} {
			padded := PaddedHeadDim(d)
			codes := make([]uint8, padded)
			for bits := 1; bits <= 8; bits++ {
				for _, f := range []KVFormat{KeyRows(bits, 32), ValueRows(bits, 64), KeyRows(bits, 128),
					AffineRows(bits, 64), KeyChannels(bits), CompactChannels(bits)} {
					x := normalFloats(r, TileTokens*padded)
					x[r.IntN(len(x))] = float32(math.Inf(-1))
					size, headers := f.Tile(d).Bytes(), make([]byte, 4)
					got, want := make([]byte, size), make([]byte, size)
					before := slices.Clone(x)
					f.PackTile(want, headers[:2], x, d)
					if !sameBits(before, x) {
						t.Fatalf("PackTile(%v, d=%d) changes its values", f, d)
					}
					fillCodes(codes)
					f.PackTileBy(&s, got, headers[2:], x, d, codes)
					if !bytes.Equal(got, want) || !bytes.Equal(headers[:2], headers[2:]) {
						t.Fatalf("PackTileBy(%v, d=%d) differs from PackTile", f, d)
					}
				}
			}
		}
	})
}

func TestSealingAllocatesNothing(t *testing.T) {
	eachSet(t, func(t *testing.T, s Set) {
		const d = 72
		x, w, codes := normalFloats(newRand(36), TileTokens*80), make([]float32, 32), make([]uint8, 80)
		tile := make([]byte, KeyRows(8, 16).Tile(d).Bytes())
		ops := map[string]func(){
			"Finite":    func() { s.Finite(x[1:]) },
			"ScaleRows": func() { s.ScaleRows(x, w, x, 3) },
		}
		for bits := 1; bits <= 8; bits++ {
			for _, f := range []*KVFormat{{Kind: KVRows, Bits: bits, Group: 64, Debias: true},
				{Kind: KVRows, Bits: bits, Group: 32}} {
				ops[f.String()] = func() {
					f.PackTileBy(&s, tile, nil, x, d, codes)
					f.PackRowBy(&s, tile, 3, x[:d-3], codes)
				}
			}
		}
		for name, op := range ops {
			if n := testing.AllocsPerRun(10, op); n != 0 {
				t.Errorf("%s allocates %v times a call", name, n)
			}
		}
	})
}

// BenchmarkSeal is what a row costs to seal: all of it, and its parts. MB/s are bytes
// of float32.
//
//	go test ./kernels -run - -bench Seal -benchtime 50ms
func BenchmarkSeal(b *testing.B) {
	const d = 64
	x, codes := normalFloats(newRand(37), TileTokens*d), make([]uint8, d)
	for _, s := range All() {
		for _, f := range []KVFormat{ValueRows(2, 64), KeyRows(4, 64), ValueRows(4, 64), KeyRows(4, 32),
			KeyRows(8, 64), ValueRows(8, 64)} {
			b.Run(fmt.Sprintf("Tile/%v/debias=%t/%s", f, f.Debias, s.Name), func(b *testing.B) {
				tile := make([]byte, f.Tile(d).Bytes())
				b.SetBytes(4 * TileTokens * d)
				for b.Loop() {
					f.PackTileBy(&s, tile, nil, x, d, codes)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/TileTokens, "ns/row")
			})
		}
		tile, w, scaled := make([]byte, d), x[:TileTokens], make([]float32, 2*TileTokens)
		for name, op := range map[string]func(){
			"FitLevels":      func() { s.FitLevels(codes, x[:d], LevelTable(4), 8, true) },
			"FitUniform":     func() { s.FitUniform(codes, x[:d], 8, true) },
			"Pack/4":         func() { s.Pack(tile, codes, 4) },
			"Pack/7":         func() { s.Pack(tile, codes, 7) },
			"Finite":         func() { s.Finite(x[:d]) },
			"ScaleRows/ng=1": func() { s.ScaleRows(scaled, w, x, 1) },
			"ScaleRows/ng=2": func() { s.ScaleRows(scaled, w, x, 2) },
		} {
			b.Run(name+"/"+s.Name, func(b *testing.B) {
				for b.Loop() {
					op()
				}
			})
		}
	}
}
