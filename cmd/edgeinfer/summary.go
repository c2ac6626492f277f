package main

// What run says about itself: what came out, how fast, and what the memory was
// used for. The ledger's lines are the plan's lines.

import (
	"fmt"
	"io"

	"edgeinfer/budget"
	"edgeinfer/edge"
)

// runReport is run's JSON document.
type runReport struct {
	Text          string     `json:"text"`
	Tokens        []int32    `json:"tokens"`
	PromptTokens  int        `json:"prompt_tokens"`
	CachedTokens  int        `json:"cached_tokens"`
	FinishReason  string     `json:"finish_reason"`
	ContextTokens int        `json:"context_tokens"`
	KV            string     `json:"kv"`
	Kernels       string     `json:"kernels"`
	Threads       int        `json:"threads"`
	Timings       runTimings `json:"timings"`
	Memory        runMemory  `json:"memory"`
}

type runTimings struct {
	PromptPerSecond    float64 `json:"prompt_per_second"`
	PredictedPerSecond float64 `json:"predicted_per_second"`
	FirstTokenMS       float64 `json:"first_token_ms"`
}

type runMemory struct {
	BudgetBytes  int64      `json:"budget_bytes"`
	BudgetSource string     `json:"budget_source"`
	PlannedBytes int64      `json:"planned_bytes"`
	UsedBytes    int64      `json:"used_bytes"`
	RssBytes     *int64     `json:"rss_bytes"` // null where the system does not say
	Lines        []jsonLine `json:"lines"`
}

func describeRun(e *edge.Engine, r edge.Result) runReport {
	plan := e.Plan()
	report := runReport{
		Text: r.Text, Tokens: r.Tokens, PromptTokens: r.PromptTokens, CachedTokens: r.CachedTokens,
		FinishReason: r.FinishReason, ContextTokens: e.ContextTokens(), KV: planText(plan),
		Kernels: e.Kernels(), Threads: e.Threads(),
		Timings: runTimings{r.Timings.PromptPerSecond, r.Timings.PredictedPerSecond,
			r.Timings.FirstTokenMS},
		Memory: runMemory{BudgetBytes: plan.LimitBytes, BudgetSource: plan.LimitSource,
			PlannedBytes: plan.TotalBytes, UsedBytes: e.UsedBytes(), Lines: jsonLines(e.Ledger())},
	}
	if report.Tokens == nil {
		report.Tokens = []int32{}
	}
	if rss, ok := residentBytes(); ok {
		report.Memory.RssBytes = &rss
	}
	return report
}

// finishWords say for people why an answer ended.
var finishWords = map[string]string{
	"stop":      "the text ended",
	"length":    "the limit was reached",
	"cancelled": "interrupted",
}

// writeSummary writes speeds, the way it was computed, and the ledger.
func writeSummary(w io.Writer, e *edge.Engine, r edge.Result) {
	plan, t := e.Plan(), r.Timings
	fmt.Fprintf(w, "\nprompt     %6d tokens  %9.1f tokens/s, first token after %.1f ms",
		r.PromptTokens, t.PromptPerSecond, t.FirstTokenMS)
	if r.CachedTokens > 0 {
		fmt.Fprintf(w, ", %d from the cache", r.CachedTokens)
	}
	fmt.Fprintf(w, "\ngenerated  %6d tokens  %9.1f tokens/s; %s\n",
		len(r.Tokens), t.PredictedPerSecond, finishWords[r.FinishReason])
	fmt.Fprintf(w, "computed with kernels %s, threads %d; context %d tokens, cache %s\n",
		e.Kernels(), e.Threads(), e.ContextTokens(), planText(plan))
	fmt.Fprintf(w, "memory, of a limit of %s (%s):\n",
		budget.FormatSize(plan.LimitBytes), plan.LimitSource)
	writeLines(w, e.Ledger(), e.UsedBytes())
	if rss, ok := residentBytes(); ok {
		writeBytes(w, "resident now", rss)
	}
}

// planText is the plan as --kv takes it.
func planText(p budget.Plan) string { return p.Choice().String() }
