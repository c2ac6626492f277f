//go:build !noasm

#include "textflag.h"

// Products of F32, F16 and BF16 matrices with float32 rows: four weight rows
// times one or three tokens. Every element is computed in one way:
//
//	for c in steps of 8 { acc[0..8] = fma(w[c..c+8], x[c..c+8], acc) }
//	sum = ((acc0+acc1) + (acc2+acc3)) + ((acc4+acc5) + (acc6+acc7))
//	for the columns left { sum = fma(w[c], x[c], sum) }
//
// Registers: SI row 0 of the group, DX rowBytes, R9 3·rowBytes; R10 token 0,
// R11 xStride; CX columns left, R13 groups left, R12 prefetch; DI y, AX yStride
// in bytes. Y0..Y3 are the sums of rows 0..3 with token 0, Y4..Y7 with token 1,
// Y8..Y11 with token 2; Y12..Y14 hold the tokens' columns, Y15 a row's.

// Eight weights as float32.
#define LOAD_F32(at) VMOVUPS at, Y15
#define LOAD_F16(at) VCVTPH2PS at, Y15
#define LOAD_BF16(at) \
	VPMOVZXWD at, Y15       \
	VPSLLD    $16, Y15, Y15

// X15 = one column of the four rows.
#define COLUMN_F32 \
	VMOVSS    (SI), X15                    \
	VINSERTPS $0x10, (SI)(DX*1), X15, X15  \
	VINSERTPS $0x20, (SI)(DX*2), X15, X15  \
	VINSERTPS $0x30, (SI)(R9*1), X15, X15

#define COLUMN_F16 \
	VPXOR     X15, X15, X15            \
	VPINSRW   $0, (SI), X15, X15       \
	VPINSRW   $1, (SI)(DX*1), X15, X15 \
	VPINSRW   $2, (SI)(DX*2), X15, X15 \
	VPINSRW   $3, (SI)(R9*1), X15, X15 \
	VCVTPH2PS X15, X15

// BF16 is the upper half of a float32.
#define COLUMN_BF16 \
	VPXOR   X15, X15, X15            \
	VPINSRW $1, (SI), X15, X15       \
	VPINSRW $3, (SI)(DX*1), X15, X15 \
	VPINSRW $5, (SI)(DX*2), X15, X15 \
	VPINSRW $7, (SI)(R9*1), X15, X15

#define CLEAR(v0, v1, v2, v3) \
	VXORPS v0, v0, v0 \
	VXORPS v1, v1, v1 \
	VXORPS v2, v2, v2 \
	VXORPS v3, v3, v3

#define ROW_1(LOAD, at, v0) \
	LOAD(at)                     \
	VFMADD231PS Y12, Y15, v0

#define ROW_3(LOAD, at, v0, v1, v2) \
	LOAD(at)                     \
	VFMADD231PS Y12, Y15, v0 \
	VFMADD231PS Y13, Y15, v1 \
	VFMADD231PS Y14, Y15, v2

#define EIGHT_COLUMNS_1(LOAD) \
	VMOVUPS (R10), Y12             \
	ROW_1(LOAD, (SI), Y0)          \
	ROW_1(LOAD, (SI)(DX*1), Y1)    \
	ROW_1(LOAD, (SI)(DX*2), Y2)    \
	ROW_1(LOAD, (SI)(R9*1), Y3)

#define EIGHT_COLUMNS_3(LOAD) \
	VMOVUPS (R10), Y12                     \
	VMOVUPS (R10)(R11*1), Y13              \
	VMOVUPS (R10)(R11*2), Y14              \
	ROW_3(LOAD, (SI), Y0, Y4, Y8)          \
	ROW_3(LOAD, (SI)(DX*1), Y1, Y5, Y9)    \
	ROW_3(LOAD, (SI)(DX*2), Y2, Y6, Y10)   \
	ROW_3(LOAD, (SI)(R9*1), Y3, Y7, Y11)

// s0 = the sums of v0..v3 in its four lanes; s0 is the lower half of v0.
#define REDUCE(v0, v1, v2, v3, s0) \
	VHADDPS      v1, v0, v0      \
	VHADDPS      v3, v2, v2      \
	VHADDPS      v2, v0, v0      \
	VEXTRACTF128 $1, v0, X15     \
	VADDPS       X15, s0, s0

#define COLUMN_1(COLUMN) \
	COLUMN                         \
	VBROADCASTSS (R10), X12        \
	VFMADD231PS  X12, X15, X0

#define COLUMN_3(COLUMN) \
	COLUMN_1(COLUMN)                \
	VBROADCASTSS (R10)(R11*1), X13  \
	VBROADCASTSS (R10)(R11*2), X14  \
	VFMADD231PS  X13, X15, X4       \
	VFMADD231PS  X14, X15, X8

#define ENTER \
	LEAQ (DX)(DX*2), R9 \
	SHLQ $2, AX

// R12 runs 4 KiB behind the group, see rows_amd64.s.
#define ENTER_GROUP \
	LEAQ 4096(SI)(DX*4), R12 \
	CLEAR(Y0, Y1, Y2, Y3)

// ---- F32

// func rows4Tokens1F32(y *float32, yStride int, w *byte, rowBytes int, x *byte,
//	xStride, cols, groups int)
TEXT ·rows4Tokens1F32(SB), NOSPLIT, $0-64
	MOVQ y+0(FP), DI
	MOVQ yStride+8(FP), AX
	MOVQ w+16(FP), SI
	MOVQ rowBytes+24(FP), DX
	MOVQ xStride+40(FP), R11
	MOVQ groups+56(FP), R13
	ENTER

group:
	MOVQ x+32(FP), R10
	MOVQ cols+48(FP), CX
	ENTER_GROUP
	SUBQ $8, CX
	JLT  reduce

eight:
	PREFETCHT1 (R12)
	PREFETCHT1 64(R12)
	EIGHT_COLUMNS_1(LOAD_F32)
	ADDQ $32, SI
	ADDQ $128, R12
	ADDQ $32, R10
	SUBQ $8, CX
	JGE  eight

reduce:
	REDUCE(Y0, Y1, Y2, Y3, X0)
	ADDQ $8, CX
	JZ   store

one:
	COLUMN_1(COLUMN_F32)
	ADDQ $4, SI
	ADDQ $4, R10
	DECQ CX
	JNZ  one

store:
	VMOVUPS X0, (DI)
	ADDQ    $16, DI
	ADDQ    R9, SI
	DECQ    R13
	JNZ     group
	VZEROUPPER
	RET

// func rows4Tokens3F32(y *float32, yStride int, w *byte, rowBytes int, x *byte,
//	xStride, cols, groups int)
TEXT ·rows4Tokens3F32(SB), NOSPLIT, $0-64
	MOVQ y+0(FP), DI
	MOVQ yStride+8(FP), AX
	MOVQ w+16(FP), SI
	MOVQ rowBytes+24(FP), DX
	MOVQ xStride+40(FP), R11
	MOVQ groups+56(FP), R13
	ENTER

group:
	MOVQ x+32(FP), R10
	MOVQ cols+48(FP), CX
	ENTER_GROUP
	CLEAR(Y4, Y5, Y6, Y7)
	CLEAR(Y8, Y9, Y10, Y11)
	SUBQ $8, CX
	JLT  reduce

eight:
	EIGHT_COLUMNS_3(LOAD_F32)
	ADDQ $32, SI
	ADDQ $32, R10
	SUBQ $8, CX
	JGE  eight

reduce:
	REDUCE(Y0, Y1, Y2, Y3, X0)
	REDUCE(Y4, Y5, Y6, Y7, X4)
	REDUCE(Y8, Y9, Y10, Y11, X8)
	ADDQ $8, CX
	JZ   store

one:
	COLUMN_3(COLUMN_F32)
	ADDQ $4, SI
	ADDQ $4, R10
	DECQ CX
	JNZ  one

store:
	VMOVUPS X0, (DI)
	VMOVUPS X4, (DI)(AX*1)
	VMOVUPS X8, (DI)(AX*2)
	ADDQ    $16, DI
	ADDQ    R9, SI
	DECQ    R13
	JNZ     group
	VZEROUPPER
	RET

// ---- F16

// func rows4Tokens1F16(y *float32, yStride int, w *byte, rowBytes int, x *byte,
//	xStride, cols, groups int)
TEXT ·rows4Tokens1F16(SB), NOSPLIT, $0-64
	MOVQ y+0(FP), DI
	MOVQ yStride+8(FP), AX
	MOVQ w+16(FP), SI
	MOVQ rowBytes+24(FP), DX
	MOVQ xStride+40(FP), R11
	MOVQ groups+56(FP), R13
	ENTER

group:
	MOVQ x+32(FP), R10
	MOVQ cols+48(FP), CX
	ENTER_GROUP
	SUBQ $8, CX
	JLT  reduce

eight:
	PREFETCHT1 (R12)
	EIGHT_COLUMNS_1(LOAD_F16)
	ADDQ $16, SI
	ADDQ $64, R12
	ADDQ $32, R10
	SUBQ $8, CX
	JGE  eight

reduce:
	REDUCE(Y0, Y1, Y2, Y3, X0)
	ADDQ $8, CX
	JZ   store

one:
	COLUMN_1(COLUMN_F16)
	ADDQ $2, SI
	ADDQ $4, R10
	DECQ CX
	JNZ  one

store:
	VMOVUPS X0, (DI)
	ADDQ    $16, DI
	ADDQ    R9, SI
	DECQ    R13
	JNZ     group
	VZEROUPPER
	RET

// func rows4Tokens3F16(y *float32, yStride int, w *byte, rowBytes int, x *byte,
//	xStride, cols, groups int)
TEXT ·rows4Tokens3F16(SB), NOSPLIT, $0-64
	MOVQ y+0(FP), DI
	MOVQ yStride+8(FP), AX
	MOVQ w+16(FP), SI
	MOVQ rowBytes+24(FP), DX
	MOVQ xStride+40(FP), R11
	MOVQ groups+56(FP), R13
	ENTER

group:
	MOVQ x+32(FP), R10
	MOVQ cols+48(FP), CX
	ENTER_GROUP
	CLEAR(Y4, Y5, Y6, Y7)
	CLEAR(Y8, Y9, Y10, Y11)
	SUBQ $8, CX
	JLT  reduce

eight:
	EIGHT_COLUMNS_3(LOAD_F16)
	ADDQ $16, SI
	ADDQ $32, R10
	SUBQ $8, CX
	JGE  eight

reduce:
	REDUCE(Y0, Y1, Y2, Y3, X0)
	REDUCE(Y4, Y5, Y6, Y7, X4)
	REDUCE(Y8, Y9, Y10, Y11, X8)
	ADDQ $8, CX
	JZ   store

one:
	COLUMN_3(COLUMN_F16)
	ADDQ $2, SI
	ADDQ $4, R10
	DECQ CX
	JNZ  one

store:
	VMOVUPS X0, (DI)
	VMOVUPS X4, (DI)(AX*1)
	VMOVUPS X8, (DI)(AX*2)
	ADDQ    $16, DI
	ADDQ    R9, SI
	DECQ    R13
	JNZ     group
	VZEROUPPER
	RET

// ---- BF16

// func rows4Tokens1BF16(y *float32, yStride int, w *byte, rowBytes int, x *byte,
//	xStride, cols, groups int)
TEXT ·rows4Tokens1BF16(SB), NOSPLIT, $0-64
	MOVQ y+0(FP), DI
	MOVQ yStride+8(FP), AX
	MOVQ w+16(FP), SI
	MOVQ rowBytes+24(FP), DX
	MOVQ xStride+40(FP), R11
	MOVQ groups+56(FP), R13
	ENTER

group:
	MOVQ x+32(FP), R10
	MOVQ cols+48(FP), CX
	ENTER_GROUP
	SUBQ $8, CX
	JLT  reduce

eight:
	PREFETCHT1 (R12)
	EIGHT_COLUMNS_1(LOAD_BF16)
	ADDQ $16, SI
	ADDQ $64, R12
	ADDQ $32, R10
	SUBQ $8, CX
	JGE  eight

reduce:
	REDUCE(Y0, Y1, Y2, Y3, X0)
	ADDQ $8, CX
	JZ   store

one:
	COLUMN_1(COLUMN_BF16)
	ADDQ $2, SI
	ADDQ $4, R10
	DECQ CX
	JNZ  one

store:
	VMOVUPS X0, (DI)
	ADDQ    $16, DI
	ADDQ    R9, SI
	DECQ    R13
	JNZ     group
	VZEROUPPER
	RET

// func rows4Tokens3BF16(y *float32, yStride int, w *byte, rowBytes int, x *byte,
//	xStride, cols, groups int)
TEXT ·rows4Tokens3BF16(SB), NOSPLIT, $0-64
	MOVQ y+0(FP), DI
	MOVQ yStride+8(FP), AX
	MOVQ w+16(FP), SI
	MOVQ rowBytes+24(FP), DX
	MOVQ xStride+40(FP), R11
	MOVQ groups+56(FP), R13
	ENTER

group:
	MOVQ x+32(FP), R10
	MOVQ cols+48(FP), CX
	ENTER_GROUP
	CLEAR(Y4, Y5, Y6, Y7)
	CLEAR(Y8, Y9, Y10, Y11)
	SUBQ $8, CX
	JLT  reduce

eight:
	EIGHT_COLUMNS_3(LOAD_BF16)
	ADDQ $16, SI
	ADDQ $32, R10
	SUBQ $8, CX
	JGE  eight

reduce:
	REDUCE(Y0, Y1, Y2, Y3, X0)
	REDUCE(Y4, Y5, Y6, Y7, X4)
	REDUCE(Y8, Y9, Y10, Y11, X8)
	ADDQ $8, CX
	JZ   store

one:
	COLUMN_3(COLUMN_BF16)
	ADDQ $2, SI
	ADDQ $4, R10
	DECQ CX
	JNZ  one

store:
	VMOVUPS X0, (DI)
	VMOVUPS X4, (DI)(AX*1)
	VMOVUPS X8, (DI)(AX*2)
	ADDQ    $16, DI
	ADDQ    R9, SI
	DECQ    R13
	JNZ     group
	VZEROUPPER
	RET
