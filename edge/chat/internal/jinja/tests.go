package jinja

// The tests of "is", as Jinja's.

var tests map[string]builtin

func init() {
	tests = map[string]builtin{
		"boolean":     typeTest("bool"),
		"callable":    {[]string{}, testCallable},
		"defined":     {[]string{}, func(c *call) Value { return typeName(c.in) != "Undefined" }},
		"divisibleby": {[]string{"num"}, testDivisible},
		"even":        {[]string{}, func(c *call) Value { return c.in2(2) == 0 }},
		"false":       {[]string{}, func(c *call) Value { return c.in == Value(false) }},
		"filter":      {[]string{}, func(c *call) Value { return knows(filters, c.in) }},
		"float":       typeTest("float"),
		"integer":     typeTest("int"),
		"iterable":    {[]string{}, testIterable},
		"lower":       {[]string{}, func(c *call) Value { return isCased(c.e.str(c.in).s, false) }},
		"mapping":     typeTest("dict"),
		"none":        typeTest("NoneType"),
		"number":      typeTest("bool", "int", "float"),
		"odd":         {[]string{}, func(c *call) Value { return c.in2(2) == 1 }},
		"sameas":      {[]string{"other"}, testSameAs},
		"sequence":    typeTest("str", "list", "tuple", "dict", "Undefined"),
		"string":      typeTest("str"),
		"test":        {[]string{}, func(c *call) Value { return knows(tests, c.in) }},
		"true":        {[]string{}, func(c *call) Value { return c.in == Value(true) }},
		"undefined":   typeTest("Undefined"),
		"upper":       {[]string{}, func(c *call) Value { return isCased(c.e.str(c.in).s, true) }},
	}
	for op, names := range map[string][]string{
		"==": {"eq", "equalto"},
		"!=": {"ne"},
		"<":  {"lt", "lessthan"},
		"<=": {"le"},
		">":  {"gt", "greaterthan"},
		">=": {"ge"},
		"in": {},
	} {
		t := builtin{[]string{"other"}, func(c *call) Value {
			return c.e.holds(c.in, op, c.need(0))
		}}
		tests[op] = t
		for _, name := range names {
			tests[name] = t
		}
	}
}

func typeTest(names ...string) builtin {
	return builtin{[]string{}, func(c *call) Value {
		for _, n := range names {
			if typeName(c.in) == n {
				return true
			}
		}
		return false
	}}
}

func knows(table map[string]builtin, name Value) bool {
	t, ok := name.(Text)
	if !ok {
		return false
	}
	_, ok = table[t.s]
	return ok
}

// in2 is the operand modulo n, which must be an integer.
func (c *call) in2(n int64) int64 {
	v := c.e.eval(&mathExpr{"%", &constExpr{c.in}, &constExpr{n}})
	rest, ok := toInt(v)
	if !ok {
		return -1
	}
	return rest
}

func testDivisible(c *call) Value {
	n, ok := toInt(c.need(0))
	if !ok {
		c.e.fail("divisibleby needs an integer, not %s", typeName(c.args[0]))
	}
	return c.in2(n) == 0
}

func testCallable(c *call) Value {
	switch v := c.in.(type) {
	case *function, Undefined:
		return true
	case *object:
		return v.call != nil
	}
	return false
}

func testIterable(c *call) Value {
	switch c.in.(type) {
	case Text, *List, *Dict, Undefined:
		return true
	}
	return false
}

func testSameAs(c *call) Value {
	other := c.need(0)
	return typeName(c.in) == typeName(other) && c.e.equal(c.in, other)
}
