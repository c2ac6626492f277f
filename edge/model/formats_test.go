package model

// Weight types: every one in place, any mixture in one file, and what is refused.

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"edgeinfer/edge/gguf"
	"edgeinfer/edge/gguf/gguftest"
	"edgeinfer/kernels"
	"edgeinfer/tests/shared"
)

// formatFiles opens one tiny model in every weight type, in order of name.
func formatFiles(t *testing.T) []*gguf.File {
	t.Helper()
	folder := shared.Path(t, "models", "formats")
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var files []*gguf.File
	for _, e := range entries {
		f, err := gguf.Open(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		files = append(files, f)
	}
	if len(files) < 14 {
		t.Fatalf("%d files of weight types, want 14", len(files))
	}
	return files
}

// matrices are all weight matrices of a model by tensor.
func (w *weights) matrices() map[string]kernels.Matrix {
	all := map[string]kernels.Matrix{"token_embd": w.embedding, "output": w.output}
	for i, l := range w.layers {
		prefix := "blk." + strconv.Itoa(i) + "."
		for name, m := range map[string]kernels.Matrix{"attn_q": l.q, "attn_k": l.k, "attn_v": l.v,
			"attn_output": l.o, "ffn_gate": l.gate, "ffn_up": l.up, "ffn_down": l.down} {
			all[prefix+name] = m
		}
	}
	return all
}

func TestEveryWeightTypeIsUsedInPlace(t *testing.T) {
	used := map[kernels.Format]bool{}
	for _, f := range formatFiles(t) {
		src, err := Open(f)
		if err != nil {
			t.Fatal(err)
		}
		for name, m := range src.w.matrices() {
			if name == "output" {
				name = "token_embd" // tied
			}
			tensor, ok := f.Tensor(name + ".weight")
			if !ok || len(m.Data) != len(tensor.Data) ||
				unsafe.SliceData(m.Data) != unsafe.SliceData(tensor.Data) {
				t.Errorf("%s: %s is not the %d bytes of the file", f.Name(), name, len(tensor.Data))
			}
			if m.Format.String() != tensor.Type.String() {
				t.Errorf("%s: %s has format %v, the file %v", f.Name(), name, m.Format, tensor.Type)
			}
			used[m.Format] = true
		}
	}
	for f := range kernels.NumFormats {
		if !used[f] && f != kernels.F32 {
			t.Errorf("no file has matrices in %v", f)
		}
	}
}

// mixture takes each tensor from the file that choose says; outputFrom, if it is
// no negative number, gives an output matrix of its own. wide de-quantizes it all.
func mixture(t *testing.T, files []*gguf.File, choose func(i int) int, outputFrom int,
	wide bool) *Source {
	t.Helper()
	b := gguftest.New(3)
	for _, key := range files[0].Keys() {
		v, _ := files[0].Value(key)
		switch {
		case strings.HasPrefix(key, "tokenizer."):
		case v.Kind == gguf.KindString:
			text, _, _ := files[0].String(key)
			b.Key(key, text)
		case v.Kind == gguf.KindU32:
			n, _, _ := files[0].Uint(key)
			b.Key(key, uint32(n))
		case v.Kind == gguf.KindF32:
			x, _, _ := files[0].Float(key)
			b.Key(key, float32(x))
		}
	}
	add := func(name string, from gguf.Tensor) {
		if wide && from.Type != gguf.TypeF32 {
			x := make([]float32, from.Values())
			kernels.DequantizeRow(formats[from.Type], x, from.Data)
			from.Type, from.Data = gguf.TypeF32, gguftest.F32(x...)
		}
		b.Tensor(name, from.Type, from.Dims, from.Data)
	}
	for i, tensor := range files[0].Tensors {
		from, _ := files[choose(i)].Tensor(tensor.Name)
		add(tensor.Name, from)
	}
	if outputFrom >= 0 {
		from, _ := files[outputFrom].Tensor("token_embd.weight")
		add("output.weight", from)
	}
	f, err := gguf.Parse("mixture.gguf", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	src, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// TestAnyMixtureOfTypesRuns gives every tensor another type, in several orders,
// with and without an output matrix of its own, and holds the logits against
// those of the same weights in F32.
func TestAnyMixtureOfTypesRuns(t *testing.T) {
	files, ids := formatFiles(t), prompt(12)
	orders := len(files)
	if testing.Short() {
		orders = 2
	}
	for shift := range orders {
		choose := func(i int) int { return (i*5 + shift) % len(files) }
		output := (shift+3)%(len(files)+1) - 1
		src := mixture(t, files, choose, output, false)
		types := map[kernels.Format]bool{}
		for _, m := range src.w.matrices() {
			types[m.Format] = true
		}
		got := logitsOf(t, src, ids, 8, "f32")
		want := logitsOf(t, mixture(t, files, choose, output, true), ids, 8, "f32")
		var sum, n float64
		for p := range want {
			for i, w := range want[p] {
				d := float64(got[p][i] - w)
				sum, n = sum+d*d, n+1
			}
		}
		// The bound on int8 activations in golden/README.md.
		if rms := math.Sqrt(sum / n); len(types) < 10 || !(rms <= 1) {
			t.Errorf("order %d, %d types, output from %d: logits differ by %.3g, want at most 1",
				shift, len(types), output, rms)
		}
	}
}

// TestTypesThatDoNotRunAreRefusedByName: the message names file, tensor and type,
// and what would run.
func TestTypesThatDoNotRunAreRefusedByName(t *testing.T) {
	refused := 0
	for id := gguf.Type(0); id < 64; id++ {
		values, bytes, known := id.Block()
		if _, runs := formats[id]; runs || !known {
			continue
		}
		y := newTiny()
		y.keys["llama.embedding_length"] = uint32(256)
		b := gguftest.New(3)
		for _, key := range sorted(y.keys) {
			b.Key(key, y.keys[key])
		}
		b.Tensor("token_embd.weight", id, []uint64{256, 5}, make([]byte, 5*256/values*bytes))
		f, err := gguf.Parse("tiny.gguf", b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		refused++
		want := "tiny.gguf: tensor token_embd.weight has type " + id.String() + ", which is not supported"
		if _, err := Open(f); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "Q4_K, Q5_K, Q6_K, IQ4_NL") {
			t.Errorf("type %v: error %v, want %q and the types that run", id, err, want)
		}
	}
	if refused < 15 {
		t.Errorf("%d types refused, want more", refused)
	}
}

// TestColumnsThatAreNoWholeBlocksAreRefused: such a tensor cannot be in a file, so
// the reader of files refuses it, with its name, type and length.
func TestColumnsThatAreNoWholeBlocksAreRefused(t *testing.T) {
	for id, format := range formats {
		values, bytes := format.Block()
		if values == 1 {
			continue
		}
		for _, cols := range []int{values - 1, values + 1, values / 2, 3*values - 16} {
			b := gguftest.New(3).Tensor("blk.0.attn_q.weight", id, []uint64{uint64(cols), 4},
				make([]byte, 16*bytes))
			_, err := gguf.Parse("bad.gguf", b.Bytes())
			for _, want := range []string{"bad.gguf", `"blk.0.attn_q.weight"`, id.String(),
				"rows of " + strconv.Itoa(cols) + " values"} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, rows of %d: error %v, want %q in it", id, cols, err, want)
				}
			}
		}
	}
}
