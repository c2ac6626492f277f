package jinja

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Go's JSON decoder loses the order of keys, and its encoder escapes what
// Python's does not; both change the prompt. So the tree is built token by
// token here, and written as json.dumps writes it.

// maxJSONDepth bounds the nesting of a document.
const maxJSONDepth = 200

// DecodeJSON reads one JSON document as values whose strings are all foreign.
// Keys keep their order; of a repeated key the last value counts.
func DecodeJSON(data []byte) (Value, error) {
	// Unmarshal checks the whole document and has the better error messages.
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return decodeValue(d, maxJSONDepth)
}

func decodeValue(d *json.Decoder, depth int) (Value, error) {
	if depth == 0 {
		return nil, fmt.Errorf("JSON nested deeper than %d levels", maxJSONDepth)
	}
	tok, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch tok := tok.(type) {
	case json.Delim:
		if tok == '{' {
			return decodeDict(d, depth)
		}
		return decodeList(d, depth)
	case string:
		return Foreign(tok), nil
	case bool:
		return tok, nil
	case json.Number:
		if v, ok := parseInt(tok.String()); ok {
			return v, nil
		}
		f, err := strconv.ParseFloat(tok.String(), 64)
		if err != nil && !math.IsInf(f, 0) {
			return nil, err
		}
		return f, nil
	}
	return None{}, nil
}

func decodeDict(d *json.Decoder, depth int) (Value, error) {
	out := NewDict()
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := decodeValue(d, depth-1)
		if err != nil {
			return nil, err
		}
		out.Set(Foreign(key.(string)), v)
	}
	_, err := d.Token()
	return out, err
}

func decodeList(d *json.Decoder, depth int) (Value, error) {
	out := NewList()
	for d.More() {
		v, err := decodeValue(d, depth-1)
		if err != nil {
			return nil, err
		}
		out.items = append(out.items, v)
	}
	_, err := d.Token()
	return out, err
}

// dumper is json.dumps with its options.
type dumper struct {
	*builder
	ascii    bool   // escape what is not ASCII
	sortKeys bool   // entries in the order of their keys
	pretty   bool   // one element to a line
	indent   string // of one level, where pretty
	item     string // separator of elements
	key      string // separator of key and value
}

func (d *dumper) dump(v Value, level int) {
	d.m.step(1)
	d.m.enter()
	defer d.m.leave()
	switch v := v.(type) {
	case None:
		d.add("null", false)
	case bool:
		d.add(strconv.FormatBool(v), false)
	case int64:
		d.add(strconv.FormatInt(v, 10), false)
	case wide:
		d.add(string(v), false)
	case float64:
		d.add(jsonFloat(v), false)
	case Text:
		d.quote(v)
	case *List:
		d.list(v, level)
	case *Dict:
		d.dict(v, level)
	default:
		d.m.needDefined(v)
		d.m.fail("Object of type %s is not JSON serializable", typeName(v))
	}
}

func (d *dumper) list(l *List, level int) {
	if len(l.items) == 0 {
		d.add("[]", false)
		return
	}
	d.add("[", false)
	for i, v := range l.items {
		d.separate(i, level+1)
		d.dump(v, level+1)
	}
	d.line(level)
	d.add("]", false)
}

func (d *dumper) dict(v *Dict, level int) {
	if len(v.keys) == 0 {
		d.add("{}", false)
		return
	}
	order := make([]int, len(v.keys))
	for i := range order {
		order[i] = i
	}
	if d.sortKeys {
		d.m.step(len(order) * 8)
		sort.SliceStable(order, func(i, j int) bool {
			return d.m.compare(v.keys[order[i]], v.keys[order[j]], "<") < 0
		})
	}
	d.add("{", false)
	for n, i := range order {
		d.separate(n, level+1)
		d.quote(d.keyText(v.keys[i]))
		d.add(d.key, false)
		d.dump(v.values[i], level+1)
	}
	d.line(level)
	d.add("}", false)
}

// keyText is a key as the string that JSON wants.
func (d *dumper) keyText(key Value) Text {
	switch k := key.(type) {
	case Text:
		return k
	case None, bool, int64, wide, float64:
		inner := *d
		inner.builder = d.m.builder()
		inner.dump(k, 0)
		return inner.builder.text()
	}
	d.m.fail("keys must be str, int, float, bool or None, not %s", typeName(key))
	return Text{}
}

func (d *dumper) separate(i, level int) {
	if i > 0 {
		d.add(d.item, false)
	}
	d.line(level)
}

func (d *dumper) line(level int) {
	if !d.pretty {
		return
	}
	d.add("\n", false)
	for range level {
		d.add(d.indent, false)
	}
}

// quote writes a string literal.
func (d *dumper) quote(t Text) {
	d.add(`"`, false)
	d.addText(d.m.mapRunes(t, func(r rune) string {
		switch r {
		case '"':
			return `\"`
		case '\\':
			return `\\`
		case '\n':
			return `\n`
		case '\r':
			return `\r`
		case '\t':
			return `\t`
		case '\b':
			return `\b`
		case '\f':
			return `\f`
		}
		switch {
		case r >= 0x20 && (r < 0x7f || !d.ascii):
			return string(r)
		case r < 0x10000:
			return fmt.Sprintf(`\u%04x`, r)
		}
		high, low := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}))
	d.add(`"`, false)
}

func jsonFloat(f float64) string {
	s := formatFloat(f)
	if i := strings.Index(s, "inf"); i >= 0 {
		return s[:i] + "Infinity"
	}
	return strings.Replace(s, "nan", "NaN", 1)
}
