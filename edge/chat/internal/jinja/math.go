package jinja

import (
	"fmt"
	"math"
	"strings"
)

func (x *signExpr) eval(e *evaluator) Value {
	switch v := e.eval(x.x).(type) {
	case bool, int64:
		n, _ := toInt(v)
		if x.negative {
			n = -n
		}
		return n
	case float64:
		if x.negative {
			v = -v
		}
		return v
	default:
		e.needDefined(v)
		e.fail("bad operand type for unary sign: '%s'", typeName(v))
		return nil
	}
}

func (x *mathExpr) eval(e *evaluator) Value {
	a, b := e.eval(x.a), e.eval(x.b)
	switch x.op {
	case "+":
		if v, ok := e.joined(a, b); ok {
			return v
		}
	case "*":
		if v, ok := e.repeated(a, b); ok {
			return v
		}
		if v, ok := e.repeated(b, a); ok {
			return v
		}
	case "%":
		if format, ok := a.(Text); ok {
			return e.format(format, b)
		}
	}
	if !isNumber(a) || !isNumber(b) {
		e.needDefined(a)
		e.needDefined(b)
		if _, ok := a.(Text); ok && x.op == "+" {
			e.fail("can only concatenate str (not \"%s\") to str", typeName(b))
		}
		e.fail("unsupported operand type(s) for %s: '%s' and '%s'", x.op, typeName(a), typeName(b))
	}
	n, okN := toInt(a)
	m, okM := toInt(b)
	if okN && okM && x.op != "/" && (x.op != "**" || m >= 0) {
		return e.intMath(x.op, n, m)
	}
	return e.floatMath(x.op, toFloat(a), toFloat(b))
}

// joined is a + b of strings and lists.
func (e *evaluator) joined(a, b Value) (Value, bool) {
	if l, ok := a.(*List); ok {
		r, ok := b.(*List)
		if !ok || l.tuple != r.tuple {
			return nil, false
		}
		e.allocValues(len(l.items) + len(r.items))
		items := make([]Value, 0, len(l.items)+len(r.items))
		return &List{items: append(append(items, l.items...), r.items...), tuple: l.tuple}, true
	}
	l, okL := e.likeText(a)
	r, okR := e.likeText(b)
	_, textL := a.(Text)
	_, textR := b.(Text)
	if !okL || !okR || !textL && !textR {
		return nil, false
	}
	return e.concat(l, r), true
}

// likeText is a string, or what stands for one: a null content for the empty
// one, a dict of tool arguments for its source.
func (e *evaluator) likeText(v Value) (Text, bool) {
	switch v := v.(type) {
	case Text:
		return v, true
	case None:
		return Text{}, v.Soft
	case *Dict:
		return v.source, v.source.s != ""
	}
	return Text{}, false
}

// repeated is a string or list, n times.
func (e *evaluator) repeated(v, times Value) (Value, bool) {
	n, ok := toInt(times)
	if !ok {
		return nil, false
	}
	switch v := v.(type) {
	case Text:
		return e.repeat(v, n), true
	case *List:
		out := &List{tuple: v.tuple}
		for ; n > 0 && len(v.items) > 0; n-- {
			e.allocValues(len(v.items))
			out.items = append(out.items, v.items...)
		}
		return out, true
	}
	return nil, false
}

func (e *evaluator) intMath(op string, a, b int64) Value {
	var out int64
	exact := true
	switch op {
	case "+":
		out = a + b
		exact = (out > a) == (b > 0)
	case "-":
		out = a - b
		exact = (out < a) == (b > 0)
	case "*":
		out, exact = multiply(a, b)
	case "//", "%":
		if b == 0 {
			e.fail("integer division or modulo by zero")
		}
		quotient, rest := a/b, a%b
		if rest != 0 && (rest < 0) != (b < 0) {
			quotient, rest = quotient-1, rest+b
		}
		if out = quotient; op == "%" {
			out = rest
		}
	case "**":
		out = 1
		for ; b > 0 && exact && out != 0; b-- {
			e.step(1)
			out, exact = multiply(out, a)
		}
	}
	if !exact {
		e.fail("%d %s %d does not fit in 64 bits", a, op, b)
	}
	return out
}

func multiply(a, b int64) (product int64, exact bool) {
	product = a * b
	if a == 0 || b == 0 {
		return 0, true
	}
	return product, product/b == a && !(a == -1 && b == math.MinInt64) &&
		!(b == -1 && a == math.MinInt64)
}

func (e *evaluator) floatMath(op string, a, b float64) Value {
	if b == 0 && (op == "/" || op == "//" || op == "%") {
		e.fail("division by zero")
	}
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	case "//":
		return math.Floor(a / b)
	case "**":
		return math.Pow(a, b)
	}
	rest := math.Mod(a, b)
	if rest != 0 && (rest < 0) != (b < 0) {
		rest += b
	}
	return rest
}

// format is Python's "..." % values with the conversions s, r, d, i, x, f and %.
// Flags, width and precision count for numbers alone.
func (e *evaluator) format(format Text, values Value) Text {
	args := []Value{values}
	if t, ok := values.(*List); ok && t.tuple {
		args = t.items
	}
	b := e.builder()
	s, used := format.s, 0
	for at := 0; at < len(s); {
		i := strings.IndexByte(s[at:], '%')
		if i < 0 {
			b.addText(e.slice(format, at, len(s)))
			break
		}
		b.addText(e.slice(format, at, at+i))
		at += i + 1
		flags := at
		for at < len(s) && strings.IndexByte("0123456789.-+ #", s[at]) >= 0 {
			at++
		}
		if at == len(s) || at-flags > 4 {
			e.fail("incomplete format")
		}
		verb := s[at]
		at++
		if verb == '%' {
			b.add("%", false)
			continue
		}
		if used == len(args) {
			e.fail("not enough arguments for format string")
		}
		e.formatOne(b, s[flags:at-1], verb, args[used])
		used++
	}
	// A list or a dict need not be used: Python takes it for a mapping of names.
	if t := typeName(values); used < len(args) && t != "dict" && t != "list" {
		e.fail("not all arguments converted during string formatting")
	}
	return b.text()
}

func (e *evaluator) formatOne(b *builder, flags string, verb byte, v Value) {
	switch verb {
	case 's':
		b.addText(e.str(v))
		return
	case 'r':
		e.repr(b, v)
		return
	case 'd', 'i', 'x', 'f':
		if isNumber(v) {
			if verb == 'f' {
				b.add(fmt.Sprintf("%"+flags+"f", toFloat(v)), false)
			} else {
				b.add(fmt.Sprintf("%"+flags+map[byte]string{'d': "d", 'i': "d", 'x': "x"}[verb],
					int64(toFloat(v))), false)
			}
			return
		}
		e.needDefined(v)
		e.fail("%%%c format: a number is required, not %s", verb, typeName(v))
	}
	e.fail("unsupported format character '%c'", verb)
}
