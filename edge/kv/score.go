package kv

// Scores of a tile of keys. Float rows are multiplied by the query as it is.
// Codes are multiplied by the query as they are, balanced and rotated, in int8:
// rows by one scale a group, with the sum of the quantized query for the offset;
// channels with their scales folded into the query, tile by tile, and an offset
// that is the same for all rows.
//
// Coded keys are centred on μ and float rows are not; the difference, q·μ, is
// taken from the scores of float rows, so that all scores of a softmax agree.

// prepare makes the queries of a unit ready.
func (j *attendJob) prepare(w *scratch, head int, queries span) {
	l, set := j.layer, j.cache.set
	f := &l.sides[keySide].format
	centred := l.means != nil && j.first >= tileTokens
	row := 0
	for query := queries.from; query < queries.to; query++ {
		for g := range l.group {
			at := (query*l.QueryHeads + head*l.group + g) * l.HeadDim
			q := w.query.plain[row*l.padded : (row+1)*l.padded]
			for i, v := range j.q[at : at+l.HeadDim] {
				q[i] = v * l.scale
			}
			clear(q[l.HeadDim:])
			if centred {
				w.query.shift[row] = set.Dot(q[:l.HeadDim], l.mean(j.session, head))
			}
			if f.Quantized() {
				j.prepareCoded(w, head, row, q)
			}
			row++
		}
	}
}

// prepareCoded makes the form of a query that meets coded keys.
func (j *attendJob) prepareCoded(w *scratch, head, row int, q []float32) {
	l := j.layer
	f := &l.sides[keySide].format
	turned := w.query.turned[row*l.padded : (row+1)*l.padded]
	copy(turned, q)
	if l.balance != nil {
		for i, factor := range l.factors(head) {
			turned[i] *= factor
		}
	}
	if f.Rotate {
		l.turns[keySide].ApplyBy(j.cache.set.Walsh, turned[:l.HeadDim])
	}
	if f.ByRow() {
		j.quantize(w, row, turned, f.Group)
	}
}

// quantize writes the int8 planes of one query; each takes what those before it
// leave.
func (j *attendJob) quantize(w *scratch, row int, x []float32, group int) {
	l := j.layer
	ng := (len(x) + group - 1) / group
	for p := range l.planes {
		to := &w.query.planes[p]
		codes := to.codes[row*l.padded : (row+1)*l.padded]
		scale := to.scale[row*ng : (row+1)*ng]
		j.cache.set.QuantizeQuery(codes, scale, to.sum[row*ng:(row+1)*ng], x, group)
		if p+1 == l.planes {
			return
		}
		rest := w.query.rest[:len(x)]
		for i, v := range x {
			rest[i] = v - float32(scale[i/group]*float32(codes[i]))
		}
		x = rest
	}
}

// score leaves the softmax weights of a tile in w.weights, [row][32], and
// moves the partial results to the new maxima.
func (j *attendJob) score(w *scratch, to accumulator, head, tile int, queries span) {
	l, set := j.layer, j.cache.set
	f := &l.sides[keySide].format
	coded := j.coded(keySide, tile)
	var keys []float32
	if coded {
		j.readCodes(w, keySide, head, tile, queries)
	} else {
		keys = j.floatRows(w, keySide, head, tile, queries)
	}
	row := 0
	for query := queries.from; query < queries.to; query++ {
		from, end := j.visible(query, tile)
		for range l.group {
			if from < end {
				scores := w.weights[row*tileTokens+from : row*tileTokens+end]
				switch {
				case !coded:
					j.scoreFloats(w, scores, row, keys[from*l.padded:])
				case f.ByRow():
					j.scoreRows(w, scores, row, from)
				default:
					j.scoreChannels(w, scores, row, from)
				}
				to.row(row, l.padded).softmax(set, scores)
			}
			row++
		}
	}
}

// scoreFloats scores float rows.
func (j *attendJob) scoreFloats(w *scratch, scores []float32, row int, keys []float32) {
	l := j.layer
	q := w.query.plain[row*l.padded:][:l.HeadDim]
	j.cache.set.DotRows(scores, keys, l.padded, len(scores), q)
	if l.means != nil && j.first >= tileTokens {
		shift := w.query.shift[row]
		for i := range scores {
			scores[i] -= shift
		}
	}
}

// scoreRows scores rows of codes from row from of the tile on.
func (j *attendJob) scoreRows(w *scratch, scores []float32, row, from int) {
	l := j.layer
	f := &l.sides[keySide].format
	ng := rowGroups(f, l.padded)
	clear(scores)
	var minima []float32
	if f.HasMinima() {
		minima = w.tile.Minima[from*ng:]
	}
	for p := range l.planes {
		q := &w.query.planes[p]
		j.cache.set.Score(scores, w.tile.Codes[from*l.padded:], l.padded, len(scores),
			q.codes[row*l.padded:(row+1)*l.padded], q.scale[row*ng:(row+1)*ng],
			q.sum[row*ng:(row+1)*ng], w.tile.Scales[from*ng:], minima, f.Group)
	}
}

// ones are the scales of rows whose scales are in the query.
var ones = func() (s [tileTokens]float32) {
	for i := range s {
		s[i] = 1
	}
	return s
}()

// scoreChannels scores channels of codes: Σ (q·s)·code + Σ q·m.
func (j *attendJob) scoreChannels(w *scratch, scores []float32, row, from int) {
	l, set := j.layer, j.cache.set
	q := w.query.turned[row*l.padded : (row+1)*l.padded]
	folded := w.folded[:l.padded]
	for i, s := range w.tile.Scales[:l.padded] {
		folded[i] = q[i] * s
	}
	j.quantize(w, row, folded, l.padded)
	offset := set.Dot(q, w.tile.Minima[:l.padded])
	for i := range scores {
		scores[i] = offset
	}
	for p := range l.planes {
		plane := &w.query.planes[p]
		set.Score(scores, w.tile.Codes[from*l.padded:], l.padded, len(scores),
			plane.codes[row*l.padded:(row+1)*l.padded], plane.scale[row:row+1], nil,
			ones[:], nil, l.padded)
	}
}
