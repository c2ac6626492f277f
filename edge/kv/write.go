package kv

// Writing: one unit of work is one KV head of one side. Rows are rounded to
// 16 bits before anything else happens to them, so a tile's codes are the same
// whether it is sealed from the window or written code by code without one.

import "edgeinfer/kernels"

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
	d, head := &l.sides[unit/l.KVHeads], unit%l.KVHeads
	own, row := j.first/tileTokens, j.first%tileTokens
	w := &j.cache.scratch[worker]
	if row == 0 && d.format.Quantized() {
		j.seal(d, own, head, w)
	}
	rows := j.rows[unit/l.KVHeads]
	for i := range j.n {
		at := (i*l.KVHeads + head) * l.HeadDim
		j.append(d, own, head, row+i, rows[at:at+l.HeadDim], w)
	}
}

// seal quantizes the tile that leaves the window when tile own begins; own then
// takes over its raw slot. Sinks stay, and tiles that Keep left sealed are so.
func (j *writeJob) seal(d *side, own, head int, w *scratch) {
	s, l := j.session, j.layer
	tile := own - j.cache.window - 1
	if j.cache.window < 0 || tile < max(l.sinks, s.rawFrom) || (d.pool == nil && d.ring == 0) {
		return
	}
	rows := w.tile[:tileTokens*l.padded]
	j.cache.set.WidenF16(rows, d.rawTile(s, l.sinks, tile, head))
	d.format.PackTile(d.page(s, tile, head), rows, l.HeadDim)
}

// append writes one row of tile own. Padded channels stay zero: nothing ever
// writes to them.
func (j *writeJob) append(d *side, own, head, row int, x []float32, w *scratch) {
	s, l := j.session, j.layer
	switch {
	case d.format.Kind == kernels.KVF32:
		copy(floats(d.page(s, own, head))[row*l.padded:], x)
	case d.format.Kind == kernels.KVF16:
		at := 2 * row * l.padded
		j.cache.set.NarrowF16(d.page(s, own, head)[at:at+2*len(x)], x)
	case s.isRaw(l, own, own):
		at := 2 * row * l.padded
		j.cache.set.NarrowF16(d.rawTile(s, l.sinks, own, head)[at:at+2*len(x)], x)
	default:
		halves, rounded := w.halves[:2*len(x)], w.tile[:len(x)]
		j.cache.set.NarrowF16(halves, x)
		j.cache.set.WidenF16(rounded, halves)
		d.format.PackRow(d.page(s, own, head), row, rounded)
	}
}
