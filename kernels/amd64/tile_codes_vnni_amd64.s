//go:build !noasm

#include "textflag.h"
#include "tile_vnni_amd64.h"

// Panels of sixteen rows (pack_codes_amd64.s) on AVX-512 VNNI: tiles of one token,
// which need no table of excess, and tiles of eight and four for records with a scale
// for each half. The chain is that of tile_vnni_amd64.s. Panels hold codes that are
// `offset` too large.
//
// Registers of one token: Z0 acc, Z8 and Z9 dot, Z10 and Z11 offset·Σ a, Z16 w,
// Z17 d, Z18 m, Z19 offset; SI, R8, R10, R12, CX, DI as in tile_vnni_amd64.s.

// ---- One token

#define CLEAR_DOTS \
	VPXORD Z8, Z8, Z8 \
	VPXORD Z9, Z9, Z9

#define CLEAR_EXCESS \
	VPXORD Z10, Z10, Z10 \
	VPXORD Z11, Z11, Z11

#define TWO_COLUMNS(k) \
	VMOVDQU32     (64*k)(SI), Z16         \
	VPDPBUSD.BCST (4*k)(R8), Z16, Z8      \
	VMOVDQU32     (64*k+64)(SI), Z16      \
	VPDPBUSD.BCST (4*k+4)(R8), Z16, Z9

#define TWO_EXCESSES(k) \
	VPDPBUSD.BCST (4*k)(R8), Z19, Z10     \
	VPDPBUSD.BCST (4*k+4)(R8), Z19, Z11

#define TAKE_EXCESS \
	VPADDD Z11, Z10, Z10 \
	VPSUBD Z10, Z8, Z8

// Z0 += d·(float(Z8 + Z9)·s)
#define SCALE_1(at) \
	VPADDD      Z9, Z8, Z8        \
	VCVTDQ2PS   Z8, Z8            \
	VMULPS.BCST (R10), Z8, Z8     \
	VMOVUPS     at(SI), Z17       \
	VFMADD231PS Z8, Z17, Z0

#define NEXT_RECORD \
	ADDQ $640, SI \
	ADDQ $32, R8  \
	ADDQ $4, R10  \
	DECQ CX

#define LEAVE_TILE_1 \
	VMOVUPS Z0, (DI) \
	VZEROUPPER       \
	RET

// func tile1AffineVNNI(y *float32, panel, codes, scales, sums *byte, blocks int)
TEXT ·tile1AffineVNNI(SB), NOSPLIT, $0-48
	MOVQ    y+0(FP), DI
	MOVQ    panel+8(FP), SI
	MOVQ    codes+16(FP), R8
	MOVQ    scales+24(FP), R10
	MOVQ    sums+32(FP), R12
	MOVQ    blocks+40(FP), CX
	VMOVUPS (DI), Z0

block:
	CLEAR_DOTS
	TWO_COLUMNS(0)
	TWO_COLUMNS(2)
	TWO_COLUMNS(4)
	TWO_COLUMNS(6)
	SCALE_1(512)
	VMOVUPS          576(SI), Z18
	VFMADD231PS.BCST (R12), Z18, Z0
	ADDQ             $4, R12
	NEXT_RECORD
	JNZ              block
	LEAVE_TILE_1

// func tile1OffsetVNNI(y *float32, panel, codes, scales *byte, blocks, offset int)
TEXT ·tile1OffsetVNNI(SB), NOSPLIT, $0-48
	MOVQ         y+0(FP), DI
	MOVQ         panel+8(FP), SI
	MOVQ         codes+16(FP), R8
	MOVQ         scales+24(FP), R10
	MOVQ         blocks+32(FP), CX
	MOVQ         offset+40(FP), AX
	VPBROADCASTB AX, Z19
	VMOVUPS      (DI), Z0

block:
	CLEAR_DOTS
	CLEAR_EXCESS
	TWO_COLUMNS(0)
	TWO_EXCESSES(0)
	TWO_COLUMNS(2)
	TWO_EXCESSES(2)
	TWO_COLUMNS(4)
	TWO_EXCESSES(4)
	TWO_COLUMNS(6)
	TWO_EXCESSES(6)
	TAKE_EXCESS
	SCALE_1(512)
	NEXT_RECORD
	JNZ block
	LEAVE_TILE_1

// func tile1HalvesVNNI(y *float32, panel, codes, scales *byte, blocks, offset int)
TEXT ·tile1HalvesVNNI(SB), NOSPLIT, $0-48
	MOVQ         y+0(FP), DI
	MOVQ         panel+8(FP), SI
	MOVQ         codes+16(FP), R8
	MOVQ         scales+24(FP), R10
	MOVQ         blocks+32(FP), CX
	MOVQ         offset+40(FP), AX
	VPBROADCASTB AX, Z19
	VMOVUPS      (DI), Z0

block:
	CLEAR_DOTS
	CLEAR_EXCESS
	TWO_COLUMNS(0)
	TWO_EXCESSES(0)
	TWO_COLUMNS(2)
	TWO_EXCESSES(2)
	TAKE_EXCESS
	SCALE_1(512)
	CLEAR_DOTS
	CLEAR_EXCESS
	TWO_COLUMNS(4)
	TWO_EXCESSES(4)
	TWO_COLUMNS(6)
	TWO_EXCESSES(6)
	TAKE_EXCESS
	SCALE_1(576)
	NEXT_RECORD
	JNZ block
	LEAVE_TILE_1

// ---- Four and eight tokens, a scale for each half

// A token's row of excess has 192 bytes, two dwords a block.
#define HALF_EXCESS_LOW(at) \
	VPBROADCASTD at(R12), Z8         \
	VPBROADCASTD (192+at)(R12), Z9   \
	VPBROADCASTD (384+at)(R12), Z10  \
	VPBROADCASTD (576+at)(R12), Z11

#define HALF_EXCESS_HIGH(at) \
	VPBROADCASTD (768+at)(R12), Z12  \
	VPBROADCASTD (960+at)(R12), Z13  \
	VPBROADCASTD (1152+at)(R12), Z14 \
	VPBROADCASTD (1344+at)(R12), Z15

#define FOUR_COLUMNS(M, k) \
	M(k)     \
	M((k+1)) \
	M((k+2)) \
	M((k+3))

// func tile8HalvesVNNI(y *float32, yStride int, panel, codes, scales *byte,
//	excess *int32, xStride, blocks int)
TEXT ·tile8HalvesVNNI(SB), NOSPLIT, $0-64
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
	HALF_EXCESS_LOW(0)
	HALF_EXCESS_HIGH(0)
	FOUR_COLUMNS(COLUMNS_8, 0)
	VMOVUPS 512(SI), Z17
	SCALE_LOW
	SCALE_HIGH
	HALF_EXCESS_LOW(4)
	HALF_EXCESS_HIGH(4)
	FOUR_COLUMNS(COLUMNS_8, 4)
	VMOVUPS 576(SI), Z17
	SCALE_LOW
	SCALE_HIGH
	ADDQ    $640, SI
	ADDQ    $32, R8
	ADDQ    $32, R9
	ADDQ    $4, R10
	ADDQ    $4, R11
	ADDQ    $8, R12
	DECQ    CX
	JNZ     block

	Y_ROWS
	STORE_LOW
	STORE_HIGH
	VZEROUPPER
	RET

// func tile4HalvesVNNI(y *float32, yStride int, panel, codes, scales *byte,
//	excess *int32, xStride, blocks int)
TEXT ·tile4HalvesVNNI(SB), NOSPLIT, $0-64
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
	HALF_EXCESS_LOW(0)
	FOUR_COLUMNS(COLUMNS_4, 0)
	VMOVUPS 512(SI), Z17
	SCALE_LOW
	HALF_EXCESS_LOW(4)
	FOUR_COLUMNS(COLUMNS_4, 4)
	VMOVUPS 576(SI), Z17
	SCALE_LOW
	ADDQ    $640, SI
	ADDQ    $32, R8
	ADDQ    $4, R10
	ADDQ    $8, R12
	DECQ    CX
	JNZ     block

	Y_ROWS
	STORE_LOW
	VZEROUPPER
	RET

// dst[t][2b+h] = −offset·Σ codes of half h of block b, as excess has it for blocks.
//
// func excessOfHalves(dst *int32, x *byte, xStride, blocks, tokens, offset int)
TEXT ·excessOfHalves(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         xStride+16(FP), DX
	MOVQ         blocks+24(FP), BX
	MOVQ         tokens+32(FP), R8
	MOVQ         offset+40(FP), AX
	VMOVQ        AX, X14
	VPBROADCASTB X14, Y14
	VPCMPEQW     Y15, Y15, Y15

token:
	XORQ CX, CX
	MOVQ SI, R9

block:
	VPMADDUBSW   (R9), Y14, Y0
	VPMADDWD     Y15, Y0, Y0
	VPHADDD      Y0, Y0, Y0
	VPHADDD      Y0, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VMOVD        X0, (DI)(CX*8)
	VMOVD        X1, 4(DI)(CX*8)
	ADDQ         $32, R9
	INCQ         CX
	CMPQ         CX, BX
	JLT          block
	ADDQ         $192, DI
	ADDQ         DX, SI
	DECQ         R8
	JNZ          token
	VZEROUPPER
	RET
