package kv

// Writing: one unit of work is one KV head of one side. Rows are rounded to
// 16 bits before anything else happens to them, so a tile's codes are the same
// whether it is sealed from the window or written code by code without one.

import "edgeinfer/kernels"

// The sides of a layer.
const (
	keySide = iota
	valueSide
)

// writeJob appends the rows of a span that lies in one tile.
type writeJob struct {
	cache   *Cache
	session *Session
	layer   *layer
	first   int // position of the first row
	n       int
	rows    [2][]float32 // k, v, [n][KVHeads][HeadDim]
}

// run writes a span. Sealing a tile, or a long span, is worth sharing out; a
// single row is not.
func (j *writeJob) run(s *Session, l *layer, first, n int, k, v []float32) {
	j.session, j.layer, j.first, j.n = s, l, first, n
	j.rows[0], j.rows[1] = k, v
	units := 2 * l.KVHeads
	if n > 1 || first%tileTokens == 0 {
		j.cache.workers.Run(units, j)
		return
	}
	for unit := range units {
		j.Do(unit, 0)
	}
}

// Do writes KV head unit%KVHeads of K (the lower units) or V.
func (j *writeJob) Do(unit, worker int) {
	l := j.layer
	which, head := unit/l.KVHeads, unit%l.KVHeads
	own, row := j.first/tileTokens, j.first%tileTokens
	w := &j.cache.scratch[worker]
	if row == 0 && l.sides[which].format.Quantized() {
		if which == keySide && own == 1 {
			j.freezeMean(head, w)
		}
		j.seal(which, own, head, w)
	}
	for i := range j.n {
		at := (i*l.KVHeads + head) * l.HeadDim
		j.append(which, own, head, row+i, j.rows[which][at:at+l.HeadDim], w)
	}
}

// freezeMean sets μ to the mean of the rows of tile 0, just filled: before any
// tile is coded. After a Keep that left that tile as codes, μ stays what it was.
func (j *writeJob) freezeMean(head int, w *scratch) {
	s, l := j.session, j.layer
	if l.means == nil || !s.isRaw(l, 0, 0) {
		return
	}
	rows, mean := w.rows[:tileTokens*l.padded], l.mean(s, head)
	j.cache.set.WidenF16(rows, l.sides[keySide].rawTile(s, l.sinks, 0, head))
	j.cache.set.Finite(rows)
	clear(mean)
	for t := range tileTokens {
		for i, v := range rows[t*l.padded:][:len(mean)] {
			mean[i] += v
		}
	}
	for i := range mean {
		mean[i] /= tileTokens
	}
}

// seal quantizes the tile that leaves the window when tile own begins; own then
// takes over its raw slot. Sinks stay, and tiles that Keep left sealed are so.
func (j *writeJob) seal(which, own, head int, w *scratch) {
	s, l := j.session, j.layer
	d, tile := &l.sides[which], own-j.cache.window-1
	if j.cache.window < 0 || tile < max(l.sinks, s.rawFrom) || (d.pool == nil && d.ring == 0) {
		return
	}
	rows := w.rows[:tileTokens*l.padded]
	j.cache.set.WidenF16(rows, d.rawTile(s, l.sinks, tile, head))
	for t := range tileTokens {
		j.transform(which, head, rows[t*l.padded:][:l.HeadDim])
	}
	d.format.PackTileBy(j.cache.set, d.page(s, tile, head), d.header(s, tile, head), rows,
		l.HeadDim, w.halves)
}

// transform makes a row ready for coding: centred, balanced, rotated, as the
// format demands. What no half holds is mapped first, lest it spread.
func (j *writeJob) transform(which, head int, x []float32) {
	l := j.layer
	f := &l.sides[which].format
	j.cache.set.Finite(x)
	if which == keySide && l.means != nil {
		for i, m := range l.mean(j.session, head) {
			x[i] -= m
		}
	}
	if which == keySide && l.balance != nil {
		for i, factor := range l.factors(head) {
			x[i] /= factor
		}
	}
	if f.Rotate {
		l.turns[which].ApplyBy(j.cache.set.Walsh, x)
	}
}

// append writes one row of tile own. Padded channels stay zero: nothing ever
// writes to them.
func (j *writeJob) append(which, own, head, row int, x []float32, w *scratch) {
	s, l := j.session, j.layer
	d := &l.sides[which]
	switch {
	case d.format.Kind == kernels.KVF32:
		copy(floats(d.page(s, own, head))[row*l.padded:], x)
	case d.format.Kind == kernels.KVF16:
		at := 2 * row * l.padded
		j.cache.set.NarrowF16(d.page(s, own, head)[at:at+2*len(x)], x)
	case s.isRaw(l, own, own):
		// As coded rows do, so that one value beyond a half spoils no softmax.
		finite, at := w.rows[:len(x)], 2*row*l.padded
		copy(finite, x)
		j.cache.set.Finite(finite)
		j.cache.set.NarrowF16(d.rawTile(s, l.sinks, own, head)[at:at+2*len(x)], finite)
	default:
		halves, rounded := w.halves[:2*len(x)], w.rows[:len(x)]
		copy(rounded, x)
		j.cache.set.Finite(rounded)
		j.cache.set.NarrowF16(halves, rounded)
		j.cache.set.WidenF16(rounded, halves)
		j.transform(which, head, rounded)
		d.format.PackRowBy(j.cache.set, d.page(s, own, head), row, rounded, w.halves)
	}
}
