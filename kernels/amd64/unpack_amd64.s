//go:build !noasm

#include "textflag.h"

// Codes of 1 to 8 bits from the planes of a packed row to one int8 each; the
// layout is that of kernels.PackCodes. A unit is 32 channels (the last of a row
// may be 16): its bytes of a plane are spread over the lanes of a vector, each
// lane is shifted by its own count, and a mask leaves the bits of one channel in
// each byte.
//
// Registers: DI dst; R10 row, R11 rowBytes, BX rows left; SI, R8, R9 the unit in
// the first, second and third plane, R12 and R13 the offsets of the latter two
// from SI; DX whole units in a row, CX those left, AX = 16 if half a unit is.
// Y15 is the table, or what is taken from a code.
//
// A function defines its UNIT and HALF, which leave codes in Y0 and X0, and STEP,
// which moves SI, R8 and R9 behind a unit; unpack_rows_amd64.h is its loop.

// Shift counts of the four lanes of eight bytes.
DATA nibbleShifts<>+0(SB)/8, $0
DATA nibbleShifts<>+8(SB)/8, $0
DATA nibbleShifts<>+16(SB)/8, $4
DATA nibbleShifts<>+24(SB)/8, $4
GLOBL nibbleShifts<>(SB), RODATA|NOPTR, $32

DATA pairShifts<>+0(SB)/8, $0
DATA pairShifts<>+8(SB)/8, $2
DATA pairShifts<>+16(SB)/8, $4
DATA pairShifts<>+24(SB)/8, $6
GLOBL pairShifts<>(SB), RODATA|NOPTR, $32

// The same for half a unit: two lanes of eight bytes, four of four.
DATA halfNibbleShifts<>+0(SB)/8, $0
DATA halfNibbleShifts<>+8(SB)/8, $4
GLOBL halfNibbleShifts<>(SB), RODATA|NOPTR, $16

DATA halfPairShifts<>+0(SB)/8, $0x0000000200000000
DATA halfPairShifts<>+8(SB)/8, $0x0000000600000004
GLOBL halfPairShifts<>(SB), RODATA|NOPTR, $16

// Channel i takes byte i/8 of the plane of single bits.
DATA bitBytes<>+0(SB)/8, $0x0000000000000000
DATA bitBytes<>+8(SB)/8, $0x0101010101010101
DATA bitBytes<>+16(SB)/8, $0x0202020202020202
DATA bitBytes<>+24(SB)/8, $0x0303030303030303
GLOBL bitBytes<>(SB), RODATA|NOPTR, $32

DATA ownBit<>+0(SB)/8, $0x8040201008040201
GLOBL ownBit<>(SB), RODATA|NOPTR, $8

DATA everyByte<>+0(SB)/8, $0x0101010101010101 // value of the upper plane, by its shift
DATA everyByte<>+8(SB)/8, $0x0404040404040404
DATA everyByte<>+16(SB)/8, $0x1010101010101010
DATA everyByte<>+24(SB)/8, $0x4040404040404040
DATA everyByte<>+32(SB)/8, $0x0303030303030303 // masks
DATA everyByte<>+40(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA everyByte<>+48(SB)/8, $0x2020202020202020 // 2^(bits−1) of 6 and 8 bits
DATA everyByte<>+56(SB)/8, $0x8080808080808080
GLOBL everyByte<>(SB), RODATA|NOPTR, $64

#define NIBBLE_CONSTANTS \
	VMOVDQU      nibbleShifts<>(SB), Y14 \
	VPBROADCASTQ everyByte<>+40(SB), Y13

#define PAIR_CONSTANTS \
	VMOVDQU      pairShifts<>(SB), Y12   \
	VPBROADCASTQ everyByte<>+32(SB), Y11

// value is what a set bit adds to the code.
#define BIT_CONSTANTS(value) \
	VMOVDQU      bitBytes<>(SB), Y10 \
	VPBROADCASTQ ownBit<>(SB), Y9    \
	VPBROADCASTQ value, Y8

#define NIBBLES(at, v) \
	VBROADCASTI128 at, v     \
	VPSRLVQ        Y14, v, v \
	VPAND          Y13, v, v

#define PAIRS(at, v) \
	VPBROADCASTQ at, v     \
	VPSRLVQ      Y12, v, v \
	VPAND        Y11, v, v

#define BITS(at, v) \
	VPBROADCASTD at, v     \
	VPSHUFB      Y10, v, v \
	VPAND        Y9, v, v  \
	VPCMPEQB     Y9, v, v  \
	VPAND        Y8, v, v

#define HALF_NIBBLES(at, v) \
	VPBROADCASTQ at, v                        \
	VPSRLVQ      halfNibbleShifts<>(SB), v, v \
	VPAND        X13, v, v

#define HALF_PAIRS(at, v) \
	VPBROADCASTD at, v                      \
	VPSRLVD      halfPairShifts<>(SB), v, v \
	VPAND        X11, v, v

#define HALF_BITS(at, v) \
	VPBROADCASTW at, v     \
	VPSHUFB      X10, v, v \
	VPAND        X9, v, v  \
	VPCMPEQB     X9, v, v  \
	VPAND        X8, v, v

#define ENTER \
	MOVQ dst+0(FP), DI        \
	MOVQ payload+8(FP), R10   \
	MOVQ rowBytes+16(FP), R11 \
	MOVQ padded+24(FP), DX    \
	MOVQ rows+32(FP), BX      \
	MOVQ DX, AX               \
	ANDL $16, AX

// Offsets of the planes behind one of four and one of two bits a channel.
#define BEHIND_NIBBLES(r) \
	MOVQ DX, r \
	SHRQ $1, r

#define BEHIND_PAIRS(r) \
	MOVQ DX, r \
	SHRQ $2, r

#define TABLE \
	MOVQ           table+40(FP), CX \
	VBROADCASTI128 (CX), Y15

#define UNIT \
	BITS((SI), Y0)      \
	VPSHUFB Y0, Y15, Y0

#define HALF \
	HALF_BITS((SI), X0) \
	VPSHUFB X0, X15, X0

#define STEP ADDQ $4, SI

// func unpack1AVX2(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)
TEXT ·unpack1AVX2(SB), NOSPLIT, $0-48
	ENTER
	TABLE
	BIT_CONSTANTS(everyByte<>+0(SB))

#include "unpack_rows_amd64.h"

#define UNIT \
	PAIRS((SI), Y0)     \
	VPSHUFB Y0, Y15, Y0

#define HALF \
	HALF_PAIRS((SI), X0) \
	VPSHUFB X0, X15, X0

#define STEP ADDQ $8, SI

// func unpack2AVX2(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)
TEXT ·unpack2AVX2(SB), NOSPLIT, $0-48
	ENTER
	TABLE
	PAIR_CONSTANTS

#include "unpack_rows_amd64.h"

#define UNIT \
	PAIRS((SI), Y0)     \
	BITS((R8), Y1)      \
	VPOR    Y1, Y0, Y0  \
	VPSHUFB Y0, Y15, Y0

#define HALF \
	HALF_PAIRS((SI), X0) \
	HALF_BITS((R8), X1)  \
	VPOR    X1, X0, X0   \
	VPSHUFB X0, X15, X0

#define STEP \
	ADDQ $8, SI \
	ADDQ $4, R8

// func unpack3AVX2(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)
TEXT ·unpack3AVX2(SB), NOSPLIT, $0-48
	ENTER
	TABLE
	PAIR_CONSTANTS
	BIT_CONSTANTS(everyByte<>+8(SB))
	BEHIND_PAIRS(R12)

#include "unpack_rows_amd64.h"

#define UNIT \
	NIBBLES((SI), Y0)   \
	VPSHUFB Y0, Y15, Y0

#define HALF \
	HALF_NIBBLES((SI), X0) \
	VPSHUFB X0, X15, X0

#define STEP ADDQ $16, SI

// func unpack4AVX2(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)
TEXT ·unpack4AVX2(SB), NOSPLIT, $0-48
	ENTER
	TABLE
	NIBBLE_CONSTANTS

#include "unpack_rows_amd64.h"

// The upper plane's value of 5 bits is what they are offset by, too.
#define UNIT \
	NIBBLES((SI), Y0) \
	BITS((R8), Y1)    \
	VPOR   Y1, Y0, Y0 \
	VPSUBB Y8, Y0, Y0

#define HALF \
	HALF_NIBBLES((SI), X0) \
	HALF_BITS((R8), X1)    \
	VPOR   X1, X0, X0      \
	VPSUBB X8, X0, X0

#define STEP \
	ADDQ $16, SI \
	ADDQ $4, R8

// func unpack5AVX2(dst *int8, payload *byte, rowBytes, padded, rows int)
TEXT ·unpack5AVX2(SB), NOSPLIT, $0-40
	ENTER
	NIBBLE_CONSTANTS
	BIT_CONSTANTS(everyByte<>+16(SB))
	BEHIND_NIBBLES(R12)

#include "unpack_rows_amd64.h"

#define UNIT \
	NIBBLES((SI), Y0)  \
	PAIRS((R8), Y1)    \
	VPSLLW $4, Y1, Y1  \
	VPOR   Y1, Y0, Y0  \
	VPSUBB Y15, Y0, Y0

#define HALF \
	HALF_NIBBLES((SI), X0) \
	HALF_PAIRS((R8), X1)   \
	VPSLLW $4, X1, X1      \
	VPOR   X1, X0, X0      \
	VPSUBB X15, X0, X0

#define STEP \
	ADDQ $16, SI \
	ADDQ $8, R8

// func unpack6AVX2(dst *int8, payload *byte, rowBytes, padded, rows int)
TEXT ·unpack6AVX2(SB), NOSPLIT, $0-40
	ENTER
	NIBBLE_CONSTANTS
	PAIR_CONSTANTS
	VPBROADCASTQ everyByte<>+48(SB), Y15
	BEHIND_NIBBLES(R12)

#include "unpack_rows_amd64.h"

#define UNIT \
	NIBBLES((SI), Y0) \
	PAIRS((R8), Y1)   \
	BITS((R9), Y2)    \
	VPSLLW $4, Y1, Y1 \
	VPOR   Y1, Y0, Y0 \
	VPOR   Y2, Y0, Y0 \
	VPSUBB Y8, Y0, Y0

#define HALF \
	HALF_NIBBLES((SI), X0) \
	HALF_PAIRS((R8), X1)   \
	HALF_BITS((R9), X2)    \
	VPSLLW $4, X1, X1      \
	VPOR   X1, X0, X0      \
	VPOR   X2, X0, X0      \
	VPSUBB X8, X0, X0

#define STEP \
	ADDQ $16, SI \
	ADDQ $8, R8  \
	ADDQ $4, R9

// func unpack7AVX2(dst *int8, payload *byte, rowBytes, padded, rows int)
TEXT ·unpack7AVX2(SB), NOSPLIT, $0-40
	ENTER
	NIBBLE_CONSTANTS
	PAIR_CONSTANTS
	BIT_CONSTANTS(everyByte<>+24(SB))
	BEHIND_NIBBLES(R12)
	BEHIND_PAIRS(R13)
	ADDQ R12, R13

#include "unpack_rows_amd64.h"

#define UNIT VPXOR (SI), Y15, Y0

#define HALF VPXOR (SI), X15, X0

#define STEP ADDQ $32, SI

// func unpack8AVX2(dst *int8, payload *byte, rowBytes, padded, rows int)
TEXT ·unpack8AVX2(SB), NOSPLIT, $0-40
	ENTER
	VPBROADCASTQ everyByte<>+56(SB), Y15

#include "unpack_rows_amd64.h"
