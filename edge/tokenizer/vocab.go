package tokenizer

// The way from a Vocab, which comes from a file and may hold anything, to a
// Tokenizer: check, measure, fill. The measure decides every allocation that
// lasts, so that Bytes can promise them without making them.

import (
	"fmt"
	"math"
	"strings"
	"unsafe"
)

// Vocab is what a model file says about its tokens. Ids are as they are in the
// file, so that a bad one can be named; -1 says that there is none.
type Vocab struct {
	Model  string    // tokenizer.ggml.model: "llama", "gpt2" or "gemma4"
	Pre    string    // tokenizer.ggml.pre; only for "gpt2", see PreTokenizers
	Tokens []string  // [tokens] text as in the file
	Scores []float32 // [tokens] for "llama"; else unused
	Types  []int32   // [tokens], or none: all normal
	Merges []string  // "left right", best first; for "gpt2"

	BOS, EOS, EOT, EOM, UNK, PAD int64

	AddBOS         bool // encoding for a model starts with BOS; AddsBOS has the default
	AddEOS         bool // and ends with EOS
	AddSpacePrefix bool // "llama": text after a control token or the start gets a space

	ModelName string // general.name; tells phi-3, whose control tokens eat the space after them
	Name      string // file name, for errors
}

// Limits of the packed tables: see pairTable and index.
const (
	idBits    = 20
	rankBits  = 24
	maxTokens = 1<<idBits - 1 // the id of all ones marks an empty slot
	maxMerges = 1 << rankBits
)

// kind is the scheme of a vocabulary.
type kind uint8

const (
	sentencePiece kind = iota // characters, merged by score
	byteBPE                   // bytes, merged by rank
	charBPE                   // characters, merged by rank; space is U+2581
)

// Token types as GGUF numbers them. Any other number is typeUndefined.
const (
	typeUndefined   = 0
	typeNormal      = 1
	typeUnknown     = 2
	typeControl     = 3
	typeUserDefined = 4
	typeUnused      = 5
	typeByte        = 6
	typeMask        = 7

	flagUnmerged   = 0x20 // not in the index: no merge gives it
	flagEndsAnswer = 0x40 // IsEOG
	flagEatsSpace  = 0x80 // white space after the token is dropped when it is parsed
)

// none is the id of no token.
const none int32 = -1

// Tokenizer encodes and decodes with one vocabulary.
type Tokenizer struct {
	model, pre string
	kind       kind
	stages     []stage // of the pre-tokenizer, in order

	ignoreMerges bool // a whole pre-token in the vocabulary is taken unmerged
	spacePrefix  bool
	wordwise     bool // no piece holds a space after anything else

	pieces  []byte   // what each token decodes to, one after the other
	offsets []uint32 // [tokens+1] into pieces
	types   []uint8  // [tokens] type | flags
	order   []uint32 // [tokens] merge order by score, first is smallest; sentencePiece
	index   index
	pairs   pairTable
	bytes   [256]int32 // token of one byte, or none
	whole   []uint32   // bit per token: merging its text gives the token itself
	special specials

	bos, eos, eot, eom, unk, pad int32
	addBOS, addEOS               bool
	longest                      int // bytes of the longest piece
	longestWord                  int // of the longest that find can return
	skippedMerges                int
}

// New checks v and builds its tokenizer. It keeps nothing of v but short
// strings. Errors name v.Name, the value and the limit.
func New(v Vocab) (*Tokenizer, error) {
	t, err := check(v)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %s: %w", v.Name, err)
	}
	m := measure(v, t.kind)
	if m.pieceBytes > math.MaxInt32 {
		return nil, fmt.Errorf("tokenizer: %s: the tokens are %d bytes long together, over the "+
			"limit of %d; convert the model again", v.Name, m.pieceBytes, math.MaxInt32)
	}
	t.fillPieces(v, m)
	t.special = newSpecials(t, m.specials)
	t.markEnds()
	if t.kind == sentencePiece {
		t.fillOrder(v.Scores)
	} else if err := t.fillPairs(v.Merges); err != nil {
		return nil, fmt.Errorf("tokenizer: %s: %w", v.Name, err)
	}
	return t, nil
}

// check refuses what no tokenizer can be made of. The pre-tokenizer is judged
// last: a broken vocabulary says so before it asks for a choice.
func check(v Vocab) (*Tokenizer, error) {
	kind, row, err := scheme(v)
	if err != nil {
		return nil, err
	}
	n := len(v.Tokens)
	if n == 0 {
		return nil, fmt.Errorf("the vocabulary is empty; convert the model again")
	}
	if n > maxTokens {
		return nil, fmt.Errorf("vocabulary of %d tokens over the limit of %d", n, maxTokens)
	}
	t := &Tokenizer{model: v.Model, pre: v.Pre, kind: kind, addBOS: v.AddBOS, addEOS: v.AddEOS,
		spacePrefix: v.AddSpacePrefix && kind == sentencePiece}
	if err := t.takeIDs(v); err != nil {
		return nil, err
	}
	if len(v.Types) != 0 && len(v.Types) < n {
		return nil, fmt.Errorf("%d token types for %d tokens; convert the model again",
			len(v.Types), n)
	}
	if kind == sentencePiece && len(v.Scores) < n {
		return nil, fmt.Errorf("%d scores for %d tokens, and without scores no merge has an "+
			"order; convert the model again", len(v.Scores), n)
	}
	if len(v.Merges) > maxMerges {
		return nil, fmt.Errorf("%d merges over the limit of %d", len(v.Merges), maxMerges)
	}
	if kind == sentencePiece {
		return t, nil
	}
	if row == nil {
		return nil, unknownPre(v.Pre)
	}
	t.stages, t.ignoreMerges = row.stages, row.ignoreMerges
	classesOnce.Do(makeClasses)
	return t, nil
}

// takeIDs checks and takes the ids of the named tokens.
func (t *Tokenizer) takeIDs(v Vocab) error {
	for _, f := range []struct {
		name string
		id   int64
		to   *int32
	}{
		{"bos", v.BOS, &t.bos}, {"eos", v.EOS, &t.eos}, {"eot", v.EOT, &t.eot},
		{"eom", v.EOM, &t.eom}, {"unknown", v.UNK, &t.unk}, {"padding", v.PAD, &t.pad},
	} {
		if f.id < -1 || f.id >= int64(len(v.Tokens)) {
			return fmt.Errorf("%s token id %d outside vocabulary of %d",
				f.name, f.id, len(v.Tokens))
		}
		*f.to = int32(f.id)
	}
	return nil
}

// scheme says how v works, and for BPE its row of the pre-tokenizer table, nil
// where there is none of that name.
func scheme(v Vocab) (kind, *preTokenizer, error) {
	switch v.Model {
	case "llama":
		return sentencePiece, nil, nil
	case "gemma4":
		return charBPE, preTokenizerOf("gemma4"), nil
	case "gpt2":
		row := preTokenizerOf(v.Pre)
		if row != nil && row.chars {
			return charBPE, row, nil
		}
		return byteBPE, row, nil
	}
	return 0, nil, fmt.Errorf("tokenizer model %q is not supported; supported are llama "+
		"(SentencePiece), gpt2 (byte-level BPE) and gemma4", v.Model)
}

// AddsBOS says whether a model of this tokenizer.ggml.model and .pre starts
// with BOS where the file has no add_bos_token, as llama.cpp decides it.
func AddsBOS(model, pre string) bool {
	if model == "gpt2" {
		row := preTokenizerOf(pre)
		return row != nil && row.addBOS
	}
	return true
}

// typeOf is the type of token id of v, corrected where the name of a token
// that ends answers says more than the file.
func typeOf(v *Vocab, id int) uint8 {
	t := int32(typeNormal)
	if id < len(v.Types) {
		t = v.Types[id]
	}
	if t < typeNormal || t > typeByte {
		t = typeUndefined
	}
	if text := v.Tokens[id]; endsAnswer(text) && (text != "</s>" || t != typeNormal) {
		t = typeControl // a normal </s> is the HTML tag
	}
	return uint8(t)
}

// isSpecial says whether tokens of a type are found in text as they are,
// before anything is merged, and never come out of merges.
func isSpecial(t uint8) bool {
	switch t & typeMask {
	case typeControl, typeUnknown, typeUserDefined:
		return true
	}
	return false
}

// measures are the sizes of all that a Tokenizer keeps.
type measures struct {
	tokens, pieceBytes, specials, merges int
	kind                                 kind
}

func measure(v Vocab, k kind) measures {
	m := measures{tokens: len(v.Tokens), kind: k}
	if k != sentencePiece {
		m.merges = min(len(v.Merges), maxMerges)
	}
	for id, text := range v.Tokens {
		t := typeOf(&v, id)
		if isSpecial(t) {
			m.specials++
		}
		m.pieceBytes += pieceLen(k, t, text)
	}
	return m
}

// Bytes is an upper bound of what New(v) keeps on the heap: the planner's
// "tokenizer" line. It is a pure function of v and never fails; for a Vocab
// that New refuses it is some number.
func Bytes(v Vocab) int64 {
	k, _, err := scheme(v)
	if err != nil {
		return 0
	}
	m := measure(v, k)
	total := int64(0)
	if k != sentencePiece {
		total = classTableBytes
	}
	for _, n := range []int64{
		int64(unsafe.Sizeof(Tokenizer{})),
		int64(m.pieceBytes),                      // pieces
		4 * int64(m.tokens+1),                    // offsets
		int64(m.tokens),                          // types
		4 * int64(indexSlots(m.tokens)),          // index
		4 * int64(m.tokens/32+1),                 // whole
		4 * int64(m.specials),                    // specials
		8 * int64(pairSlots(m.merges)),           // pairs
		4 * int64(m.merges),                      // what pairs become
		4 * int64(m.tokens) * int64(scoredBy(k)), // order
	} {
		total += heapBytes(n)
	}
	return total
}

// scoredBy is 1 where merges have scores.
func scoredBy(k kind) int {
	if k == sentencePiece {
		return 1
	}
	return 0
}

// heapBytes bounds what one allocation of n bytes takes: up to 32 KiB a size
// class (at most an eighth over), above that whole 8 KiB pages.
func heapBytes(n int64) int64 {
	switch {
	case n == 0:
		return 0
	case n <= 32<<10:
		return n + n/8 + 16
	}
	return (n + 8191) &^ 8191
}

// fillPieces decodes every token and makes the normal ones findable.
func (t *Tokenizer) fillPieces(v Vocab, m measures) {
	t.pieces = make([]byte, 0, m.pieceBytes)
	t.offsets = make([]uint32, 1, m.tokens+1)
	t.types = make([]uint8, m.tokens)
	t.whole = make([]uint32, m.tokens/32+1)
	t.index = newIndex(m.tokens)
	t.wordwise = true
	for i := range t.bytes {
		t.bytes[i] = none
	}
	eatsSpace := strings.Contains(strings.ToLower(v.ModelName), "phi-3") ||
		strings.Contains(strings.ToLower(v.ModelName), "phi3")
	for i, text := range v.Tokens {
		id, typ := int32(i), typeOf(&v, i)
		var findable bool
		t.pieces, findable = appendPiece(t.pieces, t.kind, typ, text)
		t.offsets = append(t.offsets, uint32(len(t.pieces)))
		t.longest = max(t.longest, int(t.offsets[i+1]-t.offsets[i]))
		if eatsSpace && isSpecial(typ) && !keepsSpace(text) {
			typ |= flagEatsSpace
		}
		if !findable {
			typ |= flagUnmerged
		}
		if t.types[id] = typ; findable {
			t.makeFindable(id)
		}
		if b, ok := hexByte(text); ok && t.kind != byteBPE && t.bytes[b] == none {
			t.bytes[b] = id
		}
	}
	t.fillBytes()
}

// keepsSpace names the special tokens of phi-3 that leave the space after them.
func keepsSpace(text string) bool {
	return text == "<unk>" || text == "<s>" || text == "<|endoftext|>"
}

// makeFindable enters a normal token in the index. Of tokens with the same
// text the first is found.
func (t *Tokenizer) makeFindable(id int32) {
	piece := t.piece(id)
	if len(piece) == 0 || t.find(piece) != none {
		return
	}
	t.index.insert(piece, id)
	t.longestWord = max(t.longestWord, len(piece))
	if strings.IndexByte(strings.TrimLeft(piece, " "), ' ') >= 0 {
		t.wordwise = false
	}
}

// fillBytes finds the tokens of single bytes where there is no <0xHH> token.
func (t *Tokenizer) fillBytes() {
	for b := range t.bytes {
		if t.bytes[b] == none && t.kind != charBPE {
			one := [1]byte{byte(b)}
			t.bytes[b] = t.find(view(one[:]))
		}
	}
}

// fillOrder turns scores into merge order: the highest score is the smallest
// number, and equal scores are equal. Not a number is the lowest score.
func (t *Tokenizer) fillOrder(scores []float32) {
	t.order = make([]uint32, len(t.types))
	for id := range t.order {
		s := scores[id]
		if s != s {
			s = float32(math.Inf(-1))
		}
		u := math.Float32bits(s + 0) // -0 + 0 is 0
		if u>>31 != 0 {
			u = ^u
		} else {
			u |= 1 << 31
		}
		t.order[id] = ^u
	}
}

// view is b as a string, without a copy; b must not change while it is used.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Size is the number of tokens.
func (t *Tokenizer) Size() int { return len(t.types) }

// Model is tokenizer.ggml.model.
func (t *Tokenizer) Model() string { return t.model }

// Pre is tokenizer.ggml.pre.
func (t *Tokenizer) Pre() string { return t.pre }

// BOS is the id of the token that begins a text, or -1.
func (t *Tokenizer) BOS() int32 { return t.bos }

// EOS is the id of the token that ends a text, or -1.
func (t *Tokenizer) EOS() int32 { return t.eos }

// EOT is the id of the token that ends a turn, or -1.
func (t *Tokenizer) EOT() int32 { return t.eot }

// EOM is the id of the token that ends a message, or -1.
func (t *Tokenizer) EOM() int32 { return t.eom }

// UNK is the id of the token of unknown text, or -1.
func (t *Tokenizer) UNK() int32 { return t.unk }

// PAD is the id of the padding token, or -1.
func (t *Tokenizer) PAD() int32 { return t.pad }

// AddBOS says whether Options.BOS puts BOS in front.
func (t *Tokenizer) AddBOS() bool { return t.addBOS && t.bos != none }

// AddEOS says whether Options.BOS puts EOS at the end.
func (t *Tokenizer) AddEOS() bool { return t.addEOS && t.eos != none }

// AddSpacePrefix says whether text gets a space in front.
func (t *Tokenizer) AddSpacePrefix() bool { return t.spacePrefix }

// SkippedMerges is the number of merges that could not be used, because they
// name a piece that is no token or are not of the form "left right".
func (t *Tokenizer) SkippedMerges() int { return t.skippedMerges }
