package kv

// A session is one sequence: its length, its tables of pages, its raw slots.
// Reserve claims pages for tokens to come, Advance counts them once every
// layer has them, Keep cuts the end off, Fork starts a second sequence with the
// same past.

import "fmt"

// Session is one sequence of the cache.
type Session struct {
	cache  *Cache
	index  int // which raw slots and rings are its own
	open   bool
	length int
	// rawFrom is the first tile whose 16-bit rows exist where the window asks
	// for them; tiles below it are sealed, or sinks. Only Keep raises it.
	rawFrom int
	top     int // the highest tile begun since the session was empty, −1 for none
	tables  [numPools][]int32
	held    [numPools]int // entries of tables in use
}

// NewSession returns an empty session, or an error that is ErrFull where all
// are in use.
func (c *Cache) NewSession() (*Session, error) {
	for i := range c.sessions {
		if s := &c.sessions[i]; !s.open {
			s.open, s.length, s.rawFrom, s.top = true, 0, 0, -1
			return s, nil
		}
	}
	return nil, fmt.Errorf("kv: %w: all %d sessions are in use; close one or plan for more",
		ErrFull, len(c.sessions))
}

// Len is the number of tokens in the session.
func (s *Session) Len() int { return s.length }

// Advance counts n tokens that every layer has taken by Step. A run of Steps
// once begun must be finished and counted, or the session closed: what the
// run's first tokens pushed out of the window is gone.
func (s *Session) Advance(n int) {
	s.mustBeOpen()
	s.length += n
	if s.length > s.cache.geometry.ContextTokens {
		panic(fmt.Sprintf("kv: BUG: advanced to %d of %d tokens",
			s.length, s.cache.geometry.ContextTokens))
	}
	s.top = max(s.top, (s.length-1)/tileTokens)
}

// Reserve claims the pages that the next n tokens need, so that their Steps
// cannot fail. The error is ErrFull where the context or, with other sessions
// holding pages, the pool is too small; nothing is claimed then. Step reserves
// by itself, and panics where Reserve would have failed.
func (s *Session) Reserve(n int) error {
	s.mustBeOpen()
	c := s.cache
	if limit := c.geometry.ContextTokens; n > limit-s.length {
		return fmt.Errorf("kv: %w: %d tokens and %d more exceed the context of %d; "+
			"keep fewer or plan for a larger one", ErrFull, s.length, n, limit)
	}
	tiles := tilesOf(s.length + n)
	needs := [numPools]int{tiles, tiles - c.geometry.SinkTiles - c.window - 1}
	var shared [numPools]bool
	for kind := range c.pools {
		p := &c.pools[kind]
		if len(p.uses) == 0 {
			needs[kind] = 0
			continue
		}
		claim := max(0, needs[kind]-s.held[kind])
		if shared[kind] = s.sharesTail(p); shared[kind] {
			claim++
		}
		if claim > len(p.free) {
			return fmt.Errorf("kv: %w: %d tokens need %d more pages, %d of %d are free; "+
				"close a session or plan for a larger context",
				ErrFull, s.length+n, claim, len(p.free), len(p.uses))
		}
	}
	for kind := range c.pools {
		s.claim(&c.pools[kind], needs[kind], shared[kind])
	}
	return nil
}

// claim fills the table up to need entries and, where the page that the next
// token is written to is shared, replaces it by a copy.
func (s *Session) claim(p *pagePool, need int, shared bool) {
	table := s.tables[p.kind]
	if shared {
		entry := s.length/tileTokens - p.first
		old := table[entry]
		table[entry] = p.take()
		s.cache.copyPage(p, table[entry], old)
		p.release(old)
	}
	for ; s.held[p.kind] < need; s.held[p.kind]++ {
		table[s.held[p.kind]] = p.take()
	}
}

// sharesTail says whether the next token goes into a page that another session
// reads too: a partly filled page of rows.
func (s *Session) sharesTail(p *pagePool) bool {
	entry := s.length/tileTokens - p.first
	if s.length%tileTokens == 0 || entry < 0 || entry >= s.held[p.kind] {
		return false
	}
	if p.kind == poolSealed && s.cache.window >= 0 {
		return false // the tail is in a raw slot
	}
	return p.uses[s.tables[p.kind][entry]] > 1
}

// written is how many entries of a table hold tokens of the session; entries
// above are reserved.
func (s *Session) written(kind int) int {
	tiles := tilesOf(s.length)
	if kind == poolSealed {
		if s.cache.window >= 0 {
			tiles = s.rowsFrom()
		}
		tiles -= s.cache.pools[kind].first
	}
	return min(max(0, tiles), s.held[kind])
}

// rowsFrom is the first tile that has 16-bit rows now; tiles below are sealed,
// or sinks. It has a meaning where there is a window.
func (s *Session) rowsFrom() int {
	if s.length == 0 {
		return s.rawFrom
	}
	return max(s.rawFrom, (s.length-1)/tileTokens-s.cache.window)
}

// Fork returns a second session with the same tokens. Full pages are shared,
// a partly filled one until either session writes to it; raw slots and rings
// are copied. The error is ErrFull where all sessions are in use.
func (s *Session) Fork() (*Session, error) {
	s.mustBeOpen()
	f, err := s.cache.NewSession()
	if err != nil {
		return nil, err
	}
	f.length, f.rawFrom, f.top = s.length, s.rawFrom, s.top
	for kind := range s.cache.pools {
		p := &s.cache.pools[kind]
		f.held[kind] = s.written(kind)
		for i, page := range s.tables[kind][:f.held[kind]] {
			f.tables[kind][i] = page
			p.uses[page]++
		}
	}
	for i := range s.cache.layers {
		l := &s.cache.layers[i]
		if l.means != nil {
			n := l.KVHeads * l.HeadDim
			copy(l.means[f.index*n:(f.index+1)*n], l.means[s.index*n:])
		}
		for j := range l.sides {
			d := &l.sides[j]
			copyBlock(d.raw, d.slots*d.rawPageBytes, f.index, s.index)
			if d.pool == nil {
				copyBlock(d.pages, d.ring*d.pageBytes, f.index, s.index)
			}
		}
	}
	return f, nil
}

// copyBlock copies block from of size bytes over block to.
func copyBlock(b []byte, size, to, from int) {
	copy(b[to*size:(to+1)*size], b[from*size:(from+1)*size])
}

// Close gives everything back. A second Close does nothing.
func (s *Session) Close() {
	if !s.open {
		return
	}
	for kind := range s.held {
		s.trim(kind, 0)
	}
	s.open = false
}

// trim releases the entries of a table from keep on.
func (s *Session) trim(kind, keep int) {
	for s.held[kind] > keep {
		s.held[kind]--
		s.cache.pools[kind].release(s.tables[kind][s.held[kind]])
	}
}

func (s *Session) mustBeOpen() {
	if !s.open {
		panic("kv: BUG: session used after Close")
	}
}

func tilesOf(tokens int) int { return (tokens + tileTokens - 1) / tileTokens }

// Keep cuts the session to its first n tokens or fewer and returns how many it
// kept; the caller runs the rest again. n beyond the end keeps everything.
//
// Float sides and window=none keep n. Where tiles are sealed, a tile cannot be
// cut open and its rows are gone, so what a query at n must read as 16-bit
// rows has to be there still or be run again: n itself is kept while all those
// rows exist (n within the newest tile, or within the sinks), else
// 32·(⌊n/32⌋ − r), never below the sinks. Then the tokens run again up to n read
// as codes the r tiles before the cut, which in a session never cut they would
// have read as rows, so what they leave for later layers and tokens differs by as
// much; from n on, the tiles a query reads as rows are the same as there. A
// sliding-window layer whose ring no longer has what the query sees keeps nothing.
func (s *Session) Keep(n int) int {
	s.mustBeOpen()
	if n >= s.length {
		return s.length
	}
	kept, rawFrom := s.cut(max(n, 0))
	for i := range s.cache.layers {
		if !s.ringHolds(&s.cache.layers[i], kept) {
			kept = 0
		}
	}
	if kept == 0 {
		rawFrom, s.top = 0, -1
	}
	s.length, s.rawFrom = kept, rawFrom
	for kind := range s.held {
		s.trim(kind, s.written(kind))
	}
	return kept
}

// cut returns the length to keep for n, and the first tile that has 16-bit rows
// (or no tokens) from then on.
func (s *Session) cut(n int) (kept, rawFrom int) {
	rows, own := s.rowsFrom(), n/tileTokens
	kept, rawFrom = n, min(rows, own)
	if s.cache.window < 0 {
		return n, 0
	}
	for i := range s.cache.layers {
		l := &s.cache.layers[i]
		if !l.K.Quantized() && !l.V.Quantized() || own < l.sinks {
			continue
		}
		// The first tile a query at n reads as rows, sinks aside.
		if first := max(l.sinks, own-s.cache.window); first < rows && first*tileTokens < kept {
			kept, rawFrom = first*tileTokens, first
		}
	}
	return kept, rawFrom
}

// ringHolds says whether a sliding-window layer still has all tiles that a
// query at position kept sees. Those that it has, it has in the form in which
// they are read: what cut left sealed was sealed when the ring turned past it.
func (s *Session) ringHolds(l *layer, kept int) bool {
	if l.WindowTokens == 0 || kept == 0 {
		return true
	}
	lowest := max(0, kept-l.WindowTokens+1) / tileTokens
	return lowest >= s.top-l.tiles+1
}
