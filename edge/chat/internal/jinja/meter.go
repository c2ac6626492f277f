package jinja

import "time"

// The meter is what makes a rendering end. Everything that takes time calls
// step, everything that takes memory calls alloc, everything that recurses
// calls enter and leave. Memory is counted as it is made and never given back:
// a bound on the sum is a bound on what can be alive.

// maxDepth bounds the nesting of evaluation (expressions in statements in
// macros) and of the values that are walked. It keeps the stack near 1 MB;
// running out of stack cannot be recovered from in Go.
const maxDepth = 1000

// clockSteps is how many steps pass between two looks at the clock: some
// hundred microseconds.
const clockSteps = 4096

// bytesPerStep is the length of string that costs as much as one step.
const bytesPerStep = 64

// valueBytes is what an element of a list or an entry of a dict is counted for.
const valueBytes = 32

type meter struct {
	limits   Limits
	line     int // of the statement that is running
	steps    int // left
	bytes    int // left
	depth    int
	look     int // the clock is looked at when steps falls below this
	deadline time.Time
}

func newMeter(limits Limits) meter {
	return meter{
		limits:   limits,
		line:     1,
		steps:    limits.Steps,
		bytes:    limits.WorkBytes,
		look:     limits.Steps - clockSteps,
		deadline: time.Now().Add(limits.Time),
	}
}

// step counts n units of work.
func (m *meter) step(n int) {
	if n > m.steps {
		m.fail("the template takes more than %d steps", m.limits.Steps)
	}
	m.steps -= n
	if m.steps < m.look {
		m.look = m.steps - clockSteps
		if time.Now().After(m.deadline) {
			m.fail("the template takes longer than %v", m.limits.Time)
		}
	}
}

// scan counts the work of going over n bytes.
func (m *meter) scan(n int) { m.step(1 + n/bytesPerStep) }

// alloc counts n bytes of memory, and the work of filling them.
func (m *meter) alloc(n int) {
	if n > m.bytes {
		m.fail("the template takes more than %d bytes of memory", m.limits.WorkBytes)
	}
	m.bytes -= n
	m.scan(n)
}

// allocValues counts a list of n elements or a dict of n entries.
func (m *meter) allocValues(n int) {
	if n > m.bytes/valueBytes {
		m.alloc(m.bytes + 1)
	}
	m.alloc(n * valueBytes)
}

func (m *meter) enter() {
	m.depth++
	if m.depth > maxDepth {
		m.fail("the template nests deeper than %d levels", maxDepth)
	}
}

func (m *meter) leave() { m.depth-- }

func (m *meter) fail(format string, args ...any) { fail(m.line, format, args...) }
