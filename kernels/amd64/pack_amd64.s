//go:build !noasm

#include "textflag.h"
#include "block_amd64.h"
#include "pack_amd64.h"

// Weight panels: a group of rows, unpacked once for all tokens of a batch. The
// panel holds one record per block, made of ten vectors of one dword a row:
//
//	0..7   vector k: the codes of columns 4k..4k+3, a byte each
//	8      d, float32
//	9      m, float32 (Q4_1 only)
//
// so that a product instruction takes four columns of all rows at once and no
// lane ever needs another's sum. A function fills eight rows; the vectors of a
// panel of sixteen rows are filled in halves, `vector` bytes apart.
//
// Registers: SI, R8, DX, R9 as in block_amd64.h; DI record, R10 = vector,
// R11 = 3·vector, AX record's second half, CX blocks left.

DATA halvesApart<>+0(SB)/8, $0x0d0c090805040100
DATA halvesApart<>+8(SB)/8, $0x0f0e0b0a07060302
DATA halvesApart<>+16(SB)/8, $0x0d0c090805040100
DATA halvesApart<>+24(SB)/8, $0x0f0e0b0a07060302
GLOBL halvesApart<>(SB), RODATA|NOPTR, $32

DATA bytes0x0f<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL bytes0x0f<>(SB), RODATA|NOPTR, $8

#define NEXT_BLOCK(bytes) \
	ADDQ $bytes, SI        \
	ADDQ $bytes, R8        \
	LEAQ (AX)(R10*4), DI   \
	LEAQ (DI)(R10*2), DI   \
	DECQ CX

// Y0..Y3 ^= Y14.
#define FLIP \
	VPXOR Y14, Y0, Y0 \
	VPXOR Y14, Y1, Y1 \
	VPXOR Y14, Y2, Y2 \
	VPXOR Y14, Y3, Y3

// func packQ8_0(panel *byte, vector int, w *byte, rowBytes, blocks, flip int)
TEXT ·packQ8_0(SB), NOSPLIT, $0-48
	MOVQ         panel+0(FP), DI
	MOVQ         vector+8(FP), R10
	MOVQ         w+16(FP), SI
	MOVQ         rowBytes+24(FP), DX
	MOVQ         blocks+32(FP), CX
	VMOVQ        flip+40(FP), X14
	VPBROADCASTB X14, Y14
	ENTER

block:
	LEAQ    (DI)(R10*4), AX
	TURN_16_BYTES(2)
	FLIP
	STORE_4(DI)
	TURN_16_BYTES(18)
	FLIP
	STORE_4(AX)
	SCALES(0)
	VMOVUPS Y8, (AX)(R10*4)
	NEXT_BLOCK(34)
	JNZ     block
	VZEROUPPER
	RET

// func packQ4_0(panel *byte, vector int, w *byte, rowBytes, blocks int)
TEXT ·packQ4_0(SB), NOSPLIT, $0-40
	MOVQ         panel+0(FP), DI
	MOVQ         vector+8(FP), R10
	MOVQ         w+16(FP), SI
	MOVQ         rowBytes+24(FP), DX
	MOVQ         blocks+32(FP), CX
	VPBROADCASTQ bytes0x0f<>(SB), Y14
	ENTER

block:
	LEAQ    (DI)(R10*4), AX
	UNPACK_NIBBLES(2)
	SCALES(0)
	VMOVUPS Y8, (AX)(R10*4)
	NEXT_BLOCK(18)
	JNZ     block
	VZEROUPPER
	RET

// func packQ4_1(panel *byte, vector int, w *byte, rowBytes, blocks int)
TEXT ·packQ4_1(SB), NOSPLIT, $0-40
	MOVQ         panel+0(FP), DI
	MOVQ         vector+8(FP), R10
	MOVQ         w+16(FP), SI
	MOVQ         rowBytes+24(FP), DX
	MOVQ         blocks+32(FP), CX
	VMOVDQU      halvesApart<>(SB), Y13
	VPBROADCASTQ bytes0x0f<>(SB), Y14
	ENTER

block:
	LEAQ    (DI)(R10*4), AX
	UNPACK_NIBBLES(4)
	SCALES_MINIMA(Y13)
	LEAQ    (AX)(R10*4), BX
	VMOVUPS Y8, (BX)
	VMOVUPS Y9, (BX)(R10*1)
	NEXT_BLOCK(20)
	JNZ     block
	VZEROUPPER
	RET

// dst[t][b] = −offset·Σ codes of block b: what the dots with weights that are
// offset too large must begin at.
//
// func excess(dst *int32, x *byte, xStride, blocks, tokens, offset int)
TEXT ·excess(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         xStride+16(FP), DX
	MOVQ         blocks+24(FP), BX
	MOVQ         tokens+32(FP), R8
	VMOVQ        offset+40(FP), X14
	VPBROADCASTB X14, Y14
	VPCMPEQW     Y15, Y15, Y15        // −1

token:
	XORQ CX, CX
	MOVQ SI, R9

block:
	VPMADDUBSW   (R9), Y14, Y0        // ≤ 2·128·127
	VPMADDWD     Y15, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPHADDD      X0, X0, X0
	VPHADDD      X0, X0, X0
	VMOVD        X0, (DI)(CX*4)
	ADDQ         $32, R9
	INCQ         CX
	CMPQ         CX, BX
	JLT          block
	ADDQ         $96, DI
	ADDQ         DX, SI
	DECQ         R8
	JNZ          token
	VZEROUPPER
	RET

// A group lies in as many places as it has rows, too short each for the
// hardware to foresee.
//
// func prefetchRows(w *byte, rowBytes, bytes, rows int)
TEXT ·prefetchRows(SB), NOSPLIT, $0-32
	MOVQ w+0(FP), SI
	MOVQ rowBytes+8(FP), DX
	MOVQ bytes+16(FP), BX
	MOVQ rows+24(FP), CX

row:
	MOVQ SI, AX
	LEAQ (SI)(BX*1), R8

line:
	PREFETCHT1 (AX)
	ADDQ       $64, AX
	CMPQ       AX, R8
	JLT        line
	ADDQ       DX, SI
	DECQ       CX
	JNZ        row
	RET
