package budget

// The multiple-choice knapsack: one option for each class, no more bytes than
// there are, the least cost. Classes are the (layer, side) pairs of a cache.
//
// Solved exactly and in integers, so that every machine finds the same plan. Classes
// are taken in turn; a state is what some choice for the classes so far costs, and
// one that has no fewer bytes and no less cost than another is dropped (Nemhauser
// and Ullmann, 1969). So is one that cannot beat a known solution even if the rest
// could take fractions of options (Dyer, Kayal and Walker, 1984): the relaxed rest
// is a walk down the convex hulls of its classes, steepest step first (Sinha and
// Zoltners, 1979).

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// choice is one option of a class.
type choice struct {
	bytes int64  // not negative
	cost  uint64 // scaled distortion; Σ over the classes stays below 2⁶³
}

// costScale is what the largest distortion of a problem becomes: fine enough to
// tell plans apart, coarse enough that no sum overflows.
const costScale = 1 << 40

// scaleCosts turns distortions into costs: rounded halves up, the largest costScale.
func scaleCosts(distortion []float64) []uint64 {
	var most float64
	for _, d := range distortion {
		most = max(most, d)
	}
	costs := make([]uint64, len(distortion))
	for i, d := range distortion {
		if most > 0 {
			costs[i] = uint64(math.Floor(d/most*costScale + 0.5))
		}
	}
	return costs
}

// knapsackState is a choice for the first classes.
type knapsackState struct {
	bytes  int64
	cost   uint64
	parent int32 // the state of one class fewer
	option int32 // of the last class
}

// knapsack returns the index of an option for each class such that their bytes are
// at most capacity and their cost is the least; of equals the fewest bytes, then
// the first found with classes and options in order. ok is false where not even the
// smallest options fit.
func knapsack(classes [][]choice, capacity int64) (options []int, ok bool) {
	rests := relaxRests(classes)
	least := rests[0].bytes
	if least > capacity {
		return nil, false
	}
	known := rests[0].greedy(classes, capacity)
	layers := make([][]knapsackState, len(classes)+1)
	layers[0] = []knapsackState{{}}
	for i, class := range classes {
		layers[i+1] = extend(layers[i], class, rests[i+1], capacity, known)
	}
	last := layers[len(classes)]
	at := int32(len(last) - 1) // Pareto states rise in bytes and fall in cost
	options = make([]int, len(classes))
	for i := len(classes); i > 0; i-- {
		s := layers[i][at]
		options[i-1], at = int(s.option), s.parent
	}
	return options, true
}

// extend makes the states with one class more.
func extend(states []knapsackState, class []choice, rest relaxation, capacity int64,
	known uint64) []knapsackState {
	var all []knapsackState
	for parent, s := range states {
		for option, o := range class {
			next := knapsackState{s.bytes + o.bytes, s.cost + o.cost, int32(parent), int32(option)}
			if next.bytes+rest.bytes > capacity {
				continue
			}
			if next.cost+rest.bound(capacity-next.bytes) <= known {
				all = append(all, next)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b knapsackState) int {
		return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.cost, b.cost))
	})
	kept := all[:0]
	for _, s := range all {
		if len(kept) == 0 || s.cost < kept[len(kept)-1].cost {
			kept = append(kept, s)
		}
	}
	return kept
}

// step is an edge of the convex hull of a class: from one option to a dearer one.
type step struct {
	class, option int // the option it leads to
	bytes         int64
	gain          uint64 // cost it saves
}

// steeper says whether a saves more a byte than b, exactly.
func steeper(a, b step) int {
	ah, al := bits.Mul64(a.gain, uint64(b.bytes))
	bh, bl := bits.Mul64(b.gain, uint64(a.bytes))
	return cmp.Or(cmp.Compare(bh, ah), cmp.Compare(bl, al))
}

// relaxation is what the classes from some class on cost if they could take
// fractions: all at their smallest, then the steps in falling order.
type relaxation struct {
	bytes int64  // of the smallest options
	cost  uint64 // theirs
	steps []step
	// Sums of the first steps: spent[i] bytes save gained[i].
	spent  []int64
	gained []uint64
}

// relaxRests returns the relaxation of the classes from each on; the last is of
// none.
func relaxRests(classes [][]choice) []relaxation {
	rests := make([]relaxation, len(classes)+1)
	rests[len(classes)] = relaxation{spent: []int64{0}, gained: []uint64{0}}
	for i := len(classes) - 1; i >= 0; i-- {
		smallest, steps := hull(classes[i], i)
		after := rests[i+1]
		r := relaxation{bytes: after.bytes + smallest.bytes, cost: after.cost + smallest.cost}
		r.steps = append(slices.Clone(after.steps), steps...)
		slices.SortStableFunc(r.steps, steeper)
		r.spent, r.gained = make([]int64, len(r.steps)+1), make([]uint64, len(r.steps)+1)
		for s, edge := range r.steps {
			r.spent[s+1], r.gained[s+1] = r.spent[s]+edge.bytes, r.gained[s]+edge.gain
		}
		rests[i] = r
	}
	return rests
}

// hull returns the smallest option of a class and the edges of the lower convex hull
// of its (bytes, cost) from there.
func hull(class []choice, index int) (choice, []step) {
	order := make([]int, len(class))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(class[a].bytes, class[b].bytes), cmp.Compare(class[a].cost, class[b].cost))
	})
	smallest := class[order[0]]
	last := smallest
	var steps []step
	for _, o := range order[1:] {
		next := class[o]
		if next.cost >= last.cost {
			continue
		}
		edge := step{index, o, next.bytes - last.bytes, last.cost - next.cost}
		for len(steps) > 0 && steeper(edge, steps[len(steps)-1]) <= 0 {
			previous := steps[len(steps)-1]
			edge.bytes, edge.gain = edge.bytes+previous.bytes, edge.gain+previous.gain
			steps = steps[:len(steps)-1]
		}
		steps = append(steps, edge)
		last = next
	}
	return smallest, steps
}

// bound is the least cost of the rest within bytes, rounded down; bytes are at
// least r.bytes.
func (r *relaxation) bound(bytes int64) uint64 {
	room := bytes - r.bytes
	whole, _ := slices.BinarySearch(r.spent, room+1)
	whole-- // the last sum that is at most room
	saved := r.gained[whole]
	if whole < len(r.steps) {
		edge := r.steps[whole]
		high, low := bits.Mul64(edge.gain, uint64(room-r.spent[whole]))
		part, rest := bits.Div64(high, low, uint64(edge.bytes))
		if saved += part; rest > 0 {
			saved++
		}
	}
	return r.cost - saved
}

// greedy returns the cost of a solution: all smallest, then every step in order
// that still fits, none of a class after one that did not.
func (r *relaxation) greedy(classes [][]choice, capacity int64) uint64 {
	room, cost := capacity-r.bytes, r.cost
	stopped := make([]bool, len(classes))
	for _, edge := range r.steps {
		if stopped[edge.class] || edge.bytes > room {
			stopped[edge.class] = true
			continue
		}
		room, cost = room-edge.bytes, cost-edge.gain
	}
	return cost
}
