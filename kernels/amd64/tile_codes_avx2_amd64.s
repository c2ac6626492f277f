//go:build !noasm

#include "textflag.h"
#include "tile_avx2_amd64.h"

// Panels of eight rows (pack_codes_amd64.s) times four tokens or one, on AVX2, with
// the chain of tile_avx2_amd64.s. How many products of two 16 bits hold decides how
// often the pairs must be widened:
//
//	nibbles     0..15      all eight columns: 8·2·15·127
//	five bits   0..31      four: 4·2·31·127
//	small     −16..16      all eight: 8·2·16·127; signs go to the activation
//	halves    −32..32      four, which have a scale of their own: 4·2·32·127
//	signed   −128..127     one
//
// Registers: those of tile_avx2_amd64.s, with Y9 |w| and Y11..Y14 more pairs. Tiles of
// one token: Y0 acc, Y4 and Y5 dot or pairs, SI, R8, R10, R12, CX, DI likewise.

DATA words1<>+0(SB)/8, $0x0001000100010001
GLOBL words1<>(SB), RODATA|NOPTR, $8

// ---- Four tokens

#define FIRST_SMALL(at, pair) \
	VPBROADCASTD at, Y10       \
	VPSIGNB      Y8, Y10, Y10  \
	VPMADDUBSW   Y10, Y9, pair

#define ADD_SMALL(at, pair) \
	VPBROADCASTD at, Y10         \
	VPSIGNB      Y8, Y10, Y10    \
	VPMADDUBSW   Y10, Y9, Y10    \
	VPADDW       Y10, pair, pair

#define SMALL_COLUMNS(M, k) \
	VMOVDQU (32*k)(SI), Y8 \
	VPABSB  Y8, Y9         \
	FOUR(M, (4*k), R8, Y4, Y5, Y6, Y7)

#define MORE_COLUMNS(M, k) \
	VMOVDQU (32*k)(SI), Y8 \
	FOUR(M, (4*k), R8, Y11, Y12, Y13, Y14)

#define WIDEN(v0, v1, v2, v3) \
	VPMADDWD Y15, v0, v0 \
	VPMADDWD Y15, v1, v1 \
	VPMADDWD Y15, v2, v2 \
	VPMADDWD Y15, v3, v3

#define ENTER_TILE_4 \
	LEAQ         (DX)(DX*2), BX     \
	SHLQ         $2, AX             \
	VPBROADCASTQ words1<>(SB), Y15  \
	LOAD

// func tile4FiveBitsAVX2(y *float32, yStride int, panel, codes, scales, sums *byte,
//	xStride, blocks int)
TEXT ·tile4FiveBitsAVX2(SB), NOSPLIT, $0-64
	MOVQ y+0(FP), DI
	MOVQ yStride+8(FP), AX
	MOVQ panel+16(FP), SI
	MOVQ codes+24(FP), R8
	MOVQ scales+32(FP), R10
	MOVQ sums+40(FP), R12
	MOVQ xStride+48(FP), DX
	ENTER_TILE_4
	MOVQ blocks+56(FP), CX

block:
	COLUMNS(FIRST_PAIRS, 0)
	COLUMNS(ADD_PAIRS, 1)
	COLUMNS(ADD_PAIRS, 2)
	COLUMNS(ADD_PAIRS, 3)
	MORE_COLUMNS(FIRST_PAIRS, 4)
	MORE_COLUMNS(ADD_PAIRS, 5)
	MORE_COLUMNS(ADD_PAIRS, 6)
	MORE_COLUMNS(ADD_PAIRS, 7)
	WIDEN(Y4, Y5, Y6, Y7)
	WIDEN(Y11, Y12, Y13, Y14)
	VPADDD  Y11, Y4, Y4
	VPADDD  Y12, Y5, Y5
	VPADDD  Y13, Y6, Y6
	VPADDD  Y14, Y7, Y7
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

// func tile4SmallAVX2(y *float32, yStride int, panel, codes, scales *byte,
//	xStride, blocks int)
TEXT ·tile4SmallAVX2(SB), NOSPLIT, $0-56
	MOVQ y+0(FP), DI
	MOVQ yStride+8(FP), AX
	MOVQ panel+16(FP), SI
	MOVQ codes+24(FP), R8
	MOVQ scales+32(FP), R10
	MOVQ xStride+40(FP), DX
	ENTER_TILE_4
	MOVQ blocks+48(FP), CX

block:
	SMALL_COLUMNS(FIRST_SMALL, 0)
	SMALL_COLUMNS(ADD_SMALL, 1)
	SMALL_COLUMNS(ADD_SMALL, 2)
	SMALL_COLUMNS(ADD_SMALL, 3)
	SMALL_COLUMNS(ADD_SMALL, 4)
	SMALL_COLUMNS(ADD_SMALL, 5)
	SMALL_COLUMNS(ADD_SMALL, 6)
	SMALL_COLUMNS(ADD_SMALL, 7)
	WIDEN(Y4, Y5, Y6, Y7)
	SCALE
	ADDQ $320, SI
	ADDQ $32, R8
	ADDQ $4, R10
	DECQ CX
	JNZ  block

	STORE
	VZEROUPPER
	RET

// func tile4HalvesAVX2(y *float32, yStride int, panel, codes, scales *byte,
//	xStride, blocks int)
TEXT ·tile4HalvesAVX2(SB), NOSPLIT, $0-56
	MOVQ y+0(FP), DI
	MOVQ yStride+8(FP), AX
	MOVQ panel+16(FP), SI
	MOVQ codes+24(FP), R8
	MOVQ scales+32(FP), R10
	MOVQ xStride+40(FP), DX
	ENTER_TILE_4
	MOVQ blocks+48(FP), CX

block:
	SMALL_COLUMNS(FIRST_SMALL, 0)
	SMALL_COLUMNS(ADD_SMALL, 1)
	SMALL_COLUMNS(ADD_SMALL, 2)
	SMALL_COLUMNS(ADD_SMALL, 3)
	WIDEN(Y4, Y5, Y6, Y7)
	SCALE_BY(256)
	SMALL_COLUMNS(FIRST_SMALL, 4)
	SMALL_COLUMNS(ADD_SMALL, 5)
	SMALL_COLUMNS(ADD_SMALL, 6)
	SMALL_COLUMNS(ADD_SMALL, 7)
	WIDEN(Y4, Y5, Y6, Y7)
	SCALE_BY(288)
	ADDQ $320, SI
	ADDQ $32, R8
	ADDQ $4, R10
	DECQ CX
	JNZ  block

	STORE
	VZEROUPPER
	RET

// ---- One token

#define LOAD_UNSIGNED(k) \
	VMOVDQU      (32*k)(SI), Y8 \
	VPBROADCASTD (4*k)(R8), Y10

#define LOAD_SIGNED(k) \
	VMOVDQU      (32*k)(SI), Y9 \
	VPBROADCASTD (4*k)(R8), Y10 \
	VPSIGNB      Y9, Y10, Y10   \
	VPABSB       Y9, Y8

// Pairs of columns k and k+1, begun and added to.
#define FIRST_TWO(LOAD_COLUMN, k) \
	LOAD_COLUMN(k)         \
	VPMADDUBSW Y10, Y8, Y4 \
	LOAD_COLUMN((k+1))     \
	VPMADDUBSW Y10, Y8, Y5

#define ADD_TWO(LOAD_COLUMN, k) \
	LOAD_COLUMN(k)          \
	VPMADDUBSW Y10, Y8, Y10 \
	VPADDW     Y10, Y4, Y4  \
	LOAD_COLUMN((k+1))      \
	VPMADDUBSW Y10, Y8, Y10 \
	VPADDW     Y10, Y5, Y5

// Y4 = the dot of the pairs in Y4 and Y5, which fit one sum or do not.
#define WIDEN_SUM \
	VPADDW   Y5, Y4, Y4  \
	VPMADDWD Y15, Y4, Y4

#define SUM_WIDENED \
	VPMADDWD Y15, Y4, Y4 \
	VPMADDWD Y15, Y5, Y5 \
	VPADDD   Y5, Y4, Y4

#define FIRST_TWO_WIDE(k) \
	LOAD_SIGNED(k)          \
	VPMADDUBSW Y10, Y8, Y4  \
	VPMADDWD   Y15, Y4, Y4  \
	LOAD_SIGNED((k+1))      \
	VPMADDUBSW Y10, Y8, Y5  \
	VPMADDWD   Y15, Y5, Y5

#define ADD_TWO_WIDE(k) \
	LOAD_SIGNED(k)          \
	VPMADDUBSW Y10, Y8, Y10 \
	VPMADDWD   Y15, Y10, Y10 \
	VPADDD     Y10, Y4, Y4  \
	LOAD_SIGNED((k+1))      \
	VPMADDUBSW Y10, Y8, Y10 \
	VPMADDWD   Y15, Y10, Y10 \
	VPADDD     Y10, Y5, Y5

// Y0 += d·(float(Y4)·s)
#define SCALE_1(at) \
	VCVTDQ2PS    Y4, Y4        \
	VBROADCASTSS (R10), Y10    \
	VMULPS       Y10, Y4, Y4   \
	VMOVUPS      at(SI), Y11   \
	VFMADD231PS  Y4, Y11, Y0

// Y0 += m·sum
#define ADD_MINIMUM_1 \
	VMOVUPS      288(SI), Y12  \
	VBROADCASTSS (R12), Y10    \
	VFMADD231PS  Y10, Y12, Y0

#define ENTER_TILE_1 \
	VPBROADCASTQ words1<>(SB), Y15 \
	VMOVUPS      (DI), Y0

#define NEXT_RECORD \
	ADDQ $320, SI \
	ADDQ $32, R8  \
	ADDQ $4, R10  \
	DECQ CX

#define LEAVE_TILE_1 \
	VMOVUPS Y0, (DI) \
	VZEROUPPER       \
	RET

// func tile1NibblesAVX2(y *float32, panel, codes, scales, sums *byte, blocks int)
TEXT ·tile1NibblesAVX2(SB), NOSPLIT, $0-48
	MOVQ y+0(FP), DI
	MOVQ panel+8(FP), SI
	MOVQ codes+16(FP), R8
	MOVQ scales+24(FP), R10
	MOVQ sums+32(FP), R12
	MOVQ blocks+40(FP), CX
	ENTER_TILE_1

block:
	FIRST_TWO(LOAD_UNSIGNED, 0)
	ADD_TWO(LOAD_UNSIGNED, 2)
	ADD_TWO(LOAD_UNSIGNED, 4)
	ADD_TWO(LOAD_UNSIGNED, 6)
	WIDEN_SUM
	SCALE_1(256)
	ADD_MINIMUM_1
	ADDQ $4, R12
	NEXT_RECORD
	JNZ  block
	LEAVE_TILE_1

// func tile1FiveBitsAVX2(y *float32, panel, codes, scales, sums *byte, blocks int)
TEXT ·tile1FiveBitsAVX2(SB), NOSPLIT, $0-48
	MOVQ y+0(FP), DI
	MOVQ panel+8(FP), SI
	MOVQ codes+16(FP), R8
	MOVQ scales+24(FP), R10
	MOVQ sums+32(FP), R12
	MOVQ blocks+40(FP), CX
	ENTER_TILE_1

block:
	FIRST_TWO(LOAD_UNSIGNED, 0)
	ADD_TWO(LOAD_UNSIGNED, 2)
	ADD_TWO(LOAD_UNSIGNED, 4)
	ADD_TWO(LOAD_UNSIGNED, 6)
	SUM_WIDENED
	SCALE_1(256)
	ADD_MINIMUM_1
	ADDQ $4, R12
	NEXT_RECORD
	JNZ  block
	LEAVE_TILE_1

// func tile1SmallAVX2(y *float32, panel, codes, scales *byte, blocks int)
TEXT ·tile1SmallAVX2(SB), NOSPLIT, $0-40
	MOVQ y+0(FP), DI
	MOVQ panel+8(FP), SI
	MOVQ codes+16(FP), R8
	MOVQ scales+24(FP), R10
	MOVQ blocks+32(FP), CX
	ENTER_TILE_1

block:
	FIRST_TWO(LOAD_SIGNED, 0)
	ADD_TWO(LOAD_SIGNED, 2)
	ADD_TWO(LOAD_SIGNED, 4)
	ADD_TWO(LOAD_SIGNED, 6)
	WIDEN_SUM
	SCALE_1(256)
	NEXT_RECORD
	JNZ block
	LEAVE_TILE_1

// func tile1SignedAVX2(y *float32, panel, codes, scales *byte, blocks int)
TEXT ·tile1SignedAVX2(SB), NOSPLIT, $0-40
	MOVQ y+0(FP), DI
	MOVQ panel+8(FP), SI
	MOVQ codes+16(FP), R8
	MOVQ scales+24(FP), R10
	MOVQ blocks+32(FP), CX
	ENTER_TILE_1

block:
	FIRST_TWO_WIDE(0)
	ADD_TWO_WIDE(2)
	ADD_TWO_WIDE(4)
	ADD_TWO_WIDE(6)
	VPADDD Y5, Y4, Y4
	SCALE_1(256)
	NEXT_RECORD
	JNZ    block
	LEAVE_TILE_1

// func tile1HalvesAVX2(y *float32, panel, codes, scales *byte, blocks int)
TEXT ·tile1HalvesAVX2(SB), NOSPLIT, $0-40
	MOVQ y+0(FP), DI
	MOVQ panel+8(FP), SI
	MOVQ codes+16(FP), R8
	MOVQ scales+24(FP), R10
	MOVQ blocks+32(FP), CX
	ENTER_TILE_1

block:
	FIRST_TWO(LOAD_SIGNED, 0)
	ADD_TWO(LOAD_SIGNED, 2)
	WIDEN_SUM
	SCALE_1(256)
	FIRST_TWO(LOAD_SIGNED, 4)
	ADD_TWO(LOAD_SIGNED, 6)
	WIDEN_SUM
	SCALE_1(288)
	NEXT_RECORD
	JNZ block
	LEAVE_TILE_1
