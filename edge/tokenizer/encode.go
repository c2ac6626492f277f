package tokenizer

// Encoding, from the outside in: the special tokens of a text cut it into
// fragments, the pre-tokenizer cuts a fragment into words, and a word is a
// token or is merged into some.

import (
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// Options say how a text is encoded.
type Options struct {
	BOS     bool // add BOS in front and EOS at the end, where the vocabulary asks for them
	Special bool // parse control tokens in the text; the caller vouches for it
}

// Part is a stretch of a prompt. Control tokens are parsed only where Special
// is set: text from outside must not have it.
type Part struct {
	Text    string
	Special bool
}

// Encode appends the tokens of text to dst. User-defined tokens are parsed
// always, control tokens with o.Special. Bytes that are not UTF-8 are encoded
// as they are. While it runs it needs memory for the longest word only: about
// 40 bytes per byte of it.
func (t *Tokenizer) Encode(dst []int32, text string, o Options) []int32 {
	var all [1]span
	parsed := all[:0]
	if o.Special {
		parsed = append(parsed, span{0, len(text)})
	}
	e := encoder{t: t, out: dst}
	if o.BOS && t.AddBOS() {
		e.out = append(e.out, t.bos)
	}
	e.text(text, parsed)
	if o.BOS && t.AddEOS() {
		e.out = append(e.out, t.eos)
	}
	return e.out
}

// EncodeParts appends the tokens of the parts to dst, which are one text: words
// may reach from one part into the next, control tokens only through parts
// that are Special. With bos it begins with BOS where the vocabulary asks for
// it; a prompt that has it already gets no second.
func (t *Tokenizer) EncodeParts(dst []int32, parts []Part, bos bool) []int32 {
	var text strings.Builder
	var parsed []span
	for _, p := range parts {
		start := text.Len()
		text.WriteString(p.Text)
		if !p.Special || p.Text == "" {
			continue
		}
		if n := len(parsed); n > 0 && parsed[n-1].end == start {
			parsed[n-1].end = text.Len()
		} else {
			parsed = append(parsed, span{start, text.Len()})
		}
	}
	e := encoder{t: t, out: dst}
	e.text(text.String(), parsed)
	if bos && t.AddBOS() && (len(e.out) == len(dst) || e.out[len(dst)] != t.bos) {
		e.out = slices.Insert(e.out, len(dst), t.bos)
	}
	return e.out
}

// encoder is the state of one call: where the tokens go and room for merging.
type encoder struct {
	t     *Tokenizer
	out   []int32
	short shortWord
	long  longWord
}

// text encodes s, control tokens parsed inside the spans parsed.
func (e *encoder) text(s string, parsed []span) {
	e.out = slices.Grow(e.out, len(s)/4+8)
	afterSpecial := true // or at the start, which is the same
	done := 0
	for done < len(s) {
		start, end, id := e.t.nextSpecial(s, done, parsed)
		if id == none {
			break
		}
		if start > done {
			e.fragment(s[done:start], afterSpecial)
		}
		e.out = append(e.out, id)
		afterSpecial = true
		if e.t.types[id]&flagEatsSpace != 0 {
			for end < len(s) && s[end] < utf8.RuneSelf && ascii[s[end]]&space != 0 {
				end++
			}
		}
		done = end
	}
	if done < len(s) {
		e.fragment(s[done:], afterSpecial)
	}
}

// fragment encodes text between special tokens.
func (e *encoder) fragment(s string, afterSpecial bool) {
	switch e.t.kind {
	case byteBPE:
		e.split(e.t.stages, s)
	case charBPE:
		e.split(e.t.stages, strings.ReplaceAll(s, blank, " "))
	case sentencePiece:
		s = strings.ReplaceAll(s, blank, " ") // the same to it
		if afterSpecial && e.t.spacePrefix {
			first := len(s)
			if e.t.wordwise {
				first = wordEnd(s)
			}
			e.word(" " + s[:first])
			s = s[first:]
		}
		e.words(s)
	}
}

// split cuts s with the stages that are left and encodes the words.
func (e *encoder) split(stages []stage, s string) {
	if len(stages) == 0 {
		e.words(s)
		return
	}
	for pos := 0; pos < len(s); {
		start, end := stages[0](s, pos)
		if start > pos {
			e.split(stages[1:], s[pos:start])
		}
		if end > start {
			e.split(stages[1:], s[start:end])
		}
		pos = end
	}
}

// words encodes s, which for merges of characters may be many words at once:
// as no token has a space after anything else, no merge reaches over the place
// before a space.
func (e *encoder) words(s string) {
	if e.t.kind != byteBPE && e.t.wordwise {
		for end := wordEnd(s); end < len(s); end = wordEnd(s) {
			e.word(s[:end])
			s = s[end:]
		}
	}
	if s != "" {
		e.word(s)
	}
}

// wordEnd returns the end of the spaces and what follows them up to a space.
func wordEnd(s string) int {
	for i := 1; i < len(s); i++ {
		if s[i] == ' ' && s[i-1] != ' ' {
			return i
		}
	}
	return len(s)
}

// word encodes one word: the token that it is, where merging would give that
// token, else what merging gives. Whether it would is remembered per token.
func (e *encoder) word(w string) {
	id := none
	if len(w) <= e.t.longestWord {
		id = e.t.find(w)
	}
	if id != none && e.isWhole(w, id) {
		e.out = append(e.out, id)
		return
	}
	n := len(e.out)
	e.merge(w)
	if id != none && len(e.out) == n+1 && e.out[n] == id {
		atomic.OrUint32(&e.t.whole[id/32], 1<<(id%32))
	}
}

// isWhole says whether the word w, which is the token id, is known to be taken
// unmerged or to merge into that token.
func (e *encoder) isWhole(w string, id int32) bool {
	return e.t.ignoreMerges || atomic.LoadUint32(&e.t.whole[id/32])>>(id%32)&1 != 0 ||
		e.t.kind == charBPE && w[0] == '\n' // Gemma 4: a run of line ends
}

// emit appends the token of a symbol that no merge changes any more, or the
// tokens of its bytes where it is none. Where a byte has no token either, the
// symbol is the unknown token in SentencePiece and nothing in BPE, as in
// llama.cpp: there the unknown token is often one that ends an answer.
func (e *encoder) emit(id int32, text string) {
	if id != none {
		e.out = append(e.out, id)
		return
	}
	n := len(e.out)
	for _, b := range []byte(text) {
		if id := e.t.bytes[b]; id != none {
			e.out = append(e.out, id)
			continue
		}
		e.out = e.out[:n]
		if e.t.kind == sentencePiece && e.t.unk != none && !e.t.IsEOG(e.t.unk) {
			e.out = append(e.out, e.t.unk)
		}
		return
	}
}
