//go:build !noasm

#include "textflag.h"
#include "block_amd64.h"
#include "pack_amd64.h"

// Panels of the formats of kernels/codeblock.go, whose layouts stand there. A
// record has 32 columns of eight rows as in pack_amd64.s; a block of 256 values
// fills eight records. Where a format's scales serve 16 values, vectors 8 and 9
// have those of the first and of the last 16 columns.
//
// While a block is unpacked, as many bytes are prefetched `ahead` of it, in address
// order (see rows_amd64.s for why).
//
// Registers: as in pack_amd64.h, and DI record, R12 = bytes of a record, AX a second
// record, BX counts or points, CX blocks left, R13 prefetch.

#define CONSTANT(name, v) \
DATA name<>+0(SB)/8, v      \
DATA name<>+8(SB)/8, v      \
DATA name<>+16(SB)/8, v     \
DATA name<>+24(SB)/8, v     \
GLOBL name<>(SB), RODATA|NOPTR, $32

DATA halvesApart<>+0(SB)/8, $0x0d0c090805040100
DATA halvesApart<>+8(SB)/8, $0x0f0e0b0a07060302
DATA halvesApart<>+16(SB)/8, $0x0d0c090805040100
DATA halvesApart<>+24(SB)/8, $0x0f0e0b0a07060302
GLOBL halvesApart<>(SB), RODATA|NOPTR, $32

CONSTANT(bytes0x01, $0x0101010101010101)
CONSTANT(bytes0x03, $0x0303030303030303)
CONSTANT(bytes0x04, $0x0404040404040404)
CONSTANT(bytes0x0f, $0x0f0f0f0f0f0f0f0f)
CONSTANT(bytes0x10, $0x1010101010101010)
CONSTANT(bytes0x20, $0x2020202020202020)
CONSTANT(bytes0x30, $0x3030303030303030)
CONSTANT(bytes0x3f, $0x3f3f3f3f3f3f3f3f)
CONSTANT(bits0to3, $0x0804020108040201)
CONSTANT(bits4to7, $0x8040201080402010)
CONSTANT(dwords0xff, $0x000000ff000000ff)
CONSTANT(dwords0x0f, $0x0000000f0000000f)
CONSTANT(dwords0x30, $0x0000003000000030)
CONSTANT(dwords32, $0x0000002000000020)
CONSTANT(dwordSigns, $0x8000000080000000)

// The lowest byte of each dword in all four bytes of it.
DATA lowByte<>+0(SB)/8, $0x0404040400000000
DATA lowByte<>+8(SB)/8, $0x0c0c0c0c08080808
DATA lowByte<>+16(SB)/8, $0x0404040400000000
DATA lowByte<>+24(SB)/8, $0x0c0c0c0c08080808
GLOBL lowByte<>(SB), RODATA|NOPTR, $32

// The levels of IQ4_NL and IQ4_XS.
DATA iq4Levels<>+0(SB)/8, $0xf6eaddcfbfad9881
DATA iq4Levels<>+8(SB)/8, $0x7159453526190d01
GLOBL iq4Levels<>(SB), RODATA|NOPTR, $16

#define ENTER_BLOCKS \
	ENTER                  \
	LEAQ (SI)(R13*1), R13  \
	LEAQ (R10)(R10*4), R12 \
	ADDQ R12, R12

// Lines of 64 bytes are asked for as they come.
#define PREFETCH_2 \
	PREFETCHT1 (R13)   \
	PREFETCHT1 64(R13) \
	ADDQ       $128, R13

#define PREFETCH_4 \
	PREFETCH_2 \
	PREFETCH_2

// After a block of `bytes` the rows go on, and so does the record.
#define NEXT_ROWS(bytes) \
	ADDQ $bytes, SI \
	ADDQ $bytes, R8

// Vector x, whole y: [r] = the dword at byte `at` of row r's block. `high` is lost.
#define GATHER_DWORDS(at, x, y, high) \
	VMOVD       at(SI), x                      \
	VPINSRD     $1, at(SI)(DX*1), x, x         \
	VPINSRD     $2, at(SI)(DX*2), x, x         \
	VPINSRD     $3, at(SI)(R9*1), x, x         \
	VMOVD       at(R8), high                   \
	VPINSRD     $1, at(R8)(DX*1), high, high   \
	VPINSRD     $2, at(R8)(DX*2), high, high   \
	VPINSRD     $3, at(R8)(R9*1), high, high   \
	VINSERTI128 $1, high, y, y

// ---- Q5_0, Q5_1

// Adds the fifth bits of columns 8j..8j+7 to vectors `even` and `odd` and takes
// the bias off. They are the lowest byte of the dwords in Y8, which move on.
#define FIFTH_BITS(even, odd) \
	VPSHUFB  lowByte<>(SB), Y8, Y9  \
	VPSRLD   $8, Y8, Y8             \
	VPAND    Y10, Y9, Y13           \
	VPCMPEQB Y10, Y13, Y13          \
	VPAND    Y15, Y13, Y13          \
	VPOR     Y13, even, even        \
	VPSUBB   Y12, even, even        \
	VPAND    Y11, Y9, Y13           \
	VPCMPEQB Y11, Y13, Y13          \
	VPAND    Y15, Y13, Y13          \
	VPOR     Y13, odd, odd          \
	VPSUBB   Y12, odd, odd

// The codes of a block whose fifth bits are at `high` and nibbles at `low`.
#define UNPACK_FIVE_BITS(high, low) \
	GATHER_DWORDS(high, X8, Y8, X9) \
	TURN_16_BYTES(low)        \
	VPSRLQ  $4, Y0, Y4        \
	VPSRLQ  $4, Y1, Y5        \
	VPSRLQ  $4, Y2, Y6        \
	VPSRLQ  $4, Y3, Y7        \
	VPAND   Y14, Y0, Y0       \
	VPAND   Y14, Y1, Y1       \
	VPAND   Y14, Y2, Y2       \
	VPAND   Y14, Y3, Y3       \
	VPAND   Y14, Y4, Y4       \
	VPAND   Y14, Y5, Y5       \
	VPAND   Y14, Y6, Y6       \
	VPAND   Y14, Y7, Y7       \
	FIFTH_BITS(Y0, Y1)        \
	FIFTH_BITS(Y2, Y3)        \
	STORE_4(DI)               \
	FIFTH_BITS(Y4, Y5)        \
	FIFTH_BITS(Y6, Y7)        \
	VMOVDQU Y4, (AX)          \
	VMOVDQU Y5, (AX)(R10*1)   \
	VMOVDQU Y6, (AX)(R10*2)   \
	VMOVDQU Y7, (AX)(R11*1)

#define FIVE_BIT_CONSTANTS \
	VMOVDQU bits0to3<>(SB), Y10  \
	VMOVDQU bits4to7<>(SB), Y11  \
	VMOVDQU bytes0x0f<>(SB), Y14 \
	VMOVDQU bytes0x10<>(SB), Y15

// Codes are q − bias.
//
// func packQ5_0(panel *byte, vector int, w *byte, rowBytes, blocks, ahead, bias int)
TEXT ·packQ5_0(SB), NOSPLIT, $0-56
	MOVQ         panel+0(FP), DI
	MOVQ         vector+8(FP), R10
	MOVQ         w+16(FP), SI
	MOVQ         rowBytes+24(FP), DX
	MOVQ         blocks+32(FP), CX
	MOVQ         ahead+40(FP), R13
	MOVQ         bias+48(FP), AX
	VMOVQ        AX, X12
	VPBROADCASTB X12, Y12
	ENTER_BLOCKS
	FIVE_BIT_CONSTANTS

block:
	LEAQ       (DI)(R10*4), AX
	PREFETCH_2
	UNPACK_FIVE_BITS(2, 6)
	SCALES(0)
	VMOVUPS    Y8, (AX)(R10*4)
	PREFETCHT1 (R13)
	ADDQ       $48, R13             // 8·22 bytes in all
	NEXT_ROWS(22)
	ADDQ       R12, DI
	DECQ       CX
	JNZ        block
	VZEROUPPER
	RET

// func packQ5_1(panel *byte, vector int, w *byte, rowBytes, blocks, ahead int)
TEXT ·packQ5_1(SB), NOSPLIT, $0-48
	MOVQ  panel+0(FP), DI
	MOVQ  vector+8(FP), R10
	MOVQ  w+16(FP), SI
	MOVQ  rowBytes+24(FP), DX
	MOVQ  blocks+32(FP), CX
	MOVQ  ahead+40(FP), R13
	VPXOR Y12, Y12, Y12
	ENTER_BLOCKS
	FIVE_BIT_CONSTANTS

block:
	LEAQ       (DI)(R10*4), AX
	PREFETCH_2
	UNPACK_FIVE_BITS(4, 8)
	VMOVDQU    halvesApart<>(SB), Y13
	SCALES_MINIMA(Y13)
	LEAQ       (AX)(R10*4), BX
	VMOVUPS    Y8, (BX)
	VMOVUPS    Y9, (BX)(R10*1)
	PREFETCHT1 (R13)
	ADDQ       $64, R13
	NEXT_ROWS(24)
	ADDQ       R12, DI
	DECQ       CX
	JNZ        block
	VZEROUPPER
	RET

// ---- IQ4_NL, IQ4_XS

// The sixteen bytes at `at`: low nibbles' levels, Y13, to vectors 0..3 of the
// record, high ones' to 4..7 from AX.
#define UNPACK_LEVELS(at) \
	TURN_16_BYTES(at)        \
	VPSRLQ  $4, Y0, Y4       \
	VPSRLQ  $4, Y1, Y5       \
	VPSRLQ  $4, Y2, Y6       \
	VPSRLQ  $4, Y3, Y7       \
	VPAND   Y14, Y0, Y0      \
	VPAND   Y14, Y1, Y1      \
	VPAND   Y14, Y2, Y2      \
	VPAND   Y14, Y3, Y3      \
	VPSHUFB Y0, Y13, Y0      \
	VPSHUFB Y1, Y13, Y1      \
	VPSHUFB Y2, Y13, Y2      \
	VPSHUFB Y3, Y13, Y3      \
	STORE_4(DI)              \
	VPAND   Y14, Y4, Y0      \
	VPAND   Y14, Y5, Y1      \
	VPAND   Y14, Y6, Y2      \
	VPAND   Y14, Y7, Y3      \
	VPSHUFB Y0, Y13, Y0      \
	VPSHUFB Y1, Y13, Y1      \
	VPSHUFB Y2, Y13, Y2      \
	VPSHUFB Y3, Y13, Y3      \
	STORE_4(AX)

// Y13 = levels ^ flip, Y14 = 0x0f bytes.
#define LEVEL_CONSTANTS \
	VMOVQ          AX, X0                \
	VPBROADCASTB   X0, Y0                \
	VBROADCASTI128 iq4Levels<>(SB), Y13  \
	VPXOR          Y0, Y13, Y13          \
	VMOVDQU        bytes0x0f<>(SB), Y14

// func packIQ4_NL(panel *byte, vector int, w *byte, rowBytes, blocks, ahead, flip int)
TEXT ·packIQ4_NL(SB), NOSPLIT, $0-56
	MOVQ panel+0(FP), DI
	MOVQ vector+8(FP), R10
	MOVQ w+16(FP), SI
	MOVQ rowBytes+24(FP), DX
	MOVQ blocks+32(FP), CX
	MOVQ ahead+40(FP), R13
	MOVQ flip+48(FP), AX
	LEVEL_CONSTANTS
	ENTER_BLOCKS

block:
	LEAQ       (DI)(R10*4), AX
	PREFETCH_2
	UNPACK_LEVELS(2)
	SCALES(0)
	VMOVUPS    Y8, (AX)(R10*4)
	PREFETCHT1 (R13)
	ADDQ       $16, R13             // 8·18 bytes in all
	NEXT_ROWS(18)
	ADDQ       R12, DI
	DECQ       CX
	JNZ        block
	VZEROUPPER
	RET

// The scale of group g: Y8·(four bits of Y11 | two bits of Y10 − 32).
#define GROUP_SCALE(lowShift, highShift) \
	VPSRLD    $lowShift, Y11, Y0        \
	VPAND     dwords0x0f<>(SB), Y0, Y0  \
	VPSRLD    $highShift, Y10, Y1       \
	VPAND     dwords0x30<>(SB), Y1, Y1  \
	VPOR      Y1, Y0, Y0                \
	VPSUBD    dwords32<>(SB), Y0, Y0    \
	VCVTDQ2PS Y0, Y0                    \
	VMULPS    Y8, Y0, Y0                \
	VMOVUPS   Y0, (BX)                  \
	ADDQ      R12, BX

// func packIQ4_XS(panel *byte, vector int, w *byte, rowBytes, blocks, ahead, flip int)
TEXT ·packIQ4_XS(SB), NOSPLIT, $0-56
	MOVQ panel+0(FP), DI
	MOVQ vector+8(FP), R10
	MOVQ w+16(FP), SI
	MOVQ rowBytes+24(FP), DX
	MOVQ blocks+32(FP), CX
	MOVQ ahead+40(FP), R13
	MOVQ flip+48(FP), AX
	LEVEL_CONSTANTS
	ENTER_BLOCKS

block:
	GATHER_DWORDS(0, X10, Y10, X0)  // d in the low halves, then high bits
	GATHER_DWORDS(4, X11, Y11, X0)  // eight nibbles
	SCALES(0)
	LEAQ       (DI)(R10*8), BX
	GROUP_SCALE(0, 12)
	GROUP_SCALE(4, 14)
	GROUP_SCALE(8, 16)
	GROUP_SCALE(12, 18)
	GROUP_SCALE(16, 20)
	GROUP_SCALE(20, 22)
	GROUP_SCALE(24, 24)
	GROUP_SCALE(28, 26)
	PREFETCHT1 (R13)
	ADDQ       $64, R13
	NEXT_ROWS(8)
	MOVQ       $8, BX

group:
	LEAQ (DI)(R10*4), AX
	PREFETCH_2
	UNPACK_LEVELS(0)
	NEXT_ROWS(16)
	ADDQ R12, DI
	DECQ BX
	JNZ  group

	DECQ CX
	JNZ  block
	VZEROUPPER
	RET

// ---- Q4_K, Q5_K

// One term of all rows: byte shift/8 of the dwords times `by`, stored at `to`.
#define TERM(shift, bytes, by, to) \
	VPSRLD    $shift, bytes, Y0         \
	VPAND     dwords0xff<>(SB), Y0, Y0  \
	VCVTDQ2PS Y0, Y0                    \
	VMULPS    by, Y0, Y0                \
	VMOVUPS   Y0, to

#define SCALE_AND_MINIMUM(shift, scales, minima) \
	TERM(shift, scales, Y8, (BX))        \
	TERM(shift, minima, Y9, (BX)(R10*1)) \
	ADDQ R12, BX

// Scales and minima of the eight records, from the sixteen bytes that a block
// begins with: d and dmin, then dwords of four bytes a row as in scaleMin of
// kernels/codeblock.go.
#define SCALES_AND_MINIMA \
	TURN_16_BYTES(0)                      \
	VPSHUFB      halvesApart<>(SB), Y0, Y0 \
	VPERMQ       $0xd8, Y0, Y0            \
	VEXTRACTI128 $1, Y0, X9               \
	VCVTPH2PS    X0, Y8                   \
	VCVTPH2PS    X9, Y9                   \
	VXORPS       dwordSigns<>(SB), Y9, Y9 \
	VPAND        bytes0x3f<>(SB), Y1, Y4  \ // scales of groups 0 to 3
	VPAND        bytes0x3f<>(SB), Y2, Y5  \ // minima
	VPSRLQ       $2, Y1, Y1               \
	VPSRLQ       $2, Y2, Y2               \
	VPAND        bytes0x30<>(SB), Y1, Y1  \
	VPAND        bytes0x30<>(SB), Y2, Y2  \
	VPSRLQ       $4, Y3, Y7               \
	VPAND        Y14, Y3, Y6              \
	VPAND        Y14, Y7, Y7              \
	VPOR         Y1, Y6, Y6               \ // scales of groups 4 to 7
	VPOR         Y2, Y7, Y7               \ // minima
	LEAQ         (DI)(R10*8), BX          \
	SCALE_AND_MINIMUM(0, Y4, Y5)          \
	SCALE_AND_MINIMUM(8, Y4, Y5)          \
	SCALE_AND_MINIMUM(16, Y4, Y5)         \
	SCALE_AND_MINIMUM(24, Y4, Y5)         \
	SCALE_AND_MINIMUM(0, Y6, Y7)          \
	SCALE_AND_MINIMUM(8, Y6, Y7)          \
	SCALE_AND_MINIMUM(16, Y6, Y7)         \
	SCALE_AND_MINIMUM(24, Y6, Y7)

// From the second half of two records to the next two.
#define NEXT_PAIR \
	LEAQ (AX)(R10*4), DI \
	LEAQ (DI)(R10*2), DI

// func packQ4_K(panel *byte, vector int, w *byte, rowBytes, blocks, ahead int)
TEXT ·packQ4_K(SB), NOSPLIT, $0-48
	MOVQ    panel+0(FP), DI
	MOVQ    vector+8(FP), R10
	MOVQ    w+16(FP), SI
	MOVQ    rowBytes+24(FP), DX
	MOVQ    blocks+32(FP), CX
	MOVQ    ahead+40(FP), R13
	VMOVDQU bytes0x0f<>(SB), Y14
	ENTER_BLOCKS

block:
	SCALES_AND_MINIMA
	PREFETCH_2
	NEXT_ROWS(16)
	MOVQ $4, BX

pair:
	LEAQ (DI)(R12*1), AX
	UNPACK_NIBBLES(0)
	PREFETCH_2
	LEAQ (DI)(R10*4), DI
	LEAQ (AX)(R10*4), AX
	UNPACK_NIBBLES(16)
	PREFETCH_2
	NEXT_ROWS(32)
	NEXT_PAIR
	DECQ BX
	JNZ  pair

	DECQ CX
	JNZ  block
	VZEROUPPER
	RET

// Vector `codes` of two records: nibbles and their fifth bits, which are the two
// lowest of the bytes in `bits`; those move on.
#define FIFTH_OF_PAIR(codes, bits, low, high) \
	VMOVDQU bits, Y8            \
	VPAND   Y14, codes, Y10     \
	VPSLLQ  $4, Y8, Y9          \
	VPAND   Y15, Y9, Y9         \
	VPOR    Y9, Y10, Y10        \
	VMOVDQU Y10, low            \
	VPSRLQ  $4, codes, Y10      \
	VPAND   Y14, Y10, Y10       \
	VPSLLQ  $3, Y8, Y9          \
	VPAND   Y15, Y9, Y9         \
	VPOR    Y9, Y10, Y10        \
	VMOVDQU Y10, high           \
	VPSRLQ  $2, Y8, Y8          \
	VMOVDQU Y8, bits

// func packQ5_K(panel *byte, vector int, w *byte, rowBytes, blocks, ahead int)
TEXT ·packQ5_K(SB), NOSPLIT, $256-48
	MOVQ    panel+0(FP), DI
	MOVQ    vector+8(FP), R10
	MOVQ    w+16(FP), SI
	MOVQ    rowBytes+24(FP), DX
	MOVQ    blocks+32(FP), CX
	MOVQ    ahead+40(FP), R13
	VMOVDQU bytes0x0f<>(SB), Y14
	VMOVDQU bytes0x10<>(SB), Y15
	ENTER_BLOCKS

block:
	SCALES_AND_MINIMA
	PREFETCH_2
	TURN_16_BYTES(16)
	VMOVDQU Y0, bits-256(SP)
	VMOVDQU Y1, bits-224(SP)
	VMOVDQU Y2, bits-192(SP)
	VMOVDQU Y3, bits-160(SP)
	TURN_16_BYTES(32)
	VMOVDQU Y0, bits-128(SP)
	VMOVDQU Y1, bits-96(SP)
	VMOVDQU Y2, bits-64(SP)
	VMOVDQU Y3, bits-32(SP)
	PREFETCH_4
	NEXT_ROWS(48)
	MOVQ    $4, BX

pair:
	LEAQ (DI)(R12*1), AX
	TURN_16_BYTES(0)
	FIFTH_OF_PAIR(Y0, bits-256(SP), (DI), (AX))
	FIFTH_OF_PAIR(Y1, bits-224(SP), (DI)(R10*1), (AX)(R10*1))
	FIFTH_OF_PAIR(Y2, bits-192(SP), (DI)(R10*2), (AX)(R10*2))
	FIFTH_OF_PAIR(Y3, bits-160(SP), (DI)(R11*1), (AX)(R11*1))
	PREFETCH_2
	LEAQ (DI)(R10*4), DI
	LEAQ (AX)(R10*4), AX
	TURN_16_BYTES(16)
	FIFTH_OF_PAIR(Y0, bits-128(SP), (DI), (AX))
	FIFTH_OF_PAIR(Y1, bits-96(SP), (DI)(R10*1), (AX)(R10*1))
	FIFTH_OF_PAIR(Y2, bits-64(SP), (DI)(R10*2), (AX)(R10*2))
	FIFTH_OF_PAIR(Y3, bits-32(SP), (DI)(R11*1), (AX)(R11*1))
	PREFETCH_2
	NEXT_ROWS(32)
	NEXT_PAIR
	DECQ BX
	JNZ  pair

	DECQ CX
	JNZ  block
	VZEROUPPER
	RET

// ---- Q3_K, Q6_K

#define UP_4(from, to) VPSLLQ $4, from, to
#define UP_2(from, to) VPSLLQ $2, from, to
#define UP_1(from, to) VPSLLQ $1, from, to
#define UP_0(from, to) VMOVDQU from, to
#define DOWN_1(from, to) VPSRLQ $1, from, to
#define DOWN_2(from, to) VPSRLQ $2, from, to
#define DOWN_3(from, to) VPSRLQ $3, from, to
#define DOWN_4(from, to) VPSRLQ $4, from, to
#define DOWN_5(from, to) VPSRLQ $5, from, to

// The scale of sub-block k: byte shift of the dwords, signed, times Y8.
#define SIGNED_TERM(shift, bytes, to) \
	VPSLLD    $shift, bytes, Y4 \
	VPSRAD    $24, Y4, Y4       \
	VCVTDQ2PS Y4, Y4            \
	VMULPS    Y8, Y4, Y4        \
	VMOVUPS   Y4, to

#define FOUR_SIGNED_TERMS(bytes) \
	SIGNED_TERM(24, bytes, (BX))       \
	SIGNED_TERM(16, bytes, (BX)(R10*1)) \
	ADDQ R12, BX                       \
	SIGNED_TERM(8, bytes, (BX))        \
	SIGNED_TERM(0, bytes, (BX)(R10*1)) \
	ADDQ R12, BX

// codes = nibbles | bits 4 and 5 of `high` − bias.
#define SIX_BITS(nibbles, high, codes) \
	VPAND  Y15, high, Y12      \
	VPAND  Y14, nibbles, codes \
	VPOR   Y12, codes, codes   \
	VPSUBB Y13, codes, codes

// Half of two groups, which are the low and the high nibbles of the sixteen bytes
// at `low`, to records AX and BX. FIRST and SECOND bring their upper bits, in
// Y8..Y11, to bits 4 and 5.
#define TWO_GROUPS(low, FIRST, SECOND) \
	TURN_16_BYTES(low)             \
	FIRST(Y8, Y4)                  \
	SIX_BITS(Y0, Y4, Y4)           \
	FIRST(Y9, Y5)                  \
	SIX_BITS(Y1, Y5, Y5)           \
	FIRST(Y10, Y6)                 \
	SIX_BITS(Y2, Y6, Y6)           \
	FIRST(Y11, Y7)                 \
	SIX_BITS(Y3, Y7, Y7)           \
	VMOVDQU Y4, (AX)               \
	VMOVDQU Y5, (AX)(R10*1)        \
	VMOVDQU Y6, (AX)(R10*2)        \
	VMOVDQU Y7, (AX)(R11*1)        \
	VPSRLQ  $4, Y0, Y0             \
	VPSRLQ  $4, Y1, Y1             \
	VPSRLQ  $4, Y2, Y2             \
	VPSRLQ  $4, Y3, Y3             \
	SECOND(Y8, Y4)                 \
	SIX_BITS(Y0, Y4, Y0)           \
	SECOND(Y9, Y5)                 \
	SIX_BITS(Y1, Y5, Y1)           \
	SECOND(Y10, Y6)                \
	SIX_BITS(Y2, Y6, Y2)           \
	SECOND(Y11, Y7)                \
	SIX_BITS(Y3, Y7, Y3)           \
	STORE_4(BX)

// Sixteen columns of four groups; DI is the first one's record, from its vector 0
// or 4 on.
#define FOUR_GROUPS(low, high) \
	TURN_16_BYTES(high)             \
	VMOVDQU Y0, Y8                  \
	VMOVDQU Y1, Y9                  \
	VMOVDQU Y2, Y10                 \
	VMOVDQU Y3, Y11                 \
	MOVQ    DI, AX                  \
	LEAQ    (DI)(R12*2), BX         \
	TWO_GROUPS(low, UP_4, UP_0)     \
	PREFETCH_2                      \
	LEAQ    (DI)(R12*1), AX         \
	LEAQ    (AX)(R12*2), BX         \
	TWO_GROUPS(low+32, UP_2, DOWN_2) \
	PREFETCH_4

// Codes are q − bias.
//
// func packQ6_K(panel *byte, vector int, w *byte, rowBytes, blocks, ahead, bias int)
TEXT ·packQ6_K(SB), NOSPLIT, $0-56
	MOVQ         panel+0(FP), DI
	MOVQ         vector+8(FP), R10
	MOVQ         w+16(FP), SI
	MOVQ         rowBytes+24(FP), DX
	MOVQ         blocks+32(FP), CX
	MOVQ         ahead+40(FP), R13
	MOVQ         bias+48(FP), AX
	VMOVQ        AX, X13
	VPBROADCASTB X13, Y13
	VMOVDQU      bytes0x0f<>(SB), Y14
	VMOVDQU      bytes0x30<>(SB), Y15
	ENTER_BLOCKS

block:
	TURN_16_BYTES(192)
	SCALES(208)
	LEAQ       (DI)(R10*8), BX
	FOUR_SIGNED_TERMS(Y0)
	FOUR_SIGNED_TERMS(Y1)
	FOUR_SIGNED_TERMS(Y2)
	FOUR_SIGNED_TERMS(Y3)
	PREFETCH_2
	FOUR_GROUPS(0, 128)
	LEAQ       (DI)(R10*4), DI
	FOUR_GROUPS(16, 144)
	SUBQ       R10, DI
	SUBQ       R11, DI
	LEAQ       (DI)(R12*4), DI
	FOUR_GROUPS(64, 160)
	LEAQ       (DI)(R10*4), DI
	FOUR_GROUPS(80, 176)
	SUBQ       R10, DI
	SUBQ       R11, DI
	LEAQ       (DI)(R12*4), DI
	PREFETCHT1 (R13)
	ADDQ       $16, R13              // 8·210 bytes in all
	NEXT_ROWS(210)
	DECQ       CX
	JNZ        block
	VZEROUPPER
	RET

// Four columns of one group: the two lowest bits of `codes`, which move on, and the
// third from `high`, which PLACE brings to bit 2.
#define THREE_BITS(PLACE, high, codes, to) \
	PLACE(high, Y12)              \
	VPAND   Y15, Y12, Y12         \
	VPAND   Y14, codes, Y13       \
	VPOR    Y12, Y13, Y13         \
	VPSUBB  bias-32(SP), Y13, Y13 \
	VMOVDQU Y13, to               \
	VPSRLQ  $2, codes, codes

// Sixteen columns of one group to record DI, which moves on.
#define THREE_BIT_GROUP(PLACE) \
	THREE_BITS(PLACE, Y8, Y0, (DI))          \
	THREE_BITS(PLACE, Y9, Y1, (DI)(R10*1))   \
	THREE_BITS(PLACE, Y10, Y2, (DI)(R10*2))  \
	THREE_BITS(PLACE, Y11, Y3, (DI)(R11*1))  \
	ADDQ R12, DI

// Sixteen columns of all groups.
#define EIGHT_GROUPS(high, first, second) \
	TURN_16_BYTES(high)     \
	VMOVDQU Y0, Y8          \
	VMOVDQU Y1, Y9          \
	VMOVDQU Y2, Y10         \
	VMOVDQU Y3, Y11         \
	TURN_16_BYTES(first)    \
	THREE_BIT_GROUP(UP_2)   \
	THREE_BIT_GROUP(UP_1)   \
	THREE_BIT_GROUP(UP_0)   \
	THREE_BIT_GROUP(DOWN_1) \
	PREFETCH_2              \
	TURN_16_BYTES(second)   \
	THREE_BIT_GROUP(DOWN_2) \
	THREE_BIT_GROUP(DOWN_3) \
	THREE_BIT_GROUP(DOWN_4) \
	THREE_BIT_GROUP(DOWN_5) \
	PREFETCH_2

// Codes are q − bias.
//
// func packQ3_K(panel *byte, vector int, w *byte, rowBytes, blocks, ahead, bias int)
TEXT ·packQ3_K(SB), NOSPLIT, $32-56
	MOVQ         panel+0(FP), DI
	MOVQ         vector+8(FP), R10
	MOVQ         w+16(FP), SI
	MOVQ         rowBytes+24(FP), DX
	MOVQ         blocks+32(FP), CX
	MOVQ         ahead+40(FP), R13
	MOVQ         bias+48(FP), AX
	VMOVQ        AX, X13
	VPBROADCASTB X13, Y13
	VMOVDQU      Y13, bias-32(SP)
	VMOVDQU      bytes0x03<>(SB), Y14
	VMOVDQU      bytes0x04<>(SB), Y15
	ENTER_BLOCKS

block:
	TURN_16_BYTES(92)                      // four bytes of codes, then the scales
	VPSLLQ     $4, Y3, Y4
	VPSLLQ     $2, Y3, Y5
	VPSRLQ     $2, Y3, Y6
	VPSRLQ     $4, Y1, Y7
	VPSRLQ     $4, Y2, Y8
	VPAND      bytes0x30<>(SB), Y4, Y4
	VPAND      bytes0x30<>(SB), Y5, Y5
	VPAND      bytes0x30<>(SB), Y6, Y6
	VPAND      bytes0x30<>(SB), Y3, Y3
	VPAND      bytes0x0f<>(SB), Y1, Y1
	VPAND      bytes0x0f<>(SB), Y2, Y2
	VPAND      bytes0x0f<>(SB), Y7, Y7
	VPAND      bytes0x0f<>(SB), Y8, Y8
	VPOR       Y4, Y1, Y1                  // sub-blocks 0 to 3
	VPOR       Y5, Y2, Y2                  // 4 to 7
	VPOR       Y3, Y7, Y7                  // 8 to 11
	VPOR       Y6, Y8, Y3                  // 12 to 15
	VPSUBB     bytes0x20<>(SB), Y1, Y1
	VPSUBB     bytes0x20<>(SB), Y2, Y2
	VPSUBB     bytes0x20<>(SB), Y7, Y7
	VPSUBB     bytes0x20<>(SB), Y3, Y3
	SCALES(108)
	LEAQ       (DI)(R10*8), BX
	FOUR_SIGNED_TERMS(Y1)
	FOUR_SIGNED_TERMS(Y2)
	FOUR_SIGNED_TERMS(Y7)
	FOUR_SIGNED_TERMS(Y3)
	PREFETCH_4
	MOVQ       DI, BX
	EIGHT_GROUPS(0, 32, 64)
	LEAQ       (BX)(R10*4), DI
	EIGHT_GROUPS(16, 48, 80)
	SUBQ       R10, DI
	SUBQ       R11, DI
	PREFETCHT1 (R13)
	PREFETCHT1 64(R13)
	ADDQ       $112, R13                   // 8·110 bytes in all
	NEXT_ROWS(110)
	DECQ       CX
	JNZ        block
	VZEROUPPER
	RET

// ---- Q2_K
//
// A block makes sixteen records: eight of its codes with the scales of both halves,
// and, behind those of all blocks, eight of ones with what its minima take off.

// Byte shift/8 of the dwords times `by`.
#define HALF_TERM(shift, bytes, by, to) \
	VPSRLD    $shift, bytes, Y6         \
	VPAND     dwords0xff<>(SB), Y6, Y6  \
	VCVTDQ2PS Y6, Y6                    \
	VMULPS    by, Y6, Y6                \
	VMOVUPS   Y6, to

// Scales and minima of four sub-blocks, two records.
#define FOUR_SCALES_AND_MINIMA(both) \
	VPSRLQ $4, both, Y5                 \
	VPAND  Y15, both, Y4                \
	VPAND  Y15, Y5, Y5                  \
	HALF_TERM(0, Y4, Y8, (BX))          \
	HALF_TERM(8, Y4, Y8, (BX)(R10*1))   \
	HALF_TERM(0, Y5, Y9, (AX))          \
	HALF_TERM(8, Y5, Y9, (AX)(R10*1))   \
	ADDQ   R12, BX                      \
	ADDQ   R12, AX                      \
	HALF_TERM(16, Y4, Y8, (BX))         \
	HALF_TERM(24, Y4, Y8, (BX)(R10*1))  \
	HALF_TERM(16, Y5, Y9, (AX))         \
	HALF_TERM(24, Y5, Y9, (AX)(R10*1))  \
	ADDQ   R12, BX                      \
	ADDQ   R12, AX

// Four columns of one group: the two lowest bits of `codes`, which move on.
#define TWO_BITS(codes, to) \
	VPAND   Y14, codes, Y13 \
	VMOVDQU Y13, to         \
	VPSRLQ  $2, codes, codes

#define TWO_BIT_GROUP \
	TWO_BITS(Y0, (DI))         \
	TWO_BITS(Y1, (DI)(R10*1))  \
	TWO_BITS(Y2, (DI)(R10*2))  \
	TWO_BITS(Y3, (DI)(R11*1))  \
	ADDQ R12, DI

// Sixteen columns of four groups.
#define FOUR_TWO_BIT_GROUPS(codes) \
	TURN_16_BYTES(codes) \
	TWO_BIT_GROUP        \
	TWO_BIT_GROUP        \
	TWO_BIT_GROUP        \
	TWO_BIT_GROUP        \
	PREFETCH_2

// func packQ2_K(panel *byte, vector int, w *byte, rowBytes, blocks, ahead int)
TEXT ·packQ2_K(SB), NOSPLIT, $0-48
	MOVQ    panel+0(FP), DI
	MOVQ    vector+8(FP), R10
	MOVQ    w+16(FP), SI
	MOVQ    rowBytes+24(FP), DX
	MOVQ    blocks+32(FP), CX
	MOVQ    ahead+40(FP), R13
	VMOVDQU bytes0x03<>(SB), Y14
	VMOVDQU bytes0x0f<>(SB), Y15
	ENTER_BLOCKS
	MOVQ    CX, R15
	IMULQ   R12, R15
	SHLQ    $3, R15                        // bytes from codes to ones

block:
	GATHER_DWORDS(80, X8, Y8, X9)
	VPSHUFB      halvesApart<>(SB), Y8, Y8
	VPERMQ       $0xd8, Y8, Y8
	VEXTRACTI128 $1, Y8, X9
	VCVTPH2PS    X8, Y8
	VCVTPH2PS    X9, Y9
	VXORPS       dwordSigns<>(SB), Y9, Y9
	TURN_16_BYTES(0)
	LEAQ         (DI)(R10*8), BX
	LEAQ         (BX)(R15*1), AX
	FOUR_SCALES_AND_MINIMA(Y0)
	FOUR_SCALES_AND_MINIMA(Y1)
	FOUR_SCALES_AND_MINIMA(Y2)
	FOUR_SCALES_AND_MINIMA(Y3)
	PREFETCH_2
	VMOVDQU      bytes0x01<>(SB), Y0
	VMOVDQU      Y0, Y1
	VMOVDQU      Y0, Y2
	VMOVDQU      Y0, Y3
	LEAQ         (DI)(R15*1), AX
	MOVQ         $8, BX

ones:
	STORE_4(AX)
	LEAQ (AX)(R10*4), AX
	STORE_4(AX)
	LEAQ (AX)(R10*4), AX
	LEAQ (AX)(R10*2), AX
	DECQ BX
	JNZ  ones

	MOVQ       DI, BX
	FOUR_TWO_BIT_GROUPS(16)
	FOUR_TWO_BIT_GROUPS(48)
	LEAQ       (BX)(R10*4), DI
	FOUR_TWO_BIT_GROUPS(32)
	FOUR_TWO_BIT_GROUPS(64)
	SUBQ       R10, DI
	SUBQ       R11, DI
	PREFETCHT1 (R13)
	ADDQ       $32, R13                    // 8·84 bytes in all
	NEXT_ROWS(84)
	DECQ       CX
	JNZ        block
	VZEROUPPER
	RET
