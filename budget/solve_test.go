package budget

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"edgeinfer/arena"
	"edgeinfer/kernels"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// smol is the shape of SmolLM2-135M.
func smol() []kernels.KVLayer {
	return slices.Repeat([]kernels.KVLayer{{QueryHeads: 9, KVHeads: 3, HeadDim: 64}}, 30)
}

// smolRequest needs about 120 MiB besides the cache.
func smolRequest(limitBytes int64) Request {
	return Request{
		Shape: smol(), Sessions: 1, WindowTiles: 1, SinkTiles: 1,
		Fixed: []arena.Line{
			{Purpose: arena.Weights, Bytes: 90 << 20}, {Purpose: arena.ProgramImage, Bytes: 6 << 20},
			{Purpose: arena.GoReserve, Bytes: 24 << 20}, {Purpose: arena.Logits, Bytes: 49152 * 4},
		},
		ContextDependent: func(g kernels.KVGeometry) []arena.Line {
			return []arena.Line{{Purpose: arena.Scratch, Bytes: arena.Round(4 * int64(g.ContextTokens))}}
		},
		LimitBytes: limitBytes, LimitSource: "--budget", TrainedTokens: 8192,
	}
}

func solve(t *testing.T, r Request) Plan {
	t.Helper()
	p, err := Solve(r)
	if err != nil {
		t.Fatalf("Solve = %v", err)
	}
	return p
}

func formats(t *testing.T, text string) []LayerFormats {
	t.Helper()
	choice, err := ParsePlan(text, 30)
	if err != nil {
		t.Fatal(err)
	}
	return choice.Layers
}

func TestWhereEverythingFitsThePlanIsF16(t *testing.T) {
	p := solve(t, smolRequest(1<<40))
	if got := FormatPlan(p.Formats()); got != "f16" || p.ContextTokens != 8192 {
		t.Errorf("ample plan = %s at %d tokens; want f16 at 8192", got, p.ContextTokens)
	}
	if p.Planner != PlannerUniform || p.Paging || p.LimitSource != "--budget" {
		t.Errorf("plan = %+v", p)
	}
}

func TestContextFirstThenBits(t *testing.T) {
	whole := solve(t, smolRequest(1<<40))
	floor := solve(t, func() Request {
		r := smolRequest(1 << 40)
		r.KV = formats(t, "k4v3")
		return r
	}())
	if floor.Planner != PlannerGiven {
		t.Errorf("planner of given formats = %q; want %q", floor.Planner, PlannerGiven)
	}
	for _, c := range []struct {
		name    string
		limit   int64
		context int
		least   string
	}{
		{"a byte less than f16 at the trained context", whole.TotalBytes - 1, 8192, "k16v8/v.g=16"},
		{"just the floor at the trained context", floor.TotalBytes, 8192, "k4v3"},
		{"a byte less than that", floor.TotalBytes - 1, 8160, "k4v3"},
	} {
		p := solve(t, smolRequest(c.limit))
		if got := FormatPlan(p.Formats()); got != c.least || p.ContextTokens != c.context {
			t.Errorf("%s: %s at %d tokens; want %s at %d", c.name, got, p.ContextTokens,
				c.least, c.context)
		}
		if p.TotalBytes > c.limit {
			t.Errorf("%s: plan of %d bytes under a limit of %d", c.name, p.TotalBytes, c.limit)
		}
	}
}

func TestLinesAreTheGivenOnesAndTheCache(t *testing.T) {
	r := smolRequest(1 << 40)
	r.KV, r.ContextTokens, r.PageBytes = formats(t, "0-9:k8v6,10-29:k4v3"), 1000, 16384
	p := solve(t, r)
	if got := FormatPlan(p.Formats()); got != "0-9:k8v6,10-29:k4v3" || p.ContextTokens != 1000 {
		t.Errorf("plan = %s at %d; want what was given", got, p.ContextTokens)
	}
	cache := p.Geometry.Bytes()
	want := []arena.Line{
		{Purpose: arena.Weights, Bytes: 90 << 20}, {Purpose: arena.ProgramImage, Bytes: 6 << 20},
		{Purpose: arena.KVPayload, Bytes: cache.Payload}, {Purpose: arena.KVScales, Bytes: cache.Scales},
		{Purpose: arena.KVPadding, Bytes: cache.Padding}, {Purpose: arena.KVWindow, Bytes: cache.Window},
		{Purpose: arena.KeyMeans, Bytes: cache.KeyMeans},
		{Purpose: arena.PageTable, Bytes: cache.PageTable},
		{Purpose: arena.Scratch, Bytes: 4032}, {Purpose: arena.Logits, Bytes: 49152 * 4},
		{Purpose: arena.GoReserve, Bytes: 24 << 20},
	}
	inside := cache.Total() + 4032 + 49152*4
	rounding := (16384 - inside%16384) % 16384
	want = append(want, arena.Line{Purpose: arena.PageRounding, Bytes: rounding})
	want = slices.DeleteFunc(want, func(l arena.Line) bool { return l.Bytes == 0 })
	if diff := cmp.Diff(want, p.Lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if p.ArenaBytes() != inside || p.KVBytes() != cache.Total() {
		t.Errorf("ArenaBytes = %d, KVBytes = %d; want %d, %d", p.ArenaBytes(), p.KVBytes(), inside,
			cache.Total())
	}
	if want := inside + rounding + 120<<20; p.TotalBytes != want {
		t.Errorf("TotalBytes = %d; want %d", p.TotalBytes, want)
	}
}

// TestArenaHasTheSameLines takes what a plan lists and compares the ledger.
func TestArenaHasTheSameLines(t *testing.T) {
	r := smolRequest(1 << 40)
	r.ContextTokens = 333
	p := solve(t, r)
	a, err := arena.New(p.ArenaBytes(), arena.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var inside []arena.Line
	for _, line := range p.Lines {
		switch {
		case line.Purpose.Outside():
			a.Note(line.Purpose, line.Bytes)
		case line.Purpose != arena.PageRounding:
			inside = append(inside, line)
		}
	}
	a.Take(inside...)
	if diff := cmp.Diff(p.Lines, a.Ledger()); diff != "" {
		t.Errorf("plan and ledger (-plan +ledger):\n%s", diff)
	}
}

func TestTooSmall(t *testing.T) {
	base := smolRequest(130 << 20)
	with := func(change func(r *Request)) Request {
		r := base
		change(&r)
		return r
	}
	for _, c := range []struct {
		name    string
		request Request
		want    []string
		not     []string
	}{
		{"weights alone are too large", with(func(r *Request) { r.LimitBytes = 64 << 20 }),
			[]string{"a context of 32 tokens with k4v3 needs 12", "there are 64.0 MiB (--budget)",
				"--budget 12", "would do", "--allow-paging"},
			[]string{"--ctx-size", "--kv "}},
		{"no memory at all", with(func(r *Request) { r.LimitBytes, r.LimitSource = -5, "cgroup v2 x" }),
			[]string{"there are 0 B (cgroup v2 x)"}, []string{"fits"}},
		{"context too long for the floor", with(func(r *Request) { r.ContextTokens = 8192 }),
			[]string{"a context of 8192 tokens with k4v3 needs", "--ctx-size ", "--budget 165MiB"}, nil},
		{"context fits below the floor", with(func(r *Request) {
			r.ContextTokens, r.LimitBytes = 4096, 139<<20
		}), []string{"with k4v3 needs", "--kv k", "--ctx-size"}, nil},
		{"a plan that is too good", with(func(r *Request) {
			r.ContextTokens, r.KV = 1024, formats(t, "0-3:f16,4-29:k8v8")
		}), []string{"with 0-3:f16,4-29:k8v8 needs", "--kv k", "--ctx-size"}, nil},
		{"a cache budget", with(func(r *Request) {
			r.LimitBytes, r.KVLimitBytes, r.ContextTokens = 1<<40, 10<<20, 8192
		}), []string{"the cache of a context of 8192 tokens with k4v3 needs ",
			"there are 10.0 MiB (--kv-budget)", "--ctx-size", "--kv-budget 44MiB would do"},
			[]string{"--allow-paging", "--budget"}},
		{"both budgets", with(func(r *Request) { r.KVLimitBytes, r.ContextTokens = 10<<20, 8192 }),
			[]string{"(--budget)", "--budget 165MiB with --kv-budget 44MiB would do"},
			[]string{"--allow-paging"}},
	} {
		_, err := Solve(c.request)
		var small *TooSmallError
		if !errors.As(err, &small) {
			t.Errorf("%s: Solve = %v; want a TooSmallError", c.name, err)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q; want it to say %q", c.name, err, part)
			}
		}
		for _, part := range c.not {
			if strings.Contains(strings.ReplaceAll(err.Error(), "--kv-budget", "kvb"), part) {
				t.Errorf("%s: %q; must not say %q", c.name, err, part)
			}
		}
		checkWaysOut(t, c.name, c.request, small)
	}
}

// reporter is what *testing.T and *rapid.T have in common.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// checkWaysOut follows every way out that an error offers.
func checkWaysOut(t reporter, name string, r Request, e *TooSmallError) {
	t.Helper()
	follow := func(way string, change func(r *Request)) {
		t.Helper()
		changed := r
		change(&changed)
		if _, err := Solve(changed); err != nil {
			t.Errorf("%s: %q offers %s; with it: %v", name, e, way, err)
		}
	}
	asked := func(r *Request) { r.KV = mustParse(t, e.Plan, len(r.Shape)) }
	if e.FitsContextTokens > 0 {
		if e.FitsContextTokens >= e.ContextTokens {
			t.Errorf("%s: offers a context of %d instead of %d", name, e.FitsContextTokens, e.ContextTokens)
		}
		follow("a context", func(r *Request) { asked(r); r.ContextTokens = e.FitsContextTokens })
	}
	if e.FitsPlan != "" {
		follow("a plan", func(r *Request) {
			r.KV, r.ContextTokens = mustParse(t, e.FitsPlan, len(r.Shape)), e.ContextTokens
		})
	}
	follow("a budget", func(r *Request) {
		need := parsed(t, flagSize(e.NeedBytes))
		if e.CacheOnly {
			r.KVLimitBytes = need
			return
		}
		if r.LimitBytes = need; e.KVBytes > 0 {
			r.KVLimitBytes = parsed(t, flagSize(e.KVBytes))
		}
	})
}

func parsed(t reporter, text string) int64 {
	t.Helper()
	size, err := ParseSize(text)
	if err != nil {
		t.Fatal(err)
	}
	return size
}

func mustParse(t reporter, text string, layers int) []LayerFormats {
	t.Helper()
	choice, err := ParsePlan(text, layers)
	if err != nil {
		t.Fatal(err)
	}
	return choice.Layers
}

func TestAllowPaging(t *testing.T) {
	r := smolRequest(64 << 20)
	r.AllowPaging = true
	// All but the 90 MiB of weights fits: the cache gets what is left.
	p := solve(t, r)
	resident := p.TotalBytes - 90<<20
	if !p.Paging || p.TotalBytes <= r.LimitBytes || resident > r.LimitBytes || p.ContextTokens < 4096 {
		t.Errorf("plan = paging %v, %d of %d bytes, %d resident, %d tokens; want the weights paged",
			p.Paging, p.TotalBytes, r.LimitBytes, resident, p.ContextTokens)
	}
	// Nothing fits at all.
	r.LimitBytes = 1 << 20
	if p := solve(t, r); !p.Paging || p.ContextTokens != 512 || FormatPlan(p.Formats()) != "k4v3" {
		t.Errorf("plan = paging %v, %s at %d; want the floor at 512", p.Paging,
			FormatPlan(p.Formats()), p.ContextTokens)
	}
	r.ContextTokens, r.KV = 4096, formats(t, "f16")
	if p := solve(t, r); !p.Paging || p.ContextTokens != 4096 || FormatPlan(p.Formats()) != "f16" {
		t.Errorf("plan = paging %v, %s at %d; want what was asked for", p.Paging,
			FormatPlan(p.Formats()), p.ContextTokens)
	}
	// The cache's own limit is a wish of the caller's and holds.
	r.KVLimitBytes = 1 << 20
	var small *TooSmallError
	if _, err := Solve(r); !errors.As(err, &small) {
		t.Errorf("Solve with a cache over its budget = %v; want a TooSmallError", err)
	}
	// Where everything fits the flag changes nothing.
	plain, flagged := smolRequest(200<<20), smolRequest(200<<20)
	flagged.AllowPaging = true
	if diff := cmp.Diff(solve(t, plain), solve(t, flagged)); diff != "" {
		t.Errorf("AllowPaging changes a plan that fits:\n%s", diff)
	}
}

func TestRequestsThatMakeNoSense(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(r *Request)
		want   string
	}{
		{"no layers", func(r *Request) { r.Shape = nil }, "at least one layer"},
		{"formats for other layers", func(r *Request) { r.KV = uniform(pair(4, 4), 29) },
			"formats for 29 layers, the model has 30"},
		{"floor for other layers", func(r *Request) { r.Floor = uniform(pair(4, 4), 31) },
			"formats for 31 layers"},
		{"planner", func(r *Request) { r.Planner = "best" }, `no planner "best"; there are "uniform", `},
		{"negative context", func(r *Request) { r.ContextTokens = -1 }, "context is -1 tokens"},
		{"huge context", func(r *Request) { r.ContextTokens = math.MaxInt32 }, "context is 2147483647"},
		{"context smaller than sessions", func(r *Request) { r.Sessions, r.ContextTokens = 4, 3 },
			"leaves none for each of 4 sessions"},
		{"no trained context", func(r *Request) { r.TrainedTokens = 0 }, "states a context of 0"},
		{"negative cache budget", func(r *Request) { r.KVLimitBytes = -1 }, "cache budget is -1"},
		{"negative line", func(r *Request) { r.Fixed = []arena.Line{{Purpose: arena.Logits, Bytes: -8}} },
			"logits needs -8 bytes"},
		{"window", func(r *Request) { r.WindowTiles = -2 }, "window is -2 tiles"},
		{"heads", func(r *Request) { r.Shape[3].KVHeads = 0 }, "layer 3: "},
		{"sessions", func(r *Request) { r.Sessions = 1 << 20 }, "1048576 sessions"},
	} {
		r := smolRequest(1 << 40)
		c.change(&r)
		_, err := Solve(r)
		var small *TooSmallError
		if err == nil || errors.As(err, &small) || !strings.HasPrefix(err.Error(), "budget: ") ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Solve = %v; want budget: … %q", c.name, err, c.want)
		}
	}
}

func TestTrainedContextOfAnySize(t *testing.T) {
	for _, trained := range []int{1, 31, 32, 33, 1000, math.MaxInt32} {
		for _, sessions := range []int{1, 3} {
			r := smolRequest(1 << 33)
			r.TrainedTokens, r.Sessions = trained, sessions
			p := solve(t, r)
			if trained < 2000 && p.ContextTokens != trained*sessions {
				t.Errorf("trained on %d, %d sessions: context %d", trained, sessions, p.ContextTokens)
			}
			if p.TotalBytes > r.LimitBytes {
				t.Errorf("trained on %d: %d bytes of %d", trained, p.TotalBytes, r.LimitBytes)
			}
		}
	}
}

func TestHugeLinesDoNotWrap(t *testing.T) {
	r := smolRequest(math.MaxInt64 - 1)
	r.Fixed = []arena.Line{{Purpose: arena.Logits, Bytes: math.MaxInt64 - 63},
		{Purpose: arena.Scratch, Bytes: math.MaxInt64 - 63}}
	var small *TooSmallError
	if _, err := Solve(r); !errors.As(err, &small) || small.NeedBytes != math.MaxInt64 {
		t.Errorf("Solve = %v; want a refusal at the largest size", err)
	}
}

// drawRequest draws a model, a machine and wishes.
func drawRequest(t *rapid.T) Request {
	layers := rapid.IntRange(1, 6).Draw(t, "layers")
	shape := make([]kernels.KVLayer, layers)
	for i := range shape {
		heads := rapid.IntRange(1, 4).Draw(t, "kvHeads")
		shape[i] = kernels.KVLayer{
			QueryHeads: heads * rapid.IntRange(1, 3).Draw(t, "group"), KVHeads: heads,
			HeadDim:      rapid.SampledFrom([]int{8, 64, 72, 80, 128}).Draw(t, "headDim"),
			WindowTokens: rapid.SampledFrom([]int{0, 0, 0, 100, 512}).Draw(t, "windowTokens"),
		}
	}
	perToken := rapid.Int64Range(0, 100).Draw(t, "perToken")
	r := Request{
		Shape:       shape,
		Sessions:    rapid.IntRange(1, 4).Draw(t, "sessions"),
		WindowTiles: rapid.IntRange(-1, 3).Draw(t, "windowTiles"),
		SinkTiles:   rapid.IntRange(0, 1).Draw(t, "sinkTiles"),
		Fixed: []arena.Line{
			{Purpose: arena.Weights, Bytes: rapid.Int64Range(0, 1<<20).Draw(t, "weights")},
			{Purpose: arena.Activations, Bytes: 64 * rapid.Int64Range(0, 1000).Draw(t, "activations")},
		},
		ContextDependent: func(g kernels.KVGeometry) []arena.Line {
			return []arena.Line{{Purpose: arena.Scratch,
				Bytes: arena.Round(perToken * int64(g.ContextTokens))}}
		},
		LimitBytes:    rapid.Int64Range(1<<16, 1<<24).Draw(t, "limit"),
		LimitSource:   "a test",
		PageBytes:     rapid.SampledFrom([]int64{4096, 16384, 65536}).Draw(t, "page"),
		TrainedTokens: rapid.IntRange(1, 5000).Draw(t, "trained"),
	}
	if rapid.Bool().Draw(t, "kvLimited") {
		r.KVLimitBytes = rapid.Int64Range(1<<14, 1<<23).Draw(t, "kvLimit")
	}
	if rapid.Bool().Draw(t, "floored") {
		r.Floor = drawFormats(t, layers)
	}
	if rapid.Bool().Draw(t, "given") {
		r.KV = drawFormats(t, layers)
	}
	for _, f := range append(slices.Clone(r.KV), r.Floor...) {
		if !f.K.ByRow() { // without a window it is refused
			r.WindowTiles = max(r.WindowTiles, 0)
		}
	}
	return r
}

// over says whether a plan breaks a limit of its request.
func over(p Plan, r Request) bool {
	return p.TotalBytes > r.LimitBytes || (r.KVLimitBytes > 0 && p.KVBytes() > r.KVLimitBytes)
}

func TestPlansHoldTheirLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t)
		chosen := rapid.Bool().Draw(t, "chosen")
		if !chosen {
			r.ContextTokens = rapid.IntRange(r.Sessions, 4000).Draw(t, "context")
		}
		p, err := Solve(r)
		var small *TooSmallError
		if errors.As(err, &small) {
			if small.NeedBytes <= small.HaveBytes {
				t.Errorf("refused although %d are needed of %d", small.NeedBytes, small.HaveBytes)
			}
			checkWaysOut(t, "drawn", r, small)
			return
		}
		if err != nil {
			t.Fatalf("Solve = %v", err)
		}
		var sum int64
		for _, line := range p.Lines {
			sum += line.Bytes
		}
		if sum != p.TotalBytes || over(p, r) || p.Paging {
			t.Errorf("plan of %d bytes (lines sum to %d), cache %d; limits %d, %d", p.TotalBytes, sum,
				p.KVBytes(), r.LimitBytes, r.KVLimitBytes)
		}
		trained := r.TrainedTokens * r.Sessions
		if !chosen || p.ContextTokens == trained {
			return
		}
		step := kernels.TileTokens * r.Sessions
		if p.ContextTokens > trained || p.ContextTokens%step != 0 {
			t.Errorf("context %d of %d, step %d", p.ContextTokens, trained, step)
		}
		// With one tile more for each session, what had to fit no longer does.
		longer := r
		longer.ContextTokens, longer.LimitBytes, longer.KVLimitBytes = p.ContextTokens+step, 1<<40, 0
		longer.ContextTokens = min(longer.ContextTokens, trained)
		if longer.KV == nil {
			if longer.KV = longer.Floor; longer.KV == nil {
				longer.KV = uniform(DefaultFloor, len(r.Shape))
			}
		}
		if q, err := Solve(longer); err != nil || !over(q, r) {
			t.Errorf("chose %d tokens, but %d fit (%d bytes of %d): %v", p.ContextTokens,
				q.ContextTokens, q.TotalBytes, r.LimitBytes, err)
		}
	})
}

func TestMoreMemoryIsNeverWorse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t)
		r.KV = nil
		r.ContextTokens = rapid.IntRange(r.Sessions, 4000).Draw(t, "context")
		less, err := Solve(r)
		if err != nil {
			t.Skip("does not fit")
		}
		r.LimitBytes += rapid.Int64Range(0, 1<<22).Draw(t, "more")
		if r.KVLimitBytes > 0 {
			r.KVLimitBytes += rapid.Int64Range(0, 1<<22).Draw(t, "moreCache")
		}
		more, err := Solve(r)
		if err != nil {
			t.Fatalf("with more memory: %v", err)
		}
		if more.PredictedDistortion > less.PredictedDistortion {
			t.Errorf("with more memory the distortion is %g, before %g",
				more.PredictedDistortion, less.PredictedDistortion)
		}
		for i, f := range more.Formats() {
			floor := DefaultFloor
			if r.Floor != nil {
				floor = r.Floor[i]
			}
			if f.K.Bits < floor.K.Bits || f.V.Bits < floor.V.Bits {
				t.Errorf("layer %d has %v, below the floor %v", i, f, floor)
			}
		}
	})
}

// TestBestIsTheBest compares the choice with all candidates, by hand.
func TestBestIsTheBest(t *testing.T) {
	for limit := int64(130 << 20); limit < 220<<20; limit += 7 << 20 {
		r := smolRequest(limit)
		r.ContextTokens, r.Floor = 4096, formats(t, "k2v2")
		p, err := Solve(r)
		if err != nil {
			continue
		}
		for kBits := 2; kBits <= 16; kBits++ {
			for vBits := 2; vBits <= kBits; vBits++ {
				if !validBits(kBits) || !validBits(vBits) {
					continue
				}
				r.KV = uniform(pair(kBits, vBits), 30)
				q, err := Solve(r)
				if err == nil && q.PredictedDistortion < p.PredictedDistortion {
					t.Errorf("limit %d: chose %s, but %s fits and is predicted better", limit,
						FormatPlan(p.Formats()), FormatPlan(q.Formats()))
				}
			}
		}
	}
}
