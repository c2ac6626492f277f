package budget

// The choice of formats at a given context: one pair for all layers, or every side
// of every layer for itself, exactly or by the paper's greedy rule.

import (
	"math"
	"slices"

	"edgeinfer/arena"
	"edgeinfer/kernels"
)

// best returns the plan with the least predicted distortion among the floor and all
// that the model may choose and that fits; of equals the smaller. Where none fits,
// that is the floor.
func (s *solver) best(contextTokens int, floor []LayerFormats) Plan {
	c := &chooser{solver: s, contextTokens: contextTokens, floor: floor}
	c.offer(floor)
	c.onePair()
	switch {
	case s.model.greedy:
		c.greedy()
	case !s.model.onePair:
		c.exact()
	}
	return c.plan
}

// chooser keeps the best plan seen.
type chooser struct {
	*solver
	contextTokens int
	floor         []LayerFormats
	plan          Plan
	fit           bool // plan fits
}

// offer takes formats where they are better than what there is, and says whether
// they fit.
func (c *chooser) offer(formats []LayerFormats) bool {
	p := c.solver.plan(c.contextTokens, formats)
	fit := c.fits(p)
	switch {
	case c.plan.Geometry.Layers == nil, fit && !c.fit:
	case !fit, p.PredictedDistortion > c.plan.PredictedDistortion:
		return fit
	case p.PredictedDistortion == c.plan.PredictedDistortion && p.TotalBytes >= c.plan.TotalBytes:
		return fit
	}
	c.plan, c.fit = p, fit
	return fit
}

// onePair offers all pairs with keys no coarser than values and no more than four
// bits finer, unless they are 16-bit rows. A layer whose floor is above a pair keeps
// its floor.
func (c *chooser) onePair() {
	least := c.floor[0]
	for _, f := range c.floor {
		if f.K.Bits < least.K.Bits {
			least.K = f.K
		}
		if f.V.Bits < least.V.Bits {
			least.V = f.V
		}
	}
	keys, values := c.pairSide(0, least.K), c.pairSide(1, least.V)
	formats := make([]LayerFormats, len(c.Shape))
	for _, key := range keys {
		for _, value := range values {
			k, v := key.format, value.format
			if k.Bits < v.Bits || (k.Quantized() && k.Bits > v.Bits+4) {
				continue
			}
			for i, floor := range c.floor {
				formats[i] = LayerFormats{atLeast(k, floor.K), atLeast(v, floor.V)}
			}
			c.offer(formats)
		}
	}
}

// atLeast is f, or the floor where f has fewer bits.
func atLeast(f, floor kernels.KVFormat) kernels.KVFormat {
	if f.Bits < floor.Bits {
		return floor
	}
	return f
}

// pairSide is the pair's menu of a side, the dominated left out.
func (c *chooser) pairSide(side int, floor kernels.KVFormat) []option {
	options := make([]option, 0, 32)
	for _, f := range pairMenu(side, floor) {
		o := option{format: f}
		for i := range c.Shape {
			o.bytes += c.sideBytes(i, side, f)
			o.distortion += c.model.of(i, side, f)
		}
		options = append(options, o)
	}
	return pareto(options)
}

// sideBytes is what a side of a layer takes in format f at the context, of keys
// with their means and Λ.
func (c *chooser) sideBytes(layer, side int, f kernels.KVFormat) int64 {
	l := c.Shape[layer]
	g := kernels.KVGeometry{ContextTokens: c.contextTokens, Sessions: c.Sessions,
		WindowTiles: c.WindowTiles, SinkTiles: c.SinkTiles}
	bytes := g.Store(l, f).Bytes().Total()
	if l.K = f; side == 0 {
		bytes += g.KeyMeanBytes(l)
	}
	return bytes
}

// greedy raises the side with the largest gain by one bit, as long as that fits:
// the rule of the paper's code.
func (c *chooser) greedy() {
	formats := slices.Clone(c.floor)
	full := make([][2]bool, len(formats))
	for {
		layer, side, most := -1, 0, 0.0
		for i, f := range formats {
			for j, g := range [2]kernels.KVFormat{f.K, f.V} {
				if full[i][j] || !g.Quantized() || g.Bits == 8 {
					continue
				}
				finer := kindDefaults(kernels.KVRows, j, g.Bits+1)
				if gain := c.model.of(i, j, g) - c.model.of(i, j, finer); gain > most {
					layer, side, most = i, j, gain
				}
			}
		}
		if layer < 0 {
			return
		}
		before := formats[layer]
		if side == 0 {
			formats[layer].K = kindDefaults(kernels.KVRows, 0, before.K.Bits+1)
		} else {
			formats[layer].V = kindDefaults(kernels.KVRows, 1, before.V.Bits+1)
		}
		if !c.offer(formats) {
			formats[layer], full[layer][side] = before, true
		}
	}
}

// exact solves the knapsack over all sides of all layers. What scratch and page
// table take depends on whether there are float rows besides coded ones and on the
// finest groups; it is solved for each case, each with what it takes.
func (c *chooser) exact() {
	for _, finest := range [...]int{64, 0} {
		for _, floats := range [...]bool{false, true} {
			c.knapsack(func(f kernels.KVFormat) bool {
				return (floats || f.Quantized()) && (!f.Quantized() || f.Group >= finest)
			})
		}
	}
}

// knapsack offers the best plan of allowed formats. What is beside the pages is
// taken from a first guess; where a solution needs more of it, it is solved again
// with that much less room.
func (c *chooser) knapsack(allowed func(kernels.KVFormat) bool) {
	options := c.options(allowed)
	if options == nil {
		return
	}
	classes := classesOf(options)
	chosen := make([]int, len(classes))
	capacity := c.capacity(options, chosen)
	for range 4 {
		var ok bool
		if chosen, ok = knapsack(classes, capacity); !ok {
			return
		}
		if c.offer(formatsOf(options, chosen)) {
			return
		}
		capacity = min(capacity-1, c.capacity(options, chosen))
	}
}

// options returns the allowed options of each (layer, side), keys first; nil where
// one has none.
func (c *chooser) options(allowed func(kernels.KVFormat) bool) [][]option {
	var all [][]option
	for i, floor := range c.floor {
		for side, least := range [2]kernels.KVFormat{floor.K, floor.V} {
			var options []option
			for _, f := range menu(side, least, c.WindowTiles, c.model.formats(side)) {
				if allowed(f) {
					options = append(options, option{f, c.sideBytes(i, side, f), c.model.of(i, side, f)})
				}
			}
			if len(options) == 0 {
				return nil
			}
			all = append(all, pareto(options))
		}
	}
	return all
}

// classesOf are the options as the knapsack takes them.
func classesOf(options [][]option) [][]choice {
	var distortions []float64
	for _, class := range options {
		for _, o := range class {
			distortions = append(distortions, o.distortion)
		}
	}
	costs := scaleCosts(distortions)
	classes := make([][]choice, len(options))
	for i, class := range options {
		for _, o := range class {
			classes[i] = append(classes[i], choice{o.bytes, costs[0]})
			costs = costs[1:]
		}
	}
	return classes
}

// formatsOf are the formats of the options chosen.
func formatsOf(options [][]option, chosen []int) []LayerFormats {
	formats := make([]LayerFormats, len(options)/2)
	for i := range formats {
		formats[i] = LayerFormats{options[2*i][chosen[2*i]].format, options[2*i+1][chosen[2*i+1]].format}
	}
	return formats
}

// capacity is what the limits leave for the bytes of the classes when everything
// else is as it is with these options.
func (c *chooser) capacity(options [][]option, chosen []int) int64 {
	var pages int64
	for class, at := range chosen {
		pages = saturated(pages, options[class][at].bytes)
	}
	p := c.solver.plan(c.contextTokens, formatsOf(options, chosen))
	inside := arenaBytes(p.Lines)
	outside := c.residentBytes(p) - inside
	for _, line := range p.Lines {
		if line.Purpose == arena.PageRounding {
			outside -= line.Bytes
		}
	}
	// The mapping is whole pages.
	room := (c.LimitBytes - outside) / c.PageBytes * c.PageBytes
	capacity := room - (inside - pages)
	if c.KVLimitBytes > 0 {
		capacity = min(capacity, c.KVLimitBytes-(p.KVBytes()-pages))
	}
	return min(capacity, math.MaxInt64/2)
}
