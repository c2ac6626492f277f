package kernels

// The byte formula of a whole cache. This file, with the sizes of a tile in
// kvformat.go, is its only owner: the planner sums what Bytes returns, the cache
// takes from the arena what Store, KeyMeanValues, BalanceValues and
// PageTableEntries return, and the two are the same number to the byte.
//
// A page holds the tiles of all KV heads of one (layer, side, tile index),
// head-major. Sides in a float format consist of pages alone. Sides in a
// quantized format have pages for what is sealed and, for each session, a few
// pages of 16-bit rows (raw pages): the sinks, the tile being filled and the
// WindowTiles before it.

import "fmt"

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
		err := l.check()
		if err == nil && !l.K.ByRow() && g.WindowTiles < 0 {
			err = fmt.Errorf("keys: kernels: without a window every row is coded as it comes, "+
				"and %v codes whole tiles; take a window of 0 tiles or more, or row formats", l.K.Kind)
		}
		if err != nil {
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
	if !l.V.ByRow() || l.V.Centre || l.V.Balance {
		return fmt.Errorf("values: kernels: %v tiles, centring and balancing are for keys: "+
			"only a score forgives them", l.V.Kind)
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

// Centred says whether a layer's coded keys are less the mean of the session's
// first tile. Where that tile is coded as it comes, there is no mean in time.
func (g KVGeometry) Centred(l KVLayer) bool {
	return l.K.Centre && (g.WindowTiles >= 0 || g.LayerSinks(l) > 0)
}

// KeyMeanValues is the number of float32 of the key means of a layer,
// [sessions][KVHeads][HeadDim].
func (g KVGeometry) KeyMeanValues(l KVLayer) int {
	if !g.Centred(l) {
		return 0
	}
	return g.Sessions * l.KVHeads * l.HeadDim
}

// BalanceValues is the number of float32 of a layer's Λ, [KVHeads][HeadDim].
func (g KVGeometry) BalanceValues(l KVLayer) int {
	if !l.K.Balance {
		return 0
	}
	return l.KVHeads * l.HeadDim
}

// KeyMeanBytes is what the key means and Λ of a layer take.
func (g KVGeometry) KeyMeanBytes(l KVLayer) int64 {
	return roundLine(4*int64(g.KeyMeanValues(l))) + roundLine(4*int64(g.BalanceValues(l)))
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

// KVBytes is the size of a whole cache by purpose, as the arena counts it. The
// key means include the balance tables.
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
		b.KeyMeans += g.KeyMeanBytes(l)
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
