package gguf_test

// The shared models, held against a table that a separate reader made of them.

import (
	_ "embed"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strings"
	"testing"

	"edgeinfer/edge/gguf"
	"edgeinfer/tests/shared"
)

//go:embed testdata/models.txt
var models string

func TestSharedModels(t *testing.T) {
	root := shared.Path(t, "models")
	for line := range strings.Lines(models) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		path, want, _ := strings.Cut(line, " ")
		t.Run(path, func(t *testing.T) {
			f, err := gguf.Open(filepath.Join(root, filepath.FromSlash(path)))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			keys := fnv.New64a()
			fmt.Fprint(keys, strings.Join(f.Keys(), "\n"))
			got := fmt.Sprintf("%d %d %d %d %d %d %016x %016x", f.Version, f.Size(),
				len(f.Metadata), len(f.Tensors), f.DataOffset, f.Parameters(),
				keys.Sum64(), tensorsHash(f))
			if want := strings.Join(strings.Fields(want), " "); got != want {
				t.Errorf("version, bytes, keys, tensors, data, parameters, hashes\n"+
					" = %s\nwant %s", got, want)
			}
			checkWhole(t, f)
		})
	}
}

func tensorsHash(f *gguf.File) uint64 {
	h := fnv.New64a()
	for _, tensor := range f.Tensors {
		dims := strings.Trim(strings.ReplaceAll(fmt.Sprint(tensor.Dims), " ", "x"), "[]")
		fmt.Fprintf(h, "%s %d %s %d %d\n", tensor.Name, tensor.Type, dims, tensor.Offset,
			len(tensor.Data))
	}
	return h.Sum64()
}

// checkWhole checks what holds for every file that parses, whatever is in it:
// all of it can be looked up, read and printed, and the sums agree.
func checkWhole(t *testing.T, f *gguf.File) {
	t.Helper()
	for i, key := range f.Keys() {
		v, ok := f.Value(key)
		if !ok || v.Key != key || f.Metadata[i].Key != key {
			t.Fatalf("Value(%q) = %v, %v", key, v.Key, ok)
		}
		if s := v.String(); len(s) > 600 || strings.ContainsAny(s, "\x00\x1b\n\r") {
			t.Errorf("%q prints as %q", key, s)
		}
		checkGetters(t, f, v)
	}
	var values uint64
	var bytes int64
	for i := range f.Tensors {
		tensor := &f.Tensors[i]
		if got, ok := f.Tensor(tensor.Name); !ok || got.Offset != tensor.Offset {
			t.Fatalf("Tensor(%q) = offset %d, %v", tensor.Name, got.Offset, ok)
		}
		perBlock, blockBytes, known := tensor.Type.Block()
		want := tensor.Values() / uint64(perBlock) * uint64(blockBytes)
		if !known || uint64(len(tensor.Data)) != want || len(tensor.Data) != cap(tensor.Data) {
			t.Errorf("%s has %d bytes, capacity %d, want %d", tensor.Name,
				len(tensor.Data), cap(tensor.Data), want)
		}
		values += tensor.Values()
		bytes += int64(len(tensor.Data))
	}
	for _, c := range f.TypeCounts() {
		values -= c.Values
		bytes -= c.Bytes
	}
	if values != 0 || bytes != 0 {
		t.Errorf("type counts miss %d values and %d bytes", values, bytes)
	}
	if f.DataOffset > f.Size() {
		t.Errorf("data at %d of %d", f.DataOffset, f.Size())
	}
}

// checkGetters calls every getter on one key: those of other types must give
// an error, and at least one must give the value.
func checkGetters(t *testing.T, f *gguf.File, v gguf.Value) {
	t.Helper()
	found := 0
	note := func(ok bool, err error) {
		if ok == (err != nil) {
			t.Errorf("getter of %q (%s): ok %v with error %v", v.Key, v.TypeName(), ok, err)
		}
		if ok {
			found++
		}
	}
	_, ok, err := f.Uint(v.Key)
	note(ok, err)
	_, ok, err = f.Float(v.Key)
	note(ok, err)
	_, ok, err = f.Bool(v.Key)
	note(ok, err)
	_, ok, err = f.String(v.Key)
	note(ok, err)
	texts, ok, err := f.Strings(v.Key)
	note(ok, err)
	if ok && len(texts) != v.Count {
		t.Errorf("Strings(%q) has %d elements, want %d", v.Key, len(texts), v.Count)
	}
	_, ok, err = f.Floats(v.Key)
	note(ok, err)
	_, ok, err = f.Ints(v.Key)
	note(ok, err)
	_, ok, err = f.Uints(v.Key)
	note(ok, err)
	_, ok, err = f.Bools(v.Key)
	note(ok, err)
	if negative := strings.Contains(v.String(), "-"); found == 0 && !negative {
		t.Errorf("no getter reads %q (%s %v)", v.Key, v.TypeName(), v)
	}
}

// The published model: a few facts by eye.
func TestSmolLM2(t *testing.T) {
	f, err := gguf.Open(shared.Path(t, "models", "SmolLM2-135M-Instruct.Q4_1.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if v, ok, err := f.String("general.architecture"); v != "llama" || !ok || err != nil {
		t.Errorf("architecture = %q, %v, %v", v, ok, err)
	}
	if v, ok, err := f.Uint("llama.attention.head_count_kv"); v != 3 || !ok || err != nil {
		t.Errorf("KV heads = %d, %v, %v", v, ok, err)
	}
	if v, ok, err := f.Float("llama.rope.freq_base"); v != 100000 || !ok || err != nil {
		t.Errorf("rope base = %v, %v, %v", v, ok, err)
	}
	tokens, ok, err := f.Strings("tokenizer.ggml.tokens")
	if len(tokens) != 49152 || tokens[1] != "<|im_start|>" || !ok || err != nil {
		t.Errorf("%d tokens, %v, %v", len(tokens), ok, err)
	}
	types, ok, err := f.Ints("tokenizer.ggml.token_type")
	if len(types) != 49152 || types[1] != 3 || types[1000] != 1 || !ok || err != nil {
		t.Errorf("%d token types, %v, %v", len(types), ok, err)
	}
	if id, ok, err := f.TokenID("tokenizer.ggml.eos_token_id"); id != 2 || !ok || err != nil {
		t.Errorf("eos = %d, %v, %v", id, ok, err)
	}
	embedding, ok := f.Tensor("token_embd.weight")
	if !ok || fmt.Sprint(embedding.Dims) != "[576 49152]" {
		t.Errorf("token_embd.weight = %v, %v", embedding.Dims, ok)
	}
	counts := fmt.Sprint(f.TypeCounts())
	want := "[{F32 61 35136 140544} {Q4_1 210 106168320 66355200} {Q8_0 1 28311552 30081024}]"
	if counts != want {
		t.Errorf("types %s, want %s", counts, want)
	}
}
