package tokenizer

// The pre-tokenizers of byte-level BPE. Each is a list of stages, every one
// equal to a regular expression: a stage cuts the text into what it matches
// and what is between, and the next stage goes on with each piece by itself,
// as if there were nothing around it. What the last stage leaves are the words
// inside which merges happen.
//
// The expressions are those of the models' own tokenizer.json. llama.cpp
// rewrites some of them to suit its matcher; the package comment has the
// differences.

import (
	"fmt"
	"slices"
	"strings"
)

// stage finds the first match of its expression in s at or after pos. Where
// there is none, start is len(s). A match is never empty.
type stage func(s string, pos int) (start, end int)

// preTokenizer is one row of the table.
type preTokenizer struct {
	names  []string // values of tokenizer.ggml.pre
	stages []stage

	ignoreMerges bool // a whole word that is a token is taken unmerged
	addBOS       bool // the default of add_bos_token
	chars        bool // merges of characters, not of bytes
}

var preTokenizers = []preTokenizer{
	{names: []string{"gpt-2", "gpt-neox", "phi-2", "mpt", "olmo", "jais", "exaone4", "trillion",
		"granite-docling", "jina-es", "jina-de", "jina-v1-en", "jina-v2-es", "jina-v2-de",
		"jina-v2-code", "roberta-bpe", "gigachat", "a.x-4.0", "mellum", "modern-bert"},
		stages: []stage{scanGPT2}},
	{names: []string{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone",
		"minerva-7b", "mellum2"},
		stages: []stage{scanNumber, scanGPT2}},
	{names: []string{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral",
		"midm-2.0", "lfm2", "jina-v5-nano"},
		stages: []stage{scanLlama3}, ignoreMerges: true, addBOS: true},
	{names: []string{"smaug-bpe", "dbrx", "chatglm-bpe"}, stages: []stage{scanLlama3}},
	{names: []string{"glm4", "glm5"}, stages: []stage{scanLlama3}, ignoreMerges: true},
	{names: []string{"qwen2", "deepseek-r1-qwen", "stablelm2", "megrez", "hunyuan", "solar-open",
		"grok-2", "kormo", "f2llmv2"},
		stages: []stage{scanQwen2}},
	{names: []string{"qwen35"}, stages: []stage{scanQwen35}},
	{names: []string{"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"},
		stages: []stage{scanGPT4o}},
	{names: []string{"tekken"}, stages: []stage{scanTekken}, ignoreMerges: true, addBOS: true},
	{names: []string{"deepseek-llm"},
		stages: []stage{scanNewline, scanCased, scanDeepSeekPunct, scanTail, scanEastAsian,
			scanNumbers}},
	{names: []string{"deepseek-coder"},
		stages: []stage{scanNewline, scanSpaceLetters, scanSpacePunct, scanEastAsian, scanNumber}},
	{names: []string{"deepseek-v3", "hunyuan-dense", "joyai-llm"},
		stages: []stage{scanThreeNumbers, scanHanKana, scanDeepSeekV3}},
	{names: []string{"falcon"}, stages: []stage{scanFalconPunct, scanGPT2, scanThreeDigits}},
	{names: []string{"default"},
		stages: []stage{scanDefaultPunct, scanGPT2, scanNumbers, scanThreeDigits}},
	{names: []string{"gemma4", "gemma-4"}, stages: []stage{scanLines}, addBOS: true, chars: true},
}

// preTokenizerOf returns the row of a name, or nil.
func preTokenizerOf(name string) *preTokenizer {
	for i := range preTokenizers {
		if slices.Contains(preTokenizers[i].names, name) {
			return &preTokenizers[i]
		}
	}
	return nil
}

// PreTokenizers are the accepted values of Vocab.Pre, sorted.
func PreTokenizers() []string {
	var names []string
	for _, row := range preTokenizers {
		names = append(names, row.names...)
	}
	slices.Sort(names)
	return names
}

// unknownPre is the refusal of a pre-tokenizer: a wrong one gives wrong ids
// without a sign of it, so there is no default.
func unknownPre(name string) error {
	what := fmt.Sprintf("pre-tokenizer %q is unknown", name)
	if name == "" {
		what = "the file names no pre-tokenizer"
	}
	return fmt.Errorf("%s; give the one that the model was trained with, as in "+
		"--override-kv tokenizer.ggml.pre=str:llama-bpe; there are %s",
		what, strings.Join(PreTokenizers(), ", "))
}
