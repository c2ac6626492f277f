package kernels

// Cache formats and the byte formula of a whole cache. This file is its only
// owner: the planner sums what Bytes returns, the cache takes from the arena
// what Store and PageTable return, and the two are the same number to the byte.
//
// A tile is TileTokens consecutive positions of one (layer, KV head, side). A
// page holds the tiles of all KV heads of one (layer, side, tile index),
// head-major. Sides in a float format consist of pages alone. Sides in a
// quantized format have pages for what is sealed and, for each session, a few
// pages of 16-bit rows (raw pages): the sinks, the tile being filled and the
// WindowTiles before it.

import "fmt"

// TileTokens is the number of positions in one tile.
const TileTokens = 32

// MaxHeadDim is the largest head dimension a cache takes.
const MaxHeadDim = 1024

// maxContextTokens keeps every product of the byte formula within int64.
const maxContextTokens = 1 << 30

// KVKind is a family of cache formats.
type KVKind uint8

const (
	KVF32    KVKind = iota // float32 rows
	KVF16                  // IEEE half rows
	KVAffine               // rows of codes, fp16 scale and minimum per group: RA
)

// KVFormat is how one side (K or V) of a layer is kept. It is comparable.
type KVFormat struct {
	Kind  KVKind
	Bits  int // 32 and 16 for the float kinds, 1 to 8 for codes
	Group int // channels that share a scale; 0 for the float kinds
}

// CacheF32 and CacheF16 are the float formats.
var (
	CacheF32 = KVFormat{KVF32, 32, 0}
	CacheF16 = KVFormat{KVF16, 16, 0}
)

// AffineRows is the format RA of bits 1 to 8 and group 16, 32, 64 or 128: per
// row and group of channels x̂ = scale·code + min. See PackAffineRow.
func AffineRows(bits, group int) KVFormat { return KVFormat{KVAffine, bits, group} }

// String returns "f32", "f16" or, for affine rows, text such as "ra4g32".
func (f KVFormat) String() string {
	switch f.Kind {
	case KVF32:
		return "f32"
	case KVF16:
		return "f16"
	case KVAffine:
		return fmt.Sprintf("ra%dg%d", f.Bits, f.Group)
	}
	return fmt.Sprintf("KVFormat(%d,%d,%d)", f.Kind, f.Bits, f.Group)
}

// Quantized says whether tiles are sealed into codes, as against float rows.
func (f KVFormat) Quantized() bool { return f.Kind >= KVAffine }

// Check returns an error when f is no format this version has.
func (f KVFormat) Check() error {
	ok := false
	switch f.Kind {
	case KVF32:
		ok = f == CacheF32
	case KVF16:
		ok = f == CacheF16
	case KVAffine:
		power := f.Group == 16 || f.Group == 32 || f.Group == 64 || f.Group == 128
		ok = power && f.Bits >= 1 && f.Bits <= 8
	}
	if !ok {
		return fmt.Errorf("kernels: no cache format of kind %d, %d bits, group %d; there are "+
			"f32, f16 and affine rows of 1 to 8 bits in groups of 16, 32, 64 or 128",
			f.Kind, f.Bits, f.Group)
	}
	return nil
}

// PaddedHeadDim is the row length in storage: d rounded up to 16, so that
// every plane of every row is whole bytes.
func PaddedHeadDim(d int) int { return (d + 15) &^ 15 }

// TileSize is what one tile, or one page, occupies. Padding is what channels
// d to PaddedHeadDim(d)-1 take; it is zero where d is a multiple of 16.
type TileSize struct{ PayloadBytes, ScaleBytes, PaddingBytes int }

// Bytes is the sum.
func (t TileSize) Bytes() int { return t.PayloadBytes + t.ScaleBytes + t.PaddingBytes }

func (t TileSize) times(n int) TileSize {
	return TileSize{n * t.PayloadBytes, n * t.ScaleBytes, n * t.PaddingBytes}
}

// Tile returns the size of one tile: rows of bits·d/8 bytes, and for affine
// rows two halves for each row and group.
func (f KVFormat) Tile(headDim int) TileSize {
	padded := PaddedHeadDim(headDim)
	t := TileSize{
		PayloadBytes: TileTokens * headDim * f.Bits / 8,
		PaddingBytes: TileTokens * (padded - headDim) * f.Bits / 8,
	}
	if f.Kind == KVAffine {
		t.ScaleBytes = TileTokens * 2 * 2 * f.groups(padded)
	}
	return t
}

// Page returns the size of a page: the tiles of kvHeads heads.
func (f KVFormat) Page(kvHeads, headDim int) TileSize { return f.Tile(headDim).times(kvHeads) }

// groups is how many groups a row of padded channels has; the last may be short.
func (f KVFormat) groups(padded int) int { return (padded + f.Group - 1) / f.Group }

// KVLayer is one layer of a cache.
type KVLayer struct {
	QueryHeads, KVHeads, HeadDim int
	K, V                         KVFormat
	WindowTokens                 int // query p sees p' with 0 ≤ p−p' < WindowTokens; 0: all p' ≤ p
}

// KVGeometry is everything the size of a cache depends on.
type KVGeometry struct {
	Layers        []KVLayer
	ContextTokens int // positions of all sessions together, and the most of one
	Sessions      int // sessions that may be open at once
	WindowTiles   int // r: tiles before the own one kept as 16-bit rows; −1: no such rows
	SinkTiles     int // σ: first tiles kept as 16-bit rows; none in layers with WindowTokens
}

// Check returns an error that names the field a cache cannot be built with.
func (g KVGeometry) Check() error {
	switch {
	case len(g.Layers) == 0:
		return fmt.Errorf("kernels: a cache needs at least one layer")
	case g.ContextTokens < 1 || g.ContextTokens > maxContextTokens:
		return fmt.Errorf("kernels: context is %d tokens; it must be 1 to %d",
			g.ContextTokens, maxContextTokens)
	case g.Sessions < 1 || g.Sessions > 1<<16:
		return fmt.Errorf("kernels: %d sessions; there must be 1 to %d", g.Sessions, 1<<16)
	case g.WindowTiles < -1 || g.WindowTiles > maxContextTokens/TileTokens:
		return fmt.Errorf("kernels: window is %d tiles; it must be 0 to %d, or -1 for none",
			g.WindowTiles, maxContextTokens/TileTokens)
	case g.SinkTiles < 0 || g.SinkTiles > maxContextTokens/TileTokens:
		return fmt.Errorf("kernels: %d sink tiles; there must be 0 to %d",
			g.SinkTiles, maxContextTokens/TileTokens)
	}
	for i, l := range g.Layers {
		if err := l.check(); err != nil {
			return fmt.Errorf("layer %d: %w", i, err)
		}
	}
	return nil
}

func (l KVLayer) check() error {
	if l.KVHeads < 1 || l.QueryHeads < l.KVHeads || l.QueryHeads%l.KVHeads != 0 {
		return fmt.Errorf("kernels: %d query heads share %d KV heads; "+
			"the first must be a positive multiple of the second", l.QueryHeads, l.KVHeads)
	}
	if l.HeadDim < 1 || l.HeadDim > MaxHeadDim {
		return fmt.Errorf("kernels: head dimension is %d; it must be 1 to %d",
			l.HeadDim, MaxHeadDim)
	}
	if l.WindowTokens < 0 || l.WindowTokens > maxContextTokens {
		return fmt.Errorf("kernels: sliding window is %d tokens; it must be 0 to %d",
			l.WindowTokens, maxContextTokens)
	}
	if err := l.K.Check(); err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	if err := l.V.Check(); err != nil {
		return fmt.Errorf("values: %w", err)
	}
	return nil
}

// Tiles is the most tiles a session has: N = ⌈ContextTokens/32⌉.
func (g KVGeometry) Tiles() int { return tilesOf(g.ContextTokens) }

// LayerTiles is the most tiles of a layer that are alive at once: N, and in
// sliding-window layers ⌈min(ContextTokens, window+32)/32⌉, a ring.
func (g KVGeometry) LayerTiles(l KVLayer) int {
	if l.WindowTokens == 0 {
		return g.Tiles()
	}
	return tilesOf(min(g.ContextTokens, l.WindowTokens+TileTokens))
}

func tilesOf(tokens int) int { return (tokens + TileTokens - 1) / TileTokens }

// LayerSinks is how many of a layer's first tiles stay 16-bit rows.
func (g KVGeometry) LayerSinks(l KVLayer) int {
	if l.WindowTokens > 0 {
		return 0
	}
	return g.SinkTiles
}

// KVStore is what one (layer, side) occupies.
type KVStore struct {
	Page      TileSize // one page in the side's format
	Pages     int      // pages that all sessions share
	RingPages int      // instead, in sliding-window layers: pages of each session
	RawPage   TileSize // one page of 16-bit rows
	RawSlots  int      // raw pages of each session; 0 for float formats
	sessions  int
}

// Store returns what one side of l in format f occupies.
//
// A session of N tiles has min(N, σ+r+1) raw pages and max(0, N−σ−r−1) sealed
// ones. One session may fill the whole pool. Several can hold together at most
// one page more for each further session (their last tiles may all be barely
// begun), unless each has a sink, which absorbs it.
func (g KVGeometry) Store(l KVLayer, f KVFormat) KVStore {
	tiles, sinks := g.LayerTiles(l), g.LayerSinks(l)
	s := KVStore{
		Page:     f.Page(l.KVHeads, l.HeadDim),
		RawPage:  CacheF16.Page(l.KVHeads, l.HeadDim),
		sessions: g.Sessions,
	}
	if f.Quantized() {
		s.RawSlots = min(tiles, sinks+g.WindowTiles+1)
	}
	s.Pages = tiles - s.RawSlots
	if l.WindowTokens > 0 {
		s.Pages, s.RingPages = 0, s.Pages
	} else if s.Pages > 0 && (sinks == 0 || !f.Quantized()) {
		s.Pages += g.Sessions - 1
	}
	return s
}

// AllPages is the number of pages in all, AllRaw that of raw pages.
func (s KVStore) AllPages() int64 { return int64(s.Pages) + int64(s.sessions)*int64(s.RingPages) }

// AllRaw is the number of raw pages of all sessions.
func (s KVStore) AllRaw() int64 { return int64(s.sessions) * int64(s.RawSlots) }

// Bytes is what the pages and the raw pages take, two pieces, each rounded up
// to a cache line; what rounding and padded channels take is Padding.
func (s KVStore) Bytes() KVBytes {
	pages, raw := s.AllPages(), s.AllRaw()
	b := KVBytes{
		Payload: pages * int64(s.Page.PayloadBytes),
		Scales:  pages * int64(s.Page.ScaleBytes),
		Window:  raw * int64(s.RawPage.PayloadBytes),
	}
	pageBytes, rawBytes := pages*int64(s.Page.Bytes()), raw*int64(s.RawPage.Bytes())
	b.Padding = roundLine(pageBytes) - b.Payload - b.Scales + roundLine(rawBytes) - b.Window
	return b
}

// KVPool is one of the two pools of pages that sessions share. The pages of a
// tile in all global layers live and die together, so one index, valid in
// every layer and side of the pool, names them all: float sides form one pool,
// quantized sides the other. Sliding-window layers have rings and no index.
type KVPool struct {
	Pages   int // pages; for each a use count and a place in the stack of free ones
	Entries int // table entries of one session
}

// Pools returns the pool of float pages and that of sealed pages; a pool that
// no layer uses is zero. Entry e of a sealed table is tile SinkTiles + e.
func (g KVGeometry) Pools() (float, sealed KVPool) {
	for _, l := range g.Layers {
		if l.WindowTokens > 0 {
			continue
		}
		for _, f := range [...]KVFormat{l.K, l.V} {
			s := g.Store(l, f)
			if f.Quantized() {
				sealed = KVPool{s.Pages, g.Tiles() - s.RawSlots}
			} else {
				float = KVPool{s.Pages, g.Tiles()}
			}
		}
	}
	return float, sealed
}

// PageTableEntries is the number of int32 in the page table: the tables of all
// sessions, the use counts and the stacks of free pages.
func (g KVGeometry) PageTableEntries() int64 {
	float, sealed := g.Pools()
	perSession := int64(float.Entries) + int64(sealed.Entries)
	return int64(g.Sessions)*perSession + 2*(int64(float.Pages)+int64(sealed.Pages))
}

// KVBytes is the size of a whole cache by purpose, as the arena counts it.
type KVBytes struct{ Payload, Scales, Padding, Window, KeyMeans, PageTable int64 }

// Total is the sum.
func (b KVBytes) Total() int64 {
	return b.Payload + b.Scales + b.Padding + b.Window + b.KeyMeans + b.PageTable
}

func (b KVBytes) plus(c KVBytes) KVBytes {
	return KVBytes{b.Payload + c.Payload, b.Scales + c.Scales, b.Padding + c.Padding,
		b.Window + c.Window, b.KeyMeans + c.KeyMeans, b.PageTable + c.PageTable}
}

// Bytes returns what the cache takes from the arena, to the byte. g must pass
// Check.
func (g KVGeometry) Bytes() KVBytes {
	var b KVBytes
	for _, l := range g.Layers {
		b = b.plus(g.Store(l, l.K).Bytes()).plus(g.Store(l, l.V).Bytes())
	}
	b.PageTable = roundLine(4 * g.PageTableEntries())
	return b
}

// SealedBytesPerToken is what one token takes once its tile is sealed, over
// all layers and both sides, scales and padding included.
func (g KVGeometry) SealedBytesPerToken() float64 {
	var bytes int64
	for _, l := range g.Layers {
		bytes += int64(l.K.Page(l.KVHeads, l.HeadDim).Bytes())
		bytes += int64(l.V.Page(l.KVHeads, l.HeadDim).Bytes())
	}
	return float64(bytes) / TileTokens
}

// AverageBits is SealedBytesPerToken in bits per cached value.
func (g KVGeometry) AverageBits() float64 {
	var values int64
	for _, l := range g.Layers {
		values += 2 * int64(l.KVHeads) * int64(l.HeadDim)
	}
	return 8 * g.SealedBytesPerToken() / float64(values)
}

// roundLine rounds up to 64 bytes, as the arena does with every piece.
func roundLine(n int64) int64 { return (n + 63) &^ 63 }
