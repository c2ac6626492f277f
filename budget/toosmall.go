package budget

// The refusal: what is needed, what there is and the ways out, each of which
// has been tried out before it is offered.

import (
	"fmt"
	"strings"
)

// TooSmallError says that what was asked for does not fit.
type TooSmallError struct {
	NeedBytes int64  // what the plan below needs
	HaveBytes int64  // what there is
	Source    string // of HaveBytes
	CacheOnly bool   // both are about the cache alone, which has its own limit
	KVBytes   int64  // what the plan's cache needs where it exceeds its own limit, else 0

	ContextTokens int    // the context that was asked for, or the smallest there is
	Plan          string // the formats that were asked for, or the floor

	// What would fit, each by itself; zero where nothing would.
	FitsContextTokens int    // largest context with the same formats
	FitsPlan          string // best formats with the same context
}

// Error says need, have and the way out.
func (e *TooSmallError) Error() string {
	subject, flag := "", "--budget"
	if e.CacheOnly {
		subject, flag = "the cache of ", "--kv-budget"
	}
	var ways []string
	if e.FitsContextTokens > 0 {
		ways = append(ways, fmt.Sprintf("--ctx-size %d fits", e.FitsContextTokens))
	}
	if e.FitsPlan != "" {
		ways = append(ways, fmt.Sprintf("--kv %s fits", e.FitsPlan))
	}
	enough := flag + " " + flagSize(e.NeedBytes)
	if e.KVBytes > 0 && !e.CacheOnly {
		enough += " with --kv-budget " + flagSize(e.KVBytes)
	}
	ways = append(ways, enough+" would do")
	if e.KVBytes == 0 {
		ways = append(ways, "--allow-paging starts regardless, slowly")
	}
	return fmt.Sprintf("budget: %sa context of %d tokens with %s needs %s, there are %s (%s): %s",
		subject, e.ContextTokens, e.Plan, FormatSize(e.NeedBytes), FormatSize(max(0, e.HaveBytes)),
		e.Source, strings.Join(ways, "; "))
}

// tooSmall explains why plan does not fit. The limit of the process is named
// first: a larger one may make room for the cache's.
func (s *solver) tooSmall(plan Plan) *TooSmallError {
	e := &TooSmallError{
		NeedBytes: plan.TotalBytes, HaveBytes: s.LimitBytes, Source: s.LimitSource,
		ContextTokens: plan.ContextTokens, Plan: FormatPlan(plan.Formats()),
	}
	if !s.cacheFits(plan) {
		e.KVBytes = plan.KVBytes()
	}
	if plan.TotalBytes <= s.LimitBytes {
		e.NeedBytes, e.HaveBytes, e.CacheOnly = plan.KVBytes(), s.KVLimitBytes, true
		e.Source = "--kv-budget"
	}
	below := min(s.contexts(), (plan.ContextTokens-1)/s.step)
	if n := s.largest(plan.Formats(), below); n > 0 {
		e.FitsContextTokens = s.context(n)
	}
	least := uniform(pair(2, 2), len(s.Shape))
	if p := s.best(plan.ContextTokens, least); s.fits(p) {
		e.FitsPlan = FormatPlan(p.Formats())
	}
	return e
}
