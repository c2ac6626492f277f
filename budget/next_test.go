package budget

import "testing"

func TestNextIsTheLeastStepThatHelps(t *testing.T) {
	for _, limit := range []int64{135 << 20, 150 << 20, 165 << 20, 200 << 20} {
		for _, context := range []int{0, 1024, 4096} {
			r := smolRequest(limit)
			r.ContextTokens = context
			p, err := Solve(r)
			if err != nil {
				continue
			}
			step, ok := Next(r, p)
			if !ok {
				if FormatPlan(p.Formats()) != "f16" {
					t.Errorf("limit %d, context %d: %s has no next step", limit, context,
						FormatPlan(p.Formats()))
				}
				continue
			}
			r.LimitBytes = limit + step.MoreBytes
			if q := solve(t, r); !better(q, p) || !better(step.Plan, p) {
				t.Errorf("limit %d + %d: %s at %d is no better than %s at %d", limit, step.MoreBytes,
					FormatPlan(q.Formats()), q.ContextTokens, FormatPlan(p.Formats()), p.ContextTokens)
			}
			r.LimitBytes = limit + step.MoreBytes - max(4096, step.MoreBytes/32) - 1
			if q := solve(t, r); better(q, p) {
				t.Errorf("limit %d: %d more would do, the step is %d", limit, r.LimitBytes-limit,
					step.MoreBytes)
			}
		}
	}
}

func TestNothingToBuy(t *testing.T) {
	r := smolRequest(1 << 40)
	if step, ok := Next(r, solve(t, r)); ok {
		t.Errorf("where f16 fits at the trained context, Next = %+v", step)
	}
	r.KV, r.ContextTokens, r.LimitBytes = formats(t, "k4v4"), 512, 150<<20
	if step, ok := Next(r, solve(t, r)); ok {
		t.Errorf("where formats and context are given, Next = %+v", step)
	}
	r.ContextTokens, r.LimitBytes = 0, 135<<20
	p := solve(t, r)
	step, ok := Next(r, p)
	if !ok || step.Plan.ContextTokens != p.ContextTokens+32 {
		t.Errorf("given formats at %d tokens: Next = %d tokens, %v; want one tile more",
			p.ContextTokens, step.Plan.ContextTokens, ok)
	}
}
