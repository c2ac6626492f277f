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

	means   []float32 // μ, [sessions][KVHeads][HeadDim]; nil where keys are not centred
	balance []float32 // Λ, [KVHeads][HeadDim]; nil where keys are not balanced
	turns   [2]kernels.Rotation
	planes  int // int8 planes of a query for coded keys: 2 where one would cost more than the codes
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
	headerBytes  int // of a page, before its first tile
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
		c.takeLayer(a, &c.layers[i], l)
	}
	c.takeScratch(a)
	c.write.cache, c.attend.cache = c, c
	return c, nil
}

// twoPlaneBits is the width of keys from which the rounding of an int8 query is
// no longer small beside that of the keys.
const twoPlaneBits = 7

// twoPlaneChannelBits is the same of channels: their scales are in the query, and
// one loud channel leaves the others few of its 255 steps.
const twoPlaneChannelBits = 5

// takeLayer takes the memory of a layer.
func (c *Cache) takeLayer(a *arena.Arena, to *layer, l kernels.KVLayer) {
	g := c.geometry
	*to = layer{
		KVLayer: l,
		group:   l.QueryHeads / l.KVHeads,
		padded:  kernels.PaddedHeadDim(l.HeadDim),
		sinks:   g.LayerSinks(l),
		tiles:   g.LayerTiles(l),
		scale:   float32(1 / math.Sqrt(float64(l.HeadDim))),
		sides:   [2]side{c.takeSide(a, l, l.K), c.takeSide(a, l, l.V)},
		turns:   [2]kernels.Rotation{kernels.NewKeyRotation(l.HeadDim), kernels.NewValueRotation(l.HeadDim)},
		planes:  1,
	}
	if l.K.Bits >= twoPlaneBits || (!l.K.ByRow() && l.K.Bits >= twoPlaneChannelBits) {
		to.planes = 2
	}
	if n := g.KeyMeanValues(l); n > 0 {
		to.means = arena.Slice[float32](a, arena.KeyMeans, n)
	}
	if n := g.BalanceValues(l); n > 0 {
		to.balance = arena.Slice[float32](a, arena.KeyMeans, n)
		for i := range to.balance {
			to.balance[i] = 1
		}
	}
}

// Balance gives a layer whose keys are balanced its Λ, [KVHeads][HeadDim]: coded
// keys are divided by it, queries multiplied. It is 1 before, and must be set
// before the first Step. The error names a length or a value that cannot be.
func (c *Cache) Balance(layer int, lambda []float32) error {
	if layer < 0 || layer >= len(c.layers) || len(lambda) != len(c.layers[layer].balance) {
		return fmt.Errorf("kv: %d balance factors for layer %d of %d, which does not take as many",
			len(lambda), layer, len(c.layers))
	}
	for i, v := range lambda {
		if !(v >= leastBalance && v <= mostBalance) {
			return fmt.Errorf("kv: balance factor %d of layer %d is %v; it must be %v to %v",
				i, layer, v, leastBalance, mostBalance)
		}
	}
	copy(c.layers[layer].balance, lambda)
	return nil
}

// leastBalance and mostBalance keep balanced rows within what halves hold.
const (
	leastBalance = 1.0 / 4096
	mostBalance  = 4096
)

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
		headerBytes:  f.PageHeaderBytes(l.KVHeads),
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
	at := d.pageAt(s, tile) + d.headerBytes + head*d.tileBytes
	return d.pages[at : at+d.tileBytes]
}

// header returns what the head of tile's page has for one KV head; nil in
// formats without.
func (d *side) header(s *Session, tile, head int) []byte {
	if d.headerBytes == 0 {
		return nil
	}
	at := d.pageAt(s, tile) + 2*head
	return d.pages[at : at+2]
}

// pageAt is where the page of tile begins.
func (d *side) pageAt(s *Session, tile int) int {
	if d.pool == nil {
		return (s.index*d.ring + tile%d.ring) * d.pageBytes
	}
	return int(s.tables[d.pool.kind][tile-d.pool.first]) * d.pageBytes
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

// mean returns μ of one KV head of the session; it holds from the end of the
// session's first tile on.
func (l *layer) mean(s *Session, head int) []float32 {
	at := (s.index*l.KVHeads + head) * l.HeadDim
	return l.means[at : at+l.HeadDim]
}

// factors returns Λ of one KV head.
func (l *layer) factors(head int) []float32 {
	return l.balance[head*l.HeadDim : (head+1)*l.HeadDim]
}

// floats views a piece of the arena, which is aligned, as float32.
func floats(b []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(b)/4)
}
