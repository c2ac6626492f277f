//go:build !noasm

#include "textflag.h"
#include "insn_arm64.h"
#include "product_arm64.h"
#include "product_int8_arm64.h"

// Products of block formats with int8 activations where SDOT is (Cortex-A55,
// A76 and later). Every element is the chain of product_neon_arm64.s.
//
// One token: SDOT along the rows, as on base ASIMD; V4-V7 and V18 carry its
// sums into the next block. Four or eight tokens: the block is transposed once,
// so that a register holds values 4i to 4i+3 of all four rows, and SDOT by lane
// multiplies it with four codes of a token: no sums across lanes are left.

// ROW_DOTS multiplies four rows with the token and finishes the block before;
// CONVERT makes its sums float32 in V20.
#define ROW_DOTS(CONVERT) \
	ADDP_4S(5, 4, 20)           \
	ADDP_4S(7, 6, 21)           \
	ZERO4(V4, V5, V6, V7)       \
	SDOT_16B(0, 8, 4)           \
	SDOT_16B(0, 9, 5)           \
	ADDP_4S(21, 20, 20)         \
	SDOT_16B(0, 10, 6)          \
	SDOT_16B(0, 11, 7)          \
	SDOT_16B(1, 12, 4)          \
	CONVERT                     \
	SDOT_16B(1, 13, 5)          \
	SDOT_16B(1, 14, 6)          \
	SDOT_16B(1, 15, 7)          \
	FMLA_4S(18, 20, 24)         \
	FMUL_4S_LANE(0, 19, 16, 18)

// Sixteenths: products of Q4_0 are made with 16·(q−8), which costs less to
// unpack than q−8.
#define ROW_SUMS SCVTF_4S(20, 20)
#define ROW_SIXTEENTHS SCVTF_4S_FIX(4, 20, 20)

#define ROWS_Q8_0 ROW_DOTS(ROW_SUMS)
#define ROWS_Q4_0 ROW_DOTS(ROW_SIXTEENTHS)
#define ROWS_Q4_1 \
	ROW_DOTS(ROW_SUMS)          \
	FMLA_4S_LANE(0, 22, 17, 24)

#define FLUSH(CONVERT) \
	ADDP_4S(5, 4, 20)   \
	ADDP_4S(7, 6, 21)   \
	ADDP_4S(21, 20, 20) \
	CONVERT             \
	FMLA_4S(18, 20, 24)

// SPLIT_SIXTEENTHS: V12-V15 and V8-V11 become 16·(q−8) of the high and low
// nibbles. V17 holds 0x88, V23 0xf0 in every byte: flipping the top bit of
// q gives q−8 in two's complement.
#define SPLIT_SIXTEENTHS \
	VEOR V17.B16, V12.B16, V12.B16 \
	VEOR V17.B16, V13.B16, V13.B16 \
	VEOR V17.B16, V14.B16, V14.B16 \
	VEOR V17.B16, V15.B16, V15.B16 \
	VSHL $4, V12.B16, V8.B16       \
	VSHL $4, V13.B16, V9.B16       \
	VSHL $4, V14.B16, V10.B16      \
	VSHL $4, V15.B16, V11.B16      \
	VAND V23.B16, V12.B16, V12.B16 \
	VAND V23.B16, V13.B16, V13.B16 \
	VAND V23.B16, V14.B16, V14.B16 \
	VAND V23.B16, V15.B16, V15.B16

#define WEIGHTS_Q4_0 \
	LOAD_Q4_0        \
	CODES(F0, F1)    \
	FCVTL(22, 16)    \
	SPLIT_SIXTEENTHS

// The walk over four or eight tokens, four at a time:
//
//	R16 values 0-15 of the first token    R25 values 16-31
//	R17 its scale    R19 its sum          R22, R23 two and three times R3
//
//	V0-V3 values 0-15, V4-V7 values 16-31 of the codes of four tokens
//	V18-V21 integer sums    V22, V23 scratch

// QUAD_WALK prepares the walk over the tokens in R20: R21 leads from the last
// four tokens of a block to the first four of the next.
#define QUAD_WALK \
	SUB $4, R20, R21  \
	MUL R3, R21, R21  \
	NEG R21, R21      \
	ADD $32, R21, R21 \
	ADD R3, R3, R22   \
	ADD R3, R22, R23

#define QUAD_ROW \
	MOVD R2, R16         \
	ADD  $16, R2, R25    \
	ADD  R5<<5, R2, R17  \
	ADD  R5<<2, R17, R19 \
	MOVD R5, R20

#define NEXT_QUAD \
	ADD R3<<2, R16 \
	ADD R3<<2, R25 \
	ADD R3<<2, R17 \
	ADD R3<<2, R19

#define NEXT_QUAD_BLOCK \
	ADD  R21, R16 \
	ADD  R21, R25 \
	ADD  R21, R17 \
	ADD  R21, R19 \
	SUB  $28, R17 \
	SUB  $28, R19 \
	SUBS $1, R20

// LOW_CODES and HIGH_CODES load values 0-15 and 16-31 of four tokens.
#define LOW_CODES \
	FMOVQ (R16), F0  \
	LDR_Q(3, 16, 1)  \
	LDR_Q(22, 16, 2) \
	LDR_Q(23, 16, 3)

#define HIGH_CODES \
	FMOVQ (R25), F4  \
	LDR_Q(3, 25, 5)  \
	LDR_Q(22, 25, 6) \
	LDR_Q(23, 25, 7)

// TRANSPOSE turns four rows of four words into four columns, in place.
#define TRANSPOSE(a, b, c, d) \
	VTRN1 b.S4, a.S4, V18.S4   \
	VTRN2 b.S4, a.S4, V19.S4   \
	VTRN1 d.S4, c.S4, V20.S4   \
	VTRN2 d.S4, c.S4, V21.S4   \
	VTRN1 V20.D2, V18.D2, a.D2 \
	VTRN1 V21.D2, V19.D2, b.D2 \
	VTRN2 V20.D2, V18.D2, c.D2 \
	VTRN2 V21.D2, V19.D2, d.D2

#define COLUMNS_Q8_0 \
	LOAD_Q8_0                     \
	LOW_CODES                     \
	HIGH_CODES                    \
	FCVTL(22, 16)                 \
	TRANSPOSE(V8, V9, V10, V11)   \
	TRANSPOSE(V12, V13, V14, V15)

#define COLUMNS_Q4_0 \
	LOAD_Q4_0                     \
	LOW_CODES                     \
	HIGH_CODES                    \
	FCVTL(22, 16)                 \
	VMOVI $0xf0, V23.B16          \
	TRANSPOSE(V12, V13, V14, V15) \
	SPLIT_SIXTEENTHS

#define COLUMNS_Q4_1 \
	LOAD_Q4_1                     \
	LOW_CODES                     \
	HIGH_CODES                    \
	FCVTL(22, 20)                 \
	FCVTL2(22, 21)                \
	VMOVI $15, V23.B16            \
	VUZP1 V21.S4, V20.S4, V16.S4  \
	VUZP2 V21.S4, V20.S4, V17.S4  \
	TRANSPOSE(V12, V13, V14, V15) \
	SPLIT_NIBBLES

// DOTS multiplies column w with lane i of four tokens' codes.
#define DOTS(i, w, c0, c1, c2, c3) \
	SDOT_LANE(i, c0, w, 18) \
	SDOT_LANE(i, c1, w, 19) \
	SDOT_LANE(i, c2, w, 20) \
	SDOT_LANE(i, c3, w, 21)

// QUAD multiplies the block with four tokens: columns p0 to p3 with codes a0 to
// a3, then columns q0 to q3 with codes b0 to b3. The tokens' scales, later
// d·scale, take the place of the first codes.
#define QUAD(p0, p1, p2, p3, a0, a1, a2, a3, q0, q1, q2, q3, b0, b1, b2, b3, SA0, SA1, SA2, SA3) \
	ZERO4(V18, V19, V20, V21)   \
	DOTS(0, p0, a0, a1, a2, a3) \
	DOTS(1, p1, a0, a1, a2, a3) \
	DOTS(2, p2, a0, a1, a2, a3) \
	DOTS(3, p3, a0, a1, a2, a3) \
	FMOVS (R17), SA0            \
	DOTS(0, q0, b0, b1, b2, b3) \
	FMOVS (R17)(R3), SA1        \
	DOTS(1, q1, b0, b1, b2, b3) \
	FMOVS (R17)(R22), SA2       \
	DOTS(2, q2, b0, b1, b2, b3) \
	FMOVS (R17)(R23), SA3       \
	DOTS(3, q3, b0, b1, b2, b3) \
	FMUL_4S_LANE(0, a0, 16, a0) \
	FMUL_4S_LANE(0, a1, 16, a1) \
	FMUL_4S_LANE(0, a2, 16, a2) \
	FMUL_4S_LANE(0, a3, 16, a3)

// The first four tokens begin with values 0-15, the next with 16-31: those
// codes are loaded first, while the scales still hold the others' place.
#define FIRST_QUAD QUAD(8, 9, 10, 11, 0, 1, 2, 3, 12, 13, 14, 15, 4, 5, 6, 7, F0, F1, F2, F3)
#define SECOND_QUAD QUAD(12, 13, 14, 15, 4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3, F4, F5, F6, F7)

// MIN_TERMS adds m·sum of four tokens.
#define MIN_TERMS(a0, a1, a2, a3) \
	FMOVS (R19), F22            \
	FMOVS (R19)(R3), F23        \
	FMLA_4S_LANE(0, 22, 17, a0) \
	FMLA_4S_LANE(0, 23, 17, a1) \
	FMOVS (R19)(R22), F22       \
	FMOVS (R19)(R23), F23       \
	FMLA_4S_LANE(0, 22, 17, a2) \
	FMLA_4S_LANE(0, 23, 17, a3)

#define NO_TERMS(a0, a1, a2, a3)

#define SUMS \
	SCVTF_4S(18, 18) \
	SCVTF_4S(19, 19) \
	SCVTF_4S(20, 20) \
	SCVTF_4S(21, 21)

#define SIXTEENTHS \
	SCVTF_4S_FIX(4, 18, 18) \
	SCVTF_4S_FIX(4, 19, 19) \
	SCVTF_4S_FIX(4, 20, 20) \
	SCVTF_4S_FIX(4, 21, 21)

#define ADD_SUMS(s0, s1, s2, s3, a0, a1, a2, a3) \
	FMLA_4S(s0, 18, a0) \
	FMLA_4S(s1, 19, a1) \
	FMLA_4S(s2, 20, a2) \
	FMLA_4S(s3, 21, a3)

#define PRODUCT(WEIGHTS, SCALES, ROWS, CONVERT, COLUMNS, TERMS, CONVERT4) \
	PREFETCH_DISTANCE     \
	CMP      $8, R20      \
	BEQ      tokens8      \
	CMP      $4, R20      \
	BEQ      tokens4      \
	INT8_WALK             \
	rows1:                \
	ROW_GROUP             \
	INT8_ROW              \
	ZERO4(V4, V5, V6, V7) \
	ZERO(V18)             \
	ZERO(V24)             \
	blocks1:              \
	WEIGHTS               \
	SCALES                \
	ROWS                  \
	NEXT_BLOCK            \
	BNE      blocks1      \
	FLUSH(CONVERT)        \
	STORE(V24)            \
	NEXT_ROW_GROUP        \
	BGT      rows1        \
	RET                   \
	tokens4:                             \
	QUAD_WALK                            \
	rows4:                               \
	ROW_GROUP                            \
	QUAD_ROW                             \
	ZERO4(V24, V25, V26, V27)            \
	blocks4:                             \
	COLUMNS                              \
	FIRST_QUAD                           \
	TERMS(24, 25, 26, 27)                \
	CONVERT4                             \
	ADD_SUMS(0, 1, 2, 3, 24, 25, 26, 27) \
	NEXT_QUAD_BLOCK                      \
	BNE      blocks4                     \
	STORE(V24)                           \
	STORE(V25)                           \
	STORE(V26)                           \
	STORE(V27)                           \
	NEXT_ROW_GROUP                       \
	BGT      rows4                       \
	RET                                  \
	tokens8:                             \
	QUAD_WALK                            \
	rows8:                               \
	ROW_GROUP                            \
	QUAD_ROW                             \
	ZERO4(V24, V25, V26, V27)            \
	ZERO4(V28, V29, V30, V31)            \
	blocks8:                             \
	COLUMNS                              \
	FIRST_QUAD                           \
	TERMS(24, 25, 26, 27)                \
	NEXT_QUAD                            \
	HIGH_CODES                           \
	CONVERT4                             \
	ADD_SUMS(0, 1, 2, 3, 24, 25, 26, 27) \
	LOW_CODES                            \
	SECOND_QUAD                          \
	TERMS(28, 29, 30, 31)                \
	CONVERT4                             \
	ADD_SUMS(4, 5, 6, 7, 28, 29, 30, 31) \
	NEXT_QUAD_BLOCK                      \
	BNE      blocks8                     \
	STORE(V24)                           \
	STORE(V25)                           \
	STORE(V26)                           \
	STORE(V27)                           \
	STORE(V28)                           \
	STORE(V29)                           \
	STORE(V30)                           \
	STORE(V31)                           \
	NEXT_ROW_GROUP                       \
	BGT      rows8                       \
	RET

// func productQ8_0Dot(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)
TEXT ·productQ8_0Dot(SB), NOSPLIT, $0-112
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
	PRODUCT(WEIGHTS_Q8_0, SCALE, ROWS_Q8_0, ROW_SUMS, COLUMNS_Q8_0, NO_TERMS, SUMS)

// func productQ4_0Dot(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)
TEXT ·productQ4_0Dot(SB), NOSPLIT, $0-112
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
	VMOVI $0xf0, V23.B16
	VMOVI $0x88, V17.B16
	PRODUCT(WEIGHTS_Q4_0, SCALE, ROWS_Q4_0, ROW_SIXTEENTHS, COLUMNS_Q4_0, NO_TERMS, SIXTEENTHS)

// func productQ4_1Dot(y []float32, yStride int, w, x []byte, xStride, rows, cols, tokens int)
TEXT ·productQ4_1Dot(SB), NOSPLIT, $0-112
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
	PRODUCT(WEIGHTS_Q4_1, SCALE_AND_SUM, ROWS_Q4_1, ROW_SUMS, COLUMNS_Q4_1, MIN_TERMS, SUMS)
