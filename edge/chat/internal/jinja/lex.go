package jinja

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The lexer settles all questions of white space, as Jinja does with
// trim_blocks and lstrip_blocks on and keep_trailing_newline off:
//
//   - one newline after a block or comment goes, and so does the last newline
//     of the template;
//   - blanks between the start of a line and a block or comment go;
//   - "-" at either end of a tag takes all white space there, "+" keeps it.

type kind uint8

const (
	data       kind = iota // text between the tags
	printBegin             // {{
	printEnd               // }}
	blockBegin             // {%
	blockEnd               // %}
	name
	stringLiteral
	intLiteral
	floatLiteral
	operator
	endOfTemplate
)

type token struct {
	kind kind
	val  string // of a literal: its value (strings) or its digits
	line int
}

// String is how an error message shows the token.
func (t token) String() string {
	switch t.kind {
	case endOfTemplate:
		return "the end of the template"
	case stringLiteral:
		return strconv.Quote(t.val)
	}
	return "'" + t.val + "'"
}

type lexer struct {
	src       string
	pos       int
	line      int
	lineStart bool // the tag that was read last ended with a newline
	toks      []token
}

func lex(source string) []token {
	source = normalizeNewlines(source)
	l := &lexer{src: strings.TrimSuffix(source, "\n"), line: 1, lineStart: true}
	for l.pos < len(l.src) {
		l.data()
	}
	l.emit(endOfTemplate, "")
	return l.toks
}

func normalizeNewlines(s string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
}

func (l *lexer) emit(k kind, val string) {
	l.toks = append(l.toks, token{kind: k, val: val, line: l.line})
}

func (l *lexer) rest() string { return l.src[l.pos:] }

// advance goes on by n bytes and keeps count of the lines.
func (l *lexer) advance(n int) {
	l.line += strings.Count(l.src[l.pos:l.pos+n], "\n")
	l.pos += n
}

func (l *lexer) skipSpace() {
	l.advance(len(l.rest()) - len(strings.TrimLeftFunc(l.rest(), isSpace)))
}

// data reads the text up to the next tag, and the tag.
func (l *lexer) data() {
	at := 0
	for {
		i := strings.IndexByte(l.rest()[at:], '{')
		if i < 0 || at+i+1 == len(l.rest()) {
			l.emitData(l.rest())
			l.advance(len(l.rest()))
			return
		}
		at += i
		if strings.IndexByte("{%#", l.rest()[at+1]) >= 0 {
			break
		}
		at++
	}
	text, tag := l.rest()[:at], l.rest()[at:at+2]
	control := byte(0)
	if after := l.rest()[at+2:]; after != "" && (after[0] == '-' || after[0] == '+') {
		control = after[0]
	}
	l.emitData(l.stripBefore(text, control, tag != "{{"))
	l.advance(at)
	if raw := rawTag(l.rest(), "raw"); raw > 0 {
		l.raw(raw)
		return
	}
	l.advance(2)
	if control != 0 {
		l.advance(1)
	}
	switch tag {
	case "{#":
		l.comment()
	case "{%":
		l.emit(blockBegin, tag)
		l.tag(blockEnd, "%}")
	case "{{":
		l.emit(printBegin, tag)
		l.tag(printEnd, "}}")
	}
}

func (l *lexer) emitData(text string) {
	if text != "" {
		l.emit(data, text)
	}
}

// stripBefore takes off the text what the tag after it takes.
func (l *lexer) stripBefore(text string, control byte, block bool) string {
	if control == '-' {
		return strings.TrimRightFunc(text, isSpace)
	}
	if control == '+' || !block {
		return text
	}
	line := strings.LastIndexByte(text, '\n') + 1
	if (line > 0 || l.lineStart) && strings.TrimFunc(text[line:], isSpace) == "" {
		return text[:line]
	}
	return text
}

// closeTag consumes the end of a tag and what it takes of the text after it;
// false where the end is not here.
func (l *lexer) closeTag(end string) bool {
	from := l.pos
	switch rest := l.rest(); {
	case strings.HasPrefix(rest, "-"+end):
		l.advance(1 + len(end))
		l.skipSpace()
	case strings.HasPrefix(rest, "+"+end) && end != "}}":
		l.advance(1 + len(end))
	case strings.HasPrefix(rest, end):
		l.advance(len(end))
		if end != "}}" && strings.HasPrefix(l.rest(), "\n") {
			l.advance(1)
		}
	default:
		return false
	}
	l.lineStart = l.pos > from && l.src[l.pos-1] == '\n'
	return true
}

func (l *lexer) comment() {
	end := strings.Index(l.rest(), "#}")
	if end < 0 {
		fail(l.line, "a comment has no end")
	}
	if end > 0 && (l.rest()[end-1] == '-' || l.rest()[end-1] == '+') {
		end--
	}
	l.advance(end)
	l.closeTag("#}")
}

// rawTag is the length of "{% raw" or "{% endraw" with its blanks at the start
// of s, 0 where there is none.
func rawTag(s, word string) int {
	rest, ok := strings.CutPrefix(s, "{%")
	if !ok {
		return 0
	}
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		rest = rest[1:]
	}
	rest, ok = strings.CutPrefix(strings.TrimLeftFunc(rest, isSpace), word)
	rest = strings.TrimLeftFunc(rest, isSpace)
	if !ok || !strings.HasPrefix(strings.TrimLeft(rest, "-+"), "%}") {
		return 0
	}
	return len(s) - len(rest)
}

// raw reads from {% raw %}, whose first begin bytes are without the end of the
// tag, to {% endraw %}. The newline after {% raw %} stays.
func (l *lexer) raw(begin int) {
	l.advance(begin)
	if strings.HasPrefix(l.rest(), "%}") {
		l.advance(2)
		l.lineStart = false
	} else if !l.closeTag("%}") {
		fail(l.line, "unexpected end of the raw tag")
	}
	for at := 0; ; at++ {
		i := strings.Index(l.rest()[at:], "{%")
		if i < 0 {
			fail(l.line, "{%% raw %%} has no end")
		}
		at += i
		end := rawTag(l.rest()[at:], "endraw")
		if end == 0 {
			continue
		}
		l.emitData(l.stripBefore(l.rest()[:at], l.rest()[at+2], true))
		l.advance(at + end)
		if !l.closeTag("%}") {
			fail(l.line, "unexpected end of the endraw tag")
		}
		return
	}
}

// tag reads the tokens of one tag and its end. An end inside of brackets is not
// one: {{ {'a': {}} }} closes at its last braces.
func (l *lexer) tag(endKind kind, end string) {
	var open []byte
	for {
		if len(open) == 0 {
			if at := l.line; l.closeTag(end) {
				l.toks = append(l.toks, token{kind: endKind, val: end, line: at})
				return
			}
		}
		if l.pos == len(l.src) {
			fail(l.line, "'%s' is missing at the end of the template", end)
		}
		switch r, _ := utf8.DecodeRuneInString(l.rest()); {
		case isSpace(r):
			l.skipSpace()
		case r == '"' || r == '\'':
			l.stringLiteral(byte(r))
		case r >= '0' && r <= '9':
			l.number()
		case r == '_' || unicode.IsLetter(r):
			n := wordBytes(l.rest())
			l.emit(name, l.rest()[:n])
			l.advance(n)
		default:
			open = l.operator(open)
		}
	}
}

// wordBytes is the length of the letters, digits and underscores s begins with.
func wordBytes(s string) int {
	rest := strings.TrimLeftFunc(s, func(r rune) bool {
		return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
	})
	return len(s) - len(rest)
}

// operators, the longer before their beginnings.
var operators = []string{
	"//", "**", "==", "!=", ">=", "<=",
	"+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}",
	">", "<", "=", ".", ":", "|", ",",
}

// closers are the brackets that end the ones before them.
var closers = map[string]byte{"(": ')', "[": ']', "{": '}'}

// operator reads one operator; open are the closing brackets awaited.
func (l *lexer) operator(open []byte) []byte {
	for _, op := range operators {
		if !strings.HasPrefix(l.rest(), op) {
			continue
		}
		if c, ok := closers[op]; ok {
			open = append(open, c)
		} else if op == ")" || op == "]" || op == "}" {
			if len(open) == 0 || open[len(open)-1] != op[0] {
				fail(l.line, "unexpected '%s'", op)
			}
			open = open[:len(open)-1]
		}
		l.emit(operator, op)
		l.advance(len(op))
		return open
	}
	r, _ := utf8.DecodeRuneInString(l.rest())
	fail(l.line, "unexpected character %q", r)
	return nil
}

// number reads an integer or a float. After a dot only an integer is meant:
// x.0.1 is two subscripts.
func (l *lexer) number() {
	s := l.rest()
	n := wordBytes(s)
	afterDot := l.pos > 0 && l.src[l.pos-1] == '.'
	float := false
	if rest := s[n:]; !afterDot && isDigits(s[:n]) && len(rest) > 1 && rest[0] == '.' &&
		rest[1] >= '0' && rest[1] <= '9' {
		n += 1 + wordBytes(rest[1:])
		float = true
	}
	if e := s[n-1]; !afterDot && (e == 'e' || e == 'E') && len(s) > n+1 &&
		(s[n] == '-' || s[n] == '+') {
		n += 1 + wordBytes(s[n+1:])
	}
	digits := strings.ReplaceAll(s[:n], "_", "")
	if !float {
		if _, ok := parseInt(digits); ok {
			if digits[0] == '0' && isDigits(digits) && strings.Trim(digits, "0") != "" {
				fail(l.line, "a number cannot begin with 0: %s", digits)
			}
			l.emit(intLiteral, digits)
			l.advance(n)
			return
		}
	}
	if _, err := strconv.ParseFloat(digits, 64); err != nil || strings.ContainsAny(digits, "xXpP") {
		fail(l.line, "%s is not a number", s[:n])
	}
	l.emit(floatLiteral, digits)
	l.advance(n)
}

func isDigits(s string) bool {
	return strings.Trim(s, "0123456789_") == ""
}

func (l *lexer) stringLiteral(quote byte) {
	s := l.rest()
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			l.emit(stringLiteral, unescape(s[1:i], l.line))
			l.advance(i + 1)
			return
		}
	}
	fail(l.line, "a string has no end")
}

// simpleEscapes are the escapes of one letter in a string literal.
var simpleEscapes = map[byte]string{
	'n': "\n", 't': "\t", 'r': "\r", '\\': "\\", '\'': "'", '"': "\"", '\n': "",
	'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v",
}

// hexEscapes are the escapes followed by this many hexadecimal digits.
var hexEscapes = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// unescape is Python's "unicode-escape": an unknown escape stays as it is.
func unescape(s string, line int) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++ // The literal ends with its quote, so a backslash is never last.
		c := s[i]
		if out, ok := simpleEscapes[c]; ok {
			b.WriteString(out)
			continue
		}
		digits, base := s[i+1:], 16
		n, ok := hexEscapes[c]
		if !ok {
			digits, base, n = s[i:], 8, octalDigits(s[i:])
		}
		if n == 0 {
			b.WriteString(s[i-1 : i+1])
			continue
		}
		if len(digits) < n {
			fail(line, "a string ends within the escape \\%c", c)
		}
		r, err := strconv.ParseUint(digits[:n], base, 32)
		if err != nil || r > unicode.MaxRune {
			fail(line, "a string has the escape \\%c%s, which is no character", c, digits[:n])
		}
		b.WriteRune(rune(r))
		i += n
		if !ok {
			i--
		}
	}
	return b.String()
}

// octalDigits is how many of the first three bytes are octal digits.
func octalDigits(s string) int {
	n := 0
	for n < 3 && n < len(s) && s[n] >= '0' && s[n] <= '7' {
		n++
	}
	return n
}
