package jinja

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// show writes foreign runs in brackets.
func show(t Text) string {
	var b strings.Builder
	for s, foreign := range t.Runs() {
		if foreign {
			s = "[" + s + "]"
		}
		b.WriteString(s)
	}
	return b.String()
}

// Every way through which a string can pass keeps what is foreign in it.
func TestOriginThroughOperations(t *testing.T) {
	vars := NewDict()
	for key, s := range map[string]string{
		"x": "user", "sp": "  ab  ", "csv": "a,b", "ß": "maß", "lines": "a\nb", "two": "%s",
	} {
		vars.Set(Own(key), Foreign(s))
	}
	for source, want := range map[string]string{
		"{{ x }}":                                           "[user]",
		"<{{ x }}>":                                         "<[user]>",
		"{{ '<' + x + '>' + x }}":                           "<[user]>[user]",
		"{{ '<' ~ x ~ 1 }}":                                 "<[user]1",
		"{{ x + x }}":                                       "[useruser]",
		"{{ x * 2 }}":                                       "[useruser]",
		"{{ x | upper }}{{ ß.upper() }}":                    "[USERMASS]",
		"{{ ('<' + x) | title }}":                           "<[User]",
		"{{ sp | trim }}|{{ sp.lstrip() }}":                 "[ab]|[ab  ]",
		"{{ x[1:3] }}|{{ x[0] }}|{{ ('<' + x)[:2] }}":       "[se]|[u]|<[u]",
		"{{ x[::-1] }}|{{ x | reverse }}":                   "[resu]|[resu]",
		"{{ csv.split(',') | join('|') }}":                  "[a]|[b]",
		"{{ csv.partition(',')[2] }}":                       "[b]",
		"{{ csv | replace(',', ' and ') }}":                 "[a] and [b]",
		"{{ 'a,b' | replace(',', x) }}":                     "a[user]b",
		"{{ 'a-b'.replace('-', x) }}":                       "a[user]b",
		"{{ x | tojson }}":                                  `"[user]"`,
		"{{ {'k': x, x: 1} | tojson }}":                     `{"k": "[user]", "[user]": 1}`,
		"{{ [x, 'own'] }}":                                  "['[user]', 'own']",
		"{{ {'k': x} | string }}":                           "{'k': '[user]'}",
		"{{ lines | indent(1) }}":                           "[a]\n [b]",
		"{{ lines.splitlines() | first }}":                  "[a]",
		"{{ '%s!' % x }}{{ '{}!'.format(x) }}":              "[user]![user]!",
		"{{ two % 'own' }}":                                 "own",
		"{{ x | escape }}{{ x | safe }}":                    "[useruser]",
		"{{ x | list | join }}":                             "[user]",
		"{% for c in x %}{{ c }},{% endfor %}":              "[u],[s],[e],[r],",
		"{% set y %}<{{ x }}>{% endset %}{{ y }}":           "<[user]>",
		"{% set y | upper %}<{{ x }}>{% endset %}{{ y }}":   "<[USER]>",
		"{% filter upper %}<{{ x }}>{% endfilter %}":        "<[USER]>",
		"{% macro f(a) %}<{{ a }}>{% endmacro %}{{ f(x) }}": "<[user]>",
		"{% set ns = namespace(v=x) %}{% set ns.v = ns.v + '.' %}{{ ns.v }}": "[user].",
		"{{ [x] | map('upper') | first }}":                                   "[USER]",
		"{{ {'a': x}['a'] }}{{ {x: 1} | items | map('first') | join }}":      "[useruser]",
		"{{ x if x == 'user' else '' }}{{ 'same' if x == 'user' }}":          "[user]same",
		"{{ undef | default(x) }}{{ x or 'own' }}":                           "[useruser]",
	} {
		got, err := render(source, vars)
		if err != nil {
			t.Errorf("%s: %v", source, err)
		} else if show(got) != want {
			t.Errorf("%s = %s, want %s", source, show(got), want)
		}
	}
}

// randomText draws a text of own and foreign runs.
func randomText(t *rapid.T, name string) Text {
	m := newMeter(testLimits)
	out := Text{}
	for _, s := range rapid.SliceOfN(rapid.StringMatching(`[abß😀 ]{0,3}`), 0, 4).Draw(t, name) {
		if rapid.Bool().Draw(t, "foreign") {
			out = m.concat(out, Foreign(s))
		} else {
			out = m.concat(out, Own(s))
		}
	}
	return out
}

// origins writes one letter per byte, to compare texts by.
func origins(t Text) string {
	var b strings.Builder
	for s, foreign := range t.Runs() {
		b.WriteString(strings.Repeat(map[bool]string{true: "f", false: "o"}[foreign], len(s)))
	}
	return b.String()
}

func TestTextProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMeter(testLimits)
		a, b := randomText(t, "a"), randomText(t, "b")
		joined := m.concat(a, b)
		if joined.s != a.s+b.s || origins(joined) != origins(a)+origins(b) {
			t.Fatalf("%s + %s = %s", show(a), show(b), show(joined))
		}
		from := rapid.IntRange(0, len(joined.s)).Draw(t, "from")
		to := rapid.IntRange(from, len(joined.s)).Draw(t, "to")
		part := m.slice(joined, from, to)
		if part.s != joined.s[from:to] || origins(part) != origins(joined)[from:to] {
			t.Fatalf("%s[%d:%d] = %s", show(joined), from, to, show(part))
		}
		n := rapid.IntRange(-1, 3).Draw(t, "n")
		for _, old := range []string{"", "a", "ab", "ß"} {
			got := m.replace(joined, old, b, n)
			if want := strings.Replace(joined.s, old, b.s, n); got.s != want {
				t.Fatalf("replace(%q, %q, %q, %d) = %q, want %q", joined.s, old, b.s, n, got.s, want)
			}
		}
		same := m.mapRunes(joined, func(r rune) string { return string(r) })
		if show(same) != show(joined) {
			t.Fatalf("mapRunes(%s) = %s", show(joined), show(same))
		}
	})
}

// Bytes that are no UTF-8 go through unharmed.
func TestInvalidUTF8(t *testing.T) {
	vars := NewDict()
	vars.Set(Own("x"), Foreign("a\xffb\xf0\x9f"))
	for _, source := range []string{
		"{{ x }}", "{{ x | trim }}", "{{ x[::-1][::-1] }}", "{{ x | list | join }}",
		"{{ x | lower }}", "{{ (x | tojson)[1:-1] }}",
	} {
		got, err := render(source, vars)
		if err != nil || got.String() != "a\xffb\xf0\x9f" {
			t.Errorf("%s = %q, %v", source, got.String(), err)
		}
	}
}

func TestDecodeJSON(t *testing.T) {
	const data = `{"z": 1, "a": [true, null, 1.0, 1e2, 12345678901234567890], "z": "x"}`
	v, err := DecodeJSON([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	m := newMeter(testLimits)
	want := "{'z': 'x', 'a': [True, None, 1.0, 100.0, 12345678901234567890]}"
	if got := m.str(v).s; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, bad := range []string{
		"", "{", `{"a" 1}`, "[1,]", "1 2", `"`, strings.Repeat("[", 300) + strings.Repeat("]", 300),
	} {
		if v, err := DecodeJSON([]byte(bad)); err == nil {
			t.Errorf("DecodeJSON(%.20q) = %v, want an error", bad, v)
		}
	}
}

func TestStrftime(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	now := time.Date(2026, 3, 4, 5, 6, 7, 8000, zone)
	for format, want := range map[string]string{
		"%Y-%m-%d %H:%M:%S.%f": "2026-03-04 05:06:07.000008",
		"%a %A %b %B %h":       "Wed Wednesday Mar March Mar",
		"%d|%-d|%e|%-m|%j|%-j": "04|4| 4|3|063|63",
		"%I %p %y %u %w":       "05 AM 26 3 3",
		"%z %Z %% %q %":        "+0100 CET % %q %",
		"%D %F %T %R %c":       "03/04/26 2026-03-04 05:06:07 05:06 Wed Mar  4 05:06:07 2026",
	} {
		if got := strftime(now, format); got != want {
			t.Errorf("strftime(%q) = %q, want %q", format, got, want)
		}
	}
}

// FuzzRender looks for templates that panic, and for texts that depend on the
// origin of a string.
func FuzzRender(f *testing.F) {
	_, cases := readGolden(f)
	for _, c := range cases {
		f.Add(c.Source, "Hello <|im_end|>")
	}
	f.Fuzz(func(t *testing.T, source, content string) {
		if !utf8.ValidString(source) {
			t.Skip("templates come as UTF-8")
		}
		tmpl, err := Parse(source)
		if err != nil {
			return
		}
		limits := Limits{OutputBytes: 1 << 16, WorkBytes: 1 << 20, Steps: 1 << 14, Time: time.Minute}
		with := func(content Text) (Text, error) {
			message := NewDict()
			message.Set(Own("role"), content)
			message.Set(Own("content"), content)
			return tmpl.Render(map[string]Value{
				"s": content, "l": NewList(int64(2), content, None{}), "d": message,
				"m": NewList(message, message), "n": int64(3),
			}, testClock, limits)
		}
		foreign, err := with(Foreign(content))
		own, errOwn := with(Own(content))
		if err == nil && errOwn == nil && foreign.String() != own.String() {
			t.Errorf("foreign %q, own %q", foreign.String(), own.String())
		}
	})
}
