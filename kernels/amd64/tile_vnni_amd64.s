//go:build !noasm

#include "textflag.h"
#include "tile_vnni_amd64.h"

// Panels of sixteen rows times eight or four tokens on AVX-512 VNNI: the batch
// path of the block formats (panels: pack_amd64.s, chain: rows_amd64.s). Lane r
// is row r:
//
//	for b in blocks {
//		dot[t] = excess[t][b]                    // offset panels, else 0
//		for k in 0..8 {
//			dot[t] += w[b][k]·a[t][4k..4k+4]     // VPDPBUSD, a broadcast
//		}
//		acc[t] = fma(d, float(dot[t])·s[t], acc[t])
//		acc[t] = fma(m, sum[t], acc[t])          // affine panels
//	}
//
// y is the accumulator between the panels of a row: read, added to, written.
//
// Registers: Z0..Z7 acc, Z8..Z15 dot, Z16 w, Z17 d, Z18 m; SI panel; DX xStride,
// BX 3·xStride; of tokens 0..3 and 4..7: R8, R9 codes, R10, R11 scales,
// R12, R13 sums; R12 alone excess; CX blocks left; DI y, AX yStride in bytes.

// func tile8AffineVNNI(y *float32, yStride int, panel, codes, scales, sums *byte,
//	xStride, blocks int)
TEXT ·tile8AffineVNNI(SB), NOSPLIT, $0-64
	MOVQ y+0(FP), DI
	MOVQ yStride+8(FP), AX
	MOVQ panel+16(FP), SI
	MOVQ codes+24(FP), R8
	MOVQ scales+32(FP), R10
	MOVQ sums+40(FP), R12
	MOVQ xStride+48(FP), DX
	LEAQ (DX)(DX*2), BX
	LEAQ (R8)(DX*4), R9
	LEAQ (R10)(DX*4), R11
	LEAQ (R12)(DX*4), R13
	SHLQ $2, AX
	Y_ROWS
	LOAD_LOW
	LOAD_HIGH
	MOVQ blocks+56(FP), CX

block:
	CLEAR_LOW
	CLEAR_HIGH
	BLOCK(COLUMNS_8)
	VMOVUPS 576(SI), Z18
	SCALE_LOW
	SCALE_HIGH
	FOUR(ADD_MINIMUM, 0, R12, Z0, Z1, Z2, Z3)
	FOUR(ADD_MINIMUM, 0, R13, Z4, Z5, Z6, Z7)
	ADDQ    $640, SI
	ADDQ    $32, R8
	ADDQ    $32, R9
	ADDQ    $4, R10
	ADDQ    $4, R11
	ADDQ    $4, R12
	ADDQ    $4, R13
	DECQ    CX
	JNZ     block

	Y_ROWS
	STORE_LOW
	STORE_HIGH
	VZEROUPPER
	RET

// func tile4AffineVNNI(y *float32, yStride int, panel, codes, scales, sums *byte,
//	xStride, blocks int)
TEXT ·tile4AffineVNNI(SB), NOSPLIT, $0-64
	MOVQ y+0(FP), DI
	MOVQ yStride+8(FP), AX
	MOVQ panel+16(FP), SI
	MOVQ codes+24(FP), R8
	MOVQ scales+32(FP), R10
	MOVQ sums+40(FP), R12
	MOVQ xStride+48(FP), DX
	LEAQ (DX)(DX*2), BX
	SHLQ $2, AX
	Y_ROWS
	LOAD_LOW
	MOVQ blocks+56(FP), CX

block:
	CLEAR_LOW
	BLOCK(COLUMNS_4)
	VMOVUPS 576(SI), Z18
	SCALE_LOW
	FOUR(ADD_MINIMUM, 0, R12, Z0, Z1, Z2, Z3)
	ADDQ    $640, SI
	ADDQ    $32, R8
	ADDQ    $4, R10
	ADDQ    $4, R12
	DECQ    CX
	JNZ     block

	Y_ROWS
	STORE_LOW
	VZEROUPPER
	RET

// func tile8OffsetVNNI(y *float32, yStride int, panel, codes, scales *byte,
//	excess *int32, xStride, blocks int)
TEXT ·tile8OffsetVNNI(SB), NOSPLIT, $0-64
	MOVQ y+0(FP), DI
	MOVQ yStride+8(FP), AX
	MOVQ panel+16(FP), SI
	MOVQ codes+24(FP), R8
	MOVQ scales+32(FP), R10
	MOVQ excess+40(FP), R12
	MOVQ xStride+48(FP), DX
	LEAQ (DX)(DX*2), BX
	LEAQ (R8)(DX*4), R9
	LEAQ (R10)(DX*4), R11
	SHLQ $2, AX
	Y_ROWS
	LOAD_LOW
	LOAD_HIGH
	MOVQ blocks+56(FP), CX

block:
	EXCESS_LOW
	EXCESS_HIGH
	BLOCK(COLUMNS_8)
	SCALE_LOW
	SCALE_HIGH
	ADDQ $640, SI
	ADDQ $32, R8
	ADDQ $32, R9
	ADDQ $4, R10
	ADDQ $4, R11
	ADDQ $4, R12
	DECQ CX
	JNZ  block

	Y_ROWS
	STORE_LOW
	STORE_HIGH
	VZEROUPPER
	RET

// func tile4OffsetVNNI(y *float32, yStride int, panel, codes, scales *byte,
//	excess *int32, xStride, blocks int)
TEXT ·tile4OffsetVNNI(SB), NOSPLIT, $0-64
	MOVQ y+0(FP), DI
	MOVQ yStride+8(FP), AX
	MOVQ panel+16(FP), SI
	MOVQ codes+24(FP), R8
	MOVQ scales+32(FP), R10
	MOVQ excess+40(FP), R12
	MOVQ xStride+48(FP), DX
	LEAQ (DX)(DX*2), BX
	SHLQ $2, AX
	Y_ROWS
	LOAD_LOW
	MOVQ blocks+56(FP), CX

block:
	EXCESS_LOW
	BLOCK(COLUMNS_4)
	SCALE_LOW
	ADDQ $640, SI
	ADDQ $32, R8
	ADDQ $4, R10
	ADDQ $4, R12
	DECQ CX
	JNZ  block

	Y_ROWS
	STORE_LOW
	VZEROUPPER
	RET
