package jinja

import "time"

// evaluator is one rendering of one template.
type evaluator struct {
	meter
	scope    *scope
	out      *builder // where text goes: the prompt, or what a block captures
	captured Text     // the operand of a filter block's filters
	now      func() time.Time
}

// scope is the names of one block, over those of the blocks around it.
type scope struct {
	vars map[string]Value
	up   *scope
}

func (e *evaluator) lookup(name string) Value {
	for s := e.scope; s != nil; s = s.up {
		if v, ok := s.vars[name]; ok {
			return v
		}
	}
	return Undefined{"'" + name + "' is undefined"}
}

// set assigns in the innermost scope, which is never that of the caller.
func (e *evaluator) set(name string, v Value) {
	if e.scope.vars == nil {
		e.scope.vars = map[string]Value{}
	}
	if _, ok := e.scope.vars[name]; !ok {
		e.allocValues(1)
	}
	e.scope.vars[name] = v
}

func (e *evaluator) push()             { e.scope = &scope{up: e.scope} }
func (e *evaluator) pushOver(s *scope) { e.scope = &scope{up: s} }

// run executes nodes in order, up to a break or continue.
func (e *evaluator) run(nodes []node) control {
	e.enter()
	defer e.leave()
	for _, n := range nodes {
		e.step(1)
		if c := n.exec(e); c != onward {
			return c
		}
	}
	return onward
}

// capture is the text that nodes render, in a scope of their own.
func (e *evaluator) capture(nodes []node) (Text, control) {
	out, scope := e.out, e.scope
	e.out = e.builder()
	e.push()
	c := e.run(nodes)
	text := e.out.text()
	e.out, e.scope = out, scope
	return text, c
}

func (n *textNode) exec(e *evaluator) control {
	e.out.add(n.text, false)
	return onward
}

func (n *printNode) exec(e *evaluator) control {
	e.line = n.line
	e.out.addText(e.str(e.eval(n.x)))
	return onward
}

func (n *ifNode) exec(e *evaluator) control {
	e.line = n.line
	for _, b := range n.branches {
		if b.test == nil || truth(e.eval(b.test)) {
			return e.run(b.body)
		}
	}
	return onward
}

func (n *forNode) exec(e *evaluator) control {
	e.line = n.line
	items := e.items(e.eval(n.over))
	outer := e.scope
	if n.only != nil {
		var kept []Value
		for _, v := range items {
			e.step(1)
			e.pushOver(outer)
			e.assign(n.target, v)
			if truth(e.eval(n.only)) {
				e.allocValues(1)
				kept = append(kept, v)
			}
		}
		items = kept
		e.scope = outer
	}
	if len(items) == 0 {
		e.push()
		c := e.run(n.orElse)
		e.scope = outer
		return c
	}
	loop := &loopState{items: items}
	self := loop.object(e)
	for i, v := range items {
		e.step(1)
		loop.i = i
		e.pushOver(outer)
		e.set("loop", self)
		e.assign(n.target, v)
		if e.run(n.body) == breakLoop {
			break
		}
	}
	e.scope = outer
	return onward
}

func (n *setNode) exec(e *evaluator) control {
	e.line = n.line
	e.assign(n.target, e.eval(n.x))
	return onward
}

func (n *setBlockNode) exec(e *evaluator) control {
	text, c := e.capture(n.body)
	e.line = n.line
	e.assign(n.target, e.filtered(text, n.filter))
	return c
}

func (n *filterNode) exec(e *evaluator) control {
	text, c := e.capture(n.body)
	e.line = n.line
	e.out.addText(e.str(e.filtered(text, n.filter)))
	return c
}

// filtered applies the filters of a block, which may be nil, to its text.
func (e *evaluator) filtered(text Text, filter expr) Value {
	if filter == nil {
		return text
	}
	outer := e.captured
	e.captured = text
	v := e.eval(filter)
	e.captured = outer
	return v
}

func (captured) eval(e *evaluator) Value { return e.captured }

func (n *withNode) exec(e *evaluator) control {
	e.line = n.line
	outer := e.scope
	values := make([]Value, len(n.values))
	for i, x := range n.values {
		values[i] = e.eval(x)
	}
	e.push()
	for i, t := range n.targets {
		e.assign(t, values[i])
	}
	c := e.run(n.body)
	e.scope = outer
	return c
}

func (n *controlNode) exec(*evaluator) control { return n.control }

func (n *macroNode) exec(e *evaluator) control {
	e.line = n.line
	e.set(n.name, e.macro(n.name, n.sig, n.body))
	return onward
}

func (n *callNode) exec(e *evaluator) control {
	e.line = n.line
	f, c := e.prepare(n.call)
	c.caller = e.macro("caller", n.sig, n.body)
	e.out.addText(e.str(e.call(f, c)))
	return onward
}

// macro makes a function of a body. It sees the names that are around its
// definition, as they are when it is called.
func (e *evaluator) macro(name string, sig signature, body []node) *function {
	around := e.scope
	return &function{name: name, call: func(c *call) Value {
		scope, line := e.scope, e.line
		e.pushOver(around)
		if c.caller != nil {
			e.set("caller", c.caller)
		}
		e.bind(name, sig, c)
		out := e.out
		e.out = e.builder()
		e.run(body)
		text := e.out.text()
		e.out, e.scope, e.line = out, scope, line
		return text
	}}
}

// bind sets the parameters of a macro to the arguments of a call.
func (e *evaluator) bind(name string, sig signature, c *call) {
	if len(c.args) > len(sig.names) {
		e.fail("macro '%s' takes not more than %d argument(s)", name, len(sig.names))
	}
	for i, p := range sig.names {
		v, given := c.take(p)
		switch {
		case i < len(c.args):
			if given {
				e.fail("macro '%s' got two values for '%s'", name, p)
			}
			v = c.args[i]
		case !given && sig.defaults[i] != nil:
			v = e.eval(sig.defaults[i])
		case !given:
			v = Undefined{"parameter '" + p + "' was not provided"}
		}
		e.set(p, v)
	}
	if len(c.named) > 0 {
		e.fail("macro '%s' takes no argument named '%s'", name, c.named[0].name)
	}
}

// assign gives v to a target.
func (e *evaluator) assign(t target, v Value) {
	switch {
	case t.parts != nil:
		items := e.items(v)
		if len(items) != len(t.parts) {
			e.fail("%d values for %d names", len(items), len(t.parts))
		}
		for i, p := range t.parts {
			e.assign(p, items[i])
		}
	case t.attr != "":
		ns, ok := e.lookup(t.name).(*namespace)
		if !ok {
			e.fail("cannot assign attribute on non-namespace object '%s'", t.name)
		}
		e.allocValues(1)
		ns.names[t.attr] = v
	default:
		e.set(t.name, v)
	}
}

// loopState is what the loop variable of a for loop knows.
type loopState struct {
	items   []Value
	i       int
	changed []Value // the last arguments of loop.changed
}

func (l *loopState) object(e *evaluator) *object {
	return &object{name: "LoopContext", attr: func(name string) (Value, bool) {
		i, n := int64(l.i), int64(len(l.items))
		switch name {
		case "index":
			return i + 1, true
		case "index0":
			return i, true
		case "revindex":
			return n - i, true
		case "revindex0":
			return n - i - 1, true
		case "first":
			return i == 0, true
		case "last":
			return i == n-1, true
		case "length":
			return n, true
		case "previtem":
			return l.neighbour(l.i-1, "there is no previous item"), true
		case "nextitem":
			return l.neighbour(l.i+1, "there is no next item"), true
		case "cycle":
			return &function{"cycle", l.cycle}, true
		case "changed":
			return &function{"changed", l.hasChanged}, true
		}
		return nil, false
	}}
}

func (l *loopState) neighbour(i int, why string) Value {
	if i < 0 || i >= len(l.items) {
		return Undefined{why}
	}
	return l.items[i]
}

func (l *loopState) cycle(c *call) Value {
	if len(c.args) == 0 {
		c.e.fail("no items for cycling given")
	}
	return c.args[l.i%len(c.args)]
}

func (l *loopState) hasChanged(c *call) Value {
	if l.changed != nil && c.e.equalItems(l.changed, c.args) {
		return false
	}
	l.changed = c.args
	return true
}
