package tokenizer

// Every stage against the regular expression it equals, and every row of the
// table against its list of expressions, on texts made to hurt.

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

const (
	foldedContraction = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`
	bigLetters        = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
	smallLetters      = `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
	casedWords        = `[^\r\n\p{L}\p{N}]?` + bigLetters + `*` + smallLetters + `+CONTRACTION?|` +
		`[^\r\n\p{L}\p{N}]?` + bigLetters + `+` + smallLetters + `*CONTRACTION?|`
	blankTail = `\s*[\r\n]+|\s+(?!\S)|\s+`
)

// stageExpressions is what each stage claims to be.
var stageExpressions = map[string]struct {
	scan       stage
	expression string
}{
	"GPT2": {scanGPT2, `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|` +
		`\s+(?!\S)|\s+`},
	"Llama3": {scanLlama3, foldedContraction + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|` +
		` ?[^\s\p{L}\p{N}]+[\r\n]*|` + blankTail},
	"Qwen2": {scanQwen2, foldedContraction + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|` +
		` ?[^\s\p{L}\p{N}]+[\r\n]*|` + blankTail},
	"Qwen35": {scanQwen35, foldedContraction + `|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|` +
		` ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|` + blankTail},
	"GPT4o": {scanGPT4o, strings.ReplaceAll(casedWords, "CONTRACTION", foldedContraction) +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|` + blankTail},
	"Tekken": {scanTekken, strings.ReplaceAll(casedWords, "CONTRACTION?", "") +
		`\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|` + blankTail},
	"Number":        {scanNumber, `\p{N}`},
	"Numbers":       {scanNumbers, `\p{N}+`},
	"ThreeNumbers":  {scanThreeNumbers, `\p{N}{1,3}`},
	"ThreeDigits":   {scanThreeDigits, `[0-9][0-9][0-9]`},
	"Newline":       {scanNewline, `[\r\n]`},
	"Lines":         {scanLines, `[^\n]+|[\n]+`},
	"Tail":          {scanTail, `\s+\z`}, // $ in .NET would also match before a last line end
	"SpaceLetters":  {scanSpaceLetters, `\s?\p{L}+`},
	"SpacePunct":    {scanSpacePunct, `\s?\p{P}+`},
	"Cased":         {scanCased, `\s?[` + casedClass + `]+`},
	"DeepSeekPunct": {scanDeepSeekPunct, `\s?[!-/:-~！-／：-～‘-‟　-。]+`},
	"EastAsian":     {scanEastAsian, `[一-龥ࠀ-一가-\uD7FF]+`},
	"HanKana":       {scanHanKana, `[一-龥\u3040-ゟ゠-ヿ]+`},
	"DeepSeekV3": {scanDeepSeekV3, "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|" +
		`[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|` + blankTail},
	"FalconPunct":  {scanFalconPunct, "[\\p{P}\\$\\+<=>\\^~\\|`]+"},
	"DefaultPunct": {scanDefaultPunct, `[\p{P}\$\+<=>\^~\|]+`},
}

// casedClass is the class of scanCased as the model's tokenizer.json has it.
const casedClass = `A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ` +
	`-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK` +
	`-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲` +
	`𑢠-𑣟𞤀-𞥃`

// rowStages are the stages of each row by its first name.
var rowStages = map[string][]string{
	"gpt-2":          {"GPT2"},
	"smollm":         {"Number", "GPT2"},
	"llama-bpe":      {"Llama3"},
	"smaug-bpe":      {"Llama3"},
	"glm4":           {"Llama3"},
	"qwen2":          {"Qwen2"},
	"qwen35":         {"Qwen35"},
	"gpt-4o":         {"GPT4o"},
	"tekken":         {"Tekken"},
	"deepseek-llm":   {"Newline", "Cased", "DeepSeekPunct", "Tail", "EastAsian", "Numbers"},
	"deepseek-coder": {"Newline", "SpaceLetters", "SpacePunct", "EastAsian", "Number"},
	"deepseek-v3":    {"ThreeNumbers", "HanKana", "DeepSeekV3"},
	"falcon":         {"FalconPunct", "GPT2", "ThreeDigits"},
	"default":        {"DefaultPunct", "GPT2", "Numbers", "ThreeDigits"},
	"gemma4":         {"Lines"},
}

// cut applies stages as the encoder does.
func cut(stages []stage, s string, out []string) []string {
	if len(stages) == 0 {
		return append(out, s)
	}
	for pos := 0; pos < len(s); {
		start, end := stages[0](s, pos)
		if start > pos {
			out = cut(stages[1:], s[pos:start], out)
		}
		if end > start {
			out = cut(stages[1:], s[start:end], out)
		}
		pos = end
	}
	return out
}

// cutByRegexp does the same with expressions.
func cutByRegexp(t *testing.T, expressions []*regexp2.Regexp, s string, out []string) []string {
	if len(expressions) == 0 {
		return append(out, s)
	}
	runes := []rune(s)
	done := 0
	piece := func(end int) {
		if end > done {
			out = cutByRegexp(t, expressions[1:], string(runes[done:end]), out)
		}
		done = end
	}
	m, err := expressions[0].FindRunesMatch(runes)
	for ; m != nil && err == nil; m, err = expressions[0].FindNextMatch(m) {
		piece(m.Index)
		piece(m.Index + m.Length)
	}
	if err != nil {
		t.Fatal(err)
	}
	piece(len(runes))
	return out
}

// awkward are characters at the borders of the expressions' classes.
var awkward = []rune("aAzZstmdrevlSTMDREVL''''  \t\n\n\r\v\u0085\u00a0\u2003\u2028\u3000" +
	"0159½²Ⅷ٣७౧.,!?-_/\\\"#$%&()*+:;<=>@[]^`{|}~éÉßſİıǅʰªᴬᾳΑЖжաՍⴀᲐ中文字日本のカ한국ࠀ龥ힰ퟿" +
	"！／：～‘‟。、，·—…€©™🦙😸👩\u200d\u0301\u0308\u0903\u093f\u0e31\ufe0f\u00ad\u0000\u0007" +
	"\u007f\ufeff\ufffd\ue000\U000e0041\U0010ffff\u0378𐐀𐐨𞤀𝒜𝟘ⓐΩK")

// awkwardText is a random text that has runs as well as quick changes.
func awkwardText(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(14) {
		c := awkward[r.IntN(len(awkward))]
		if r.IntN(12) == 0 {
			c = rune(r.IntN(unicode.MaxRune + 1))
		}
		if !utf8.ValidRune(c) {
			c = 'x'
		}
		n := 1
		if r.IntN(4) == 0 {
			n += r.IntN(5)
		}
		b.WriteString(strings.Repeat(string(c), n))
	}
	return b.String()
}

// compile returns the expressions and scanners of stages by name.
func compile(t *testing.T, names ...string) (list []*regexp2.Regexp, scans []stage) {
	t.Helper()
	for _, name := range names {
		s := stageExpressions[name]
		re, err := regexp2.Compile(s.expression, regexp2.None)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list, scans = append(list, re), append(scans, s.scan)
	}
	return list, scans
}

// compareCuts cuts awkward texts both ways.
func compareCuts(t *testing.T, seed uint64, stages []stage, expressions []*regexp2.Regexp) {
	t.Helper()
	classesOnce.Do(makeClasses)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range 3000 {
		text := awkwardText(r)
		got, want := cut(stages, text, nil), cutByRegexp(t, expressions, text, nil)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, text %d %q:\ngot  %q\nwant %q", seed, i, text, got, want)
		}
	}
}

func TestStages(t *testing.T) {
	for name := range stageExpressions {
		t.Run(name, func(t *testing.T) {
			expressions, scans := compile(t, name)
			compareCuts(t, 1, scans, expressions)
		})
	}
}

func TestRows(t *testing.T) {
	for _, row := range preTokenizers {
		t.Run(row.names[0], func(t *testing.T) {
			names := rowStages[row.names[0]]
			if names == nil {
				t.Fatal("no expressions to be compared with")
			}
			expressions, _ := compile(t, names...)
			compareCuts(t, 2, row.stages, expressions)
		})
	}
}

// TestRowNames holds the names that models use against the table.
func TestRowNames(t *testing.T) {
	for _, name := range strings.Fields("smollm gpt-2 llama-bpe qwen2 default deepseek-llm " +
		"deepseek-coder deepseek-r1-qwen qwen35 llama4 tekken gpt-4o starcoder falcon command-r " +
		"refact mpt gpt-neox gemma-4 gemma4 exaone") {
		if preTokenizerOf(name) == nil {
			t.Errorf("pre-tokenizer %q is missing", name)
		}
	}
	names := PreTokenizers()
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("PreTokenizers() = %q; want sorted names, each once", names)
	}
}

// TestStagesCoverAnyBytes: no stage loses, invents or reorders anything, be the
// text UTF-8 or not.
func TestStagesCoverAnyBytes(t *testing.T) {
	classesOnce.Do(makeClasses)
	r := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		text := []byte(awkwardText(r))
		for range 1 + r.IntN(4) {
			text[r.IntN(len(text))] = byte(r.Uint32())
		}
		for _, row := range preTokenizers {
			words := cut(row.stages, string(text), nil)
			if got := strings.Join(words, ""); got != string(text) {
				t.Fatalf("%s: words of %q join to %q", row.names[0], text, got)
			}
			if slices.Contains(words, "") {
				t.Fatalf("%s: an empty word in %q of %q", row.names[0], words, text)
			}
		}
	}
}

// TestClasses holds the table against package unicode for every character.
func TestClasses(t *testing.T) {
	classesOnce.Do(makeClasses)
	for r := range rune(unicode.MaxRune + 1) {
		if !utf8.ValidRune(r) {
			continue
		}
		want := class(0)
		for _, c := range []struct {
			in  bool
			bit class
		}{
			{unicode.IsLetter(r), letter}, {unicode.IsNumber(r), number}, {unicode.IsMark(r), mark},
			{unicode.IsPunct(r), punct}, {unicode.IsSymbol(r), symbol}, {unicode.IsSpace(r), space},
			{unicode.IsUpper(r) || unicode.IsTitle(r), upper}, {unicode.IsLower(r), lower},
		} {
			if c.in {
				want |= c.bit
			}
		}
		if !unicode.IsLetter(r) {
			want &^= upper | lower // IsLower also has symbols such as ⓐ
		}
		if got, _ := classAt(string(r), 0); got != want {
			t.Fatalf("class of %U = %08b; want %08b", r, got, want)
		}
	}
}

// TestCasedClass holds the ranges of scanCased against its class.
func TestCasedClass(t *testing.T) {
	classesOnce.Do(makeClasses)
	re := regexp2.MustCompile(`\A[`+casedClass+`]\z`, regexp2.None)
	for r := range rune(0x1F000) {
		if !utf8.ValidRune(r) {
			continue
		}
		want, err := re.MatchString(string(r))
		if err != nil {
			t.Fatal(err)
		}
		if start, _ := scanCased(string(r), 0); (start == 0) != want {
			t.Errorf("%U is in the class of scanCased: %v; want %v", r, start == 0, want)
		}
	}
}
