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
// tokens. While a group is computed, what lies 4 KiB behind it is prefetched in
// address order into the second-level cache: eight interleaved streams defeat
// the hardware's prefetcher (7 GB/s), a prefetch into the first level holds up
// the loads (14), this one reaches 18 of 20 GB/s on the Zen 4 it was tried on.
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

DATA bytes0x0f<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL bytes0x0f<>(SB), RODATA|NOPTR, $8
DATA bytes0x08<>+0(SB)/8, $0x0808080808080808
GLOBL bytes0x08<>(SB), RODATA|NOPTR, $8
DATA words1<>+0(SB)/8, $0x0001000100010001
GLOBL words1<>(SB), RODATA|NOPTR, $8

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
	LEAQ (DX)(DX*2), R9     \
	LEAQ (R10)(BX*1), R11   \ // scales lie behind the codes
	SHRQ $5, BX             \
	LEAQ (R11)(BX*4), R12     // sums behind the scales

// The eight rows of the group lie between SI and the next group's start, which
// is 4 KiB before AX.
#define ENTER_GROUP \
	LEAQ   (SI)(DX*4), R8 \
	LEAQ   4096(SI)(DX*8), AX \
	XORQ   CX, CX         \
	VXORPS Y15, Y15, Y15

// One step prefetches as many bytes as the eight blocks have. The gap to the
// next step's first line must not exceed 64 either.
#define PREFETCH(bytes) \
	PREFETCHT1 (AX)          \
	PREFETCHT1 64(AX)        \
	PREFETCHT1 (bytes-64)(AX)

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

// ---- Nibbles: two rows in a vector, sixteen bytes each

// v = pair sums of rows r | r+4, int16: low nibbles times Y11 and high nibbles
// times Y12. The pairs stay below 2·2·15·127.
#define TWO_ROWS(low, high, x, v) \
	VMOVDQU     low, x            \
	VINSERTI128 $1, high, v, v    \
	VPSRLQ      $4, v, Y8         \
	VPAND       Y14, v, v         \
	VPAND       Y14, Y8, Y8       \
	VPMADDUBSW  Y11, v, v         \
	VPMADDUBSW  Y12, Y8, Y8       \
	VPADDW      Y8, v, v

#define EIGHT_ROWS_OF_NIBBLES(at) \
	VBROADCASTI128 (R10), Y11                      \
	VBROADCASTI128 16(R10), Y12                    \
	TWO_ROWS(at(SI), at(R8), X0, Y0)               \
	TWO_ROWS(at(SI)(DX*1), at(R8)(DX*1), X1, Y1)   \
	TWO_ROWS(at(SI)(DX*2), at(R8)(DX*2), X2, Y2)   \
	TWO_ROWS(at(SI)(R9*1), at(R8)(R9*1), X3, Y3)

// Y0[r] = Σ int16 lanes of row r; four pairs fit 16 bits: 4·2·2·15·127 < 2^15.
// Y13 = ones.
#define REDUCE_NIBBLES \
	VPHADDW  Y1, Y0, Y0   \
	VPHADDW  Y3, Y2, Y2   \
	VPHADDW  Y2, Y0, Y0   \
	VPMADDWD Y13, Y0, Y0

// func rowsQ4_0AVX2(y *float32, w *byte, rowBytes int, x *byte, cols, groups int)
TEXT ·rowsQ4_0AVX2(SB), NOSPLIT, $0-48
	MOVQ         y+0(FP), DI
	MOVQ         w+8(FP), SI
	MOVQ         rowBytes+16(FP), DX
	MOVQ         x+24(FP), R10
	MOVQ         cols+32(FP), BX
	MOVQ         groups+40(FP), R13
	VPBROADCASTQ bytes0x08<>(SB), Y10
	VPBROADCASTQ words1<>(SB), Y13
	VPBROADCASTQ bytes0x0f<>(SB), Y14
	ENTER

group:
	MOVQ x+24(FP), R10
	ENTER_GROUP

block:
	PREFETCH(144)
	EIGHT_ROWS_OF_NIBBLES(2)
	VPMADDUBSW Y11, Y10, Y8   // the nibbles are 8 too large: 8·a, pair by pair
	VPMADDUBSW Y12, Y10, Y9
	VPADDW     Y9, Y8, Y8
	VPSUBW     Y8, Y0, Y0
	VPSUBW     Y8, Y1, Y1
	VPSUBW     Y8, Y2, Y2
	VPSUBW     Y8, Y3, Y3
	REDUCE_NIBBLES
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
	VPBROADCASTQ words1<>(SB), Y13
	VPBROADCASTQ bytes0x0f<>(SB), Y14
	ENTER

group:
	MOVQ x+24(FP), R10
	ENTER_GROUP

block:
	PREFETCH(160)
	EIGHT_ROWS_OF_NIBBLES(4)
	REDUCE_NIBBLES
	SCALES_MINIMA(Y10)
	SCALE_AND_ADD
	ADD_MINIMA
	NEXT_BLOCK(20)
	CMPQ CX, BX
	JLT  block
	NEXT_GROUP
	JNZ  group
	VZEROUPPER
	RET

// ---- Q8_0: a row in a vector, 32 int8

// |q| times the activation with q's sign, so that one factor is unsigned as
// VPMADDUBSW wants it. Activations are never −128.
#define ONE_ROW(block, v) \
	VMOVDQU    block, v    \
	VPSIGNB    v, Y11, Y8  \
	VPABSB     v, v        \
	VPMADDUBSW Y8, v, v    \ // ≤ 2·128·127
	VPMADDWD   Y13, v, v

#define EIGHT_ROWS_OF_BYTES(at) \
	VMOVDQU (R10), Y11        \
	ONE_ROW(at(SI), Y0)       \
	ONE_ROW(at(SI)(DX*1), Y1) \
	ONE_ROW(at(SI)(DX*2), Y2) \
	ONE_ROW(at(SI)(R9*1), Y3) \
	ONE_ROW(at(R8), Y4)       \
	ONE_ROW(at(R8)(DX*1), Y5) \
	ONE_ROW(at(R8)(DX*2), Y6) \
	ONE_ROW(at(R8)(R9*1), Y7)

// Y0[r] = Σ lanes of Y<r>.
#define REDUCE_BYTES \
	VPHADDD    Y1, Y0, Y0        \
	VPHADDD    Y3, Y2, Y2        \
	VPHADDD    Y5, Y4, Y4        \
	VPHADDD    Y7, Y6, Y6        \
	VPHADDD    Y2, Y0, Y0        \ // rows 0..3: lower halves | upper halves
	VPHADDD    Y6, Y4, Y4        \ // rows 4..7 likewise
	VPERM2I128 $0x21, Y4, Y0, Y1 \
	VPBLENDD   $0xf0, Y4, Y0, Y0 \
	VPADDD     Y1, Y0, Y0

// func rowsQ8_0AVX2(y *float32, w *byte, rowBytes int, x *byte, cols, groups int)
TEXT ·rowsQ8_0AVX2(SB), NOSPLIT, $0-48
	MOVQ         y+0(FP), DI
	MOVQ         w+8(FP), SI
	MOVQ         rowBytes+16(FP), DX
	MOVQ         x+24(FP), R10
	MOVQ         cols+32(FP), BX
	MOVQ         groups+40(FP), R13
	VPBROADCASTQ words1<>(SB), Y13
	ENTER

group:
	MOVQ x+24(FP), R10
	ENTER_GROUP

block:
	PREFETCH(272)
	PREFETCHT1 128(AX)
	PREFETCHT1 192(AX)
	EIGHT_ROWS_OF_BYTES(2)
	REDUCE_BYTES
	SCALES(0)
	SCALE_AND_ADD
	NEXT_BLOCK(34)
	CMPQ CX, BX
	JLT  block
	NEXT_GROUP
	JNZ  group
	VZEROUPPER
	RET
