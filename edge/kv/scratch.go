package kv

// Scratch memory of attention: one piece for each worker, and the partial
// results of a single query. Its size is a function of the geometry alone.

import (
	"edgeinfer/arena"
	"edgeinfer/kernels"
)

// scratch is what one worker computes in.
type scratch struct {
	tile        []float32   // [32][padded], a tile of K or V as read
	weights     []float32   // [rows][32]
	part, total accumulator // [rows], of a range and of all ranges so far
	halves      []byte      // one row as 16-bit floats
}

// scratchSize counts values. rows is (queries of a block)·(query heads of a KV
// head), at most.
type scratchSize struct {
	tile, rows, mix, halves int // of each worker
	partialRows, partialMix int // shared
}

func sizeScratch(g kernels.KVGeometry) scratchSize {
	var z scratchSize
	for _, l := range g.Layers {
		padded, rows := kernels.PaddedHeadDim(l.HeadDim), blockQueries*(l.QueryHeads/l.KVHeads)
		// A ring of tiles may lie across one border of ranges more.
		ranges := (g.LayerTiles(l) + rangeTiles - 1) / rangeTiles
		if l.WindowTokens > 0 {
			ranges = min(ranges+1, (g.Tiles()+rangeTiles-1)/rangeTiles)
		}
		z.tile = max(z.tile, tileTokens*padded)
		z.rows = max(z.rows, rows)
		z.mix = max(z.mix, rows*l.HeadDim)
		z.halves = max(z.halves, 2*padded)
		z.partialRows = max(z.partialRows, ranges*l.QueryHeads)
		z.partialMix = max(z.partialMix, ranges*l.QueryHeads*l.HeadDim)
	}
	return z
}

// workerFloats is the float32 values of one worker: tile, weights, and twice
// stats and mix.
func (z scratchSize) workerFloats() int {
	return z.tile + z.rows*tileTokens + 2*(2*z.rows+z.mix)
}

func (z scratchSize) partialFloats() int { return 2*z.partialRows + z.partialMix }

// ScratchBytes is what New takes from the arena for threads workers under
// Purpose Scratch; with g.Bytes() it is all that New takes. The length of the
// caller's chunks does not matter: they are walked in blocks of 16 queries.
func ScratchBytes(g kernels.KVGeometry, threads, _ int) int64 {
	z := sizeScratch(g)
	worker := arena.Round(4*int64(z.workerFloats())) + arena.Round(int64(z.halves))
	return int64(threads)*worker + arena.Round(4*int64(z.partialFloats()))
}

func (c *Cache) takeScratch(a *arena.Arena) {
	z := sizeScratch(c.geometry)
	c.scratch = make([]scratch, c.workers.Threads())
	for i := range c.scratch {
		values := arena.Slice[float32](a, arena.Scratch, z.workerFloats())
		cut := func(n int) []float32 {
			piece := values[:n:n]
			values = values[n:]
			return piece
		}
		c.scratch[i] = scratch{
			tile:    cut(z.tile),
			weights: cut(z.rows * tileTokens),
			part:    accumulator{mix: cut(z.mix), stats: cut(2 * z.rows)},
			total:   accumulator{mix: cut(z.mix), stats: cut(2 * z.rows)},
			halves:  arena.Slice[byte](a, arena.Scratch, z.halves),
		}
	}
	values := arena.Slice[float32](a, arena.Scratch, z.partialFloats())
	c.partials = accumulator{mix: values[:z.partialMix], stats: values[z.partialMix:]}
}
