package gguf_test

import (
	"strings"
	"testing"

	"edgeinfer/edge/gguf"
	"edgeinfer/edge/gguf/gguftest"
)

// FuzzParse holds every input against what must be true of any: no panic,
// errors of the house's form, and a file that parses can be read whole.
func FuzzParse(f *testing.F) {
	f.Add(tiny())
	f.Add([]byte(header(0, 0)))
	f.Add([]byte(header(1, 0).tensor("t", gguf.TypeF32, 0, 1, 0)))
	f.Add([]byte(header(1, 0).tensor("t", gguf.TypeQ8_0, 0, 1152, 1<<42+1).aligned().zeros(64)))
	f.Add([]byte(header(2, 0).tensor("t", gguf.TypeF32, 32, 8).tensor("u", gguf.TypeF32, 0).
		aligned().zeros(64)))
	f.Add([]byte(header(0, 1).key("k", gguf.KindArray).u32(8).u64(2).str("a").str("")))
	f.Add([]byte(header(0, 1).key("k", gguf.KindArray).u32(9).u64(1).u32(4).u64(1).u32(7)))
	f.Add(withAlignment(uint32(8)))
	f.Add(gguftest.New(2).Key("tokenizer.ggml.tokens", []string{"x"}).
		Key("tokenizer.ggml.eos_token_id", uint32(1)).Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := gguf.Parse("fuzz.gguf", data)
		if err != nil {
			text := err.Error()
			if file != nil || !strings.HasPrefix(text, "gguf: fuzz.gguf: ") || len(text) > 1000 {
				t.Errorf("Parse = %v, %q", file, text)
			}
			return
		}
		checkWhole(t, file)
		for _, key := range file.Keys() {
			file.TokenID(key)
		}
	})
}
