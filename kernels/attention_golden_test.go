package kernels

// What attention reads from tiles against another implementation's scores, weights
// and outputs: rows are rotated, packed and read back by the references of this
// package, then attended to.

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"edgeinfer/tests/shared"
)

// attentionVector is one case of the manifest attention.json.
type attentionVector struct {
	Heads    int
	KVHeads  int `json:"kv_heads"`
	T        int
	HeadDim  int `json:"head_dim"`
	KBits    int
	VBits    int
	KGroup   int
	VGroup   int
	KeyRot   bool `json:"key_rot"`
	Residual int
	Q, K, V  *goldenArray
	Scores   *goldenArray
	Probs    *goldenArray
	Out      *goldenArray
}

func TestAttentionEqualsTheVectors(t *testing.T) {
	data, err := os.ReadFile(shared.Path(t, "golden", "vectors", "attention.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Cases []attentionVector }
	if err := json.Unmarshal(data, &manifest); err != nil {
		t.Fatal(err)
	}
	_, read := goldenVectors(t, "attention")
	if len(manifest.Cases) < 18 {
		t.Errorf("%d cases, want 18", len(manifest.Cases))
	}
	for i, c := range manifest.Cases {
		q, k, v := read(c.Q), read(c.K), read(c.V)
		if c.KeyRot {
			rotation := NewRotation(c.HeadDim)
			for _, rows := range [][]float32{q, k} {
				for at := 0; at < len(rows); at += c.HeadDim {
					rotation.Apply(rows[at : at+c.HeadDim])
				}
			}
		}
		c.throughTiles(k, c.KBits, c.KGroup)
		c.throughTiles(v, c.VBits, c.VGroup)
		scores, probs, out := c.attend(q, k, v)
		within(t, i, "score", scores, read(c.Scores), 1e-5)
		within(t, i, "probability", probs, read(c.Probs), 1e-6)
		within(t, i, "output", out, read(c.Out), 1e-6)
	}
}

// throughTiles packs all but the residual rows of each head and reads them back.
func (c attentionVector) throughTiles(rows []float32, bits, group int) {
	if bits == 0 {
		return
	}
	f := AffineRows(bits, group)
	tile := make([]byte, f.Tile(c.HeadDim).Bytes())
	for head := range c.KVHeads {
		for token := range c.T - c.Residual {
			row := rows[(head*c.T+token)*c.HeadDim:][:c.HeadDim]
			f.PackRow(tile, 0, row)
			f.UnpackRows(row, tile, nil, c.HeadDim, 1)
		}
	}
}

// attend is attention of one query a head, every token visible, summed in float64:
// the vectors' tolerance is a few roundings of float32.
func (c attentionVector) attend(q, k, v []float32) (scores, probs, out []float32) {
	out = make([]float32, len(q))
	for head := range c.Heads {
		at := head * c.KVHeads / c.Heads * c.T * c.HeadDim
		s, largest := make([]float64, c.T), math.Inf(-1)
		for token := range s {
			for i, key := range k[at+token*c.HeadDim:][:c.HeadDim] {
				s[token] += float64(q[head*c.HeadDim+i]) * float64(key)
			}
			s[token] /= math.Sqrt(float64(c.HeadDim))
			scores = append(scores, float32(s[token]))
			largest = max(largest, s[token])
		}
		var sum float64
		for token := range s {
			s[token] = math.Exp(s[token] - largest)
			sum += s[token]
		}
		mix := make([]float64, c.HeadDim)
		for token, weight := range s {
			probs = append(probs, float32(weight/sum))
			for i, value := range v[at+token*c.HeadDim:][:c.HeadDim] {
				mix[i] += weight / sum * float64(value)
			}
		}
		for i, value := range mix {
			out[head*c.HeadDim+i] = float32(value)
		}
	}
	return scores, probs, out
}

func within(t *testing.T, at int, what string, got, want []float32, bound float64) {
	t.Helper()
	for i, w := range want {
		if off := math.Abs(float64(got[i] - w)); !(off <= bound) {
			t.Errorf("case %d: %s %d is %v, want %v, off by %.2g", at, what, i, got[i], w, off)
			return
		}
	}
}
