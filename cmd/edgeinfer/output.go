package main

// How data and facts are written: one JSON document, tables of bytes, and the
// help of flags.

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"edgeinfer/arena"
	"edgeinfer/budget"

	"github.com/spf13/pflag"
)

// writeJSON writes v as one line of JSON.
func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// jsonLine is a line of a plan or a ledger in JSON.
type jsonLine struct {
	Purpose string `json:"purpose"`
	Bytes   int64  `json:"bytes"`
}

func jsonLines(lines []arena.Line) []jsonLine {
	out := make([]jsonLine, len(lines))
	for i, l := range lines {
		out[i] = jsonLine{l.Purpose.String(), l.Bytes}
	}
	return out
}

// writeLines writes a table of memory with its total.
func writeLines(w io.Writer, lines []arena.Line, totalBytes int64) {
	for _, l := range lines {
		writeBytes(w, l.Purpose.String(), l.Bytes)
	}
	writeBytes(w, "total", totalBytes)
}

func writeBytes(w io.Writer, name string, bytes int64) {
	fmt.Fprintf(w, "  %-20s %14d  %12s\n", name, bytes, budget.FormatSize(bytes))
}

// helpColumn is where the explanations of flags begin, helpWidth where they end.
const (
	helpColumn = 30
	helpWidth  = 100
)

// writeFlagHelp writes one flag, its explanation wrapped and aligned.
func writeFlagHelp(w io.Writer, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	left := "      --" + f.Name
	if f.Shorthand != "" {
		left = "  -" + f.Shorthand + ", --" + f.Name
	}
	if kind := f.Value.Type(); kind != "" && kind != "bool" {
		left += " " + kind
	}
	usage := f.Usage
	if f.DefValue != "" && f.NoOptDefVal == "" {
		usage += " (default: " + f.DefValue + ")"
	}
	indent := "\n" + strings.Repeat(" ", helpColumn)
	if len(left) > helpColumn-2 {
		left += indent
	}
	fmt.Fprintf(w, "%-*s%s\n", helpColumn, left,
		strings.Join(wrap(usage, helpWidth-helpColumn), indent))
}

// wrap cuts text into lines of at most width bytes, between words.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
