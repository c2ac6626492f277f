//go:build !noasm

#include "textflag.h"
#include "insn_arm64.h"
#include "product_arm64.h"

// Products of F32, F16 and BF16 weights with float32 activations: four rows
// against one or four tokens, weights widened to float32 in registers.
//
// Every element is one accumulator of four lanes, whatever the call's shape:
// column c is added to lane c mod 4 by a fused multiply-add, in order of c, the
// up to three columns beyond the last whole four to lane 0; then
// (lane 0 + lane 1) + (lane 2 + lane 3).
//
//	R5 columns   R20 columns left   R22, R23 two and three times R3
//	R16 activations of the first token   R25 the same, four columns on
//
//	V0-V7   weights of rows 0-3, packed, then widened
//	V8-V11  activations
//	V12-V15 widened weights (one token: V12-V19)
//	V24-V27 one token: accumulators of rows 0-3
//	V16-V31 four tokens: accumulators of token 0 rows 0-3, token 1 …

// SUM adds up the lanes of four rows into the four lanes of a.
#define SUM(a, b, c, d) \
	FADDP_4S(b, a, a) \
	FADDP_4S(d, c, c) \
	FADDP_4S(c, a, a)

#define ADD_ROWS(x, w0, w1, w2, w3, a0, a1, a2, a3) \
	FMLA_4S(x, w0, a0) \
	FMLA_4S(x, w1, a1) \
	FMLA_4S(x, w2, a2) \
	FMLA_4S(x, w3, a3)

// Loads of the next columns of four rows.
#define ROWS_Q(off, a, b, c, d) \
	FMOVQ off(R8), a  \
	FMOVQ off(R9), b  \
	FMOVQ off(R10), c \
	FMOVQ off(R11), d

#define ROWS_D(a, b, c, d) \
	FMOVD (R8), a  \
	FMOVD (R9), b  \
	FMOVD (R10), c \
	FMOVD (R11), d

#define ROWS_S(a, b, c, d) \
	FMOVS (R8), a  \
	FMOVS (R9), b  \
	FMOVS (R10), c \
	FMOVS (R11), d

#define ROWS_H(a, b, c, d) \
	LDR_H(0, 8, a)  \
	LDR_H(0, 9, b)  \
	LDR_H(0, 10, c) \
	LDR_H(0, 11, d)

// Widening of the lower and upper four of eight halves.
#define F16_LOW(n, d) FCVTL(n, d)
#define F16_HIGH(n, d) FCVTL2(n, d)
#define BF16_LOW(n, d) SHLL_4S(n, d)
#define BF16_HIGH(n, d) SHLL2_4S(n, d)

// WIDEN widens the halves of four rows.
#define WIDEN(HALF, n0, n1, n2, n3, d0, d1, d2, d3) \
	HALF(n0, d0) \
	HALF(n1, d1) \
	HALF(n2, d2) \
	HALF(n3, d3)

// HALVES_1 multiplies 16 columns of halves with one token.
#define HALVES_1(LOW, HIGH) \
	ROWS_Q(0, F0, F1, F2, F3)                    \
	FMOVQ (R16), F8                              \
	FMOVQ 16(R16), F9                            \
	ROWS_Q(16, F4, F5, F6, F7)                   \
	FMOVQ 32(R16), F10                           \
	FMOVQ 48(R16), F11                           \
	PREFETCH_ROWS                                \
	ADVANCE_ROWS(32)                             \
	ADD   $64, R16                               \
	WIDEN(LOW, 0, 1, 2, 3, 12, 13, 14, 15)       \
	WIDEN(HIGH, 0, 1, 2, 3, 16, 17, 18, 19)      \
	ADD_ROWS(8, 12, 13, 14, 15, 24, 25, 26, 27)  \
	WIDEN(LOW, 4, 5, 6, 7, 12, 13, 14, 15)       \
	ADD_ROWS(9, 16, 17, 18, 19, 24, 25, 26, 27)  \
	WIDEN(HIGH, 4, 5, 6, 7, 16, 17, 18, 19)      \
	ADD_ROWS(10, 12, 13, 14, 15, 24, 25, 26, 27) \
	ADD_ROWS(11, 16, 17, 18, 19, 24, 25, 26, 27)

// FLOATS_1 multiplies 16 columns of float32 with one token.
#define FLOATS_1 \
	ROWS_Q(0, F0, F1, F2, F3)                    \
	FMOVQ (R16), F8                              \
	FMOVQ 16(R16), F9                            \
	ROWS_Q(16, F4, F5, F6, F7)                   \
	ADD_ROWS(8, 0, 1, 2, 3, 24, 25, 26, 27)      \
	ROWS_Q(32, F12, F13, F14, F15)               \
	FMOVQ 32(R16), F10                           \
	FMOVQ 48(R16), F11                           \
	ADD_ROWS(9, 4, 5, 6, 7, 24, 25, 26, 27)      \
	ROWS_Q(48, F16, F17, F18, F19)               \
	PREFETCH_ROWS                                \
	ADD_ROWS(10, 12, 13, 14, 15, 24, 25, 26, 27) \
	ADVANCE_ROWS(64)                             \
	ADD   $64, R16                               \
	ADD_ROWS(11, 16, 17, 18, 19, 24, 25, 26, 27)

#define ADD_TOKEN_1 ADD_ROWS(8, 12, 13, 14, 15, 24, 25, 26, 27)

// Four columns and one column of the rest, one token.
#define HALVES_REST4_1(LOW) \
	ROWS_D(F0, F1, F2, F3)                 \
	FMOVQ (R16), F8                        \
	WIDEN(LOW, 0, 1, 2, 3, 12, 13, 14, 15) \
	ADVANCE_ROWS(8)                        \
	ADD   $16, R16                         \
	ADD_TOKEN_1

#define HALVES_REST1_1(LOW) \
	ROWS_H(0, 1, 2, 3)                     \
	FMOVS (R16), F8                        \
	WIDEN(LOW, 0, 1, 2, 3, 12, 13, 14, 15) \
	ADVANCE_ROWS(2)                        \
	ADD   $4, R16                          \
	ADD_TOKEN_1

#define FLOATS_REST4_1 \
	ROWS_Q(0, F12, F13, F14, F15) \
	FMOVQ (R16), F8               \
	ADVANCE_ROWS(16)              \
	ADD   $16, R16                \
	ADD_TOKEN_1

#define FLOATS_REST1_1 \
	ROWS_S(F12, F13, F14, F15) \
	FMOVS (R16), F8            \
	ADVANCE_ROWS(4)            \
	ADD   $4, R16              \
	ADD_TOKEN_1

// TOKENS_Q loads four columns of four tokens from base, TOKENS_S one.
#define TOKENS_Q(base) \
	LDR_Q(3, base, 9)   \
	LDR_Q(22, base, 10) \
	LDR_Q(23, base, 11)

#define TOKENS_S \
	FMOVS (R16), F8       \
	FMOVS (R16)(R3), F9   \
	FMOVS (R16)(R22), F10 \
	FMOVS (R16)(R23), F11

// ADD_TOKENS multiplies four columns of four rows with four tokens.
#define ADD_TOKENS(w0, w1, w2, w3) \
	ADD_ROWS(8, w0, w1, w2, w3, 16, 17, 18, 19)  \
	ADD_ROWS(9, w0, w1, w2, w3, 20, 21, 22, 23)  \
	ADD_ROWS(10, w0, w1, w2, w3, 24, 25, 26, 27) \
	ADD_ROWS(11, w0, w1, w2, w3, 28, 29, 30, 31)

// HALVES_4 multiplies 8 columns of halves, off bytes on, with four tokens.
#define HALVES_4(LOW, HIGH, off) \
	ROWS_Q(off, F0, F1, F2, F3)                  \
	FMOVQ (R16), F8                              \
	TOKENS_Q(16)                                 \
	WIDEN(LOW, 0, 1, 2, 3, 12, 13, 14, 15)       \
	ADD   $32, R16                               \
	ADD_ROWS(8, 12, 13, 14, 15, 16, 17, 18, 19)  \
	HIGH(0, 4)                                   \
	FMOVQ (R25), F8                              \
	ADD_ROWS(9, 12, 13, 14, 15, 20, 21, 22, 23)  \
	HIGH(1, 5)                                   \
	LDR_Q(3, 25, 9)                              \
	ADD_ROWS(10, 12, 13, 14, 15, 24, 25, 26, 27) \
	HIGH(2, 6)                                   \
	LDR_Q(22, 25, 10)                            \
	ADD_ROWS(11, 12, 13, 14, 15, 28, 29, 30, 31) \
	HIGH(3, 7)                                   \
	LDR_Q(23, 25, 11)                            \
	ADD   $32, R25                               \
	ADD_TOKENS(4, 5, 6, 7)

#define HALVES_4_TWICE(LOW, HIGH) \
	HALVES_4(LOW, HIGH, 0)  \
	PREFETCH_ROWS           \
	HALVES_4(LOW, HIGH, 16) \
	ADVANCE_ROWS(32)

// FLOATS_4 multiplies 8 columns of float32, off and on bytes on.
#define FLOATS_4(off, on) \
	ROWS_Q(off, F0, F1, F2, F3)              \
	FMOVQ (R16), F8                          \
	TOKENS_Q(16)                             \
	ADD   $32, R16                           \
	ADD_ROWS(8, 0, 1, 2, 3, 16, 17, 18, 19)  \
	FMOVQ on(R8), F4                         \
	FMOVQ (R25), F8                          \
	ADD_ROWS(9, 0, 1, 2, 3, 20, 21, 22, 23)  \
	FMOVQ on(R9), F5                         \
	LDR_Q(3, 25, 9)                          \
	ADD_ROWS(10, 0, 1, 2, 3, 24, 25, 26, 27) \
	FMOVQ on(R10), F6                        \
	LDR_Q(22, 25, 10)                        \
	ADD_ROWS(11, 0, 1, 2, 3, 28, 29, 30, 31) \
	FMOVQ on(R11), F7                        \
	LDR_Q(23, 25, 11)                        \
	ADD   $32, R25                           \
	ADD_TOKENS(4, 5, 6, 7)

#define FLOATS_4_TWICE \
	FLOATS_4(0, 16)  \
	PREFETCH_ROWS    \
	FLOATS_4(32, 48) \
	ADVANCE_ROWS(64)

#define HALVES_REST4_4(LOW) \
	ROWS_D(F0, F1, F2, F3)                 \
	FMOVQ (R16), F8                        \
	TOKENS_Q(16)                           \
	WIDEN(LOW, 0, 1, 2, 3, 12, 13, 14, 15) \
	ADVANCE_ROWS(8)                        \
	ADD   $16, R16                         \
	ADD_TOKENS(12, 13, 14, 15)

#define HALVES_REST1_4(LOW) \
	ROWS_H(0, 1, 2, 3)                     \
	TOKENS_S                               \
	WIDEN(LOW, 0, 1, 2, 3, 12, 13, 14, 15) \
	ADVANCE_ROWS(2)                        \
	ADD $4, R16                            \
	ADD_TOKENS(12, 13, 14, 15)

#define FLOATS_REST4_4 \
	ROWS_Q(0, F12, F13, F14, F15) \
	FMOVQ (R16), F8               \
	TOKENS_Q(16)                  \
	ADVANCE_ROWS(16)              \
	ADD   $16, R16                \
	ADD_TOKENS(12, 13, 14, 15)

#define FLOATS_REST1_4 \
	ROWS_S(F12, F13, F14, F15) \
	TOKENS_S                   \
	ADVANCE_ROWS(4)            \
	ADD $4, R16                \
	ADD_TOKENS(12, 13, 14, 15)

// PRODUCT is the body of a product once its registers are set: blocks of 16
// columns, then of 4, then single columns.
#define PRODUCT(MAIN1, REST4_1, REST1_1, MAIN4, REST4_4, REST1_4) \
	PREFETCH_DISTANCE         \
	CMP       $4, R20         \
	BEQ       tokens4         \
	rows1:                    \
	ROW_GROUP                 \
	ZERO4(V24, V25, V26, V27) \
	MOVD      R2, R16         \
	SUBS      $16, R5, R20    \
	BLT       fours1          \
	sixteen1:                 \
	MAIN1                     \
	SUBS      $16, R20        \
	BGE       sixteen1        \
	fours1:                   \
	ADDS      $12, R20        \
	BLT       ones1           \
	four1:                    \
	REST4_1                   \
	SUBS      $4, R20         \
	BGE       four1           \
	ones1:                    \
	ADDS      $3, R20         \
	BLT       done1           \
	one1:                     \
	REST1_1                   \
	SUBS      $1, R20         \
	BGE       one1            \
	done1:                    \
	SUM(24, 25, 26, 27)       \
	STORE(V24)                \
	NEXT_ROW_GROUP            \
	BGT       rows1           \
	RET                       \
	tokens4:                  \
	ADD       R3, R3, R22     \
	ADD       R3, R22, R23    \
	rows4:                    \
	ROW_GROUP                 \
	ZERO4(V16, V17, V18, V19) \
	ZERO4(V20, V21, V22, V23) \
	ZERO4(V24, V25, V26, V27) \
	ZERO4(V28, V29, V30, V31) \
	MOVD      R2, R16         \
	ADD       $16, R2, R25    \
	SUBS      $16, R5, R20    \
	BLT       fours4          \
	sixteen4:                 \
	MAIN4                     \
	SUBS      $16, R20        \
	BGE       sixteen4        \
	fours4:                   \
	ADDS      $12, R20        \
	BLT       ones4           \
	four4:                    \
	REST4_4                   \
	SUBS      $4, R20         \
	BGE       four4           \
	ones4:                    \
	ADDS      $3, R20         \
	BLT       done4           \
	one4:                     \
	REST1_4                   \
	SUBS      $1, R20         \
	BGE       one4            \
	done4:                    \
	SUM(16, 17, 18, 19)       \
	SUM(20, 21, 22, 23)       \
	SUM(24, 25, 26, 27)       \
	SUM(28, 29, 30, 31)       \
	STORE(V16)                \
	STORE(V20)                \
	STORE(V24)                \
	STORE(V28)                \
	NEXT_ROW_GROUP            \
	BGT       rows4           \
	RET

// func productF32NEON(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)
TEXT ·productF32NEON(SB), NOSPLIT, $0-112
	MOVD y_base+0(FP), R0
	MOVD yStride+24(FP), R1
	MOVD w_base+32(FP), R6
	MOVD x_base+56(FP), R2
	MOVD xStride+80(FP), R3
	MOVD rows+88(FP), R4
	MOVD cols+96(FP), R5
	MOVD tokens+104(FP), R20
	LSL  $2, R1
	LSL  $2, R5, R7
	PRODUCT(FLOATS_1, FLOATS_REST4_1, FLOATS_REST1_1, FLOATS_4_TWICE, FLOATS_REST4_4, FLOATS_REST1_4)

#define F16_1 HALVES_1(F16_LOW, F16_HIGH)
#define F16_REST4_1 HALVES_REST4_1(F16_LOW)
#define F16_REST1_1 HALVES_REST1_1(F16_LOW)
#define F16_4 HALVES_4_TWICE(F16_LOW, F16_HIGH)
#define F16_REST4_4 HALVES_REST4_4(F16_LOW)
#define F16_REST1_4 HALVES_REST1_4(F16_LOW)

// func productF16NEON(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)
TEXT ·productF16NEON(SB), NOSPLIT, $0-112
	MOVD y_base+0(FP), R0
	MOVD yStride+24(FP), R1
	MOVD w_base+32(FP), R6
	MOVD x_base+56(FP), R2
	MOVD xStride+80(FP), R3
	MOVD rows+88(FP), R4
	MOVD cols+96(FP), R5
	MOVD tokens+104(FP), R20
	LSL  $2, R1
	LSL  $1, R5, R7
	PRODUCT(F16_1, F16_REST4_1, F16_REST1_1, F16_4, F16_REST4_4, F16_REST1_4)

#define BF16_1 HALVES_1(BF16_LOW, BF16_HIGH)
#define BF16_REST4_1 HALVES_REST4_1(BF16_LOW)
#define BF16_REST1_1 HALVES_REST1_1(BF16_LOW)
#define BF16_4 HALVES_4_TWICE(BF16_LOW, BF16_HIGH)
#define BF16_REST4_4 HALVES_REST4_4(BF16_LOW)
#define BF16_REST1_4 HALVES_REST1_4(BF16_LOW)

// func productBF16NEON(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)
TEXT ·productBF16NEON(SB), NOSPLIT, $0-112
	MOVD y_base+0(FP), R0
	MOVD yStride+24(FP), R1
	MOVD w_base+32(FP), R6
	MOVD x_base+56(FP), R2
	MOVD xStride+80(FP), R3
	MOVD rows+88(FP), R4
	MOVD cols+96(FP), R5
	MOVD tokens+104(FP), R20
	LSL  $2, R1
	LSL  $1, R5, R7
	PRODUCT(BF16_1, BF16_REST4_1, BF16_REST1_1, BF16_4, BF16_REST4_4, BF16_REST1_4)
