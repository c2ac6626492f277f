package tokenizer

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestBadVocabularies: what a file may get wrong, and what is said of it.
func TestBadVocabularies(t *testing.T) {
	change := func(base func() Vocab, f func(*Vocab)) Vocab { v := base(); f(&v); return v }
	bpe := func() Vocab { return smallBPE("gpt-2", [2]string{"a", "b"}) }
	spm := func() Vocab { return smallSPM("▁", "a") }
	one := func() Vocab {
		return Vocab{Model: "llama", Tokens: []string{"x"}, Scores: []float32{0},
			BOS: -1, EOS: -1, EOT: -1, EOM: -1, UNK: -1, PAD: -1}
	}
	for _, c := range []struct {
		v    Vocab
		want string
	}{
		{change(one, func(v *Vocab) { v.EOS = 4294967295 }),
			"eos token id 4294967295 outside vocabulary of 1"},
		{change(one, func(v *Vocab) { v.BOS = 4294967295 }),
			"bos token id 4294967295 outside vocabulary of 1"},
		{change(one, func(v *Vocab) { v.UNK = 4294967295 }),
			"unknown token id 4294967295 outside vocabulary of 1"},
		{change(one, func(v *Vocab) { v.PAD = 4294967295 }),
			"padding token id 4294967295 outside vocabulary of 1"},
		{change(one, func(v *Vocab) { v.EOT = 1 }), "eot token id 1 outside vocabulary of 1"},
		{change(one, func(v *Vocab) { v.EOM = -2 }), "eom token id -2 outside vocabulary of 1"},
		{change(one, func(v *Vocab) { v.EOS, v.Scores = math.MaxInt64, nil }), "eos token id"},
		{Vocab{}, `tokenizer model "" is not supported`},
		{change(one, func(v *Vocab) { v.Model = "bert" }), `tokenizer model "bert"`},
		{change(one, func(v *Vocab) { v.Tokens = nil }), "the vocabulary is empty"},
		{change(one, func(v *Vocab) { v.Tokens = make([]string, maxTokens+1) }),
			"vocabulary of 1048576 tokens over the limit of 1048575"},
		{change(spm, func(v *Vocab) { v.Scores = nil }), "0 scores for 261 tokens"},
		{change(spm, func(v *Vocab) { v.Scores = v.Scores[:5] }), "5 scores for 261 tokens"},
		{change(spm, func(v *Vocab) { v.Types = v.Types[:3] }), "3 token types for 261 tokens"},
		{change(bpe, func(v *Vocab) { v.Types = v.Types[:3] }), "3 token types for 260 tokens"},
		{change(bpe, func(v *Vocab) { v.Pre = "klingon" }), `pre-tokenizer "klingon" is unknown; ` +
			"give the one that the model was trained with, as in --override-kv " +
			"tokenizer.ggml.pre=str:llama-bpe; there are a.x-4.0, "},
		{change(bpe, func(v *Vocab) { v.Pre = "" }), "the file names no pre-tokenizer; give"},
		{change(bpe, func(v *Vocab) {
			v.Merges, v.Tokens, v.Types = nil, append(v.Tokens, "longer"), append(v.Types, 1)
		}), "261 tokens but no merges"},
	} {
		c.v.Name = "m.gguf"
		_, err := New(c.v)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New: %v; want %q", err, c.want)
			continue
		}
		if !strings.HasPrefix(err.Error(), "tokenizer: m.gguf: ") {
			t.Errorf("error %q names neither package nor file", err)
		}
		if got := Bytes(c.v); got < 0 {
			t.Errorf("Bytes of a bad vocabulary = %d", got)
		}
	}
}

// TestOddVocabularies: what is odd but has a meaning.
func TestOddVocabularies(t *testing.T) {
	encode := func(v Vocab, text string) []int32 { return must(t, v).Encode(nil, text, Options{}) }

	twice := smallBPE("gpt-2", [2]string{"a", "b"})
	twice.Tokens, twice.Types = append(twice.Tokens, "ab"), append(twice.Types, typeNormal)
	if got := encode(twice, "ab"); !slices.Equal(got, []int32{256}) {
		t.Errorf("a token twice: Encode(ab) = %v; want the first, 256", got)
	}

	bad := smallBPE("gpt-2", [2]string{"a", "b"})
	bad.Merges = append([]string{"", " ", "ab", "a  b", "zz a", "a zz", "a c", "Ġ"}, bad.Merges...)
	tok := must(t, bad)
	if got := tok.SkippedMerges(); got != 8 {
		t.Errorf("SkippedMerges() = %d; want 8", got)
	}
	if got := texts(tok, tok.Encode(nil, "ab", Options{})); !slices.Equal(got, []string{"ab"}) {
		t.Errorf("bad merges before a good one: Encode(ab) = %q", got)
	}

	ranked := smallBPE("gpt-2", [2]string{"a", "b"}, [2]string{"b", "c"}, [2]string{"a", "b"})
	if got := encode(ranked, "abc"); !slices.Equal(got, []int32{256, 'c'}) {
		t.Errorf("a merge twice: Encode(abc) = %v; want the first to count", got)
	}

	untyped := smallSPM("▁", "a", "▁a")
	untyped.Types = nil
	if got := encode(untyped, "a\n"); !slices.Equal(got, []int32{261, 3 + '\n'}) {
		t.Errorf("no types: Encode = %v; want 261 and the byte token", got)
	}

	nan := smallSPM("▁", "a", "▁a", "aa")
	nan.Scores[261] = float32(math.NaN())
	if got := texts(must(t, nan), encode(nan, "aa")); !slices.Equal(got, []string{" ", "aa"}) {
		t.Errorf("a score that is no number: Encode(aa) = %q; want it to come last", got)
	}

	empty := smallBPE("gpt-2")
	empty.Tokens, empty.Types = append(empty.Tokens, "", ""), append(empty.Types, 1, 3)
	tok = must(t, empty)
	if got := tok.Encode(nil, "a", Options{Special: true}); len(got) != 1 {
		t.Errorf("empty tokens: Encode(a) = %v; want one token", got)
	}

	verbatim := smallBPE("llama-bpe")
	verbatim.Tokens, verbatim.Types = append(verbatim.Tokens, " x"), append(verbatim.Types, 1)
	if got := encode(verbatim, " x"); len(got) != 2 {
		t.Errorf("a token outside the alphabet: Encode = %v; want two bytes", got)
	}
}

// TestBlankOfByteType: a token of the type of bytes that is none is found by its
// text like any other.
func TestBlankOfByteType(t *testing.T) {
	v := smallSPM("a")
	v.Tokens, v.Types, v.Scores = append(v.Tokens, blank), append(v.Types, typeByte), append(v.Scores, 0)
	if id, ok := must(t, v).ID(blank); !ok || v.Tokens[id] != blank {
		t.Errorf("ID(%q) = %d, %t", blank, id, ok)
	}
}

// TestAnyVocabulary: whatever a file says, there is an error or a tokenizer,
// and no panic in either.
func TestAnyVocabulary(t *testing.T) {
	text := rapid.OneOf(rapid.StringMatching(`[ab▁Ġ <>0xF|]{0,6}`), rapid.String(),
		rapid.SampledFrom([]string{"</s>", "<0x0A>", "<|im_end|>", "<unk>", "▁", "Ġ", "\xff"}))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "tokens")
		id := rapid.Int64Range(-2, int64(n))
		v := Vocab{
			Model:  rapid.SampledFrom([]string{"llama", "gpt2", "gemma4"}).Draw(t, "model"),
			Pre:    rapid.SampledFrom(append(PreTokenizers(), "")).Draw(t, "pre"),
			Tokens: rapid.SliceOfN(text, n, n).Draw(t, "texts"),
			Types:  rapid.SliceOfN(rapid.Int32Range(-1, 8), 0, n+1).Draw(t, "types"),
			Scores: rapid.SliceOfN(rapid.Float32(), 0, n+1).Draw(t, "scores"),
			Merges: rapid.SliceOf(text).Draw(t, "merges"),
			BOS:    id.Draw(t, "bos"), EOS: id.Draw(t, "eos"), UNK: id.Draw(t, "unk"),
			EOT: -1, EOM: -1, PAD: id.Draw(t, "pad"),
			AddBOS: rapid.Bool().Draw(t, "add bos"), AddEOS: rapid.Bool().Draw(t, "add eos"),
			AddSpacePrefix: rapid.Bool().Draw(t, "prefix"),
			ModelName:      rapid.SampledFrom([]string{"", "Phi-3"}).Draw(t, "name"),
		}
		size := Bytes(v)
		tok, err := New(v)
		if err != nil {
			return
		}
		if size <= 0 {
			t.Fatalf("Bytes = %d of a vocabulary that New accepts", size)
		}
		for _, special := range []bool{false, true} {
			ids := tok.Encode(nil, text.Draw(t, "text"), Options{BOS: true, Special: special})
			for _, id := range ids {
				if !tok.has(id) {
					t.Fatalf("id %d in a vocabulary of %d", id, tok.Size())
				}
			}
			tok.Decode(ids)
		}
		for _, token := range v.Tokens {
			if tok.kind != byteBPE && strings.Contains(token, " ") {
				continue // a space is written as a blank there: no lookup tells them apart
			}
			id, ok := tok.ID(token)
			if token == "" || (ok && v.Tokens[id] == token) {
				continue
			}
			// Of tokens that no merge gives, only what they decode to is kept.
			alike := ok && tok.types[id]&flagUnmerged != 0 &&
				tok.piece(id) == tok.piece(int32(slices.Index(v.Tokens, token)))
			if !alike {
				t.Fatalf("ID(%q) = %d, %v", token, id, ok)
			}
		}
	})
}

// TestBytes: New keeps no more on the heap than Bytes says, and not much less.
func TestBytes(t *testing.T) {
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	vocabs := map[string]Vocab{
		"small bpe": smallBPE("gpt-2", [2]string{"a", "b"}), "small spm": smallSPM("a"),
	}
	for _, name := range vocabularies {
		vocabs[name] = loadVocab(t, "models", "vocab", "ggml-vocab-"+name+".gguf")
	}
	for name, v := range vocabs {
		must(t, v) // the table of classes, made once
		bound := Bytes(v)
		before := heap()
		tok := must(t, v)
		kept := heap() - before
		tok.Encode(nil, "some text, and more of it", Options{Special: true})
		later := heap() - before
		runtime.KeepAlive(tok)
		runtime.KeepAlive(v)
		t.Logf("%s: %d bytes kept, bound %d", name, kept, bound)
		if kept > bound || later > bound {
			t.Errorf("%s: New keeps %d bytes, after use %d; Bytes says %d",
				name, kept, later, bound)
		}
		if slack := bound - kept; slack > classTableBytes+1024+kept/20 {
			t.Errorf("%s: Bytes says %d for %d kept; the bound is loose", name, bound, kept)
		}
	}
}

func TestAccessors(t *testing.T) {
	v := smallSPM("▁", "a")
	v.EOT, v.EOM, v.PAD, v.AddBOS, v.AddEOS = 3, 4, 5, true, true
	tok := must(t, v)
	got := []int32{tok.BOS(), tok.EOS(), tok.EOT(), tok.EOM(), tok.UNK(), tok.PAD(),
		int32(tok.Size())}
	if want := []int32{1, 2, 3, 4, 0, 5, int32(len(v.Tokens))}; !slices.Equal(got, want) {
		t.Errorf("ids and size = %v; want %v", got, want)
	}
	if !tok.AddBOS() || !tok.AddEOS() || !tok.AddSpacePrefix() || tok.Model() != "llama" {
		t.Error("the flags or the model of the vocabulary are lost")
	}
	v.BOS, v.EOS = -1, -1
	if tok = must(t, v); tok.AddBOS() || tok.AddEOS() {
		t.Error("a token that is not there is to be added")
	}
	if pre := must(t, smallBPE("smollm")).Pre(); pre != "smollm" {
		t.Errorf("Pre() = %q", pre)
	}
	for _, c := range []struct {
		model, pre string
		want       bool
	}{
		{"llama", "", true}, {"gpt2", "llama-bpe", true}, {"gpt2", "llama3", true},
		{"gpt2", "tekken", true}, {"gpt2", "smollm", false}, {"gpt2", "qwen2", false},
		{"gpt2", "gpt-2", false}, {"gemma4", "", true}, {"gpt2", "?", false},
	} {
		if got := AddsBOS(c.model, c.pre); got != c.want {
			t.Errorf("AddsBOS(%q, %q) = %v; want %v", c.model, c.pre, got, c.want)
		}
	}
}
