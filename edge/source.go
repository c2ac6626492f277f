package edge

// Source: a model file that was opened and checked, before any memory is
// taken. It answers what the model is and what a start would cost.

import (
	"cmp"
	"fmt"

	"edgeinfer/arena"
	"edgeinfer/budget"
	"edgeinfer/edge/gguf"
	"edgeinfer/edge/kv"
	"edgeinfer/edge/model"
	"edgeinfer/edge/sample"
	"edgeinfer/edge/tokenizer"
	"edgeinfer/kernels"
)

// goReserveBytes is what the Go runtime, its heap and its stacks may take
// besides the tokenizer. With the tokenizer's line it is the Go memory limit.
const goReserveBytes = 24 << 20

// Source is a checked model file with the options to run it.
type Source struct {
	options Options
	file    *gguf.File
	model   *model.Source
	vocab   tokenizer.Vocab
	set     kernels.Set
}

// Load opens and checks the model file of o. Nothing is mapped but the file.
func Load(o Options) (*Source, error) {
	if err := o.check(); err != nil {
		return nil, inputError{err}
	}
	set, err := kernels.ByName(o.Kernels)
	if err != nil {
		return nil, inputError{err}
	}
	f, err := OpenFile(o.Model, o.Overrides)
	if err != nil {
		return nil, err
	}
	s := &Source{options: o, file: f, set: set}
	if err := s.read(); err != nil {
		f.Close()
		return nil, inputError{err}
	}
	return s, nil
}

// read checks the model and its vocabulary.
func (s *Source) read() (err error) {
	if s.model, err = model.Open(s.file); err != nil {
		return err
	}
	if s.vocab, err = vocabulary(s.file); err != nil {
		return err
	}
	if n, rows := len(s.vocab.Tokens), s.model.Spec.Vocab; n > rows {
		return fmt.Errorf("%s: the vocabulary has %d tokens, token_embd.weight only %d rows",
			s.file.Name(), n, rows)
	}
	return nil
}

// File returns the model file.
func (s *Source) File() *gguf.File { return s.file }

// Spec returns the shape of the model.
func (s *Source) Spec() *model.Spec { return s.model.Spec }

// Close unmaps the file.
func (s *Source) Close() error { return s.file.Close() }

// Plan returns the byte plan of the source's options without taking memory.
func (s *Source) Plan() (budget.Plan, error) {
	r, err := s.request()
	if err != nil {
		return budget.Plan{}, err
	}
	plan, err := budget.Solve(r)
	if err != nil {
		return plan, inputError{err}
	}
	return plan, nil
}

// NextStep returns what the least more memory would buy over a plan of Plan; ok is
// false where that is nothing.
func (s *Source) NextStep(p budget.Plan) (step budget.Step, ok bool) {
	r, err := s.request()
	if err != nil {
		return step, false
	}
	r.LimitBytes = p.LimitBytes // free memory may have changed since
	return budget.Next(r, p)
}

// request is what the planner is asked.
func (s *Source) request() (budget.Request, error) {
	o, spec := s.options, s.model.Spec
	r := budget.Request{
		Shape: spec.Shape(), Sessions: o.Parallel, WindowTiles: o.window(), SinkTiles: o.sinks(),
		ContextTokens: o.ContextTokens, TrainedTokens: spec.ContextTokens,
		KVLimitBytes: o.KVBudgetBytes, AllowPaging: o.AllowPaging, Planner: o.Planner,
		ContextDependent: s.contextLines,
	}
	err := choose(&r, o, len(spec.Layers))
	if err == nil {
		r.Fixed, err = s.fixedLines()
	}
	if err != nil {
		return r, inputError{err}
	}
	if r.LimitBytes, r.LimitSource = o.BudgetBytes, "--budget"; r.LimitBytes == 0 {
		r.LimitBytes, r.LimitSource, err = o.limit()
	}
	return r, err
}

// choose puts the plan texts of o into r. A window and sinks that the plan names
// count more than those of the options.
func choose(r *budget.Request, o Options, layers int) error {
	wanted, err := budget.ParsePlan(cmp.Or(o.KV, budget.Auto), layers)
	if err != nil {
		return err
	}
	least, err := budget.ParsePlan(cmp.Or(o.Floor, budget.Auto), layers)
	if err != nil {
		return fmt.Errorf("the floor: %w", err)
	}
	if least.WindowTiles != nil || least.SinkTiles != nil {
		return fmt.Errorf("the floor %q names a window or sinks; it is about formats alone", o.Floor)
	}
	r.KV, r.Floor = wanted.Layers, least.Layers
	if wanted.WindowTiles != nil {
		r.WindowTiles = *wanted.WindowTiles
	}
	if wanted.SinkTiles != nil {
		r.SinkTiles = *wanted.SinkTiles
	}
	return nil
}

// fixedLines are the lines of the plan that no choice of the planner moves.
func (s *Source) fixedLines() ([]arena.Line, error) {
	lines, err := s.model.Spec.Lines(s.options.BatchTokens, s.options.LogitRows)
	if err != nil {
		return nil, err
	}
	image, weights := imageBytes(), int64(0)
	for _, part := range s.file.Parts() {
		weights += arena.RoundPage(part.Bytes)
	}
	if s.options.Model == "" {
		weights = s.file.Size() // they are part of the program image
		image = max(0, image-weights)
	}
	return append(lines,
		arena.Line{Purpose: arena.Weights, Bytes: weights},
		arena.Line{Purpose: arena.ProgramImage, Bytes: image},
		arena.Line{Purpose: arena.Tokenizer, Bytes: tokenizer.Bytes(s.vocab)},
		arena.Line{Purpose: arena.GoReserve, Bytes: goReserveBytes},
	), nil
}

// contextLines are the lines that depend on the cache's geometry: the scratch
// of attention and, a session, the history of tokens and the sampler's buffers.
func (s *Source) contextLines(g kernels.KVGeometry) []arena.Line {
	scratch := kv.ScratchBytes(g, s.options.Threads, s.options.BatchTokens)
	perSession := arena.Round(4*int64(contextPerSession(g))) +
		arena.Round(candidateBytes*int64(s.model.Spec.Vocab)) + arena.Round(4*int64(s.model.Spec.Vocab))
	return []arena.Line{{Purpose: arena.Scratch, Bytes: scratch + int64(g.Sessions)*perSession}}
}

// candidateBytes is the size of a sample.Candidate.
const candidateBytes = 8

// contextPerSession is the context of one session: -c is the total.
func contextPerSession(g kernels.KVGeometry) int { return g.ContextTokens / g.Sessions }

// sessionBuffers takes what contextLines planned for one session.
func sessionBuffers(a *arena.Arena, contextTokens, vocab int) ([]int32, sample.Buffers) {
	return arena.Slice[int32](a, arena.Scratch, contextTokens), sample.Buffers{
		Candidates: arena.Slice[sample.Candidate](a, arena.Scratch, vocab),
		Stamps:     arena.Slice[uint32](a, arena.Scratch, vocab),
	}
}
