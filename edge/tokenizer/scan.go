package tokenizer

// The stages of the pre-tokenizers that GPT-2's expression began: a match at
// every position, so that nothing is left between. Above each function is the
// expression it equals, broken where a line would be too long.

import "unicode/utf8"

// skip returns the end of the run of characters at s[i:] that have any class
// of set.
func skip(s string, i int, set class) int {
	for i < len(s) {
		c, n := classAt(s, i)
		if c&set == 0 {
			break
		}
		i += n
	}
	return i
}

// skipOther returns the end of the run of characters at s[i:] that have no
// class of set.
func skipOther(s string, i int, set class) int {
	for i < len(s) {
		c, n := classAt(s, i)
		if c&set != 0 {
			break
		}
		i += n
	}
	return i
}

// skipBytes returns the end of the run of bytes a, b or c at s[i:].
func skipBytes(s string, i int, a, b, c byte) int {
	for i < len(s) && (s[i] == a || s[i] == b || s[i] == c) {
		i++
	}
	return i
}

// contraction returns the length of 's|'t|'re|'ve|'m|'ll|'d at s[i:], or 0.
// fold is 0x20 to ignore the case of the letters, else 0.
func contraction(s string, i int, fold byte) int {
	if len(s)-i < 2 || s[i] != '\'' {
		return 0
	}
	switch s[i+1] | fold {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(s)-i < 3 {
		return 0
	}
	a, b := s[i+1]|fold, s[i+2]|fold
	if (a == 'r' || a == 'v') && b == 'e' || a == 'l' && b == 'l' {
		return 3
	}
	return 0
}

// spaces returns the end of \s+(?!\S)|\s+ at s[i:]: a run of white space,
// which leaves its last character to a word that follows. It is i where there
// is no white space.
func spaces(s string, i int) int {
	end := skip(s, i, space)
	if end == len(s) {
		return end
	}
	_, last := utf8.DecodeLastRuneInString(s[i:end])
	if end-last > i {
		return end - last
	}
	return end
}

// lines returns the end of \s*[\r\n]+|\s+(?!\S)|\s+ at s[i:], or i.
func lines(s string, i int) int {
	end := skip(s, i, space)
	for j := end; j > i; j-- {
		if s[j-1] == '\n' || s[j-1] == '\r' {
			return j
		}
	}
	return spaces(s, i)
}

// scanGPT2 is
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func scanGPT2(s string, i int) (start, end int) {
	if i == len(s) {
		return i, i
	}
	if n := contraction(s, i, 0); n > 0 {
		return i, i + n
	}
	j := i
	if s[i] == ' ' && i+1 < len(s) {
		j++
	}
	switch c, n := classAt(s, j); {
	case c&letter != 0:
		return i, skip(s, j+n, letter)
	case c&number != 0:
		return i, skip(s, j+n, number)
	case c&space == 0:
		return i, skipOther(s, j+n, letter|number|space)
	}
	return i, spaces(s, i)
}

// scanLlama3 is
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//	 ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func scanLlama3(s string, i int) (start, end int) { return i, cl100k(s, i, letter, 3) }

// scanQwen2 is
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|
//	 ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func scanQwen2(s string, i int) (start, end int) { return i, cl100k(s, i, letter, 1) }

// scanQwen35 is
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|
//	 ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func scanQwen35(s string, i int) (start, end int) { return i, cl100k(s, i, letter|mark, 1) }

// cl100k returns the end of the match at s[i:] of the expressions above: words
// are of the classes word, and a number is cut every digits digits.
func cl100k(s string, i int, word class, digits int) int {
	if i == len(s) {
		return i
	}
	if n := contraction(s, i, 0x20); n > 0 {
		return i + n
	}
	c, n := classAt(s, i)
	if c&word != 0 {
		return skip(s, i+n, word)
	}
	if c&number != 0 {
		return numbers(s, i, digits)
	}
	next, m := class(0), 0
	if i+n < len(s) {
		next, m = classAt(s, i+n)
	}
	if next&word != 0 && s[i] != '\r' && s[i] != '\n' {
		return skip(s, i+n+m, word)
	}
	if end := signs(s, i, word|number|space); end > i {
		return skipBytes(s, end, '\r', '\n', '\n')
	}
	return lines(s, i)
}

// numbers returns the end of \p{N}{1,most} at s[i:].
func numbers(s string, i, most int) int {
	for ; i < len(s) && most > 0; most-- {
		c, n := classAt(s, i)
		if c&number == 0 {
			break
		}
		i += n
	}
	return i
}

// signs returns the end of " ?[^not]+" at s[i:], or i where it does not match.
func signs(s string, i int, not class) int {
	j := i
	if s[i] == ' ' {
		j++
	}
	if end := skipOther(s, j, not); end > j {
		return end
	}
	return i
}

// scanGPT4o is
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)?|
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)?|
//	\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
func scanGPT4o(s string, i int) (start, end int) {
	if i == len(s) {
		return i, i
	}
	if end := casedWord(s, i); end > i {
		return i, end + contraction(s, end, 0x20)
	}
	return i, afterWord(s, i, 3)
}

// scanTekken is
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|
//	\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
func scanTekken(s string, i int) (start, end int) {
	if i == len(s) {
		return i, i
	}
	if end := casedWord(s, i); end > i {
		return i, end
	}
	return i, afterWord(s, i, 1)
}

// afterWord returns the end of the alternatives of scanGPT4o and scanTekken
// that follow the words.
func afterWord(s string, i, digits int) int {
	if end := numbers(s, i, digits); end > i {
		return end
	}
	if end := signs(s, i, letter|number|space); end > i {
		return skipBytes(s, end, '\r', '\n', '/')
	}
	return lines(s, i)
}

// casedWord returns the end of the first two alternatives of scanGPT4o, less
// the contraction, at s[i:], or i where they do not match.
func casedWord(s string, i int) int {
	c, n := classAt(s, i)
	lead := i // after [^\r\n\p{L}\p{N}]?
	if c&(letter|number) == 0 && s[i] != '\r' && s[i] != '\n' {
		lead += n
	}
	afterLead, upperOnly := capitalsThenSmall(s, lead)
	if afterLead > lead && !upperOnly {
		return afterLead
	}
	if c&mark != 0 { // the lead gives back a mark, which is a small letter too
		end, _ := capitalsThenSmall(s, i)
		return end
	}
	if afterLead > lead {
		return afterLead
	}
	return i
}

// capitalsThenSmall returns the end of U*W+ or else of U+ at s[i:], where U is
// [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] and W is [\p{Ll}\p{Lm}\p{Lo}\p{M}]; i where
// neither matches. upperOnly says that it was the latter.
func capitalsThenSmall(s string, i int) (end int, upperOnly bool) {
	both := i // after the last character of the U* that is of W too
	for end = i; end < len(s); {
		c, n := classAt(s, end)
		if c&(letter|mark) == 0 || c&lower != 0 {
			break
		}
		end += n
		if c&upper == 0 {
			both = end
		}
	}
	small := end
	for small < len(s) {
		c, n := classAt(s, small)
		if c&(letter|mark) == 0 || c&upper != 0 {
			break
		}
		small += n
	}
	if small > end {
		return small, false
	}
	if both > i {
		return both, false
	}
	return end, end > i
}
