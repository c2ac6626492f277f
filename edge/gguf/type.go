package gguf

// Tensor types: every id ggml has given out, with its name and block size,
// whether or not this runtime can multiply it. Sizes and ids are those of
// ggml.h and ggml-common.h.

import "fmt"

// Type is the ggml id of how a tensor's values are stored.
type Type uint32

// The types in use. Ids 4, 5, 31 to 33 and 36 to 38 were withdrawn.
const (
	TypeF32     Type = 0
	TypeF16     Type = 1
	TypeQ4_0    Type = 2
	TypeQ4_1    Type = 3
	TypeQ5_0    Type = 6
	TypeQ5_1    Type = 7
	TypeQ8_0    Type = 8
	TypeQ8_1    Type = 9
	TypeQ2_K    Type = 10
	TypeQ3_K    Type = 11
	TypeQ4_K    Type = 12
	TypeQ5_K    Type = 13
	TypeQ6_K    Type = 14
	TypeQ8_K    Type = 15
	TypeIQ2_XXS Type = 16
	TypeIQ2_XS  Type = 17
	TypeIQ3_XXS Type = 18
	TypeIQ1_S   Type = 19
	TypeIQ4_NL  Type = 20
	TypeIQ3_S   Type = 21
	TypeIQ2_S   Type = 22
	TypeIQ4_XS  Type = 23
	TypeI8      Type = 24
	TypeI16     Type = 25
	TypeI32     Type = 26
	TypeI64     Type = 27
	TypeF64     Type = 28
	TypeIQ1_M   Type = 29
	TypeBF16    Type = 30
	TypeTQ1_0   Type = 34
	TypeTQ2_0   Type = 35
	TypeMXFP4   Type = 39
	TypeNVFP4   Type = 40
	TypeQ1_0    Type = 41
	TypeQ2_0    Type = 42

	numTypes = 43
)

// typeFacts is one row per id. Withdrawn types keep their name for messages
// and have no block, so that no size can be computed from them.
var typeFacts = [numTypes]struct {
	name          string
	values, bytes int    // of one block
	successor     string // what to convert a withdrawn type to
}{
	TypeF32:     {name: "F32", values: 1, bytes: 4},
	TypeF16:     {name: "F16", values: 1, bytes: 2},
	TypeQ4_0:    {name: "Q4_0", values: 32, bytes: 18},
	TypeQ4_1:    {name: "Q4_1", values: 32, bytes: 20},
	4:           {name: "Q4_2", successor: "Q4_0"},
	5:           {name: "Q4_3", successor: "Q4_1"},
	TypeQ5_0:    {name: "Q5_0", values: 32, bytes: 22},
	TypeQ5_1:    {name: "Q5_1", values: 32, bytes: 24},
	TypeQ8_0:    {name: "Q8_0", values: 32, bytes: 34},
	TypeQ8_1:    {name: "Q8_1", values: 32, bytes: 36},
	TypeQ2_K:    {name: "Q2_K", values: 256, bytes: 84},
	TypeQ3_K:    {name: "Q3_K", values: 256, bytes: 110},
	TypeQ4_K:    {name: "Q4_K", values: 256, bytes: 144},
	TypeQ5_K:    {name: "Q5_K", values: 256, bytes: 176},
	TypeQ6_K:    {name: "Q6_K", values: 256, bytes: 210},
	TypeQ8_K:    {name: "Q8_K", values: 256, bytes: 292},
	TypeIQ2_XXS: {name: "IQ2_XXS", values: 256, bytes: 66},
	TypeIQ2_XS:  {name: "IQ2_XS", values: 256, bytes: 74},
	TypeIQ3_XXS: {name: "IQ3_XXS", values: 256, bytes: 98},
	TypeIQ1_S:   {name: "IQ1_S", values: 256, bytes: 50},
	TypeIQ4_NL:  {name: "IQ4_NL", values: 32, bytes: 18},
	TypeIQ3_S:   {name: "IQ3_S", values: 256, bytes: 110},
	TypeIQ2_S:   {name: "IQ2_S", values: 256, bytes: 82},
	TypeIQ4_XS:  {name: "IQ4_XS", values: 256, bytes: 136},
	TypeI8:      {name: "I8", values: 1, bytes: 1},
	TypeI16:     {name: "I16", values: 1, bytes: 2},
	TypeI32:     {name: "I32", values: 1, bytes: 4},
	TypeI64:     {name: "I64", values: 1, bytes: 8},
	TypeF64:     {name: "F64", values: 1, bytes: 8},
	TypeIQ1_M:   {name: "IQ1_M", values: 256, bytes: 56},
	TypeBF16:    {name: "BF16", values: 1, bytes: 2},
	31:          {name: "Q4_0_4_4", successor: "Q4_0"},
	32:          {name: "Q4_0_4_8", successor: "Q4_0"},
	33:          {name: "Q4_0_8_8", successor: "Q4_0"},
	TypeTQ1_0:   {name: "TQ1_0", values: 256, bytes: 54},
	TypeTQ2_0:   {name: "TQ2_0", values: 256, bytes: 66},
	36:          {name: "IQ4_NL_4_4", successor: "IQ4_NL"},
	37:          {name: "IQ4_NL_4_8", successor: "IQ4_NL"},
	38:          {name: "IQ4_NL_8_8", successor: "IQ4_NL"},
	TypeMXFP4:   {name: "MXFP4", values: 32, bytes: 17},
	TypeNVFP4:   {name: "NVFP4", values: 64, bytes: 36},
	TypeQ1_0:    {name: "Q1_0", values: 128, bytes: 18},
	TypeQ2_0:    {name: "Q2_0", values: 64, bytes: 18},
}

// String returns the type's name as GGUF tools print it, "type 99" for an id
// that ggml has not given out.
func (t Type) String() string {
	if t < numTypes {
		return typeFacts[t].name
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// Block returns how many values one storage block holds and its size in
// bytes. known is false, and both are 0, for ids not given out or withdrawn.
func (t Type) Block() (values, bytes int, known bool) {
	if t >= numTypes {
		return 0, 0, false
	}
	fact := &typeFacts[t]
	return fact.values, fact.bytes, fact.values > 0
}
