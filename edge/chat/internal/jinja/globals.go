package jinja

import (
	"fmt"
	"strings"
	"time"
)

// The functions that every template has.

// maxRange is the longest range, as in Python's sandbox.
const maxRange = 100000

// globals is never written after start, so renderings share it.
var globals map[string]Value

func init() {
	globals = map[string]Value{}
	for name, b := range map[string]builtin{
		"cycler":          {nil, cycler},
		"dict":            {nil, newDict},
		"joiner":          {[]string{"sep"}, joiner},
		"namespace":       {nil, newNamespace},
		"raise_exception": {[]string{"message"}, raiseException},
		"range":           {nil, newRange},
		"strftime_now":    {[]string{"format"}, strftimeNow},
	} {
		globals[name] = &function{name, func(c *call) Value {
			return c.e.apply(name, b, nil, c)
		}}
	}
}

func raiseException(c *call) Value {
	panic(abort{&Raised{Message: c.e.str(c.need(0)).s}})
}

func newRange(c *call) Value {
	if len(c.args) < 1 || len(c.args) > 3 {
		c.e.fail("range takes 1 to 3 arguments, got %d", len(c.args))
	}
	bounds := []int64{0, 0, 1}
	for i := range c.args {
		bounds[i] = c.int(i, 0)
	}
	if len(c.args) == 1 {
		bounds[0], bounds[1] = 0, bounds[0]
	}
	start, stop, step := bounds[0], bounds[1], bounds[2]
	if step == 0 {
		c.e.fail("range: the step must not be zero")
	}
	var out []Value
	for i := start; step > 0 && i < stop || step < 0 && i > stop; i += step {
		if len(out) == maxRange {
			c.e.fail("Range too big. The sandbox blocks ranges larger than %d.", maxRange)
		}
		out = c.keep(out, i)
		if next := i + step; (next > i) != (step > 0) {
			break // The next number does not fit in 64 bits.
		}
	}
	return c.list(out)
}

func newDict(c *call) Value {
	d := NewDict()
	if len(c.args) > 0 {
		from, ok := c.args[0].(*Dict)
		if !ok || len(c.args) > 1 {
			c.e.fail("dict takes one dict and named values")
		}
		c.e.allocValues(len(from.keys))
		for i, key := range from.keys {
			d.set(key, from.values[i])
		}
	}
	for _, n := range c.named {
		d.set(Own(n.name), n.v)
	}
	return d
}

func newNamespace(c *call) Value {
	d := newDict(c).(*Dict)
	ns := &namespace{names: map[string]Value{}}
	for i, key := range d.keys {
		ns.names[c.e.str(key).s] = d.values[i]
	}
	return ns
}

// joiner returns a function that gives nothing first and then the separator.
func joiner(c *call) Value {
	sep, used := c.text(0, ", "), false
	return &function{"joiner", func(*call) Value {
		if !used {
			used = true
			return Text{}
		}
		return sep
	}}
}

func cycler(c *call) Value {
	items, at := c.args, 0
	if len(items) == 0 {
		c.e.fail("cycler: no items for cycling given")
	}
	next := &function{"next", func(*call) Value {
		v := items[at]
		at = (at + 1) % len(items)
		return v
	}}
	reset := &function{"reset", func(*call) Value {
		at = 0
		return None{}
	}}
	return &object{name: "Cycler", attr: func(name string) (Value, bool) {
		switch name {
		case "next":
			return next, true
		case "reset":
			return reset, true
		case "current":
			return items[at], true
		}
		return nil, false
	}}
}

// longestTime is how much longer than its format a time can be.
const longestTime = 16

func strftimeNow(c *call) Value {
	format := c.e.str(c.need(0)).s
	c.e.alloc(longestTime * len(format))
	return Own(strftime(c.e.now(), format))
}

// goLayouts are the conversions of strftime that Go has a layout for, in the
// C locale.
var goLayouts = map[byte]string{
	'A': "Monday", 'a': "Mon", 'B': "January", 'b': "Jan", 'h': "Jan", 'c': "Mon Jan _2 15:04:05 2006",
	'D': "01/02/06", 'x': "01/02/06", 'd': "02", 'e': "_2", 'F': "2006-01-02", 'H': "15", 'I': "03",
	'j': "002", 'M': "04", 'm': "01", 'p': "PM", 'R': "15:04", 'S': "05", 'T': "15:04:05",
	'X': "15:04:05", 'Y': "2006", 'y': "06", 'Z': "MST", 'z': "-0700",
}

// strftime formats a time as C and Python do. A dash after the percent sign
// takes leading zeros off; an unknown conversion stays as it is.
func strftime(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		start := i
		i++
		bare := format[i] == '-' && i+1 < len(format)
		if bare {
			i++
		}
		out := format[start : i+1]
		switch c := format[i]; c {
		case '%':
			out = "%"
		case 'n':
			out = "\n"
		case 't':
			out = "\t"
		case 'f':
			out = fmt.Sprintf("%06d", t.Nanosecond()/1000)
		case 's':
			out = fmt.Sprint(t.Unix())
		case 'u':
			out = fmt.Sprint((int(t.Weekday())+6)%7 + 1)
		case 'w':
			out = fmt.Sprint(int(t.Weekday()))
		default:
			if layout, ok := goLayouts[c]; ok {
				out = t.Format(layout)
			}
		}
		if bare {
			if out = strings.TrimLeft(out, "0 "); out == "" {
				out = "0"
			}
		}
		b.WriteString(out)
	}
	return b.String()
}
