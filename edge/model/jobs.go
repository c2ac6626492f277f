package model

// Jobs: what the pool runs between two joins. Each is a field of Model that is
// filled and run again, because a closure or a fresh value a call would
// allocate.

import (
	"unsafe"

	"edgeinfer/kernels"
)

// normJob adds the pending delta to the residual stream and norms it, a token
// a unit: x += scale·[post-norm] delta; h = RMS(x)·weight; input = int8(h).
type normJob struct {
	m       *Model
	pending bool      // delta waits to be added
	weight  []float32 // nil: h = x
	post    []float32 // norm of delta, or nil
	int8In  bool
}

// run adds what is pending and norms n tokens with weight, if any.
func (j *normJob) run(n int, weight, post []float32, int8In bool) {
	j.weight, j.post, j.int8In = weight, post, int8In
	j.m.pool.Run(n, j)
	j.pending = true
}

// Do norms one token.
func (j *normJob) Do(t, _ int) {
	m, d := j.m, j.m.spec.Embedding
	x, h, delta := m.x[t*d:(t+1)*d], m.h[t*d:(t+1)*d], m.delta[t*d:(t+1)*d]
	if j.pending {
		if j.post != nil {
			kernels.RMSNorm(delta, delta, j.post, m.spec.Epsilon)
		}
		scale := m.spec.residualScale
		for i, v := range delta {
			x[i] += float32(v * scale) // rounded, so that no architecture fuses it
		}
	}
	if j.weight == nil {
		copy(h, x)
	} else {
		kernels.RMSNorm(h, x, j.weight, m.spec.Epsilon)
	}
	if j.int8In {
		m.quantize(t, h)
	}
}

// quantize writes token t's int8 row.
func (m *Model) quantize(t int, x []float32) {
	size := kernels.Int8RowBytes(len(x))
	m.set.Quantize(m.input[t*size:(t+1)*size:(t+1)*size], x)
}

// packJob turns rows of x into int8 rows, a token a unit.
type packJob struct {
	m    *Model
	x    []float32 // [n][cols]
	cols int
}

func (j *packJob) run(n int, x []float32, cols int) {
	j.x, j.cols = x, cols
	j.m.pool.Run(n, j)
}

// Do packs one token.
func (j *packJob) Do(t, _ int) { j.m.quantize(t, j.x[t*j.cols:(t+1)*j.cols]) }

// productJob multiplies up to three matrices with the same input rows, a run
// of weight rows a unit.
type productJob struct {
	m        *Model
	x        []float32 // [tokens][cols]
	tokens   int
	parts    [3]productPart
	count    int
	unitRows int
}

// productPart is one matrix and where its results go.
type productPart struct {
	w         kernels.Matrix
	y         []float32 // [tokens][stride]
	stride    int
	firstUnit int
}

func (j *productJob) begin(tokens int, x []float32) { j.tokens, j.x, j.count = tokens, x, 0 }

func (j *productJob) add(w kernels.Matrix, y []float32, stride int) {
	j.parts[j.count] = productPart{w: w, y: y, stride: stride}
	j.count++
}

// run cuts the rows into units and multiplies.
func (j *productJob) run() {
	rows, bytes := 0, 0
	for i := range j.parts[:j.count] {
		rows += j.parts[i].w.Rows
		bytes += len(j.parts[i].w.Data)
	}
	j.unitRows = unitRows(rows, bytes, j.tokens, j.m.pool.Threads())
	units := 0
	for i := range j.parts[:j.count] {
		j.parts[i].firstUnit = units
		units += (j.parts[i].w.Rows + j.unitRows - 1) / j.unitRows
	}
	j.m.pool.Run(units, j)
}

// Do multiplies the rows of one unit.
func (j *productJob) Do(unit, _ int) {
	i := j.count - 1
	for unit < j.parts[i].firstUnit {
		i--
	}
	p := &j.parts[i]
	first := (unit - p.firstUnit) * j.unitRows
	last := min(first+j.unitRows, p.w.Rows)
	j.m.multiply(p.w, p.y, p.stride, j.x, j.tokens, first, last)
}

// multiply computes rows [first, last) of w times all input rows.
func (m *Model) multiply(w kernels.Matrix, y []float32, stride int, x []float32, tokens, first, last int) {
	in, size := m.input, w.Format.InputBytes(w.Cols)
	if !w.Format.Int8Input() {
		in = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
	}
	rowBytes := w.Format.RowBytes(w.Cols)
	m.set.Product[w.Format](y[first:], stride, w.Data[first*rowBytes:last*rowBytes], in, size,
		last-first, w.Cols, tokens)
}

// unitAlign is the multiple of rows a unit has, for the register tiles of the
// kernels and the blocks of int8 rows.
const unitAlign = 32

// unitWork is the least work of a unit, in weight bytes times tokens: some
// microseconds, well above the cost of claiming it.
const unitWork = 32 << 10

// unitRows chooses the rows of a unit: four units a thread balance uneven
// cores and busy neighbours, fewer where the work is small.
func unitRows(rows, bytes, tokens, threads int) int {
	units := min(4*threads, 1+bytes/unitWork*tokens)
	per := (rows + units - 1) / units
	return (per + unitAlign - 1) / unitAlign * unitAlign
}

// feedJob computes gate = act(W_gate·h) ⊙ (W_up·h), a run of rows a unit.
type feedJob struct {
	m        *Model
	gate, up kernels.Matrix
	tokens   int
	unitRows int
}

func (j *feedJob) run(gate, up kernels.Matrix, tokens int) {
	j.gate, j.up, j.tokens = gate, up, tokens
	j.unitRows = unitRows(gate.Rows, len(gate.Data)+len(up.Data), tokens, j.m.pool.Threads())
	j.m.pool.Run((gate.Rows+j.unitRows-1)/j.unitRows, j)
}

// Do computes the gated rows of one unit.
func (j *feedJob) Do(unit, _ int) {
	m, n := j.m, j.gate.Rows
	first := unit * j.unitRows
	last := min(first+j.unitRows, n)
	m.multiply(j.gate, m.gate, n, m.h, j.tokens, first, last)
	m.multiply(j.up, m.up, n, m.h, j.tokens, first, last)
	for t := 0; t < j.tokens; t++ {
		gate, up := m.gate[t*n+first:t*n+last], m.up[t*n+first:t*n+last]
		if m.spec.family.gelu {
			kernels.GeGLU(gate, up)
		} else {
			kernels.SwiGLU(gate, up)
		}
	}
}

// turnJob prepares queries and keys for the cache, a token a unit: bias, head
// norm, rotation.
type turnJob struct {
	m     *Model
	layer int
}

func (j *turnJob) run(layer, n int) {
	j.layer = layer
	j.m.pool.Run(n, j)
}

// Do prepares one token.
func (j *turnJob) Do(t, _ int) {
	m, s := j.m, j.m.spec
	w, l := &m.w.layers[j.layer], s.Layers[j.layer]
	qLen, kvLen := l.Heads*s.HeadDim, l.KVHeads*s.HeadDim
	q, k := m.q[t*qLen:(t+1)*qLen], m.k[t*kvLen:(t+1)*kvLen]
	if w.qBias != nil {
		addTo(q, w.qBias)
		addTo(k, w.kBias)
		addTo(m.v[t*kvLen:(t+1)*kvLen], w.vBias)
	}
	if w.qNorm != nil {
		normHeads(q, w.qNorm, s.Epsilon)
		normHeads(k, w.kNorm, s.Epsilon)
	}
	if s.queryScale != 0 {
		scaleAll(q, s.queryScale)
	}
	if l.NoRope {
		return
	}
	cos, sin := m.cos, m.sin
	if l.WindowTokens > 0 {
		cos, sin = m.cosL, m.sinL
	}
	half := s.RopeDims / 2
	cos, sin = cos[t*half:(t+1)*half], sin[t*half:(t+1)*half]
	for ; len(q) > 0; q = q[s.HeadDim:] {
		rotate(q, cos, sin, s.family.neox)
	}
	for ; len(k) > 0; k = k[s.HeadDim:] {
		rotate(k, cos, sin, s.family.neox)
	}
}

func addTo(x, bias []float32) {
	for i, b := range bias {
		x[i] += b
	}
}
