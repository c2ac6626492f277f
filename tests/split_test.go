package tests

// A split model through the whole program: the same logits as in one file, from
// whichever part it is opened, and a plan that counts all parts.

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"edgeinfer/arena"
	"edgeinfer/edge"
	"edgeinfer/edge/gguf"
	"edgeinfer/edge/gguf/gguftest"
)

// splitFile writes the tensors of f into n files, one after the other.
func splitFile(t *testing.T, f *gguf.File, n int) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i := range n {
		w := gguftest.New(3)
		if i == 0 {
			copyKeys(t, w, f)
		}
		w.Key("split.no", uint16(i)).Key("split.count", uint16(n)).
			Key("split.tensors.count", int32(len(f.Tensors)))
		for _, x := range f.Tensors[len(f.Tensors)*i/n : len(f.Tensors)*(i+1)/n] {
			w.Tensor(x.Name, x.Type, x.Dims, x.Data)
		}
		path := filepath.Join(dir, fmt.Sprintf("model-%05d-of-%05d.gguf", i+1, n))
		if err := os.WriteFile(path, w.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// copyKeys writes the metadata of f, as far as the tiny models have kinds.
func copyKeys(t *testing.T, w *gguftest.Writer, f *gguf.File) {
	t.Helper()
	for _, key := range f.Keys() {
		v, _ := f.Value(key)
		switch {
		case v.Kind == gguf.KindString:
			text, _, _ := f.String(key)
			w.Key(key, text)
		case v.Kind == gguf.KindU32:
			n, _, _ := f.Uint(key)
			w.Key(key, uint32(n))
		case v.Kind == gguf.KindF32:
			x, _, _ := f.Float(key)
			w.Key(key, float32(x))
		case v.Kind == gguf.KindBool:
			b, _, _ := f.Bool(key)
			w.Key(key, b)
		case v.Elem == gguf.KindString:
			texts, _, _ := f.Strings(key)
			w.Key(key, texts)
		case v.Elem == gguf.KindI32:
			numbers, _, _ := f.Ints(key)
			small := make([]int32, len(numbers))
			for i, n := range numbers {
				small[i] = int32(n)
			}
			w.Key(key, small)
		default:
			t.Fatalf("key %s is of kind %s, which is not copied", key, v.TypeName())
		}
	}
}

func TestSplitModelAnswersAsOneFile(t *testing.T) {
	const file = "k256-Q4_K_S.gguf"
	whole, err := gguf.Open(modelPath(t, file))
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	prompt := loadGolden(t, "logits.json")[file]["short"].Prompt
	o := edge.Options{Model: modelPath(t, file), ContextTokens: 512, KV: "f32", Threads: 2}
	want := compute(t, o, prompt, 8)
	paths := splitFile(t, whole, 3)
	for _, path := range paths {
		o.Model = path
		got := compute(t, o, prompt, 8)
		if !slices.Equal(got.logits, want.logits) || !slices.Equal(got.greedy, want.greedy) {
			t.Errorf("%s: other logits than in one file", path)
		}
	}
	checkWeightsLine(t, o, paths)
}

// checkWeightsLine holds the plan's line of weights against the files' pages.
func checkWeightsLine(t *testing.T, o edge.Options, paths []string) {
	t.Helper()
	var bytes int64
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		bytes += arena.RoundPage(info.Size())
	}
	source, err := edge.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	plan, err := source.Plan()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range plan.Lines {
		if line.Purpose == arena.Weights && line.Bytes != bytes {
			t.Errorf("the plan has %d bytes of weights, the parts %d", line.Bytes, bytes)
		}
	}
}
