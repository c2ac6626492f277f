//go:build !noasm

#include "textflag.h"
#include "insn_arm64.h"
#include "product_arm64.h"
#include "product_int8_arm64.h"

// Products of block formats with int8 activations on base ASIMD (Cortex-A53,
// A57, A72): SMULL and SMLAL into int16, widened before they can overflow.
//
// Every element is one chain in block order, whatever the call's shape:
//
//	acc = 0; for each block: [acc += m·sum;] acc += (d·scale)·float32(Σ q·a)
//
// with the integer sum exact and each += one fused multiply-add. The integer
// sums of a token are finished inside the next token's multiplications (the
// first token's: the last token of the block before), so that a core that
// issues in order does not wait for them. V4-V7 and V18 carry them over.

// NIBBLE_TOKEN multiplies four rows of 4-bit weights with one token's codes
// c0 (values 0-15) and c1 and finishes the token before, whose accumulator is
// last. An int16 lane holds four products of at most 15·127, after two
// pairwise sums 30480.
#define NIBBLE_TOKEN(c0, c1, last) \
	ADDP_8H(5, 4, 20)     \
	ADDP_8H(7, 6, 21)     \
	SMULL_8H(c0, 8, 4)    \
	SMULL_8H(c0, 9, 5)    \
	SMULL_8H(c0, 10, 6)   \
	SMULL_8H(c0, 11, 7)   \
	ADDP_8H(21, 20, 20)   \
	SMLAL2_8H(c0, 8, 4)   \
	SMLAL2_8H(c0, 9, 5)   \
	SMLAL2_8H(c0, 10, 6)  \
	SMLAL2_8H(c0, 11, 7)  \
	SADDLP_4S(20, 20)     \
	SMLAL_8H(c1, 12, 4)   \
	SMLAL_8H(c1, 13, 5)   \
	SMLAL_8H(c1, 14, 6)   \
	SMLAL_8H(c1, 15, 7)   \
	SCVTF_4S(20, 20)      \
	SMLAL2_8H(c1, 12, 4)  \
	SMLAL2_8H(c1, 13, 5)  \
	SMLAL2_8H(c1, 14, 6)  \
	SMLAL2_8H(c1, 15, 7)  \
	FMLA_4S(18, 20, last)

#define TOKEN_Q4_0(c0, c1, last, acc) \
	NIBBLE_TOKEN(c0, c1, last)  \
	FMUL_4S_LANE(0, 19, 16, 18)

#define TOKEN_Q4_1(c0, c1, last, acc) \
	NIBBLE_TOKEN(c0, c1, last)   \
	FMLA_4S_LANE(0, 22, 17, acc) \
	FMUL_4S_LANE(0, 19, 16, 18)

// FLUSH_NIBBLES finishes the last token.
#define FLUSH_NIBBLES(last) \
	ADDP_8H(5, 4, 20)     \
	ADDP_8H(7, 6, 21)     \
	ADDP_8H(21, 20, 20)   \
	SADDLP_4S(20, 20)     \
	SCVTF_4S(20, 20)      \
	FMLA_4S(18, 20, last)

// WEIGHTS_Q4_0: V23 holds 15, V17 holds 8 in every byte.
#define WEIGHTS_Q4_0 \
	LOAD_Q4_0                      \
	CODES(F0, F1)                  \
	FCVTL(22, 16)                  \
	SPLIT_NIBBLES                  \
	VSUB V17.B16, V8.B16, V8.B16   \
	VSUB V17.B16, V9.B16, V9.B16   \
	VSUB V17.B16, V10.B16, V10.B16 \
	VSUB V17.B16, V11.B16, V11.B16 \
	VSUB V17.B16, V12.B16, V12.B16 \
	VSUB V17.B16, V13.B16, V13.B16 \
	VSUB V17.B16, V14.B16, V14.B16 \
	VSUB V17.B16, V15.B16, V15.B16

// TOKEN_Q8_0 is NIBBLE_TOKEN for 8-bit weights. Only two products fit int16
// (2·128·127 = 32512), hence SADDLP and SADALP after every two.
#define TOKEN_Q8_0(c0, c1, last, acc) \
	ADDP_4S(5, 4, 22)           \
	ADDP_4S(7, 6, 20)           \
	SMULL_8H(c0, 8, 4)          \
	SMULL_8H(c0, 9, 5)          \
	SMULL_8H(c0, 10, 6)         \
	SMULL_8H(c0, 11, 7)         \
	ADDP_4S(20, 22, 22)         \
	SMLAL2_8H(c0, 8, 4)         \
	SMLAL2_8H(c0, 9, 5)         \
	SMLAL2_8H(c0, 10, 6)        \
	SMLAL2_8H(c0, 11, 7)        \
	SCVTF_4S(22, 22)            \
	SMULL_8H(c1, 12, 20)        \
	SMULL_8H(c1, 13, 21)        \
	SADDLP_4S(4, 4)             \
	SADDLP_4S(5, 5)             \
	FMLA_4S(18, 22, last)       \
	SMLAL2_8H(c1, 12, 20)       \
	SMLAL2_8H(c1, 13, 21)       \
	SADDLP_4S(6, 6)             \
	SADDLP_4S(7, 7)             \
	SMULL_8H(c1, 14, 22)        \
	SMULL_8H(c1, 15, 23)        \
	SADALP_4S(20, 4)            \
	SADALP_4S(21, 5)            \
	SMLAL2_8H(c1, 14, 22)       \
	SMLAL2_8H(c1, 15, 23)       \
	FMUL_4S_LANE(0, 19, 16, 18) \
	SADALP_4S(22, 6)            \
	SADALP_4S(23, 7)

#define FLUSH_Q8_0(last) \
	ADDP_4S(5, 4, 20)     \
	ADDP_4S(7, 6, 21)     \
	ADDP_4S(21, 20, 20)   \
	SCVTF_4S(20, 20)      \
	FMLA_4S(18, 20, last)

// PRODUCT is the body of a product once its registers are set.
#define PRODUCT(WEIGHTS, SCALES, TOKEN, FLUSH) \
	PREFETCH_DISTANCE     \
	INT8_WALK             \
	CMP      $8, R20      \
	BEQ      rows8        \
	CMP      $4, R20      \
	BEQ      rows4        \
	rows1:                \
	ROW_GROUP             \
	INT8_ROW              \
	ZERO4(V4, V5, V6, V7) \
	ZERO(V18)             \
	ZERO(V24)             \
	blocks1:              \
	WEIGHTS               \
	SCALES                \
	TOKEN(0, 1, 24, 24)   \
	NEXT_BLOCK            \
	BNE      blocks1      \
	FLUSH(24)             \
	STORE(V24)            \
	NEXT_ROW_GROUP        \
	BGT      rows1        \
	RET                   \
	rows4:                    \
	ROW_GROUP                 \
	INT8_ROW                  \
	ZERO4(V4, V5, V6, V7)     \
	ZERO(V18)                 \
	ZERO4(V24, V25, V26, V27) \
	blocks4:                  \
	WEIGHTS                   \
	SCALES                    \
	CODES(F2, F3)             \
	TOKEN(0, 1, 27, 24)       \
	SCALES                    \
	CODES(F0, F1)             \
	TOKEN(2, 3, 24, 25)       \
	SCALES                    \
	CODES(F2, F3)             \
	TOKEN(0, 1, 25, 26)       \
	SCALES                    \
	TOKEN(2, 3, 26, 27)       \
	NEXT_BLOCK                \
	BNE      blocks4          \
	FLUSH(27)                 \
	STORE(V24)                \
	STORE(V25)                \
	STORE(V26)                \
	STORE(V27)                \
	NEXT_ROW_GROUP            \
	BGT      rows4            \
	RET                       \
	rows8:                    \
	ROW_GROUP                 \
	INT8_ROW                  \
	ZERO4(V4, V5, V6, V7)     \
	ZERO(V18)                 \
	ZERO4(V24, V25, V26, V27) \
	ZERO4(V28, V29, V30, V31) \
	blocks8:                  \
	WEIGHTS                   \
	SCALES                    \
	CODES(F2, F3)             \
	TOKEN(0, 1, 31, 24)       \
	SCALES                    \
	CODES(F0, F1)             \
	TOKEN(2, 3, 24, 25)       \
	SCALES                    \
	CODES(F2, F3)             \
	TOKEN(0, 1, 25, 26)       \
	SCALES                    \
	CODES(F0, F1)             \
	TOKEN(2, 3, 26, 27)       \
	SCALES                    \
	CODES(F2, F3)             \
	TOKEN(0, 1, 27, 28)       \
	SCALES                    \
	CODES(F0, F1)             \
	TOKEN(2, 3, 28, 29)       \
	SCALES                    \
	CODES(F2, F3)             \
	TOKEN(0, 1, 29, 30)       \
	SCALES                    \
	TOKEN(2, 3, 30, 31)       \
	NEXT_BLOCK                \
	BNE      blocks8          \
	FLUSH(31)                 \
	STORE(V24)                \
	STORE(V25)                \
	STORE(V26)                \
	STORE(V27)                \
	STORE(V28)                \
	STORE(V29)                \
	STORE(V30)                \
	STORE(V31)                \
	NEXT_ROW_GROUP            \
	BGT      rows8            \
	RET

// func productQ8_0NEON(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)
TEXT ·productQ8_0NEON(SB), NOSPLIT, $0-112
	MOVD y_base+0(FP), R0
	MOVD yStride+24(FP), R1
	MOVD w_base+32(FP), R6
	MOVD x_base+56(FP), R2
	MOVD xStride+80(FP), R3
	MOVD rows+88(FP), R4
	MOVD cols+96(FP), R23
	MOVD tokens+104(FP), R20
	LSL  $2, R1
	LSR  $5, R23, R5
	MOVD $34, R7
	MUL  R5, R7
	PRODUCT(WEIGHTS_Q8_0, SCALE, TOKEN_Q8_0, FLUSH_Q8_0)

// func productQ4_0NEON(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)
TEXT ·productQ4_0NEON(SB), NOSPLIT, $0-112
	MOVD  y_base+0(FP), R0
	MOVD  yStride+24(FP), R1
	MOVD  w_base+32(FP), R6
	MOVD  x_base+56(FP), R2
	MOVD  xStride+80(FP), R3
	MOVD  rows+88(FP), R4
	MOVD  cols+96(FP), R23
	MOVD  tokens+104(FP), R20
	LSL   $2, R1
	LSR   $5, R23, R5
	MOVD  $18, R7
	MUL   R5, R7
	VMOVI $15, V23.B16
	VMOVI $8, V17.B16
	PRODUCT(WEIGHTS_Q4_0, SCALE, TOKEN_Q4_0, FLUSH_NIBBLES)

// func productQ4_1NEON(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)
TEXT ·productQ4_1NEON(SB), NOSPLIT, $0-112
	MOVD  y_base+0(FP), R0
	MOVD  yStride+24(FP), R1
	MOVD  w_base+32(FP), R6
	MOVD  x_base+56(FP), R2
	MOVD  xStride+80(FP), R3
	MOVD  rows+88(FP), R4
	MOVD  cols+96(FP), R23
	MOVD  tokens+104(FP), R20
	LSL   $2, R1
	LSR   $5, R23, R5
	MOVD  $20, R7
	MUL   R5, R7
	VMOVI $15, V23.B16
	PRODUCT(WEIGHTS_Q4_1, SCALE_AND_SUM, TOKEN_Q4_1, FLUSH_NIBBLES)
