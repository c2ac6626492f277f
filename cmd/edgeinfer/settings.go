package main

// Settings are what the flags of a verb set. A verb takes the groups it needs;
// options turns them into what package edge wants.

import (
	"fmt"
	"math"
	"strings"

	"edgeinfer/boards"
	"edgeinfer/edge"
	"edgeinfer/edge/sample"
	"edgeinfer/kernels"

	"github.com/spf13/cobra"
)

// settings holds the value of every flag that several verbs share.
type settings struct {
	json   bool
	config string
	model  string

	overrides    []string // metadata that replaces the file's
	chatTemplate string   // path or name of what replaces the model's template

	contextTokens                 int // plannedContext, or 0: the model's own
	parallel                      int
	budgetBytes, kvBudgetBytes    int64
	kv, cacheTypeK, cacheTypeV    string
	floor, planner, calibration   string
	windowTiles, sinkTiles        *int // nil: the runtime's defaults
	allowPaging, lock             bool
	threads, batch, smallestBatch int // 0: not given
	kernels, board                string
	logitRows                     int // positions that get logits at once; 0: one a session

	sampling sample.Params

	origins map[string]origin // by flag name; see config.go
}

// plannedContext is the contextTokens that leaves the choice to the planner.
const plannedContext = -1

func newSettings() *settings {
	return &settings{contextTokens: plannedContext, sampling: sample.Defaults()}
}

// general are the flags that every verb with settings has.
func (s *settings) general() flagGroup {
	g := newGroup("General")
	g.boolean(&s.json, "json", "print one JSON document on standard output")
	g.add("config", "", "FILE", "",
		"read settings from this TOML file; otherwise "+
			"$XDG_CONFIG_HOME/edgeinfer/edgeinfer.toml or /etc/edgeinfer/edgeinfer.toml is "+
			"read, if there is one",
		text(&s.config))
	g.flags.BoolP("help", "h", false, "show this help")
	return g
}

// modelFile is where the model comes from.
func (s *settings) modelFile() flagGroup {
	g := newGroup("Model")
	g.add("model", "m", "FILE", "",
		"GGUF model file; without it, "+edge.EmbeddedName+" is used",
		text(&s.model))
	g.add("override-kv", "", "KEY=TYPE:VALUE", "",
		"replace or add metadata, as in tokenizer.ggml.pre=str:llama-bpe; types are str, int, float "+
			"and bool; several with commas, or repeated",
		func(text string) error {
			s.overrides = append(s.overrides, splitOverrides(text)...)
			return nil
		})
	return g
}

// chatTemplateFlag is for the verbs that render messages.
func (s *settings) chatTemplateFlag(g flagGroup) {
	g.add("chat-template", "", "FILE", "",
		"read the chat template from this file instead of the model; chatml is built in",
		text(&s.chatTemplate))
}

// splitOverrides cuts a list at the commas that another KEY=TYPE: follows, so
// that values may have commas of their own.
func splitOverrides(list string) []string {
	var overrides []string
	for _, item := range strings.Split(list, ",") {
		_, typed, _ := strings.Cut(item, "=")
		if n := len(overrides); n > 0 && !strings.Contains(typed, ":") {
			overrides[n-1] += "," + item
			continue
		}
		overrides = append(overrides, item)
	}
	return overrides
}

// memory are the flags that shape the byte plan.
func (s *settings) memory() flagGroup {
	g := newGroup("Memory")
	g.add("ctx-size", "c", "N", "auto",
		"context in tokens, of all sessions together; 0 takes what the model was "+
			"trained with, auto the largest that fits",
		s.setContext)
	g.add("parallel", "", "N", "1",
		"sessions that share the context (also -np)",
		integer(&s.parallel, 1, math.MaxInt32, "one session is the least"))
	g.add("budget", "", "SIZE", "",
		"all memory of the process, as in 1500MiB; otherwise what control groups, the "+
			"board and free memory allow",
		size(&s.budgetBytes))
	g.add("board", "", "NAME", "auto",
		"take this machine for a board, as in rpi-5-8g (see edgeinfer boards), or for none: "+
			"generic; its usable memory is one of the limits",
		s.setBoard)
	g.add("kv-budget", "", "SIZE", "",
		"memory of the key/value cache alone",
		size(&s.kvBudgetBytes))
	g.add("kv", "", "PLAN", "auto",
		"cache formats: f32, f16, bits of keys and values as in k4v2, or by layer as in "+
			"0-3:k8v6,4-29:k4v3; with options as in k4v2/chan-a/window=none (see plan --help); "+
			"auto takes the best that fits",
		text(&s.kv))
	g.add("floor", "", "PLAN", "k4v3", "the least that auto may choose", text(&s.floor))
	g.add("calibration", "", "FILE", "",
		"what was measured of the model beforehand; a plan with balance=on needs it",
		text(&s.calibration))
	g.add("planner", "", "NAME", "",
		"distortion model by which auto compares plans",
		text(&s.planner))
	g.add("cache-type-k", "", "TYPE", "",
		"format of keys by llama.cpp's names (also -ctk), mapped to --kv",
		cacheType(&s.cacheTypeK))
	g.add("cache-type-v", "", "TYPE", "",
		"format of values by llama.cpp's names (also -ctv), mapped to --kv",
		cacheType(&s.cacheTypeV))
	g.add("window", "", "N", "1",
		"tiles of 32 tokens kept in 16 bits before the newest one; none quantizes every "+
			"token at once",
		s.setWindow)
	g.add("sinks", "", "N", "1", "first tiles kept in 16 bits, 0 or 1", s.setSinks)
	g.boolean(&s.allowPaging, "allow-paging", "start although the plan exceeds the limit")
	g.boolean(&s.lock, "mlock", "lock the arena into memory, where the system allows it")
	return g
}

// compute are the flags that decide how it is computed.
func (s *settings) compute() flagGroup {
	g := newGroup("Computation")
	const threadsHint = "leave it out for one thread per fast core"
	g.add("threads", "t", "N", "one per fast core",
		"compute threads",
		integer(&s.threads, 1, math.MaxInt32, threadsHint))
	g.add("batch-size", "b", "N", fmt.Sprint(edge.DefaultBatchTokens),
		"tokens of a prompt computed together",
		integer(&s.batch, 1, math.MaxInt32, "one token is the least"))
	g.add("kernels", "", "NAME", "auto",
		"kernel set: auto or one of "+strings.Join(kernels.Names(), ", "),
		func(name string) error {
			s.kernels = name
			_, err := kernels.ByName(name)
			return err
		})
	g.add("ubatch-size", "", "N", "",
		"llama.cpp's physical batch; the smaller of this and --batch-size counts",
		integer(&s.smallestBatch, 1, math.MaxInt32, "one token is the least"))
	for _, name := range withoutEffect {
		g.add(name, "", "X", "", "taken for llama.cpp's sake, has no effect",
			func(string) error { return nil })
	}
	g.hide(append(withoutEffect, "ubatch-size")...)
	return g
}

// withoutEffect are llama.cpp's flags that are taken and said to do nothing:
// there is no GPU, attention is always fused, prompts use --threads too.
var withoutEffect = []string{"flash-attn", "gpu-layers", "threads-batch"}

// samplingFlags are the flags that choose among tokens.
func (s *settings) samplingFlags() flagGroup {
	g, p := newGroup("Sampling"), &s.sampling
	d := *p
	g.add("temp", "", "X", fmt.Sprint(d.Temperature),
		"temperature; 0 always takes the likeliest token",
		real(&p.Temperature, 0, 1e6, "0 takes the likeliest token"))
	g.add("top-k", "", "N", fmt.Sprint(d.TopK),
		"sample from the N likeliest tokens; 0 from all",
		integer(&p.TopK, 0, math.MaxInt32, "0 switches it off"))
	g.add("top-p", "", "P", fmt.Sprint(d.TopP),
		"sample from the likeliest tokens of this probability together; 1 from all",
		real(&p.TopP, 1e-6, 1, "1 switches it off"))
	g.add("min-p", "", "P", fmt.Sprint(d.MinP),
		"drop tokens below this share of the likeliest one's probability; 0 none",
		real(&p.MinP, 0, 1, "0 switches it off"))
	g.add("repeat-penalty", "", "X", fmt.Sprint(d.RepeatPenalty),
		"divide the scores of recent tokens; 1 is off",
		real(&p.RepeatPenalty, 0.01, 1e6, "1 switches it off"))
	g.add("repeat-last-n", "", "N", fmt.Sprint(d.RepeatLastN),
		"how many tokens the penalty looks back; -1 all",
		integer(&p.RepeatLastN, -1, math.MaxInt32, "-1 looks back on all tokens"))
	g.add("seed", "s", "N", fmt.Sprint(d.Seed),
		"random seed; -1 draws a new one each time",
		integer(&p.Seed, -1, math.MaxInt64, "-1 draws a new one each time"))
	return g
}

func (s *settings) setContext(text string) error {
	if text == "auto" {
		s.contextTokens = plannedContext
		return nil
	}
	return integer(&s.contextTokens, 0, math.MaxInt32,
		"auto takes the largest that fits, 0 what the model was trained with")(text)
}

func (s *settings) setBoard(name string) error {
	s.board = name
	_, err := boards.Machine{}.As(name)
	return err
}

func (s *settings) setWindow(text string) error {
	tiles := -1
	if text != "none" {
		if err := integer(&tiles, 0, 1<<20, "or none")(text); err != nil {
			return err
		}
	}
	s.windowTiles = &tiles
	return nil
}

func (s *settings) setSinks(text string) error {
	tiles := 0
	if err := integer(&tiles, 0, 1, "one tile can stay in 16 bits, or none")(text); err != nil {
		return err
	}
	s.sinkTiles = &tiles
	return nil
}

// options turns settings into those of package edge. ContextTokens is left at
// the planner's choice where the model decides; load fills it in.
func (p *program) options(s *settings) (edge.Options, error) {
	kv, err := p.cachePlan(s)
	if err != nil {
		return edge.Options{}, err
	}
	for _, name := range withoutEffect {
		if s.origins[name] != builtIn {
			p.note("--%s has no effect here", name)
		}
	}
	o := edge.Options{
		Model: s.model, Overrides: s.overrides, ChatTemplate: s.chatTemplate,
		ContextTokens: max(s.contextTokens, 0), Threads: s.threads, BatchTokens: s.batch, KV: kv,
		BudgetBytes: s.budgetBytes, KVBudgetBytes: s.kvBudgetBytes,
		Floor: s.floor, Planner: s.planner, Kernels: s.kernels, WindowTiles: s.windowTiles,
		SinkTiles: s.sinkTiles, Parallel: s.parallel, AllowPaging: s.allowPaging, Lock: s.lock,
		LogitRows: s.logitRows, Calibration: s.calibration, Board: s.board,
	}
	if s.smallestBatch > 0 && (s.batch == 0 || s.smallestBatch < s.batch) {
		o.BatchTokens = s.smallestBatch
	}
	if o.BatchTokens > 0 {
		o.LogitRows = min(o.LogitRows, o.BatchTokens)
	}
	return o, nil
}

// load opens and checks the model that s names.
func (p *program) load(s *settings) (*edge.Source, error) {
	o, err := p.options(s)
	if err != nil {
		return nil, err
	}
	source, err := edge.Load(o)
	if err != nil {
		return nil, err
	}
	trained, sessions := source.Spec().ContextTokens, max(s.parallel, 1)
	most := min(int64(trained)*int64(sessions), math.MaxInt32)
	switch {
	case int64(s.contextTokens) > most:
		err := fmt.Errorf("--ctx-size %d: %s was trained with contexts of %d tokens; "+
			"give at most %d, or auto", s.contextTokens, source.File().Name(), trained, most)
		source.Close()
		return nil, inputError{err}
	case s.contextTokens != 0:
		return source, nil
	}
	if err := source.Close(); err != nil {
		return nil, err
	}
	o.ContextTokens = int(most)
	return edge.Load(o)
}

// start starts a loaded model; the source belongs to the engine from then on.
func (p *program) start(source *edge.Source) (*edge.Engine, error) {
	engine, err := source.Start()
	if err != nil {
		source.Close()
		return nil, err
	}
	if status := engine.Arena().Status(); status.LockError != "" {
		p.note("memory is not locked: %s", status.LockError)
	}
	return engine, nil
}

// noArguments refuses positional arguments, saying where the text belongs.
func noArguments(hint string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usageError{c, fmt.Errorf("unexpected argument %q; %s", args[0], hint)}
		}
		return nil
	}
}
