package arena

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

func open(t *testing.T, sizeBytes int64) *Arena {
	t.Helper()
	a, err := New(sizeBytes, Options{})
	if err != nil {
		t.Fatalf("New(%d) = %v", sizeBytes, err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	})
	return a
}

// panicOf returns the message f panics with, "" when it returns.
func panicOf(f func()) (message string) {
	defer func() {
		if cause := recover(); cause != nil {
			message = fmt.Sprint(cause)
		}
	}()
	f()
	return ""
}

func wantBug(t *testing.T, f func(), part string) {
	t.Helper()
	got := panicOf(f)
	if !strings.HasPrefix(got, "arena: BUG: ") || !strings.Contains(got, part) {
		t.Errorf("panic = %q; want an arena bug that says %q", got, part)
	}
}

func TestEveryPurposeHasAName(t *testing.T) {
	seen := map[string]Purpose{}
	for p := range NumPurposes {
		name := p.String()
		if other, twice := seen[name]; name == "" || twice {
			t.Errorf("Purpose(%d) = %q, as Purpose(%d)", p, name, other)
		}
		seen[name] = p
	}
	if got := NumPurposes.String(); got != "Purpose(14)" {
		t.Errorf("NumPurposes = %q; want a number, not a panic", got)
	}
}

func TestLedgerCountsEveryByte(t *testing.T) {
	const sizeBytes = 64*5 + 128 + 64
	a := open(t, sizeBytes)
	page := a.Take(Line{KVPayload, 100}, Line{KVScales, 60}, Line{KVPadding, 90})
	if len(page) != 250 || cap(page) != 250 {
		t.Errorf("Take of 250 = len %d, cap %d", len(page), cap(page))
	}
	floats := Slice[float32](a, Scratch, 17) // 68 bytes, rounded to 128
	halves := Slice[uint16](a, KVWindow, 64)
	if len(floats) != 17 || len(halves) != 64 {
		t.Errorf("Slice lengths = %d, %d; want 17, 64", len(floats), len(halves))
	}
	a.Note(Weights, 1000)
	a.Note(GoReserve, 24)
	a.Note(Weights, 1)

	rounding := a.MappedBytes() - 64*8
	want := []Line{
		{Weights, 1001}, {KVPayload, 100}, {KVScales, 60}, {KVPadding, 96}, {KVWindow, 128},
		{Scratch, 128}, {GoReserve, 24}, {PageRounding, rounding},
	}
	if diff := cmp.Diff(want, a.Ledger()); diff != "" {
		t.Errorf("ledger (-want +got):\n%s", diff)
	}
	if got := a.UsedBytes(); got != 64*8 {
		t.Errorf("UsedBytes = %d; want %d", got, 64*8)
	}
	if sum := insideBytes(a); sum != a.MappedBytes() {
		t.Errorf("lines inside the mapping sum to %d; mapped %d", sum, a.MappedBytes())
	}
	if got := a.MappedBytes() % int64(a.Status().PageBytes); got != 0 || a.MappedBytes() < sizeBytes {
		t.Errorf("MappedBytes = %d is no whole number of %d-byte pages above %d",
			a.MappedBytes(), a.Status().PageBytes, sizeBytes)
	}
}

func insideBytes(a *Arena) int64 {
	var sum int64
	for _, line := range a.Ledger() {
		if !line.Purpose.Outside() {
			sum += line.Bytes
		}
	}
	return sum
}

func TestPiecesAreAlignedZeroedAndApart(t *testing.T) {
	a := open(t, 1<<16)
	var pieces [][]byte
	for n := range int64(200) {
		piece := a.Take(Line{Activations, n})
		if int64(len(piece)) != n || int64(cap(piece)) != n {
			t.Fatalf("Take(%d) = len %d, cap %d", n, len(piece), cap(piece))
		}
		if n == 0 {
			continue
		}
		if at := uintptr(unsafe.Pointer(&piece[0])); at%Align != 0 {
			t.Fatalf("Take(%d) lies at %#x; want a multiple of %d", n, at, Align)
		}
		for i := range piece {
			if piece[i] != 0 {
				t.Fatalf("Take(%d) is not zeroed at %d", n, i)
			}
			piece[i] = byte(n)
		}
		pieces = append(pieces, piece)
	}
	for _, piece := range pieces {
		for i := range piece {
			if piece[i] != byte(len(piece)) {
				t.Fatalf("piece of %d bytes was overwritten at %d", len(piece), i)
			}
		}
	}
}

func TestTakingIsRefusedAsABug(t *testing.T) {
	sealed := open(t, 4096)
	sealed.Seal()
	wantBug(t, func() { sealed.Take(Line{Scratch, 1}) }, "1 bytes of scratch taken after Seal")
	wantBug(t, func() { Slice[int8](sealed, Logits, 3) }, "3 bytes of logits taken after Seal")

	closed, err := New(4096, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	wantBug(t, func() { closed.Take(Line{Scratch, 1}) }, "after Close")

	a := open(t, 128)
	wantBug(t, func() { a.Take(Line{Scratch, 129}) }, "192 bytes taken")
	a.Take(Line{Scratch, 65})
	wantBug(t, func() { a.Take(Line{Scratch, 1}) }, "0 of 128 left")
	wantBug(t, func() { a.Take(Line{Scratch, -1}) }, "-1 bytes")
	wantBug(t, func() { a.Take(Line{Weights, 1}) }, "weights is no memory of the arena")
	wantBug(t, func() { a.Take(Line{PageRounding, 1}) }, "page rounding is no memory")
	wantBug(t, func() { a.Take(Line{NumPurposes, 1}) }, "Purpose(14)")
	wantBug(t, func() { a.Take(Line{Scratch, math.MaxInt64}) }, "overflow")
	wantBug(t, func() {
		a.Take(Line{Scratch, math.MaxInt64 / 2}, Line{KVScales, math.MaxInt64 / 2}, Line{Logits, 2})
	}, "overflow")
	wantBug(t, func() { Slice[float32](a, Scratch, -1) }, "-1 values")
	wantBug(t, func() { Slice[float64](a, Scratch, math.MaxInt/4) }, "values of float64")
	wantBug(t, func() { a.Note(Scratch, 1) }, "scratch noted")
	wantBug(t, func() { a.Note(Weights, -1) }, "-1 bytes of weights noted")
	if got := a.UsedBytes(); got != 128 {
		t.Errorf("UsedBytes after refusals = %d; want 128", got)
	}
}

func TestPageRoundingIsNotHandedOut(t *testing.T) {
	a := open(t, 64)
	a.Take(Line{Scratch, 64})
	wantBug(t, func() { a.Take(Line{Scratch, 64}) }, "0 of 64 left")
}

func TestSliceRefusesPointers(t *testing.T) {
	type flat struct {
		A [3]float32
		B struct{ C int16 }
	}
	type deep struct {
		A int
		B [2]struct{ C []byte }
	}
	a := open(t, 4096)
	if got := len(Slice[flat](a, Scratch, 2)); got != 2 {
		t.Errorf("Slice of flat structs = %d long; want 2", got)
	}
	if got := len(Slice[struct{}](a, Scratch, 5)); got != 5 {
		t.Errorf("Slice of empty structs = %d long; want 5", got)
	}
	wantBug(t, func() { Slice[deep](a, Scratch, 1) }, "deep has pointers")
	wantBug(t, func() { Slice[string](a, Scratch, 1) }, "string has pointers")
	wantBug(t, func() { Slice[*int](a, Scratch, 0) }, "*int has pointers")
	wantBug(t, func() { Slice[any](a, Scratch, 1) }, "has pointers")
	wantBug(t, func() { Slice[func()](a, Scratch, 1) }, "has pointers")
}

func TestSizes(t *testing.T) {
	empty := open(t, 0)
	if empty.MappedBytes() != 0 || empty.Address() != 0 || len(empty.Ledger()) != 0 {
		t.Errorf("New(0) = %d mapped, at %#x, ledger %v; want nothing",
			empty.MappedBytes(), empty.Address(), empty.Ledger())
	}
	if got := len(empty.Take(Line{Scratch, 0})); got != 0 {
		t.Errorf("empty Take = %d long", got)
	}
	if got := len(empty.Take()); got != 0 {
		t.Errorf("Take of no parts = %d long", got)
	}
	wantBug(t, func() { empty.Take(Line{Scratch, 1}) }, "0 of 0 left")

	// All beyond what any address space of today holds, so nothing is touched.
	for _, sizeBytes := range []int64{-1, math.MinInt64, math.MaxInt64, math.MaxInt64 - 4096,
		math.MaxInt64 - 1<<20, 1 << 62, 1 << 58} {
		if a, err := New(sizeBytes, Options{}); err == nil {
			a.Close()
			t.Errorf("New(%d) succeeded", sizeBytes)
		} else if !strings.HasPrefix(err.Error(), "arena: ") {
			t.Errorf("New(%d) = %q; want the package's name in front", sizeBytes, err)
		}
	}
}

func TestRounding(t *testing.T) {
	for _, c := range []struct{ n, want int64 }{{0, 0}, {1, 64}, {63, 64}, {64, 64}, {65, 128}} {
		if got := Round(c.n); got != c.want {
			t.Errorf("Round(%d) = %d; want %d", c.n, got, c.want)
		}
	}
	page := int64(PageBytes())
	for _, c := range []struct{ n, want int64 }{
		{0, 0}, {1, page}, {page, page}, {page + 1, 2 * page},
	} {
		if got := RoundPage(c.n); got != c.want {
			t.Errorf("RoundPage(%d) = %d; want %d", c.n, got, c.want)
		}
	}
	if page < 4096 || page&(page-1) != 0 {
		t.Errorf("PageBytes = %d; want a power of two from 4096", page)
	}
}

func TestCloseTwice(t *testing.T) {
	a, err := New(1, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := a.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	}
	if a.MappedBytes() != 0 || a.Address() != 0 {
		t.Errorf("closed arena = %d mapped at %#x", a.MappedBytes(), a.Address())
	}
}

func TestWishesAreReportedNotFatal(t *testing.T) {
	a, err := New(4<<20, Options{Lock: true, HugePages: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	s := a.Status()
	if s.Locked == (s.LockError != "") || s.HugePages == (s.HugePagesError != "") {
		t.Errorf("Status = %+v; want each wish either granted or with its reason", s)
	}
	if plain := open(t, 4096).Status(); plain.Locked || plain.HugePages ||
		plain.LockError+plain.HugePagesError != "" {
		t.Errorf("Status without wishes = %+v; want nothing granted, nothing denied", plain)
	}
	memory := a.Take(Line{Scratch, 4 << 20})
	memory[0], memory[len(memory)-1] = 1, 2
}

func TestTouchKeepsTheArenaZero(t *testing.T) {
	a := open(t, 3*int64(PageBytes()))
	touch(a.memory)
	for i, b := range a.memory {
		if b != 0 {
			t.Fatalf("byte %d = %d after touch", i, b)
		}
	}
}
