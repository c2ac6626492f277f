package jinja

import (
	"strconv"
	"strings"
)

var constants = map[string]Value{
	"true": true, "True": true, "false": false, "False": false, "none": None{}, "None": None{},
}

// tuple reads an expression, or several with commas between, which are a tuple.
// A condition ("a if b else c") may be left out where an if may follow.
func (p *parser) tuple(withCondition bool) expr {
	one := func() expr {
		if withCondition {
			return p.expression()
		}
		return p.or()
	}
	first := one()
	if !p.isOp(",") {
		return first
	}
	t := &listExpr{items: []expr{first}, tuple: true}
	for p.skip(operator, ",") {
		if k := p.cur().kind; k == printEnd || k == blockEnd || p.isOp(")") {
			break
		}
		t.items = append(t.items, one())
	}
	return t
}

func (p *parser) expression() expr {
	p.enter()
	defer p.leave()
	x := p.or()
	for p.skip(name, "if") {
		c := &condExpr{test: p.or(), then: x}
		if p.skip(name, "else") {
			c.orElse = p.expression()
		}
		x = c
	}
	return x
}

func (p *parser) or() expr {
	x := p.and()
	for p.skip(name, "or") {
		x = &orExpr{x, p.and()}
	}
	return x
}

func (p *parser) and() expr {
	x := p.not()
	for p.skip(name, "and") {
		x = &andExpr{x, p.not()}
	}
	return x
}

func (p *parser) not() expr {
	p.enter()
	defer p.leave()
	if p.skip(name, "not") {
		return &notExpr{p.not()}
	}
	return p.compare()
}

func (p *parser) compare() expr {
	first := p.sum()
	var rest []comparison
	for {
		switch {
		case p.isOp("==", "!=", "<", "<=", ">", ">="):
			op := p.next().val
			rest = append(rest, comparison{op, p.sum()})
		case p.skip(name, "in"):
			rest = append(rest, comparison{"in", p.sum()})
		case p.is(name, "not") && p.look().kind == name && p.look().val == "in":
			p.next()
			p.next()
			rest = append(rest, comparison{"not in", p.sum()})
		case len(rest) == 0:
			return first
		default:
			return &compareExpr{first, rest}
		}
	}
}

func (p *parser) sum() expr {
	x := p.join()
	for p.isOp("+", "-") {
		op := p.next().val
		x = &mathExpr{op, x, p.join()}
	}
	return x
}

func (p *parser) join() expr {
	x := p.product()
	if !p.isOp("~") {
		return x
	}
	j := &joinExpr{parts: []expr{x}}
	for p.skip(operator, "~") {
		j.parts = append(j.parts, p.product())
	}
	return j
}

func (p *parser) product() expr {
	x := p.power()
	for p.isOp("*", "/", "//", "%") {
		op := p.next().val
		x = &mathExpr{op, x, p.power()}
	}
	return x
}

func (p *parser) power() expr {
	x := p.unary(true)
	for p.skip(operator, "**") {
		x = &mathExpr{"**", x, p.unary(true)}
	}
	return x
}

func (p *parser) unary(withFilter bool) expr {
	p.enter()
	defer p.leave()
	var x expr
	switch {
	case p.isOp("-", "+"):
		negative := p.next().val == "-"
		x = &signExpr{p.unary(false), negative}
	default:
		x = p.primary()
	}
	x = p.postfix(x)
	for withFilter {
		switch {
		case p.isOp("|"):
			x = p.filter(x, false)
		case p.is(name, "is"):
			x = p.test(x)
		case p.isOp("("):
			x = &callExpr{x, p.arguments()}
		default:
			withFilter = false
		}
	}
	return x
}

func (p *parser) primary() expr {
	t := p.next()
	switch t.kind {
	case name:
		if v, ok := constants[t.val]; ok {
			return &constExpr{v}
		}
		return &nameExpr{t.val}
	case stringLiteral:
		var s strings.Builder
		s.WriteString(t.val)
		for p.cur().kind == stringLiteral {
			s.WriteString(p.next().val)
		}
		return &constExpr{Own(s.String())}
	case intLiteral:
		n, _ := parseInt(t.val)
		return &constExpr{n}
	case floatLiteral:
		f, _ := strconv.ParseFloat(t.val, 64)
		return &constExpr{f}
	case operator:
		switch t.val {
		case "(":
			return p.parenthesis()
		case "[":
			return &listExpr{items: p.list()}
		case "{":
			return p.dict()
		}
	}
	fail(t.line, "expected an expression, got %s", t)
	return nil
}

func (p *parser) parenthesis() expr {
	if p.skip(operator, ")") {
		return &listExpr{tuple: true}
	}
	x := p.tuple(true)
	p.expect(operator, ")")
	return x
}

func (p *parser) list() []expr {
	var items []expr
	for !p.skip(operator, "]") {
		if len(items) > 0 {
			p.expect(operator, ",")
			if p.skip(operator, "]") {
				break
			}
		}
		items = append(items, p.expression())
	}
	return items
}

func (p *parser) dict() expr {
	d := &dictExpr{}
	for !p.skip(operator, "}") {
		if len(d.keys) > 0 {
			p.expect(operator, ",")
			if p.skip(operator, "}") {
				break
			}
		}
		d.keys = append(d.keys, p.expression())
		p.expect(operator, ":")
		d.values = append(d.values, p.expression())
	}
	return d
}

func (p *parser) postfix(x expr) expr {
	for {
		switch {
		case p.skip(operator, "."):
			if p.cur().kind == intLiteral {
				n, _ := parseInt(p.next().val)
				x = &itemExpr{x, &constExpr{n}}
				continue
			}
			x = &attrExpr{x, p.expectName()}
		case p.skip(operator, "["):
			x = p.subscript(x)
		case p.isOp("("):
			x = &callExpr{x, p.arguments()}
		default:
			return x
		}
	}
}

func (p *parser) subscript(x expr) expr {
	var start expr
	if !p.isOp(":") {
		start = p.expression()
		if p.skip(operator, "]") {
			return &itemExpr{x, start}
		}
	}
	s := &sliceExpr{x: x, start: start}
	p.expect(operator, ":")
	if !p.isOp(":", "]") {
		s.stop = p.expression()
	}
	if p.skip(operator, ":") && !p.isOp("]") {
		s.step = p.expression()
	}
	p.expect(operator, "]")
	return s
}

func (p *parser) arguments() arguments {
	var a arguments
	p.expect(operator, "(")
	for first := true; !p.skip(operator, ")"); first = false {
		if !first {
			p.expect(operator, ",")
			if p.skip(operator, ")") {
				break
			}
		}
		switch {
		case p.isOp("*", "**"):
			p.fail("argument lists with %s are not supported", p.cur())
		case p.cur().kind == name && p.look().kind == operator && p.look().val == "=":
			key := p.next().val
			p.next()
			a.named = append(a.named, namedExpr{key, p.expression()})
		case len(a.named) > 0:
			p.fail("a positional argument follows a named one")
		default:
			a.list = append(a.list, p.expression())
		}
	}
	return a
}

// filter reads the filters that follow; where inline, the name of the first
// comes without a pipe. Whether a filter or a test exists is asked when it runs:
// a template may have branches that never do.
func (p *parser) filter(x expr, inline bool) expr {
	for inline || p.isOp("|") {
		if !inline {
			p.next()
		}
		inline = false
		f := &filterExpr{x: x, name: p.expectName()}
		if p.isOp("(") {
			f.args = p.arguments()
		}
		x = f
	}
	return x
}

func (p *parser) test(x expr) expr {
	p.next()
	negated := p.skip(name, "not")
	t := &testExpr{x: x, name: p.expectName()}
	switch k := p.cur().kind; {
	case p.isOp("("):
		t.args = p.arguments()
	case p.is(name, "is"):
		p.fail("tests with 'is' cannot be chained")
	case k == stringLiteral, k == intLiteral, k == floatLiteral, p.isOp("[", "{"),
		k == name && !p.is(name, "else") && !p.is(name, "or") && !p.is(name, "and"):
		t.args.list = []expr{p.postfix(p.primary())}
	}
	if negated {
		return &notExpr{t}
	}
	return t
}
