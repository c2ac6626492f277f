package gguf

// Values: one metadata entry, still in the form it has in the file.
//
// A Value keeps the bytes it was found in; numbers are decoded when asked for,
// and strings are views of those bytes. A file that somebody else changes
// while it is mapped can therefore change a value under our hands, and arrays
// of strings check their lengths again each time they are walked.

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Kind is the GGUF id of a metadata value's type.
type Kind uint32

// The kinds of metadata values.
const (
	KindU8     Kind = 0
	KindI8     Kind = 1
	KindU16    Kind = 2
	KindI16    Kind = 3
	KindU32    Kind = 4
	KindI32    Kind = 5
	KindF32    Kind = 6
	KindBool   Kind = 7
	KindString Kind = 8
	KindArray  Kind = 9
	KindU64    Kind = 10
	KindI64    Kind = 11
	KindF64    Kind = 12

	numKinds = 13
)

// kindFacts is one row per kind; strings and arrays have no fixed size.
var kindFacts = [numKinds]struct {
	name           string
	bytes          int
	integer, float bool
}{
	KindU8:     {name: "u8", bytes: 1, integer: true},
	KindI8:     {name: "i8", bytes: 1, integer: true},
	KindU16:    {name: "u16", bytes: 2, integer: true},
	KindI16:    {name: "i16", bytes: 2, integer: true},
	KindU32:    {name: "u32", bytes: 4, integer: true},
	KindI32:    {name: "i32", bytes: 4, integer: true},
	KindF32:    {name: "f32", bytes: 4, float: true},
	KindBool:   {name: "bool", bytes: 1},
	KindString: {name: "string"},
	KindArray:  {name: "array"},
	KindU64:    {name: "u64", bytes: 8, integer: true},
	KindI64:    {name: "i64", bytes: 8, integer: true},
	KindF64:    {name: "f64", bytes: 8, float: true},
}

// String returns the kind's short name, "u32" or "string".
func (k Kind) String() string {
	if k < numKinds {
		return kindFacts[k].name
	}
	return fmt.Sprintf("kind %d", uint32(k))
}

// Value is one metadata entry. The zero Value is no entry.
type Value struct {
	Key   string
	Kind  Kind   // KindArray for arrays
	Elem  Kind   // of an array's elements; otherwise equal to Kind
	Count int    // elements of an array; otherwise 1
	data  []byte // a string's characters; otherwise the elements as stored
}

// TypeName returns the value's type in short, "u32" or "string[32000]".
func (v Value) TypeName() string {
	if v.Kind != KindArray {
		return v.Kind.String()
	}
	return fmt.Sprintf("%v[%d]", v.Elem, v.Count)
}

const (
	printedElements     = 4  // of an array, before it is cut
	printedElementBytes = 32 // of each string in it
	printedBytes        = 96 // of a string, before it is cut
)

// String returns the value in a form short and plain enough for a terminal:
// long strings and arrays are cut, and what is not printable is escaped.
func (v Value) String() string {
	if v.Kind != KindArray {
		return v.element(0)
	}
	var b strings.Builder
	b.WriteByte('[')
	elements := v.elements()
	for i := 0; i < v.Count; i++ {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == printedElements {
			b.WriteString("…")
			break
		}
		if v.Elem == KindString {
			s, _ := elements.next()
			b.WriteString(quoteTo(printedElementBytes, s))
		} else {
			b.WriteString(v.element(i))
		}
	}
	b.WriteByte(']')
	return b.String()
}

// element returns the printable form of element i; of strings it knows only
// the one that is not in an array.
func (v Value) element(i int) string {
	switch {
	case v.Elem == KindString:
		return quote(v.text())
	case v.Elem == KindBool:
		return strconv.FormatBool(v.data[i] != 0)
	case v.Elem == KindF32:
		return strconv.FormatFloat(v.floatAt(i), 'g', -1, 32)
	case v.Elem == KindF64:
		return strconv.FormatFloat(v.floatAt(i), 'g', -1, 64)
	default:
		return v.integerAt(i).String()
	}
}

// text returns the characters of a string value, without a copy.
func (v Value) text() string { return view(v.data) }

// integer is a 64-bit number of either sign, which neither int64 nor uint64
// holds alone: bits is the value modulo 2^64.
type integer struct {
	bits     uint64
	negative bool
}

// String returns the number in decimal.
func (n integer) String() string {
	if n.negative {
		return strconv.FormatInt(int64(n.bits), 10)
	}
	return strconv.FormatUint(n.bits, 10)
}

// fitsInt32 says whether int32(bits) is the number.
func (n integer) fitsInt32() bool {
	if n.negative {
		return int64(n.bits) >= math.MinInt32
	}
	return n.bits <= math.MaxInt32
}

// integerAt decodes element i of a value whose elements are integers.
func (v Value) integerAt(i int) integer {
	signed := func(n int64) integer { return integer{uint64(n), n < 0} }
	switch v.Elem {
	case KindU8:
		return integer{bits: uint64(v.data[i])}
	case KindI8:
		return signed(int64(int8(v.data[i])))
	case KindU16:
		return integer{bits: uint64(binary.LittleEndian.Uint16(v.data[2*i:]))}
	case KindI16:
		return signed(int64(int16(binary.LittleEndian.Uint16(v.data[2*i:]))))
	case KindU32:
		return integer{bits: uint64(binary.LittleEndian.Uint32(v.data[4*i:]))}
	case KindI32:
		return signed(int64(int32(binary.LittleEndian.Uint32(v.data[4*i:]))))
	case KindU64:
		return integer{bits: binary.LittleEndian.Uint64(v.data[8*i:])}
	case KindI64:
		return signed(int64(binary.LittleEndian.Uint64(v.data[8*i:])))
	}
	panic("gguf: BUG: integerAt of " + v.TypeName())
}

// floatAt decodes element i of a value whose elements are floats.
func (v Value) floatAt(i int) float64 {
	switch v.Elem {
	case KindF32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(v.data[4*i:])))
	case KindF64:
		return math.Float64frombits(binary.LittleEndian.Uint64(v.data[8*i:]))
	}
	panic("gguf: BUG: floatAt of " + v.TypeName())
}

// elements returns a walk over the elements of an array of strings.
func (v Value) elements() stringWalk { return stringWalk{rest: v.data} }

// stringWalk reads strings with their 64-bit length before them.
type stringWalk struct{ rest []byte }

// next returns the next string, without a copy; ok is false where its length
// or its characters do not fit in what is left.
func (w *stringWalk) next() (s string, ok bool) {
	if len(w.rest) < 8 {
		return "", false
	}
	n := binary.LittleEndian.Uint64(w.rest)
	if n > uint64(len(w.rest)-8) {
		return "", false
	}
	s = view(w.rest[8 : 8+n])
	w.rest = w.rest[8+n:]
	return s, true
}

// view returns bytes as a string that shares their memory.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// quote returns a string from a file in a form fit for messages: quoted,
// control characters and invalid UTF-8 escaped, cut where it is long.
func quote(s string) string { return quoteTo(printedBytes, s) }

// quoteTo is quote with the length in bytes at which a string is cut.
func quoteTo(limit int, s string) string {
	if len(s) <= limit {
		return strconv.Quote(s)
	}
	cut := limit
	for cut > limit-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d bytes)", strconv.Quote(s[:cut]), len(s))
}
