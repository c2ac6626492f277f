// Package jinja renders chat templates: the part of the Jinja language that
// models ship their prompt format in, as Python's sandbox with trim_blocks,
// lstrip_blocks and loop controls renders it.
//
// It is not a general template engine. It differs from one in two ways, and
// both have to sit in the evaluator. Every string remembers which of its bytes
// came in from outside the template (Text), so that a prompt can be cut into
// what the model's author wrote and what a user wrote. And every step, byte,
// level of nesting and second is metered (Limits), because a template is data
// from a model file: it must not be able to hang or to exhaust the process.
package jinja

import (
	"fmt"
	"time"
)

// maxSourceBytes bounds the source of a template; the longest that models
// ship is about 25 KB.
const maxSourceBytes = 1 << 20

// Template is a parsed template. It is immutable: any number of goroutines
// may render it at the same time.
type Template struct {
	body []node
}

// Parse reads the source of a template. The error, if any, names the line.
func Parse(source string) (t *Template, err error) {
	if len(source) > maxSourceBytes {
		return nil, fmt.Errorf("the template has %d bytes, at most %d are read",
			len(source), maxSourceBytes)
	}
	defer catch(&err)
	p := &parser{toks: lex(source)}
	return &Template{body: p.template()}, nil
}

// Limits bound one rendering. All fields must be positive.
type Limits struct {
	OutputBytes int           // the longest string, the output included
	WorkBytes   int           // all strings and lists made along the way, together
	Steps       int           // expressions and loop rounds; long strings count for more
	Time        time.Duration // by the wall clock
}

// Render runs the template with vars as its variables, which stay as they are,
// and now as its clock. The error is a *Raised where the template itself
// refused, else an *Error.
func (t *Template) Render(vars map[string]Value, now func() time.Time, limits Limits) (
	out Text, err error,
) {
	defer catch(&err)
	e := &evaluator{
		meter: newMeter(limits),
		scope: &scope{up: &scope{vars: vars, up: &scope{vars: globals}}},
		now:   now,
	}
	e.out = e.builder()
	e.run(t.body)
	return e.out.text(), nil
}

// Error is a fault of the template or of what it was given.
type Error struct {
	Line    int // in the template's source, from 1
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// Raised is the refusal that a template speaks itself, by raise_exception.
type Raised struct {
	Message string
}

func (r *Raised) Error() string { return r.Message }

// abort carries an error up through the parser or evaluator: nearly every
// function in them can fail, and none of them can do anything about it.
type abort struct{ err error }

func fail(line int, format string, args ...any) {
	panic(abort{&Error{Line: line, Message: fmt.Sprintf(format, args...)}})
}

// catch is deferred where abort ends. Any other panic is a bug and goes on.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case abort:
		*err = r.err
	default:
		panic(r)
	}
}
