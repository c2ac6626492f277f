package arena

// An Arena's life: New maps and prefaults, Take and Slice hand out pieces from
// the front, Seal ends that, Close unmaps. The mapping holds no Go pointers
// (the collector does not look into it); Slice refuses types that have them.

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

// Align is the alignment of every piece in bytes: a cache line, and the widest
// vector a kernel loads.
const Align = 64

// Round returns n rounded up to Align: what one piece of n bytes really takes.
func Round(n int64) int64 { return (n + Align - 1) &^ (Align - 1) }

// RoundPage returns n rounded up to the page size of this machine: what a
// mapping of n bytes really takes.
func RoundPage(n int64) int64 {
	page := int64(PageBytes())
	return (n + page - 1) / page * page
}

// Options are wishes: what the system denies is reported in Status, not fatal.
type Options struct {
	Lock      bool // keep the mapping in memory (mlock)
	HugePages bool // ask for large pages behind it
}

// Status tells what became of the wishes.
type Status struct {
	Locked         bool
	LockError      string // why not, when asked for
	HugePages      bool   // the system took the hint; it may still not act on it
	HugePagesError string // why not, when asked for
	PageBytes      int    // page size of this machine
}

// Arena is one mapping and its ledger. It is built by one goroutine; once
// sealed, everything but Close may be called from many.
type Arena struct {
	region   region
	memory   []byte // the mapping, whole pages
	capacity int64  // what may be handed out; the rest of memory is rounding
	used     int64
	sealed   bool
	closed   bool
	ledger   [NumPurposes]int64
	status   Status
}

// New maps sizeBytes bytes, rounded up to whole pages, zeroed and present in
// memory. A negative or impossible size and a refusal of the system are
// errors; size 0 is an arena from which only empty pieces can be taken.
func New(sizeBytes int64, o Options) (*Arena, error) {
	if sizeBytes < 0 {
		return nil, fmt.Errorf("arena: size is %d bytes; it must not be negative", sizeBytes)
	}
	// Room is left for rounding and for the guards around the mapping.
	if limit := int64(math.MaxInt) - 4*int64(PageBytes()); sizeBytes > limit {
		return nil, fmt.Errorf("arena: %d bytes are more than one process of this system can map "+
			"(%d); ask for a smaller context", sizeBytes, limit)
	}
	a := &Arena{capacity: Round(sizeBytes), status: Status{PageBytes: PageBytes()}}
	mappedBytes := RoundPage(a.capacity)
	a.ledger[PageRounding] = mappedBytes - a.capacity
	if mappedBytes == 0 {
		return a, nil
	}
	if err := a.open(int(mappedBytes), o); err != nil {
		return nil, fmt.Errorf("arena: the system gives no %d bytes: %w; "+
			"ask for a smaller context or budget", mappedBytes, err)
	}
	return a, nil
}

// open maps, hints, prefaults and locks, in this order: the hint must come
// before the pages do.
func (a *Arena) open(mappedBytes int, o Options) error {
	var err error
	if a.region, a.memory, err = mapRegion(mappedBytes); err != nil {
		return err
	}
	if o.HugePages {
		a.status.HugePages, a.status.HugePagesError = outcome(adviseHuge(a.memory))
	}
	if err := prefault(a.memory); err != nil {
		a.region.unmap()
		return err
	}
	if o.Lock {
		a.status.Locked, a.status.LockError = outcome(lock(a.memory))
	}
	return nil
}

func outcome(err error) (bool, string) {
	if err != nil {
		return false, err.Error()
	}
	return true, ""
}

// touch writes one byte of every page, which makes the system provide it.
func touch(memory []byte) {
	for i := 0; i < len(memory); i += PageBytes() {
		memory[i] = 0
	}
}

// Take hands out one piece of Σ parts bytes, aligned to Align and zeroed. Each
// part is counted under its purpose as given; what rounds the sum up to Align
// is counted under the purpose of the last part. Taking after Seal or Close,
// more than is left, a negative size or memory that lies outside the mapping
// (Purpose.Outside) is a bug of the caller.
func (a *Arena) Take(parts ...Line) []byte {
	var sumBytes int64
	for _, part := range parts {
		a.checkPart(part)
		if sumBytes > math.MaxInt64-Align-part.Bytes {
			panic(fmt.Sprintf("arena: BUG: parts %v overflow", parts))
		}
		sumBytes += part.Bytes
	}
	takenBytes := Round(sumBytes)
	if takenBytes > a.capacity-a.used {
		panic(fmt.Sprintf("arena: BUG: %d bytes taken for %v, %d of %d left",
			takenBytes, parts, a.capacity-a.used, a.capacity))
	}
	for _, part := range parts {
		a.ledger[part.Purpose] += part.Bytes
	}
	if takenBytes > 0 {
		a.ledger[parts[len(parts)-1].Purpose] += takenBytes - sumBytes
	}
	start := a.used
	a.used += takenBytes
	return a.memory[start : start+sumBytes : start+sumBytes]
}

func (a *Arena) checkPart(part Line) {
	switch {
	case a.closed:
		panic(fmt.Sprintf("arena: BUG: %d bytes of %s taken after Close", part.Bytes, part.Purpose))
	case a.sealed:
		panic(fmt.Sprintf("arena: BUG: %d bytes of %s taken after Seal", part.Bytes, part.Purpose))
	case part.Bytes < 0:
		panic(fmt.Sprintf("arena: BUG: %d bytes of %s taken", part.Bytes, part.Purpose))
	case part.Purpose >= PageRounding || part.Purpose.Outside():
		panic(fmt.Sprintf("arena: BUG: %s is no memory of the arena; Note it", part.Purpose))
	}
}

// Slice hands out n zeroed values of T and counts Round(n·sizeof(T)) bytes.
// T must hold no Go pointers, for the collector does not see the mapping.
func Slice[T any](a *Arena, p Purpose, n int) []T {
	t := reflect.TypeFor[T]()
	if hasPointers(t) {
		panic(fmt.Sprintf("arena: BUG: %s has pointers; the collector would miss them", t))
	}
	if n < 0 || (t.Size() > 0 && uint64(n) > uint64(math.MaxInt-Align)/uint64(t.Size())) {
		panic(fmt.Sprintf("arena: BUG: %d values of %s taken", n, t))
	}
	piece := a.Take(Line{p, int64(n) * int64(t.Size())})
	if len(piece) == 0 {
		return make([]T, n)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&piece[0])), n)
}

func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	}
	return t.Kind() > reflect.Complex128
}

// Note counts memory that is not in the mapping: weights, the program image,
// the tokenizer, the Go reserve. Noting memory that Take hands out is a bug.
func (a *Arena) Note(p Purpose, bytes int64) {
	if bytes < 0 || !p.Outside() {
		panic(fmt.Sprintf("arena: BUG: %d bytes of %s noted", bytes, p))
	}
	a.ledger[p] += bytes
}

// Seal ends the handing out: every later Take panics.
func (a *Arena) Seal() { a.sealed = true }

// Ledger returns the purposes that hold bytes, in the order of Purpose. When
// the arena is used up, the lines within the mapping sum to MappedBytes.
func (a *Arena) Ledger() []Line {
	var lines []Line
	for p, bytes := range a.ledger {
		if bytes > 0 {
			lines = append(lines, Line{Purpose(p), bytes})
		}
	}
	return lines
}

// MappedBytes is the size of the mapping, whole pages.
func (a *Arena) MappedBytes() int64 { return int64(len(a.memory)) }

// UsedBytes is what has been taken, each piece rounded up to Align.
func (a *Arena) UsedBytes() int64 { return a.used }

// Address is where the mapping starts, 0 when it is empty or closed. It is
// for finding the mapping in the system's own account.
func (a *Arena) Address() uintptr {
	if len(a.memory) == 0 {
		return 0
	}
	return uintptr(unsafe.Pointer(&a.memory[0]))
}

// Status tells what became of the wishes in Options.
func (a *Arena) Status() Status { return a.status }

// Close unmaps. Every slice taken is invalid from then on. A second Close does
// nothing.
func (a *Arena) Close() error {
	if a.closed {
		return nil
	}
	a.closed = true
	if len(a.memory) == 0 {
		return nil
	}
	a.memory = nil
	if err := a.region.unmap(); err != nil {
		return fmt.Errorf("arena: unmapping: %w", err)
	}
	return nil
}
