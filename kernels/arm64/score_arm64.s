//go:build !noasm

#include "textflag.h"
#include "insn_arm64.h"
#include "product_arm64.h"

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
//	R2  query                       R16 the same, walking
//	R3  bytes of a row's scales     R12-R15 scales of rows 0-3, walking
//	R4  rows left                   R8-R11  codes of rows 0-3, walking
//	R5  channels of a row           R24 those left
//	R7  channels of a group         R25 those left
//	R17 scale of the query          R23 its sum, 0 where there are no minima
//	R19-R22 minima of rows 0-3      R1  1 where scales and minima of rows adjoin
//
//	V0, V1   query                  V4-V7   dots of rows 0-3, four lanes each
//	V8-V15   codes of rows 0-3      V22-V29 products
//	V18      qScale·scale           V19     min·qSum
//	V20, V21, V30 scratch           V31     sums of groups

// ---- Steps of 32 and 16 channels. FIRST begins a group and finishes the last.

#define LOAD_32(row, v0, v1) FLDPQ.P 32(row), (v0, v1)
#define LOAD_16(row, v0) FMOVQ.P 16(row), v0

// FINISH adds the last group to V31, its dots being in V20.
#define FINISH \
	SCVTF_4S(20, 20)    \
	FMUL_4S(18, 20, 20) \
	FADD_4S(20, 31, 31) \
	FADD_4S(19, 31, 31)

// Two products of int8 fit int16: 2·128·127 = 32512.
#define FIRST_32_NEON \
	LOAD_32(R16, F0, F1)  \
	LOAD_32(R8, F8, F9)   \
	ADDP_4S(5, 4, 20)     \
	LOAD_32(R9, F10, F11) \
	ADDP_4S(7, 6, 21)     \
	SMULL_8H(0, 8, 22)    \
	SMULL_8H(1, 9, 26)    \
	LOAD_32(R10, F12, F13) \
	SMULL_8H(0, 10, 23)   \
	SMULL_8H(1, 11, 27)   \
	LOAD_32(R11, F14, F15) \
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
	FADD_4S(19, 31, 31)   \
	SADALP_4S(28, 6)      \
	SADALP_4S(29, 7)

#define NEXT_32_NEON \
	LOAD_32(R16, F0, F1)  \
	LOAD_32(R8, F8, F9)   \
	LOAD_32(R9, F10, F11) \
	SMULL_8H(0, 8, 22)    \
	SMULL_8H(1, 9, 26)    \
	LOAD_32(R10, F12, F13) \
	SMULL_8H(0, 10, 23)   \
	SMULL_8H(1, 11, 27)   \
	LOAD_32(R11, F14, F15) \
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

#define LOAD_ROWS_16 \
	LOAD_16(R16, F0)  \
	LOAD_16(R8, F8)   \
	LOAD_16(R9, F10)  \
	LOAD_16(R10, F12) \
	LOAD_16(R11, F14)

#define PRODUCTS_16 \
	SMULL_8H(0, 8, 22)   \
	SMULL_8H(0, 10, 23)  \
	SMULL_8H(0, 12, 24)  \
	SMULL_8H(0, 14, 25)  \
	SMLAL2_8H(0, 8, 22)  \
	SMLAL2_8H(0, 10, 23) \
	SMLAL2_8H(0, 12, 24) \
	SMLAL2_8H(0, 14, 25)

#define SUM_LAST \
	ADDP_4S(5, 4, 20)   \
	ADDP_4S(7, 6, 21)   \
	ADDP_4S(21, 20, 20)

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

#define FIRST_32_DOT \
	LOAD_32(R16, F0, F1)   \
	LOAD_32(R8, F8, F9)    \
	ADDP_4S(5, 4, 20)      \
	ADDP_4S(7, 6, 21)      \
	LOAD_32(R9, F10, F11)  \
	ZERO4(V4, V5, V6, V7)  \
	LOAD_32(R10, F12, F13) \
	ADDP_4S(21, 20, 20)    \
	SDOT_16B(0, 8, 4)      \
	SDOT_16B(0, 10, 5)     \
	LOAD_32(R11, F14, F15) \
	SCVTF_4S(20, 20)       \
	SDOT_16B(0, 12, 6)     \
	SDOT_16B(0, 14, 7)     \
	FMUL_4S(18, 20, 20)    \
	SDOT_16B(1, 9, 4)      \
	SDOT_16B(1, 11, 5)     \
	FADD_4S(20, 31, 31)    \
	SDOT_16B(1, 13, 6)     \
	SDOT_16B(1, 15, 7)     \
	FADD_4S(19, 31, 31)

#define NEXT_32_DOT \
	LOAD_32(R16, F0, F1)   \
	LOAD_32(R8, F8, F9)    \
	LOAD_32(R9, F10, F11)  \
	LOAD_32(R10, F12, F13) \
	SDOT_16B(0, 8, 4)      \
	SDOT_16B(0, 10, 5)     \
	LOAD_32(R11, F14, F15) \
	SDOT_16B(0, 12, 6)     \
	SDOT_16B(0, 14, 7)     \
	SDOT_16B(1, 9, 4)      \
	SDOT_16B(1, 11, 5)     \
	SDOT_16B(1, 13, 6)     \
	SDOT_16B(1, 15, 7)

#define DOTS_16 \
	SDOT_16B(0, 8, 4)  \
	SDOT_16B(0, 10, 5) \
	SDOT_16B(0, 12, 6) \
	SDOT_16B(0, 14, 7)

#define FIRST_16_DOT \
	LOAD_ROWS_16          \
	SUM_LAST              \
	ZERO4(V4, V5, V6, V7) \
	DOTS_16               \
	FINISH

#define NEXT_16_DOT \
	LOAD_ROWS_16 \
	DOTS_16

// ---- Around the steps

// LAST_IF_PAST(n, …): where there is no row n−1, it is the one before it.
#define LAST_IF_PAST(n, row, scale, min, nextRow, nextScale, nextMin) \
	CMP  $n, R4                           \
	ADD  R5, row, nextRow                 \
	ADD  R3, scale, nextScale             \
	ADD  R3, min, nextMin                 \
	CSEL LT, row, nextRow, nextRow        \
	CSEL LT, scale, nextScale, nextScale  \
	CSEL LT, min, nextMin, nextMin

// ENTER_ROWS goes to the rows behind those that R11, R15 and R22 have walked to.
#define ENTER_ROWS \
	MOVD R11, R8                                     \
	MOVD R15, R12                                    \
	MOVD R22, R19                                    \
	LAST_IF_PAST(2, R8, R12, R19, R9, R13, R20)      \
	LAST_IF_PAST(3, R9, R13, R20, R10, R14, R21)     \
	LAST_IF_PAST(4, R10, R14, R21, R11, R15, R22)    \
	MOVD R2, R16                                     \
	MOVD qScale+40(FP), R17                          \
	MOVD qSum+48(FP), R23                            \
	MOVD R5, R24

// FOUR_OF loads a factor of each row and moves on.
#define FOUR_OF(row0, row1, row2, row3, v) \
	VLD1.P 4(row0), v.S[0] \
	VLD1.P 4(row1), v.S[1] \
	VLD1.P 4(row2), v.S[2] \
	VLD1.P 4(row3), v.S[3]

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
