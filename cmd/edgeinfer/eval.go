package main

// eval logits: what the model computes for given tokens, for comparison with
// other programs. Nothing is sampled and no token is added.

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"edgeinfer/edge"
	"edgeinfer/edge/sample"

	"github.com/spf13/cobra"
)

func (p *program) evalCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "eval",
		Short: "Evaluate a model",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{c, unknownCommand(c, args[0])}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			return usageError{c, errors.New("say what to evaluate, as in \"edgeinfer eval logits\"")}
		},
	}
	c.AddCommand(p.evalLogitsCommand(), p.evalQualityCommand(false), p.evalQualityCommand(true))
	return c
}

// logitsVerb is one call of eval logits.
type logitsVerb struct {
	*program
	*settings
	tokens  []int32
	predict int
}

func (p *program) evalLogitsCommand() *cobra.Command {
	l := &logitsVerb{program: p, settings: newSettings()}
	l.contextTokens = 0
	c := &cobra.Command{
		Use:   "logits --tokens IDS [flags]",
		Short: "Show the logits after given tokens",
		Long: `logits runs the given tokens as they are and prints, as one JSON document, what the
model computes at the last of them: the 20 largest logits with their tokens, the first 16, their
mean and root mean square; and the likeliest token at every position. With -n, the likeliest
continuation too.

The context is what the model was trained with unless -c says otherwise.`,
		Example: `  edgeinfer eval logits --tokens 1,403,407,261,378 --kv f32
  edgeinfer eval logits -m model.gguf --tokens "504 3575 282" -n 16`,
		Args: noArguments("give the ids with --tokens 1,2,3"),
	}
	g := newGroup("Evaluation")
	g.add("tokens", "", "IDS", "", "token ids, separated by commas or blanks", l.setTokens)
	g.add("predict", "n", "N", "",
		"continue by the likeliest token so often",
		integer(&l.predict, 1, math.MaxInt32, "leave it out for no continuation"))
	return p.verb(c, l.settings, func(c *cobra.Command, _ []string) error {
		if len(l.tokens) == 0 {
			return usageError{c, errors.New("--tokens is missing; give ids such as --tokens 1,2,3")}
		}
		return l.run()
	}, g, l.modelFile(), l.memory(), l.compute())
}

// setTokens reads ids. Whether the model has them is for the model to say.
func (l *logitsVerb) setTokens(text string) error {
	l.tokens = nil
	for field := range strings.FieldsFuncSeq(strings.Trim(text, "[]"), func(r rune) bool {
		return r == ',' || r == ' ' || r == '\n' || r == '\t'
	}) {
		id, err := strconv.ParseInt(field, 10, 32)
		if err != nil || id < 0 {
			return fmt.Errorf("%q is no token id; ids are whole numbers from 0, as in 1,2,3", field)
		}
		l.tokens = append(l.tokens, int32(id))
	}
	return nil
}

// logitsReport is the JSON document of eval logits.
type logitsReport struct {
	Top        [][2]any  `json:"top"` // [id, logit], the largest first
	First16    []float32 `json:"first16"`
	Mean       float64   `json:"mean"`
	RMS        float64   `json:"rms"`
	ArgmaxEach []int32   `json:"argmax_each"`
	Greedy     []int32   `json:"greedy,omitempty"`
}

func (l *logitsVerb) run() error {
	source, err := l.load(l.settings)
	if err != nil {
		return err
	}
	engine, err := l.start(source)
	if err != nil {
		return err
	}
	defer engine.Close()
	session, err := engine.NewSession()
	if err != nil {
		return err
	}
	defer session.Close()
	var report logitsReport
	err = session.Eval(l.tokens, func(position int, logits []float32) {
		report.ArgmaxEach = append(report.ArgmaxEach, sample.Greedy(logits))
		if position == len(l.tokens)-1 {
			report.describe(logits)
		}
	})
	if err != nil {
		return err
	}
	if l.predict > 0 {
		if report.Greedy, err = l.greedy(session); err != nil {
			return err
		}
	}
	if math.IsNaN(report.RMS) || math.IsInf(report.RMS, 0) {
		return fmt.Errorf("the logits of the last position are not all finite numbers (rms %v): "+
			"the model file is damaged or its values overflow", report.RMS)
	}
	return writeJSON(l.stdout, report)
}

// greedy continues the tokens by the likeliest ones.
func (l *logitsVerb) greedy(session *edge.Session) ([]int32, error) {
	ctx, stop := watchSignals()
	defer stop()
	params := sample.Defaults()
	params.Temperature = 0
	result, err := session.Generate(ctx, edge.Request{Tokens: l.tokens, MaxTokens: l.predict,
		Sampling: params, IgnoreEOS: true}, func([]byte) {})
	return result.Tokens, cmp.Or(err, interruption(ctx))
}

// describe fills in what is said of the last position's logits.
func (r *logitsReport) describe(logits []float32) {
	var sum, squares float64
	ids := make([]int32, len(logits))
	for id, v := range logits {
		ids[id] = int32(id)
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	r.Mean, r.RMS = sum/float64(len(logits)), math.Sqrt(squares/float64(len(logits)))
	slices.SortStableFunc(ids, func(a, b int32) int { return cmp.Compare(logits[b], logits[a]) })
	for _, id := range ids[:min(20, len(ids))] {
		r.Top = append(r.Top, [2]any{id, logits[id]})
	}
	r.First16 = slices.Clone(logits[:min(16, len(logits))])
}
