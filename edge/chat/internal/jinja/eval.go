package jinja

import (
	"math"
	"unicode/utf8"
)

// eval is the one way to evaluate an expression: it counts it.
func (e *evaluator) eval(x expr) Value {
	e.step(1)
	e.enter()
	v := x.eval(e)
	e.leave()
	return v
}

func (x *constExpr) eval(*evaluator) Value  { return x.v }
func (x *nameExpr) eval(e *evaluator) Value { return e.lookup(x.name) }
func (x *notExpr) eval(e *evaluator) Value  { return !truth(e.eval(x.x)) }

func (x *listExpr) eval(e *evaluator) Value {
	e.allocValues(len(x.items))
	items := make([]Value, len(x.items))
	for i, item := range x.items {
		items[i] = e.eval(item)
	}
	return &List{items: items, tuple: x.tuple}
}

func (x *dictExpr) eval(e *evaluator) Value {
	e.allocValues(len(x.keys))
	d := NewDict()
	for i := range x.keys {
		key := e.eval(x.keys[i])
		if !d.set(key, e.eval(x.values[i])) {
			e.fail("unhashable type: '%s'", typeName(key))
		}
	}
	return d
}

func (x *andExpr) eval(e *evaluator) Value {
	if a := e.eval(x.a); !truth(a) {
		return a
	}
	return e.eval(x.b)
}

func (x *orExpr) eval(e *evaluator) Value {
	if a := e.eval(x.a); truth(a) {
		return a
	}
	return e.eval(x.b)
}

func (x *condExpr) eval(e *evaluator) Value {
	if truth(e.eval(x.test)) {
		return e.eval(x.then)
	}
	if x.orElse == nil {
		return Undefined{"the inline if-expression evaluated to false and has no else"}
	}
	return e.eval(x.orElse)
}

func (x *joinExpr) eval(e *evaluator) Value {
	b := e.builder()
	for _, part := range x.parts {
		b.addText(e.str(e.eval(part)))
	}
	return b.text()
}

func (x *compareExpr) eval(e *evaluator) Value {
	a := e.eval(x.first)
	for _, c := range x.rest {
		b := e.eval(c.x)
		if !e.holds(a, c.op, b) {
			return false
		}
		a = b
	}
	return true
}

// holds is one comparison.
func (e *evaluator) holds(a Value, op string, b Value) bool {
	switch op {
	case "==":
		return e.equal(a, b)
	case "!=":
		return !e.equal(a, b)
	case "in":
		return e.contains(b, a)
	case "not in":
		return !e.contains(b, a)
	case "<":
		return e.compare(a, b, op) < 0
	case "<=":
		return e.compare(a, b, op) <= 0
	case ">":
		return e.compare(a, b, op) > 0
	}
	return e.compare(a, b, op) >= 0
}

func (x *attrExpr) eval(e *evaluator) Value {
	v := e.eval(x.x)
	if a, ok := e.attribute(v, x.name); ok {
		return a
	}
	if d, ok := v.(*Dict); ok {
		if item, ok := d.get(Own(x.name)); ok {
			return item
		}
	}
	return e.noAttribute(v, x.name)
}

func (x *itemExpr) eval(e *evaluator) Value {
	v, key := e.eval(x.x), e.eval(x.key)
	e.needDefined(v)
	if item, ok := e.item(v, key); ok {
		return item
	}
	if name, ok := key.(Text); ok {
		if a, ok := e.attribute(v, name.s); ok {
			return a
		}
		return e.noAttribute(v, name.s)
	}
	return Undefined{objectName(v) + " has no element " + e.str(key).s}
}

func objectName(v Value) string {
	if _, ok := v.(None); ok {
		return "None"
	}
	return "'" + typeName(v) + " object'"
}

func (e *evaluator) noAttribute(v Value, name string) Value {
	e.needDefined(v)
	return Undefined{objectName(v) + " has no attribute '" + name + "'"}
}

// item is v[key] as Python has it.
func (e *evaluator) item(v, key Value) (Value, bool) {
	if d, ok := v.(*Dict); ok {
		return d.get(key)
	}
	i, ok := toInt(key)
	if !ok {
		return nil, false
	}
	switch v := v.(type) {
	case *List:
		if i < 0 {
			i += int64(len(v.items))
		}
		if i >= 0 && i < int64(len(v.items)) {
			return v.items[i], true
		}
	case Text:
		n := int64(e.length(v))
		if i < 0 {
			i += n
		}
		if i >= 0 && i < n {
			at := e.offset(v, int(i))
			return e.slice(v, at, at+runeBytes(v.s[at:])), true
		}
	}
	return nil, false
}

// length is the number of characters of t.
func (m *meter) length(t Text) int {
	m.scan(len(t.s))
	return utf8.RuneCountInString(t.s)
}

// offset is the byte at which character i of t begins.
func (m *meter) offset(t Text, i int) int {
	if m.length(t) == len(t.s) {
		return i
	}
	at := 0
	for ; i > 0; i-- {
		at += runeBytes(t.s[at:])
	}
	return at
}

func (x *sliceExpr) eval(e *evaluator) Value {
	v := e.eval(x.x)
	bound := func(x expr) Value {
		if x == nil {
			return None{}
		}
		return e.eval(x)
	}
	start, stop, step := bound(x.start), bound(x.stop), bound(x.step)
	switch v := v.(type) {
	case *List:
		r := e.sliceRange(len(v.items), start, stop, step)
		e.allocValues(r.count)
		out := &List{items: make([]Value, r.count), tuple: v.tuple}
		for i := range out.items {
			out.items[i] = v.items[r.at(i)]
		}
		return out
	case Text:
		return e.sliceText(v, e.sliceRange(e.length(v), start, stop, step))
	case None:
		if v.Soft {
			return Text{}
		}
	}
	e.needDefined(v)
	e.fail("'%s' object is not subscriptable", typeName(v))
	return nil
}

// places are the elements that a slice takes: from, from+by, ...
type places struct{ from, by, count int }

func (p places) at(i int) int { return p.from + i*p.by }

func (e *evaluator) sliceText(t Text, r places) Text {
	if r.count == 0 {
		return Text{}
	}
	if r.by == 1 {
		from := e.offset(t, r.from)
		rest := e.slice(t, from, len(t.s))
		return e.slice(rest, 0, e.offset(rest, r.count))
	}
	b := e.builder()
	for i := range r.count {
		at := e.offset(t, r.at(i))
		b.addText(e.slice(t, at, at+runeBytes(t.s[at:])))
	}
	return b.text()
}

// sliceRange is what [start:stop:step] takes of n elements, by Python's rules.
func (e *evaluator) sliceRange(n int, start, stop, step Value) places {
	by := e.sliceBound(step, 1, 0, math.MinInt64, math.MaxInt64)
	if by == 0 {
		e.fail("slice step cannot be zero")
	}
	size := int64(n)
	by = min(max(by, -size-1), size+1) // Farther steps leave the range as well.
	var from, to, count int64
	if by > 0 {
		from = e.sliceBound(start, 0, size, 0, size)
		to = e.sliceBound(stop, size, size, 0, size)
		count = (to - from + by - 1) / by
	} else {
		from = e.sliceBound(start, size-1, size, -1, size-1)
		to = e.sliceBound(stop, -1, size, -1, size-1)
		count = (from - to - by - 1) / -by
	}
	return places{int(from), int(by), int(max(count, 0))}
}

// sliceBound is v as an integer within [low, high]; a negative one counts from
// the end of size elements, and None is the place called missing.
func (e *evaluator) sliceBound(v Value, missing, size, low, high int64) int64 {
	if _, none := v.(None); none {
		return missing
	}
	i, ok := toInt(v)
	if !ok {
		e.needDefined(v)
		e.fail("slice indices must be integers or None, not %s", typeName(v))
	}
	if i < 0 {
		i += size
	}
	return min(max(i, low), high)
}

func (x *callExpr) eval(e *evaluator) Value {
	f, c := e.prepare(x)
	return e.call(f, c)
}

// prepare evaluates what is called and its arguments.
func (e *evaluator) prepare(x *callExpr) (Value, *call) {
	return e.eval(x.f), e.evalArguments(x.args)
}

func (e *evaluator) evalArguments(a arguments) *call {
	c := &call{e: e}
	e.allocValues(len(a.list) + len(a.named))
	for _, x := range a.list {
		c.args = append(c.args, e.eval(x))
	}
	for _, n := range a.named {
		c.named = append(c.named, named{n.name, e.eval(n.x)})
	}
	return c
}

func (e *evaluator) call(f Value, c *call) Value {
	switch f := f.(type) {
	case *function:
		c.name = f.name
		return f.call(c)
	case *object:
		if f.call != nil {
			return f.call(c)
		}
	}
	e.needDefined(f)
	e.fail("'%s' object is not callable", typeName(f))
	return nil
}

func (x *filterExpr) eval(e *evaluator) Value {
	f, ok := filters[x.name]
	if !ok {
		e.fail("no filter named '%s'", x.name)
	}
	in := e.eval(x.x)
	return e.apply(x.name, f, in, e.evalArguments(x.args))
}

func (x *testExpr) eval(e *evaluator) Value {
	t, ok := tests[x.name]
	if !ok {
		e.fail("no test named '%s'", x.name)
	}
	in := e.eval(x.x)
	return e.apply(x.name, t, in, e.evalArguments(x.args))
}
