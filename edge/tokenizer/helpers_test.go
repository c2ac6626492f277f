package tokenizer

// Small vocabularies, made in the test, for what real ones do not have.

import (
	"fmt"
	"testing"
)

// byteText is a byte as byte-level BPE writes it.
func byteText(b byte) string {
	for r, v := range byteOf {
		if int(b) == int(v) {
			return string(rune(r))
		}
	}
	panic("no character for a byte")
}

// bytesText is s as byte-level BPE writes it.
func bytesText(s string) (text string) {
	for _, b := range []byte(s) {
		text += byteText(b)
	}
	return text
}

// smallBPE has all bytes, merges (pairs of real text, best first) with what
// they give, and the control tokens <|a|> and <|b|> and the user-defined token
// [[tool]] at the end.
func smallBPE(pre string, merges ...[2]string) Vocab {
	v := Vocab{Model: "gpt2", Pre: pre, Name: "small.gguf",
		BOS: -1, EOS: -1, EOT: -1, EOM: -1, UNK: -1, PAD: -1}
	known := map[string]bool{}
	add := func(text string, typ int32) {
		if !known[text] {
			known[text] = true
			v.Tokens, v.Types = append(v.Tokens, text), append(v.Types, typ)
		}
	}
	for b := range 256 {
		add(byteText(byte(b)), typeNormal)
	}
	for _, m := range merges {
		left, right := bytesText(m[0]), bytesText(m[1])
		v.Merges = append(v.Merges, left+" "+right)
		add(left+right, typeNormal)
	}
	add("<|a|>", typeControl)
	add("<|b|>", typeControl)
	add("[[tool]]", typeUserDefined)
	return v
}

// smallSPM has <unk>, <s>, </s>, all bytes, and pieces with falling scores.
func smallSPM(pieces ...string) Vocab {
	v := Vocab{Model: "llama", Name: "small.gguf", AddSpacePrefix: true,
		BOS: 1, EOS: 2, EOT: -1, EOM: -1, UNK: 0, PAD: -1}
	add := func(text string, score float32, typ int32) {
		v.Tokens, v.Scores = append(v.Tokens, text), append(v.Scores, score)
		v.Types = append(v.Types, typ)
	}
	add("<unk>", 0, typeUnknown)
	add("<s>", 0, typeControl)
	add("</s>", 0, typeControl)
	for b := range 256 {
		add(fmt.Sprintf("<0x%02X>", b), 0, typeByte)
	}
	for i, p := range pieces {
		add(p, -float32(i), typeNormal)
	}
	return v
}

// must makes a tokenizer.
func must(t testing.TB, v Vocab) *Tokenizer {
	t.Helper()
	tok, err := New(v)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// texts are the pieces of ids.
func texts(t *Tokenizer, ids []int32) (list []string) {
	for _, id := range ids {
		list = append(list, string(t.Text(id)))
	}
	return list
}
