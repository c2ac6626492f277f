package tokenizer

// What a token's text in the file stands for. Byte-level BPE writes each byte
// as a printable character (a space is U+0120), SentencePiece writes a space
// as U+2581 and a lone byte as <0xHH>. All of that is undone once, here: the
// rest of the package works on the bytes of real text. The decoded pieces take
// less memory than the headers of the strings in the file would.

import (
	"strings"
	"unicode/utf8"
)

const (
	blank      = "▁" // U+2581, SentencePiece's space
	blankBytes = len(blank)
)

// byteOf is the byte that a character of byte-level BPE stands for, or -1. The
// alphabet ends at U+0143. Printable Latin-1 stands for itself, the other
// bytes follow in order from U+0100.
var byteOf = func() (table [0x144]int16) {
	next := 0x100
	for i := range table {
		table[i] = -1
	}
	for b := range 256 {
		if '!' <= b && b <= '~' || 0xA1 <= b && b <= 0xAC || 0xAE <= b {
			table[b] = int16(b)
			continue
		}
		table[next] = int16(b)
		next++
	}
	return table
}()

// appendPiece appends what a token of the type decodes to. findable says that
// merging text may give the token.
func appendPiece(dst []byte, k kind, typ uint8, text string) (_ []byte, findable bool) {
	if typ != typeNormal && typ != typeByte {
		return append(dst, text...), false
	}
	if k == byteBPE {
		return appendByteText(dst, text)
	}
	if b, ok := hexByte(text); ok {
		return append(dst, b), false
	}
	findable = typ == typeNormal && strings.IndexByte(text, ' ') < 0
	for {
		i := strings.Index(text, blank)
		if i < 0 {
			return append(dst, text...), findable
		}
		dst = append(append(dst, text[:i]...), ' ')
		text = text[i+blankBytes:]
	}
}

// appendByteText decodes a piece of byte-level BPE. One with a character
// outside the alphabet is what it says, and no merge gives it.
func appendByteText(dst []byte, text string) (_ []byte, ok bool) {
	start := len(dst)
	for _, r := range text {
		if int(r) >= len(byteOf) || byteOf[r] < 0 {
			return append(dst[:start], text...), false
		}
		dst = append(dst, byte(byteOf[r]))
	}
	return dst, true
}

// pieceLen is the length of what appendPiece appends.
func pieceLen(k kind, typ uint8, text string) int {
	if typ != typeNormal && typ != typeByte {
		return len(text)
	}
	if k != byteBPE {
		if _, ok := hexByte(text); ok {
			return 1
		}
		return len(text) - strings.Count(text, blank)*(blankBytes-1)
	}
	for _, r := range text {
		if int(r) >= len(byteOf) || byteOf[r] < 0 {
			return len(text)
		}
	}
	return utf8.RuneCountInString(text)
}

// hexByte reads "<0xHH>".
func hexByte(text string) (b byte, ok bool) {
	if len(text) != 6 || text[:3] != "<0x" || text[5] != '>' {
		return 0, false
	}
	for _, c := range []byte(text[3:5]) {
		switch {
		case '0' <= c && c <= '9':
			b = b<<4 | (c - '0')
		case 'A' <= c && c <= 'F':
			b = b<<4 | (c - 'A' + 10)
		default:
			return 0, false
		}
	}
	return b, true
}

// piece is what id decodes to, control tokens included.
func (t *Tokenizer) piece(id int32) string {
	return view(t.pieces[t.offsets[id]:t.offsets[id+1]])
}

// ID is the token whose text in the file is text, such as "<|im_end|>" or
// "Ġthe". Of several the first.
func (t *Tokenizer) ID(text string) (int32, bool) {
	if id := t.specialNamed(text); id != none {
		return id, true
	}
	if b, ok := hexByte(text); ok && t.kind != byteBPE {
		return t.bytes[b], t.bytes[b] != none
	}
	raw, findable := appendPiece(make([]byte, 0, 64), t.kind, typeNormal, text)
	if findable {
		if id := t.find(view(raw)); id != none {
			return id, true
		}
	}
	for id, typ := range t.types { // what no merge gives: unused tokens and the like
		want := text
		if kind := typ & typeMask; kind == typeNormal || kind == typeByte {
			want = view(raw) // as appendPiece has written both
		}
		if p := t.piece(int32(id)); typ&flagUnmerged != 0 && p == want && !t.isByte(int32(id), p) {
			return int32(id), true
		}
	}
	return none, false
}

// isByte says whether id, which decodes to p, is the token of a byte, <0xHH>.
func (t *Tokenizer) isByte(id int32, p string) bool {
	return t.kind != byteBPE && len(p) == 1 && t.bytes[p[0]] == id
}
