package kernels

// Buffers whose neighbours fault: a kernel that reads or writes one byte too
// far is caught at once, on the machine where it happens.

import (
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"
	"unsafe"
)

// guarded is one mapping between two forbidden pages. A test places its
// operands at either end of it.
type guarded struct {
	inner []byte
	turn  int
}

func newGuarded(t testing.TB, size int) *guarded {
	return &guarded{inner: mapGuarded(t, size+64)}
}

// place returns n bytes that end at the guard page, begin at the guard page,
// or lie off bytes from one of them, in turns. off is the operand's natural
// alignment.
func (g *guarded) place(n, off int) []byte {
	g.turn++
	var from int
	switch g.turn % 4 {
	case 0:
		from = len(g.inner) - n
	case 1:
		from = 0
	case 2:
		from = len(g.inner) - n - off
	case 3:
		from = off
	}
	return g.inner[from : from+n : from+n]
}

// copyOf is place filled with data.
func (g *guarded) copyOf(data []byte, off int) []byte {
	b := g.place(len(data), off)
	copy(b, data)
	return b
}

// floats is place as n float32 filled with canaries.
func (g *guarded) floats(n int) []float32 {
	if n == 0 {
		return nil
	}
	y := unsafe.Slice((*float32)(unsafe.Pointer(&g.place(4*n, 4)[0])), n)
	fillCanary(y)
	return y
}

// canary is a NaN that no kernel produces.
var canary = math.Float32frombits(0x7fc0dead)

func isCanary(v float32) bool { return math.Float32bits(v) == math.Float32bits(canary) }

func fillCanary(y []float32) {
	for i := range y {
		y[i] = canary
	}
}

// asBytes views float32 as the bytes that products take.
func asBytes(x []float32) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*len(x))
}

// noFault runs f and fails the test when f touches a guard page.
func noFault(t testing.TB, f func()) {
	t.Helper()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		t.Helper()
		if fault := recover(); fault != nil {
			t.Fatalf("touched memory outside its operands: %v", fault)
		}
	}()
	f()
}

// newRand is the tests' only source of chance: the seed is part of the call.
func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5eed)) }
