package gguf_test

// The shared models, held against a table that a separate reader made of them.

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strings"
	"testing"

	"edgeinfer/edge/gguf"
	"edgeinfer/tests/shared"
)

// models is one row per file. keysHash is FNV-1a of the keys joined by
// newlines, tensorsHash of one line "name type 3x2 offset bytes" per tensor.
var models = []struct {
	path                                             string
	version                                          uint32
	sizeBytes, keys, tensors, dataOffset, parameters int64
	keysHash, tensorsHash                            uint64
}{
	{"SmolLM2-135M-Instruct.Q4_1.gguf", 3, 98362432, 33, 272, 1785664, 134515008, 0xbefe8c409fbf96ee, 0xd8e248f956f41d93},
	{"families/gemma3.gguf", 3, 5808736, 24, 80, 16480, 1448064, 0xd6a093c0d689a8aa, 0xa187383f535ef356},
	{"families/headdim80.gguf", 3, 1942368, 21, 20, 14048, 482080, 0x20e4f708f7952c89, 0x19dcdec9479744b5},
	{"families/llama-k256.gguf", 3, 5126272, 21, 20, 9344, 1279232, 0x20e4f708f7952c89, 0x1482372cf7d587e7},
	{"families/llama-linear-rope.gguf", 3, 1457280, 23, 20, 12928, 361088, 0x566ef5d700abfb08, 0xdb5260263bf0c7f0},
	{"families/llama-yarn.gguf", 3, 1457312, 24, 20, 12960, 361088, 0x625380bb6a6343d8, 0xdb5260263bf0c7f0},
	{"families/llama.gguf", 3, 1851712, 23, 20, 14144, 459392, 0xa1587ffd2ba1e871, 0x40726a3078ff97b6},
	{"families/llama31-ropefreqs.gguf", 3, 1720768, 21, 22, 14144, 426656, 0x20e4f708f7952c89, 0xdc6d06640e0a0c28},
	{"families/mistral-spm.gguf", 3, 1653824, 21, 21, 12864, 410240, 0x5ae5966aa7a3f8af, 0x46f8416f27601728},
	{"families/phi3.gguf", 3, 3162048, 21, 15, 12480, 787392, 0xb29bff3194cb3ac9, 0xf3a5beb7fa2169bf},
	{"families/phi4-longrope.gguf", 3, 3688224, 24, 16, 12704, 918880, 0x1be5ea12584b9b17, 0xda4283d3b1a8bbb4},
	{"families/qwen2.gguf", 3, 1459456, 21, 26, 13056, 361600, 0x6d1846c47a08899d, 0x77cf57f405469427},
	{"families/qwen3.gguf", 3, 2639104, 23, 24, 13056, 656512, 0xb7b8f9cc7598c0cb, 0x9c9cadef39b02e69},
	{"families/smollm3.gguf", 3, 2641184, 21, 38, 15136, 656512, 0xdcc32d5a99158171, 0x54e1879686deac91},
	{"formats/k256-BF16.gguf", 3, 2570400, 22, 20, 9376, 1279232, 0x90cf6830073ad499, 0xec6ebc485c0adddf},
	{"formats/k256-F16.gguf", 3, 2570400, 22, 20, 9376, 1279232, 0x90cf6830073ad499, 0x2f2d229c00b68555},
	{"formats/k256-IQ4_NL.gguf", 3, 733344, 22, 20, 9376, 1279232, 0x90cf6830073ad499, 0xa46a88d9745f9420},
	{"formats/k256-IQ4_XS.gguf", 3, 693408, 22, 20, 9376, 1279232, 0x90cf6830073ad499, 0xd5761ff798cce5be},
	{"formats/k256-Q2_K.gguf", 3, 433824, 22, 20, 9376, 1279232, 0x90cf6830073ad499, 0xe6d71ec7fbfbbb38},
	{"formats/k256-Q3_K_S.gguf", 3, 563616, 22, 20, 9376, 1279232, 0x90cf6830073ad499, 0x4ad79e25d3dd3129},
	{"formats/k256-Q4_0.gguf", 3, 733344, 22, 20, 9376, 1279232, 0x90cf6830073ad499, 0x022c6cff18d3c994},
	{"formats/k256-Q4_1.gguf", 3, 813216, 22, 20, 9376, 1279232, 0x90cf6830073ad499, 0x93ee21ffd3b83ca8},
	{"formats/k256-Q4_K_S.gguf", 3, 733344, 22, 20, 9376, 1279232, 0x90cf6830073ad499, 0x5af2e1b818b8104f},
	{"formats/k256-Q5_0.gguf", 3, 893088, 22, 20, 9376, 1279232, 0x90cf6830073ad499, 0xaa0918af448f7c97},
	{"formats/k256-Q5_1.gguf", 3, 972960, 22, 20, 9376, 1279232, 0x90cf6830073ad499, 0x2b75216504351900},
	{"formats/k256-Q5_K_S.gguf", 3, 893088, 22, 20, 9376, 1279232, 0x90cf6830073ad499, 0x099cac085848e4ed},
	{"formats/k256-Q6_K.gguf", 3, 1062816, 22, 20, 9376, 1279232, 0x90cf6830073ad499, 0xf8b704712d961f77},
	{"formats/k256-Q8_0.gguf", 3, 1372320, 22, 20, 9376, 1279232, 0x90cf6830073ad499, 0x137a2663ca07a494},
	{"stories260K.gguf", 3, 535808, 24, 47, 14336, 260032, 0x2f05810e6092dba2, 0xe22d09ef2562afd6},
	{"vocab/ggml-vocab-deepseek-llm.gguf", 3, 3970167, 23, 0, 3970167, 0, 0x4b4e1993e99d2ed7, 0xcbf29ce484222325},
	{"vocab/ggml-vocab-gpt-2.gguf", 3, 1766807, 16, 0, 1766807, 0, 0x9b972827960c04f9, 0xcbf29ce484222325},
	{"vocab/ggml-vocab-llama-bpe.gguf", 3, 7818140, 20, 0, 7818140, 0, 0xa13183cf3f8ff4d9, 0xcbf29ce484222325},
	{"vocab/ggml-vocab-llama-spm.gguf", 3, 723869, 22, 0, 723869, 0, 0x7110b188c68ca94f, 0xcbf29ce484222325},
	{"vocab/ggml-vocab-phi-3.gguf", 3, 726019, 26, 0, 726019, 0, 0x65b4c3b4a21074e1, 0xcbf29ce484222325},
	{"vocab/ggml-vocab-qwen2.gguf", 3, 5928681, 20, 0, 5928681, 0, 0x20fe6d5536c7aa49, 0xcbf29ce484222325},
}

func TestSharedModels(t *testing.T) {
	root := shared.Path(t, "models")
	for _, want := range models {
		t.Run(want.path, func(t *testing.T) {
			f, err := gguf.Open(filepath.Join(root, filepath.FromSlash(want.path)))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got := []int64{int64(f.Version), f.Size(), int64(len(f.Metadata)),
				int64(len(f.Tensors)), f.DataOffset, int64(f.Parameters())}
			facts := []int64{int64(want.version), want.sizeBytes, want.keys, want.tensors,
				want.dataOffset, want.parameters}
			for i, name := range strings.Fields("version size keys tensors data parameters") {
				if got[i] != facts[i] {
					t.Errorf("%s = %d, want %d", name, got[i], facts[i])
				}
			}
			keys := fnv.New64a()
			fmt.Fprint(keys, strings.Join(f.Keys(), "\n"))
			if keys.Sum64() != want.keysHash {
				t.Errorf("keys %q, hash %#x, want %#x", f.Keys(), keys.Sum64(), want.keysHash)
			}
			if hash := tensorsHash(f); hash != want.tensorsHash {
				t.Errorf("tensor table hash %#x, want %#x", hash, want.tensorsHash)
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
		if s := v.String(); len(s) > 3000 || strings.ContainsAny(s, "\x00\x1b\n\r") {
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
	if want := "[{F32 61 35136 140544} {Q4_1 210 106168320 66355200} {Q8_0 1 28311552 30081024}]"; counts != want {
		t.Errorf("types %s, want %s", counts, want)
	}
}
