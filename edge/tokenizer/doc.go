// Package tokenizer turns text into token ids and back.
//
// It knows two kinds of vocabulary: SentencePiece-style, where neighbours
// merge by the score of what they become (tokenizer.ggml.model "llama"), and
// BPE, where a list of merges rules inside the words that a pre-tokenizer cuts
// (tokenizer.ggml.model "gpt2").
//
// It does not read files (a Vocab comes filled in), knows nothing of chat
// templates (they say which parts of a prompt may hold control tokens, see
// Part) and decides nothing about stopping but which tokens end an answer.
//
// A Tokenizer is immutable but for one cache of bits, changed atomically; any
// number of goroutines may use it. What it keeps on the heap is known before
// it is made: Bytes.
//
// Ids are those of llama.cpp for the same file, but
//   - control, byte and unused tokens are never the result of merging, so that
//     text from outside cannot spell one;
//   - of special tokens that overlap in a text the first wins, not the longest;
//   - a token </s> of type normal is no control token: it is an HTML tag;
//   - the words of gpt-4o, tekken, deepseek-llm and deepseek-coder are cut by
//     the expressions of the models' own tokenizer.json, where llama.cpp takes
//     letters beyond ASCII for upper and lower case at once, and white space
//     beyond ASCII for a member of no range (U+3000 for no punctuation);
//   - bytes that are not UTF-8 are encoded as they are, not as U+FFFD;
//   - Unicode is 15.0, which lacks the CJK extension I of 15.1.
package tokenizer
