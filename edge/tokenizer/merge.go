package tokenizer

// Merging of one word: start from its bytes or characters and, as long as any
// two neighbours merge, merge the pair that comes first in order, of equal
// ones the leftmost. Short words, nearly all, look for that pair by scanning;
// long ones keep the pairs in a heap and the symbols in a linked list, so that
// a word of n symbols takes O(n log n).

import "unicode/utf8"

// shortSymbols is the most symbols a word may have to be merged by scanning.
const shortSymbols = 40

// shortWord is the room for a short word; symbol i is text[start[i]:start[i+1]].
type shortWord struct {
	start  [shortSymbols + 1]int32
	id     [shortSymbols]int32  // token of the symbol, or none
	key    [shortSymbols]uint32 // order of merging it with the next, or noKey
	merged [shortSymbols]int32  // what that gives
}

// longWord is the room for a long word, by symbol. A symbol that was merged
// into the one before is left out of the list and has noKey.
type longWord struct {
	start, id, merged []int32
	prev, next        []int32 // -1 and len(start) at the ends
	key               []uint32
	heap              []uint64 // key<<32 | symbol, the smallest first
}

// merge encodes a word by merging.
func (e *encoder) merge(w string) {
	n := len(w)
	if e.t.kind != byteBPE {
		n = utf8.RuneCountInString(w)
	}
	if n <= shortSymbols {
		e.t.symbols(w, e.short.start[:n], e.short.id[:n])
		e.short.start[n] = int32(len(w))
		e.mergeShort(w, n)
		return
	}
	e.long.resize(n)
	e.t.symbols(w, e.long.start, e.long.id)
	e.mergeLong(w)
}

// symbols fills in where the symbols of w begin and which tokens they are.
func (t *Tokenizer) symbols(w string, start, id []int32) {
	if t.kind == byteBPE {
		for i := range start {
			start[i], id[i] = int32(i), t.bytes[w[i]]
		}
		return
	}
	at := 0
	for i := range start {
		_, n := utf8.DecodeRuneInString(w[at:])
		start[i], id[i] = int32(at), t.find(w[at:at+n])
		at += n
	}
}

// pair returns the order in which the symbols left and right, which are
// together the text whole, merge, and what they become; noKey and none where
// they do not.
func (t *Tokenizer) pair(left, right int32, whole string) (key uint32, id int32) {
	if t.kind != sentencePiece {
		return t.pairs.find(left, right)
	}
	if len(whole) > t.longestWord {
		return noKey, none
	}
	if id = t.find(whole); id == none {
		return noKey, none
	}
	return t.order[id], id
}

// mergeShort merges and emits the n symbols of w in e.short.
func (e *encoder) mergeShort(w string, n int) {
	s, t := &e.short, e.t
	for i := range n - 1 {
		s.key[i], s.merged[i] = t.pair(s.id[i], s.id[i+1], w[s.start[i]:s.start[i+2]])
	}
	for n > 1 {
		best := 0
		for i := 1; i < n-1; i++ {
			if s.key[i] < s.key[best] {
				best = i
			}
		}
		if s.key[best] == noKey {
			break
		}
		s.id[best] = s.merged[best]
		n--
		copy(s.start[best+1:n+1], s.start[best+2:n+2])
		copy(s.id[best+1:n], s.id[best+2:n+1])
		copy(s.key[best+1:n], s.key[best+2:n+1])
		copy(s.merged[best+1:n], s.merged[best+2:n+1])
		for i := max(best-1, 0); i <= best && i < n-1; i++ {
			s.key[i], s.merged[i] = t.pair(s.id[i], s.id[i+1], w[s.start[i]:s.start[i+2]])
		}
	}
	for i := range n {
		e.emit(s.id[i], w[s.start[i]:s.start[i+1]])
	}
}

// resize makes room for n symbols.
func (l *longWord) resize(n int) {
	if cap(l.start) < n {
		*l = longWord{start: make([]int32, n), id: make([]int32, n), merged: make([]int32, n),
			prev: make([]int32, n), next: make([]int32, n), key: make([]uint32, n),
			heap: make([]uint64, 0, n)}
	}
	l.start, l.id, l.merged = l.start[:n], l.id[:n], l.merged[:n]
	l.prev, l.next, l.key = l.prev[:n], l.next[:n], l.key[:n]
	l.heap = l.heap[:0]
}

// mergeLong merges and emits the symbols of w in e.long.
func (e *encoder) mergeLong(w string) {
	l := &e.long
	n := int32(len(l.start))
	for i := range n {
		l.prev[i], l.next[i] = i-1, i+1
	}
	for i := range n {
		if e.rate(w, i); l.key[i] != noKey {
			l.heap = append(l.heap, uint64(l.key[i])<<32|uint64(i))
		}
	}
	for i := len(l.heap)/2 - 1; i >= 0; i-- {
		l.sink(i)
	}
	for len(l.heap) > 0 {
		key, i := uint32(l.heap[0]>>32), int32(uint32(l.heap[0]))
		l.pop()
		if l.key[i] != key || key == noKey {
			continue // the pair has changed since
		}
		l.id[i] = l.merged[i]
		gone := l.next[i]
		l.key[gone] = noKey
		l.next[i] = l.next[gone]
		if l.next[i] < n {
			l.prev[l.next[i]] = i
		}
		e.rerate(w, i)
		if l.prev[i] >= 0 {
			e.rerate(w, l.prev[i])
		}
	}
	for i := int32(0); i < n; i = l.next[i] {
		e.emit(l.id[i], w[l.start[i]:l.end(w, i)])
	}
}

// end is where the text of symbol i ends.
func (l *longWord) end(w string, i int32) int32 {
	if next := l.next[i]; int(next) < len(l.start) {
		return l.start[next]
	}
	return int32(len(w))
}

// rate finds the order of merging symbol i with the next.
func (e *encoder) rate(w string, i int32) {
	l := &e.long
	next := l.next[i]
	if int(next) == len(l.start) {
		l.key[i] = noKey
		return
	}
	l.key[i], l.merged[i] = e.t.pair(l.id[i], l.id[next], w[l.start[i]:l.end(w, next)])
}

// rerate does so after a merge.
func (e *encoder) rerate(w string, i int32) {
	if e.rate(w, i); e.long.key[i] != noKey {
		e.long.push(uint64(e.long.key[i])<<32 | uint64(i))
	}
}

// push enters x in the heap.
func (l *longWord) push(x uint64) {
	l.heap = append(l.heap, x)
	h := l.heap
	i := len(h) - 1
	for i > 0 && h[(i-1)/2] > x {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = x
}

// pop takes the smallest from the heap.
func (l *longWord) pop() {
	last := len(l.heap) - 1
	l.heap[0] = l.heap[last]
	l.heap = l.heap[:last]
	if last > 0 {
		l.sink(0)
	}
}

// sink moves the element at i down to where it belongs.
func (l *longWord) sink(i int) {
	h := l.heap
	x := h[i]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if h[child] >= x {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = x
}
