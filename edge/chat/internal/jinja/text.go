package jinja

import (
	"iter"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Text is a string that remembers where its bytes are from: the template
// ("own") or the outside ("foreign"). Slicing keeps the memory, joining joins
// it, and whatever compares or searches looks at the bytes alone, so a template
// cannot tell the difference and renders the same text either way.
type Text struct {
	s     string
	marks []mark // the foreign ranges: ascending, not empty, not touching
}

// mark is a range of bytes, [from, to).
type mark struct{ from, to int }

// markBytes is what a mark is counted for.
const markBytes = 16

// Own is text of the template's author, or as trusted.
func Own(s string) Text { return Text{s: s} }

// Foreign is text from outside.
func Foreign(s string) Text {
	if s == "" {
		return Text{}
	}
	return Text{s: s, marks: []mark{{0, len(s)}}}
}

// String returns the bytes alone.
func (t Text) String() string { return t.s }

// Len is the number of bytes.
func (t Text) Len() int { return len(t.s) }

// Runs yields the text in maximal runs of one origin, in order: the bytes, and
// whether they are foreign. No run is empty.
func (t Text) Runs() iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		at := 0
		for _, m := range t.marks {
			if at < m.from && !yield(t.s[at:m.from], false) {
				return
			}
			if !yield(t.s[m.from:m.to], true) {
				return
			}
			at = m.to
		}
		if at < len(t.s) {
			yield(t.s[at:], false)
		}
	}
}

// slice is t.s[from:to], with its origins.
func (m *meter) slice(t Text, from, to int) Text {
	first := sort.Search(len(t.marks), func(i int) bool { return t.marks[i].to > from })
	last := first + sort.Search(len(t.marks)-first, func(i int) bool {
		return t.marks[first+i].from >= to
	})
	out := Text{s: t.s[from:to]}
	if from == to || first == last {
		return out
	}
	m.alloc((last - first) * markBytes)
	out.marks = make([]mark, last-first)
	for i, k := range t.marks[first:last] {
		out.marks[i] = mark{max(k.from, from) - from, min(k.to, to) - from}
	}
	return out
}

// A builder joins texts. It grows on a meter and refuses to grow beyond the
// limit of the longest string.
type builder struct {
	m     *meter
	buf   strings.Builder
	marks []mark
}

// chunkBytes is how much is put together before the meter sees it.
const chunkBytes = 4096

func (m *meter) builder() *builder { return &builder{m: m} }

// add appends s, all of one origin.
func (b *builder) add(s string, foreign bool) {
	if s == "" {
		return
	}
	from := b.buf.Len()
	if len(s) > b.m.limits.OutputBytes-from {
		b.m.fail("the template makes a text of more than %d bytes", b.m.limits.OutputBytes)
	}
	b.m.alloc(len(s))
	b.buf.WriteString(s)
	if !foreign {
		return
	}
	if n := len(b.marks); n > 0 && b.marks[n-1].to == from {
		b.marks[n-1].to = b.buf.Len()
		return
	}
	b.m.alloc(markBytes)
	b.marks = append(b.marks, mark{from, b.buf.Len()})
}

func (b *builder) addText(t Text) {
	for s, foreign := range t.Runs() {
		b.add(s, foreign)
	}
}

func (b *builder) text() Text { return Text{s: b.buf.String(), marks: b.marks} }

func (m *meter) concat(texts ...Text) Text {
	b := m.builder()
	for _, t := range texts {
		b.addText(t)
	}
	return b.text()
}

// repeat is t, n times over.
func (m *meter) repeat(t Text, n int64) Text {
	b := m.builder()
	if t.s == "" {
		return Text{}
	}
	for ; n > 0; n-- {
		m.step(1)
		b.addText(t)
	}
	return b.text()
}

// mapRunes replaces every character by what f makes of it; the result has the
// origin of the character. Bytes that are not UTF-8 stay as they are.
func (m *meter) mapRunes(t Text, f func(r rune) string) Text {
	b := m.builder()
	var chunk strings.Builder
	for s, foreign := range t.Runs() {
		for i := 0; i < len(s); {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				chunk.WriteByte(s[i])
			} else {
				chunk.WriteString(f(r))
			}
			// The limits are looked at often enough to hold, not at every character.
			if i += size; i == len(s) || chunk.Len() > chunkBytes {
				b.add(chunk.String(), foreign)
				chunk.Reset()
			}
		}
	}
	return b.text()
}

// replace puts new in the place of the first n appearances of old; n < 0 means
// all. An empty old matches around every character, as in Python.
func (m *meter) replace(t Text, old string, new Text, n int) Text {
	b := m.builder()
	m.scan(len(t.s))
	at := 0
	for first := true; n != 0; n-- {
		i := strings.Index(t.s[at:], old)
		if old == "" && !first {
			if at == len(t.s) {
				break
			}
			_, i = utf8.DecodeRuneInString(t.s[at:])
		}
		if i < 0 {
			break
		}
		b.addText(m.slice(t, at, at+i))
		b.addText(new)
		at += i + len(old)
		first = false
	}
	b.addText(m.slice(t, at, len(t.s)))
	return b.text()
}

// trim cuts the characters of a set off the ends; set == nil means white space.
func (m *meter) trim(t Text, set *string, left, right bool) Text {
	cut := isSpace
	if set != nil {
		cut = func(r rune) bool { return strings.ContainsRune(*set, r) }
	}
	m.scan(len(t.s))
	from, to := 0, len(t.s)
	if left {
		from = to - len(strings.TrimLeftFunc(t.s, cut))
	}
	if right {
		to = from + len(strings.TrimRightFunc(t.s[from:], cut))
	}
	return m.slice(t, from, to)
}

// isSpace is Python's str.isspace for one character: the Unicode white space
// and the four ASCII separators.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
