package jinja

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// str is Python's str(v): what {{ v }} prints.
func (m *meter) str(v Value) Text {
	switch v := v.(type) {
	case Text:
		return v
	case Undefined:
		return Text{}
	case None:
		if v.Soft {
			return Text{}
		}
	case *Dict:
		if v.source.s != "" {
			return v.source
		}
	}
	b := m.builder()
	m.repr(b, v)
	return b.text()
}

// repr writes Python's repr(v).
func (m *meter) repr(b *builder, v Value) {
	m.step(1)
	m.enter()
	defer m.leave()
	switch v := v.(type) {
	case Undefined:
		b.add("Undefined", false)
	case None:
		b.add("None", false)
	case bool:
		b.add(map[bool]string{true: "True", false: "False"}[v], false)
	case int64:
		b.add(strconv.FormatInt(v, 10), false)
	case wide:
		b.add(string(v), false)
	case float64:
		b.add(formatFloat(v), false)
	case Text:
		m.reprText(b, v)
	case *List:
		m.reprList(b, v)
	case *Dict:
		b.add("{", false)
		for i, key := range v.keys {
			if i > 0 {
				b.add(", ", false)
			}
			m.repr(b, key)
			b.add(": ", false)
			m.repr(b, v.values[i])
		}
		b.add("}", false)
	case *function:
		b.add("<function "+v.name+">", false)
	default:
		b.add("<"+typeName(v)+">", false)
	}
}

func (m *meter) reprList(b *builder, l *List) {
	open, end := "[", "]"
	if l.tuple {
		open, end = "(", ")"
	}
	b.add(open, false)
	for i, v := range l.items {
		if i > 0 {
			b.add(", ", false)
		}
		m.repr(b, v)
	}
	if l.tuple && len(l.items) == 1 {
		b.add(",", false)
	}
	b.add(end, false)
}

func (m *meter) reprText(b *builder, t Text) {
	quote := "'"
	if strings.Contains(t.s, "'") && !strings.Contains(t.s, `"`) {
		quote = `"`
	}
	b.add(quote, false)
	b.addText(m.mapRunes(t, func(r rune) string {
		switch {
		case r == '\\':
			return `\\`
		case string(r) == quote:
			return `\` + quote
		case r == '\n':
			return `\n`
		case r == '\r':
			return `\r`
		case r == '\t':
			return `\t`
		case r == ' ' || unicode.IsPrint(r):
			return string(r)
		case r < 0x100:
			return fmt.Sprintf(`\x%02x`, r)
		case r < 0x10000:
			return fmt.Sprintf(`\u%04x`, r)
		}
		return fmt.Sprintf(`\U%08x`, r)
	}))
	b.add(quote, false)
}

// formatFloat is Python's repr of a float: the shortest digits that read back
// the same, with an exponent from 1e16 and below 1e-4.
func formatFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// runeBytes is the length of the first character of s.
func runeBytes(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	return size
}
