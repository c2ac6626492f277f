package edge

// The board: what this machine was detected as, or what it is to be taken for.
// It gives a limit of memory and a number of threads, and nothing else.

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"edgeinfer/boards"
	"edgeinfer/budget"
)

// detected is what this machine is, looked at once.
var detected = sync.OnceValue(func() boards.Machine {
	return boards.Detect(os.DirFS("/"), os.Getpagesize())
})

// machine is this machine, taken for the board of o.
func (o *Options) machine() (boards.Machine, error) {
	m, err := detected().As(o.Board)
	if err != nil {
		return m, fmt.Errorf("edge: %w", err)
	}
	return m, nil
}

// defaultThreads is one for each fast core, within what the Go runtime was given
// (GOMAXPROCS); where nothing is known of the cores, that alone.
func defaultThreads(m boards.Machine) int {
	threads := min(runtime.GOMAXPROCS(0), maxThreads)
	if cores := m.FastCores(); cores > 0 {
		threads = min(threads, cores)
	}
	return threads
}

// limit returns the memory this process may take: the smallest of what the
// system grants and what the board leaves.
func (o *Options) limit() (bytes int64, source string, err error) {
	m, err := o.machine()
	if err != nil {
		return 0, "", inputError{err}
	}
	bytes, source, err = budget.DetectLimit("/")
	if usable := m.UsableBytes(); usable > 0 && (err != nil || usable < bytes) {
		return usable, usableSource(m.Board), nil
	}
	return bytes, source, err
}

// usableSource says where a board's usable memory comes from, with its
// arithmetic.
func usableSource(b boards.Board) string {
	return fmt.Sprintf("usable memory of board %s: %s − %s for the system = %s", b.FullName(),
		budget.FormatSize(b.Variant.RAMBytes), budget.FormatSize(b.Variant.ReserveBytes),
		budget.FormatSize(b.UsableBytes()))
}

// PlanFor returns the plan of the source's options on another board: within its
// usable memory, with a thread for each of its fast cores. Pages and the program
// image are this machine's.
func (s *Source) PlanFor(b boards.Board) (budget.Plan, error) {
	other := *s
	other.options.BudgetBytes = b.UsableBytes()
	if cores := b.FastCores(); cores > 0 {
		other.options.Threads = cores
	}
	plan, err := other.Plan()
	plan.LimitSource = usableSource(b)
	var small *budget.TooSmallError
	if errors.As(err, &small) && !small.CacheOnly {
		small.Source = plan.LimitSource
	}
	return plan, err
}

// WeightBytesPerToken is what computing one token reads of the weights: all of
// them, but of the embedding one row, unless it is the output matrix too.
func (s *Source) WeightBytesPerToken() int64 {
	var sum int64
	_, untied := s.file.Tensor("output.weight")
	for _, t := range s.file.Tensors {
		bytes := int64(len(t.Data))
		if t.Name == "token_embd.weight" && untied {
			bytes /= int64(s.model.Spec.Vocab)
		}
		sum += bytes
	}
	return sum
}

// Roofline is how many tokens a second the memory allows at most: what it gives
// over what one token reads, which is the weights and the cache of its session,
// empty or full. Arithmetic may allow less. It is 0 where bytesPerSecond is.
func (s *Source) Roofline(p budget.Plan, bytesPerSecond int64) (empty, full float64) {
	weights := float64(s.WeightBytesPerToken())
	cache := float64(p.KVBytes()) / float64(p.Geometry.Sessions)
	return float64(bytesPerSecond) / weights, float64(bytesPerSecond) / (weights + cache)
}
