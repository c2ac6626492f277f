package kv

// Scratch memory of attention: one piece for each worker, and the partial
// results of a single query. Its size is a function of the geometry alone.

import (
	"unsafe"

	"edgeinfer/arena"
	"edgeinfer/kernels"
)

// scratch is what one worker computes in.
type scratch struct {
	rows        []float32         // [32][padded], a tile of float rows as read, or rows to seal
	tile        kernels.TileCodes // a tile of codes as read
	weights     []float32         // [queries][32], scores and then weights
	scaled      []float32         // [32][groups], weights times scales
	folded      []float32         // [padded], a query times the scales of a tile's channels
	query       queries
	part, total accumulator // of a range and of all ranges so far
	halves      []byte      // one row as 16-bit floats
}

// queries are the queries of a unit, made ready. A query head of a query is one row.
type queries struct {
	plain  []float32 // [rows][padded], times the scale of scores, for float rows
	turned []float32 // [rows][padded], as coded keys are: balanced, rotated
	shift  []float32 // [rows], q·μ, to be taken from the scores of float rows
	rest   []float32 // [padded], what the first int8 plane leaves
	planes [maxPlanes]plane
}

// maxPlanes is how many int8 planes a query has at most.
const maxPlanes = 2

// plane is the int8 form of queries: turned ≈ Σ over planes of scale·code.
type plane struct {
	codes      []int8    // [rows][padded]
	scale, sum []float32 // [rows][groups]
}

// scratchSize counts values. rows is (queries of a block)·(query heads of a KV
// head), at most.
type scratchSize struct {
	padded, rows, groups, scales, mix int // of each worker
	partialRows, partialMix           int // shared
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
		for _, f := range [...]kernels.KVFormat{l.K, l.V} {
			if !f.Quantized() {
				continue
			}
			z.scales = max(z.scales, f.TileScales(l.HeadDim))
			z.groups = max(z.groups, rowGroups(&f, padded))
		}
		z.padded = max(z.padded, padded)
		z.rows = max(z.rows, rows)
		z.mix = max(z.mix, rows*padded)
		z.partialRows = max(z.partialRows, ranges*l.QueryHeads)
		z.partialMix = max(z.partialMix, ranges*l.QueryHeads*padded)
	}
	return z
}

// rowGroups is how many scales a query, or a row, has in format f; a query for
// channel formats, whose scales are folded into it, has one.
func rowGroups(f *kernels.KVFormat, padded int) int {
	if f.Group == 0 {
		return 1
	}
	return (padded + f.Group - 1) / f.Group
}

// workerFloats is the float32 values of one worker, in the order of takeWorker.
func (z scratchSize) workerFloats() int {
	perRow := tileTokens + 1 + 2*maxPlanes*z.groups + 2*2
	return tileTokens*z.padded + 2*z.scales + tileTokens*z.groups + 2*z.padded +
		z.rows*perRow + 4*z.mix
}

// workerBytes is the bytes of one worker: a row of halves, the codes of a tile
// and of the queries.
func (z scratchSize) workerBytes() int {
	return 2*z.padded + tileTokens*z.padded + maxPlanes*z.rows*z.padded
}

func (z scratchSize) partialFloats() int { return 2*z.partialRows + z.partialMix }

// ScratchBytes is what New takes from the arena for threads workers under
// Purpose Scratch; with g.Bytes() it is all that New takes. The length of the
// caller's chunks does not matter: they are walked in blocks of 16 queries.
func ScratchBytes(g kernels.KVGeometry, threads, _ int) int64 {
	z := sizeScratch(g)
	worker := arena.Round(4*int64(z.workerFloats())) + arena.Round(int64(z.workerBytes()))
	return int64(threads)*worker + arena.Round(4*int64(z.partialFloats()))
}

func (c *Cache) takeScratch(a *arena.Arena) {
	z := sizeScratch(c.geometry)
	c.scratch = make([]scratch, c.workers.Threads())
	for i := range c.scratch {
		c.scratch[i].take(z, arena.Slice[float32](a, arena.Scratch, z.workerFloats()),
			arena.Slice[int8](a, arena.Scratch, z.workerBytes()))
	}
	values := arena.Slice[float32](a, arena.Scratch, z.partialFloats())
	c.partials = accumulator{mix: values[:z.partialMix], stats: values[z.partialMix:]}
}

// take cuts up the memory of one worker.
func (w *scratch) take(z scratchSize, values []float32, bytes []int8) {
	floats := func(n int) []float32 {
		piece := values[:n:n]
		values = values[n:]
		return piece
	}
	codes := func(n int) []int8 {
		piece := bytes[:n:n]
		bytes = bytes[n:]
		return piece
	}
	*w = scratch{
		rows: floats(tileTokens * z.padded),
		tile: kernels.TileCodes{Codes: codes(tileTokens * z.padded),
			Scales: floats(z.scales), Minima: floats(z.scales)},
		weights: floats(z.rows * tileTokens),
		scaled:  floats(tileTokens * z.groups),
		folded:  floats(z.padded),
		query: queries{plain: floats(z.mix), turned: floats(z.mix),
			shift: floats(z.rows), rest: floats(z.padded)},
		part:   accumulator{mix: floats(z.mix), stats: floats(2 * z.rows)},
		total:  accumulator{mix: floats(z.mix), stats: floats(2 * z.rows)},
		halves: asBytes(codes(2 * z.padded)),
	}
	for i := range w.query.planes {
		w.query.planes[i] = plane{codes: codes(z.rows * z.padded),
			scale: floats(z.rows * z.groups), sum: floats(z.rows * z.groups)}
	}
}

// asBytes views int8 as bytes.
func asBytes(x []int8) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}
