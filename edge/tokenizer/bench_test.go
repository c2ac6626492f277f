package tokenizer

import (
	"os"
	"strings"
	"testing"

	"edgeinfer/tests/shared"
)

func benchmarkText(b *testing.B) string {
	b.Helper()
	text, err := os.ReadFile(shared.Path(b, "text", "wikitext2-test.txt"))
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

func BenchmarkEncode(b *testing.B) {
	text := benchmarkText(b)
	for _, name := range append([]string{"smollm"}, vocabularies...) {
		tok := loadNamed(b, name)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			var ids []int32
			for b.Loop() {
				ids = tok.Encode(ids[:0], text, Options{})
			}
		})
	}
}

// BenchmarkEncodeRun is the worst of texts: one long word.
func BenchmarkEncodeRun(b *testing.B) {
	for _, c := range []string{"a", " ", "é", "<"} {
		text := strings.Repeat(c, 100_000/len(c))
		for _, name := range []string{"llama-bpe", "qwen2", "llama-spm"} {
			tok := loadNamed(b, name)
			b.Run(name+"/"+c, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				var ids []int32
				for b.Loop() {
					ids = tok.Encode(ids[:0], text, Options{})
				}
			})
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	text := benchmarkText(b)
	tok := loadNamed(b, "llama-bpe")
	ids := tok.Encode(nil, text, Options{})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		d := tok.NewDecoder()
		for _, id := range ids {
			d.Push(id)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for _, name := range vocabularies {
		v := loadVocab(b, "models", "vocab", "ggml-vocab-"+name+".gguf")
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := New(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
