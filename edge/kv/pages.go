package kv

// Pools of pages. The pages of a tile in all global layers live and die
// together, so one index names them all: it is valid in every (layer, side)
// of the pool. Tables, use counts and the stack of free pages are int32 in one
// piece of the arena.

import (
	"edgeinfer/arena"
	"edgeinfer/kernels"
)

const (
	poolFloat  = iota // sides that keep every tile as rows
	poolSealed        // sides that seal tiles
	numPools
)

// poolOf is the pool of a format.
func poolOf(f kernels.KVFormat) int {
	if f.Quantized() {
		return poolSealed
	}
	return poolFloat
}

// pagePool hands out page indices.
type pagePool struct {
	kind  int
	first int     // the tile of a table's entry 0
	uses  []int32 // [pages] sessions that hold the page
	free  []int32 // stack of free pages, cap = pages
}

// takePageTable takes the pools and the tables of all sessions.
func (c *Cache) takePageTable(a *arena.Arena) {
	g := c.geometry
	table := arena.Slice[int32](a, arena.PageTable, int(g.PageTableEntries()))
	cut := func(n int) []int32 {
		piece := table[:n:n]
		table = table[n:]
		return piece
	}
	var sizes [numPools]kernels.KVPool
	sizes[poolFloat], sizes[poolSealed] = g.Pools()
	for kind := range c.pools {
		p := &c.pools[kind]
		*p = pagePool{kind: kind, uses: cut(sizes[kind].Pages), free: cut(sizes[kind].Pages)}
		for i := range p.free {
			p.free[i] = int32(len(p.free) - 1 - i)
		}
	}
	c.pools[poolSealed].first = g.SinkTiles
	c.sessions = make([]Session, g.Sessions)
	for i := range c.sessions {
		s := &c.sessions[i]
		s.cache, s.index = c, i
		for kind := range c.pools {
			s.tables[kind] = cut(sizes[kind].Entries)
		}
	}
}

// take hands out a free page; the caller has seen that there is one.
func (p *pagePool) take() int32 {
	page := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	p.uses[page] = 1
	return page
}

// release gives up one use of a page.
func (p *pagePool) release(page int32) {
	if p.uses[page]--; p.uses[page] == 0 {
		p.free = append(p.free, page) // within its capacity: every page lies on it once
	} else if p.uses[page] < 0 {
		panic("kv: BUG: page released twice")
	}
}

// copyPage copies one page in every layer of the pool.
func (c *Cache) copyPage(p *pagePool, to, from int32) {
	for i := range c.layers {
		for j := range c.layers[i].sides {
			d := &c.layers[i].sides[j]
			if d.pool == p {
				n := d.pageBytes
				copy(d.pages[int(to)*n:(int(to)+1)*n], d.pages[int(from)*n:])
			}
		}
	}
}
