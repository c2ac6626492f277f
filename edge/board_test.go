package edge

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"edgeinfer/boards"
	"edgeinfer/budget"
	"edgeinfer/tests/shared"
)

func loaded(t *testing.T, o Options) *Source {
	t.Helper()
	s, err := Load(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestBoardBinds: the smallest limit counts, and the board's is one of them.
func TestBoardBinds(t *testing.T) {
	const usable = (512 - 160) << 20
	system, systemSource, err := budget.DetectLimit("/")
	if err != nil || system < usable {
		t.Skipf("the system grants %d bytes, %v; less than the board", system, err)
	}
	plan := func(o Options) budget.Plan {
		p, err := loaded(t, o).Plan()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := plan(Options{Board: "rpi-zero-2w"})
	const want = "usable memory of board rpi-zero-2w-512m: " +
		"512.0 MiB − 160.0 MiB for the system = 352.0 MiB"
	if p.LimitBytes != usable || p.LimitSource != want {
		t.Errorf("limit %d, %q; want %d, %q", p.LimitBytes, p.LimitSource, usable, want)
	}
	// No board is as large as this one must be to leave more than there is.
	if system < 60<<30 {
		p = plan(Options{Board: "jetson-agx-orin-64g"})
		kind, _, _ := strings.Cut(systemSource, ":")
		if p.LimitBytes >= 60<<30 || !strings.HasPrefix(p.LimitSource, kind) {
			t.Errorf("limit %d, %q; want what the system grants, %q", p.LimitBytes, p.LimitSource,
				systemSource)
		}
	}
	p = plan(Options{Board: "rpi-zero-2w", BudgetBytes: 1 << 30})
	if p.LimitBytes != 1<<30 || p.LimitSource != "--budget" {
		t.Errorf("limit %d, %q; want the budget", p.LimitBytes, p.LimitSource)
	}
	_, err = loaded(t, Options{Board: "rpi-zero-2w", Parallel: 200, KV: "f32",
		ContextTokens: 1 << 17}).Plan()
	var small *budget.TooSmallError
	if !errors.As(err, &small) || small.Source != want {
		t.Errorf("a plan of gigabytes: %v; want a refusal that names the board", err)
	}
}

func TestUnknownBoard(t *testing.T) {
	_, err := Load(Options{Board: "toaster"})
	if !IsInputError(err) || !strings.Contains(err.Error(), `no board "toaster"; there are rpi-`) {
		t.Errorf("Load: %v", err)
	}
}

func TestDefaultThreads(t *testing.T) {
	cpus := make([]boards.CPU, 64)
	for i := range cpus {
		cpus[i] = boards.CPU{ID: i, FirstID: i, Allowed: true}
	}
	procs := runtime.GOMAXPROCS(0)
	for cores, want := range map[int]int{0: procs, 1: 1, 64: min(procs, 64)} {
		m := boards.Machine{CPUs: cpus[:cores]}
		m.Board = boards.Board{Profile: &boards.Profile{Name: boards.Generic}}
		if got := defaultThreads(m); got != want {
			t.Errorf("%d cores, GOMAXPROCS %d: %d threads; want %d", cores, procs, got, want)
		}
	}
	o := Options{}
	if err := o.check(); err != nil || o.Threads < 1 || o.Threads > procs {
		t.Errorf("%d threads by default, %v", o.Threads, err)
	}
	o = Options{Threads: 7}
	if err := o.check(); err != nil || o.Threads != 7 {
		t.Errorf("%d threads, %v; want the 7 asked for", o.Threads, err)
	}
}

// TestPlanFor: every board gets a plan within its memory, with scratch for its
// threads; the source's own options stay.
func TestPlanFor(t *testing.T) {
	s := loaded(t, Options{Threads: 1, BudgetBytes: 1 << 30, ContextTokens: 512, KV: "f16"})
	before, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	for _, profile := range boards.All() {
		for _, b := range profile.Boards() {
			p, err := s.PlanFor(b)
			if err != nil {
				t.Errorf("%s: %v", b.FullName(), err)
				continue
			}
			if p.LimitBytes != b.UsableBytes() || p.TotalBytes > p.LimitBytes ||
				!strings.Contains(p.LimitSource, b.FullName()) || p.TotalBytes <= before.TotalBytes {
				t.Errorf("%s: %d of %d bytes, %s; with one thread %d", b.FullName(), p.TotalBytes,
					p.LimitBytes, p.LimitSource, before.TotalBytes)
			}
		}
	}
	if after, err := s.Plan(); err != nil || after.TotalBytes != before.TotalBytes ||
		after.LimitSource != "--budget" {
		t.Errorf("the source's own plan became %d bytes of %s, %v", after.TotalBytes,
			after.LimitSource, err)
	}
	tiny := boards.Board{Profile: boards.All()[0], Variant: boards.Variant{RAMBytes: 8 << 20}}
	var small *budget.TooSmallError
	if _, err := s.PlanFor(tiny); !errors.As(err, &small) ||
		!strings.Contains(err.Error(), "board rpi-zero-2w-8m") {
		t.Errorf("a board of 8 MiB: %v", err)
	}
}

// TestWeightBytesPerToken: of the embedded model all is read, for its embedding
// (512 × 64) is the output matrix too: five layers of 45312 weights in half
// precision, eleven norms of 64 in float32. Of an untied one all but a table.
func TestWeightBytesPerToken(t *testing.T) {
	s := loaded(t, Options{})
	if got, want := s.WeightBytesPerToken(), int64(2*(512*64+5*45312)+11*64*4); got != want {
		t.Errorf("%d bytes a token; want %d", got, want)
	}
	s = loaded(t, Options{Model: shared.Path(t, "models", "families", "phi3.gguf")})
	embedding, _ := s.File().Tensor("token_embd.weight")
	output, untied := s.File().Tensor("output.weight")
	var all int64
	for _, tensor := range s.File().Tensors {
		all += int64(len(tensor.Data))
	}
	row := int64(len(embedding.Data)) / int64(s.Spec().Vocab)
	want := all - int64(len(embedding.Data)) + row
	if got := s.WeightBytesPerToken(); !untied || len(output.Data) == 0 || got != want {
		t.Errorf("%d bytes a token; want %d of %d", got, want, all)
	}
}
