// Package tokenizer turns text into token ids and back.
//
// It knows two kinds of vocabulary: SentencePiece-style, where neighbours
// merge by the score of what they become (tokenizer.ggml.model "llama"), and
// byte-level BPE, where a list of merges rules inside the words that a
// pre-tokenizer cuts (tokenizer.ggml.model "gpt2"). Ids are those of llama.cpp
// for the same vocabulary; docs/RATIONALE.md names the exceptions.
//
// It does not read files (a Vocab comes filled in), knows nothing of chat
// templates (they say which parts of a prompt may hold control tokens, see
// Part) and decides nothing about stopping but which tokens end an answer.
//
// A Tokenizer is immutable but for one cache of bits, changed atomically; any
// number of goroutines may use it. What it keeps on the heap is known before
// it is made: Bytes.
package tokenizer
