package budget

import (
	"math"
	"math/rand/v2"
	"testing"
)

// drawClasses draws a small problem; equal costs and bytes are frequent.
func drawClasses(random *rand.Rand) ([][]choice, int64) {
	classes := make([][]choice, 1+random.IntN(6))
	var most int64
	for i := range classes {
		classes[i] = make([]choice, 1+random.IntN(6))
		var dearest int64
		for o := range classes[i] {
			c := choice{int64(random.IntN(30)), uint64(random.IntN(40))}
			if random.IntN(2) == 0 {
				c.cost = uint64(random.Int64N(costScale))
			}
			classes[i][o] = c
			dearest = max(dearest, c.bytes)
		}
		most += dearest
	}
	return classes, random.Int64N(most + 2)
}

// bruteForce tries everything.
func bruteForce(classes [][]choice, capacity int64) (bytes int64, cost uint64, ok bool) {
	if len(classes) == 0 {
		return 0, 0, capacity >= 0
	}
	cost = math.MaxUint64
	for _, o := range classes[0] {
		b, c, fits := bruteForce(classes[1:], capacity-o.bytes)
		if b, c = b+o.bytes, c+o.cost; fits && (c < cost || (c == cost && b < bytes)) {
			bytes, cost, ok = b, c, true
		}
	}
	return bytes, cost, ok
}

func sumOf(classes [][]choice, options []int) (bytes int64, cost uint64) {
	for i, o := range options {
		bytes, cost = bytes+classes[i][o].bytes, cost+classes[i][o].cost
	}
	return bytes, cost
}

func TestKnapsackEqualsBruteForce(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 1))
	for i := range 10_000 {
		classes, capacity := drawClasses(random)
		wantBytes, wantCost, wantOK := bruteForce(classes, capacity)
		options, ok := knapsack(classes, capacity)
		if ok != wantOK {
			t.Fatalf("case %d: found %t, brute force %t", i, ok, wantOK)
		}
		if !ok {
			continue
		}
		if bytes, cost := sumOf(classes, options); bytes != wantBytes || cost != wantCost {
			t.Fatalf("case %d: %v with capacity %d: %d bytes, cost %d; brute force has %d, %d",
				i, classes, capacity, bytes, cost, wantBytes, wantCost)
		}
	}
}

// bigProblem is a model of 80 layers with 24 options a side, costs as of cache
// formats: four times less for each bit, with layers of all weights.
func bigProblem(seed uint64, unevenBytes bool) [][]choice {
	random := rand.New(rand.NewPCG(seed, 2))
	classes := make([][]choice, 160)
	for i := range classes {
		weight := math.Exp(3 * random.NormFloat64())
		for o := range 24 {
			bits := 1 + float64(o)/3
			bytes := int64(1088 * 8 * 100 * (bits + 0.25) / 4)
			if unevenBytes {
				bytes += int64(random.IntN(997))
			}
			cost := weight * math.Exp2(-2*bits) * (1 + random.Float64()/5)
			classes[i] = append(classes[i], choice{bytes, uint64(cost * (1 << 30))})
		}
	}
	return classes
}

// The planned bytes rise with the budget and the cost falls, at any granularity of
// bytes.
func TestKnapsackOfALargeModel(t *testing.T) {
	for _, uneven := range []bool{false, true} {
		classes := bigProblem(1, uneven)
		least, most := int64(0), int64(0)
		for _, class := range classes {
			least, most = least+class[0].bytes, most+class[len(class)-1].bytes
		}
		last := uint64(math.MaxUint64)
		for step := int64(0); step <= 10; step++ {
			capacity := least + (most-least)*step/10 + 1000
			options, ok := knapsack(classes, capacity)
			if !ok {
				t.Fatalf("nothing fits %d bytes of %d to %d", capacity, least, most)
			}
			bytes, cost := sumOf(classes, options)
			if bytes > capacity || cost > last {
				t.Errorf("capacity %d: %d bytes, cost %d after %d", capacity, bytes, cost, last)
			}
			last = cost
		}
	}
}

func TestCostsAreScaledToTheLargest(t *testing.T) {
	got := scaleCosts([]float64{0, 1, 2, 0.5 / costScale})
	for i, want := range []uint64{0, costScale / 2, costScale, 0} {
		if got[i] != want {
			t.Errorf("cost %d = %d; want %d", i, got[i], want)
		}
	}
	if got := scaleCosts([]float64{0, 0}); got[0] != 0 || got[1] != 0 {
		t.Errorf("nothing costs something: %v", got)
	}
}

// Equal costs: the fewest bytes, and always the same options.
func TestKnapsackBreaksTies(t *testing.T) {
	classes := [][]choice{{{5, 1}, {3, 1}, {9, 0}}, {{5, 1}, {3, 1}, {9, 0}}}
	options, ok := knapsack(classes, 12)
	if !ok || options[0] == options[1] || options[0]+options[1] != 3 {
		t.Errorf("options %v; want one of 3 bytes and one of 9", options)
	}
	for range 10 {
		if again, _ := knapsack(classes, 12); again[0] != options[0] {
			t.Errorf("options %v, then %v", options, again)
		}
	}
}

func BenchmarkKnapsack(b *testing.B) {
	for _, uneven := range []bool{false, true} {
		classes := bigProblem(3, uneven)
		var capacity int64
		for _, class := range classes {
			capacity += class[9].bytes
		}
		b.Run(map[bool]string{false: "even", true: "uneven"}[uneven], func(b *testing.B) {
			for b.Loop() {
				knapsack(classes, capacity)
			}
		})
	}
}
