package jinja

import "slices"

// The parser is Jinja's own, rule for rule; what chat templates have no use
// for is refused by name. Statements are here, expressions in parse_expr.go.

// maxNesting bounds how deep tags and brackets may stand in one another.
const maxNesting = 300

type parser struct {
	toks  []token
	pos   int
	depth int
	loops int // for loops around this place, within the same macro
}

// absent are the tags that Jinja has and templates in a model file may not use.
var absent = map[string]string{
	"include": "reads other files",
	"import":  "reads other files",
	"from":    "reads other files",
	"extends": "reads other files",
	"block":   "is for templates in several files",
	"do":      "changes values in place",
}

func (p *parser) cur() token { return p.toks[p.pos] }

// look is the token after the current one.
func (p *parser) look() token { return p.toks[min(p.pos+1, len(p.toks)-1)] }

func (p *parser) next() token {
	t := p.cur()
	if t.kind != endOfTemplate {
		p.pos++
	}
	return t
}

func (p *parser) is(k kind, val string) bool {
	return p.cur().kind == k && p.cur().val == val
}

func (p *parser) isOp(ops ...string) bool {
	return p.cur().kind == operator && slices.Contains(ops, p.cur().val)
}

// skip consumes the token if it is this one.
func (p *parser) skip(k kind, val string) bool {
	if !p.is(k, val) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(k kind, val string) {
	if !p.skip(k, val) {
		p.fail("expected '%s', got %s", val, p.cur())
	}
}

func (p *parser) expectName() string {
	if p.cur().kind != name {
		p.fail("expected a name, got %s", p.cur())
	}
	return p.next().val
}

func (p *parser) fail(format string, args ...any) { fail(p.cur().line, format, args...) }

func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		p.fail("nested deeper than %d levels", maxNesting)
	}
}

func (p *parser) leave() { p.depth-- }

func (p *parser) template() []node {
	body := p.nodes()
	if p.cur().kind != endOfTemplate {
		p.fail("unexpected tag %s", p.cur())
	}
	return body
}

// nodes reads up to one of the end tags, whose name is then the current token.
func (p *parser) nodes(ends ...string) []node {
	p.enter()
	defer p.leave()
	var out []node
	for {
		switch t := p.next(); t.kind {
		case data:
			out = append(out, &textNode{t.val})
		case printBegin:
			out = append(out, &printNode{t.line, p.tuple(true)})
			p.expect(printEnd, "}}")
		case blockBegin:
			if p.cur().kind == name && slices.Contains(ends, p.cur().val) {
				return out
			}
			if p.cur().kind != name {
				p.fail("expected the name of a tag, got %s", p.cur())
			}
			if len(ends) == 0 && isEnd(p.cur().val) {
				return out
			}
			out = append(out, p.statement()...)
			p.expect(blockEnd, "%}")
		default:
			if len(ends) > 0 {
				p.fail("{%% %s %%} is missing at the end of the template", ends[len(ends)-1])
			}
			return out
		}
	}
}

// isEnd says whether the tag belongs to another one, so that template can name
// it where it has none.
func isEnd(tag string) bool {
	return tag == "else" || tag == "elif" || len(tag) > 3 && tag[:3] == "end"
}

// body reads what stands between a tag and its end tag, and the end tag's name.
func (p *parser) body(ends ...string) ([]node, string) {
	p.skip(operator, ":")
	p.expect(blockEnd, "%}")
	body := p.nodes(ends...)
	return body, p.next().val
}

func (p *parser) statement() []node {
	line, tag := p.cur().line, p.next().val
	switch tag {
	case "for":
		return []node{p.forLoop(line)}
	case "if":
		return []node{p.ifElse(line)}
	case "set":
		return []node{p.set(line)}
	case "macro":
		return []node{p.macro(line)}
	case "call":
		return []node{p.callBlock(line)}
	case "filter":
		f := p.filter(captured{}, true)
		body, _ := p.body("endfilter")
		return []node{&filterNode{line, f, body}}
	case "with":
		return []node{p.with(line)}
	case "generation":
		// Marks the model's own words for training; they render as they are.
		body, _ := p.body("endgeneration")
		return body
	case "break", "continue":
		if p.loops == 0 {
			fail(line, "{%% %s %%} outside of a loop", tag)
		}
		return []node{&controlNode{map[string]control{
			"break": breakLoop, "continue": continueLoop,
		}[tag]}}
	}
	if why, ok := absent[tag]; ok {
		fail(line, "{%% %s %%} %s, which a chat template may not", tag, why)
	}
	fail(line, "unknown tag '%s'", tag)
	return nil
}

func (p *parser) forLoop(line int) node {
	n := &forNode{line: line, target: p.target(false, "in")}
	p.expect(name, "in")
	n.over = p.tuple(false)
	if p.skip(name, "if") {
		n.only = p.expression()
	}
	if p.is(name, "recursive") {
		p.fail("recursive loops are not supported; use a macro")
	}
	p.loops++
	body, end := p.body("else", "endfor")
	p.loops--
	n.body = body
	if end == "else" {
		n.orElse, _ = p.body("endfor")
	}
	return n
}

func (p *parser) ifElse(line int) node {
	n := &ifNode{line: line}
	for {
		test := p.tuple(false)
		body, end := p.body("elif", "else", "endif")
		n.branches = append(n.branches, branch{test, body})
		switch end {
		case "else":
			body, _ := p.body("endif")
			n.branches = append(n.branches, branch{nil, body})
			return n
		case "endif":
			return n
		}
	}
}

func (p *parser) set(line int) node {
	t := p.target(true)
	if p.skip(operator, "=") {
		return &setNode{line, t, p.tuple(true)}
	}
	n := &setBlockNode{line: line, target: t}
	if p.isOp("|") {
		n.filter = p.filter(captured{}, false)
	}
	n.body, _ = p.body("endset")
	return n
}

func (p *parser) macro(line int) node {
	n := &macroNode{line: line, name: p.expectName()}
	n.sig = p.signature()
	n.body = p.apart("endmacro")
	return n
}

// apart reads a body that runs at another time: a loop around it is not its.
func (p *parser) apart(end string) []node {
	loops := p.loops
	p.loops = 0
	body, _ := p.body(end)
	p.loops = loops
	return body
}

func (p *parser) callBlock(line int) node {
	n := &callNode{line: line}
	if p.isOp("(") {
		n.sig = p.signature()
	}
	call, ok := p.expression().(*callExpr)
	if !ok {
		fail(line, "{%% call %%} needs a call")
	}
	n.call = call
	n.body = p.apart("endcall")
	return n
}

func (p *parser) with(line int) node {
	n := &withNode{line: line}
	for p.cur().kind != blockEnd {
		if len(n.targets) > 0 {
			p.expect(operator, ",")
		}
		n.targets = append(n.targets, p.target(false))
		p.expect(operator, "=")
		n.values = append(n.values, p.expression())
	}
	n.body, _ = p.body("endwith")
	return n
}

func (p *parser) signature() signature {
	var s signature
	p.expect(operator, "(")
	for !p.isOp(")") {
		if len(s.names) > 0 {
			p.expect(operator, ",")
		}
		s.names = append(s.names, p.expectName())
		var value expr
		if p.skip(operator, "=") {
			value = p.expression()
		} else if n := len(s.defaults); n > 0 && s.defaults[n-1] != nil {
			p.fail("a parameter without a default follows one with a default")
		}
		s.defaults = append(s.defaults, value)
	}
	p.next()
	return s
}

// target reads what is assigned to. In a for loop the word after it ends it.
func (p *parser) target(attributes bool, end ...string) target {
	first := p.oneTarget(attributes)
	if !p.isOp(",") {
		return first
	}
	out := target{parts: []target{first}}
	for p.skip(operator, ",") {
		if p.cur().kind == name && slices.Contains(end, p.cur().val) || p.isOp("=", ")") {
			break
		}
		out.parts = append(out.parts, p.oneTarget(attributes))
	}
	return out
}

func (p *parser) oneTarget(attributes bool) target {
	p.enter()
	defer p.leave()
	if p.skip(operator, "(") {
		t := p.target(attributes)
		p.expect(operator, ")")
		return t
	}
	t := target{name: p.expectName()}
	if _, ok := constants[t.name]; ok {
		p.fail("cannot assign to '%s'", t.name)
	}
	if attributes && p.skip(operator, ".") {
		t.attr = p.expectName()
	}
	return t
}
