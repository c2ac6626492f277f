package gguf

// Overrides: metadata that a user knows better than the file, in llama.cpp's
// notation. The file on disk stays as it is, and so does its fingerprint.

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// overrideForms is the way out of every error about an override.
const overrideForms = `write it as KEY=TYPE:VALUE with a TYPE of str, int, float or bool, as in ` +
	`tokenizer.ggml.pre=str:llama-bpe`

// Override replaces or adds one metadata entry, as "KEY=TYPE:VALUE" says. An
// entry of the file keeps its kind: text is not taken for a number. It must not
// run while others read f.
func (f *File) Override(text string) error {
	v, err := parseOverride(text)
	if err != nil {
		return fmt.Errorf("override %s: %w", quote(text), err)
	}
	if place, ok := find(f.byKey, v.Key, f.keyAt); ok {
		if was := f.Metadata[place]; !alike(was, v) {
			return fmt.Errorf("override %s: %s has a %s there; %s", quote(text), f.name,
				was.TypeName(), overrideForms)
		}
		f.Metadata[place] = v
		return nil
	}
	at := sort.Search(len(f.byKey), func(i int) bool { return f.keyAt(f.byKey[i]) >= v.Key })
	f.byKey = slices.Insert(f.byKey, at, int32(len(f.Metadata)))
	f.Metadata = append(f.Metadata, v)
	return nil
}

// alike says whether getters that take a also take b.
func alike(a, b Value) bool {
	x, y := kindFacts[a.Kind], kindFacts[b.Kind]
	return a.Kind == b.Kind || x.integer && y.integer || x.float && y.float
}

// parseOverride reads "KEY=TYPE:VALUE".
func parseOverride(text string) (v Value, err error) {
	key, typed, found := strings.Cut(text, "=")
	kind, value, typedToo := strings.Cut(typed, ":")
	if key == "" || !found || !typedToo {
		return v, fmt.Errorf("is no override; %s", overrideForms)
	}
	v = Value{Key: key, Count: 1}
	switch kind {
	case "str":
		v.Kind, v.data = KindString, []byte(value)
	case "int":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return v, fmt.Errorf("%s is no whole number; %s", quote(value), overrideForms)
		}
		v.Kind, v.data = KindI64, binary.LittleEndian.AppendUint64(nil, uint64(n))
	case "float":
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return v, fmt.Errorf("%s is no number; %s", quote(value), overrideForms)
		}
		v.Kind, v.data = KindF64, binary.LittleEndian.AppendUint64(nil, math.Float64bits(x))
	case "bool":
		switch value {
		case "true":
			v.data = []byte{1}
		case "false":
			v.data = []byte{0}
		default:
			return v, fmt.Errorf("%s is neither true nor false; %s", quote(value), overrideForms)
		}
		v.Kind = KindBool
	default:
		return v, fmt.Errorf("type %s is unknown; %s", quote(kind), overrideForms)
	}
	v.Elem = v.Kind
	return v, nil
}
