package edge

// Stream: from tokens to text that may be shown. It holds back what is not yet
// a whole character and what may be the beginning of a stop text.

import (
	"bytes"

	"edgeinfer/edge/tokenizer"
)

// stream turns the tokens of one answer into text.
type stream struct {
	decoder *tokenizer.Decoder
	stops   [][]byte
	text    []byte // all that was decoded; the first shown bytes were returned
	shown   int
	stopped bool // a stop text came: nothing follows
}

// pieceBytes is the room reserved for the text of one token, textBytes the most
// that is reserved. English text takes about four bytes a token; where an
// answer is longer the buffer grows.
const (
	pieceBytes = 8
	textBytes  = 32 << 10
)

func newStream(t *tokenizer.Tokenizer, stops []string, maxTokens int) *stream {
	s := &stream{decoder: t.NewDecoder(), text: make([]byte, 0, min(textBytes, pieceBytes*(maxTokens+1)))}
	for _, text := range stops {
		if text != "" {
			s.stops = append(s.stops, []byte(text))
		}
	}
	return s
}

// push takes a token and returns the text that may be shown now, and whether a
// stop text came; nothing of it or after it is ever returned. The slice is
// valid until the next call.
func (s *stream) push(id int32) (piece []byte, stopped bool) {
	if s.stopped {
		return nil, true
	}
	s.text = append(s.text, s.decoder.Push(id)...)
	return s.release()
}

// flush returns what was held back: an incomplete character as it is, and what
// only looked like a stop text.
func (s *stream) flush() []byte {
	if s.stopped {
		return nil
	}
	s.text = append(s.text, s.decoder.Flush()...)
	piece, stopped := s.release()
	if stopped {
		return piece
	}
	piece = s.text[s.shown-len(piece):]
	s.shown = len(s.text)
	return piece
}

// release returns the held text up to where a stop text begins or may begin.
func (s *stream) release() (piece []byte, stopped bool) {
	held := s.text[s.shown:]
	n := len(held)
	for _, stop := range s.stops {
		if i := bytes.Index(held, stop); i >= 0 && i < n {
			n, stopped = i, true
		}
	}
	if stopped {
		s.stopped, s.text = true, s.text[:s.shown+n]
	} else {
		n -= s.prefixLength(held)
	}
	s.shown += n
	return held[:n], stopped
}

// prefixLength is the length of the longest end of held that begins a stop text.
func (s *stream) prefixLength(held []byte) int {
	longest := 0
	for _, stop := range s.stops {
		for n := min(len(stop)-1, len(held)); n > longest; n-- {
			if bytes.HasSuffix(held, stop[:n]) {
				longest = n
			}
		}
	}
	return longest
}
