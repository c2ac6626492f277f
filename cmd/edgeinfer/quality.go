package main

// eval ppl and eval kld: what a cache costs in quality on a text. Both score
// the second half of each chunk, as llama-perplexity does; kld runs a reference
// cache beside the tested one over the same weights.

import (
	"context"
	"errors"
	"fmt"
	"math"

	"edgeinfer/edge"
	"edgeinfer/edge/eval"
	"edgeinfer/edge/tokenizer"

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
	// referenceKV is the cache that kld compares with.
	referenceKV = "f16"
)

// qualityVerb is one call of eval ppl or eval kld.
type qualityVerb struct {
	*program
	*settings
	file       string
	chunks     int
	divergence bool
}

func (p *program) evalQualityCommand(divergence bool) *cobra.Command {
	q := &qualityVerb{program: p, settings: newSettings(), divergence: divergence}
	q.contextTokens, q.logitRows = evalContextTokens, evalLogitRows
	c := &cobra.Command{
		Use:   "ppl -f FILE [flags]",
		Short: "Perplexity of a text",
		Long: `ppl cuts the text into chunks of -c tokens (512 unless told), runs each from an empty
cache and scores its second half: the perplexity, as llama-perplexity computes it.`,
		Example: `  edgeinfer eval ppl -m model.gguf -f text.txt -c 512 --chunks 16 --kv k4v4`,
		Args:    noArguments("give the text with -f FILE"),
	}
	if divergence {
		c.Use, c.Short = "kld -f FILE --kv PLAN [flags]", "Divergence of a cache from the f16 cache"
		c.Long = `kld runs two caches in lock step over the chunks of a text, one of the plan of --kv and one
of 16-bit floats, and compares the distributions of the next token at every position of the second
half of each chunk: the Kullback-Leibler divergence, how often the likeliest token is the same, and
both perplexities. No logits are stored. Each cache is planned by itself.`
		c.Example = `  edgeinfer eval kld -m model.gguf -f text.txt -c 512 --chunks 16 --kv k4v2 --json`
	}
	g := newGroup("Evaluation")
	g.add("file", "f", "FILE", "", "the text to score", text(&q.file))
	g.add("chunks", "", "N", "0", "score so many chunks at most; 0 all",
		integer(&q.chunks, 0, math.MaxInt32, "0 scores the whole text"))
	return p.verb(c, q.settings, func(c *cobra.Command, _ []string) error {
		if q.file == "" {
			return usageError{c, errors.New("-f is missing; name the file that holds the text")}
		}
		return q.run()
	}, g, q.modelFile(), q.memory(), q.compute())
}

// kldReport is the part of the JSON document that compares two caches.
type kldReport struct {
	Mean   float64 `json:"mean"`
	Error  float64 `json:"error"`
	Median float64 `json:"median"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
}

// qualityReport is the JSON document of eval ppl and eval kld.
type qualityReport struct {
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

func (q *qualityVerb) run() error {
	data, err := readFile(q.file, maxScoredBytes)
	if err != nil {
		return inputError{fmt.Errorf("text: %w", err)}
	}
	tested, err := q.open()
	if err != nil {
		return err
	}
	defer tested.Close()
	t := tested.Tokenizer()
	tokens := t.Encode(nil, string(data), tokenizer.Options{BOS: true})
	o := eval.Options{ContextTokens: tested.ContextTokens(), Chunks: q.chunks, BOS: -1}
	if t.AddBOS() {
		o.BOS = t.BOS()
	}
	if len(tokens) < o.ContextTokens {
		return inputError{fmt.Errorf("text: %s has %d tokens, one chunk takes %d; "+
			"give a longer text or a smaller -c", q.file, len(tokens), o.ContextTokens)}
	}
	ctx, stop := watchSignals()
	defer stop()
	result, err := q.measure(ctx, tested, tokens, o)
	if err != nil {
		if stopped := interruption(ctx); stopped != nil {
			return stopped
		}
		return err
	}
	return q.print(result, o.ContextTokens, tested.Plan().Geometry.SealedBytesPerToken())
}

// open starts an engine with the settings as they are.
func (q *qualityVerb) open() (*edge.Engine, error) {
	source, err := q.load(q.settings)
	if err != nil {
		return nil, err
	}
	return q.start(source)
}

// measure runs the chunks, with the reference cache where one is wanted.
func (q *qualityVerb) measure(ctx context.Context, tested *edge.Engine, tokens []int32,
	o eval.Options) (eval.Result, error) {
	if !q.divergence {
		return eval.Perplexity(ctx, tested, tokens, o, q.progress)
	}
	other := *q.settings
	other.kv, other.cacheTypeK, other.cacheTypeV = referenceKV, "", ""
	source, err := q.load(&other)
	if err != nil {
		return eval.Result{}, fmt.Errorf("the %s reference cache: %w", referenceKV, err)
	}
	reference, err := q.start(source)
	if err != nil {
		return eval.Result{}, fmt.Errorf("the %s reference cache: %w", referenceKV, err)
	}
	defer reference.Close()
	return eval.Divergence(ctx, reference, tested, tokens, o, q.progress)
}

// progress says on standard error how far the run is.
func (q *qualityVerb) progress(done, chunks int, r eval.Result) {
	fmt.Fprintf(q.stderr, "chunk %d of %d: ppl %.4f", done, chunks, r.PPL)
	if q.divergence {
		fmt.Fprintf(q.stderr, ", kld %.5f, same top %.2f %%", r.KLD.Mean, 100*r.SameTop)
	}
	fmt.Fprintln(q.stderr)
}

// print writes the result, as a table or as JSON.
func (q *qualityVerb) print(r eval.Result, contextTokens int, bytesPerToken float64) error {
	if q.json {
		report := qualityReport{PPL: r.PPL, Tokens: r.Tokens, Chunks: r.Chunks,
			ContextTokens: contextTokens, KVBytesPerToken: bytesPerToken}
		if q.divergence {
			report.PPLReference, report.SameTop = r.PPLReference, &r.SameTop
			report.LogRatio, report.LogRatioError = &r.LogRatio, &r.LogRatioError
			report.KLD = &kldReport{r.KLD.Mean, r.KLD.Error, r.KLD.Median, r.KLD.P99, r.KLD.Max}
		}
		return writeJSON(q.stdout, report)
	}
	row := func(name, format string, args ...any) {
		fmt.Fprintf(q.stdout, "%-22s  %s\n", name, fmt.Sprintf(format, args...))
	}
	row("perplexity", "%.4f", r.PPL)
	if q.divergence {
		row("of the f16 cache", "%.4f", r.PPLReference)
		row("ln of their ratio", "%.5f ± %.5f", r.LogRatio, r.LogRatioError)
		row("KL divergence, mean", "%.6f ± %.6f", r.KLD.Mean, r.KLD.Error)
		row("  median, 99 %, max", "%.6f  %.6f  %.6f", r.KLD.Median, r.KLD.P99, r.KLD.Max)
		row("same likeliest token", "%.2f %%", 100*r.SameTop)
	}
	row("tokens scored", "%d in %d chunks of %d", r.Tokens, r.Chunks, contextTokens)
	row("cache bytes per token", "%.1f", bytesPerToken)
	return nil
}
