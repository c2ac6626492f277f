package kv

// Attention with an online softmax in float32. A tile of keys is read once
// for all queries and query heads of a unit, then the tile of values. Tiles are
// taken in order; every rangeTiles of them make a partial result (max, sum,
// mix), and partial results are merged in order. One query is cut into (KV head,
// range) units that are merged at the end; several queries into (KV head, block
// of queries) units that each walk all ranges. Both do the same arithmetic in the
// same order, so the bits are the same.
//
// This file orders the work; score.go and mix.go say what is done with a tile.

import (
	"math"

	"edgeinfer/kernels"
)

// attendJob is the attention of the queries of a span that lies in one tile.
type attendJob struct {
	cache      *Cache
	session    *Session
	layer      *layer
	first      int // position of the first query
	n          int
	q, out     []float32 // [n][QueryHeads][HeadDim]
	firstRange int       // the first range that a single query sees
	ranges     int       // and how many there are
}

// span is a run of queries of the job.
type span struct{ from, to int }

func (j *attendJob) run(s *Session, l *layer, first, n int, q, out []float32) {
	j.session, j.layer, j.first, j.n, j.q, j.out = s, l, first, n, q, out
	if n > 1 {
		blocks := (n + blockQueries - 1) / blockQueries
		j.cache.workers.Run(l.KVHeads*blocks, j)
		return
	}
	j.firstRange = j.lowestTile(0) / rangeTiles
	j.ranges = first/tileTokens/rangeTiles - j.firstRange + 1
	j.cache.workers.Run(l.KVHeads*j.ranges, j)
	for head := range l.QueryHeads {
		row := j.partial(0, head/l.group).row(head%l.group, l.padded)
		for r := 1; r < j.ranges; r++ {
			row.merge(j.partial(r, head/l.group).row(head%l.group, l.padded))
		}
		row.finish(out[head*l.HeadDim : (head+1)*l.HeadDim])
	}
}

// Do does one unit, see the head of the file.
func (j *attendJob) Do(unit, worker int) {
	w, head := &j.cache.scratch[worker], unit%j.layer.KVHeads
	if j.n == 1 {
		r := unit / j.layer.KVHeads
		j.prepare(w, head, span{0, 1})
		j.rangeOf(w, j.partial(r, head), head, j.firstRange+r, span{0, 1})
		return
	}
	from := unit / j.layer.KVHeads * blockQueries
	j.block(w, head, span{from, min(from+blockQueries, j.n)})
}

// block walks all ranges for a block of queries of one KV head.
func (j *attendJob) block(w *scratch, head int, queries span) {
	l := j.layer
	rows := (queries.to - queries.from) * l.group
	j.prepare(w, head, queries)
	w.total.reset(rows, l.padded)
	last := j.first / tileTokens / rangeTiles
	for r := j.lowestTile(queries.from) / rangeTiles; r <= last; r++ {
		j.rangeOf(w, w.part, head, r, queries)
		for i := range rows {
			w.total.row(i, l.padded).merge(w.part.row(i, l.padded))
		}
	}
	for i := range rows {
		query, h := queries.from+i/l.group, head*l.group+i%l.group
		at := (query*l.QueryHeads + h) * l.HeadDim
		w.total.row(i, l.padded).finish(j.out[at : at+l.HeadDim])
	}
}

// rangeOf makes the partial results of one range for some queries, row
// (query − queries.from)·group + g for query head g of the KV head. While rotated
// values are added the mix is rotated; between float rows and codes it is turned.
func (j *attendJob) rangeOf(w *scratch, to accumulator, head, r int, queries span) {
	l := j.layer
	rows := (queries.to - queries.from) * l.group
	to.reset(rows, l.padded)
	turned, own := false, j.first/tileTokens
	last := min((r+1)*rangeTiles-1, own)
	for tile := max(r*rangeTiles, j.lowestTile(queries.from)); tile <= last; tile++ {
		j.score(w, to, head, tile, queries)
		values := &l.sides[valueSide].format
		if rotated := values.Rotate && !j.session.isRaw(l, tile, own); rotated != turned {
			j.turn(to, rows, rotated)
			turned = rotated
		}
		j.mix(w, to, head, tile, queries)
	}
	if turned {
		j.turn(to, rows, false)
	}
}

// turn rotates the mixes of all rows, or back.
func (j *attendJob) turn(to accumulator, rows int, forward bool) {
	l := j.layer
	for i := range rows {
		mix := to.row(i, l.padded).mix[:l.HeadDim]
		if forward {
			l.turns[valueSide].ApplyBy(j.cache.set.Walsh, mix)
		} else {
			l.turns[valueSide].InvertBy(j.cache.set.Walsh, mix)
		}
	}
}

// floatRows returns the rows of a tile that the queries see where they are floats,
// as float32 [32][padded].
func (j *attendJob) floatRows(w *scratch, which, head, tile int, queries span) []float32 {
	s, l := j.session, j.layer
	d := &l.sides[which]
	_, rows := j.visible(queries.to-1, tile)
	x := w.rows[:rows*l.padded]
	switch d.format.Kind {
	case kernels.KVF32:
		return floats(d.page(s, tile, head))
	case kernels.KVF16:
		j.cache.set.WidenF16(x, d.page(s, tile, head)[:2*len(x)])
	default:
		j.cache.set.WidenF16(x, d.rawTile(s, l.sinks, tile, head)[:2*len(x)])
	}
	return x
}

// readCodes takes apart the rows of a sealed tile that the queries see.
func (j *attendJob) readCodes(w *scratch, which, head, tile int, queries span) {
	s, d := j.session, &j.layer.sides[which]
	from, _ := j.visible(queries.from, tile)
	_, end := j.visible(queries.to-1, tile)
	w.tile.Read(j.cache.set, &d.format, d.page(s, tile, head), d.header(s, tile, head),
		j.layer.HeadDim, from, end)
}

// coded says whether the queries read a tile of a side as codes.
func (j *attendJob) coded(which, tile int) bool {
	l := j.layer
	return l.sides[which].format.Quantized() && !j.session.isRaw(l, tile, j.first/tileTokens)
}

// visible gives the rows of a tile that a query sees, from ≤ row < end.
func (j *attendJob) visible(query, tile int) (from, end int) {
	position := j.first + query - tile*tileTokens
	if window := j.layer.WindowTokens; window > 0 {
		from = max(0, position-window+1)
	}
	return from, min(tileTokens, position+1)
}

// lowestTile is the first tile that a query sees.
func (j *attendJob) lowestTile(query int) int {
	if j.layer.WindowTokens == 0 {
		return 0
	}
	return max(0, j.first+query-j.layer.WindowTokens+1) / tileTokens
}

// partial is where range r of a single query leaves the results of a KV head.
func (j *attendJob) partial(r, head int) accumulator {
	l := j.layer
	row := r*l.QueryHeads + head*l.group
	return accumulator{
		stats: j.cache.partials.stats[2*row : 2*(row+l.group)],
		mix:   j.cache.partials.mix[row*l.padded : (row+l.group)*l.padded],
	}
}

// accumulator holds partial results of a softmax: for each row the largest
// score, the sum of e^(score − largest) and the values mixed by these weights.
type accumulator struct {
	stats []float32 // [rows][largest, sum]
	mix   []float32 // [rows][padded]
}

// result is one row of an accumulator.
type result struct {
	stats []float32
	mix   []float32
}

func (a accumulator) row(i, padded int) result {
	return result{a.stats[2*i : 2*i+2], a.mix[i*padded : (i+1)*padded]}
}

// reset empties the first rows rows.
func (a accumulator) reset(rows, padded int) {
	for i := range rows {
		a.stats[2*i], a.stats[2*i+1] = float32(math.Inf(-1)), 0
	}
	clear(a.mix[:rows*padded])
}

// softmax turns scores into weights relative to the largest score so far and
// adds them to the sum; the mix so far is scaled down where the largest rose.
func (r result) softmax(set *kernels.Set, scores []float32) {
	if largest := set.Max(scores); largest > r.stats[0] {
		factor := kernels.Exp(r.stats[0] - largest)
		r.stats[0], r.stats[1] = largest, r.stats[1]*factor
		for i := range r.mix {
			r.mix[i] *= factor
		}
	}
	r.stats[1] += set.ExpSum(scores, r.stats[0])
}

// merge adds what a later range found. A row that saw nothing yet has sum 0; a
// query that saw something sees every later range.
func (r result) merge(later result) {
	if r.stats[1] == 0 {
		copy(r.stats, later.stats)
		copy(r.mix, later.mix)
		return
	}
	largest := max(r.stats[0], later.stats[0])
	a, b := kernels.Exp(r.stats[0]-largest), kernels.Exp(later.stats[0]-largest)
	r.stats[0] = largest
	r.stats[1] = float32(r.stats[1]*a) + float32(later.stats[1]*b)
	for i, v := range later.mix {
		r.mix[i] = float32(r.mix[i]*a) + float32(v*b)
	}
}

// finish divides by the sum.
func (r result) finish(out []float32) {
	inverse := 1 / r.stats[1]
	for i := range out {
		out[i] = r.mix[i] * inverse
	}
}
