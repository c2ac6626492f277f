package tokenizer

// Decoding: a token is its bytes. Text is complete when it ends where a
// character ends; a stream holds back the bytes of a character that may still
// be completed.

import "unicode/utf8"

// Piece is what id adds to a text in its middle: nothing for control, unknown
// and unused tokens, and for an id that is no token. The slice belongs to the
// tokenizer; it must not be changed.
func (t *Tokenizer) Piece(id int32) []byte {
	if !t.has(id) {
		return nil
	}
	switch t.types[id] & typeMask {
	case typeNormal, typeUserDefined, typeByte:
		return t.Text(id)
	}
	return nil
}

// Text is Piece, but of every token: control tokens give their name. The slice
// must not be changed.
func (t *Tokenizer) Text(id int32) []byte {
	if !t.has(id) {
		return nil
	}
	start, end := t.offsets[id], t.offsets[id+1]
	return t.pieces[start:end:end]
}

// Decode is the text of ids, control tokens left out. It undoes Encode: the
// space that Encode puts before text at the start and after special tokens is
// taken away. Bytes are as they were encoded, UTF-8 or not.
func (t *Tokenizer) Decode(ids []int32) string {
	var text []byte
	afterSpecial := true
	for _, id := range ids {
		if !t.has(id) {
			continue
		}
		piece := t.Piece(id)
		if isSpecial(t.types[id]) {
			afterSpecial = true
		} else if len(piece) > 0 {
			if afterSpecial && t.spacePrefix && piece[0] == ' ' {
				piece = piece[1:]
			}
			afterSpecial = false
		}
		text = append(text, piece...)
	}
	return string(text)
}

// Decoder turns tokens into text as they come, whole characters only.
type Decoder struct {
	t    *Tokenizer
	buf  []byte // what was not returned yet, and behind it room for a piece
	used int    // bytes of buf that Push returned last
}

// NewDecoder makes a decoder, with all the memory it will need.
func (t *Tokenizer) NewDecoder() *Decoder {
	return &Decoder{t: t, buf: make([]byte, 0, t.longest+utf8.UTFMax)}
}

// Push takes a token and returns the text that is complete with it, perhaps
// none. The end of a character that may be completed is held back; bytes that
// no further byte makes UTF-8 are returned as they are. The slice is valid
// until the next call.
func (d *Decoder) Push(id int32) []byte {
	held := copy(d.buf[:cap(d.buf)], d.buf[d.used:])
	d.buf = append(d.buf[:held], d.t.Piece(id)...)
	d.used = complete(d.buf)
	return d.buf[:d.used]
}

// Flush returns the bytes that are held back and forgets them.
func (d *Decoder) Flush() []byte {
	rest := d.buf[d.used:]
	d.buf, d.used = d.buf[:0], 0
	return rest
}

// complete is the length of b without an unfinished character at its end.
func complete(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return len(b) - n
			}
			break
		}
	}
	return len(b)
}
