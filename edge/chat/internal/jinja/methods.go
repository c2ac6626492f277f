package jinja

import (
	"strconv"
	"strings"
	"unicode"
)

// The methods of strings, lists and dicts, as Python's. What would change a
// value in place is left out, as it is in the sandbox that Python renders chat
// templates in.

var textMethods, listMethods, dictMethods map[string]builtin

func init() {
	textMethods = map[string]builtin{
		"capitalize":   {[]string{}, textFilter((*meter).capitalize)},
		"casefold":     {[]string{}, textFilter((*meter).lower)},
		"count":        {[]string{"sub"}, methodCount},
		"endswith":     {[]string{"suffix"}, affixTest(strings.HasSuffix)},
		"find":         {[]string{"sub"}, finder(strings.Index)},
		"format":       {nil, methodFormat},
		"index":        {[]string{"sub"}, indexer(strings.Index)},
		"isalnum":      runeTest(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }),
		"isalpha":      runeTest(unicode.IsLetter),
		"isdecimal":    runeTest(unicode.IsDigit),
		"isdigit":      runeTest(unicode.IsDigit),
		"isnumeric":    runeTest(unicode.IsNumber),
		"isspace":      runeTest(isSpace),
		"islower":      {[]string{}, func(c *call) Value { return isCased(c.self().s, false) }},
		"isupper":      {[]string{}, func(c *call) Value { return isCased(c.self().s, true) }},
		"join":         {[]string{"iterable"}, methodJoin},
		"lower":        {[]string{}, textFilter((*meter).lower)},
		"lstrip":       {[]string{"chars"}, stripper(true, false)},
		"partition":    {[]string{"sep"}, partitioner(strings.Index, false)},
		"removeprefix": {[]string{"prefix"}, methodRemovePrefix},
		"removesuffix": {[]string{"suffix"}, methodRemoveSuffix},
		"replace":      {[]string{"old", "new", "count"}, methodReplace},
		"rfind":        {[]string{"sub"}, finder(strings.LastIndex)},
		"rindex":       {[]string{"sub"}, indexer(strings.LastIndex)},
		"rpartition":   {[]string{"sep"}, partitioner(strings.LastIndex, true)},
		"rsplit":       {[]string{"sep", "maxsplit"}, splitter(true)},
		"rstrip":       {[]string{"chars"}, stripper(false, true)},
		"split":        {[]string{"sep", "maxsplit"}, splitter(false)},
		"splitlines":   {[]string{"keepends"}, methodSplitlines},
		"startswith":   {[]string{"prefix"}, affixTest(strings.HasPrefix)},
		"strip":        {[]string{"chars"}, stripper(true, true)},
		"swapcase":     {[]string{}, textFilter((*meter).swapCase)},
		"title":        {[]string{}, textFilter((*meter).title)},
		"upper":        {[]string{}, textFilter((*meter).upper)},
	}
	listMethods = map[string]builtin{
		"count": {[]string{"value"}, methodListCount},
		"index": {[]string{"value"}, methodListIndex},
	}
	dictMethods = map[string]builtin{
		"get":    {[]string{"key", "default"}, methodGet},
		"items":  {[]string{}, func(c *call) Value { return c.list(c.e.pairs(c.in.(*Dict))) }},
		"keys":   {[]string{}, func(c *call) Value { return c.list(c.in.(*Dict).keys) }},
		"values": {[]string{}, func(c *call) Value { return c.list(c.in.(*Dict).values) }},
	}
}

// attribute is v.name where that is not an entry of a dict.
func (e *evaluator) attribute(v Value, name string) (Value, bool) {
	var table map[string]builtin
	switch v := v.(type) {
	case *namespace:
		a, ok := v.names[name]
		return a, ok
	case *object:
		return v.attr(name)
	case None:
		if !v.Soft {
			return nil, false
		}
		return e.attribute(Text{}, name)
	case Text:
		table = textMethods
	case *List:
		table = listMethods
	case *Dict:
		table = dictMethods
	}
	m, ok := table[name]
	if !ok {
		return nil, false
	}
	return &function{name, func(c *call) Value { return e.apply(name, m, v, c) }}, true
}

// self is the string that a method is called on.
func (c *call) self() Text { return c.in.(Text) }

// needText is argument i, which must be a string.
func (c *call) needText(i int) Text {
	v := c.need(i)
	t, ok := c.e.likeText(v)
	if !ok {
		c.e.needDefined(v)
		c.e.fail("%s: argument must be str, not %s", c.name, typeName(v))
	}
	c.e.scan(len(c.self().s))
	return t
}

// separator is argument i, which must be a string that is not empty.
func (c *call) separator(i int) string {
	t := c.needText(i)
	if t.s == "" {
		c.e.fail("%s: empty separator", c.name)
	}
	return t.s
}

func methodCount(c *call) Value {
	return int64(strings.Count(c.self().s, c.needText(0).s))
}

// affixTest is startswith and endswith; a tuple asks for any of its strings.
func affixTest(has func(s, affix string) bool) func(*call) Value {
	return func(c *call) Value {
		if l, ok := c.need(0).(*List); ok && l.tuple {
			for _, v := range l.items {
				if has(c.self().s, c.e.str(v).s) {
					return true
				}
			}
			return false
		}
		return has(c.self().s, c.needText(0).s)
	}
}

// place is the character at which sub is found, -1 for nowhere.
func (c *call) place(index func(s, sub string) int) int64 {
	i := index(c.self().s, c.needText(0).s)
	if i < 0 {
		return -1
	}
	return int64(c.e.length(Own(c.self().s[:i])))
}

func finder(index func(s, sub string) int) func(*call) Value {
	return func(c *call) Value { return c.place(index) }
}

func indexer(index func(s, sub string) int) func(*call) Value {
	return func(c *call) Value {
		i := c.place(index)
		if i < 0 {
			c.e.fail("substring not found")
		}
		return i
	}
}

func runeTest(is func(rune) bool) builtin {
	return builtin{[]string{}, func(c *call) Value {
		s := c.self().s
		c.e.scan(len(s))
		return s != "" && strings.TrimLeftFunc(s, is) == ""
	}}
}

// isCased says whether s has letters with case and all are of this one.
func isCased(s string, upper bool) bool {
	cased := false
	for _, r := range s {
		switch {
		case unicode.IsUpper(r) || unicode.IsTitle(r):
			if !upper {
				return false
			}
			cased = true
		case unicode.IsLower(r):
			if upper {
				return false
			}
			cased = true
		}
	}
	return cased
}

func methodJoin(c *call) Value {
	b := c.e.builder()
	for i, v := range c.e.items(c.need(0)) {
		c.e.step(1)
		if i > 0 {
			b.addText(c.self())
		}
		t, ok := c.e.likeText(v)
		if !ok {
			c.e.needDefined(v)
			c.e.fail("sequence item %d: expected str instance, %s found", i, typeName(v))
		}
		b.addText(t)
	}
	return b.text()
}

func stripper(left, right bool) func(*call) Value {
	return func(c *call) Value {
		if !c.given(0) {
			return c.e.trim(c.self(), nil, left, right)
		}
		set := c.needText(0).s
		return c.e.trim(c.self(), &set, left, right)
	}
}

// partitioner is partition and rpartition: before, separator, after. Where it
// is not found the string is the first of them, or the last.
func partitioner(index func(s, sub string) int, last bool) func(*call) Value {
	return func(c *call) Value {
		t, sep := c.self(), c.separator(0)
		out := []Value{t, Text{}, Text{}}
		if i := index(t.s, sep); i >= 0 {
			out = []Value{
				c.e.slice(t, 0, i),
				c.e.slice(t, i, i+len(sep)),
				c.e.slice(t, i+len(sep), len(t.s)),
			}
		} else if last {
			out[0], out[2] = out[2], out[0]
		}
		return &List{items: out, tuple: true}
	}
}

func methodRemovePrefix(c *call) Value {
	t := c.self()
	return c.e.slice(t, len(t.s)-len(strings.TrimPrefix(t.s, c.needText(0).s)), len(t.s))
}

func methodRemoveSuffix(c *call) Value {
	t := c.self()
	return c.e.slice(t, 0, len(strings.TrimSuffix(t.s, c.needText(0).s)))
}

func methodReplace(c *call) Value {
	return c.e.replace(c.self(), c.needText(0).s, c.needText(1), c.count(2, -1))
}

// splitter is split and rsplit.
func splitter(fromRight bool) func(*call) Value {
	return func(c *call) Value {
		n := c.count(1, -1)
		var ranges []mark
		if c.given(0) {
			ranges = splitAt(c.self().s, c.separator(0), n, fromRight)
		} else {
			c.e.scan(len(c.self().s))
			ranges = splitBlanks(c.self().s, n, fromRight)
		}
		c.e.allocValues(2 * len(ranges))
		out := make([]Value, len(ranges))
		for i, r := range ranges {
			out[i] = c.e.slice(c.self(), r.from, r.to)
		}
		return c.list(out)
	}
}

// splitAt is the ranges between at most n separators; n < 0 means all.
func splitAt(s, sep string, n int, fromRight bool) []mark {
	var out []mark
	if !fromRight {
		at := 0
		for ; n != 0; n-- {
			i := strings.Index(s[at:], sep)
			if i < 0 {
				break
			}
			out = append(out, mark{at, at + i})
			at += i + len(sep)
		}
		return append(out, mark{at, len(s)})
	}
	end := len(s)
	for ; n != 0; n-- {
		i := strings.LastIndex(s[:end], sep)
		if i < 0 {
			break
		}
		out = append(out, mark{i + len(sep), end})
		end = i
	}
	return reversed(append(out, mark{0, end}))
}

// splitBlanks is the ranges between at most n runs of white space.
func splitBlanks(s string, n int, fromRight bool) []mark {
	var out []mark
	from, to := 0, len(s)
	for ; ; n-- {
		from = to - len(strings.TrimLeftFunc(s[from:to], isSpace))
		to = from + len(strings.TrimRightFunc(s[from:to], isSpace))
		if from == to {
			break
		}
		if n == 0 && fromRight {
			// The rest is one piece, with the blanks it begins with.
			out = append(out, mark{0, to})
			break
		}
		if n == 0 {
			out = append(out, mark{from, len(s)})
			break
		}
		if fromRight {
			i := strings.LastIndexFunc(s[from:to], isSpace)
			cut := from
			if i >= 0 {
				cut = from + i + runeBytes(s[from+i:])
			}
			out = append(out, mark{cut, to})
			to = cut
			continue
		}
		word := strings.IndexFunc(s[from:to], isSpace)
		if word < 0 {
			word = to - from
		}
		out = append(out, mark{from, from + word})
		from += word
	}
	if fromRight {
		return reversed(out)
	}
	return out
}

func reversed(ranges []mark) []mark {
	for i, j := 0, len(ranges)-1; i < j; i, j = i+1, j-1 {
		ranges[i], ranges[j] = ranges[j], ranges[i]
	}
	return ranges
}

func methodSplitlines(c *call) Value {
	var out []Value
	for _, line := range c.e.lines(c.self(), c.bool(0)) {
		out = c.keep(out, line)
	}
	return c.list(out)
}

// lines are the lines of t, with or without their ends. A last line that is
// empty is none.
func (m *meter) lines(t Text, keepEnds bool) []Text {
	m.scan(len(t.s))
	var out []Text
	for at := 0; at < len(t.s); {
		end := strings.IndexFunc(t.s[at:], isLineEnd)
		next := len(t.s)
		if end < 0 {
			end = next
		} else {
			end += at
			next = end + runeBytes(t.s[end:])
			if strings.HasPrefix(t.s[end:], "\r\n") {
				next++
			}
		}
		if keepEnds {
			end = next
		}
		m.allocValues(1)
		out = append(out, m.slice(t, at, end))
		at = next
	}
	return out
}

func isLineEnd(r rune) bool {
	return r >= '\n' && r <= '\r' || r >= 0x1c && r <= 0x1e || r == 0x85 ||
		r == 0x2028 || r == 0x2029
}

// methodFormat is str.format with {}, {0} and {name}, and without format
// specifications.
func methodFormat(c *call) Value {
	b, t := c.e.builder(), c.self()
	auto := 0
	for at := 0; at < len(t.s); {
		i := strings.IndexAny(t.s[at:], "{}")
		if i < 0 {
			b.addText(c.e.slice(t, at, len(t.s)))
			break
		}
		b.addText(c.e.slice(t, at, at+i))
		at += i
		if strings.HasPrefix(t.s[at:], "{{") || strings.HasPrefix(t.s[at:], "}}") {
			b.addText(c.e.slice(t, at, at+1))
			at += 2
			continue
		}
		end := strings.IndexByte(t.s[at:], '}')
		if t.s[at] == '}' || end < 0 {
			c.e.fail("format: a single '%c' in the format string", t.s[at])
		}
		field := t.s[at+1 : at+end]
		if field == "" {
			field = strconv.Itoa(auto)
			auto++
		}
		b.addText(c.e.str(c.field(field)))
		at += end + 1
	}
	return b.text()
}

// field is the argument that a {field} of a format names.
func (c *call) field(name string) Value {
	if i, err := strconv.Atoi(name); err == nil {
		if i < 0 || i >= len(c.args) {
			c.e.fail("format: no argument %d", i)
		}
		return c.args[i]
	}
	for _, n := range c.named {
		if n.name == name {
			return n.v
		}
	}
	c.e.fail("format: no argument '%s'", name)
	return nil
}

func methodListCount(c *call) Value {
	n := int64(0)
	for _, v := range c.in.(*List).items {
		if c.e.equal(v, c.need(0)) {
			n++
		}
	}
	return n
}

func methodListIndex(c *call) Value {
	for i, v := range c.in.(*List).items {
		if c.e.equal(v, c.need(0)) {
			return int64(i)
		}
	}
	c.e.fail("%s is not in list", c.e.str(c.args[0]).s)
	return nil
}

func methodGet(c *call) Value {
	if v, ok := c.in.(*Dict).get(c.need(0)); ok {
		return v
	}
	if c.args[1] != nil {
		return c.args[1]
	}
	return None{}
}

// lower, upper and their kin work character by character; of the letters that
// become several, only the German ß is one that people write.

func (m *meter) lower(t Text) Text {
	return m.mapRunes(t, func(r rune) string { return string(unicode.ToLower(r)) })
}

func (m *meter) upper(t Text) Text { return m.mapRunes(t, upperRune) }

func upperRune(r rune) string {
	if r == 'ß' {
		return "SS"
	}
	return string(unicode.ToUpper(r))
}

func (m *meter) swapCase(t Text) Text {
	return m.mapRunes(t, func(r rune) string {
		if unicode.IsUpper(r) {
			return string(unicode.ToLower(r))
		}
		return upperRune(r)
	})
}

func (m *meter) capitalize(t Text) Text {
	first := true
	return m.mapRunes(t, func(r rune) string {
		if first {
			first = false
			return string(unicode.ToTitle(r))
		}
		return string(unicode.ToLower(r))
	})
}

// title is str.title: a letter after anything but a letter is a capital.
func (m *meter) title(t Text) Text {
	return m.words(t, func(r rune) bool { return !unicode.IsLetter(r) })
}

// titleWords is the filter: words begin after blanks, dashes and brackets.
func (m *meter) titleWords(t Text) Text {
	return m.words(t, func(r rune) bool { return isSpace(r) || strings.ContainsRune("-({[<", r) })
}

func (m *meter) words(t Text, between func(rune) bool) Text {
	start := true
	return m.mapRunes(t, func(r rune) string {
		capital := start
		start = between(r)
		if capital {
			return string(unicode.ToTitle(r))
		}
		return string(unicode.ToLower(r))
	})
}

func (m *meter) escapeHTML(t Text) Text {
	return m.mapRunes(t, func(r rune) string {
		switch r {
		case '&':
			return "&amp;"
		case '<':
			return "&lt;"
		case '>':
			return "&gt;"
		case '\'':
			return "&#39;"
		case '"':
			return "&#34;"
		}
		return string(r)
	})
}
