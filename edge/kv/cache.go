package kv

// The memory of a cache. Positions lie in tiles of 32; a page holds one tile
// index of one (layer, side) for all KV heads. Float sides keep every tile in
// a page of rows. Quantized sides keep, for each session, 16-bit rows of the
// sinks, of the tile being filled and of the r tiles before it (raw slots), and
// sealed pages of codes for the rest. Pages of global layers come from two
// pools that all sessions share; layers with a sliding window have a ring of
// pages in each session instead, for they never hold more.

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"edgeinfer/arena"
	"edgeinfer/edge/internal/workers"
	"edgeinfer/kernels"
)

const tileTokens = kernels.TileTokens

// ErrFull says that no session, or no page, is free.
var ErrFull = errors.New("cache is full")

// Cache is the memory of all sessions. One goroutine at a time uses it.
type Cache struct {
	geometry kernels.KVGeometry
	window   int // r, −1 for none
	set      *kernels.Set
	workers  *workers.Pool
	layers   []layer
	pools    [numPools]pagePool
	sessions []Session

	scratch  []scratch   // [threads]
	partials accumulator // [ranges][query heads], of a single query
	write    writeJob
	attend   attendJob
}

// layer is the geometry and the two stores of one layer.
type layer struct {
	kernels.KVLayer
	group  int     // query heads that share a KV head
	padded int     // length of a stored row
	sinks  int     // first tiles that stay 16-bit rows
	tiles  int     // tiles alive at once
	scale  float32 // of scores: 1/√HeadDim
	sides  [2]side // K, V
}

// side is the store of K or V of one layer.
type side struct {
	format       kernels.KVFormat
	pages        []byte // [pages][KV heads] tiles in format
	tileBytes    int
	pageBytes    int
	ring         int       // pages of each session in sliding-window layers
	pool         *pagePool // of global layers, else nil
	raw          []byte    // [sessions][slots][KV heads][32][padded] halves
	rawBytes     int       // of one tile
	rawPageBytes int
	slots        int // raw pages of each session
}

// New builds a cache of geometry g in memory from a, exactly g.Bytes() and
// ScratchBytes. Attention runs on set and is shared among pool's workers. The
// error names what g cannot be built with.
func New(g kernels.KVGeometry, a *arena.Arena, set *kernels.Set,
	pool *workers.Pool) (*Cache, error) {
	if err := g.Check(); err != nil {
		return nil, fmt.Errorf("kv: %w", err)
	}
	c := &Cache{geometry: g, window: g.WindowTiles, set: set, workers: pool}
	c.takePageTable(a)
	c.layers = make([]layer, len(g.Layers))
	for i, l := range g.Layers {
		c.layers[i] = layer{
			KVLayer: l,
			group:   l.QueryHeads / l.KVHeads,
			padded:  kernels.PaddedHeadDim(l.HeadDim),
			sinks:   g.LayerSinks(l),
			tiles:   g.LayerTiles(l),
			scale:   float32(1 / math.Sqrt(float64(l.HeadDim))),
			sides:   [2]side{c.takeSide(a, l, l.K), c.takeSide(a, l, l.V)},
		}
	}
	c.takeScratch(a)
	c.write.cache, c.attend.cache = c, c
	return c, nil
}

// takeSide takes the pages and the raw slots of one (layer, side).
func (c *Cache) takeSide(a *arena.Arena, l kernels.KVLayer, f kernels.KVFormat) side {
	store := c.geometry.Store(l, f)
	pages, raw := store.AllPages(), store.AllRaw()
	s := side{
		format:       f,
		tileBytes:    f.Tile(l.HeadDim).Bytes(),
		pageBytes:    store.Page.Bytes(),
		ring:         store.RingPages,
		rawBytes:     kernels.CacheF16.Tile(l.HeadDim).Bytes(),
		rawPageBytes: store.RawPage.Bytes(),
		slots:        store.RawSlots,
	}
	s.pages = a.Take(
		arena.Line{Purpose: arena.KVPayload, Bytes: pages * int64(store.Page.PayloadBytes)},
		arena.Line{Purpose: arena.KVScales, Bytes: pages * int64(store.Page.ScaleBytes)},
		arena.Line{Purpose: arena.KVPadding, Bytes: pages * int64(store.Page.PaddingBytes)})
	s.raw = a.Take(
		arena.Line{Purpose: arena.KVWindow, Bytes: raw * int64(store.RawPage.PayloadBytes)},
		arena.Line{Purpose: arena.KVPadding, Bytes: raw * int64(store.RawPage.PaddingBytes)})
	if l.WindowTokens == 0 {
		s.pool = &c.pools[poolOf(f)]
	}
	return s
}

// isRaw says whether a query in tile own reads tile of the side as 16-bit rows
// (true) or as sealed codes. It depends on positions alone, but for tiles that
// Keep left without their rows.
func (s *Session) isRaw(l *layer, tile, own int) bool {
	return tile < l.sinks || (tile >= own-s.cache.window && tile >= s.rawFrom)
}

// page returns tile of one KV head in the side's format.
func (d *side) page(s *Session, tile, head int) []byte {
	var page int
	if d.pool == nil {
		page = s.index*d.ring + tile%d.ring
	} else {
		page = int(s.tables[d.pool.kind][tile-d.pool.first])
	}
	at := page*d.pageBytes + head*d.tileBytes
	return d.pages[at : at+d.tileBytes]
}

// rawTile returns the 16-bit rows of tile of one KV head, [32][padded].
func (d *side) rawTile(s *Session, sinks, tile, head int) []byte {
	slot := tile
	if tile >= sinks {
		slot = sinks + (tile-sinks)%(d.slots-sinks)
	}
	at := (s.index*d.slots+slot)*d.rawPageBytes + head*d.rawBytes
	return d.raw[at : at+d.rawBytes]
}

// floats views a piece of the arena, which is aligned, as float32.
func floats(b []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(b)/4)
}
