package kernels

// Bytes: the tables and check values of the notes on quantization, §2.4, read from
// the notes or written out here a second time, and what packing really writes.

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"edgeinfer/tests/shared"
	"pgregory.net/rapid"
)

// TestTileBytesEqualTheNotes holds every entry of the byte tables in the notes on
// quantization, §2.4, against Tile. Rows with a minimum (RA) have one more half a
// scale than the tables' level rows.
func TestTileBytesEqualTheNotes(t *testing.T) {
	data, err := os.ReadFile(shared.Path(t, "notes", "kv-quantization.md"))
	if err != nil {
		t.Fatal(err)
	}
	heading, entry := regexp.MustCompile(`^\*\*d = (\d+)\*\*`), regexp.MustCompile(`^(\d+) \(`)
	d, checked := 0, 0
	var columns []string
	for line := range strings.Lines(string(data)) {
		if m := heading.FindStringSubmatch(line); m != nil {
			d, _ = strconv.Atoi(m[1])
			continue
		}
		if d == 0 || !strings.HasPrefix(line, "| ") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		bits, err := strconv.Atoi(cells[0])
		if err != nil {
			columns = cells
			continue
		}
		for i, cell := range cells[1:] {
			m := entry.FindStringSubmatch(cell)
			want, _ := strconv.Atoi(m[1])
			checked += checkTileBytes(t, columns[i+1], bits, d, want)
		}
		if bits == 8 {
			d = 0
		}
	}
	if want := 5 * 8 * 6; checked != want { // five head dims; chan-S is no format of ours
		t.Errorf("%d entries checked, the tables have %d", checked, want)
	}
}

// checkTileBytes holds one entry of a table; it returns how many it knew.
func checkTileBytes(t *testing.T, column string, bits, d, want int) int {
	t.Helper()
	group, rows := strings.CutPrefix(column, "rows g=")
	g, _ := strconv.Atoi(group)
	var formats map[KVFormat]int
	switch {
	case rows:
		formats = map[KVFormat]int{KeyRows(bits, g): want, ValueRows(bits, g): want,
			AffineRows(bits, g): want + 64*((d+g-1)/g)}
	case column == "chan-A":
		formats = map[KVFormat]int{KeyChannels(bits): want}
	case column == "chan-C":
		formats = map[KVFormat]int{CompactChannels(bits): want}
	default:
		return 0
	}
	for f, want := range formats {
		if got := f.Tile(d); got.Bytes() != want || got.PaddingBytes != 0 {
			t.Errorf("%v.Tile(%d) = %+v; want %d bytes and no padding", f, d, got, want)
		}
	}
	return 1
}

// TestTileParts: payload, scales and padding of every format and head dim, written
// out a second time. Padding is what channels beyond d take; no group holds only
// such channels.
func TestTileParts(t *testing.T) {
	for _, d := range []int{8, 16, 24, 64, 72, 80, 96, 112, 128, 192, 256} {
		padded := (d + 15) / 16 * 16
		for bits := 1; bits <= 8; bits++ {
			payload, padding := 32*d*bits/8, 32*(padded-d)*bits/8
			for _, g := range []int{16, 32, 64, 128} {
				groups := (d + g - 1) / g
				expectTile(t, KeyRows(bits, g), d, TileSize{payload, 2 * 32 * groups, padding})
				expectTile(t, AffineRows(bits, g), d, TileSize{payload, 4 * 32 * groups, padding})
			}
			expectTile(t, KeyChannels(bits), d, TileSize{payload, 4 * d, padding + 4*(padded-d)})
			expectTile(t, CompactChannels(bits), d, TileSize{payload, 2 * d, padding + 2*(padded-d)})
		}
		expectTile(t, CacheF16, d, TileSize{64 * d, 0, 64 * (padded - d)})
		expectTile(t, CacheF32, d, TileSize{128 * d, 0, 128 * (padded - d)})
	}
}

// TestPageHeaders: of chan-c a half a KV head, in whole 32 bytes a page; else nothing.
func TestPageHeaders(t *testing.T) {
	for heads, want := range map[int]int{1: 32, 15: 32, 16: 32, 17: 64, 32: 64, 33: 96} {
		f := CompactChannels(4)
		tile, page := f.Tile(64), f.Page(heads, 64)
		if got := f.PageHeaderBytes(heads); got != want || page.Bytes() != heads*tile.Bytes()+want {
			t.Errorf("%d heads: a header of %d bytes in a page of %d; want %d", heads, got,
				page.Bytes(), want)
		}
		for _, f := range []KVFormat{CacheF16, CacheF32, AffineRows(4, 32), KeyRows(4, 64),
			KeyChannels(4)} {
			if got := f.PageHeaderBytes(heads); got != 0 || f.Page(heads, 64) != f.Tile(64).times(heads) {
				t.Errorf("%v: a page header of %d bytes", f, got)
			}
		}
	}
}

func expectTile(t *testing.T, f KVFormat, d int, want TileSize) {
	t.Helper()
	if got := f.Tile(d); got != want {
		t.Errorf("%v.Tile(%d) = %+v; want %+v", f, d, got, want)
	}
}

// TestCheckValuesOfTheNotes: sealed bytes per token of Llama 3.2 1B and SmolLM2,
// notes on quantization, §2.4.
func TestCheckValuesOfTheNotes(t *testing.T) {
	llama := func(k, v KVFormat) []KVLayer {
		layers := make([]KVLayer, 16)
		for i := range layers {
			layers[i] = KVLayer{QueryHeads: 32, KVHeads: 8, HeadDim: 64, K: k, V: v}
		}
		return layers
	}
	for _, c := range []struct {
		name   string
		layers []KVLayer
		want   float64
	}{
		{"Llama f16", llama(CacheF16, CacheF16), 32768},
		{"Llama k4v4", llama(KeyRows(4, 64), ValueRows(4, 64)), 8704},
		{"Llama chan-c4 v4", llama(CompactChannels(4), ValueRows(4, 64)), 8976},
		{"Llama chan-c4 v3", llama(CompactChannels(4), ValueRows(3, 64)), 7952},
		{"SmolLM2 f16", smol(CacheF16, CacheF16), 23040},
		{"SmolLM2 k4v4", smol(KeyRows(4, 64), ValueRows(4, 64)), 6120},
	} {
		g := KVGeometry{c.layers, 512, 1, 1, 1}
		if got := g.SealedBytesPerToken(); got != c.want {
			t.Errorf("%s: %v bytes a token; want %v", c.name, got, c.want)
		}
	}
}

// TestPartsOfACache: each line of a whole cache by itself, for channels with their
// headers, key means, balance factors, window and sinks.
func TestPartsOfACache(t *testing.T) {
	k := CompactChannels(4)
	k.Balance = true
	layer := KVLayer{QueryHeads: 40, KVHeads: 20, HeadDim: 72, K: k, V: ValueRows(2, 64)}
	g := KVGeometry{[]KVLayer{layer, layer}, 500, 1, 2, 1} // 16 tiles: 1 sink, 3 recent, 12 sealed
	const sealed, raw, padded = 12, 4, 80
	rows := 2 * 20 // layers × heads
	want := KVBytes{
		Payload: int64(rows * sealed * 32 * 72 * (4 + 2) / 8),
		// u8 and i8 a channel; 2 halves a row of values (64 + 16); 32 bytes a page for
		// every 16 heads.
		Scales:  int64(rows*sealed*(2*72+2*32*2) + 2*sealed*64),
		Padding: int64(rows * (padded - 72) * (sealed*(32*4/8+2+32*2/8) + 2*raw*64)),
		Window:  int64(rows * 2 * raw * 64 * 72),
		// μ and Λ, each rounded to 64 bytes.
		KeyMeans: int64(2 * 2 * (4 * 20 * 72)),
	}
	got := g.Bytes()
	want.PageTable = got.PageTable
	if got != want {
		t.Errorf("Bytes = %+v\nwant    %+v", got, want)
	}
	none := g
	none.WindowTiles, none.SinkTiles = -1, 0
	none.Layers = []KVLayer{{QueryHeads: 2, KVHeads: 1, HeadDim: 64,
		K: KeyRows(4, 64), V: ValueRows(4, 64)}}
	if b := none.Bytes(); b.KeyMeans != 0 || b.Window != 0 {
		t.Errorf("without window and sinks: %+v; want no means and no window", b)
	}
}

// TestBytesOfAnyCache holds every line of any cache against the formula of the
// notes, written out a second time with the ring of sliding-window layers, the
// spare pages of several sessions and the rounding of each piece to 64 bytes.
func TestBytesOfAnyCache(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGeometry(t)
		if err := g.Check(); err != nil {
			t.Fatalf("Check() = %v", err)
		}
		var want KVBytes
		table := bookTable(g, false) + bookTable(g, true)
		want.PageTable = int64(4*table+63) / 64 * 64
		for _, l := range g.Layers {
			values := int64(4 * l.KVHeads * l.HeadDim)
			if l.K.Centre && (g.WindowTiles >= 0 || (g.SinkTiles > 0 && l.WindowTokens == 0)) {
				want.KeyMeans += (values*int64(g.Sessions) + 63) / 64 * 64
			}
			if l.K.Balance {
				want.KeyMeans += (values + 63) / 64 * 64
			}
			for _, f := range []KVFormat{l.K, l.V} {
				addBookSide(&want, g, l, f)
			}
		}
		if got := g.Bytes(); got != want {
			t.Fatalf("%+v:\nBytes = %+v\nwant    %+v", g, got, want)
		}
		total := want.Payload + want.Scales + want.Padding + want.Window + want.KeyMeans +
			want.PageTable
		if got := g.Bytes().Total(); got != total {
			t.Fatalf("Total = %d; want %d", got, total)
		}
	})
}

// drawGeometry draws a cache of one to three layers of any kinds.
func drawGeometry(t *rapid.T) KVGeometry {
	layer := rapid.Custom(func(t *rapid.T) KVLayer {
		kinds := func(keys bool) KVFormat {
			bits := rapid.IntRange(1, 8).Draw(t, "bits")
			formats := []KVFormat{CacheF16, CacheF32, AffineRows(bits, 32), ValueRows(bits, 64)}
			if keys {
				formats = append(formats, KeyRows(bits, 128), KeyChannels(bits), CompactChannels(bits))
			}
			f := rapid.SampledFrom(formats).Draw(t, "format")
			f.Balance = keys && f.Quantized() && rapid.Bool().Draw(t, "balance")
			return f
		}
		heads := rapid.IntRange(1, 40).Draw(t, "heads")
		return KVLayer{QueryHeads: heads, KVHeads: heads, K: kinds(true), V: kinds(false),
			HeadDim:      rapid.SampledFrom([]int{8, 64, 72, 80, 96, 128, 256}).Draw(t, "d"),
			WindowTokens: rapid.SampledFrom([]int{0, 0, 31, 32, 500, 4096}).Draw(t, "sliding"),
		}
	})
	return KVGeometry{
		Layers:        rapid.SliceOfN(layer, 1, 3).Draw(t, "layers"),
		ContextTokens: rapid.IntRange(1, 3000).Draw(t, "context"),
		Sessions:      rapid.IntRange(1, 3).Draw(t, "sessions"),
		WindowTiles:   rapid.IntRange(0, 3).Draw(t, "window"),
		SinkTiles:     rapid.IntRange(0, 2).Draw(t, "sinks"),
	}
}

// bookTable is the page table of the pool of float or of sealed pages: an entry a
// tile for each session, two a page. All global sides of a pool have as many pages.
func bookTable(g KVGeometry, sealed bool) int {
	for _, l := range g.Layers {
		for _, f := range []KVFormat{l.K, l.V} {
			if l.WindowTokens > 0 || f.Quantized() != sealed {
				continue
			}
			pages, _ := bookPages(g, l, f)
			return g.Sessions*max(0, pages-spare(g, f)) + 2*pages
		}
	}
	return 0
}

// bookPages are the pages of one side and its raw pages, of all sessions.
func bookPages(g KVGeometry, l KVLayer, f KVFormat) (pages, raw int) {
	n, sinks := (g.ContextTokens+31)/32, g.SinkTiles
	if l.WindowTokens > 0 {
		n, sinks = (min(g.ContextTokens, l.WindowTokens+32)+31)/32, 0
	}
	pages = n
	if f.Quantized() {
		exact := sinks + g.WindowTiles + 1
		pages, raw = max(0, n-exact), min(n, exact)
	}
	if l.WindowTokens > 0 {
		pages *= g.Sessions
	} else if pages > 0 {
		pages += spare(g, f)
	}
	return pages, raw * g.Sessions
}

// spare are the pages that several sessions may need beyond what one does.
func spare(g KVGeometry, f KVFormat) int {
	if f.Quantized() && g.SinkTiles > 0 {
		return 0
	}
	return g.Sessions - 1
}

// addBookSide adds what the pages and the raw pages of one side take.
func addBookSide(b *KVBytes, g KVGeometry, l KVLayer, f KVFormat) {
	pages, raw := bookPages(g, l, f)
	d, padded := l.HeadDim, (l.HeadDim+15)/16*16
	payload, scales, padding := 32*d*f.Bits/8, 0, 32*(padded-d)*f.Bits/8
	header := 0
	switch f.Kind {
	case KVAffine:
		scales = 32 * 4 * ((d + f.Group - 1) / f.Group)
	case KVRows:
		scales = 32 * 2 * ((d + f.Group - 1) / f.Group)
	case KVChannels:
		scales, padding = 4*d, padding+4*(padded-d)
	case KVCompact:
		scales, padding, header = 2*d, padding+2*(padded-d), 32*((l.KVHeads+15)/16)
	}
	tiles := pages * l.KVHeads
	b.Payload += int64(tiles * payload)
	b.Scales += int64(tiles*scales + pages*header)
	b.Window += int64(raw * l.KVHeads * 64 * d)
	b.Padding += int64(tiles*padding + raw*l.KVHeads*64*(padded-d))
	// Pages and raw pages are two pieces.
	for _, bytes := range []int{tiles*(payload+scales+padding) + pages*header,
		raw * l.KVHeads * 64 * padded} {
		b.Padding += int64((bytes+63)/64*64 - bytes)
	}
}

// TestEveryFormatFillsItsTile: packing writes no byte beyond Tile(d), and reads
// back within the format's step; odd head dims too.
func TestEveryFormatFillsItsTile(t *testing.T) {
	for _, d := range []int{8, 64, 72, 80, 96, 128, 256} {
		for bits := 1; bits <= 8; bits++ {
			for _, f := range allFormats(bits) {
				t.Run(fmt.Sprintf("%v/%d", f, d), func(t *testing.T) {
					checkFilled(t, f, d)
				})
			}
		}
	}
}

// allFormats are all kinds of so many bits, with the groups they have.
func allFormats(bits int) (formats []KVFormat) {
	for _, g := range []int{16, 32, 64, 128} {
		formats = append(formats, KeyRows(bits, g), ValueRows(bits, g), AffineRows(bits, g))
	}
	return append(formats, KeyChannels(bits), CompactChannels(bits))
}

func checkFilled(t *testing.T, f KVFormat, d int) {
	const guard = 64
	padded, size := PaddedHeadDim(d), f.Tile(d).Bytes()
	x := normalFloats(newRand(uint64(d*10+f.Bits)), TileTokens*padded)
	buffer := make([]byte, size+2*guard)
	for i := range buffer {
		buffer[i] = 0xa5
	}
	header := make([]byte, 2)
	f.PackTile(buffer[guard:guard+size:guard+size], header, x, d)
	for i := range guard {
		if buffer[i] != 0xa5 || buffer[guard+size+i] != 0xa5 {
			t.Fatal("a byte outside the tile was written")
		}
	}
	got := make([]float32, TileTokens*padded)
	f.UnpackRows(got, buffer[guard:guard+size], header, d, TileTokens)
	var noise, energy float64
	for r := range TileTokens {
		for c := range padded {
			want, v := x[r*padded+c], got[r*padded+c]
			if c >= d {
				if v != 0 {
					t.Fatalf("padded channel %d reads %v", c, v)
				}
				continue
			}
			noise += float64(want-v) * float64(want-v)
			energy += float64(want) * float64(want)
		}
	}
	if limit := looseError(f); noise > limit*energy {
		t.Errorf("relative square error %.3g; want below %g", noise/energy, limit)
	}
}

// looseError is 1.3 times the relative square error κ of the format's kind in
// groups of 128, the largest: room for a tile of 32 rows, none for a group or a plane
// in the wrong place. TestKappaTable holds the figures themselves. A scale
// without bias leaves κ/(1−κ).
func looseError(f KVFormat) float64 {
	levels := [...]float64{1: 0.37, 0.118, 0.034, 0.0093, 0.0027, 6.7e-4, 1.7e-4, 4.2e-5}
	affine := [...]float64{1: 3.6, 0.25, 0.046, 0.01, 0.0024, 5.7e-4, 1.4e-4, 3.5e-5}
	switch {
	case f.Debias:
		return 1.3 * levels[f.Bits] / (1 - levels[f.Bits])
	case f.Kind == KVRows:
		return 1.3 * levels[f.Bits]
	}
	return 1.3 * affine[f.Bits]
}
