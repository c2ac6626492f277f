package kv

// Mixing of a tile of values by the weights that score left.

// mix adds the weighted values of a tile.
func (j *attendJob) mix(w *scratch, to accumulator, head, tile int, queries span) {
	l := j.layer
	coded := j.coded(valueSide, tile)
	var values []float32
	if coded {
		j.readCodes(w, valueSide, head, tile, queries)
	} else {
		values = j.floatRows(w, valueSide, head, tile, queries)
	}
	row := 0
	for query := queries.from; query < queries.to; query++ {
		from, end := j.visible(query, tile)
		for range l.group {
			if from < end {
				mix, weights := to.row(row, l.padded).mix, w.weights[row*tileTokens+from:row*tileTokens+end]
				if coded {
					j.mixCodes(w, mix, weights, from)
				} else {
					j.cache.set.AxpyRows(mix[:l.HeadDim], weights, values[from*l.padded:],
						l.padded, len(weights))
				}
			}
			row++
		}
	}
}

// mixCodes adds weighted rows of codes, from row from of the tile on:
//
//	mix[c] += Σ_r (weight[r]·scale[r][g])·code[r][c] + Σ_r weight[r]·min[r][g]
func (j *attendJob) mixCodes(w *scratch, mix, weights []float32, from int) {
	l := j.layer
	f := &l.sides[valueSide].format
	ng := rowGroups(f, l.padded)
	scaled, set := w.scaled[:len(weights)*ng], j.cache.set
	set.ScaleRows(scaled, weights, w.tile.Scales[from*ng:], ng)
	set.Mix(mix, w.tile.Codes[from*l.padded:], l.padded, len(weights), scaled, f.Group)
	if !f.HasMinima() {
		return
	}
	offsets := w.folded[:ng] // free until the next tile of keys
	clear(offsets)
	set.AxpyRows(offsets, weights, w.tile.Minima[from*ng:], ng, len(weights))
	for g, offset := range offsets {
		group := mix[g*f.Group : min((g+1)*f.Group, l.padded)]
		for i := range group {
			group[i] += offset
		}
	}
}
