package kv

// Attention with an online softmax in float32. A tile of keys is read once
// for all queries and query heads of a unit, then the tile of values. Tiles are
// taken in order; every rangeTiles of them make a partial result (max, sum,
// mix), and partial results are merged in order. One query is cut into (KV head,
// range) units that are merged at the end; several queries into (KV head, block
// of queries) units that each walk all ranges. Both do the same arithmetic in the
// same order, so the bits are the same.

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
		row := j.partial(0, head/l.group).row(head%l.group, l.HeadDim)
		for r := 1; r < j.ranges; r++ {
			row.merge(j.partial(r, head/l.group).row(head%l.group, l.HeadDim))
		}
		row.finish(out[head*l.HeadDim : (head+1)*l.HeadDim])
	}
}

// Do does one unit, see the head of the file.
func (j *attendJob) Do(unit, worker int) {
	w, head := &j.cache.scratch[worker], unit%j.layer.KVHeads
	if j.n == 1 {
		r := unit / j.layer.KVHeads
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
	w.total.reset(rows, l.HeadDim)
	last := j.first / tileTokens / rangeTiles
	for r := j.lowestTile(queries.from) / rangeTiles; r <= last; r++ {
		j.rangeOf(w, w.part, head, r, queries)
		for i := range rows {
			w.total.row(i, l.HeadDim).merge(w.part.row(i, l.HeadDim))
		}
	}
	for i := range rows {
		query, h := queries.from+i/l.group, head*l.group+i%l.group
		at := (query*l.QueryHeads + h) * l.HeadDim
		w.total.row(i, l.HeadDim).finish(j.out[at : at+l.HeadDim])
	}
}

// rangeOf makes the partial results of one range for some queries, row
// (query − queries.from)·group + g for query head g of the KV head.
func (j *attendJob) rangeOf(w *scratch, to accumulator, head, r int, queries span) {
	to.reset((queries.to-queries.from)*j.layer.group, j.layer.HeadDim)
	last := min((r+1)*rangeTiles-1, j.first/tileTokens)
	for tile := max(r*rangeTiles, j.lowestTile(queries.from)); tile <= last; tile++ {
		j.score(w, to, head, tile, queries)
		j.mix(w, to, head, tile, queries)
	}
}

// score leaves the softmax weights of a tile in w.weights, [row][32], and
// moves the partial results to the new maxima.
func (j *attendJob) score(w *scratch, to accumulator, head, tile int, queries span) {
	l, dot := j.layer, j.cache.set.Dot
	keys := j.read(w, 0, head, tile, queries)
	row := 0
	for query := queries.from; query < queries.to; query++ {
		from, end := j.visible(query, tile)
		for g := range l.group {
			at := (query*l.QueryHeads + head*l.group + g) * l.HeadDim
			q := j.q[at : at+l.HeadDim]
			weights := w.weights[row*tileTokens : (row+1)*tileTokens]
			for t := from; t < end; t++ {
				weights[t] = l.scale * dot(q, keys[t*l.padded:t*l.padded+l.HeadDim])
			}
			if from < end {
				to.row(row, l.HeadDim).softmax(weights[from:end])
			}
			row++
		}
	}
}

// mix adds the weighted values of a tile.
func (j *attendJob) mix(w *scratch, to accumulator, head, tile int, queries span) {
	l, axpy := j.layer, j.cache.set.Axpy
	values := j.read(w, 1, head, tile, queries)
	row := 0
	for query := queries.from; query < queries.to; query++ {
		from, end := j.visible(query, tile)
		for range l.group {
			weights, mix := w.weights[row*tileTokens:], to.row(row, l.HeadDim).mix
			for t := from; t < end; t++ {
				axpy(mix, weights[t], values[t*l.padded:t*l.padded+l.HeadDim])
			}
			row++
		}
	}
}

// read returns the rows of a tile that the queries see, as float32 [32][padded].
func (j *attendJob) read(w *scratch, side, head, tile int, queries span) []float32 {
	s, l := j.session, j.layer
	d, own := &l.sides[side], j.first/tileTokens
	_, rows := j.visible(queries.to-1, tile)
	x := w.tile[:rows*l.padded]
	switch {
	case d.format.Kind == kernels.KVF32:
		return floats(d.page(s, tile, head))
	case d.format.Kind == kernels.KVF16:
		j.cache.set.WidenF16(x, d.page(s, tile, head)[:2*len(x)])
	case s.isRaw(l, tile, own):
		j.cache.set.WidenF16(x, d.rawTile(s, l.sinks, tile, head)[:2*len(x)])
	default:
		d.format.UnpackRows(x, d.page(s, tile, head), l.HeadDim, rows)
	}
	return x
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
		mix:   j.cache.partials.mix[row*l.HeadDim : (row+l.group)*l.HeadDim],
	}
}

// accumulator holds partial results of a softmax: for each row the largest
// score, the sum of e^(score − largest) and the values mixed by these weights.
type accumulator struct {
	stats []float32 // [rows][largest, sum]
	mix   []float32 // [rows][HeadDim]
}

// result is one row of an accumulator.
type result struct {
	stats []float32
	mix   []float32
}

func (a accumulator) row(i, headDim int) result {
	return result{a.stats[2*i : 2*i+2], a.mix[i*headDim : (i+1)*headDim]}
}

// reset empties the first rows rows.
func (a accumulator) reset(rows, headDim int) {
	for i := range rows {
		a.stats[2*i], a.stats[2*i+1] = float32(math.Inf(-1)), 0
	}
	clear(a.mix[:rows*headDim])
}

// softmax turns scores into weights relative to the largest score so far and
// adds them to the sum; the mix so far is scaled down where the largest rose.
func (r result) softmax(scores []float32) {
	largest := r.stats[0]
	for _, s := range scores {
		if s > largest {
			largest = s
		}
	}
	if largest > r.stats[0] {
		factor := kernels.Exp(r.stats[0] - largest)
		r.stats[0], r.stats[1] = largest, r.stats[1]*factor
		for i := range r.mix {
			r.mix[i] *= factor
		}
	}
	sum := r.stats[1]
	for i, s := range scores {
		scores[i] = kernels.Exp(s - largest)
		sum += scores[i]
	}
	r.stats[1] = sum
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
	for i, v := range r.mix {
		out[i] = v * inverse
	}
}
