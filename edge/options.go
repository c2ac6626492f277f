package edge

import (
	"errors"
	"fmt"

	"edgeinfer/budget"
)

// Options say which model to run and in what bounds. The zero value runs the
// embedded model with everything chosen by the planner.
type Options struct {
	Model string // path of a GGUF file; "" is the embedded model
	// Overrides replace or add metadata, as KEY=TYPE:VALUE; see gguf.File.Override.
	Overrides []string
	// ChatTemplate is the path of a template that replaces the model's, or the
	// name of a built-in one.
	ChatTemplate string

	ContextTokens int    // of all sessions together; 0: the planner chooses
	Threads       int    // 0: the fast cores that this process may use
	BatchTokens   int    // tokens of one pass through a prompt; 0: DefaultBatchTokens
	KV            string // plan text such as k4v2; "" or "auto": the planner chooses
	BudgetBytes   int64  // all memory of the process; 0: what this machine grants
	KVBudgetBytes int64  // the cache alone; 0: no limit of its own
	Floor         string // the least quality the planner may choose; "": its default
	Planner       string // distortion model; "": the default
	Calibration   string // path of what was measured of the model; "": none
	Kernels       string // a kernel set by name; "": the best this CPU has
	Board         string // a board by name; "": what this machine is detected as
	WindowTiles   *int   // recent tiles kept in 16 bits besides the own; −1: none; nil: 1
	SinkTiles     *int   // first tiles kept in 16 bits, 0 or 1; nil: 1
	Parallel      int    // sessions at a time; 0: 1
	LogitRows     int    // tokens of a pass that get logits at once; 0: Parallel
	AllowPaging   bool   // start although memory does not suffice
	Lock          bool   // lock the arena into memory, where allowed
}

// DefaultBatchTokens is the default of Options.BatchTokens: large enough that
// a prompt is bound by arithmetic, small enough that activations stay small.
const DefaultBatchTokens = 128

// maxThreads, maxBatchTokens and maxParallel bound what buffers are sized by.
const (
	maxThreads     = 256
	maxBatchTokens = 8192
	maxParallel    = 256
)

// check fills in defaults and refuses what is out of range.
func (o *Options) check() error {
	machine, err := o.machine()
	if err != nil {
		return err
	}
	if o.Threads == 0 {
		o.Threads = defaultThreads(machine)
	}
	if o.BatchTokens == 0 {
		o.BatchTokens = DefaultBatchTokens
	}
	if o.Parallel == 0 {
		o.Parallel = 1
	}
	if o.LogitRows == 0 {
		o.LogitRows = min(o.Parallel, o.BatchTokens)
	}
	inRange := func(name string, v, low, high int) error {
		if v < low || v > high {
			return fmt.Errorf("edge: %s is %d, must be between %d and %d", name, v, low, high)
		}
		return nil
	}
	window, sinks := o.window(), o.sinks()
	err = errors.Join(
		inRange("threads", o.Threads, 1, maxThreads),
		inRange("batch size", o.BatchTokens, 1, maxBatchTokens),
		inRange("parallel", o.Parallel, 1, maxParallel),
		inRange("rows of logits", o.LogitRows, 1, o.BatchTokens),
		inRange("window", window, -1, 1<<20),
		inRange("sinks", sinks, 0, 1),
	)
	if o.ContextTokens < 0 {
		err = errors.Join(err, fmt.Errorf("edge: context size is %d, must be positive "+
			"(or 0: the planner chooses)", o.ContextTokens))
	}
	if o.BudgetBytes < 0 || o.KVBudgetBytes < 0 {
		err = errors.Join(err, errors.New("edge: a budget is negative"))
	}
	return err
}

func (o *Options) window() int {
	if o.WindowTiles == nil {
		return budget.DefaultWindowTiles
	}
	return *o.WindowTiles
}

func (o *Options) sinks() int {
	if o.SinkTiles == nil {
		return budget.DefaultSinkTiles
	}
	return *o.SinkTiles
}

// inputError marks an error that the caller's input caused.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

// IsInputError says whether err was caused by what the caller gave: a file, an
// option, a prompt. Programs exit with status 2 on it.
func IsInputError(err error) bool {
	var input inputError
	var small *budget.TooSmallError
	return errors.As(err, &input) || errors.As(err, &small)
}
