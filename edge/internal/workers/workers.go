// Package workers is the fixed set of goroutines that share the work of a
// token: started once, waiting for the next job, never more.
//
// It is no scheduler: one job at a time, cut into units by the caller, each
// unit done once by whoever comes first. Results must not depend on who that
// is. Nothing is allocated while jobs run.
package workers

// How it works. One number, claim, holds how many units are unclaimed. A claim
// is a compare-and-swap from r to r-1, and it is valid for whatever job is
// running when it succeeds, so a worker that was held up between reading and
// claiming does no harm, and nobody waits for a worker that has claimed
// nothing. A second number, pending, holds how many units are unfinished; Run
// returns when it is 0. The job's fields are written before claim is set and
// stay until pending is 0, so whoever holds a claim reads them safely.
//
// A worker without work watches claim for a while (the next product of the
// same token is microseconds away; waking a parked goroutine costs tens of
// them), then parks. The caller waits for the last units in the same way. Both
// watches are short and bounded by time: when another process holds the core
// that a unit runs on, spinning would only take a second core away.

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Job is work that can be cut into units. Implementations are pointers that
// the caller keeps, so that a Run allocates nothing.
type Job interface {
	// Do does one unit. worker, below Pool.Threads, names the scratch memory
	// that nobody else uses meanwhile.
	Do(unit, worker int)
}

const (
	// idleSpin is how long a worker watches for the next job before it parks:
	// longer than the gaps within a token, shorter than the gaps between requests.
	idleSpin = 200 * time.Microsecond
	// joinSpin is how long the caller watches for the last units before it
	// parks: about the price of parking and being woken.
	joinSpin = 50 * time.Microsecond
	// looksPerClock is how many looks are taken between two looks at the clock.
	looksPerClock = 32
)

// padding keeps two counters from sharing a cache line, or a pair of lines
// that a core fetches together.
type padding [128]byte

// counter is an atomic number on cache lines of its own.
type counter struct {
	atomic.Int64
	_ padding
}

// Pool is a fixed set of workers. Worker 0 is whoever calls Run.
type Pool struct {
	threads int
	_       padding
	claim   counter // units of the running job not yet claimed
	pending counter // units of the running job not yet done
	running counter // 1 while a Run is in progress, closedPool after Close

	// The running job: written by Run before claim is set.
	job   Job
	units int64

	caller  *seat   // where Run waits for the last units
	seats   []*seat // [goroutines] where workers wait for a job
	failure atomic.Pointer[Panic]
	closing atomic.Bool
	done    sync.WaitGroup
}

const closedPool = 2

// New makes a pool of threads workers, the caller among them; threads below 1
// is a bug. No more goroutines are started than Go may use processors beside
// the caller's (GOMAXPROCS, which knows the affinity mask and the quota of the
// cgroup): more would only take turns. Results are the same.
func New(threads int) *Pool {
	if threads < 1 {
		panic(fmt.Sprintf("workers: BUG: pool of %d threads", threads))
	}
	p := &Pool{threads: threads, caller: newSeat()}
	for worker := 1; worker < min(threads, runtime.GOMAXPROCS(0)); worker++ {
		s := newSeat()
		p.seats = append(p.seats, s)
		p.done.Add(1)
		go p.serve(s, worker)
	}
	return p
}

// Threads is the number of workers, the caller included: Do sees worker
// numbers below it.
func (p *Pool) Threads() int { return p.threads }

// Run does every unit from 0 to units-1 once and returns when all are done.
//
// When a job panics, so does Run, after the other workers have stopped; units
// not begun by then are dropped. The value is a *Panic where work was shared,
// the job's own where the caller did it alone. One Run at a time: a second
// one, also from within a job, is a bug, as is a Run after Close.
func (p *Pool) Run(units int, j Job) {
	if !p.running.CompareAndSwap(0, 1) {
		panic("workers: BUG: Run within a Run, or after Close")
	}
	defer p.running.Store(0)
	if units <= 1 || len(p.seats) == 0 {
		for unit := range units {
			j.Do(unit, 0)
		}
		return
	}
	p.job, p.units = j, int64(units)
	p.pending.Store(int64(units))
	p.claim.Store(int64(units))
	for _, s := range p.seats[:min(len(p.seats), units-1)] {
		s.rouse()
	}
	// Deferred, for a job may also end this goroutine (runtime.Goexit).
	defer p.finish()
	p.work(0)
}

// finish waits for the units that others have claimed, then passes on a panic.
func (p *Pool) finish() {
	for !spin(joinSpin, (*Pool).allDone, p) {
		p.caller.park((*Pool).allDone, p)
	}
	p.job = nil
	if failure := p.failure.Swap(nil); failure != nil {
		panic(failure)
	}
}

func (p *Pool) allDone() bool { return p.pending.Load() == 0 }

func (p *Pool) hasWork() bool { return p.claim.Load() > 0 || p.closing.Load() }

// spin looks until ready holds or the time is over, and says which.
func spin(limit time.Duration, ready func(*Pool) bool, p *Pool) bool {
	var start time.Time
	for look := 0; ; look++ {
		if ready(p) {
			return true
		}
		if look%looksPerClock != 0 {
			continue
		}
		if look == 0 {
			start = time.Now()
		} else if time.Since(start) > limit {
			return false
		}
	}
}

// serve is the life of one worker goroutine.
func (p *Pool) serve(s *seat, worker int) {
	defer p.done.Done()
	for {
		if !spin(idleSpin, (*Pool).hasWork, p) {
			s.park((*Pool).hasWork, p)
		}
		if p.closing.Load() {
			return
		}
		p.work(worker)
	}
}

// work claims and does units until none is left or one fails.
func (p *Pool) work(worker int) {
	claimed := false
	defer func() {
		if claimed {
			p.fail(worker, recover())
			p.finished(1 + p.claim.Swap(0))
		}
	}()
	for {
		left := p.claim.Load()
		if left <= 0 {
			return
		}
		if !p.claim.CompareAndSwap(left, left-1) {
			continue
		}
		claimed = true
		p.job.Do(int(p.units-left), worker)
		claimed = false
		p.finished(1)
	}
}

// finished counts units as done and wakes the caller after the last one.
func (p *Pool) finished(units int64) {
	if p.pending.Add(-units) == 0 {
		p.caller.rouse()
	}
}

// Panic is what Run panics with when a job did.
type Panic struct {
	Value  any    // what the job panicked with, nil when it ended its goroutine
	Worker int    // who did the unit
	Stack  []byte // where
}

// Error says what happened and where.
func (p *Panic) Error() string {
	if p.Value == nil {
		return fmt.Sprintf("workers: BUG: a job ended the goroutine of worker %d\n%s",
			p.Worker, p.Stack)
	}
	return fmt.Sprintf("%v\n\nin worker %d:\n%s", p.Value, p.Worker, p.Stack)
}

// fail keeps the first failure of a job. No value means that the job ended its
// goroutine; where that is the caller's, it may.
func (p *Pool) fail(worker int, value any) {
	if value == nil && worker == 0 {
		return
	}
	p.failure.CompareAndSwap(nil, &Panic{value, worker, debug.Stack()})
}

// Close ends the goroutines and waits for them. A second Close does nothing;
// closing while a Run is in progress is a bug.
func (p *Pool) Close() {
	if p.running.Load() == closedPool {
		return
	}
	if !p.running.CompareAndSwap(0, closedPool) {
		panic("workers: BUG: Close during a Run")
	}
	p.closing.Store(true)
	for _, s := range p.seats {
		s.rouse()
	}
	p.done.Wait()
}
