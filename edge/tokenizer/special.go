package tokenizer

// Tokens that are found in text as they are: control tokens, where the caller
// vouches for the text, and user-defined tokens, everywhere. They are kept
// sorted by text, which serves as a trie: while the text is followed byte by
// byte, the tokens that still agree are a narrowing range.

import (
	"slices"
	"strings"
)

// byteSet is a set of bytes.
type byteSet [256 / 64]uint64

func (s *byteSet) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *byteSet) has(b byte) bool { return s[b>>6]>>(b&63)&1 != 0 }

// specials are the tokens to find.
type specials struct {
	ids       []int32 // sorted by text, then id
	firstUser byteSet // first bytes of the user-defined ones
	firstAny  byteSet // first bytes of all
}

// newSpecials collects the n special tokens of t.
func newSpecials(t *Tokenizer, n int) specials {
	s := specials{ids: make([]int32, 0, n)}
	for i, typ := range t.types {
		text := t.piece(int32(i))
		if !isSpecial(typ) || text == "" {
			continue
		}
		s.ids = append(s.ids, int32(i))
		s.firstAny.add(text[0])
		if typ&typeMask == typeUserDefined {
			s.firstUser.add(text[0])
		}
	}
	slices.SortStableFunc(s.ids, func(a, b int32) int {
		return strings.Compare(t.piece(a), t.piece(b))
	})
	return s
}

// specialNamed is the special token of that text, or none.
func (t *Tokenizer) specialNamed(text string) int32 {
	i, ok := slices.BinarySearchFunc(t.special.ids, text, func(id int32, text string) int {
		return strings.Compare(t.piece(id), text)
	})
	if !ok {
		return none
	}
	return t.special.ids[i]
}

// span is a stretch of text by bytes.
type span struct{ start, end int }

// nextSpecial finds the first special token of s at or after pos; of several
// that begin there the longest. Control tokens count only inside parsed,
// stretches in order that do not touch. It returns none where there is no more.
//
// llama.cpp takes the longest token of the whole text first. That differs only
// where two special tokens overlap in the text.
func (t *Tokenizer) nextSpecial(s string, pos int, parsed []span) (start, end int, id int32) {
	first := &t.special.firstUser
	if len(parsed) > 0 {
		first = &t.special.firstAny
	}
	if *first == (byteSet{}) {
		return 0, 0, none
	}
	for ; pos < len(s); pos++ {
		if !first.has(s[pos]) {
			continue
		}
		for len(parsed) > 0 && parsed[0].end <= pos {
			parsed = parsed[1:]
		}
		control := 0
		if len(parsed) > 0 && parsed[0].start <= pos {
			control = parsed[0].end
		}
		if end, id := t.specialAt(s, pos, control); id != none {
			return pos, end, id
		}
	}
	return 0, 0, none
}

// specialAt returns the longest special token at s[pos:], where a control
// token may reach up to control.
func (t *Tokenizer) specialAt(s string, pos, control int) (end int, id int32) {
	ids := t.special.ids
	lo, hi := 0, len(ids)
	id = none
	for n := 0; lo < hi; n++ {
		for lo < hi && len(t.piece(ids[lo])) == n {
			user := t.types[ids[lo]]&typeMask == typeUserDefined
			if (user || pos+n <= control) && (id == none || pos+n > end) {
				end, id = pos+n, ids[lo]
			}
			lo++
		}
		if pos+n == len(s) {
			break
		}
		lo, hi = t.narrow(lo, hi, n, s[pos+n])
	}
	return end, id
}

// narrow returns the part of the range lo to hi, whose texts are all longer
// than n and agree up to there, that goes on with the byte b.
func (t *Tokenizer) narrow(lo, hi, n int, b byte) (int, int) {
	ids := t.special.ids
	below := func(b int) int { // the first whose byte is b or more
		l, h := lo, hi
		for l < h {
			if m := int(uint(l+h) >> 1); int(t.piece(ids[m])[n]) < b {
				l = m + 1
			} else {
				h = m
			}
		}
		return l
	}
	return below(int(b)), below(int(b) + 1)
}

// endsAnswer says whether a token of this text ends an answer, whatever the
// file says of it. The names are those that llama.cpp knows.
func endsAnswer(text string) bool {
	switch text {
	case "<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>",
		"<end_of_turn>", "<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]",
		"<|end_of_text|>", "<end_of_utterance>", "<eos>", "<turn|>", "<|tool_response>",
		"<｜end▁of▁sentence｜>", "[e~[",
		"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]", // padding of infilling
		"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>", "<|file_sep|>":
		return true
	}
	return false
}

// endsTurn are the names of end-of-turn tokens, for files that name none.
var endsTurn = []string{"<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>",
	"<|end_of_text|>", "<EOT>", "_<EOT>", "[EOT]", "<｜end▁of▁sentence｜>", "<end_of_utterance>"}

// markEnds marks the tokens that end an answer: those named by the file and
// those known by text.
func (t *Tokenizer) markEnds() {
	for id, typ := range t.types {
		if typ&typeMask == typeControl && endsAnswer(t.piece(int32(id))) {
			t.types[id] |= flagEndsAnswer
		}
	}
	for i := 0; t.eot == none && i < len(endsTurn); i++ {
		t.eot = t.specialNamed(endsTurn[i])
	}
	if t.eom == none {
		t.eom = t.specialNamed("<|eom_id|>")
	}
	for _, id := range []int32{t.eos, t.eot, t.eom} {
		if id != none {
			t.types[id] |= flagEndsAnswer
		}
	}
	t.unmark("<|end|>", "<|return|>", "<|call|>") // one answer has several messages there
	t.unmark("<|end|>", "<|flush|>", "<|calls|>") // likewise
}

// unmark takes the mark from the token called name where the vocabulary also
// has the other two: its name means something else there.
func (t *Tokenizer) unmark(name string, others ...string) {
	id := t.specialNamed(name)
	for _, other := range others {
		if id == none || t.specialNamed(other) == none {
			return
		}
	}
	t.types[id] &^= flagEndsAnswer
}

// IsControl says whether id is a control token: text never becomes one unless
// the caller vouches for it.
func (t *Tokenizer) IsControl(id int32) bool {
	return t.has(id) && t.types[id]&typeMask == typeControl
}

// IsEOG says whether id ends an answer.
func (t *Tokenizer) IsEOG(id int32) bool {
	return t.has(id) && t.types[id]&flagEndsAnswer != 0
}

// has says whether there is a token id.
func (t *Tokenizer) has(id int32) bool { return id >= 0 && int(id) < len(t.types) }
