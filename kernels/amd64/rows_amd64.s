//go:build !noasm

#include "textflag.h"
#include "block_amd64.h"

// One token times groups of eight weight rows: the decode path of the block
// formats. Lane r of the accumulator is row r of the group, so that the value
// of an element is one chain over its blocks, whatever its neighbours are:
//
//	for b in blocks {                          // of 32 weights
//		dot[r] = Σ q[r]·a                      // exact, int32
//		acc[r] = fma(d[r], float(dot[r])·s, acc[r])
//		acc[r] = fma(m[r], sum, acc[r])        // affine formats
//	}
//
// tile_avx2_amd64.s and tile_vnni_amd64.s compute the same chain for many
// tokens. While a group is computed the next one is prefetched in address
// order, as eight interleaved streams defeat the hardware's prefetcher.
//
// Registers: SI, R8, DX, R9 as in block_amd64.h; BX blocks, CX block index,
// R10 codes of the block, R11 scales, R12 sums, DI y, R13 groups left,
// AX prefetch.

// Byte order that turns [d0 m0 d1 m1 d2 m2 d3 m3] into [d0 d1 d2 d3 m0 m1 m2 m3]
// in both halves of a vector.
DATA halvesApart<>+0(SB)/8, $0x0d0c090805040100
DATA halvesApart<>+8(SB)/8, $0x0f0e0b0a07060302
DATA halvesApart<>+16(SB)/8, $0x0d0c090805040100
DATA halvesApart<>+24(SB)/8, $0x0f0e0b0a07060302
GLOBL halvesApart<>(SB), RODATA|NOPTR, $32

// Right shifts that bring the low nibbles to the lower half of a vector and
// the high nibbles to the upper half, from sixteen bytes in both.
DATA nibbleShift<>+0(SB)/8, $0
DATA nibbleShift<>+8(SB)/8, $0
DATA nibbleShift<>+16(SB)/8, $4
DATA nibbleShift<>+24(SB)/8, $4
GLOBL nibbleShift<>(SB), RODATA|NOPTR, $32

DATA bytes0x0f<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL bytes0x0f<>(SB), RODATA|NOPTR, $8
DATA bytes0x08<>+0(SB)/8, $0x0808080808080808
GLOBL bytes0x08<>(SB), RODATA|NOPTR, $8
DATA bytes0x80<>+0(SB)/8, $0x8080808080808080
GLOBL bytes0x80<>(SB), RODATA|NOPTR, $8
DATA words1<>+0(SB)/8, $0x0001000100010001
GLOBL words1<>(SB), RODATA|NOPTR, $8

// M(block address, vector) for each of the eight rows.
#define EIGHT_ROWS(M, at) \
	M(at(SI), Y0)       \
	M(at(SI)(DX*1), Y1) \
	M(at(SI)(DX*2), Y2) \
	M(at(SI)(R9*1), Y3) \
	M(at(R8), Y4)       \
	M(at(R8)(DX*1), Y5) \
	M(at(R8)(DX*2), Y6) \
	M(at(R8)(R9*1), Y7)

// Y0[r] = Σ lanes of Y<r>.
#define REDUCE \
	VPHADDD    Y1, Y0, Y0       \
	VPHADDD    Y3, Y2, Y2       \
	VPHADDD    Y5, Y4, Y4       \
	VPHADDD    Y7, Y6, Y6       \
	VPHADDD    Y2, Y0, Y0       \ // rows 0..3, lower halves | upper halves
	VPHADDD    Y6, Y4, Y4       \ // rows 4..7, likewise
	VPERM2I128 $0x21, Y4, Y0, Y1 \
	VPBLENDD   $0xf0, Y4, Y0, Y0 \
	VPADDD     Y1, Y0, Y0

// Y15 += d·(float(Y0)·s), d in Y8.
#define SCALE_AND_ADD \
	VCVTDQ2PS    Y0, Y0           \
	VBROADCASTSS (R11)(CX*4), Y1  \
	VMULPS       Y1, Y0, Y0       \
	VFMADD231PS  Y0, Y8, Y15

// Y15 += m·sum, m in Y9.
#define ADD_MINIMA \
	VBROADCASTSS (R12)(CX*4), Y1 \
	VFMADD231PS  Y1, Y9, Y15

#define ENTER \
	LEAQ (DX)(DX*2), R9    \
	MOVQ BX, R11           \
	ADDQ R10, R11          \ // scales lie behind the codes
	SHRQ $5, BX            \
	LEAQ (R11)(BX*4), R12    // sums behind the scales

// The eight rows of the group lie between SI and the next group's start, AX.
#define ENTER_GROUP \
	LEAQ   (SI)(DX*4), R8 \
	LEAQ   (SI)(DX*8), AX \
	XORQ   CX, CX         \
	VXORPS Y15, Y15, Y15

// One step prefetches as many bytes, rounded up, as the eight blocks have.
#define PREFETCH(bytes) \
	PREFETCHT0 (AX)          \
	PREFETCHT0 64(AX)        \
	PREFETCHT0 (bytes-64)(AX)

#define NEXT_BLOCK(bytes) \
	ADDQ $bytes, SI     \
	ADDQ $bytes, R8     \
	ADDQ $(8*bytes), AX \
	ADDQ $32, R10       \
	INCQ CX

// SI has walked one row; seven more lead to the next group.
#define NEXT_GROUP \
	VMOVUPS Y15, (DI)         \
	ADDQ    $32, DI           \
	LEAQ    (SI)(R9*2), SI    \
	ADDQ    DX, SI            \
	DECQ    R13

// ---- AVX2

// Q8_0, 32 int8: |q| times the activation with q's sign, so that one factor is
// unsigned as VPMADDUBSW wants it. Activations are never −128.
#define DOT_Q8_AVX2(block, v) \
	VMOVDQU    block, v    \
	VPSIGNB    v, Y11, Y8  \
	VPABSB     v, v        \
	VPMADDUBSW Y8, v, v    \ // ≤ 2·128·127
	VPMADDWD   Y12, v, v

// Nibbles 0..15, low ones first.
#define DOT_NIBBLES_AVX2(block, v) \
	VBROADCASTI128 block, v     \
	VPSRLVQ        Y13, v, v    \
	VPAND          Y14, v, v    \
	VPMADDUBSW     Y11, v, v    \ // ≤ 2·15·127
	VPMADDWD       Y12, v, v

// Nibbles less 8: Y10 holds 8·a, pair by pair.
#define DOT_NIBBLES_LESS_8_AVX2(block, v) \
	VBROADCASTI128 block, v     \
	VPSRLVQ        Y13, v, v    \
	VPAND          Y14, v, v    \
	VPMADDUBSW     Y11, v, v    \
	VPSUBW         Y10, v, v    \
	VPMADDWD       Y12, v, v

// func rowsQ8_0AVX2(y *float32, w *byte, rowBytes int, x *byte, cols, groups int)
TEXT ·rowsQ8_0AVX2(SB), NOSPLIT, $0-48
	MOVQ         y+0(FP), DI
	MOVQ         w+8(FP), SI
	MOVQ         rowBytes+16(FP), DX
	MOVQ         x+24(FP), R10
	MOVQ         cols+32(FP), BX
	MOVQ         groups+40(FP), R13
	VPBROADCASTQ words1<>(SB), Y12
	ENTER

group:
	MOVQ x+24(FP), R10
	ENTER_GROUP

block:
	PREFETCH(272)
	VMOVDQU (R10), Y11
	EIGHT_ROWS(DOT_Q8_AVX2, 2)
	REDUCE
	SCALES(0)
	SCALE_AND_ADD
	NEXT_BLOCK(34)
	CMPQ    CX, BX
	JLT     block
	NEXT_GROUP
	JNZ     group
	VZEROUPPER
	RET

// func rowsQ4_0AVX2(y *float32, w *byte, rowBytes int, x *byte, cols, groups int)
TEXT ·rowsQ4_0AVX2(SB), NOSPLIT, $0-48
	MOVQ         y+0(FP), DI
	MOVQ         w+8(FP), SI
	MOVQ         rowBytes+16(FP), DX
	MOVQ         x+24(FP), R10
	MOVQ         cols+32(FP), BX
	MOVQ         groups+40(FP), R13
	VPBROADCASTQ bytes0x08<>(SB), Y9
	VPBROADCASTQ words1<>(SB), Y12
	VMOVDQU      nibbleShift<>(SB), Y13
	VPBROADCASTQ bytes0x0f<>(SB), Y14
	ENTER

group:
	MOVQ x+24(FP), R10
	ENTER_GROUP

block:
	PREFETCH(144)
	VMOVDQU    (R10), Y11
	VPMADDUBSW Y11, Y9, Y10
	EIGHT_ROWS(DOT_NIBBLES_LESS_8_AVX2, 2)
	REDUCE
	SCALES(0)
	SCALE_AND_ADD
	NEXT_BLOCK(18)
	CMPQ       CX, BX
	JLT        block
	NEXT_GROUP
	JNZ        group
	VZEROUPPER
	RET

// func rowsQ4_1AVX2(y *float32, w *byte, rowBytes int, x *byte, cols, groups int)
TEXT ·rowsQ4_1AVX2(SB), NOSPLIT, $0-48
	MOVQ         y+0(FP), DI
	MOVQ         w+8(FP), SI
	MOVQ         rowBytes+16(FP), DX
	MOVQ         x+24(FP), R10
	MOVQ         cols+32(FP), BX
	MOVQ         groups+40(FP), R13
	VMOVDQU      halvesApart<>(SB), Y10
	VPBROADCASTQ words1<>(SB), Y12
	VMOVDQU      nibbleShift<>(SB), Y13
	VPBROADCASTQ bytes0x0f<>(SB), Y14
	ENTER

group:
	MOVQ x+24(FP), R10
	ENTER_GROUP

block:
	PREFETCH(160)
	VMOVDQU (R10), Y11
	EIGHT_ROWS(DOT_NIBBLES_AVX2, 4)
	REDUCE
	SCALES_MINIMA(Y10)
	SCALE_AND_ADD
	ADD_MINIMA
	NEXT_BLOCK(20)
	CMPQ    CX, BX
	JLT     block
	NEXT_GROUP
	JNZ     group
	VZEROUPPER
	RET

// ---- AVX-512 VNNI, on vectors of 256 bits: one block fills one

// Q8_0 as q + 128, unsigned; Y10 holds the excess, −Σ 128·a, lane by lane.
#define DOT_Q8_VNNI(block, v) \
	VPXOR    block, Y9, Y8  \
	VMOVDQA  Y10, v         \
	VPDPBUSD Y11, Y8, v

#define DOT_NIBBLES_VNNI(block, v) \
	VBROADCASTI128 block, Y8    \
	VPSRLVQ        Y13, Y8, Y8  \
	VPAND          Y14, Y8, Y8  \
	VPXOR          v, v, v      \
	VPDPBUSD       Y11, Y8, v

// Nibbles less 8: Y10 holds −Σ 8·a, lane by lane.
#define DOT_NIBBLES_LESS_8_VNNI(block, v) \
	VBROADCASTI128 block, Y8    \
	VPSRLVQ        Y13, Y8, Y8  \
	VPAND          Y14, Y8, Y8  \
	VMOVDQA        Y10, v       \
	VPDPBUSD       Y11, Y8, v

// Y10 = −Σ offset·a, lane by lane; offset is 32 unsigned bytes.
#define EXCESS(offset) \
	VPXOR    Y8, Y8, Y8       \
	VPXOR    Y10, Y10, Y10    \
	VPDPBUSD Y11, offset, Y10 \
	VPSUBD   Y10, Y8, Y10

// func rowsQ8_0VNNI(y *float32, w *byte, rowBytes int, x *byte, cols, groups int)
TEXT ·rowsQ8_0VNNI(SB), NOSPLIT, $0-48
	MOVQ         y+0(FP), DI
	MOVQ         w+8(FP), SI
	MOVQ         rowBytes+16(FP), DX
	MOVQ         x+24(FP), R10
	MOVQ         cols+32(FP), BX
	MOVQ         groups+40(FP), R13
	VPBROADCASTQ bytes0x80<>(SB), Y9
	ENTER

group:
	MOVQ x+24(FP), R10
	ENTER_GROUP

block:
	PREFETCH(272)
	VMOVDQU (R10), Y11
	EXCESS(Y9)
	EIGHT_ROWS(DOT_Q8_VNNI, 2)
	REDUCE
	SCALES(0)
	SCALE_AND_ADD
	NEXT_BLOCK(34)
	CMPQ    CX, BX
	JLT     block
	NEXT_GROUP
	JNZ     group
	VZEROUPPER
	RET

// func rowsQ4_0VNNI(y *float32, w *byte, rowBytes int, x *byte, cols, groups int)
TEXT ·rowsQ4_0VNNI(SB), NOSPLIT, $0-48
	MOVQ         y+0(FP), DI
	MOVQ         w+8(FP), SI
	MOVQ         rowBytes+16(FP), DX
	MOVQ         x+24(FP), R10
	MOVQ         cols+32(FP), BX
	MOVQ         groups+40(FP), R13
	VPBROADCASTQ bytes0x08<>(SB), Y9
	VMOVDQU      nibbleShift<>(SB), Y13
	VPBROADCASTQ bytes0x0f<>(SB), Y14
	ENTER

group:
	MOVQ x+24(FP), R10
	ENTER_GROUP

block:
	PREFETCH(144)
	VMOVDQU (R10), Y11
	EXCESS(Y9)
	EIGHT_ROWS(DOT_NIBBLES_LESS_8_VNNI, 2)
	REDUCE
	SCALES(0)
	SCALE_AND_ADD
	NEXT_BLOCK(18)
	CMPQ    CX, BX
	JLT     block
	NEXT_GROUP
	JNZ     group
	VZEROUPPER
	RET

// func rowsQ4_1VNNI(y *float32, w *byte, rowBytes int, x *byte, cols, groups int)
TEXT ·rowsQ4_1VNNI(SB), NOSPLIT, $0-48
	MOVQ         y+0(FP), DI
	MOVQ         w+8(FP), SI
	MOVQ         rowBytes+16(FP), DX
	MOVQ         x+24(FP), R10
	MOVQ         cols+32(FP), BX
	MOVQ         groups+40(FP), R13
	VMOVDQU      halvesApart<>(SB), Y10
	VMOVDQU      nibbleShift<>(SB), Y13
	VPBROADCASTQ bytes0x0f<>(SB), Y14
	ENTER

group:
	MOVQ x+24(FP), R10
	ENTER_GROUP

block:
	PREFETCH(160)
	VMOVDQU (R10), Y11
	EIGHT_ROWS(DOT_NIBBLES_VNNI, 4)
	REDUCE
	SCALES_MINIMA(Y10)
	SCALE_AND_ADD
	ADD_MINIMA
	NEXT_BLOCK(20)
	CMPQ    CX, BX
	JLT     block
	NEXT_GROUP
	JNZ     group
	VZEROUPPER
	RET
