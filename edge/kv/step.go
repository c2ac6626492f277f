package kv

// Step: the tokens of one call are cut where a tile ends. For each span, what
// leaves the window is sealed, the rows are written, then the span's queries
// attend. So every query reads what its position says, whatever the call held.

import "fmt"

const (
	// rangeTiles is how many tiles a partial result covers. Ranges are cut at
	// fixed positions, so the order of merging is always the same.
	rangeTiles = 16
	// blockQueries is how many queries of a span share the unpacking of a tile.
	blockQueries = 16
)

// Step takes n consecutive tokens, at positions Len() to Len()+n−1, through
// one layer: it appends their keys and values, after position encoding, and
// writes the attention of their queries to out.
//
// q and out are [n][QueryHeads][HeadDim], k and v [n][KVHeads][HeadDim]. Query
// head h reads KV head h·KVHeads/QueryHeads. Scores are scaled by 1/√HeadDim. The
// pages must be there, see Reserve. Results are bit-equal for any cut into
// calls and any number of threads. Nothing is allocated.
func (s *Session) Step(layer, n int, q, k, v, out []float32) {
	s.mustTake(layer, n, q, k, v, out)
	c := s.cache
	l := &c.layers[layer]
	qLen, kvLen := l.QueryHeads*l.HeadDim, l.KVHeads*l.HeadDim
	for done := 0; done < n; {
		first := s.length + done
		span := min(n-done, tileTokens-first%tileTokens)
		end := done + span
		c.write.run(s, l, first, span, k[done*kvLen:end*kvLen], v[done*kvLen:end*kvLen])
		c.attend.run(s, l, first, span, q[done*qLen:end*qLen], out[done*qLen:end*qLen])
		done = end
	}
}

// mustTake holds the caller to the shapes and claims the pages.
func (s *Session) mustTake(layer, n int, q, k, v, out []float32) {
	s.mustBeOpen()
	if layer < 0 || layer >= len(s.cache.layers) || n < 1 {
		panic(fmt.Sprintf("kv: BUG: step of %d tokens in layer %d of %d",
			n, layer, len(s.cache.layers)))
	}
	l := &s.cache.layers[layer]
	queries, rows := n*l.QueryHeads*l.HeadDim, n*l.KVHeads*l.HeadDim
	if len(q) != queries || len(out) != queries || len(k) != rows || len(v) != rows {
		panic(fmt.Sprintf("kv: BUG: layer %d, %d tokens: q, k, v, out have %d, %d, %d, %d values, "+
			"want %d, %d, %d, %d", layer, n, len(q), len(k), len(v), len(out),
			queries, rows, rows, queries))
	}
	if err := s.Reserve(n); err != nil {
		panic("kv: BUG: step without room: " + err.Error())
	}
}
