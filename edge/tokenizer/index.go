package tokenizer

// The index finds the token of a piece of text: open addressing, one 32-bit
// slot per entry, the pieces themselves being where they are. The hash has a
// random seed, so that no file can be made to collide.

import (
	"hash/maphash"
	"math/bits"
)

// emptySlot holds an id that no token has (see maxTokens).
const emptySlot = ^uint32(0)

// index maps pieces to ids. A slot is tag<<idBits | id; the tag is of the same
// hash as the place and saves nearly all comparisons that would fail.
type index struct {
	seed  maphash.Seed
	slots []uint32
}

// indexSlots is the number of slots for n pieces: five eighths full at most.
func indexSlots(n int) int { return n*8/5 + 1 }

func newIndex(n int) index {
	x := index{seed: maphash.MakeSeed(), slots: make([]uint32, indexSlots(n))}
	for i := range x.slots {
		x.slots[i] = emptySlot
	}
	return x
}

// place is where the search for a hash begins, and the tag of its slot.
func (x *index) place(h uint64) (slot int, tag uint32) {
	hi, _ := bits.Mul64(h, uint64(len(x.slots)))
	return int(hi), uint32(h) << idBits
}

// insert enters a piece that is not there yet.
func (x *index) insert(piece string, id int32) {
	i, tag := x.place(maphash.String(x.seed, piece))
	for x.slots[i] != emptySlot {
		if i++; i == len(x.slots) {
			i = 0
		}
	}
	x.slots[i] = tag | uint32(id)
}

// find returns the token that is s, or none. Control, user-defined, byte and
// unused tokens are not found: no text may become them by merging.
func (t *Tokenizer) find(s string) int32 {
	x := &t.index
	i, tag := x.place(maphash.String(x.seed, s))
	for {
		slot := x.slots[i]
		if slot == emptySlot {
			return none
		}
		if slot&^maxTokens == tag && t.piece(int32(slot&maxTokens)) == s {
			return int32(slot & maxTokens)
		}
		if i++; i == len(x.slots) {
			i = 0
		}
	}
}
