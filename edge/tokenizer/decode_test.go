package tokenizer

import (
	"slices"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestStreamNeverCutsACharacter is case A8 of the peers' bugs: U+1F638 comes
// as the tokens [F0 9F 98] and [B8].
func TestStreamNeverCutsACharacter(t *testing.T) {
	tok := must(t, smallBPE("gpt-2",
		[2]string{"\xf0", "\x9f"}, [2]string{"\xf0\x9f", "\x98"}))
	ids := tok.Encode(nil, "\U0001F638", Options{})
	if got := texts(tok, ids); !slices.Equal(got, []string{"\xf0\x9f\x98", "\xb8"}) {
		t.Fatalf("Encode(U+1F638) = %q; want F0 9F 98 and B8", got)
	}
	d := tok.NewDecoder()
	if got := d.Push(ids[0]); len(got) != 0 {
		t.Errorf("after the first token: %q; want nothing", got)
	}
	if got := d.Push(ids[1]); string(got) != "\U0001F638" {
		t.Errorf("after the second token: %q; want the character", got)
	}
	if got := d.Flush(); len(got) != 0 {
		t.Errorf("Flush = %q; want nothing", got)
	}
}

func TestDecoder(t *testing.T) {
	tok := must(t, smallBPE("gpt-2"))
	control, _ := tok.ID("<|a|>")
	user, _ := tok.ID("[[tool]]")
	b := func(s string) (ids []int32) { return tok.Encode(nil, s, Options{}) }
	for _, c := range []struct {
		name  string
		ids   []int32
		push  []string
		flush string
	}{
		{"whole characters", b("aé"), []string{"a", "", "é"}, ""},
		{"unfinished at the end", b("a\xe4\xb8"), []string{"a", "", ""}, "\xe4\xb8"},
		{"broken off", b("\xe4\xb8a"), []string{"", "", "\xe4\xb8a"}, ""},
		{"never UTF-8", b("\xff\xb8"), []string{"\xff", "\xb8"}, ""},
		{"surrogate", b("\xed\xa0\x80"), []string{"", "\xed\xa0", "\x80"}, ""},
		{"overlong", b("\xc0\x80"), []string{"\xc0", "\x80"}, ""},
		{"new lead", b("\xf0\x9f\xf0\x9f\x98\xb8"), []string{"", "", "\xf0\x9f", "", "",
			"\U0001F638"}, ""},
		{"control token", []int32{control}, []string{""}, ""},
		{"control token inside a character", slices.Insert(b("é"), 1, control),
			[]string{"", "", "é"}, ""},
		{"user-defined token", []int32{user}, []string{"[[tool]]"}, ""},
		{"no token", []int32{-1, 1 << 30, b("a")[0]}, []string{"", "", "a"}, ""},
	} {
		d := tok.NewDecoder()
		for range 2 { // a decoder goes on after Flush
			for i, id := range c.ids {
				if got := d.Push(id); string(got) != c.push[i] {
					t.Errorf("%s: token %d gives %q; want %q", c.name, i, got, c.push[i])
				}
			}
			if got := d.Flush(); string(got) != c.flush {
				t.Errorf("%s: Flush = %q; want %q", c.name, got, c.flush)
			}
		}
	}
}

// TestStreamIsTheText: whatever the tokens, what is streamed is what they are,
// and valid text is streamed in valid pieces.
func TestStreamIsTheText(t *testing.T) {
	tok := loadNamed(t, "llama-bpe")
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOf(rapid.Int32Range(-1, int32(tok.Size()))).Draw(t, "ids")
		if rapid.Bool().Draw(t, "text") {
			ids = tok.Encode(nil, rapid.String().Draw(t, "string"), Options{})
		}
		var whole, streamed []byte
		var pushes [][]byte
		d := tok.NewDecoder()
		for _, id := range ids {
			whole = append(whole, tok.Piece(id)...)
			piece := d.Push(id)
			streamed = append(streamed, piece...)
			pushes = append(pushes, slices.Clone(piece))
		}
		streamed = append(streamed, d.Flush()...)
		if string(streamed) != string(whole) {
			t.Fatalf("streamed %q; want %q", streamed, whole)
		}
		for _, p := range pushes {
			if utf8.Valid(whole) && !utf8.Valid(p) {
				t.Fatalf("%q of %q was streamed", p, whole)
			}
		}
	})
}

func TestDecoderAllocatesNothing(t *testing.T) {
	tok := loadNamed(t, "llama-bpe")
	d := tok.NewDecoder()
	id := int32(0)
	allocs := testing.AllocsPerRun(2*tok.Size(), func() {
		d.Push(id)
		id = (id + 1) % int32(tok.Size())
	})
	if allocs != 0 {
		t.Errorf("Push made %v allocations; want 0", allocs)
	}
}

func TestPieces(t *testing.T) {
	v := smallSPM("▁", "▁a b", "x▁y")
	v.Tokens = append(v.Tokens, "<|im_end|>", "<tool>", "[PAD7]", "<0x1", "▁user")
	v.Types = append(v.Types, typeControl, typeUserDefined, typeUnused, 99, typeUserDefined)
	v.Scores = append(v.Scores, make([]float32, 5)...)
	tok := must(t, v)
	for _, c := range []struct{ name, piece, text string }{
		{"<unk>", "", "<unk>"},
		{"<s>", "", "<s>"},
		{"<0x0A>", "\n", "\n"},
		{"<0xFF>", "\xff", "\xff"},
		{"▁", " ", " "},
		{"x▁y", "x y", "x y"},
		{"<|im_end|>", "", "<|im_end|>"},
		{"<tool>", "<tool>", "<tool>"},
		{"[PAD7]", "", "[PAD7]"},
		{"<0x1", "", "<0x1"},
		{"▁user", "▁user", "▁user"},
	} {
		id, ok := tok.ID(c.name)
		if !ok {
			t.Errorf("ID(%q) is not found", c.name)
			continue
		}
		if got := string(tok.Piece(id)); got != c.piece {
			t.Errorf("Piece(%s) = %q; want %q", c.name, got, c.piece)
		}
		if got := string(tok.Text(id)); got != c.text {
			t.Errorf("Text(%s) = %q; want %q", c.name, got, c.text)
		}
	}
	if id, ok := tok.ID("no such token"); ok {
		t.Errorf("ID of no token = %d", id)
	}
	for _, id := range []int32{-1, int32(tok.Size()), 1<<31 - 1, -1 << 31} {
		if tok.Piece(id) != nil || tok.Text(id) != nil || tok.IsControl(id) || tok.IsEOG(id) {
			t.Errorf("id %d is taken for a token", id)
		}
	}
}

// TestNamesOfRealTokens looks up tokens as the files write them.
func TestNamesOfRealTokens(t *testing.T) {
	tok := loadNamed(t, "smollm")
	for name, want := range map[string]int32{"<|im_start|>": 1, "<|im_end|>": 2, "Ġthe": 260} {
		if id, ok := tok.ID(name); !ok || id != want {
			t.Errorf("ID(%q) = %d, %v; want %d", name, id, ok, want)
		}
	}
	if id, _ := tok.ID("<|im_end|>"); !tok.IsEOG(id) {
		t.Error("<|im_end|> does not end an answer")
	}
}

func TestEndsOfAnswers(t *testing.T) {
	v := smallBPE("gpt-2", [2]string{"a", "b"})
	v.Tokens = append(v.Tokens, "<|return|>", "<|call|>", "<|end|>", "plain")
	v.Types = append(v.Types, 3, 3, 3, 1)
	v.EOS = int64(len(v.Tokens) - 1)
	tok := must(t, v)
	for name, want := range map[string]bool{
		"<|return|>": true, "<|call|>": true, "<|end|>": false, "plain": true, "<|a|>": false,
	} {
		if id, ok := tok.ID(name); !ok || tok.IsEOG(id) != want {
			t.Errorf("%s (token %d): ends an answer: %v; want %v", name, id, tok.IsEOG(id), want)
		}
	}
}
