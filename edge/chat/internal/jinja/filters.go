package jinja

import (
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode"
)

// The filters, as Jinja's, with the arguments in its order.

var filters map[string]builtin

// The table is filled at start because its functions look filters up in it.
func init() {
	filters = map[string]builtin{
		"abs":        {[]string{}, filterAbs},
		"attr":       {[]string{"name"}, filterAttr},
		"batch":      {[]string{"linecount", "fill_with"}, filterBatch},
		"capitalize": {[]string{}, textFilter((*meter).capitalize)},
		"count":      {[]string{}, filterLength},
		"d":          {[]string{"default_value", "boolean"}, filterDefault},
		"default":    {[]string{"default_value", "boolean"}, filterDefault},
		"dictsort":   {[]string{"case_sensitive", "by", "reverse"}, filterDictsort},
		"e":          {[]string{}, textFilter((*meter).escapeHTML)},
		"escape":     {[]string{}, textFilter((*meter).escapeHTML)},
		"first":      {[]string{}, filterFirst},
		"float":      {[]string{"default"}, filterFloat},
		"format":     {nil, filterFormat},
		"indent":     {[]string{"width", "first", "blank"}, filterIndent},
		"int":        {[]string{"default", "base"}, filterInt},
		"items":      {[]string{}, filterItems},
		"join":       {[]string{"d", "attribute"}, filterJoin},
		"last":       {[]string{}, filterLast},
		"length":     {[]string{}, filterLength},
		"list":       {[]string{}, filterList},
		"lower":      {[]string{}, textFilter((*meter).lower)},
		"map":        {nil, filterMap},
		"max":        {[]string{"case_sensitive", "attribute"}, filterMax},
		"min":        {[]string{"case_sensitive", "attribute"}, filterMin},
		"reject":     {nil, selector(false, false)},
		"rejectattr": {nil, selector(true, false)},
		"replace":    {[]string{"old", "new", "count"}, filterReplace},
		"reverse":    {[]string{}, filterReverse},
		"round":      {[]string{"precision", "method"}, filterRound},
		"safe":       {[]string{}, textFilter(func(_ *meter, t Text) Text { return t })},
		"select":     {nil, selector(false, true)},
		"selectattr": {nil, selector(true, true)},
		"sort":       {[]string{"reverse", "case_sensitive", "attribute"}, filterSort},
		"string":     {[]string{}, textFilter(func(_ *meter, t Text) Text { return t })},
		"sum":        {[]string{"attribute", "start"}, filterSum},
		"title":      {[]string{}, textFilter((*meter).titleWords)},
		"tojson": {[]string{"ensure_ascii", "indent", "separators", "sort_keys"},
			filterToJSON},
		"trim":      {[]string{"chars"}, filterTrim},
		"unique":    {[]string{"case_sensitive", "attribute"}, filterUnique},
		"upper":     {[]string{}, textFilter((*meter).upper)},
		"wordcount": {[]string{}, filterWordcount},
	}
}

// textFilter is a filter that makes a string of its operand's string.
func textFilter(f func(*meter, Text) Text) func(*call) Value {
	return func(c *call) Value { return f(&c.e.meter, c.e.str(c.in)) }
}

func filterAbs(c *call) Value {
	switch v := c.in.(type) {
	case bool, int64:
		n, _ := toInt(v)
		return max(n, -n)
	case float64:
		return math.Abs(v)
	}
	c.e.needDefined(c.in)
	c.e.fail("bad operand type for abs(): '%s'", typeName(c.in))
	return nil
}

func filterAttr(c *call) Value {
	name := c.e.str(c.need(0)).s
	if v, ok := c.e.attribute(c.in, name); ok {
		return v
	}
	return c.e.noAttribute(c.in, name)
}

func filterBatch(c *call) Value {
	n := c.count(0, 0)
	if n <= 0 {
		c.e.fail("batch needs a positive number of elements, not %d", n)
	}
	var out []Value
	items := c.e.items(c.in)
	for len(items) > 0 {
		row := items[:min(n, len(items)):min(n, len(items))]
		items = items[len(row):]
		for len(row) < n && c.given(1) {
			row = c.keep(row, c.args[1])
		}
		out = c.keep(out, c.list(row))
	}
	return c.generator(out)
}

func filterDefault(c *call) Value {
	_, undefined := c.in.(Undefined)
	if undefined || c.bool(1) && !truth(c.in) {
		if c.args[0] == nil {
			return Text{}
		}
		return c.args[0]
	}
	return c.in
}

func filterDictsort(c *call) Value {
	d, ok := c.in.(*Dict)
	if !ok {
		c.e.needDefined(c.in)
		c.e.fail("dictsort needs a dict, not %s", typeName(c.in))
	}
	by := 0
	switch s := c.text(1, "key").s; s {
	case "key":
	case "value":
		by = 1
	default:
		c.e.fail("dictsort sorts by key or by value, not by '%s'", s)
	}
	items := c.e.pairs(d)
	return c.list(c.sorted(items, c.bool(2), func(v Value) Value {
		return c.folded(v.(*List).items[by], c.bool(0))
	}))
}

// pairs are the entries of a dict, as tuples.
func (m *meter) pairs(d *Dict) []Value {
	m.allocValues(3 * len(d.keys))
	out := make([]Value, len(d.keys))
	for i := range d.keys {
		out[i] = &List{items: []Value{d.keys[i], d.values[i]}, tuple: true}
	}
	return out
}

// sorted is a stable sort by key.
func (c *call) sorted(items []Value, reverse bool, key func(Value) Value) []Value {
	c.e.allocValues(2 * len(items))
	type keyed struct{ key, v Value }
	order := make([]keyed, len(items))
	for i, v := range items {
		order[i] = keyed{key(v), v}
	}
	sort.SliceStable(order, func(i, j int) bool {
		if reverse {
			i, j = j, i
		}
		a, b := order[i].key, order[j].key
		return !c.e.equal(a, b) && c.e.compare(a, b, "<") < 0
	})
	out := make([]Value, len(items))
	for i, k := range order {
		out[i] = k.v
	}
	return out
}

// folded is a sort key: strings without their case, unless that counts.
func (c *call) folded(v Value, caseSensitive bool) Value {
	if t, ok := v.(Text); ok && !caseSensitive {
		return c.e.lower(t)
	}
	return v
}

// path is item.a.b for the attribute "a.b"; the item itself for none.
func (c *call) path(item, attribute Value) Value {
	switch a := attribute.(type) {
	case nil, None:
		return item
	case Text:
		for _, part := range strings.Split(a.s, ".") {
			var key Value = Own(part)
			if n, err := strconv.ParseInt(part, 10, 64); err == nil {
				key = n
			}
			item = (&itemExpr{&constExpr{item}, &constExpr{key}}).eval(c.e)
		}
		return item
	}
	return (&itemExpr{&constExpr{item}, &constExpr{attribute}}).eval(c.e)
}

func filterFirst(c *call) Value { return c.end("first", 0) }
func filterLast(c *call) Value  { return c.end("last", -1) }

func (c *call) end(which string, i int64) Value {
	if t, ok := c.in.(Text); ok {
		if v, ok := c.e.item(t, i); ok {
			return v
		}
	} else if items := c.e.items(c.in); len(items) > 0 {
		return items[(int(i)+len(items))%len(items)]
	}
	return Undefined{"No " + which + " item, sequence was empty."}
}

func filterFloat(c *call) Value {
	if isNumber(c.in) {
		return toFloat(c.in)
	}
	if t, ok := c.in.(Text); ok {
		if f, err := strconv.ParseFloat(strings.TrimFunc(t.s, isSpace), 64); err == nil {
			return f
		}
	}
	c.e.needDefined(c.in)
	if c.args[0] != nil {
		return c.args[0]
	}
	return 0.0
}

func filterInt(c *call) Value {
	switch v := c.in.(type) {
	case bool, int64:
		n, _ := toInt(v)
		return n
	case wide:
		return v
	case float64:
		if math.Abs(v) < 1<<63 {
			return int64(v)
		}
	case Text:
		s := strings.ReplaceAll(strings.TrimFunc(v.s, isSpace), "_", "")
		if n, err := strconv.ParseInt(s, int(min(max(c.int(1, 10), 2), 36)), 64); err == nil {
			return n
		}
		if f, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(f) < 1<<63 {
			return int64(f)
		}
	}
	c.e.needDefined(c.in)
	if c.args[0] != nil {
		return c.args[0]
	}
	return int64(0)
}

func filterFormat(c *call) Value {
	return c.e.format(c.e.str(c.in), &List{items: c.args, tuple: true})
}

func filterIndent(c *call) Value {
	pad := Own(" ")
	if t, ok := c.args[0].(Text); ok {
		pad = t
	} else {
		pad = c.e.repeat(pad, c.int(0, 4))
	}
	b := c.e.builder()
	for i, line := range c.e.lines(c.e.concat(c.e.str(c.in), Own("\n")), false) {
		if i > 0 {
			b.add("\n", false)
		}
		if i == 0 && c.bool(1) || i > 0 && (line.s != "" || c.bool(2)) {
			b.addText(pad)
		}
		b.addText(line)
	}
	return b.text()
}

func filterItems(c *call) Value {
	switch v := c.in.(type) {
	case Undefined:
		return c.generator(nil)
	case *Dict:
		return c.generator(c.e.pairs(v))
	}
	c.e.fail("Can only get item pairs from a mapping.")
	return nil
}

func filterJoin(c *call) Value {
	b, between := c.e.builder(), c.text(0, "")
	for i, v := range c.e.items(c.in) {
		c.e.step(1)
		if i > 0 {
			b.addText(between)
		}
		b.addText(c.e.str(c.path(v, c.args[1])))
	}
	return b.text()
}

func filterLength(c *call) Value {
	switch v := c.in.(type) {
	case Text:
		return int64(c.e.length(v))
	case *List:
		return int64(len(v.items))
	case *Dict:
		return int64(len(v.keys))
	case Undefined:
		return int64(0)
	case None:
		if v.Soft {
			return int64(0)
		}
	}
	c.e.fail("object of type '%s' has no len()", typeName(c.in))
	return nil
}

func filterList(c *call) Value {
	items := c.e.items(c.in)
	c.e.allocValues(len(items))
	return c.list(append([]Value(nil), items...))
}

func filterMap(c *call) Value {
	var out []Value
	if attribute, ok := c.take("attribute"); ok && len(c.args) == 0 {
		missing, _ := c.take("default")
		for _, v := range c.elements() {
			v = c.path(v, attribute)
			if _, undefined := v.(Undefined); undefined && missing != nil {
				v = missing
			}
			out = c.keep(out, v)
		}
		return c.generator(out)
	}
	name := c.e.str(c.need(0)).s
	f, ok := filters[name]
	if !ok {
		c.e.fail("no filter named '%s'", name)
	}
	for _, v := range c.elements() {
		c.e.enter()
		out = c.keep(out, c.e.apply(name, f, v, c.rest(1)))
		c.e.leave()
	}
	return c.generator(out)
}

// elements are what map and the selectors go through: nothing of what is false.
func (c *call) elements() []Value {
	if !truth(c.in) {
		return nil
	}
	return c.e.items(c.in)
}

// rest is a call with the arguments from the nth on.
func (c *call) rest(n int) *call {
	return &call{e: c.e, args: c.args[n:], named: append([]named(nil), c.named...)}
}

// selector is select, reject, selectattr and rejectattr.
func selector(attribute, want bool) func(*call) Value {
	return func(c *call) Value {
		at := 0
		if attribute {
			c.need(0)
			at = 1
		}
		holds := truth
		if len(c.args) > at {
			name := c.e.str(c.args[at]).s
			t, ok := tests[name]
			if !ok {
				c.e.fail("no test named '%s'", name)
			}
			holds = func(v Value) bool { return truth(c.e.apply(name, t, v, c.rest(at+1))) }
		}
		var out []Value
		for _, item := range c.elements() {
			c.e.step(1)
			v := item
			if attribute {
				v = c.path(item, c.args[0])
			}
			if holds(v) == want {
				out = c.keep(out, item)
			}
		}
		return c.generator(out)
	}
}

func filterMax(c *call) Value { return c.extreme(1) }
func filterMin(c *call) Value { return c.extreme(-1) }

func (c *call) extreme(sign int) Value {
	items := c.e.items(c.in)
	if len(items) == 0 {
		return Undefined{"No aggregated item, sequence was empty."}
	}
	best := items[0]
	bestKey := c.folded(c.path(best, c.args[1]), c.bool(0))
	for _, v := range items[1:] {
		key := c.folded(c.path(v, c.args[1]), c.bool(0))
		if c.e.compare(key, bestKey, "<")*sign > 0 {
			best, bestKey = v, key
		}
	}
	return best
}

func filterReplace(c *call) Value {
	old, with := c.e.str(c.need(0)), c.e.str(c.need(1))
	return c.e.replace(c.e.str(c.in), old.s, with, c.count(2, -1))
}

func filterReverse(c *call) Value {
	if t, ok := c.in.(Text); ok {
		back := &sliceExpr{x: &constExpr{t}, step: &constExpr{int64(-1)}}
		return back.eval(c.e)
	}
	items := c.e.items(c.in)
	c.e.allocValues(len(items))
	out := make([]Value, 0, len(items))
	for i := len(items) - 1; i >= 0; i-- {
		out = append(out, items[i])
	}
	return c.generator(out)
}

func filterRound(c *call) Value {
	if !isNumber(c.in) {
		c.e.needDefined(c.in)
		c.e.fail("round needs a number, not %s", typeName(c.in))
	}
	precision := c.int(0, 0)
	unit := math.Pow(10, float64(precision))
	f := toFloat(c.in)
	switch method := c.text(1, "common").s; method {
	case "common":
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'f', int(min(max(precision, 0), 20)), 64), 64)
		if precision < 0 {
			f = math.RoundToEven(f*unit) / unit
		}
	case "ceil":
		f = math.Ceil(f*unit) / unit
	case "floor":
		f = math.Floor(f*unit) / unit
	default:
		c.e.fail("method must be common, ceil or floor, not '%s'", method)
	}
	if n, ok := toInt(c.in); ok && f == float64(n) {
		return n
	}
	return f
}

func filterSort(c *call) Value {
	return c.list(c.sorted(c.e.items(c.in), c.bool(0), func(v Value) Value {
		return c.folded(c.path(v, c.args[2]), c.bool(1))
	}))
}

func filterSum(c *call) Value {
	var total Value = int64(0)
	if c.args[1] != nil {
		total = c.args[1]
	}
	for _, v := range c.e.items(c.in) {
		sum := &mathExpr{"+", &constExpr{total}, &constExpr{c.path(v, c.args[0])}}
		total = c.e.eval(sum)
	}
	return total
}

func filterToJSON(c *call) Value {
	d := dumper{
		builder: c.e.builder(), ascii: c.bool(0), pretty: c.given(1), sortKeys: c.bool(3),
		item: ", ", key: ": ",
	}
	if d.pretty {
		d.item = ","
		if t, ok := c.args[1].(Text); ok {
			d.indent = t.s
		} else {
			d.indent = c.e.repeat(Own(" "), c.int(1, 0)).s
		}
	}
	if c.given(2) {
		s := c.e.items(c.args[2])
		if len(s) != 2 {
			c.e.fail("tojson needs two separators, got %d", len(s))
		}
		d.item, d.key = c.e.str(s[0]).s, c.e.str(s[1]).s
	}
	d.dump(c.in, 0)
	return d.text()
}

func filterTrim(c *call) Value {
	if c.given(0) {
		set := c.text(0, "").s
		return c.e.trim(c.e.str(c.in), &set, true, true)
	}
	return c.e.trim(c.e.str(c.in), nil, true, true)
}

func filterUnique(c *call) Value {
	var out []Value
	seen := NewDict()
	for _, v := range c.e.items(c.in) {
		key := c.folded(c.path(v, c.args[1]), c.bool(0))
		if _, ok := seen.get(key); ok {
			continue
		}
		c.e.allocValues(1)
		if !seen.set(key, true) {
			c.e.fail("unhashable type: '%s'", typeName(key))
		}
		out = c.keep(out, v)
	}
	return c.generator(out)
}

func filterWordcount(c *call) Value {
	return int64(len(strings.FieldsFunc(c.e.str(c.in).s, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})))
}
