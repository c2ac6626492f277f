package main

// plan: the byte plan of a model under a limit, without running it.

import (
	"edgeinfer/budget"
	"edgeinfer/kernels"

	"github.com/spf13/cobra"
)

func (p *program) planCommand() *cobra.Command {
	s := newSettings()
	c := &cobra.Command{
		Use:   "plan [flags]",
		Short: "Show what fits into memory, to the byte, without running",
		Long: `plan prints the memory plan that run would follow with the same flags: the context,
the formats of the key/value cache, and one line for every consumer of memory. It takes no
memory itself. Layers are bars of bits, one mark a bit; memory is a bar of letters, one a
purpose, with dots for what the limit leaves. Where nothing fits, it says how much is needed,
how much there is, and what would fit.

The plan of --kv gives bits for keys and values, k4v2, or f16 or f32, for all layers or by ranges,
0-3:k8v6,4-29:k4v3. Options follow a slash; with k. or v. in front they concern one side:
  rows, affine        level rows (the default); rows with scale and minimum
  chan-a, chan-c      channels of keys with scale and minimum; the same in two bytes
  g=16|32|64|128      channels that share a scale
  fit=NAME            of affine rows and channels: minmax, ls, hqq, quanto, quanto-hqq, quanto-zp
                      or absmax
  clip=0.5...0.99     share of the range that codes span, of the same
  rotate=none|k|v|kv  sides whose rows are rotated (Walsh-Hadamard)
  centre=on|off       keys less the mean of the first tile
  balance=on|off      keys divided by the factors of a side file
  debias=on|off       scales without shrinkage, of level rows
  window=N|none       tiles of 32 tokens before the newest that stay in 16 bits
  sinks=0|1           whether the first tile does`,
		Example: `  edgeinfer plan
  edgeinfer plan -m model.gguf --budget 300MiB
  edgeinfer plan -m model.gguf -c 4096 --kv k4v2 --json`,
		Args: noArguments("name the model with -m"),
	}
	return p.verb(c, s, func(*cobra.Command, []string) error { return p.plan(s) },
		s.modelFile(), s.memory(), s.compute())
}

func (p *program) plan(s *settings) error {
	source, err := p.load(s)
	if err != nil {
		return err
	}
	defer source.Close()
	plan, err := source.Plan()
	if err != nil {
		return err
	}
	report := describePlan(plan)
	if step, ok := source.NextStep(plan); ok {
		report.Next = &nextReport{step.MoreBytes, planText(step.Plan), step.Plan.ContextTokens,
			step.Plan.PredictedDistortion}
	}
	if s.json {
		return writeJSON(p.stdout, report)
	}
	writePlan(p.stdout, source, plan, report.Next)
	return nil
}

// planReport is plan's JSON document.
type planReport struct {
	ContextTokens       int        `json:"context_tokens"`
	Sessions            int        `json:"sessions"`
	TotalBytes          int64      `json:"total_bytes"`
	LimitBytes          int64      `json:"limit_bytes"`
	LimitSource         string     `json:"limit_source"`
	Lines               []jsonLine `json:"lines"`
	KV                  kvReport   `json:"kv"`
	Planner             string     `json:"planner"`
	PlannerBasis        string     `json:"planner_basis"`  // what the prediction rests on
	GuardedLayers       int        `json:"guarded_layers"` // whose keys a guard gives more bits
	PredictedDistortion float64    `json:"predicted_distortion"`

	Next *nextReport `json:"next,omitempty"` // what the least more memory would buy
}

// nextReport is a better plan that so much more memory would allow.
type nextReport struct {
	MoreBytes           int64   `json:"more_bytes"`
	KV                  string  `json:"kv"`
	ContextTokens       int     `json:"context_tokens"`
	PredictedDistortion float64 `json:"predicted_distortion"`
}

// kvReport describes the cache. Bytes is all of it; the layers' bytes leave out
// key means and page table, which belong to no side.
type kvReport struct {
	Plan          string        `json:"plan"`
	Bytes         int64         `json:"bytes"`
	BytesPerToken float64       `json:"bytes_per_token"` // of sealed tiles
	AverageBits   float64       `json:"average_bits"`    // of sealed tiles
	Layers        []layerReport `json:"layers"`
}

type layerReport struct {
	Layer int        `json:"layer"`
	K     sideReport `json:"k"`
	V     sideReport `json:"v"`
}

type sideReport struct {
	Bits    int    `json:"bits"`
	Group   int    `json:"group"`
	Format  string `json:"format"`
	Fit     string `json:"fit,omitempty"` // of affine rows and channels
	Rotated bool   `json:"rotated"`
	Centred bool   `json:"centred"`
	Debias  bool   `json:"debiased"`
	Bytes   int64  `json:"bytes"`
}

func describePlan(plan budget.Plan) planReport {
	g := plan.Geometry
	report := planReport{
		ContextTokens: plan.ContextTokens, Sessions: g.Sessions, TotalBytes: plan.TotalBytes,
		LimitBytes: plan.LimitBytes, LimitSource: plan.LimitSource, Lines: jsonLines(plan.Lines),
		Planner: plan.Planner, PlannerBasis: plan.Basis, GuardedLayers: plan.GuardedLayers,
		PredictedDistortion: plan.PredictedDistortion,
		KV: kvReport{Plan: planText(plan), Bytes: plan.KVBytes(),
			BytesPerToken: g.SealedBytesPerToken(), AverageBits: g.AverageBits()},
	}
	for i, l := range g.Layers {
		report.KV.Layers = append(report.KV.Layers,
			layerReport{i, describeSide(g, l, l.K), describeSide(g, l, l.V)})
	}
	return report
}

func describeSide(g kernels.KVGeometry, l kernels.KVLayer, f kernels.KVFormat) sideReport {
	side := sideReport{Bits: f.Bits, Group: f.Group, Format: f.String(), Rotated: f.Rotate,
		Centred: f.Centre, Debias: f.Debias, Bytes: g.Store(l, f).Bytes().Total()}
	if f.HasMinima() {
		side.Fit = f.Fit.String()
	}
	return side
}
