package main

// eval ppl and eval kld: what caches cost in quality on a text. Both score the
// second half of each chunk, as llama-perplexity does; kld runs a reference
// cache beside the tested ones over the same weights. Several plans run in lock
// step, so that a table of them costs one pass of the reference.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"

	"edgeinfer/budget"
	"edgeinfer/edge"
	"edgeinfer/edge/eval"
	"edgeinfer/edge/tokenizer"
	"edgeinfer/kernels"

	"github.com/spf13/cobra"
)

const (
	// maxScoredBytes bounds the text that is scored.
	maxScoredBytes = 64 << 20
	// evalContextTokens is the default size of a chunk.
	evalContextTokens = 512
	// evalLogitRows is how many positions get logits at once: enough to read
	// the output matrix once for several.
	evalLogitRows = 16
	// referenceKV is the cache that kld compares with unless told.
	referenceKV = "f16"
	// maxPlans bounds how many caches run at once.
	maxPlans = 64
)

// qualityVerb is one call of eval ppl or eval kld.
type qualityVerb struct {
	*program
	*settings
	file             string
	chunks           int
	divergence       bool
	reference        string // plan of the reference
	referenceKernels string // "": those of the tested
	plans            []string
}

func (p *program) evalQualityCommand(divergence bool) *cobra.Command {
	q := &qualityVerb{program: p, settings: newSettings(), divergence: divergence,
		reference: referenceKV}
	q.contextTokens, q.logitRows = evalContextTokens, evalLogitRows
	c := &cobra.Command{
		Use:   "ppl -f FILE [flags]",
		Short: "Perplexity of a text",
		Long: `ppl cuts the text into chunks of -c tokens (512 unless told), runs each from an empty
cache and scores its second half: the perplexity, as llama-perplexity computes it. Several plans,
separated by semicolons or by repeating --kv, run side by side.`,
		Example: `  edgeinfer eval ppl -m model.gguf -f text.txt -c 512 --chunks 16 --kv k4v4`,
		Args:    noArguments("give the text with -f FILE"),
	}
	g := newGroup("Evaluation")
	g.add("file", "f", "FILE", "", "the text to score", text(&q.file))
	g.add("chunks", "", "N", "0", "score so many chunks at most; 0 all",
		integer(&q.chunks, 0, math.MaxInt32, "0 scores the whole text"))
	if divergence {
		q.describeDivergence(c, g)
	}
	memory := q.memory()
	memory.flags.Lookup("kv").Value.(*option).set = joined(&q.kv)
	return p.verb(c, q.settings, func(c *cobra.Command, _ []string) error {
		if q.file == "" {
			return usageError{c, errors.New("-f is missing; name the file that holds the text")}
		}
		return q.run()
	}, g, q.modelFile(), memory, q.compute())
}

// describeDivergence makes c kld.
func (q *qualityVerb) describeDivergence(c *cobra.Command, g flagGroup) {
	c.Use, c.Short = "kld -f FILE --kv PLAN [flags]", "Divergence of caches from the f16 cache"
	c.Long = `kld runs caches in lock step over the chunks of a text, those of the plans of --kv and one
of 16-bit floats, and compares the distributions of the next token at every position of the second
half of each chunk: the Kullback-Leibler divergence, how often the likeliest token is the same, and
both perplexities. No logits are stored. Each cache is planned by itself. Several plans are
separated by semicolons or by repeating --kv; they share the weights and the reference's pass.

--reference and --reference-kernels choose what is compared with: the f16 cache computed by another
kernel set shows what rounding alone amounts to.`
	c.Example = `  edgeinfer eval kld -m model.gguf -f text.txt -c 512 --chunks 16 --kv k4v2 --json
  edgeinfer eval kld -m model.gguf -f text.txt --kv 'k8v4;k4v4;k4v2'
  edgeinfer eval kld -m model.gguf -f text.txt --kv f16 --reference-kernels generic`
	g.add("reference", "", "PLAN", referenceKV, "plan of the cache to compare with",
		text(&q.reference))
	g.add("reference-kernels", "", "NAME", "",
		"kernel set of the reference; that of --kernels unless told",
		func(name string) error {
			q.referenceKernels = name
			_, err := kernels.ByName(name)
			return err
		})
}

// joined takes a list that may be given in pieces.
func joined(dst *string) func(string) error {
	given := false
	return func(value string) error {
		if given {
			value = *dst + ";" + value
		}
		*dst, given = value, true
		return nil
	}
}

// kldReport is the part of the JSON document that compares two caches.
type kldReport struct {
	Mean   float64 `json:"mean"`
	Error  float64 `json:"error"`
	Median float64 `json:"median"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
}

// qualityReport is the JSON document of eval ppl and eval kld; of several plans
// it is one of the rows, which name their plan.
type qualityReport struct {
	KV              string     `json:"kv,omitempty"`           // of rows alone
	AverageBits     float64    `json:"average_bits,omitempty"` // of rows alone
	PPL             float64    `json:"ppl"`
	PPLReference    float64    `json:"ppl_reference,omitempty"`
	LogRatio        *float64   `json:"ln_ppl_ratio,omitempty"`
	LogRatioError   *float64   `json:"ln_ppl_ratio_error,omitempty"`
	KLD             *kldReport `json:"kld,omitempty"`
	SameTop         *float64   `json:"same_top,omitempty"`
	Tokens          int        `json:"tokens"`
	Chunks          int        `json:"chunks"`
	ContextTokens   int        `json:"context_tokens"`
	KVBytesPerToken float64    `json:"kv_bytes_per_token"`
}

// qualityReports is the JSON document of several plans.
type qualityReports struct {
	Rows          []qualityReport `json:"rows"`
	Tokens        int             `json:"tokens"`
	Chunks        int             `json:"chunks"`
	ContextTokens int             `json:"context_tokens"`
}

func (q *qualityVerb) run() error {
	data, err := readFile(q.file, maxScoredBytes)
	if err != nil {
		return inputError{fmt.Errorf("text: %w", err)}
	}
	var engines []*edge.Engine
	defer func() {
		for _, e := range engines {
			e.Close()
		}
	}()
	if q.plans, err = q.splitPlans(); err != nil {
		return err
	}
	for _, plan := range q.plans {
		e, err := q.open(plan, q.settings.kernels)
		if err != nil {
			return err
		}
		engines = append(engines, e)
	}
	var reference *edge.Engine
	if q.divergence {
		reference, err = q.open(q.reference, cmp.Or(q.referenceKernels, q.settings.kernels))
		if err != nil {
			return fmt.Errorf("the reference cache: %w", err)
		}
		defer reference.Close()
	}
	ctx, stop := watchSignals()
	defer stop()
	results, err := q.measure(ctx, reference, engines, string(data))
	if err != nil {
		return cmp.Or(interruption(ctx), err)
	}
	return q.print(results, engines)
}

// splitPlans returns the plans to measure; -ctk and -ctv make one.
func (q *qualityVerb) splitPlans() ([]string, error) {
	plan, err := q.cachePlan(q.settings)
	if err != nil {
		return nil, err
	}
	plans := budget.SplitPlans(plan)
	if len(plans) > maxPlans {
		return nil, inputError{fmt.Errorf("--kv has %d plans; at most %d run at once",
			len(plans), maxPlans)}
	}
	for _, one := range plans {
		if len(plans) > 1 && strings.TrimSpace(one) == "" {
			return nil, inputError{fmt.Errorf("--kv %q: a plan of the list is empty", plan)}
		}
	}
	return plans, nil
}

// open starts an engine with a plan and a kernel set.
func (q *qualityVerb) open(plan, kernels string) (*edge.Engine, error) {
	s := *q.settings
	s.kv, s.cacheTypeK, s.cacheTypeV, s.kernels = plan, "", "", kernels
	s.origins = maps.Clone(s.origins)
	delete(s.origins, "cache-type-k")
	delete(s.origins, "cache-type-v")
	source, err := q.load(&s)
	if err != nil {
		return nil, err
	}
	return q.start(source)
}

// measure runs the chunks of a text.
func (q *qualityVerb) measure(ctx context.Context, reference *edge.Engine, tested []*edge.Engine,
	text string) ([]eval.Result, error) {
	t := tested[0].Tokenizer()
	tokens := t.Encode(nil, text, tokenizer.Options{BOS: true})
	o := eval.Options{ContextTokens: tested[0].ContextTokens(), Chunks: q.chunks, BOS: -1}
	if t.AddBOS() {
		o.BOS = t.BOS()
	}
	if len(tokens) < o.ContextTokens {
		return nil, inputError{fmt.Errorf("text: %s has %d tokens, one chunk takes %d; "+
			"give a longer text or a smaller -c", q.file, len(tokens), o.ContextTokens)}
	}
	if q.divergence {
		return eval.Divergence(ctx, reference, tested, tokens, o, q.progress)
	}
	return eval.Perplexity(ctx, tested, tokens, o, q.progress)
}

// progress says on standard error how far the run is.
func (q *qualityVerb) progress(done, chunks int, results []eval.Result) {
	fmt.Fprintf(q.stderr, "chunk %d of %d:", done, chunks)
	for i, r := range results {
		if len(results) > 1 {
			fmt.Fprintf(q.stderr, " %s", q.plans[i])
		}
		if q.divergence {
			fmt.Fprintf(q.stderr, " kld %.5f, same top %.2f %%,", r.KLD.Mean, 100*r.SameTop)
		}
		fmt.Fprintf(q.stderr, " ppl %.4f", r.PPL)
		if i+1 < len(results) {
			fmt.Fprint(q.stderr, ";")
		}
	}
	fmt.Fprintln(q.stderr)
}

// report describes one result.
func (q *qualityVerb) report(r eval.Result, e *edge.Engine) qualityReport {
	plan := e.Plan()
	report := qualityReport{KV: planText(plan), PPL: r.PPL, Tokens: r.Tokens, Chunks: r.Chunks,
		ContextTokens: e.ContextTokens(), KVBytesPerToken: plan.Geometry.SealedBytesPerToken(),
		AverageBits: plan.Geometry.AverageBits()}
	if q.divergence {
		report.PPLReference, report.SameTop = r.PPLReference, &r.SameTop
		report.LogRatio, report.LogRatioError = &r.LogRatio, &r.LogRatioError
		report.KLD = &kldReport{r.KLD.Mean, r.KLD.Error, r.KLD.Median, r.KLD.P99, r.KLD.Max}
	}
	return report
}

// print writes the results: one as rows of facts, several as a table, or JSON.
func (q *qualityVerb) print(results []eval.Result, engines []*edge.Engine) error {
	var all qualityReports
	for i, r := range results {
		all.Rows = append(all.Rows, q.report(r, engines[i]))
	}
	first := all.Rows[0]
	all.Tokens, all.Chunks, all.ContextTokens = first.Tokens, first.Chunks, first.ContextTokens
	switch {
	case q.json && len(results) == 1:
		first.KV, first.AverageBits = "", 0
		return writeJSON(q.stdout, first)
	case q.json:
		return writeJSON(q.stdout, all)
	case len(results) == 1:
		q.printOne(first)
	default:
		q.printTable(all)
	}
	return nil
}

// printOne writes one result for people.
func (q *qualityVerb) printOne(r qualityReport) {
	row := func(name, format string, args ...any) {
		fmt.Fprintf(q.stdout, "%-22s  %s\n", name, fmt.Sprintf(format, args...))
	}
	row("perplexity", "%.4f", r.PPL)
	if q.divergence {
		row("of the "+q.reference+" cache", "%.4f", r.PPLReference)
		row("ln of their ratio", "%.5f ± %.5f", *r.LogRatio, *r.LogRatioError)
		row("KL divergence, mean", "%.6f ± %.6f", r.KLD.Mean, r.KLD.Error)
		row("  median, 99 %, max", "%.6f  %.6f  %.6f", r.KLD.Median, r.KLD.P99, r.KLD.Max)
		row("same likeliest token", "%.2f %%", 100**r.SameTop)
	}
	row("tokens scored", "%d in %d chunks of %d", r.Tokens, r.Chunks, r.ContextTokens)
	row("cache bytes per token", "%.1f", r.KVBytesPerToken)
}

// printTable writes several results as a table in Markdown's form, which reads
// as it is and goes into documents.
func (q *qualityVerb) printTable(all qualityReports) {
	if !q.divergence {
		fmt.Fprintf(q.stdout, "| plan | bits | bytes/token | PPL |\n|---|---|---|---|\n")
		for _, r := range all.Rows {
			fmt.Fprintf(q.stdout, "| %s | %.2f | %.0f | %.4f |\n", r.KV, r.AverageBits,
				r.KVBytesPerToken, r.PPL)
		}
	} else {
		fmt.Fprintf(q.stdout, "| plan | bits | bytes/token | mean KLD | ± | p99 | same top | PPL |\n"+
			"|---|---|---|---|---|---|---|---|\n")
		for _, r := range all.Rows {
			fmt.Fprintf(q.stdout, "| %s | %.2f | %.0f | %.5f | %.5f | %.4f | %.2f %% | %.4f |\n",
				r.KV, r.AverageBits, r.KVBytesPerToken, r.KLD.Mean, r.KLD.Error, r.KLD.P99,
				100**r.SameTop, r.PPL)
		}
		fmt.Fprintf(q.stdout, "\nPPL of the %s cache %.4f; ", q.reference, all.Rows[0].PPLReference)
	}
	fmt.Fprintf(q.stdout, "%d tokens scored in %d chunks of %d\n", all.Tokens, all.Chunks,
		all.ContextTokens)
}
