package kv

import (
	"math"
	"testing"

	"edgeinfer/kernels"
)

// reference is attention in float64 on what the visibility rule says a query
// reads, written out here a second time from the tokens alone: float rows as they
// are, codes as the format de-quantizes them, met by the query as it is quantized.
type reference struct {
	g        kernels.KVGeometry
	l        kernels.KVLayer
	in       layerTokens
	rows     [2][]float32 // k, v as 16-bit (or float32) rows, [n][heads][headDim]
	means    []float32    // μ, [heads][headDim]; nil where keys are not centred
	balance  []float32    // Λ, [heads][headDim]; nil: 1
	tiles    [2][]kernels.TileCodes
	columns  [][]float32 // of the matrix that turns values: images of the unit vectors
	n, width int
}

func newReference(g kernels.KVGeometry, layer int, in layerTokens, balance []float32) *reference {
	r := &reference{g: g, l: g.Layers[layer], in: in, balance: balance}
	r.width = r.l.KVHeads * r.l.HeadDim
	r.n = len(in.k) / r.width
	for side, rows := range [][]float32{in.k, in.v} {
		r.rows[side] = make([]float32, len(rows))
		for i, v := range rows {
			r.rows[side][i] = v
			if r.format(side).Quantized() {
				v = finite(v)
			}
			if r.format(side) != f32 {
				r.rows[side][i] = kernels.F16ToF32(kernels.F32ToF16(v))
			}
		}
	}
	if r.l.K.Centre && (g.WindowTiles >= 0 || r.sinks() > 0) && r.n > tileTokens {
		r.means = make([]float32, r.width)
		for at := range r.means {
			for t := range tileTokens {
				r.means[at] += finite(r.rows[0][t*r.width+at])
			}
			r.means[at] /= tileTokens
		}
	}
	for side := range r.tiles {
		if r.format(side).Quantized() {
			r.seal(side)
		}
	}
	for i := range r.l.HeadDim {
		unit := make([]float32, r.l.HeadDim)
		unit[i] = 1
		r.rotation(1).Apply(unit)
		r.columns = append(r.columns, unit)
	}
	return r
}

func (r *reference) format(side int) kernels.KVFormat {
	return [...]kernels.KVFormat{r.l.K, r.l.V}[side]
}

func (r *reference) sinks() int {
	if r.l.WindowTokens > 0 {
		return 0
	}
	return r.g.SinkTiles
}

func finite(v float32) float32 {
	one := []float32{v}
	kernels.FiniteRow(one)
	return one[0]
}

// rotation is the one of a side.
func (r *reference) rotation(side int) kernels.Rotation {
	if side == 0 {
		return kernels.NewKeyRotation(r.l.HeadDim)
	}
	return kernels.NewValueRotation(r.l.HeadDim)
}

// seal codes every tile of a side, [tile][head], and takes it apart; rows beyond
// the last token are zero.
func (r *reference) seal(side int) {
	f, d, set := r.format(side), r.l.HeadDim, kernels.Generic()
	padded := kernels.PaddedHeadDim(d)
	for tile := range tilesOf(r.n) {
		for head := range r.l.KVHeads {
			x := make([]float32, tileTokens*padded)
			for t := range min(tileTokens, r.n-tile*tileTokens) {
				copy(x[t*padded:], r.coded(side, tile*tileTokens+t, head))
			}
			packed, header := make([]byte, f.Tile(d).Bytes()), make([]byte, 2)
			f.PackTile(packed, header, x, d)
			codes := kernels.TileCodes{Codes: make([]int8, tileTokens*padded),
				Scales: make([]float32, f.TileScales(d)), Minima: make([]float32, f.TileScales(d))}
			codes.Read(&set, &f, packed, header, d, 0, tileTokens)
			r.tiles[side] = append(r.tiles[side], codes)
		}
	}
}

// coded is one row as it is coded: centred, balanced, rotated.
func (r *reference) coded(side, position, head int) []float32 {
	d := r.l.HeadDim
	x := append([]float32{}, r.rows[side][position*r.width+head*d:][:d]...)
	for i := range x {
		x[i] = finite(x[i])
		if side == 0 && r.means != nil {
			x[i] -= r.means[head*d+i]
		}
		if side == 0 && r.balance != nil {
			x[i] /= r.balance[head*d+i]
		}
	}
	if r.format(side).Rotate {
		r.rotation(side).Apply(x)
	}
	return x
}

// isCoded says whether a query reads a position as codes.
func (r *reference) isCoded(side, query, position int) bool {
	tile, own := position/tileTokens, query/tileTokens
	return r.format(side).Quantized() && tile >= r.sinks() && tile < own-r.g.WindowTiles
}

// tokenQuery is a query head's vector in its forms.
type tokenQuery struct {
	plain, turned []float32
	rows          []float64   // quantized, for rows of codes
	tiles         [][]float64 // for channels: with a tile's scales folded in, quantized
}

func (r *reference) query(query, head int) tokenQuery {
	d := r.l.HeadDim
	scale := float32(1 / math.Sqrt(float64(d)))
	q := tokenQuery{plain: make([]float32, d), turned: make([]float32, kernels.PaddedHeadDim(d))}
	for i, v := range r.in.q[(query*r.l.QueryHeads+head)*d:][:d] {
		q.plain[i] = v * scale
		q.turned[i] = q.plain[i]
		if r.balance != nil {
			q.turned[i] *= r.balance[head*r.l.KVHeads/r.l.QueryHeads*d+i]
		}
	}
	if r.l.K.Rotate {
		r.rotation(0).Apply(q.turned[:d])
	}
	if r.l.K.Quantized() && r.l.K.ByRow() {
		q.rows = r.quantized(q.turned, r.l.K.Group)
	}
	for tile := 0; !r.l.K.ByRow() && tile < tilesOf(r.n); tile++ {
		folded := make([]float32, len(q.turned))
		for i, v := range q.turned {
			folded[i] = v * r.tiles[0][tile*r.l.KVHeads+head*r.l.KVHeads/r.l.QueryHeads].Scales[i]
		}
		q.tiles = append(q.tiles, r.quantized(folded, len(folded)))
	}
	return q
}

// quantized is a query as int8 planes carry it.
func (r *reference) quantized(x []float32, group int) []float64 {
	planes := 1
	if b := r.l.K.Bits; b >= 7 || (b >= 5 && !r.l.K.ByRow()) {
		planes = 2
	}
	sum, rest := make([]float64, len(x)), append([]float32{}, x...)
	ng := (len(x) + group - 1) / group
	codes, scale, ignored := make([]int8, len(x)), make([]float32, ng), make([]float32, ng)
	for range planes {
		kernels.QuantizeQuery(codes, scale, ignored, rest, group)
		for i, c := range codes {
			sum[i] += float64(scale[i/group]) * float64(c)
			rest[i] -= float32(scale[i/group] * float32(c))
		}
	}
	return sum
}

// score is a query's score of a position, and the sum of the magnitudes of its
// terms: what rounding errors are relative to.
func (r *reference) score(q tokenQuery, query, position, kvHead int) (score, size float64) {
	d := r.l.HeadDim
	add := func(term float64) { score, size = score+term, size+math.Abs(term) }
	if !r.isCoded(0, query, position) {
		for i, k := range r.rows[0][position*r.width+kvHead*d:][:d] {
			add(float64(q.plain[i]) * float64(k))
			if r.means != nil && query >= tileTokens {
				add(-float64(q.plain[i]) * float64(r.means[kvHead*d+i]))
			}
		}
		return score, size
	}
	padded, t := kernels.PaddedHeadDim(d), position%tileTokens
	tile := &r.tiles[0][position/tileTokens*r.l.KVHeads+kvHead]
	codes := tile.Codes[t*padded : (t+1)*padded]
	if !r.l.K.ByRow() {
		for i, v := range q.tiles[position/tileTokens] {
			add(v * float64(codes[i]))
			add(float64(q.turned[i]) * float64(tile.Minima[i]))
		}
		return score, size
	}
	ng := len(tile.Scales) / tileTokens
	for i, v := range q.rows {
		g := t*ng + i/r.l.K.Group
		add(v * float64(tile.Scales[g]) * float64(codes[i]))
		if r.l.K.HasMinima() {
			add(v * float64(tile.Minima[g]))
		}
	}
	return score, size
}

// attend returns the output of one query head and the bound of its error.
//
// The bound: a score's float32 sum is off by at most ε = 2·d·2⁻²⁴·Σ|terms|, which
// moves a weight by a factor e^±2ε; the sums over positions, the exponentials, the
// rescaling and the turns of the mix add a few roundings a tile, relative to the
// largest row.
func (r *reference) attend(query, head int) (out []float64, bound float64) {
	d := r.l.HeadDim
	q := r.query(query, head)
	kvHead := head * r.l.KVHeads / r.l.QueryHeads
	first := 0
	if r.l.WindowTokens > 0 {
		first = max(0, query-r.l.WindowTokens+1)
	}
	scores, largest, scoreError := make([]float64, query+1), math.Inf(-1), 0.0
	for p := first; p <= query; p++ {
		var size float64
		scores[p], size = r.score(q, query, p, kvHead)
		largest = max(largest, scores[p])
		scoreError = max(scoreError, 2*float64(d)*0x1p-24*size)
	}
	out, coded := make([]float64, d), make([]float64, d)
	var sum, maxV float64
	for p := first; p <= query; p++ {
		weight := math.Exp(scores[p] - largest)
		sum += weight
		to := out
		if r.isCoded(1, query, p) && r.l.V.Rotate {
			to = coded
		}
		maxV = max(maxV, r.addValue(to, weight, query, p, kvHead))
	}
	if r.l.V.Rotate {
		r.turnBack(coded)
	}
	for i := range out {
		out[i] = (out[i] + coded[i]) / sum
	}
	return out, maxV * (4*scoreError + float64(query+64)*0x1p-23)
}

// addValue adds a weighted row of values and returns a bound of its entries, before
// and after a rotation.
func (r *reference) addValue(to []float64, weight float64, query, p, kvHead int) float64 {
	d := r.l.HeadDim
	var largest, square float64
	add := func(i int, v, size float64) {
		to[i] += weight * v
		largest, square = max(largest, size), square+size*size
	}
	if r.isCoded(1, query, p) {
		padded, t := kernels.PaddedHeadDim(d), p%tileTokens
		tile := &r.tiles[1][p/tileTokens*r.l.KVHeads+kvHead]
		ng := len(tile.Scales) / tileTokens
		for i, c := range tile.Codes[t*padded:][:d] {
			g := t*ng + i/r.l.V.Group
			v, m := float64(tile.Scales[g])*float64(c), 0.0
			if r.l.V.HasMinima() {
				m = float64(tile.Minima[g])
			}
			add(i, v+m, math.Abs(v)+math.Abs(m))
		}
	} else {
		for i, v := range r.rows[1][p*r.width+kvHead*d:][:d] {
			add(i, float64(v), math.Abs(float64(v)))
		}
	}
	if r.l.V.Rotate {
		return math.Sqrt(square)
	}
	return largest
}

// turnBack undoes the rotation of values by the transposed matrix.
func (r *reference) turnBack(x []float64) {
	turned := append([]float64{}, x...)
	for i, column := range r.columns {
		x[i] = 0
		for j, v := range column {
			x[i] += float64(v) * turned[j]
		}
	}
}

// checkAgainstReference holds the outputs of one layer.
func checkAgainstReference(t *testing.T, r *reference, got []float32) {
	t.Helper()
	d := r.l.HeadDim
	for query := range r.n {
		for head := range r.l.QueryHeads {
			want, bound := r.attend(query, head)
			for i, w := range want {
				v := got[(query*r.l.QueryHeads+head)*d+i]
				if off := math.Abs(float64(v) - w); !(off <= bound) {
					t.Errorf("query %d, head %d, channel %d: %v, want %v, off by %.3g > %.3g",
						query, head, i, v, w, off, bound)
					return
				}
			}
		}
	}
}
