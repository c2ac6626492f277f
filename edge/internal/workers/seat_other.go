//go:build !linux

package workers

// seat is where one goroutine parks. It sets parked, looks once more for a
// reason not to, and receives from wake; whoever sets parked back to 0 owes it
// exactly one value, so wake never blocks the sender.
type seat struct {
	parked counter
	wake   chan struct{} // capacity 1
}

func newSeat() *seat { return &seat{wake: make(chan struct{}, 1)} }

// park sleeps until rouse, unless ready already holds.
func (s *seat) park(ready func(*Pool) bool, p *Pool) {
	s.parked.Store(1)
	if ready(p) && s.parked.CompareAndSwap(1, 0) {
		return
	}
	<-s.wake
}

func (s *seat) rouse() {
	if s.parked.Load() == 1 && s.parked.CompareAndSwap(1, 0) {
		s.wake <- struct{}{}
	}
}
