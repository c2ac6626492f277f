//go:build !noasm

#include "textflag.h"

// Scores of int8 rows with an int8 query, eight rows side by side: lane r of a
// vector belongs to row r. Every element is computed in one way:
//
//	for each group g { sum += (qScale[g]·scale[g])·dot; sum += min[g]·qSum[g] }
//	score += sum
//
// with dot an exact integer and nothing fused, as kernels.Score states it.
//
// Registers: SI row 0, R8 row 4, DX bytes from row to row (0: the same row in
// all lanes), R9 = 3·DX; R10 query; BX channels left in the row, CX those left
// in the group; R11 scale of row 0 and the group, R12 bytes from row to row, R13
// minima likewise or 0; R15 qScale, AX from there to qSum; DI scores. Y0..Y7 are
// the sums of the rows, Y14 that of the groups.

// Order of rows that PAIRS_OF leaves.
DATA evenFirst<>+0(SB)/8, $0x0000000200000000
DATA evenFirst<>+8(SB)/8, $0x0000000600000004
DATA evenFirst<>+16(SB)/8, $0x0000000300000001
DATA evenFirst<>+24(SB)/8, $0x0000000700000005
GLOBL evenFirst<>(SB), RODATA|NOPTR, $32

DATA ones16<>+0(SB)/4, $0x00010001
GLOBL ones16<>(SB), RODATA|NOPTR, $4

DATA signBytes<>+0(SB)/4, $0x80808080
GLOBL signBytes<>(SB), RODATA|NOPTR, $4

// ---- Steps

// v += the dots of four channels of a row with those of the query in q. The
// sign of the code goes to the query, its magnitude (128 at most) is the
// unsigned operand: pairs are 2·128·127 at most, no sum saturates.
#define DOT_AVX2(row, q, code, sign, v) \
	VMOVDQU    row, code        \
	VPSIGNB    code, q, sign    \
	VPABSB     code, code       \
	VPMADDUBSW sign, code, code \
	VPMADDWD   Y15, code, code  \
	VPADDD     code, v, v

#define DOTS_32_AVX2 \
	VMOVDQU (R10), Y8                      \
	DOT_AVX2((SI), Y8, Y9, Y10, Y0)        \
	DOT_AVX2((SI)(DX*1), Y8, Y11, Y12, Y1) \
	DOT_AVX2((SI)(DX*2), Y8, Y9, Y10, Y2)  \
	DOT_AVX2((SI)(R9*1), Y8, Y11, Y12, Y3) \
	DOT_AVX2((R8), Y8, Y9, Y10, Y4)        \
	DOT_AVX2((R8)(DX*1), Y8, Y11, Y12, Y5) \
	DOT_AVX2((R8)(DX*2), Y8, Y9, Y10, Y6)  \
	DOT_AVX2((R8)(R9*1), Y8, Y11, Y12, Y7)

// Sixteen channels: the upper halves of what is loaded are zero.
#define HALF_DOT_AVX2(row, half, code, sign, v) \
	VMOVDQU    row, half        \
	VPSIGNB    code, Y8, sign   \
	VPABSB     code, code       \
	VPMADDUBSW sign, code, code \
	VPMADDWD   Y15, code, code  \
	VPADDD     code, v, v

#define DOTS_16_AVX2 \
	VMOVDQU (R10), X8                            \
	HALF_DOT_AVX2((SI), X9, Y9, Y10, Y0)         \
	HALF_DOT_AVX2((SI)(DX*1), X11, Y11, Y12, Y1) \
	HALF_DOT_AVX2((SI)(DX*2), X9, Y9, Y10, Y2)   \
	HALF_DOT_AVX2((SI)(R9*1), X11, Y11, Y12, Y3) \
	HALF_DOT_AVX2((R8), X9, Y9, Y10, Y4)         \
	HALF_DOT_AVX2((R8)(DX*1), X11, Y11, Y12, Y5) \
	HALF_DOT_AVX2((R8)(DX*2), X9, Y9, Y10, Y6)   \
	HALF_DOT_AVX2((R8)(R9*1), X11, Y11, Y12, Y7)

// With VPDPBUSD codes are read as code+128 (Y15 flips the sign) and Y13
// collects the 128·q that is too much.
#define DOT_VNNI(row, code, v) \
	VPXOR    row, Y15, code \
	VPDPBUSD Y8, code, v

#define DOTS_32_VNNI \
	VMOVDQU  (R10), Y8            \
	DOT_VNNI((SI), Y9, Y0)        \
	DOT_VNNI((SI)(DX*1), Y10, Y1) \
	DOT_VNNI((SI)(DX*2), Y11, Y2) \
	DOT_VNNI((SI)(R9*1), Y12, Y3) \
	DOT_VNNI((R8), Y9, Y4)        \
	DOT_VNNI((R8)(DX*1), Y10, Y5) \
	DOT_VNNI((R8)(DX*2), Y11, Y6) \
	DOT_VNNI((R8)(R9*1), Y12, Y7) \
	VPDPBUSD Y8, Y15, Y13

#define HALF_DOT_VNNI(row, half, code, v) \
	VMOVDQU  row, half       \
	VPXOR    Y15, code, code \
	VPDPBUSD Y8, code, v

#define DOTS_16_VNNI \
	VMOVDQU  (R10), X8                      \
	HALF_DOT_VNNI((SI), X9, Y9, Y0)         \
	HALF_DOT_VNNI((SI)(DX*1), X10, Y10, Y1) \
	HALF_DOT_VNNI((SI)(DX*2), X11, Y11, Y2) \
	HALF_DOT_VNNI((SI)(R9*1), X12, Y12, Y3) \
	HALF_DOT_VNNI((R8), X9, Y9, Y4)         \
	HALF_DOT_VNNI((R8)(DX*1), X10, Y10, Y5) \
	HALF_DOT_VNNI((R8)(DX*2), X11, Y11, Y6) \
	HALF_DOT_VNNI((R8)(R9*1), X12, Y12, Y7) \
	VPDPBUSD Y8, Y15, Y13

#define CLEAR_SUMS \
	VPXOR Y0, Y0, Y0 \
	VPXOR Y1, Y1, Y1 \
	VPXOR Y2, Y2, Y2 \
	VPXOR Y3, Y3, Y3 \
	VPXOR Y4, Y4, Y4 \
	VPXOR Y5, Y5, Y5 \
	VPXOR Y6, Y6, Y6 \
	VPXOR Y7, Y7, Y7

// Y0 = the dots of rows 0..7.
#define REDUCE_AVX2 \
	VPHADDD    Y1, Y0, Y0        \
	VPHADDD    Y3, Y2, Y2        \
	VPHADDD    Y5, Y4, Y4        \
	VPHADDD    Y7, Y6, Y6        \
	VPHADDD    Y2, Y0, Y0        \
	VPHADDD    Y6, Y4, Y4        \
	VPERM2I128 $0x20, Y4, Y0, Y1 \
	VPERM2I128 $0x31, Y4, Y0, Y2 \
	VPADDD     Y2, Y1, Y0

#define REDUCE_VNNI \
	VPHADDD    Y13, Y13, Y13       \
	VPHADDD    Y13, Y13, Y13       \
	VPERM2I128 $0x01, Y13, Y13, Y8 \
	VPADDD     Y8, Y13, Y13        \
	REDUCE_AVX2                    \
	VPSUBD     Y13, Y0, Y0

// Y12 = the factors of rows 0..7 at `at` where a row has two: those of rows
// 0..3 in even lanes, of rows 4..7 in odd ones, then in order.
#define PAIRS_OF(at) \
	VMOVUPS  (at), Y12               \
	VBLENDPS $0xaa, 28(at), Y12, Y12 \
	VPERMPS  Y12, Y9, Y12

// Y12 = the factors of rows 0..7, R12 bytes apart. Uses CX, SI+… untouched.
#define GATHER(at) \
	LEAQ        (at)(R12*2), CX              \
	VMOVSS      (at), X12                    \
	VINSERTPS   $0x10, (at)(R12*1), X12, X12 \
	VINSERTPS   $0x20, (CX), X12, X12        \
	VINSERTPS   $0x30, (CX)(R12*1), X12, X12 \
	LEAQ        (CX)(R12*2), CX              \
	VMOVSS      (CX), X11                    \
	VINSERTPS   $0x10, (CX)(R12*1), X11, X11 \
	LEAQ        (CX)(R12*2), CX              \
	VINSERTPS   $0x20, (CX), X11, X11        \
	VINSERTPS   $0x30, (CX)(R12*1), X11, X11 \
	VINSERTF128 $1, X11, Y12, Y12

// ---- The functions

#define OPEN CLEAR_SUMS
#define DOTS_32 DOTS_32_AVX2
#define DOTS_16 DOTS_16_AVX2
#define REDUCE REDUCE_AVX2

// func scoreAVX2(scores *float32, codes *int8, stride, padded, blocks int, q *int8,
//	qScale, qSum, scales, minima *float32, scaleStride, group int)
TEXT ·scoreAVX2(SB), NOSPLIT, $0-96
	VPBROADCASTD ones16<>(SB), Y15

#include "score_blocks_amd64.h"

#define OPEN \
	CLEAR_SUMS          \
	VPXOR Y13, Y13, Y13

#define DOTS_32 DOTS_32_VNNI
#define DOTS_16 DOTS_16_VNNI
#define REDUCE REDUCE_VNNI

// func scoreVNNI(scores *float32, codes *int8, stride, padded, blocks int, q *int8,
//	qScale, qSum, scales, minima *float32, scaleStride, group int)
TEXT ·scoreVNNI(SB), NOSPLIT, $0-96
	VPBROADCASTD signBytes<>(SB), Y15

#include "score_blocks_amd64.h"
