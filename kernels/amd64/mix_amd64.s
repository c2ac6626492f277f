//go:build !noasm

#include "textflag.h"

// Weighted sums of rows: a panel of channels stays in registers while all rows
// pass, so that every channel is one chain of fused additions, row by row:
//
//	for each row r { out[c] = fma(w[r], x[r][c], out[c]) }
//
// Registers: DI out; SI row, DX bytes from row to row; BX weights of the row,
// R12 bytes from row to row; CX rows left. Y0..Y7 hold the panel.

// Eight int8 as float32, times a weight, onto v.
#define CODES_8(at, w, code, v) \
	VPMOVSXBD   at, code   \
	VCVTDQ2PS   code, code \
	VFMADD231PS code, w, v

#define CODES_16(at, w, v0, v1) \
	CODES_8(at(SI), w, Y8, v0)     \
	CODES_8((at+8)(SI), w, Y9, v1)

#define LOAD_PANEL \
	VMOVUPS (DI), Y0    \
	VMOVUPS 32(DI), Y1  \
	VMOVUPS 64(DI), Y2  \
	VMOVUPS 96(DI), Y3  \
	VMOVUPS 128(DI), Y4 \
	VMOVUPS 160(DI), Y5 \
	VMOVUPS 192(DI), Y6 \
	VMOVUPS 224(DI), Y7

#define STORE_PANEL \
	VMOVUPS Y0, (DI)    \
	VMOVUPS Y1, 32(DI)  \
	VMOVUPS Y2, 64(DI)  \
	VMOVUPS Y3, 96(DI)  \
	VMOVUPS Y4, 128(DI) \
	VMOVUPS Y5, 160(DI) \
	VMOVUPS Y6, 192(DI) \
	VMOVUPS Y7, 224(DI)

#define ENTER_MIX \
	MOVQ out+0(FP), DI       \
	MOVQ codes+8(FP), SI     \
	MOVQ stride+16(FP), DX   \
	MOVQ rows+24(FP), CX     \
	MOVQ w+32(FP), BX        \
	MOVQ wStride+40(FP), R12

// The weights of float rows are contiguous.
#define ENTER_AXPY \
	MOVQ out+0(FP), DI     \
	MOVQ w+8(FP), BX       \
	MOVQ x+16(FP), SI      \
	MOVQ stride+24(FP), DX \
	MOVQ rows+32(FP), CX   \
	MOVQ $4, R12

#define NEXT_ROW \
	ADDQ DX, SI  \
	ADDQ R12, BX \
	DECQ CX

// 64 channels with one weight a row.
//
// func mix64AVX2(out *float32, codes *int8, stride, rows int, w *float32, wStride int)
TEXT ·mix64AVX2(SB), NOSPLIT, $0-48
	ENTER_MIX
	LOAD_PANEL

row:
	VBROADCASTSS (BX), Y15
	CODES_16(0, Y15, Y0, Y1)
	CODES_16(16, Y15, Y2, Y3)
	CODES_16(32, Y15, Y4, Y5)
	CODES_16(48, Y15, Y6, Y7)
	NEXT_ROW
	JNZ          row
	STORE_PANEL
	VZEROUPPER
	RET

// 64 channels with a weight for each 32.
//
// func mix2x32AVX2(out *float32, codes *int8, stride, rows int, w *float32, wStride int)
TEXT ·mix2x32AVX2(SB), NOSPLIT, $0-48
	ENTER_MIX
	LOAD_PANEL

row:
	VBROADCASTSS (BX), Y15
	VBROADCASTSS 4(BX), Y14
	CODES_16(0, Y15, Y0, Y1)
	CODES_16(16, Y15, Y2, Y3)
	CODES_16(32, Y14, Y4, Y5)
	CODES_16(48, Y14, Y6, Y7)
	NEXT_ROW
	JNZ          row
	STORE_PANEL
	VZEROUPPER
	RET

// 16 channels with one weight.
//
// func mix16AVX2(out *float32, codes *int8, stride, rows int, w *float32, wStride int)
TEXT ·mix16AVX2(SB), NOSPLIT, $0-48
	ENTER_MIX
	VMOVUPS (DI), Y0
	VMOVUPS 32(DI), Y1

row:
	VBROADCASTSS (BX), Y15
	CODES_16(0, Y15, Y0, Y1)
	NEXT_ROW
	JNZ          row
	VMOVUPS      Y0, (DI)
	VMOVUPS      Y1, 32(DI)
	VZEROUPPER
	RET

// ---- Rows of float32

// func axpyRows64AVX2(out, w, x *float32, stride, rows int)
TEXT ·axpyRows64AVX2(SB), NOSPLIT, $0-40
	ENTER_AXPY
	LOAD_PANEL

row:
	VBROADCASTSS (BX), Y15
	VFMADD231PS  (SI), Y15, Y0
	VFMADD231PS  32(SI), Y15, Y1
	VFMADD231PS  64(SI), Y15, Y2
	VFMADD231PS  96(SI), Y15, Y3
	VFMADD231PS  128(SI), Y15, Y4
	VFMADD231PS  160(SI), Y15, Y5
	VFMADD231PS  192(SI), Y15, Y6
	VFMADD231PS  224(SI), Y15, Y7
	NEXT_ROW
	JNZ          row
	STORE_PANEL
	VZEROUPPER
	RET

// Two panels of eight channels, of which n in 1..16 count.
//
// func axpyRowsTailAVX2(out, w, x *float32, stride, rows, n int)
TEXT ·axpyRowsTailAVX2(SB), NOSPLIT, $0-48
	ENTER_AXPY
	MOVQ       n+40(FP), AX
	NEGQ       AX
	LEAQ       firstOf16<>+64(SB), R8
	VMOVDQU    (R8)(AX*4), Y14
	VMOVDQU    32(R8)(AX*4), Y13
	VMASKMOVPS (DI), Y14, Y0
	VMASKMOVPS 32(DI), Y13, Y1

row:
	VBROADCASTSS (BX), Y15
	VMASKMOVPS   (SI), Y14, Y2
	VMASKMOVPS   32(SI), Y13, Y3
	VFMADD231PS  Y2, Y15, Y0
	VFMADD231PS  Y3, Y15, Y1
	NEXT_ROW
	JNZ          row
	VMASKMOVPS   Y0, Y14, (DI)
	VMASKMOVPS   Y1, Y13, 32(DI)
	VZEROUPPER
	RET

// From 4·(16−n) bytes on: n lanes that are set, then clear ones.
DATA firstOf16<>+0(SB)/8, $-1
DATA firstOf16<>+8(SB)/8, $-1
DATA firstOf16<>+16(SB)/8, $-1
DATA firstOf16<>+24(SB)/8, $-1
DATA firstOf16<>+32(SB)/8, $-1
DATA firstOf16<>+40(SB)/8, $-1
DATA firstOf16<>+48(SB)/8, $-1
DATA firstOf16<>+56(SB)/8, $-1
GLOBL firstOf16<>(SB), RODATA|NOPTR, $128

// v += q·row over the columns of a short step.
#define SHORT_DOT(row, v) \
	VMASKMOVPS  row, Y15, Y9 \
	VFMADD231PS Y9, Y8, v

// Eight dots, SI row 0, R8 row 4, R9 = 3·DX; R10 query. Every element is
// computed in one way:
//
//	for c in steps of 8 { acc[0..8] = fma(q[c..c+8], x[c..c+8], acc) }
//	((acc0+acc1) + (acc2+acc3)) + ((acc4+acc5) + (acc6+acc7))
//
// where the last step may be short: what is missing counts as zero.
//
// func dotRowsAVX2(scores, x *float32, stride, blocks int, q *float32, n int)
TEXT ·dotRowsAVX2(SB), NOSPLIT, $0-48
	MOVQ    scores+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    stride+16(FP), DX
	MOVQ    blocks+24(FP), BX
	LEAQ    (DX)(DX*2), R9
	MOVQ    n+40(FP), AX
	ANDQ    $7, AX
	LEAQ    firstOf16<>+64(SB), R11
	SHLQ    $2, AX
	SUBQ    AX, R11
	VMOVDQU (R11), Y15              // the columns of a short step

block:
	LEAQ   (SI)(DX*4), R8
	MOVQ   SI, R11
	MOVQ   q+32(FP), R10
	MOVQ   n+40(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	SUBQ   $8, CX
	JLT    short

eight:
	VMOVUPS     (R10), Y8
	VFMADD231PS (SI), Y8, Y0
	VFMADD231PS (SI)(DX*1), Y8, Y1
	VFMADD231PS (SI)(DX*2), Y8, Y2
	VFMADD231PS (SI)(R9*1), Y8, Y3
	VFMADD231PS (R8), Y8, Y4
	VFMADD231PS (R8)(DX*1), Y8, Y5
	VFMADD231PS (R8)(DX*2), Y8, Y6
	VFMADD231PS (R8)(R9*1), Y8, Y7
	ADDQ        $32, SI
	ADDQ        $32, R8
	ADDQ        $32, R10
	SUBQ        $8, CX
	JGE         eight

short:
	CMPQ CX, $-8
	JEQ  reduce

	VMASKMOVPS (R10), Y15, Y8
	SHORT_DOT((SI), Y0)
	SHORT_DOT((SI)(DX*1), Y1)
	SHORT_DOT((SI)(DX*2), Y2)
	SHORT_DOT((SI)(R9*1), Y3)
	SHORT_DOT((R8), Y4)
	SHORT_DOT((R8)(DX*1), Y5)
	SHORT_DOT((R8)(DX*2), Y6)
	SHORT_DOT((R8)(R9*1), Y7)

reduce:
	VHADDPS    Y1, Y0, Y0
	VHADDPS    Y3, Y2, Y2
	VHADDPS    Y5, Y4, Y4
	VHADDPS    Y7, Y6, Y6
	VHADDPS    Y2, Y0, Y0
	VHADDPS    Y6, Y4, Y4
	VPERM2F128 $0x20, Y4, Y0, Y1
	VPERM2F128 $0x31, Y4, Y0, Y2
	VADDPS     Y2, Y1, Y0
	VMOVUPS    Y0, (DI)
	ADDQ       $32, DI
	LEAQ       (R11)(DX*8), SI
	DECQ       BX
	JNZ        block
	VZEROUPPER
	RET
