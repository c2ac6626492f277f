package workers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// open makes a pool with so many goroutines, however few processors there are.
func open(t testing.TB, threads int) *Pool {
	t.Helper()
	before := runtime.GOMAXPROCS(max(threads, runtime.NumCPU()))
	p := New(threads)
	t.Cleanup(func() {
		p.Close()
		runtime.GOMAXPROCS(before)
	})
	return p
}

// tally counts how often each unit was done, and catches a worker number that
// two goroutines use at once.
type tally struct {
	t       testing.TB
	threads int
	times   []atomic.Int32 // [units]
	busy    []atomic.Int32 // [threads]
	spin    int
}

func newTally(t testing.TB, p *Pool, units int) *tally {
	return &tally{t: t, threads: p.Threads(), times: make([]atomic.Int32, units),
		busy: make([]atomic.Int32, p.Threads())}
}

func (j *tally) Do(unit, worker int) {
	if !j.busy[worker].CompareAndSwap(0, 1) {
		j.t.Errorf("worker %d runs twice at once", worker)
	}
	j.times[unit].Add(1)
	for i := 0; i < j.spin; i++ {
		runtime.KeepAlive(i)
	}
	j.busy[worker].Store(0)
}

func (j *tally) check(runs int) {
	j.t.Helper()
	for unit := range j.times {
		if got := int(j.times[unit].Load()); got != runs {
			j.t.Fatalf("unit %d of %d was done %d times in %d runs", unit, len(j.times), got, runs)
		}
	}
}

func TestEveryUnitOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 8, 33} {
		p := open(t, threads)
		if got := p.Threads(); got != threads {
			t.Errorf("New(%d).Threads() = %d", threads, got)
		}
		for _, units := range []int{0, 1, 2, 3, threads - 1, threads, threads + 1, 100, 1000} {
			j := newTally(t, p, units)
			j.spin = 100
			for range 20 {
				p.Run(units, j)
			}
			j.check(20)
		}
	}
}

func TestUnitsOfAnySizeAndOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	p := open(t, 4)
	for range 2000 {
		j := newTally(t, p, random.IntN(20))
		j.spin = random.IntN(2000)
		p.Run(len(j.times), j)
		j.check(1)
	}
}

func TestManyEmptyRuns(t *testing.T) {
	p := open(t, 3)
	j := newTally(t, p, 4)
	const runs = 100_000
	for range runs {
		p.Run(4, j)
		p.Run(0, j)
	}
	j.check(runs)
}

func TestOneProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	alone := New(4)
	defer alone.Close()
	if got := len(alone.seats); got != 0 {
		t.Errorf("New(4) on one processor starts %d goroutines; want 0", got)
	}
	j := newTally(t, alone, 10)
	alone.Run(10, j)
	j.check(1)
	if alone.Threads() != 4 {
		t.Errorf("Threads = %d; want 4, as asked", alone.Threads())
	}
}

// TestProcessorsTakenAway runs a pool of goroutines on fewer processors than
// it was made for: the caller must yield to a worker that holds a unit.
func TestProcessorsTakenAway(t *testing.T) {
	p := open(t, 4)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	j := newTally(t, p, 8)
	j.spin = 5000
	const runs = 3000
	for range runs {
		p.Run(8, j)
	}
	j.check(runs)
}

// rendezvous makes every unit wait until all have begun: it ends only when
// each is done by another goroutine, parked ones included.
type rendezvous struct{ begun sync.WaitGroup }

func (j *rendezvous) Do(int, int) {
	j.begun.Done()
	j.begun.Wait()
}

func TestWorkersWorkAtTheSameTime(t *testing.T) {
	p := open(t, 4)
	for _, pause := range []time.Duration{0, idleSpin / 2, idleSpin, 5 * idleSpin} {
		for range 20 {
			time.Sleep(pause)
			j := &rendezvous{}
			j.begun.Add(4)
			p.Run(4, j)
		}
	}
}

// slowOthers makes every worker but the caller's slow enough that the caller
// stops watching and parks.
type slowOthers struct {
	sleep time.Duration
	done  atomic.Int32
	begun sync.WaitGroup
}

func (j *slowOthers) Do(unit, worker int) {
	j.begun.Done()
	j.begun.Wait()
	if worker != 0 {
		time.Sleep(j.sleep)
	}
	j.done.Add(1)
}

func TestCallerParksUntilTheLastUnit(t *testing.T) {
	p := open(t, 3)
	for _, sleep := range []time.Duration{joinSpin / 2, joinSpin, 20 * joinSpin} {
		for range 20 {
			j := &slowOthers{sleep: sleep}
			j.begun.Add(3)
			p.Run(3, j)
			if got := j.done.Load(); got != 3 {
				t.Fatalf("Run returned with %d of 3 units done (others slept %v)", got, sleep)
			}
		}
	}
}

func TestNoAllocations(t *testing.T) {
	for _, threads := range []int{1, 2, 4} {
		p := open(t, threads)
		j := newTally(t, p, 16)
		j.spin = 200
		smallest := ^uint64(0)
		for range 3 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range 2000 {
				p.Run(16, j)
			}
			runtime.ReadMemStats(&after)
			smallest = min(smallest, after.Mallocs-before.Mallocs)
		}
		if smallest != 0 {
			t.Errorf("%d threads: 2000 runs made %d allocations at least; want 0", threads, smallest)
		}
	}
}

// failing panics in one unit, from a worker of the test's choice if it can.
type failing struct {
	tally
	unit  int
	cause any
}

func (j *failing) Do(unit, worker int) {
	if unit == j.unit {
		panic(j.cause)
	}
	j.tally.Do(unit, worker)
}

func recovered(f func()) (cause any) {
	defer func() { cause = recover() }()
	f()
	return nil
}

func TestPanicReachesTheCaller(t *testing.T) {
	cause := errors.New("kernels: BUG: a test")
	p := open(t, 3)
	for unit := range 50 {
		j := &failing{tally: *newTally(t, p, 50), unit: unit, cause: cause}
		failure, ok := recovered(func() { p.Run(50, j) }).(*Panic)
		if !ok || failure.Value != cause || failure.Worker < 0 || failure.Worker > 2 {
			t.Fatalf("panic in unit %d reached the caller as %v", unit, failure)
		}
		for _, part := range []string{cause.Error(), "failing).Do", "in worker"} {
			if !strings.Contains(failure.Error(), part) {
				t.Errorf("Panic.Error = %q; want it to say %q", failure.Error(), part)
			}
		}
		// The pool is whole again.
		good := newTally(t, p, 50)
		p.Run(50, good)
		good.check(1)
	}
	if got := recovered(func() { p.Run(1, &failing{cause: cause}) }); got != cause {
		t.Errorf("panic of the caller's own work = %v; want it as it was", got)
	}
}

// everyoneFails panics in all units at the same time.
type everyoneFails struct{ rendezvous }

func (j *everyoneFails) Do(unit, worker int) {
	j.rendezvous.Do(unit, worker)
	panic(fmt.Sprint("unit ", unit))
}

func TestPanicOfAllWorkersAtOnce(t *testing.T) {
	p := open(t, 4)
	for range 50 {
		j := &everyoneFails{}
		j.begun.Add(4)
		failure, ok := recovered(func() { p.Run(4, j) }).(*Panic)
		if !ok || !strings.HasPrefix(fmt.Sprint(failure.Value), "unit ") {
			t.Fatalf("Run = %v; want one of the panics", failure)
		}
	}
}

// quitter ends the goroutine of one worker.
type quitter struct {
	rendezvous
	worker int
}

func (j *quitter) Do(unit, worker int) {
	j.rendezvous.Do(unit, worker)
	if worker == j.worker {
		runtime.Goexit()
	}
}

func TestGoexitInAJob(t *testing.T) {
	p := open(t, 2)
	j := &quitter{worker: 1}
	j.begun.Add(2)
	failure, ok := recovered(func() { p.Run(2, j) }).(*Panic)
	if !ok || failure.Value != nil || !strings.Contains(failure.Error(), "workers: BUG: ") {
		t.Fatalf("Run with a worker that leaves = %v; want a bug", failure)
	}
	good := newTally(t, p, 20)
	p.Run(20, good)
	good.check(1)

	p = open(t, 2)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		j := &quitter{worker: 0}
		j.begun.Add(2)
		p.Run(2, j)
		t.Error("Run returned although its goroutine was ended")
	}()
	<-gone
	good = newTally(t, p, 20)
	p.Run(20, good)
	good.check(1)
}

// nested calls Run from within a job.
type nested struct{ p *Pool }

func (j *nested) Do(int, int) { j.p.Run(1, j) }

func TestMisuseIsABug(t *testing.T) {
	wantBug := func(part string, f func()) {
		t.Helper()
		if got := fmt.Sprint(recovered(f)); !strings.Contains(got, "workers: BUG: "+part) {
			t.Errorf("panic = %q; want workers: BUG: %s", got, part)
		}
	}
	wantBug("pool of 0 threads", func() { New(0) })
	wantBug("pool of -3 threads", func() { New(-3) })
	p := open(t, 2)
	wantBug("Run within", func() { p.Run(1, &nested{p}) })
	wantBug("Run within", func() { p.Run(4, &nested{p}) })
	j := newTally(t, p, 3)
	p.Run(3, j)
	j.check(1)
	p.Close()
	p.Close()
	wantBug("Run within a Run, or after Close", func() { p.Run(3, j) })
	j.check(1)
}

func TestCloseEndsTheGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, pause := range []time.Duration{0, idleSpin, 10 * idleSpin} {
		for range 20 {
			p := open(t, 4)
			p.Run(0, newTally(t, p, 0))
			time.Sleep(pause)
			p.Close()
		}
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines after Close; %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}

func BenchmarkRun(b *testing.B) {
	for _, threads := range []int{1, 2} {
		for _, spin := range []int{0, 30_000} {
			b.Run(fmt.Sprintf("threads=%d/spin=%d", threads, spin), func(b *testing.B) {
				p := open(b, threads)
				j := newTally(b, p, 8)
				j.spin = spin
				for b.Loop() {
					p.Run(8, j)
				}
			})
		}
	}
}
