package jinja

import (
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
)

// Values are what Python's would be: Undefined, None, bool, int64, wide,
// float64, Text, *List, *Dict, *namespace, *function and *object. They are
// never changed once a template can see them (but for namespaces and the loop
// object), so that none can contain itself.

// Value is one of the types above.
type Value any

// Undefined is what a name or a key has that is not there.
type Undefined struct {
	why string // "'x' is undefined"
}

// None is Python's None. A soft one stands for the null content of a message:
// it answers the tests like None, so that templates can ask for it, and is the
// empty text where Python's None would print "None" or raise a type error.
type None struct {
	Soft bool
}

// wide is an integer beyond 64 bits, in decimal. It comes from JSON and goes
// back there; arithmetic takes it as a float.
type wide string

// List is a list, a tuple, or what Python has a generator for: that is a list
// here but for its truth, which is that of a generator.
type List struct {
	items     []Value
	tuple     bool
	generator bool
}

// NewList returns a list of the values.
func NewList(items ...Value) *List { return &List{items: items} }

// Dict is a dict: its entries have an order, the one in which they were set.
type Dict struct {
	keys   []Value
	values []Value
	at     map[string]int // canonical key → place in keys and values
	// source, where not empty, is the JSON text that the dict was read from
	// and that stands for it wherever Python would need a string.
	source Text
}

// Items returns the elements, which must not be changed.
func (l *List) Items() []Value { return l.items }

// NewDict returns an empty dict.
func NewDict() *Dict { return &Dict{at: map[string]int{}} }

// Set puts a value under the key; a new key goes to the end.
func (d *Dict) Set(key Text, v Value) { d.set(key, v) }

// Get returns the value under a key.
func (d *Dict) Get(key string) (Value, bool) { return d.get(Own(key)) }

// All yields the entries in order. All keys must be strings, as in what
// DecodeJSON returns.
func (d *Dict) All() iter.Seq2[Text, Value] {
	return func(yield func(Text, Value) bool) {
		for i, key := range d.keys {
			if !yield(key.(Text), d.values[i]) {
				return
			}
		}
	}
}

// WithSource makes text stand for the dict where a template takes it for a
// string, as templates do that were written for unparsed tool arguments.
func (d *Dict) WithSource(text Text) *Dict {
	d.source = text
	return d
}

func (d *Dict) set(key, v Value) bool {
	k, ok := canonical(key)
	if !ok {
		return false
	}
	if i, ok := d.at[k]; ok {
		d.values[i] = v
		return true
	}
	d.at[k] = len(d.keys)
	d.keys = append(d.keys, key)
	d.values = append(d.values, v)
	return true
}

func (d *Dict) get(key Value) (Value, bool) {
	if k, ok := canonical(key); ok {
		if i, ok := d.at[k]; ok {
			return d.values[i], true
		}
	}
	return nil, false
}

// namespace is the object that a template may assign to across scopes.
type namespace struct {
	names map[string]Value
}

// function is anything that can be called.
type function struct {
	name string
	call func(c *call) Value
}

// object is a builtin thing with attributes: loop, cycler.
type object struct {
	name string
	attr func(name string) (Value, bool)
	call func(c *call) Value // nil: it cannot be called
}

// canonical is a key as a map holds it; false for what Python cannot hash.
// Numbers that are equal are the same key.
func canonical(key Value) (string, bool) {
	switch k := key.(type) {
	case Text:
		return "s" + k.s, true
	case None:
		return "none", true
	case Undefined:
		return "undefined", true
	case bool, int64, wide, float64:
		if f := toFloat(k); f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
			return fmt.Sprintf("f%v", k), true
		}
		return "i" + strconv.FormatInt(int64(toFloat(k)), 10), true
	}
	return "", false
}

// typeName is the name that Python's error messages give the type.
func typeName(v Value) string {
	switch v := v.(type) {
	case Undefined:
		return "Undefined"
	case None:
		return "NoneType"
	case bool:
		return "bool"
	case int64, wide:
		return "int"
	case float64:
		return "float"
	case Text:
		return "str"
	case *List:
		if v.tuple {
			return "tuple"
		}
		return "list"
	case *Dict:
		return "dict"
	case *namespace:
		return "Namespace"
	case *object:
		return v.name
	case *function:
		return "function"
	}
	panic(fmt.Sprintf("jinja: BUG: a value of type %T", v))
}

func truth(v Value) bool {
	switch v := v.(type) {
	case Undefined, None:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case Text:
		return v.s != ""
	case *List:
		return len(v.items) > 0 || v.generator
	case *Dict:
		return len(v.keys) > 0
	}
	return true
}

func isNumber(v Value) bool {
	switch v.(type) {
	case bool, int64, wide, float64:
		return true
	}
	return false
}

// toInt is a bool or an int as an int.
func toInt(v Value) (int64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int64:
		return v, true
	}
	return 0, false
}

// toFloat is any number as a float.
func toFloat(v Value) float64 {
	switch v := v.(type) {
	case wide:
		f, _ := strconv.ParseFloat(string(v), 64)
		return f
	case float64:
		return v
	}
	n, _ := toInt(v)
	return float64(n)
}

// equal is Python's ==.
func (m *meter) equal(a, b Value) bool {
	m.step(1)
	m.enter()
	defer m.leave()
	if isNumber(a) && isNumber(b) {
		return compareNumbers(a, b) == 0
	}
	switch x := a.(type) {
	case Undefined:
		_, ok := b.(Undefined)
		return ok
	case None:
		_, ok := b.(None)
		return ok
	case Text:
		y, ok := b.(Text)
		m.scan(len(x.s))
		return ok && x.s == y.s
	case *List:
		y, ok := b.(*List)
		return ok && x.tuple == y.tuple && m.equalItems(x.items, y.items)
	case *Dict:
		y, ok := b.(*Dict)
		return ok && m.equalDicts(x, y)
	}
	return a == b
}

func (m *meter) equalItems(a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !m.equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func (m *meter) equalDicts(a, b *Dict) bool {
	if len(a.keys) != len(b.keys) {
		return false
	}
	for i, key := range a.keys {
		if v, ok := b.get(key); !ok || !m.equal(a.values[i], v) {
			return false
		}
	}
	return true
}

// compareNumbers is exact for integers of 64 bits, else as floats. NaN is
// above everything, which orders lists; == and < on it do not matter here.
func compareNumbers(a, b Value) int {
	x, okX := toInt(a)
	y, okY := toInt(b)
	if okX && okY {
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
	switch f, g := toFloat(a), toFloat(b); {
	case f < g:
		return -1
	case f == g:
		return 0
	}
	return 1
}

// compare orders two values as Python's < does.
func (m *meter) compare(a, b Value, op string) int {
	m.step(1)
	m.enter()
	defer m.leave()
	if isNumber(a) && isNumber(b) {
		return compareNumbers(a, b)
	}
	switch x := a.(type) {
	case Text:
		if y, ok := b.(Text); ok {
			m.scan(len(x.s))
			return strings.Compare(x.s, y.s)
		}
	case *List:
		if y, ok := b.(*List); ok && x.tuple == y.tuple {
			for i := 0; i < len(x.items) && i < len(y.items); i++ {
				if !m.equal(x.items[i], y.items[i]) {
					return m.compare(x.items[i], y.items[i], op)
				}
			}
			return len(x.items) - len(y.items)
		}
	}
	m.needDefined(a)
	m.needDefined(b)
	m.fail("'%s' not supported between instances of '%s' and '%s'", op, typeName(a), typeName(b))
	return 0
}

// contains is Python's "item in box".
func (m *meter) contains(box, item Value) bool {
	switch box := box.(type) {
	case Undefined:
		return false
	case None:
		if box.Soft {
			return false
		}
	case Text:
		if t, ok := item.(Text); ok {
			m.scan(len(box.s))
			return strings.Contains(box.s, t.s)
		}
		m.needDefined(item)
		m.fail("'in <string>' requires string as left operand, not %s", typeName(item))
	case *Dict:
		_, ok := box.get(item)
		return ok
	case *List:
		for _, v := range box.items {
			if m.equal(v, item) {
				return true
			}
		}
		return false
	}
	m.fail("argument of type '%s' is not iterable", typeName(box))
	return false
}

// items is what a loop over v goes through.
func (m *meter) items(v Value) []Value {
	switch v := v.(type) {
	case Undefined:
		return nil
	case None:
		if v.Soft {
			return nil
		}
	case *List:
		return v.items
	case *Dict:
		return v.keys
	case Text:
		return m.characters(v)
	}
	m.fail("'%s' object is not iterable", typeName(v))
	return nil
}

// characters are the code points of a text, each a text.
func (m *meter) characters(t Text) []Value {
	var out []Value
	for at := 0; at < len(t.s); {
		size := runeBytes(t.s[at:])
		m.allocValues(1)
		out = append(out, m.slice(t, at, at+size))
		at += size
	}
	return out
}

func (m *meter) needDefined(v Value) {
	if u, ok := v.(Undefined); ok {
		m.fail("%s", u.why)
	}
}

// parseInt reads the digits of an integer of any size; false where it is wider
// than 64 bits and not decimal.
func parseInt(digits string) (Value, bool) {
	digits = strings.ReplaceAll(digits, "_", "")
	if n, err := strconv.ParseInt(digits, 0, 64); err == nil {
		return n, true
	}
	for i, c := range digits {
		if (c < '0' || c > '9') && (c != '-' || i > 0) {
			return nil, false
		}
	}
	return wide(digits), true
}
