package gguf

// Typed getters. Each returns ok = false and no error where the key is absent,
// and an error that names the file, the key, the type found and the type
// wanted where it is something else. What is wrong is the file, so the way out
// is always another conversion.

import (
	"math"
	"strings"
)

// Uint returns an integer of any width that is not negative.
func (f *File) Uint(key string) (v uint64, ok bool, err error) {
	const wanted = "an integer that is not negative"
	value, ok := f.Value(key)
	if !ok {
		return 0, false, nil
	}
	if value.Kind == KindArray || !kindFacts[value.Kind].integer {
		return 0, false, f.mismatch(value, wanted)
	}
	n := value.integerAt(0)
	if n.negative {
		return 0, false, f.failKey(key, "the value is %s %v, wanted %s; %s",
			value.TypeName(), n, wanted, convertAgain)
	}
	return n.bits, true, nil
}

// Float returns a float of either width.
func (f *File) Float(key string) (v float64, ok bool, err error) {
	value, ok := f.Value(key)
	if !ok {
		return 0, false, nil
	}
	if value.Kind == KindArray || !kindFacts[value.Kind].float {
		return 0, false, f.mismatch(value, "f32 or f64")
	}
	return value.floatAt(0), true, nil
}

// Bool returns a bool.
func (f *File) Bool(key string) (v, ok bool, err error) {
	value, ok := f.Value(key)
	if !ok {
		return false, false, nil
	}
	if value.Kind != KindBool {
		return false, false, f.mismatch(value, "bool")
	}
	return value.data[0] != 0, true, nil
}

// String returns a string that is a view of the file. Its bytes are as they
// are there, valid UTF-8 or not.
func (f *File) String(key string) (v string, ok bool, err error) {
	value, ok := f.Value(key)
	if !ok {
		return "", false, nil
	}
	if value.Kind != KindString {
		return "", false, f.mismatch(value, "string")
	}
	return value.text(), true, nil
}

// Strings returns an array of strings, each a view of the file as String's.
func (f *File) Strings(key string) (v []string, ok bool, err error) {
	value, ok, err := f.array(key, "an array of strings", func(k Kind) bool {
		return k == KindString
	})
	if !ok || err != nil {
		return nil, false, err
	}
	v = make([]string, value.Count)
	walk := value.elements()
	for i := range v {
		if v[i], ok = walk.next(); !ok {
			return nil, false, f.failKey(key, "string %d of %d changed while the file was in use; "+
				"leave model files alone while they are open", i, value.Count)
		}
	}
	return v, true, nil
}

// Floats returns an array of floats of either width, rounded to float32.
func (f *File) Floats(key string) (v []float32, ok bool, err error) {
	value, ok, err := f.array(key, "an array of f32 or f64", func(k Kind) bool {
		return kindFacts[k].float
	})
	if !ok || err != nil {
		return nil, false, err
	}
	v = make([]float32, value.Count)
	for i := range v {
		v[i] = float32(value.floatAt(i))
	}
	return v, true, nil
}

// Ints returns an array of integers of any width whose values fit in 32 bits.
func (f *File) Ints(key string) (v []int32, ok bool, err error) {
	value, ok, err := f.array(key, "an array of integers", func(k Kind) bool {
		return kindFacts[k].integer
	})
	if !ok || err != nil {
		return nil, false, err
	}
	v = make([]int32, value.Count)
	for i := range v {
		n := value.integerAt(i)
		if !n.fitsInt32() {
			return nil, false, f.failKey(key, "element %d of %s is %v, wanted %d to %d; %s",
				i, value.TypeName(), n, math.MinInt32, math.MaxInt32, convertAgain)
		}
		v[i] = int32(n.bits)
	}
	return v, true, nil
}

// Uints returns an array of integers of any width that are not negative.
func (f *File) Uints(key string) (v []uint64, ok bool, err error) {
	value, ok, err := f.array(key, "an array of integers", func(k Kind) bool {
		return kindFacts[k].integer
	})
	if !ok || err != nil {
		return nil, false, err
	}
	v = make([]uint64, value.Count)
	for i := range v {
		n := value.integerAt(i)
		if n.negative {
			return nil, false, f.failKey(key, "element %d of %s is %v, wanted 0 or more; %s",
				i, value.TypeName(), n, convertAgain)
		}
		v[i] = n.bits
	}
	return v, true, nil
}

// Bools returns an array of bools.
func (f *File) Bools(key string) (v []bool, ok bool, err error) {
	value, ok, err := f.array(key, "an array of bools", func(k Kind) bool {
		return k == KindBool
	})
	if !ok || err != nil {
		return nil, false, err
	}
	v = make([]bool, value.Count)
	for i := range v {
		v[i] = value.data[i] != 0
	}
	return v, true, nil
}

// TokenID returns a token id such as tokenizer.ggml.eos_token_id, having held
// it against the length of tokenizer.ggml.tokens. All files of this kind use
// these keys, whatever their model.
func (f *File) TokenID(key string) (id int32, ok bool, err error) {
	value, ok := f.Value(key)
	if !ok {
		return 0, false, nil
	}
	if value.Kind == KindArray || !kindFacts[value.Kind].integer {
		return 0, false, f.mismatch(value, "an integer")
	}
	var size int
	if tokens, ok := f.Value("tokenizer.ggml.tokens"); ok && tokens.Kind == KindArray {
		size = tokens.Count
	}
	n := value.integerAt(0)
	if n.bits >= uint64(min(size, math.MaxInt32)) { // the bits of negative ids are large
		name := strings.TrimSuffix(strings.TrimPrefix(key, "tokenizer.ggml."), "_token_id")
		return 0, false, f.failKey(key, "%s token id %v outside vocabulary of %d; %s",
			name, n, size, convertAgain)
	}
	return int32(n.bits), true, nil
}

// array returns the value of a key if it is an array of a kind that accept
// takes, no longer than what a getter may build.
func (f *File) array(key, wanted string, accept func(Kind) bool) (v Value, ok bool, err error) {
	v, ok = f.Value(key)
	if !ok {
		return Value{}, false, nil
	}
	if v.Kind != KindArray || !accept(v.Elem) {
		return Value{}, false, f.mismatch(v, wanted)
	}
	if v.Count > maxElements {
		return Value{}, false, f.failKey(key, "the array has %d elements, at most %d are read; "+
			"the file is damaged", v.Count, maxElements)
	}
	return v, true, nil
}

const convertAgain = "convert the model again"

// mismatch is the message for a value of another type than the one wanted.
func (f *File) mismatch(v Value, wanted string) error {
	return f.failKey(v.Key, "the value is %s %v, wanted %s; %s",
		v.TypeName(), v, wanted, convertAgain)
}

// failKey makes an error about the value of a key.
func (f *File) failKey(key, format string, args ...any) error {
	return fail(f.name, "key "+quote(key), format, args...)
}
