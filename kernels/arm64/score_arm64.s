//go:build !noasm

#include "textflag.h"
#include "insn_arm64.h"
#include "rows_arm64.h"

// Scores of int8 rows with an int8 query, four rows side by side: lane r of a
// vector belongs to row r. Every element is computed in one way:
//
//	for each group g { sum += (qScale[g]·scale[g])·dot; sum += min[g]·qSum[g] }
//	score += sum
//
// with dot an exact integer and nothing fused, as kernels.Score states it. Where
// minima are missing +0 is added, which changes no sum, as none is −0.
//
// The dots of a group are finished inside the multiplications of the next one, of
// the next rows too, so that a core that issues in order does not wait for them:
// V4-V7, V18, V19 and V31 carry them over.
//
//	R0  scores of the rows in work  R6  of the rows to finish, 0 inside of rows
//	R2  query                       R16 channels done, R24 = R16+16
//	R3  bytes of a row's scales     R7  bytes of scales done
//	R4  rows left                   R8-R11  codes of rows 0-3
//	R5  channels of a row           R12-R15 scales of rows 0-3
//	R17 scales of the query         R19-R22 minima of rows 0-3
//	R23 its sums, 0 where there are no minima
//	R25 channels left in the group
//	R1  1 where the scales and minima of the rows adjoin
//
//	V0, V1   query                  V4-V7   dots of rows 0-3, four lanes each
//	V8-V15   codes of rows 0-3      V22-V29 products
//	V18      qScale·scale           V19     min·qSum
//	V20, V21, V30 scratch           V31     sums of groups

// ---- Steps of 32 and 16 channels. FIRST begins a group and finishes the last.

#define LOAD_ROWS_16 \
	LDR_Q(16, 2, 0)   \
	LDR_Q(16, 8, 8)   \
	LDR_Q(16, 9, 10)  \
	LDR_Q(16, 10, 12) \
	LDR_Q(16, 11, 14) \
	ADD $16, R16      \
	ADD $16, R24

// SUM_LAST leaves the dots of the last group in V20.
#define SUM_LAST \
	ADDP_4S(5, 4, 20)   \
	ADDP_4S(7, 6, 21)   \
	ADDP_4S(21, 20, 20)

// FINISH adds the last group to V31.
#define FINISH \
	SCVTF_4S(20, 20)    \
	FMUL_4S(18, 20, 20) \
	FADD_4S(20, 31, 31) \
	FADD_4S(19, 31, 31)

// Two products of int8 fit int16: 2·128·127 = 32512.
#define FIRST_32_NEON \
	LDR_Q(16, 2, 0) \
	LDR_Q(16, 8, 8) \
	LDR_Q(24, 2, 1) \
	LDR_Q(24, 8, 9) \
	ADDP_4S(5, 4, 20)     \
	LDR_Q(16, 9, 10) \
	ADDP_4S(7, 6, 21)     \
	LDR_Q(24, 9, 11) \
	SMULL_8H(0, 8, 22)    \
	LDR_Q(16, 10, 12) \
	SMULL_8H(1, 9, 26)    \
	LDR_Q(24, 10, 13) \
	SMULL_8H(0, 10, 23)   \
	LDR_Q(16, 11, 14) \
	SMULL_8H(1, 11, 27)   \
	LDR_Q(24, 11, 15) \
	ADD $32, R16 \
	ADD $32, R24 \
	ADDP_4S(21, 20, 20)   \
	SMULL_8H(0, 12, 24)   \
	SMULL_8H(1, 13, 28)   \
	SMULL_8H(0, 14, 25)   \
	SMULL_8H(1, 15, 29)   \
	SCVTF_4S(20, 20)      \
	SMLAL2_8H(0, 8, 22)   \
	SMLAL2_8H(0, 10, 23)  \
	SMLAL2_8H(0, 12, 24)  \
	SMLAL2_8H(0, 14, 25)  \
	FMUL_4S(18, 20, 20)   \
	SMLAL2_8H(1, 9, 26)   \
	SMLAL2_8H(1, 11, 27)  \
	SMLAL2_8H(1, 13, 28)  \
	SMLAL2_8H(1, 15, 29)  \
	FADD_4S(20, 31, 31)   \
	SADDLP_4S(22, 4)      \
	SADDLP_4S(23, 5)      \
	SADDLP_4S(24, 6)      \
	SADDLP_4S(25, 7)      \
	SADALP_4S(26, 4)      \
	SADALP_4S(27, 5)      \
	SADALP_4S(28, 6)      \
	SADALP_4S(29, 7)      \
	FADD_4S(19, 31, 31)

#define NEXT_32_NEON \
	LDR_Q(16, 2, 0) \
	LDR_Q(16, 8, 8) \
	LDR_Q(24, 2, 1) \
	LDR_Q(24, 8, 9) \
	LDR_Q(16, 9, 10) \
	LDR_Q(24, 9, 11) \
	SMULL_8H(0, 8, 22)    \
	LDR_Q(16, 10, 12) \
	SMULL_8H(1, 9, 26)    \
	LDR_Q(24, 10, 13) \
	SMULL_8H(0, 10, 23)   \
	LDR_Q(16, 11, 14) \
	SMULL_8H(1, 11, 27)   \
	LDR_Q(24, 11, 15) \
	ADD $32, R16 \
	ADD $32, R24 \
	SMULL_8H(0, 12, 24)   \
	SMULL_8H(1, 13, 28)   \
	SMULL_8H(0, 14, 25)   \
	SMULL_8H(1, 15, 29)   \
	SMLAL2_8H(0, 8, 22)   \
	SMLAL2_8H(0, 10, 23)  \
	SMLAL2_8H(0, 12, 24)  \
	SMLAL2_8H(0, 14, 25)  \
	SMLAL2_8H(1, 9, 26)   \
	SMLAL2_8H(1, 11, 27)  \
	SMLAL2_8H(1, 13, 28)  \
	SMLAL2_8H(1, 15, 29)  \
	SADALP_4S(22, 4)      \
	SADALP_4S(23, 5)      \
	SADALP_4S(24, 6)      \
	SADALP_4S(25, 7)      \
	SADALP_4S(26, 4)      \
	SADALP_4S(27, 5)      \
	SADALP_4S(28, 6)      \
	SADALP_4S(29, 7)

#define PRODUCTS_16 \
	SMULL_8H(0, 8, 22)   \
	SMULL_8H(0, 10, 23)  \
	SMULL_8H(0, 12, 24)  \
	SMULL_8H(0, 14, 25)  \
	SMLAL2_8H(0, 8, 22)  \
	SMLAL2_8H(0, 10, 23) \
	SMLAL2_8H(0, 12, 24) \
	SMLAL2_8H(0, 14, 25)

#define FIRST_16_NEON \
	LOAD_ROWS_16     \
	SUM_LAST         \
	PRODUCTS_16      \
	FINISH           \
	SADDLP_4S(22, 4) \
	SADDLP_4S(23, 5) \
	SADDLP_4S(24, 6) \
	SADDLP_4S(25, 7)

#define NEXT_16_NEON \
	LOAD_ROWS_16     \
	PRODUCTS_16      \
	SADALP_4S(22, 4) \
	SADALP_4S(23, 5) \
	SADALP_4S(24, 6) \
	SADALP_4S(25, 7)

#define ZERO_DOTS \
	VMOVI $0, V4.B16 \
	VMOVI $0, V5.B16 \
	VMOVI $0, V6.B16 \
	VMOVI $0, V7.B16

#define FIRST_32_DOT \
	LDR_Q(16, 2, 0) \
	ADDP_4S(5, 4, 20)      \
	LDR_Q(16, 8, 8) \
	ADDP_4S(7, 6, 21)      \
	LDR_Q(16, 9, 10) \
	VMOVI $0, V4.B16 \
	LDR_Q(16, 10, 12) \
	VMOVI $0, V5.B16 \
	LDR_Q(16, 11, 14) \
	VMOVI $0, V6.B16 \
	LDR_Q(24, 2, 1) \
	VMOVI $0, V7.B16 \
	LDR_Q(24, 8, 9) \
	ADDP_4S(21, 20, 20)    \
	LDR_Q(24, 9, 11) \
	SDOT_16B(0, 8, 4)      \
	LDR_Q(24, 10, 13) \
	SDOT_16B(0, 10, 5)     \
	LDR_Q(24, 11, 15) \
	SDOT_16B(0, 12, 6)     \
	SCVTF_4S(20, 20)       \
	ADD $32, R16 \
	SDOT_16B(0, 14, 7)     \
	ADD $32, R24 \
	SDOT_16B(1, 9, 4)      \
	FMUL_4S(18, 20, 20)    \
	SDOT_16B(1, 11, 5)     \
	SDOT_16B(1, 13, 6)     \
	FADD_4S(20, 31, 31)    \
	SDOT_16B(1, 15, 7)     \
	FADD_4S(19, 31, 31)

#define NEXT_32_DOT \
	LDR_Q(16, 2, 0) \
	LDR_Q(16, 8, 8) \
	LDR_Q(16, 9, 10) \
	LDR_Q(16, 10, 12) \
	LDR_Q(16, 11, 14) \
	LDR_Q(24, 2, 1) \
	LDR_Q(24, 8, 9) \
	SDOT_16B(0, 8, 4)      \
	LDR_Q(24, 9, 11) \
	SDOT_16B(0, 10, 5)     \
	LDR_Q(24, 10, 13) \
	SDOT_16B(0, 12, 6)     \
	LDR_Q(24, 11, 15) \
	SDOT_16B(0, 14, 7)     \
	ADD $32, R16 \
	SDOT_16B(1, 9, 4)      \
	ADD $32, R24 \
	SDOT_16B(1, 11, 5)     \
	SDOT_16B(1, 13, 6)     \
	SDOT_16B(1, 15, 7)

#define DOTS_16 \
	SDOT_16B(0, 8, 4)  \
	SDOT_16B(0, 10, 5) \
	SDOT_16B(0, 12, 6) \
	SDOT_16B(0, 14, 7)

#define FIRST_16_DOT \
	LOAD_ROWS_16 \
	SUM_LAST     \
	ZERO_DOTS    \
	DOTS_16      \
	FINISH

#define NEXT_16_DOT \
	LOAD_ROWS_16 \
	DOTS_16

// ---- Around the steps

// FOUR_OF loads a factor of each row into v; V20 and V21 are scratch.
#define FOUR_OF(row0, row1, row2, row3, f, v) \
	FMOVS (row0)(R7), f           \
	FMOVS (row1)(R7), F20         \
	FMOVS (row2)(R7), F21         \
	FMOVS (row3)(R7), F30         \
	VZIP1 V20.S4, v.S4, v.S4      \
	VZIP1 V30.S4, V21.S4, V21.S4  \
	VZIP1 V21.D2, v.D2, v.D2

#define FIRST_32 FIRST_32_NEON
#define FIRST_16 FIRST_16_NEON
#define NEXT_32 NEXT_32_NEON
#define NEXT_16 NEXT_16_NEON

// func scoreNEON(scores *float32, codes *int8, padded, rows int, q *int8,
//	qScale, qSum, scales, minima *float32, scaleBytes, group int)
TEXT ·scoreNEON(SB), NOSPLIT, $0-88

#include "score_rows_arm64.h"

#define FIRST_32 FIRST_32_DOT
#define FIRST_16 FIRST_16_DOT
#define NEXT_32 NEXT_32_DOT
#define NEXT_16 NEXT_16_DOT

// func scoreDot(scores *float32, codes *int8, padded, rows int, q *int8,
//	qScale, qSum, scales, minima *float32, scaleBytes, group int)
TEXT ·scoreDot(SB), NOSPLIT, $0-88

#include "score_rows_arm64.h"
