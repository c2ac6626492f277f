package edge

// Engine: a model in memory, within its plan. Start takes everything the plan
// lists, seals the arena and checks that plan and ledger are equal.

import (
	"fmt"
	"runtime/debug"
	"sync"

	"edgeinfer/arena"
	"edgeinfer/budget"
	"edgeinfer/edge/internal/workers"
	"edgeinfer/edge/kv"
	"edgeinfer/edge/model"
	"edgeinfer/edge/tokenizer"
	"edgeinfer/kernels"
)

// Engine runs one model. Its sessions share the weights, the cache's pages and
// the activations; one of them computes at a time.
type Engine struct {
	source    *Source
	plan      budget.Plan
	arena     *arena.Arena
	pool      *workers.Pool
	set       *kernels.Set
	cache     *kv.Cache
	model     *model.Model
	tokenizer *tokenizer.Tokenizer

	compute sync.Mutex // guards model, cache and the sessions' use of them
	free    chan *Session
}

// Open loads the model of o and starts it.
func Open(o Options) (*Engine, error) {
	s, err := Load(o)
	if err != nil {
		return nil, err
	}
	e, err := s.Start()
	if err != nil {
		s.Close()
		return nil, err
	}
	return e, nil
}

// Start plans, maps the arena and builds the model. It sets the Go memory
// limit of the process to what the plan reserves for Go. The engine owns s from
// then on.
func (s *Source) Start() (*Engine, error) {
	plan, err := s.Plan()
	if err != nil {
		return nil, err
	}
	s.file.WillNeed()
	t, err := tokenizer.New(s.vocab)
	if err != nil {
		return nil, inputError{err}
	}
	a, err := arena.New(plan.ArenaBytes(), arena.Options{Lock: s.options.Lock, HugePages: true})
	if err != nil {
		return nil, fmt.Errorf("edge: %w; a smaller --budget or --ctx-size needs less", err)
	}
	e := &Engine{source: s, plan: plan, arena: a, set: &s.set, tokenizer: t,
		pool: workers.New(s.options.Threads), free: make(chan *Session, s.options.Parallel)}
	if err := e.build(); err != nil {
		e.pool.Close()
		a.Close()
		return nil, err
	}
	return e, nil
}

// build takes everything from the arena and seals it.
func (e *Engine) build() (err error) {
	g, o := e.plan.Geometry, e.source.options
	if e.cache, err = kv.New(g, e.arena, e.set, e.pool); err != nil {
		return err
	}
	if err = e.calibrate(); err != nil {
		return err
	}
	context := contextPerSession(g)
	e.model = model.New(e.source.model, e.arena, e.set, e.pool, o.BatchTokens, o.LogitRows, context)
	for range o.Parallel {
		s := &Session{engine: e, rows: make([]int, 0, o.LogitRows)}
		s.history, s.buffers = sessionBuffers(e.arena, context, e.model.Spec().Vocab)
		e.free <- s
	}
	limit := int64(0)
	for _, l := range e.plan.Lines {
		if l.Purpose.Outside() {
			e.arena.Note(l.Purpose, l.Bytes)
		}
		if l.Purpose == arena.Tokenizer || l.Purpose == arena.GoReserve {
			limit += l.Bytes
		}
	}
	e.arena.Seal()
	e.mustMatch()
	debug.SetMemoryLimit(limit)
	return nil
}

// mustMatch panics where the ledger differs from the plan: the one formula and
// what was taken disagree, which is our bug.
func (e *Engine) mustMatch() {
	planned, used := [arena.NumPurposes]int64{}, [arena.NumPurposes]int64{}
	for _, l := range e.plan.Lines {
		planned[l.Purpose] += l.Bytes
	}
	for _, l := range e.arena.Ledger() {
		used[l.Purpose] += l.Bytes
	}
	for p := range planned {
		if planned[p] != used[p] {
			panic(fmt.Sprintf("edge: BUG: %v planned %d bytes, took %d",
				arena.Purpose(p), planned[p], used[p]))
		}
	}
}

// Plan returns the byte plan the engine runs by.
func (e *Engine) Plan() budget.Plan { return e.plan }

// Ledger returns what memory is used for, the same lines as the plan's.
func (e *Engine) Ledger() []arena.Line { return e.arena.Ledger() }

// UsedBytes is the sum of the ledger.
func (e *Engine) UsedBytes() int64 {
	var sum int64
	for _, l := range e.arena.Ledger() {
		sum += l.Bytes
	}
	return sum
}

// Arena returns the mapping, for what reports on it.
func (e *Engine) Arena() *arena.Arena { return e.arena }

// Spec returns the shape of the model.
func (e *Engine) Spec() *model.Spec { return e.model.Spec() }

// Tokenizer returns the model's tokenizer.
func (e *Engine) Tokenizer() *tokenizer.Tokenizer { return e.tokenizer }

// Kernels returns the name of the kernel set in use.
func (e *Engine) Kernels() string { return e.set.Name }

// Threads returns the number of compute threads.
func (e *Engine) Threads() int { return e.pool.Threads() }

// ContextTokens is the context of one session.
func (e *Engine) ContextTokens() int { return contextPerSession(e.plan.Geometry) }

// BatchTokens is the most tokens of one pass, LogitRows the most of them that
// get logits at once.
func (e *Engine) BatchTokens() int { return e.model.BatchTokens() }

// LogitRows: see BatchTokens.
func (e *Engine) LogitRows() int { return e.model.LogitRows() }

// NewSession returns a session, or ErrFull where all are in use.
func (e *Engine) NewSession() (*Session, error) {
	select {
	case s := <-e.free:
		e.compute.Lock()
		defer e.compute.Unlock()
		cache, err := e.cache.NewSession()
		if err != nil {
			e.free <- s
			return nil, fmt.Errorf("edge: %w: %w", ErrFull, err)
		}
		s.cache, s.length = cache, 0
		return s, nil
	default:
		return nil, fmt.Errorf("edge: %w: all %d are in use; see Options.Parallel",
			ErrFull, e.source.options.Parallel)
	}
}

// Exclusive runs work while no other session computes. The hidden states and
// logits of a pass belong to the engine: Session.Reset, Append, Project and
// Logits may be called within work alone, Generate and Eval outside of it.
func (e *Engine) Exclusive(work func() error) error {
	e.compute.Lock()
	defer e.compute.Unlock()
	return work()
}

// mustBeExclusive holds callers to Exclusive.
func (e *Engine) mustBeExclusive() {
	if e.compute.TryLock() {
		e.compute.Unlock()
		panic("edge: BUG: a session's pass outside Engine.Exclusive")
	}
}

// Close stops the workers and unmaps everything. No session may be in use.
func (e *Engine) Close() error {
	e.pool.Close()
	err := e.arena.Close()
	if cerr := e.source.Close(); err == nil {
		err = cerr
	}
	return err
}
