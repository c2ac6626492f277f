// What the products of block formats share: the walk over int8 activation rows
// ([cols] codes, [blocks] scales, [blocks] sums) and the unpacking of weights.
//
// R16 is one token ahead: it passes on when a token's codes are loaded. R17 and
// R19 lead back from there to the scale and the sum of the token in work.
//
//	R5  blocks of a row   R22 cols − xStride   R23 columns
//
//	V0-V3   codes of this and the next token     V4-V7   integer sums
//	V8-V15  weights                              V16, V17  d, m of rows 0-3
//	V18     d·scale       V19 scale              V20-V22 scratch (V22: block sum)
//	V23     constant      V24-V31 accumulators of tokens 0-7, a lane per row

// INT8_WALK prepares the walk over the tokens in R20.
#define INT8_WALK \
	MUL R3, R20, R21  \
	NEG R21, R21      \
	ADD $32, R21, R21 \
	SUB R3, R23, R22

// INT8_ROW goes to the first token's first block.
#define INT8_ROW \
	MOVD R2, R16         \
	MOVD R22, R17        \
	ADD  R5<<2, R22, R19 \
	MOVD R5, R20

// CODES loads the 32 codes of the next token.
#define CODES(a, b) \
	FMOVQ (R16), a   \
	FMOVQ 16(R16), b \
	ADD   R3, R16

#define SCALE FMOVS (R16)(R17), F19

#define SCALE_AND_SUM \
	FMOVS (R16)(R17), F19 \
	FMOVS (R16)(R19), F22

// NEXT_BLOCK leaves the flags of blocks left for BNE. Codes pass on by 32
// bytes, scales and sums by 4.
#define NEXT_BLOCK \
	ADD  R21, R16 \
	SUB  $28, R17 \
	SUB  $28, R19 \
	SUBS $1, R20

// LOAD_Q4_1 loads a block of four rows, packed, into V12-V15, their d and m
// as halves into V22.
#define LOAD_Q4_1 \
	FMOVS (R8), F22        \
	FMOVQ 4(R8), F12       \
	VLD1  (R9), V22.S[1]   \
	FMOVQ 4(R9), F13       \
	PRFM_PLDL1KEEP(24, 8)  \
	VLD1  (R10), V22.S[2]  \
	FMOVQ 4(R10), F14      \
	PRFM_PLDL1KEEP(24, 9)  \
	VLD1  (R11), V22.S[3]  \
	FMOVQ 4(R11), F15      \
	PRFM_PLDL1KEEP(24, 10) \
	PRFM_PLDL1KEEP(24, 11) \
	ADVANCE_ROWS(20)

// LOAD_Q4_0 is the same for Q4_0: d alone in V22.
#define LOAD_Q4_0 \
	LDR_H(0, 8, 22)        \
	FMOVQ 2(R8), F12       \
	VLD1  (R9), V22.H[1]   \
	FMOVQ 2(R9), F13       \
	PRFM_PLDL1KEEP(24, 8)  \
	VLD1  (R10), V22.H[2]  \
	FMOVQ 2(R10), F14      \
	PRFM_PLDL1KEEP(24, 9)  \
	VLD1  (R11), V22.H[3]  \
	FMOVQ 2(R11), F15      \
	PRFM_PLDL1KEEP(24, 10) \
	PRFM_PLDL1KEEP(24, 11) \
	ADVANCE_ROWS(18)

// LOAD_Q8_0: values 0-15 of rows 0-3 in V8-V11, values 16-31 in V12-V15.
#define LOAD_Q8_0 \
	LDR_H(0, 8, 22)       \
	FMOVQ 2(R8), F8       \
	FMOVQ 18(R8), F12     \
	VLD1  (R9), V22.H[1]  \
	FMOVQ 2(R9), F9       \
	FMOVQ 18(R9), F13     \
	VLD1  (R10), V22.H[2] \
	FMOVQ 2(R10), F10     \
	FMOVQ 18(R10), F14    \
	VLD1  (R11), V22.H[3] \
	FMOVQ 2(R11), F11     \
	FMOVQ 18(R11), F15    \
	PREFETCH_ROWS         \
	ADVANCE_ROWS(34)

// SPLIT_NIBBLES: V12-V15 become the high values and V8-V11 the low ones,
// where V23 holds 15 in every byte.
#define SPLIT_NIBBLES \
	VAND  V23.B16, V12.B16, V8.B16  \
	VAND  V23.B16, V13.B16, V9.B16  \
	VAND  V23.B16, V14.B16, V10.B16 \
	VAND  V23.B16, V15.B16, V11.B16 \
	VUSHR $4, V12.B16, V12.B16      \
	VUSHR $4, V13.B16, V13.B16      \
	VUSHR $4, V14.B16, V14.B16      \
	VUSHR $4, V15.B16, V15.B16

#define WEIGHTS_Q8_0 \
	LOAD_Q8_0     \
	CODES(F0, F1) \
	FCVTL(22, 16)

#define WEIGHTS_Q4_1 \
	LOAD_Q4_1                    \
	CODES(F0, F1)                \
	FCVTL(22, 20)                \
	FCVTL2(22, 21)               \
	SPLIT_NIBBLES                \
	VUZP1 V21.S4, V20.S4, V16.S4 \
	VUZP2 V21.S4, V20.S4, V17.S4
