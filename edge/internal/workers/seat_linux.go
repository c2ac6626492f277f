package workers

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// seat is where one goroutine parks, on a futex: blocking on a channel takes a
// record from the runtime's cache of the processor and returns it to that of
// another, so that now and then a new one is allocated.
type seat struct {
	_      padding
	parked atomic.Uint32
	_      padding
}

// Operations of futex(2), for waiters of this process alone.
const (
	futexWaitPrivate = 128
	futexWakePrivate = 129
)

func newSeat() *seat { return new(seat) }

// park sleeps until rouse, unless ready already holds. It sets parked and looks
// once more for a reason not to; a wake that was meant for an earlier sleep
// finds parked still set and does no harm.
func (s *seat) park(ready func(*Pool) bool, p *Pool) {
	s.parked.Store(1)
	if ready(p) && s.parked.CompareAndSwap(1, 0) {
		return
	}
	for s.parked.Load() == 1 {
		unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&s.parked)), futexWaitPrivate, 1, 0, 0, 0)
	}
}

func (s *seat) rouse() {
	if s.parked.Load() == 1 && s.parked.CompareAndSwap(1, 0) {
		unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&s.parked)), futexWakePrivate, 1, 0, 0, 0)
	}
}
