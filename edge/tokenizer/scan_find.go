package tokenizer

// The stages whose expressions do not match everywhere: they find the next
// match, and what is between matches is a piece of its own.

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// findRun finds the first run in s at or after pos of characters that in
// accepts, at most most of them. With lead a white-space character before the
// run belongs to the match (\s?); one that in accepts may as well be the run's.
func findRun(s string, pos, most int, lead bool, in func(rune, class) bool) (start, end int) {
	before := -1 // the white space just before i that may lead
	for i := pos; i < len(s); {
		r, c, n := runeAt(s, i)
		if !in(r, c) {
			before = -1
			if lead && c&space != 0 {
				before = i
			}
			i += n
			continue
		}
		start = i
		if before >= 0 {
			start = before
		}
		for end = i; end < len(s) && most > 0; most-- {
			r, c, n := runeAt(s, end)
			if !in(r, c) {
				break
			}
			end += n
		}
		return start, end
	}
	return len(s), len(s)
}

// anyLength is no limit of a run.
const anyLength = int(^uint(0) >> 1)

// scanNumber is
//
//	\p{N}
func scanNumber(s string, pos int) (start, end int) {
	for i := pos; i < len(s); {
		c, n := classAt(s, i)
		if c&number != 0 {
			return i, i + n
		}
		i += n
	}
	return len(s), len(s)
}

// scanThreeNumbers is
//
//	\p{N}{1,3}
func scanThreeNumbers(s string, pos int) (start, end int) {
	return findRun(s, pos, 3, false, isNumber)
}

// scanNumbers is
//
//	\p{N}+
func scanNumbers(s string, pos int) (start, end int) {
	return findRun(s, pos, anyLength, false, isNumber)
}

func isNumber(_ rune, c class) bool { return c&number != 0 }

// scanThreeDigits is
//
//	[0-9][0-9][0-9]
func scanThreeDigits(s string, pos int) (start, end int) {
	run := 0
	for i := pos; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			run = 0
		} else if run++; run == 3 {
			return i - 2, i + 1
		}
	}
	return len(s), len(s)
}

// scanNewline is
//
//	[\r\n]
func scanNewline(s string, pos int) (start, end int) {
	i := strings.IndexAny(s[pos:], "\r\n")
	if i < 0 {
		return len(s), len(s)
	}
	return pos + i, pos + i + 1
}

// scanLines is
//
//	[^\n]+|[\n]+
func scanLines(s string, pos int) (start, end int) {
	if pos < len(s) && s[pos] == '\n' {
		return pos, skipBytes(s, pos, '\n', '\n', '\n')
	}
	if i := strings.IndexByte(s[pos:], '\n'); i >= 0 {
		return pos, pos + i
	}
	return pos, len(s)
}

// scanTail is
//
//	\s+$
func scanTail(s string, pos int) (start, end int) {
	start = len(s)
	for start > pos {
		r, n := utf8.DecodeLastRuneInString(s[:start])
		if !unicode.Is(unicode.White_Space, r) {
			break
		}
		start -= n
	}
	return start, len(s)
}

// scanSpaceLetters is
//
//	\s?\p{L}+
func scanSpaceLetters(s string, pos int) (start, end int) {
	return findRun(s, pos, anyLength, true, func(_ rune, c class) bool { return c&letter != 0 })
}

// scanSpacePunct is
//
//	\s?\p{P}+
func scanSpacePunct(s string, pos int) (start, end int) {
	return findRun(s, pos, anyLength, true, func(_ rune, c class) bool { return c&punct != 0 })
}

// scanCased is
//
//	\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅ
//	Ὀ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯ
//	ꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+
func scanCased(s string, pos int) (start, end int) {
	return findRun(s, pos, anyLength, true, func(r rune, c class) bool {
		return c&letter != 0 && (r < utf8.RuneSelf || unicode.Is(cased, r))
	})
}

// scanDeepSeekPunct is
//
//	\s?[!-/:-~！-／：-～‘-‟　-。]+
func scanDeepSeekPunct(s string, pos int) (start, end int) {
	return findRun(s, pos, anyLength, true, func(r rune, _ class) bool {
		return '!' <= r && r <= '/' || ':' <= r && r <= '~' || 0xFF01 <= r && r <= 0xFF0F ||
			0xFF1A <= r && r <= 0xFF5E || 0x2018 <= r && r <= 0x201F || 0x3000 <= r && r <= 0x3002
	})
}

// scanEastAsian is
//
//	[一-龥ࠀ-一가-퟿]+
func scanEastAsian(s string, pos int) (start, end int) {
	return findRun(s, pos, anyLength, false, func(r rune, _ class) bool {
		return 0x0800 <= r && r <= 0x9FA5 || 0xAC00 <= r && r <= 0xD7FF
	})
}

// scanHanKana is
//
//	[一-龥぀-ゟ゠-ヿ]+
func scanHanKana(s string, pos int) (start, end int) {
	return findRun(s, pos, anyLength, false, func(r rune, _ class) bool {
		return 0x4E00 <= r && r <= 0x9FA5 || 0x3040 <= r && r <= 0x30FF
	})
}

// scanFalconPunct is
//
//	[\p{P}\$\+<=>\^~\|`]+
func scanFalconPunct(s string, pos int) (start, end int) {
	return findRun(s, pos, anyLength, false, func(r rune, c class) bool {
		return c&punct != 0 || r < utf8.RuneSelf && c&symbol != 0
	})
}

// scanDefaultPunct is
//
//	[\p{P}\$\+<=>\^~\|]+
func scanDefaultPunct(s string, pos int) (start, end int) {
	return findRun(s, pos, anyLength, false, func(r rune, c class) bool {
		return c&punct != 0 || r < utf8.RuneSelf && c&symbol != 0 && r != '`'
	})
}

// scanDeepSeekV3 is
//
//	[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|
//	 ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func scanDeepSeekV3(s string, pos int) (start, end int) {
	for start = pos; start < len(s); {
		if end = deepSeekV3(s, start); end > start {
			return start, end
		}
		_, n := classAt(s, start)
		start += n
	}
	return len(s), len(s)
}

// deepSeekV3 returns the end of the match at s[i:], or i where there is none.
func deepSeekV3(s string, i int) int {
	c, n := classAt(s, i)
	if s[i] < utf8.RuneSelf && c&(punct|symbol) != 0 {
		if end := skipASCIILetters(s, i+1); end > i+1 {
			return end
		}
	}
	if c&(letter|punct|symbol) == 0 && s[i] != '\r' && s[i] != '\n' {
		if end := skip(s, i+n, letter|mark); end > i+n {
			return end
		}
	}
	if c&(letter|mark) != 0 {
		return skip(s, i+n, letter|mark)
	}
	j := i
	if s[i] == ' ' {
		j++
	}
	if end := skip(s, j, punct|symbol); end > j {
		return skipBytes(s, end, '\r', '\n', '\n')
	}
	return lines(s, i)
}

// skipASCIILetters returns the end of [A-Za-z]* at s[i:].
func skipASCIILetters(s string, i int) int {
	for i < len(s) && s[i] < utf8.RuneSelf && ascii[s[i]]&letter != 0 {
		i++
	}
	return i
}

// cased holds the characters of scanCased beyond ASCII.
var cased = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00B5, 0x00B5, 1}, {0x00C0, 0x00D6, 1}, {0x00D8, 0x00F6, 1}, {0x00F8, 0x01BA, 1},
		{0x01BC, 0x01BF, 1}, {0x01C4, 0x0293, 1}, {0x0295, 0x02AF, 1}, {0x0370, 0x0373, 1},
		{0x0376, 0x0376, 1}, {0x0377, 0x0377, 1}, {0x037B, 0x037D, 1}, {0x037F, 0x037F, 1},
		{0x0386, 0x0386, 1}, {0x0388, 0x038A, 1}, {0x038C, 0x038C, 1}, {0x038E, 0x03A1, 1},
		{0x03A3, 0x03F5, 1}, {0x03F7, 0x0481, 1}, {0x048A, 0x052F, 1}, {0x0531, 0x0556, 1},
		{0x10A0, 0x10C5, 1}, {0x13A0, 0x13F5, 1}, {0x13F8, 0x13FD, 1}, {0x1C90, 0x1CBA, 1},
		{0x1CBD, 0x1CBF, 1}, {0x1D00, 0x1D2B, 1}, {0x1D6B, 0x1D77, 1}, {0x1D79, 0x1D9A, 1},
		{0x1E00, 0x1F15, 1}, {0x1F18, 0x1F1D, 1}, {0x1F20, 0x1F45, 1}, {0x1F48, 0x1F4D, 1},
		{0x1F50, 0x1F57, 1}, {0x1F59, 0x1F59, 1}, {0x1F5B, 0x1F5B, 1}, {0x1F5D, 0x1F5D, 1},
		{0x1F5F, 0x1F7D, 1}, {0x1F80, 0x1FB4, 1}, {0x1FB6, 0x1FBC, 1}, {0x1FBE, 0x1FBE, 1},
		{0x1FC2, 0x1FC4, 1}, {0x1FC6, 0x1FCC, 1}, {0x1FD0, 0x1FD3, 1}, {0x1FD6, 0x1FDB, 1},
		{0x1FE0, 0x1FEC, 1}, {0x1FF2, 0x1FF4, 1}, {0x1FF6, 0x1FFC, 1}, {0x2102, 0x2102, 1},
		{0x2107, 0x2107, 1}, {0x210A, 0x2113, 1}, {0x2115, 0x2115, 1}, {0x2119, 0x211D, 1},
		{0x2124, 0x2124, 1}, {0x2126, 0x2126, 1}, {0x2128, 0x2128, 1}, {0x212A, 0x212D, 1},
		{0x212F, 0x2134, 1}, {0x2139, 0x2139, 1}, {0x213C, 0x213F, 1}, {0x2145, 0x2149, 1},
		{0x214E, 0x214E, 1}, {0x2183, 0x2183, 1}, {0x2184, 0x2184, 1}, {0x2C00, 0x2C7B, 1},
		{0x2C7E, 0x2CE4, 1}, {0x2CEB, 0x2CEE, 1}, {0x2CF2, 0x2CF2, 1}, {0x2CF3, 0x2CF3, 1},
		{0xA640, 0xA66D, 1}, {0xA680, 0xA69B, 1}, {0xA722, 0xA76F, 1}, {0xA771, 0xA787, 1},
		{0xA78B, 0xA78E, 1}, {0xAB70, 0xABBF, 1}, {0xFB00, 0xFB06, 1}, {0xFB13, 0xFB17, 1},
		{0xFF21, 0xFF3A, 1}, {0xFF41, 0xFF5A, 1},
	},
	R32: []unicode.Range32{
		{0x10400, 0x1044F, 1}, {0x104B0, 0x104D3, 1}, {0x104D8, 0x104FB, 1},
		{0x10C80, 0x10CB2, 1}, {0x10CC0, 0x10CF2, 1}, {0x118A0, 0x118DF, 1},
		{0x1E900, 0x1E943, 1},
	},
	LatinOffset: 3,
}
