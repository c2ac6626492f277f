package arena

// The vocabulary of memory: every byte of the process is a line with one of
// these purposes, in the plan, in the ledger and in what the user reads.

import "fmt"

// Purpose says what bytes are for.
type Purpose uint8

const (
	Weights      Purpose = iota // the model file's tensors, mapped
	ProgramImage                // code and constants of the program
	KVPayload                   // codes of sealed tiles
	KVScales                    // scales and minima of sealed tiles
	KVPadding                   // rows padded to whole groups, pieces rounded up
	KVWindow                    // 16-bit rows: recent window and sinks
	KeyMeans                    // the key mean of each session
	PageTable                   // where each tile lies
	Scratch                     // working memory of workers
	Activations                 // buffers of the forward pass
	Logits                      // one score per vocabulary entry
	Tokenizer                   // vocabulary tables on the Go heap
	GoReserve                   // the rest of the Go heap, stacks, runtime
	PageRounding                // the mapping's end, up to a whole page
	NumPurposes
)

var purposeNames = [NumPurposes]string{
	Weights:      "weights",
	ProgramImage: "program image",
	KVPayload:    "kv payload",
	KVScales:     "kv scales",
	KVPadding:    "kv padding",
	KVWindow:     "kv window and sinks",
	KeyMeans:     "key means",
	PageTable:    "page table",
	Scratch:      "scratch",
	Activations:  "activations",
	Logits:       "logits",
	Tokenizer:    "tokenizer",
	GoReserve:    "go reserve",
	PageRounding: "page rounding",
}

// String returns the purpose as plans and ledgers print it.
func (p Purpose) String() string {
	if p < NumPurposes {
		return purposeNames[p]
	}
	return fmt.Sprintf("Purpose(%d)", uint8(p))
}

// Outside says whether memory of this purpose lies outside the arena's
// mapping: it is noted in the ledger (Arena.Note), never taken.
func (p Purpose) Outside() bool {
	switch p {
	case Weights, ProgramImage, Tokenizer, GoReserve:
		return true
	}
	return false
}

// Line is one entry of a plan or a ledger.
type Line struct {
	Purpose Purpose
	Bytes   int64
}
