package tokenizer

// Unicode classes as bits, for the pre-tokenizers: a two-level table of what
// the regular expressions ask for, made from the tables of package unicode
// when the first tokenizer that needs it is made.

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// class is the set of classes of one character. A letter that is neither upper
// nor lower is a modifier or has no case (Lm, Lo).
type class uint8

const (
	letter class = 1 << iota // \p{L}
	number                   // \p{N}
	space                    // \s
	mark                     // \p{M}
	punct                    // \p{P}
	symbol                   // \p{S}
	upper                    // \p{Lu}, \p{Lt}; a letter too
	lower                    // \p{Ll}; a letter too
)

const (
	blockRunes = 256
	blocks     = (unicode.MaxRune + 1) / blockRunes
	maxPages   = 192 // pages that differ; Unicode 15 has 147. At most 256

	// classTableBytes bounds what the table keeps on the heap.
	classTableBytes = (maxPages*blockRunes + 8191) &^ 8191
)

// classTable gives the class of a character: pages[page[r/256]][r%256].
type classTable struct {
	page  [blocks]uint8
	pages [][blockRunes]class
}

// ascii has the classes of the bytes that are characters themselves.
var ascii = func() (table [utf8.RuneSelf]class) {
	for r := range table {
		for _, s := range classSources {
			if unicode.Is(s.table, rune(r)) {
				table[r] |= s.class
			}
		}
	}
	return table
}()

// classSources says which characters have which class.
var classSources = []struct {
	table *unicode.RangeTable
	class class
}{
	{unicode.L, letter}, {unicode.N, number}, {unicode.White_Space, space}, {unicode.M, mark},
	{unicode.P, punct}, {unicode.S, symbol},
	{unicode.Lu, upper}, {unicode.Lt, upper}, {unicode.Ll, lower},
}

// classes is the table. Every pre-tokenizer that reads it goes through New,
// which makes it.
var (
	classes     classTable
	classesOnce sync.Once
)

// makeClasses fills the table.
func makeClasses() {
	raw := map[rune]*[blockRunes]class{}
	for _, s := range classSources {
		eachRune(s.table, func(r rune) {
			page := raw[r/blockRunes]
			if page == nil {
				page = new([blockRunes]class)
				raw[r/blockRunes] = page
			}
			page[r%blockRunes] |= s.class
		})
	}
	numbers := map[[blockRunes]class]uint8{{}: 0}
	pages := make([][blockRunes]class, 1, maxPages)
	for block := range rune(blocks) {
		page := raw[block]
		if page == nil {
			continue
		}
		number, known := numbers[*page]
		if !known {
			if len(pages) == maxPages {
				panic("tokenizer: BUG: Unicode has more kinds of pages than were counted")
			}
			number = uint8(len(pages))
			numbers[*page] = number
			pages = append(pages, *page)
		}
		classes.page[block] = number
	}
	classes.pages = append(make([][blockRunes]class, 0, len(pages)), pages...)
}

// eachRune calls f for every character of the table.
func eachRune(table *unicode.RangeTable, f func(rune)) {
	for _, r := range table.R16 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			f(c)
		}
	}
	for _, r := range table.R32 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			f(c)
		}
	}
}

// classAt returns the class and the length of the character at s[i]. A byte
// that is not UTF-8 counts as U+FFFD, a symbol of one byte.
func classAt(s string, i int) (class, int) {
	if b := s[i]; b < utf8.RuneSelf {
		return ascii[b], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return classes.pages[classes.page[r/blockRunes]][r%blockRunes], n
}

// runeAt returns the character, its class and its length at s[i].
func runeAt(s string, i int) (rune, class, int) {
	if b := s[i]; b < utf8.RuneSelf {
		return rune(b), ascii[b], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return r, classes.pages[classes.page[r/blockRunes]][r%blockRunes], n
}
