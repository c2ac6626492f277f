package kernels

// Benchmarks of attention over one tile of 32 rows, as a token meets it: one
// query head, packed codes in the first-level cache. MB/s are bytes of codes as
// they are packed, or of float rows, per second; ns/row is what a query head
// spends on one cached key or value.
//
//	go test ./kernels -run - -bench Tile -benchtime 50ms

import (
	"fmt"
	"testing"
)

func BenchmarkTile(b *testing.B) {
	for _, s := range All() {
		for _, padded := range []int{64, 128} {
			t := newBenchTile(padded)
			for _, bits := range []int{2, 3, 4, 8} {
				size := padded * bits / 8
				t.bench(b, fmt.Sprintf("Unpack/bits=%d", bits), s, size, func() {
					s.Unpack[bits](t.codes, t.payload, size, padded, TileTokens, t.table)
				})
			}
			for _, group := range []int{32, 64, 128} {
				t.bench(b, fmt.Sprintf("Score/group=%d", group), s, padded, func() {
					s.Score(t.scores, t.codes, padded, TileTokens, t.q, t.w, nil, t.w, nil, group)
				})
				t.bench(b, fmt.Sprintf("ScoreAffine/group=%d", group), s, padded, func() {
					s.Score(t.scores, t.codes, padded, TileTokens, t.q, t.w, t.w, t.w, t.w, group)
				})
				t.bench(b, fmt.Sprintf("Mix/group=%d", group), s, padded, func() {
					s.Mix(t.out, t.codes, padded, TileTokens, t.w, group)
				})
			}
			t.bench(b, "DotRows", s, 4*padded, func() {
				s.DotRows(t.scores, t.x, padded, TileTokens, t.out)
			})
			t.bench(b, "AxpyRows", s, 4*padded, func() {
				s.AxpyRows(t.out, t.w, t.x, padded, TileTokens)
			})
			t.bench(b, "ExpSum", s, 4, func() { t.sum = s.ExpSum(t.scores, 0) })
			t.bench(b, "Max", s, 4, func() { t.sum = s.Max(t.scores) })
		}
	}
}

// BenchmarkQuery is what a query head costs before it meets the first tile.
func BenchmarkQuery(b *testing.B) {
	for _, s := range All() {
		for _, padded := range []int{64, 128} {
			t := newBenchTile(padded)
			for _, op := range []struct {
				name string
				run  func()
			}{
				{"Quantize", func() { s.QuantizeQuery(t.q, t.w, t.w[64:], t.out, 32) }},
				{"Walsh", func() { s.Walsh(t.out, padded) }},
			} {
				b.Run(fmt.Sprintf("%s/d=%d/%s", op.name, padded, s.Name), func(b *testing.B) {
					b.SetBytes(int64(4 * padded))
					for b.Loop() {
						op.run()
					}
				})
			}
		}
	}
}

// benchTile holds the operands of a tile. Weights are zero, so that sums stay
// finite however often they are added to.
type benchTile struct {
	padded      int
	codes, q    []int8
	payload     []byte
	table       []int8
	x, w        []float32
	scores, out []float32
	sum         float32
}

func newBenchTile(padded int) *benchTile {
	r := newRand(11)
	t := &benchTile{
		padded: padded,
		codes:  make([]int8, TileTokens*padded), q: make([]int8, padded),
		payload: make([]byte, TileTokens*padded), table: make([]int8, 16),
		x: normalFloats(r, TileTokens*padded), w: make([]float32, 4*TileTokens),
		scores: make([]float32, TileTokens), out: normalFloats(r, padded),
	}
	for i := range t.payload {
		t.payload[i], t.codes[i] = byte(r.Uint32()), int8(r.Uint32())
	}
	return t
}

func (t *benchTile) bench(b *testing.B, name string, s Set, rowBytes int, run func()) {
	b.Run(fmt.Sprintf("%s/d=%d/%s", name, t.padded, s.Name), func(b *testing.B) {
		b.SetBytes(int64(TileTokens * rowBytes))
		for b.Loop() {
			run()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/TileTokens, "ns/row")
	})
}
