package budget

// What one more step of memory would buy.

import "math"

// betterShare is what the next step's predicted distortion is at most, as a share of
// the plan's: single layers can be improved by less for a few bytes, which no one
// asks for.
const betterShare = 0.9

// Step is the least more memory that makes a plan better.
type Step struct {
	MoreBytes int64
	Plan      Plan // the plan with it: a longer context, or less distortion
}

// Next returns what the least more memory than r's limits would buy over p, the plan
// of r; all limits grow together. ok is false where nothing is left to the planner,
// or twice the memory would change nothing.
func Next(r Request, p Plan) (step Step, ok bool) {
	s, err := newSolver(r)
	if err != nil || s.learn() != nil || p.Paging || (r.KV != nil && r.ContextTokens != 0) {
		return step, false
	}
	limit, kvLimit := s.LimitBytes, s.KVLimitBytes
	try := func(more int64) bool {
		s.LimitBytes = saturated(limit, more)
		if kvLimit > 0 {
			s.KVLimitBytes = saturated(kvLimit, more)
		}
		plan, fits := s.solve()
		if !fits || !better(plan, p) {
			return false
		}
		more = max(1, plan.TotalBytes-limit)
		if kvLimit > 0 {
			more = max(more, plan.KVBytes()-kvLimit)
		}
		step, ok = Step{more, plan}, true
		return true
	}
	const first = 64 << 10
	least, most := int64(0), int64(first)
	for !try(most) {
		if most >= limit || most > math.MaxInt64/2 {
			return step, false
		}
		least, most = most, 2*most
	}
	for most = step.MoreBytes; most-least > max(s.PageBytes, most/64); most = min(most, step.MoreBytes) {
		if middle := least + (most-least)/2; !try(middle) {
			least = middle
		}
	}
	return step, true
}

// better says whether a plan is worth a step: it has a longer context or clearly
// less distortion at the same.
func better(q, p Plan) bool {
	return q.ContextTokens > p.ContextTokens ||
		(q.ContextTokens == p.ContextTokens &&
			q.PredictedDistortion <= betterShare*p.PredictedDistortion)
}
