package kernels

import (
	"strings"
	"testing"
)

// TestAffineTileBytes is the table of the cache formats: 32 rows of d·b/8
// bytes and two halves for each row and group.
func TestAffineTileBytes(t *testing.T) {
	for _, d := range []int{64, 80, 96, 128, 256} {
		for bits := 1; bits <= 8; bits++ {
			for _, group := range []int{16, 32, 64, 128} {
				want := 4*d*bits + 128*((d+group-1)/group)
				got := AffineRows(bits, group).Tile(d)
				if got.Bytes() != want || got.PaddingBytes != 0 {
					t.Errorf("ra%dg%d.Tile(%d) = %+v, want %d bytes and no padding",
						bits, group, d, got, want)
				}
				if got.Bytes()%32 != 0 {
					t.Errorf("ra%dg%d.Tile(%d) is %d bytes, no multiple of 32",
						bits, group, d, got.Bytes())
				}
			}
		}
	}
}

func TestTileSizes(t *testing.T) {
	for _, c := range []struct {
		format  KVFormat
		headDim int
		want    TileSize
	}{
		{CacheF16, 64, TileSize{4096, 0, 0}},
		{CacheF32, 64, TileSize{8192, 0, 0}},
		{CacheF16, 8, TileSize{512, 0, 512}},
		{CacheF32, 72, TileSize{9216, 0, 1024}},
		{AffineRows(4, 32), 8, TileSize{128, 128, 128}},
		{AffineRows(1, 16), 72, TileSize{288, 640, 32}},
		{AffineRows(3, 64), 80, TileSize{960, 256, 0}},
	} {
		if got := c.format.Tile(c.headDim); got != c.want {
			t.Errorf("%v.Tile(%d) = %+v, want %+v", c.format, c.headDim, got, c.want)
		}
	}
}

func TestFormatNames(t *testing.T) {
	for format, want := range map[KVFormat]string{
		CacheF32: "f32", CacheF16: "f16", AffineRows(4, 32): "affine4g32",
		KeyRows(4, 64): "rows4g64", KeyChannels(3): "chan-a3", CompactChannels(5): "chan-c5",
	} {
		if got := format.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}

// smol is the shape of a small model: 30 layers, 9 query and 3 KV heads of 64.
func smol(k, v KVFormat) []KVLayer {
	layers := make([]KVLayer, 30)
	for i := range layers {
		layers[i] = KVLayer{QueryHeads: 9, KVHeads: 3, HeadDim: 64, K: k, V: v}
	}
	return layers
}

// TestSingleSessionFormula holds Bytes against max(0, N−σ−r−1) sealed tiles
// and min(N, σ+r+1) raw ones, written out here a second time.
func TestSingleSessionFormula(t *testing.T) {
	k, v := AffineRows(4, 32), AffineRows(2, 64)
	for context := 1; context <= 400; context += 7 {
		for window := -1; window <= 3; window++ {
			for sinks := 0; sinks <= 2; sinks++ {
				g := KVGeometry{smol(k, v), context, 1, window, sinks}
				n := (context + 31) / 32
				exact := sinks + window + 1
				sealed, raw := max(0, n-exact), min(n, exact)
				want := KVBytes{
					Payload: int64(30 * 3 * sealed * 4 * 64 * (4 + 2)),
					Scales:  int64(30 * 3 * sealed * (256 + 128)),
					Window:  int64(30 * 3 * raw * 2 * 64 * 64),
				}
				want.PageTable = int64((4*3*sealed + 63) / 64 * 64)
				if got := g.Bytes(); got != want {
					t.Fatalf("Bytes(context=%d, window=%d, sinks=%d) = %+v, want %+v",
						context, window, sinks, got, want)
				}
			}
		}
	}
}

func TestCheckValuesPerToken(t *testing.T) {
	for _, c := range []struct {
		k, v  KVFormat
		bytes float64
		bits  float64
	}{
		{CacheF16, CacheF16, 23040, 16},
		{CacheF32, CacheF32, 46080, 32},
		{AffineRows(4, 32), AffineRows(2, 64), 30 * 3 * (1280.0 + 640) / 32, 3.75},
	} {
		g := KVGeometry{smol(c.k, c.v), 512, 1, 1, 1}
		if got := g.SealedBytesPerToken(); got != c.bytes {
			t.Errorf("%v/%v: %v bytes per token, want %v", c.k, c.v, got, c.bytes)
		}
		if got := g.AverageBits(); got != c.bits {
			t.Errorf("%v/%v: %v bits on average, want %v", c.k, c.v, got, c.bits)
		}
	}
}

// TestSlidingWindowLayersHoldTheirWindow: N_l = ⌈min(T, window+32)/32⌉ tiles,
// no sinks, no page table.
func TestSlidingWindowLayersHoldTheirWindow(t *testing.T) {
	layer := KVLayer{QueryHeads: 4, KVHeads: 1, HeadDim: 256, K: AffineRows(4, 64), V: CacheF16}
	for _, c := range []struct{ window, context, raw, ring, tiles int }{
		{512, 4096, 2, 15, 17},
		{500, 4096, 2, 15, 17},
		{32, 4096, 2, 0, 2},
		{1024, 100, 2, 2, 4},
	} {
		layer.WindowTokens = c.window
		g := KVGeometry{[]KVLayer{layer}, c.context, 3, 1, 1}
		k, v := g.Store(layer, layer.K), g.Store(layer, layer.V)
		if k.RawSlots != c.raw || k.RingPages != c.ring || k.Pages != 0 {
			t.Errorf("window %d of %d: keys have %d raw, %d ring, %d shared pages, want %d, %d, 0",
				c.window, c.context, k.RawSlots, k.RingPages, k.Pages, c.raw, c.ring)
		}
		if v.RawSlots != 0 || v.RingPages != c.tiles || v.Pages != 0 {
			t.Errorf("window %d of %d: values have %d raw, %d ring, %d shared pages, want 0, %d, 0",
				c.window, c.context, v.RawSlots, v.RingPages, v.Pages, c.tiles)
		}
		if got := g.Bytes().PageTable; got != 0 {
			t.Errorf("window %d: page table of %d bytes, want none", c.window, got)
		}
	}
}

func TestGeometryCheck(t *testing.T) {
	good := func() KVGeometry { return KVGeometry{smol(CacheF16, AffineRows(4, 64)), 512, 1, 1, 1} }
	if err := good().Check(); err != nil {
		t.Fatalf("Check() = %v", err)
	}
	for name, spoil := range map[string]func(g *KVGeometry){
		"at least one layer": func(g *KVGeometry) { g.Layers = nil },
		"context is 0":       func(g *KVGeometry) { g.ContextTokens = 0 },
		"0 sessions":         func(g *KVGeometry) { g.Sessions = 0 },
		"window is -2":       func(g *KVGeometry) { g.WindowTiles = -2 },
		"-1 sink tiles":      func(g *KVGeometry) { g.SinkTiles = -1 },
		"layer 3: kernels: 9 query heads share 2 KV heads": func(g *KVGeometry) {
			g.Layers[3].KVHeads = 2
		},
		"layer 0: kernels: head dimension is 0": func(g *KVGeometry) { g.Layers[0].HeadDim = 0 },
		"layer 29: kernels: sliding window": func(g *KVGeometry) {
			g.Layers[29].WindowTokens = -1
		},
		"layer 1: keys: kernels: affine of 9 bits": func(g *KVGeometry) {
			g.Layers[1].K = AffineRows(9, 32)
		},
		"layer 1: values: kernels: groups of 48 in affine": func(g *KVGeometry) {
			g.Layers[1].V = AffineRows(4, 48)
		},
		"f32 rows take no bits": func(g *KVGeometry) { g.Layers[1].V = KVFormat{} },
	} {
		g := good()
		spoil(&g)
		if err := g.Check(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Check() = %v, want an error with %q", err, name)
		}
	}
}
