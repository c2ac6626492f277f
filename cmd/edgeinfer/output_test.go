package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"edgeinfer/arena"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 6, []string{"one", "two", "three"}},
		{"one  two", 80, []string{"one two"}},
		{"extraordinary", 5, []string{"extraordinary"}},
		{"", 5, []string{""}},
	} {
		if got := wrap(c.text, c.width); !slices.Equal(got, c.want) {
			t.Errorf("wrap(%q, %d) = %q; want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestWriteLines(t *testing.T) {
	var out bytes.Buffer
	writeLines(&out, []arena.Line{{Purpose: arena.Weights, Bytes: 5 << 20},
		{Purpose: arena.KVPayload, Bytes: 1}},
		5<<20+1)
	const want = "  weights                     5242880       5.0 MiB\n" +
		"  kv payload                        1           1 B\n" +
		"  total                       5242881       5.0 MiB\n"
	if out.String() != want {
		t.Errorf("writeLines wrote\n%swant\n%s", out.String(), want)
	}
}

func TestWriteJSONKeepsText(t *testing.T) {
	var out bytes.Buffer
	if err := writeJSON(&out, "<|im_start|> & Größe"); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSuffix(out.String(), "\n"); got != `"<|im_start|> & Größe"` {
		t.Errorf("writeJSON wrote %s", got)
	}
}

func TestPrintable(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"llama", "llama"},
		{"SmolLM2 135M é", "SmolLM2 135M é"},
		{"", ""},
		{"a\x1b[31mred", `"a\x1b[31mred"`},
		{"two\nlines", `"two\nlines"`},
		{"\xff", `"\xff"`},
		{strings.Repeat("x", 201), `"` + strings.Repeat("x", 200) + `"`},
	} {
		if got := printable(c.text); got != c.want {
			t.Errorf("printable(%q) = %s; want %s", c.text, got, c.want)
		}
	}
}
