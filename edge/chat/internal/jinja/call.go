package jinja

import "math"

// named is a named argument.
type named struct {
	name string
	v    Value
}

// call is one call of a function, filter, test or method.
type call struct {
	e      *evaluator
	name   string  // of what is called
	in     Value   // what a filter, test or method works on
	args   []Value // bound by apply: one per parameter, nil where not given
	named  []named // what is not taken by a parameter
	caller Value   // the body of a {% call %}, nil elsewhere
}

// builtin is a filter, test, method or function of the language. Its params
// name its arguments in order; nil params leave them as they come.
type builtin struct {
	params []string
	run    func(c *call) Value
}

// apply calls a builtin on in, with the arguments bound to its parameters.
func (e *evaluator) apply(name string, b builtin, in Value, c *call) Value {
	c.name, c.in = name, in
	if b.params == nil {
		return b.run(c)
	}
	if len(c.args) > len(b.params) {
		e.fail("%s takes at most %d argument(s), got %d", name, len(b.params), len(c.args))
	}
	bound := make([]Value, len(b.params))
	copy(bound, c.args)
	for i, p := range b.params {
		v, ok := c.take(p)
		if ok && bound[i] != nil {
			e.fail("%s got two values for '%s'", name, p)
		}
		if ok {
			bound[i] = v
		}
	}
	if len(c.named) > 0 {
		e.fail("%s takes no argument named '%s'", name, c.named[0].name)
	}
	c.args = bound
	return b.run(c)
}

// take removes a named argument and returns it.
func (c *call) take(name string) (Value, bool) {
	for i, n := range c.named {
		if n.name == name {
			c.named = append(c.named[:i:i], c.named[i+1:]...)
			return n.v, true
		}
	}
	return nil, false
}

// given says whether argument i was passed, and not as None.
func (c *call) given(i int) bool {
	if c.args[i] == nil {
		return false
	}
	_, none := c.args[i].(None)
	return !none
}

// need is argument i, which must be there.
func (c *call) need(i int) Value {
	if i >= len(c.args) || c.args[i] == nil {
		c.e.fail("%s needs at least %d argument(s)", c.name, i+1)
	}
	return c.args[i]
}

// text is argument i as a string, or what it is missing.
func (c *call) text(i int, missing string) Text {
	if !c.given(i) {
		return Own(missing)
	}
	return c.e.str(c.args[i])
}

// int is argument i as an integer, or what it is missing.
func (c *call) int(i int, missing int64) int64 {
	if !c.given(i) {
		return missing
	}
	n, ok := toInt(c.args[i])
	if !ok {
		c.e.fail("%s: '%s' object cannot be interpreted as an integer",
			c.name, typeName(c.args[i]))
	}
	return n
}

// count is argument i as a number of things, -1 for any negative one.
func (c *call) count(i, missing int) int {
	return int(min(max(c.int(i, int64(missing)), -1), math.MaxInt32))
}

func (c *call) bool(i int) bool { return c.given(i) && truth(c.args[i]) }

// list makes a list of values that the caller has put together.
func (c *call) list(items []Value) Value { return &List{items: items} }

// generator makes what Python would return a generator of the values for.
func (c *call) generator(items []Value) Value { return &List{items: items, generator: true} }

// keep appends to a list that the meter has to know of.
func (c *call) keep(items []Value, v Value) []Value {
	c.e.allocValues(1)
	return append(items, v)
}
