//go:build !noasm

#include "textflag.h"
#include "tile_avx2_amd64.h"

// Panels of eight rows times four tokens on AVX2: the batch path of the block
// formats (panels: pack_amd64.s, chain: rows_amd64.s). Lane r is row r:
//
//	for b in blocks {
//		for k in 0..8 {
//			pair[t] += w[b][k]·a[t][4k..4k+4]    // VPMADDUBSW, a broadcast
//		}
//		dot[t] = sums of pairs [+ excess[t][b]]  // nibbles fit int16: 8·2·15·127
//		acc[t] = fma(d, float(dot[t])·s[t], acc[t])
//		acc[t] = fma(m, sum[t], acc[t])          // affine panels
//	}
//
// y is the accumulator between the panels of a row: read, added to, written.
//
// Registers: Y0..Y3 acc, Y4..Y7 dot, Y8 w, Y9 |w|, Y10 temporary, Y11 d, Y12 m,
// Y15 ones; SI panel, DX xStride, BX 3·xStride, R8 codes, R10 scales, R12 sums
// or excess, CX blocks left; DI y, AX yStride in bytes.

DATA words1<>+0(SB)/8, $0x0001000100010001
GLOBL words1<>(SB), RODATA|NOPTR, $8

#define NIBBLES \
	COLUMNS(FIRST_PAIRS, 0)  \
	COLUMNS(ADD_PAIRS, 1)    \
	COLUMNS(ADD_PAIRS, 2)    \
	COLUMNS(ADD_PAIRS, 3)    \
	COLUMNS(ADD_PAIRS, 4)    \
	COLUMNS(ADD_PAIRS, 5)    \
	COLUMNS(ADD_PAIRS, 6)    \
	COLUMNS(ADD_PAIRS, 7)    \
	VPMADDWD Y15, Y4, Y4     \
	VPMADDWD Y15, Y5, Y5     \
	VPMADDWD Y15, Y6, Y6     \
	VPMADDWD Y15, Y7, Y7

// Signed bytes: |w| times a with w's sign; pairs reach 2·128·127, so they are
// widened at once. Activations are never −128.
#define ADD_SIGNED(at, dot) \
	VPBROADCASTD at, Y10        \
	VPSIGNB      Y8, Y10, Y10   \
	VPMADDUBSW   Y10, Y9, Y10   \
	VPMADDWD     Y15, Y10, Y10  \
	VPADDD       Y10, dot, dot

#define SIGNED_COLUMNS(k) \
	VMOVDQU (32*k)(SI), Y8 \
	VPABSB  Y8, Y9         \
	FOUR(ADD_SIGNED, (4*k), R8, Y4, Y5, Y6, Y7)

#define SIGNED_BYTES \
	VPXOR Y4, Y4, Y4  \
	VPXOR Y5, Y5, Y5  \
	VPXOR Y6, Y6, Y6  \
	VPXOR Y7, Y7, Y7  \
	SIGNED_COLUMNS(0) \
	SIGNED_COLUMNS(1) \
	SIGNED_COLUMNS(2) \
	SIGNED_COLUMNS(3) \
	SIGNED_COLUMNS(4) \
	SIGNED_COLUMNS(5) \
	SIGNED_COLUMNS(6) \
	SIGNED_COLUMNS(7)

#define ADD_EXCESS(at, dot) \
	VPBROADCASTD at, Y10        \
	VPADDD       Y10, dot, dot

// func tile4Q4_1AVX2(y *float32, yStride int, panel, codes, scales, sums *byte,
//	xStride, blocks int)
TEXT ·tile4Q4_1AVX2(SB), NOSPLIT, $0-64
	MOVQ         y+0(FP), DI
	MOVQ         yStride+8(FP), AX
	MOVQ         panel+16(FP), SI
	MOVQ         codes+24(FP), R8
	MOVQ         scales+32(FP), R10
	MOVQ         sums+40(FP), R12
	MOVQ         xStride+48(FP), DX
	LEAQ         (DX)(DX*2), BX
	SHLQ         $2, AX
	VPBROADCASTQ words1<>(SB), Y15
	LOAD
	MOVQ         blocks+56(FP), CX

block:
	NIBBLES
	SCALE
	VMOVUPS 288(SI), Y12
	FOUR(ADD_MINIMUM, 0, R12, Y0, Y1, Y2, Y3)
	ADDQ    $320, SI
	ADDQ    $32, R8
	ADDQ    $4, R10
	ADDQ    $4, R12
	DECQ    CX
	JNZ     block

	STORE
	VZEROUPPER
	RET

// func tile4Q4_0AVX2(y *float32, yStride int, panel, codes, scales *byte,
//	excess *int32, xStride, blocks int)
TEXT ·tile4Q4_0AVX2(SB), NOSPLIT, $0-64
	MOVQ         y+0(FP), DI
	MOVQ         yStride+8(FP), AX
	MOVQ         panel+16(FP), SI
	MOVQ         codes+24(FP), R8
	MOVQ         scales+32(FP), R10
	MOVQ         excess+40(FP), R12
	MOVQ         xStride+48(FP), DX
	LEAQ         (DX)(DX*2), BX
	SHLQ         $2, AX
	VPBROADCASTQ words1<>(SB), Y15
	LOAD
	MOVQ         blocks+56(FP), CX

block:
	NIBBLES
	ADD_EXCESS((R12), Y4)
	ADD_EXCESS(96(R12), Y5)
	ADD_EXCESS(192(R12), Y6)
	ADD_EXCESS(288(R12), Y7)
	SCALE
	ADDQ $320, SI
	ADDQ $32, R8
	ADDQ $4, R10
	ADDQ $4, R12
	DECQ CX
	JNZ  block

	STORE
	VZEROUPPER
	RET

// func tile4Q8_0AVX2(y *float32, yStride int, panel, codes, scales *byte, xStride, blocks int)
TEXT ·tile4Q8_0AVX2(SB), NOSPLIT, $0-56
	MOVQ         y+0(FP), DI
	MOVQ         yStride+8(FP), AX
	MOVQ         panel+16(FP), SI
	MOVQ         codes+24(FP), R8
	MOVQ         scales+32(FP), R10
	MOVQ         xStride+40(FP), DX
	LEAQ         (DX)(DX*2), BX
	SHLQ         $2, AX
	VPBROADCASTQ words1<>(SB), Y15
	LOAD
	MOVQ         blocks+48(FP), CX

block:
	SIGNED_BYTES
	SCALE
	ADDQ $320, SI
	ADDQ $32, R8
	ADDQ $4, R10
	DECQ CX
	JNZ  block

	STORE
	VZEROUPPER
	RET
