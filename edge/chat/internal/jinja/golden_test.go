package jinja

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// goldenCase is one template and what Python makes of it: a text, a refusal of
// the template, or an error. testdata/golden.py writes them.
type goldenCase struct {
	Group, Source string
	Text          *string
	Raises, Error string
}

func readGolden(t testing.TB) (vars *Dict, cases []goldenCase) {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vars  json.RawMessage
		Cases []goldenCase
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	v, err := DecodeJSON(file.Vars)
	if err != nil {
		t.Fatal(err)
	}
	return v.(*Dict), file.Cases
}

var testLimits = Limits{
	OutputBytes: 1 << 20, WorkBytes: 16 << 20, Steps: 1 << 20, Time: time.Minute,
}

func testClock() time.Time { return time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC) }

func render(source string, vars *Dict) (Text, error) {
	tmpl, err := Parse(source)
	if err != nil {
		return Text{}, err
	}
	m := map[string]Value{}
	if vars != nil {
		for key, v := range vars.All() {
			m[key.String()] = v
		}
	}
	return tmpl.Render(m, testClock, testLimits)
}

func TestGolden(t *testing.T) {
	vars, cases := readGolden(t)
	if len(cases) < 150 {
		t.Fatalf("golden.json has %d cases, want at least 150", len(cases))
	}
	for _, c := range cases {
		got, err := render(c.Source, vars)
		switch {
		case c.Text != nil && err != nil:
			t.Errorf("%s: %q: %v\nwant %q", c.Group, c.Source, err, *c.Text)
		case c.Text != nil && got.String() != *c.Text:
			t.Errorf("%s: %q\n got %q\nwant %q", c.Group, c.Source, got.String(), *c.Text)
		case c.Text == nil && err == nil:
			t.Errorf("%s: %q\n got %q\nwant an error: %s%s", c.Group, c.Source, got.String(),
				c.Raises, c.Error)
		case c.Raises != "":
			if raised, ok := err.(*Raised); !ok || raised.Message != c.Raises {
				t.Errorf("%s: %q: got %v, want the template to raise %q",
					c.Group, c.Source, err, c.Raises)
			}
		}
	}
}

// Errors at run time say the same as Python's where users will search for them.
func TestErrorMessages(t *testing.T) {
	vars, cases := readGolden(t)
	checked := 0
	for _, c := range cases {
		kind, message, _ := strings.Cut(c.Error, ": ")
		if kind != "UndefinedError" && !strings.Contains(message, "concatenate str") &&
			!strings.Contains(message, "is not iterable") {
			continue
		}
		checked++
		if _, err := render(c.Source, vars); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%q: got %v, want it to contain %q", c.Source, err, message)
		}
	}
	if checked < 8 {
		t.Errorf("checked %d messages, want at least 8", checked)
	}
}

func TestErrorLines(t *testing.T) {
	for source, line := range map[string]int{
		"a\nb\n{{ undef.x }}":                                 3,
		"{% if true %}\n\n{{ 1 + 'a' }}{% endif %}":           3,
		"\n{{ 1 + }}":                                         2,
		"{% macro f() %}\n{{ u.x }}{% endmacro %}\n{{ f() }}": 2,
		"{% macro f() %}\n{% endmacro %}\n{{ f() + 1 }}":      3,
		"{# a\nb #}\n{% nope %}":                              3,
		"\n\n{{ 'never ends":                                  3,
	} {
		_, err := render(source, nil)
		if e, ok := err.(*Error); !ok || e.Line != line {
			t.Errorf("%q: got %v, want an error in line %d", source, err, line)
		}
	}
}

// The origin of strings must not change what a template makes of them.
func TestOriginIsInvisible(t *testing.T) {
	vars, cases := readGolden(t)
	own := disowned(vars).(*Dict)
	marked := 0
	for _, c := range cases {
		foreign, err := render(c.Source, vars)
		same, errSame := render(c.Source, own)
		if (err == nil) != (errSame == nil) || foreign.String() != same.String() {
			t.Errorf("%q: with foreign strings %q, %v; with own %q, %v",
				c.Source, foreign.String(), err, same.String(), errSame)
		}
		joined := ""
		for s, isForeign := range foreign.Runs() {
			joined += s
			if isForeign {
				marked++
			}
		}
		if joined != foreign.String() {
			t.Errorf("%q: the runs join to %q, want %q", c.Source, joined, foreign.String())
		}
		for s, isForeign := range same.Runs() {
			if isForeign {
				t.Errorf("%q: %q is foreign in a rendering of own strings", c.Source, s)
			}
		}
	}
	if marked < 100 {
		t.Errorf("found %d foreign runs, want at least 100", marked)
	}
}

// What a template assigns is gone with its rendering.
func TestVariablesStay(t *testing.T) {
	tmpl, err := Parse("{{ x }}{% set x = 2 %}{% macro y() %}{% endmacro %}{{ x }}")
	if err != nil {
		t.Fatal(err)
	}
	vars := map[string]Value{"x": int64(1)}
	for range 2 {
		if out, err := tmpl.Render(vars, testClock, testLimits); err != nil || out.String() != "12" {
			t.Errorf("got %q, %v, want 12", out.String(), err)
		}
	}
	if len(vars) != 1 || vars["x"] != Value(int64(1)) {
		t.Errorf("the variables have become %v", vars)
	}
}

// disowned is v with all strings as the template's own.
func disowned(v Value) Value {
	switch v := v.(type) {
	case Text:
		return Own(v.String())
	case *List:
		out := NewList()
		for _, item := range v.items {
			out.items = append(out.items, disowned(item))
		}
		return out
	case *Dict:
		out := NewDict()
		for i, key := range v.keys {
			out.set(disowned(key), disowned(v.values[i]))
		}
		return out
	}
	return v
}
