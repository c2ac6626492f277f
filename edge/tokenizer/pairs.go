package tokenizer

// The merges of BPE as one table from two neighbouring tokens to the rank of
// their merge and what it gives. A slot packs both ids and the rank in 64
// bits; the merged token is looked up by rank only when there is one, and most
// pairs have none.

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// noKey is the merge order of a pair that does not merge.
const noKey = ^uint32(0)

// emptyPair has an id that no token has, see maxTokens.
const emptyPair = ^uint64(0)

// pairTable maps pairs of ids to ranks: left<<44 | right<<24 | rank.
type pairTable struct {
	seed   [2]uint64
	slots  []uint64
	merged []int32 // [rank] the token that the merge gives
}

// pairSlots is the number of slots for n merges: five eighths full at most.
func pairSlots(n int) int { return n*8/5 + 1 }

// place is where the search for a pair begins. The seed is random, so that no
// file can be made to collide.
func (p *pairTable) place(key uint64) int {
	hi, lo := bits.Mul64(key^p.seed[0], p.seed[1])
	hi, _ = bits.Mul64(hi^lo, uint64(len(p.slots)))
	return int(hi)
}

// find returns the rank of the merge of two tokens and what it gives, or noKey
// and none. The ids may be none.
func (p *pairTable) find(left, right int32) (rank uint32, id int32) {
	if left < 0 || right < 0 {
		return noKey, none
	}
	key := uint64(left)<<idBits | uint64(right)
	for i := p.place(key); ; {
		slot := p.slots[i]
		if slot>>rankBits == key {
			rank = uint32(slot & (maxMerges - 1))
			return rank, p.merged[rank]
		}
		if slot == emptyPair {
			return noKey, none
		}
		if i++; i == len(p.slots) {
			i = 0
		}
	}
}

// insert enters a merge; of two of the same pair the first stays.
func (p *pairTable) insert(left, right int32, rank int, id int32) {
	key := uint64(left)<<idBits | uint64(right)
	i := p.place(key)
	for p.slots[i] != emptyPair {
		if p.slots[i]>>rankBits == key {
			return
		}
		if i++; i == len(p.slots) {
			i = 0
		}
	}
	p.slots[i] = key<<rankBits | uint64(rank)
	p.merged[rank] = id
}

// fillPairs builds the table. A merge that is not "left right", or of which
// the left, the right or the whole is no token, cannot happen in a sound file;
// it is skipped and counted.
func (t *Tokenizer) fillPairs(merges []string) error {
	if len(merges) == 0 && t.longestWord > utf8.UTFMax {
		return fmt.Errorf("%d tokens but no merges, so that only single characters could be "+
			"encoded; convert the model again", len(t.types))
	}
	seed := maphash.MakeSeed()
	t.pairs = pairTable{
		seed:   [2]uint64{maphash.String(seed, "a"), maphash.String(seed, "b") | 1},
		slots:  make([]uint64, pairSlots(len(merges))),
		merged: make([]int32, len(merges)),
	}
	for i := range t.pairs.slots {
		t.pairs.slots[i] = emptyPair
	}
	var raw []byte
	for rank, text := range merges {
		left, right, whole := none, none, none
		if space := splitMerge(text); space > 0 {
			raw, _ = appendPiece(raw[:0], t.kind, typeNormal, text[:space])
			n := len(raw)
			raw, _ = appendPiece(raw, t.kind, typeNormal, text[space+1:])
			left, right, whole = t.find(view(raw[:n])), t.find(view(raw[n:])), t.find(view(raw))
		}
		if left == none || right == none || whole == none {
			t.skippedMerges++
			continue
		}
		t.pairs.insert(left, right, rank, whole)
	}
	return nil
}

// splitMerge returns where the space between the two halves is. The first half
// is not empty, so that it may be a space itself.
func splitMerge(text string) int {
	if text == "" {
		return -1
	}
	return 1 + strings.IndexByte(text[1:], ' ')
}
