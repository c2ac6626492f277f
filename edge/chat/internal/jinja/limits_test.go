package jinja

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hostile are templates that would hang, fill the memory or exhaust the stack,
// with a word of the error that stops each.
var hostile = []struct{ name, source, want string }{
	{"huge range", "{% for i in range(10**9) %}x{% endfor %}", "Range too big"},
	{"nested loops", nest("{% for i in range(100000) %}", "x", "{% endfor %}", 5), "more than"},
	{"empty loops", nest("{% for i in range(100000) %}", "", "{% endfor %}", 5), "steps"},
	{"string times number", "{{ 'a' * 10**12 }}", "more than"},
	{"number times string", "{{ (10**12 * 'a') | length }}", "more than"},
	{"empty string times number", "{{ ('' * 10**18) ~ 'ok' }}", ""},
	{"list times number", "{{ ([1] * 10**12) | length }}", "more than"},
	{"empty list times number", "{{ ([] * 10**18) | length }}", ""},
	{"power", "{{ 10 ** 100000000 }}", "64 bits"},
	{"power of one", "{{ 1 ** (10 ** 18) }}", "steps"},
	{"doubling a string", "{% set n = namespace(s='ab') %}{% for i in range(99) %}" +
		"{% set n.s = n.s ~ n.s %}{% endfor %}", "more than"},
	{"doubling a list", "{% set n = namespace(l=[1]) %}{% for i in range(99) %}" +
		"{% set n.l = n.l + n.l %}{% endfor %}", "memory"},
	{"keeping much", "{% set n = namespace(l=[]) %}{% for i in range(99999) %}" +
		"{% set n.l = n.l + ['a' * 100000] %}{% endfor %}", "more than"},
	{"a deep value", "{% set n = namespace(l=[]) %}{% for i in range(5000) %}" +
		"{% set n.l = [n.l] %}{% endfor %}{{ n.l }}", "nests deeper"},
	{"a deep value as JSON", "{% set n = namespace(l=[]) %}{% for i in range(5000) %}" +
		"{% set n.l = [n.l] %}{% endfor %}{{ n.l | tojson }}", "nests deeper"},
	{"comparing deep values", "{% set n = namespace(l=[], m=[]) %}{% for i in range(5000) %}" +
		"{% set n.l = [n.l] %}{% set n.m = [n.m] %}{% endfor %}{{ n.l == n.m }}", "nests deeper"},
	{"a value that repeats itself", "{% set n = namespace(l=['x']) %}{% for i in range(60) %}" +
		"{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l }}", "more than"},
	{"comparing what repeats itself", "{% set n = namespace(l=[], m=[]) %}" +
		"{% for i in range(60) %}{% set n.l = [n.l, n.l] %}{% set n.m = [n.m, n.m] %}" +
		"{% endfor %}{{ n.l == n.m }}", "steps"},
	{"endless recursion", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "nests deeper"},
	{"mutual recursion", "{% macro f(g) %}{{ g(f) }}{% endmacro %}{{ f(f) }}", "nests deeper"},
	{"recursion that fans out", "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}" +
		"{% endmacro %}{{ f(60) }}", "steps"},
	{"recursion through a call", "{% macro f() %}{% call f() %}{% endcall %}{% endmacro %}" +
		"{{ f() }}", "nests deeper"},
	{"recursion through map", "{{ [[[1]]] | map('map', 'map', 'list') | list }}", "not iterable"},
	{"giant output", "{% for i in range(100000) %}{{ 'a' * 1000 }}{% endfor %}", "more than"},
	{"giant indent", "{{ 'a\nb' | indent(10**12) }}", "more than"},
	{"giant JSON indent", "{{ {'a': 1} | tojson(indent=10**12) }}", "more than"},
	{"giant replace", "{{ ('a' * 1000) | replace('a', 'b' * 10000) }}", "more than"},
	{"giant join", "{{ range(100000) | join('x' * 1000) }}", "more than"},
	{"giant number format", "{{ '%99999d' % 1 }}", "format"},
	{"giant batch", "{{ [1] | batch(10**9, 'x') | list | length }}", "more than"},
	{"many formats", "{{ strftime_now('%c' * 400000) }}", "more than"},
	{"searching long strings", "{% set a = 'a' * 500000 %}{% for i in range(100000) %}" +
		"{% set b = (a ~ 'b') in a %}{% endfor %}", "more than"},
	{"slicing long strings", "{% set a = 'ß' * 100000 %}{% for i in range(100000) %}" +
		"{% set b = a[i] %}{% endfor %}", "steps"},
	{"sorting much", "{% for i in range(1000) %}{% set x = range(100000) | sort(reverse=true) %}" +
		"{% endfor %}", "more than"},
	{"parentheses", "{{ " + nest("(", "1", ")", 100000) + " }}", "nested deeper"},
	{"brackets", "{{ " + nest("[", "1", "]", 100000) + " }}", "nested deeper"},
	{"nots", "{{ " + strings.Repeat("not ", 100000) + "1 }}", "nested deeper"},
	{"minuses", "{{ " + strings.Repeat("-", 100000) + "1 }}", "nested deeper"},
	{"ifs", strings.Repeat("{% if true %}", 50000), "nested deeper"},
	{"else chains", "{{ " + strings.Repeat("1 if 0 else ", 50000) + "1 }}", "nested deeper"},
	{"targets", "{% set " + nest("(", "a", ")", 50000) + " = 1 %}", "nested deeper"},
	{"long sums", "{{ 1" + strings.Repeat(" + 1", 100000) + " }}", "nests deeper"},
	{"long chains", "{{ a" + strings.Repeat(".b", 100000) + " }}", "nests deeper"},
	{"many strings", "{{ " + strings.Repeat("'a' ", 200000) + " }}", ""},
	{"long source", strings.Repeat(" ", maxSourceBytes+1), "bytes"},
}

func nest(open, inner, end string, n int) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
}

// Every hostile template ends in an error within a second, with little memory.
func TestHostileTemplates(t *testing.T) {
	limits := Limits{OutputBytes: 8 << 20, WorkBytes: 64 << 20, Steps: 1 << 20, Time: time.Second}
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			tmpl, err := Parse(c.source)
			if err == nil {
				_, err = tmpl.Render(nil, testClock, limits)
			}
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			// On a slow machine the clock may come first.
			if (c.want == "") != (err == nil) || err != nil &&
				!strings.Contains(err.Error(), c.want) && !strings.Contains(err.Error(), "longer") {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			if took > 1500*time.Millisecond {
				t.Errorf("took %v, want at most a second", took)
			}
			if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 400 {
				t.Errorf("allocated %d MiB, want at most 400", made)
			}
		})
	}
}

func TestTimeLimit(t *testing.T) {
	tmpl, err := Parse(nest("{% for i in range(100000) %}", "x", "{% endfor %}", 3))
	if err != nil {
		t.Fatal(err)
	}
	limits := Limits{OutputBytes: math.MaxInt, WorkBytes: math.MaxInt, Steps: math.MaxInt,
		Time: 20 * time.Millisecond}
	start := time.Now()
	_, err = tmpl.Render(nil, testClock, limits)
	if err == nil || !strings.Contains(err.Error(), "longer than 20ms") {
		t.Errorf("got %v, want the time limit", err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("took %v with a limit of 20ms", took)
	}
}

// An ordinary conversation stays far below the limits.
func TestOrdinaryWorkFits(t *testing.T) {
	tmpl, err := Parse("{% for m in messages %}{{ '<' + m.role + '>' + m.content | trim }}" +
		"{% if 'x' in m.content %}{{ m.content.split('x')[-1] }}{% endif %}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	var messages []Value
	for i := range 500 {
		m := NewDict()
		m.Set(Own("role"), Own("user"))
		m.Set(Own("content"), Foreign(strings.Repeat("some words ", 100)+fmt.Sprint(i)))
		messages = append(messages, m)
	}
	limits := Limits{OutputBytes: 1 << 20, WorkBytes: 4 << 20, Steps: 1 << 16, Time: time.Minute}
	out, err := tmpl.Render(map[string]Value{"messages": NewList(messages...)}, testClock, limits)
	if err != nil {
		t.Fatalf("a conversation of 550 KB: %v", err)
	}
	if out.Len() < 500000 {
		t.Errorf("the prompt has %d bytes, want at least 500000", out.Len())
	}
}

// The absent parts of the language are refused by name.
func TestNoFiles(t *testing.T) {
	for _, tag := range []string{
		"include '/etc/passwd'", "import 'x' as y", "from 'x' import y", "extends 'x'", "block a",
	} {
		_, err := Parse("a\n{% " + tag + " %}")
		var e *Error
		if word, _, _ := strings.Cut(tag, " "); !errors.As(err, &e) || e.Line != 2 ||
			!strings.Contains(e.Message, word) {
			t.Errorf("%s: got %v, want an error in line 2 that names the tag", tag, err)
		}
	}
	for _, x := range []string{
		"''.__class__", "(1).__class__.__mro__", "range.__globals__", "loop.__init__",
		"''|attr('__class__')", "{}.__class__",
	} {
		got, err := render("{% for i in [1] %}{{ "+x+" is defined }}{% endfor %}", nil)
		if err == nil && got.String() != "False" {
			t.Errorf("%s is defined = %q", x, got.String())
		}
	}
}
