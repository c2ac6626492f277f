package budget

// The planner. Without a context it takes the largest at which the floor fits, then
// the formats with the least predicted distortion that fit at that context
// (choose.go, by a model of distortion.go). Where 16-bit rows fit, they are the plan,
// whatever the model. What the caller has fixed stays as it is and is checked.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"edgeinfer/arena"
	"edgeinfer/kernels"
)

// pagingContextTokens is the context of each session when nothing fits, the
// caller wants to go on regardless and names no context.
const pagingContextTokens = 512

// mostContextTokens is the largest context that is chosen: what the byte
// formula takes.
const mostContextTokens = 1 << 30

// DefaultFloor is the least quality the planner chooses by itself.
var DefaultFloor = pair(4, 3)

// DefaultWindowTiles and DefaultSinkTiles are kept in 16 bits where nobody says
// otherwise: the 32 to 63 newest tokens, and the first 32.
const (
	DefaultWindowTiles = 1
	DefaultSinkTiles   = 1
)

// Request is what a plan depends on.
type Request struct {
	Shape       []kernels.KVLayer // layers with a cache; K and V are ignored
	Sessions    int               // 0: 1
	WindowTiles int               // see kernels.KVGeometry
	SinkTiles   int               // see kernels.KVGeometry

	// Fixed are the lines no choice moves: weights, program image, tokenizer,
	// Go reserve, activations, logits. ContextDependent, when set, gives those
	// that depend on the cache, and must not shrink with the context. Lines
	// whose purpose is not Outside are arena memory and multiples of
	// arena.Align.
	Fixed            []arena.Line
	ContextDependent func(g kernels.KVGeometry) []arena.Line

	LimitBytes   int64  // all memory of the process
	LimitSource  string // where the limit comes from, for messages
	KVLimitBytes int64  // the cache alone (all kv lines); 0: no limit of its own
	PageBytes    int64  // page size of the arena's mapping; 0: this machine's

	ContextTokens int            // of all sessions together; 0: choose
	TrainedTokens int            // what the model was trained for: the most that is chosen, a session
	KV            []LayerFormats // [layers]; nil: choose
	Floor         []LayerFormats // [layers]; nil: DefaultFloor
	Planner       string         // "", Auto or one of Planners
	Predict       bool           // ask for facts even where no choice needs them
	AllowPaging   bool           // go on where memory does not suffice; the plan says so

	// Facts returns what the weights say, one entry for each layer of Shape; norms asks
	// for spectral norms too. It is called at most once, and only where it is needed;
	// nil: nothing is known.
	Facts       func(norms bool) ([]LayerFacts, error)
	Calibration []LayerCalibration // [layers]; nil: none
}

// Plan is what a start takes, to the byte.
type Plan struct {
	Geometry            kernels.KVGeometry
	Lines               []arena.Line // every purpose with bytes, in order; the ledger has the same
	TotalBytes          int64        // sum of Lines
	LimitBytes          int64
	LimitSource         string
	KVLimitBytes        int64  // 0: none
	Planner             string // who chose the formats
	Basis               string // what the predicted distortion rests on, in words
	GuardedLayers       int    // layers whose keys a guard gives more bits than the floor
	ContextTokens       int    // of all sessions together
	PredictedDistortion float64
	Paging              bool // TotalBytes is above LimitBytes and the caller allowed it
}

// ArenaBytes is what the arena must offer: the lines within its mapping but
// for the rounding to a page.
func (p Plan) ArenaBytes() int64 { return arenaBytes(p.Lines) }

func arenaBytes(lines []arena.Line) int64 {
	var sum int64
	for _, line := range lines {
		if !line.Purpose.Outside() && line.Purpose != arena.PageRounding {
			sum = saturated(sum, line.Bytes)
		}
	}
	return sum
}

// KVBytes is the whole cache, all its lines.
func (p Plan) KVBytes() int64 { return p.Geometry.Bytes().Total() }

// Formats returns the formats of each layer.
func (p Plan) Formats() []LayerFormats {
	formats := make([]LayerFormats, len(p.Geometry.Layers))
	for i, l := range p.Geometry.Layers {
		formats[i] = LayerFormats{l.K, l.V}
	}
	return formats
}

// Choice returns the formats as a plan's text has them, with window and sinks
// where they are not the default.
func (p Plan) Choice() Choice {
	c := Choice{Layers: p.Formats()}
	if tiles := p.Geometry.WindowTiles; tiles != DefaultWindowTiles {
		c.WindowTiles = &tiles
	}
	if tiles := p.Geometry.SinkTiles; tiles != DefaultSinkTiles {
		c.SinkTiles = &tiles
	}
	return c
}

// saturated adds sizes; what exceeds int64 is its largest value, which fits
// nowhere.
func saturated(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// Solve finds the plan. A Request that makes no sense is an error, one that
// does not fit a *TooSmallError.
func Solve(r Request) (Plan, error) {
	s, err := newSolver(r)
	if err == nil {
		err = s.learn()
	}
	if err != nil {
		return Plan{}, err
	}
	plan, ok := s.solve()
	if ok {
		return plan, nil
	}
	small := s.tooSmall(plan)
	if !r.AllowPaging || !s.cacheFits(plan) {
		return Plan{}, small
	}
	return s.page(), nil
}

// solver is a Request with its defaults filled in.
type solver struct {
	Request
	model *distortion
	most  int // the largest context that is chosen, tokens of all sessions
	step  int // contexts are multiples of it: a tile for each session
	// evictable leaves the weights out of what must fit: their pages can be
	// dropped and read again, which is what paging means.
	evictable bool
}

func newSolver(r Request) (*solver, error) {
	r.Sessions = max(r.Sessions, 1)
	if r.PageBytes == 0 {
		r.PageBytes = int64(arena.PageBytes())
	}
	if r.Floor == nil {
		r.Floor = uniform(DefaultFloor, len(r.Shape))
	}
	s := &solver{Request: r, step: kernels.TileTokens * r.Sessions}
	// The trained context comes from a file and may be anything.
	s.most = int(min(int64(r.TrainedTokens)*int64(r.Sessions), mostContextTokens))
	return s, s.check()
}

// learn sets the model. Facts of the weights take a pass over them, so they are left
// alone where nothing is to be chosen or 16-bit rows fit.
func (s *solver) learn() (err error) {
	s.model = uniformDistortion(len(s.Shape))
	if !s.Predict {
		if s.KV != nil {
			return nil
		}
		context, f16 := cmp.Or(s.ContextTokens, s.most), uniform(pair(16, 16), len(s.Shape))
		if s.fits(s.plan(context, f16)) {
			s.model.name = cmp.Or(strings.TrimPrefix(s.Planner, Auto), s.usual())
			return nil
		}
	}
	model, err := distortionOf(&s.Request)
	if err != nil && s.KV != nil && (s.Planner == "" || s.Planner == Auto) {
		return nil // a given plan needs no prediction
	}
	if err == nil {
		s.model = model
	}
	return err
}

// check refuses what no plan can be made of.
func (s *solver) check() error {
	for _, plan := range [][]LayerFormats{s.KV, s.Floor} {
		if plan != nil && len(plan) != len(s.Shape) {
			return fmt.Errorf("budget: formats for %d layers, the model has %d with a cache",
				len(plan), len(s.Shape))
		}
	}
	switch {
	case s.Planner != "" && s.Planner != Auto && !slices.Contains(Planners, s.Planner):
		return fmt.Errorf("budget: no planner %s; there are %s", quote(s.Planner),
			quotedList(Planners))
	case s.ContextTokens < 0:
		return fmt.Errorf("budget: context is %d tokens; it must be positive, or 0 to let the "+
			"planner choose", s.ContextTokens)
	case s.ContextTokens > 0 && s.ContextTokens < s.Sessions:
		return fmt.Errorf("budget: a context of %d tokens leaves none for each of %d sessions",
			s.ContextTokens, s.Sessions)
	case s.ContextTokens == 0 && s.TrainedTokens < 1:
		return fmt.Errorf("budget: the model states a context of %d tokens; give one",
			s.TrainedTokens)
	case s.KVLimitBytes < 0:
		return fmt.Errorf("budget: cache budget is %d bytes; it must not be negative",
			s.KVLimitBytes)
	}
	for _, line := range s.Fixed {
		if line.Bytes < 0 {
			return fmt.Errorf("budget: %s needs %d bytes; the sum overflows",
				line.Purpose, line.Bytes)
		}
	}
	formats := s.KV
	if formats == nil {
		formats = s.Floor
	}
	context := s.ContextTokens
	if context == 0 {
		context = s.context(1)
	}
	if err := s.geometry(context, formats).Check(); err != nil {
		return fmt.Errorf("budget: %w", err)
	}
	return nil
}

// context is the n-th context the planner may choose, from 1 to contexts.
func (s *solver) context(n int) int { return min(n*s.step, s.most) }

func (s *solver) contexts() int { return (s.most + s.step - 1) / s.step }

func (s *solver) geometry(contextTokens int, formats []LayerFormats) kernels.KVGeometry {
	g := kernels.KVGeometry{
		Layers:        make([]kernels.KVLayer, len(s.Shape)),
		ContextTokens: contextTokens, Sessions: s.Sessions,
		WindowTiles: s.WindowTiles, SinkTiles: s.SinkTiles,
	}
	for i, l := range s.Shape {
		l.K, l.V = formats[i].K, formats[i].V
		g.Layers[i] = l
	}
	return g
}

// plan itemises one choice, whether it fits or not.
func (s *solver) plan(contextTokens int, formats []LayerFormats) Plan {
	g := s.geometry(contextTokens, formats)
	var sums [arena.NumPurposes]int64
	add := func(lines []arena.Line) {
		for _, line := range lines {
			if line.Bytes < 0 {
				line.Bytes = math.MaxInt64
			}
			sums[line.Purpose] = saturated(sums[line.Purpose], line.Bytes)
		}
	}
	add(s.Fixed)
	add(cacheLines(g.Bytes()))
	if s.ContextDependent != nil {
		add(s.ContextDependent(g))
	}
	p := Plan{
		Geometry: g, LimitBytes: s.LimitBytes, LimitSource: s.LimitSource,
		KVLimitBytes: s.KVLimitBytes, Planner: s.model.name, Basis: s.model.basis,
		ContextTokens: contextTokens, PredictedDistortion: s.model.plan(formats),
	}
	if s.KV != nil {
		p.Planner = PlannerGiven
	}
	for purpose, bytes := range sums {
		if bytes > 0 {
			p.Lines = append(p.Lines, arena.Line{Purpose: arena.Purpose(purpose), Bytes: bytes})
		}
		p.TotalBytes = saturated(p.TotalBytes, bytes)
	}
	if rest := arenaBytes(p.Lines) % s.PageBytes; rest > 0 {
		p.Lines = append(p.Lines, arena.Line{Purpose: arena.PageRounding, Bytes: s.PageBytes - rest})
		p.TotalBytes = saturated(p.TotalBytes, s.PageBytes-rest)
	}
	return p
}

func cacheLines(b kernels.KVBytes) []arena.Line {
	return []arena.Line{
		{Purpose: arena.KVPayload, Bytes: b.Payload},
		{Purpose: arena.KVScales, Bytes: b.Scales},
		{Purpose: arena.KVPadding, Bytes: b.Padding},
		{Purpose: arena.KVWindow, Bytes: b.Window},
		{Purpose: arena.KeyMeans, Bytes: b.KeyMeans},
		{Purpose: arena.PageTable, Bytes: b.PageTable},
	}
}

func (s *solver) fits(p Plan) bool { return s.residentBytes(p) <= s.LimitBytes && s.cacheFits(p) }

func (s *solver) cacheFits(p Plan) bool {
	return s.KVLimitBytes == 0 || p.KVBytes() <= s.KVLimitBytes
}

// residentBytes is what must be in memory at the same time.
func (s *solver) residentBytes(p Plan) int64 {
	resident := p.TotalBytes
	for _, line := range p.Lines {
		if s.evictable && line.Purpose == arena.Weights && resident < math.MaxInt64 {
			resident -= line.Bytes
		}
	}
	return resident
}

// solve returns the best plan that fits, or the least one it looked for, which
// does not.
func (s *solver) solve() (Plan, bool) {
	if s.KV != nil {
		plan := s.plan(s.longest(s.KV), s.KV)
		return plan, s.fits(plan)
	}
	floor := s.guarded(s.Floor)
	context := s.longest(floor)
	if !s.fits(s.plan(context, floor)) { // guards are good advice, not a reason to refuse
		floor = s.Floor
		context = s.longest(floor)
	}
	plan := s.best(context, floor)
	for i := range floor {
		if floor[i].K != s.Floor[i].K {
			plan.GuardedLayers++
		}
	}
	return plan, s.fits(plan)
}

// longest is the context asked for, or the largest at which formats fit, or the
// smallest there is.
func (s *solver) longest(formats []LayerFormats) int {
	if s.ContextTokens != 0 {
		return s.ContextTokens
	}
	return s.context(max(1, s.largest(formats, s.contexts())))
}

// guarded raises the keys of a floor to what the model's guards ask for.
func (s *solver) guarded(floor []LayerFormats) []LayerFormats {
	if s.model.guards == nil {
		return floor
	}
	raised := slices.Clone(floor)
	for i, bits := range s.model.guards {
		if bits > raised[i].K.Bits {
			raised[i].K = kindDefaults(kernels.KVRows, 0, bits)
		}
	}
	return raised
}

// largest returns the largest n, at most limit, of which context(n) fits; 0
// when none does.
func (s *solver) largest(formats []LayerFormats, limit int) int {
	fit, over := 0, limit+1
	for over-fit > 1 {
		middle := fit + (over-fit)/2
		if s.fits(s.plan(s.context(middle), formats)) {
			fit = middle
		} else {
			over = middle
		}
	}
	return fit
}

// page makes the plan of a start that memory does not suffice for: first one
// of which all but the weights stays resident, else one as asked for.
func (s *solver) page() Plan {
	s.evictable = true
	plan, ok := s.solve()
	if !ok && s.ContextTokens == 0 {
		n := max(1, min(s.contexts(), pagingContextTokens/kernels.TileTokens))
		formats := s.KV
		if formats == nil {
			formats = s.Floor
		}
		if smaller := s.plan(s.context(n), formats); s.cacheFits(smaller) {
			plan = smaller
		}
	}
	plan.Paging = plan.TotalBytes > plan.LimitBytes
	return plan
}
