package tokenizer

// Ids against those of llama.cpp, which lie beside the shared vocabularies, and
// against rows that were derived independently.

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"edgeinfer/edge/gguf"
	"edgeinfer/tests/shared"
)

// loadVocab reads the vocabulary of a shared file. The file stays mapped until
// the test ends.
func loadVocab(t testing.TB, elem ...string) Vocab {
	t.Helper()
	f, err := gguf.Open(shared.Path(t, elem...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	text := func(key string) string { s, _, _ := f.String(key); return s }
	id := func(key string) int64 {
		v, ok, err := f.Uint("tokenizer.ggml." + key)
		if !ok || err != nil {
			return -1
		}
		return int64(v)
	}
	v := Vocab{
		Model: text("tokenizer.ggml.model"), Pre: text("tokenizer.ggml.pre"),
		BOS: id("bos_token_id"), EOS: id("eos_token_id"), EOT: id("eot_token_id"),
		EOM: id("eom_token_id"), UNK: id("unknown_token_id"), PAD: id("padding_token_id"),
		ModelName: text("general.name"), Name: elem[len(elem)-1],
	}
	v.AddSpacePrefix = v.Model == "llama"
	if b, ok, _ := f.Bool("tokenizer.ggml.add_space_prefix"); ok {
		v.AddSpacePrefix = b
	}
	v.AddBOS = AddsBOS(v.Model, v.Pre)
	if b, ok, _ := f.Bool("tokenizer.ggml.add_bos_token"); ok {
		v.AddBOS = b
	}
	if v.Tokens, _, err = f.Strings("tokenizer.ggml.tokens"); err != nil {
		t.Fatal(err)
	}
	v.Merges, _, _ = f.Strings("tokenizer.ggml.merges")
	v.Scores, _, _ = f.Floats("tokenizer.ggml.scores")
	v.Types, _, _ = f.Ints("tokenizer.ggml.token_type")
	return v
}

// load makes the tokenizer of a shared file.
func load(t testing.TB, elem ...string) *Tokenizer {
	t.Helper()
	tok, err := New(loadVocab(t, elem...))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

var vocabularies = []string{"llama-spm", "phi-3", "llama-bpe", "qwen2", "gpt-2", "deepseek-llm"}

func loadNamed(t testing.TB, name string) *Tokenizer {
	t.Helper()
	if name == "smollm" {
		return load(t, "models", "SmolLM2-135M-Instruct.Q4_1.gguf")
	}
	return load(t, "models", "vocab", "ggml-vocab-"+name+".gguf")
}

// vocabCases returns the texts and the ids of a shared vocabulary.
func vocabCases(t *testing.T, name string) (texts []string, ids [][]int32) {
	t.Helper()
	path := shared.Path(t, "models", "vocab", "ggml-vocab-"+name+".gguf")
	inp, err := os.ReadFile(path + ".inp")
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.ReadFile(path + ".out")
	if err != nil {
		t.Fatal(err)
	}
	texts = strings.Split(string(inp), "\n__ggml_vocab_test__\n")
	texts = texts[:len(texts)-1]
	lines := strings.Split(string(out), "\n")
	for _, line := range lines[:len(lines)-1] {
		var row []int32
		for _, field := range strings.Fields(line) {
			id, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, int32(id))
		}
		ids = append(ids, row)
	}
	if len(texts) != 46 || len(ids) != 46 {
		t.Fatalf("%s: %d texts and %d rows of ids, want 46 of each", name, len(texts), len(ids))
	}
	return texts, ids
}

func TestVocabularies(t *testing.T) {
	for _, name := range vocabularies {
		t.Run(name, func(t *testing.T) {
			tok := loadNamed(t, name)
			texts, want := vocabCases(t, name)
			for i, text := range texts {
				got := tok.Encode(nil, text, Options{})
				if !slices.Equal(got, want[i]) {
					t.Errorf("Encode(%q) =\n%v; want\n%v", text, got, want[i])
				}
				if back := tok.Decode(got); back != text {
					t.Errorf("Decode(Encode(%q)) = %q", text, back)
				}
			}
			if tok.SkippedMerges() != 0 {
				t.Errorf("%d merges skipped, want 0", tok.SkippedMerges())
			}
		})
	}
}

// TestPeerRows is row A14 of the cases collected from other projects' bugs.
func TestPeerRows(t *testing.T) {
	for _, c := range []struct {
		vocabulary, text string
		want             []int32
	}{
		{"qwen2", "->", []int32{405}},
		{"qwen2", "(x):\n", []int32{2075, 982}},
		{"qwen2", "3333", []int32{18, 18, 18, 18}},
		{"qwen2", "Hello, world!", []int32{9707, 11, 1879, 0}},
		{"qwen2", "\t\n", []int32{1572}},
		{"qwen2", "    Hello\n    Hello", []int32{262, 21927, 198, 262, 21927}},
		{"qwen2", " this is 🦙.cpp", []int32{419, 374, 11162, 99, 247, 13, 10821}},
		{"llama-bpe", "3333333", []int32{8765, 8765, 18}},
		{"llama-bpe", "(x):\n", []int32{2120, 997}},
		{"llama-bpe", "Cửa Việt", []int32{34, 91163, 101798}},
		{"smollm", "price: 1,234,567.89 in 2026", []int32{17517, 42, 216, 33, 28, 34, 35, 36, 28,
			37, 38, 39, 30, 40, 41, 281, 216, 34, 32, 34, 38}},
		{"smollm", "\r\n\r\n", []int32{18682}},
		{"smollm", "<|im_start|>", []int32{44, 108, 306, 79, 3738, 108, 46}},
		{"smollm", "tab\there", []int32{15999, 197, 1531}},
		{"smollm", "it's 12½ o'clock  ",
			[]int32{269, 506, 216, 33, 34, 16738, 263, 23, 17466, 256}},
	} {
		tok := loadNamed(t, c.vocabulary)
		if got := tok.Encode(nil, c.text, Options{}); !slices.Equal(got, c.want) {
			t.Errorf("%s: Encode(%q) = %v; want %v", c.vocabulary, c.text, got, c.want)
		}
	}
	tok := loadNamed(t, "smollm")
	got := tok.Encode(nil, "<|im_start|>", Options{Special: true})
	if !slices.Equal(got, []int32{1}) {
		t.Errorf("smollm: <|im_start|> as a control token = %v; want [1]", got)
	}
}

// TestNamesMeanWhatThePeerMeans: every name of a pre-tokenizer that llama.cpp
// has too gives its ids.
func TestNamesMeanWhatThePeerMeans(t *testing.T) {
	data, err := os.ReadFile("testdata/pretokenizers.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct{ Names map[string][]string }
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	v, rows := loadVocab(t, "models", "vocab", "ggml-vocab-qwen2.gguf"), map[*preTokenizer]*Tokenizer{}
	text, err := os.ReadFile(shared.Path(t, "models", "vocab", "ggml-vocab-qwen2.gguf.inp"))
	if err != nil {
		t.Fatal(err)
	}
	checked := map[string]bool{"gpt-neox": true, "gemma-4": true} // the peer has no such names
	for want, names := range golden.Names {
		for _, name := range names {
			row := preTokenizerOf(name)
			if rows[row] == nil {
				v.Pre = name
				if rows[row], err = New(v); err != nil {
					t.Fatal(err)
				}
			}
			ids, err := json.Marshal(rows[row].Encode(nil, string(text), Options{}))
			if err != nil {
				t.Fatal(err)
			}
			hash := fnv.New64a()
			hash.Write(ids)
			if got := fmt.Sprintf("%016x", hash.Sum64()); got != want {
				t.Errorf("%s: ids with hash %s, want %s", name, got, want)
			}
			checked[name] = true
		}
	}
	for _, name := range PreTokenizers() {
		if !checked[name] {
			t.Errorf("%s is not compared with the peer", name)
		}
	}
}
