//go:build !noasm

#include "textflag.h"
#include "insn_arm64.h"

// Codes of 1 to 8 bits from the planes of a packed row to one int8 each; the
// layout is that of kernels.PackCodes. The bytes of a plane are spread over the
// lanes of vectors and each lane is shifted by its own count, which leaves the
// bits of one channel at the bottom of each byte with those of other channels
// above them. The planes are joined from the top down: VSLI puts the upper bits
// over what the lower plane has too much.
//
// Above 4 bits code − 2^(bits−1) is the code with its top bit flipped, as a
// number with a sign: a top bit that is clear becomes ones from there on.
//
//	R0 dst   R1 row   R2 bytes from row to row   R3 channels   R4 rows left
//	R6, R7   offsets of the second and third plane of a row
//	R8-R10   the unit in the three planes        R11 channels left
//
//	V0-V3    nibbles, then codes   V4-V7 pairs   V16-V19 single bits
//	V20 table   V8-V11 bitBytes<>  V21-V26 laneShifts<>
//	V29-V31 constants of the width
//
// A function defines LOAD_64, LOAD_32 and LOAD_16, which fill the lanes from as
// many channels and move on, and CODES, which leaves codes in V0-V3;
// unpack_rows_arm64.h is its loop.

// Shift counts, to the right where negative, and the bits that single bits are.
DATA laneShifts<>+0(SB)/8, $0x0000000000000000 // pairs of channels 0-15
DATA laneShifts<>+8(SB)/8, $0xfefefefefefefefe
DATA laneShifts<>+16(SB)/8, $0xfcfcfcfcfcfcfcfc // of channels 16-31
DATA laneShifts<>+24(SB)/8, $0xfafafafafafafafa
DATA laneShifts<>+32(SB)/8, $0xfefefefe00000000 // of a unit of 16
DATA laneShifts<>+40(SB)/8, $0xfafafafafcfcfcfc
DATA laneShifts<>+48(SB)/8, $0x0000000000000000 // nibbles of a unit of 16
DATA laneShifts<>+56(SB)/8, $0xfcfcfcfcfcfcfcfc
DATA laneShifts<>+64(SB)/8, $0xf9fafbfcfdfeff00 // the bit of a channel
DATA laneShifts<>+72(SB)/8, $0xf9fafbfcfdfeff00
DATA laneShifts<>+80(SB)/8, $0x8040201008040201 // that bit where it is
DATA laneShifts<>+88(SB)/8, $0x8040201008040201
GLOBL laneShifts<>(SB), RODATA|NOPTR, $96

// The bytes with the bits of channels 0-15, 16-31, 32-47 and 48-63.
DATA bitBytes<>+0(SB)/8, $0x0000000000000000
DATA bitBytes<>+8(SB)/8, $0x0101010101010101
DATA bitBytes<>+16(SB)/8, $0x0202020202020202
DATA bitBytes<>+24(SB)/8, $0x0303030303030303
DATA bitBytes<>+32(SB)/8, $0x0404040404040404
DATA bitBytes<>+40(SB)/8, $0x0505050505050505
DATA bitBytes<>+48(SB)/8, $0x0606060606060606
DATA bitBytes<>+56(SB)/8, $0x0707070707070707
GLOBL bitBytes<>(SB), RODATA|NOPTR, $64

#define ENTER \
	MOVD  dst+0(FP), R0         \
	MOVD  payload+8(FP), R1     \
	MOVD  rowBytes+16(FP), R2   \
	MOVD  padded+24(FP), R3     \
	MOVD  rows+32(FP), R4       \
	MOVD  table+40(FP), R5      \
	MOVD  $laneShifts<>(SB), R8 \
	MOVD  $bitBytes<>(SB), R9   \
	FLDPQ (R8), (F21, F22)      \
	FLDPQ 32(R8), (F23, F24)    \
	FLDPQ 64(R8), (F25, F26)    \
	FLDPQ (R9), (F8, F9)        \
	FLDPQ 32(R9), (F10, F11)

#define TABLE FMOVQ (R5), F20

#define NIBBLES_64(plane) \
	FLDPQ (plane), (F0, F2)     \
	ADD   $32, plane            \
	VUSHR $4, V0.B16, V1.B16    \
	VUSHR $4, V2.B16, V3.B16

#define NIBBLES_32(plane) \
	FMOVQ (plane), F0           \
	ADD   $16, plane            \
	VUSHR $4, V0.B16, V1.B16

#define NIBBLES_16(plane) \
	VLD1R (plane), [V0.D2] \
	USHL_16B(24, 0, 0)

#define PAIRS_64(plane) \
	FMOVQ (plane), F6      \
	ADD   $16, plane       \
	VDUP  V6.D[0], V4.D2   \
	VDUP  V6.D[1], V6.D2   \
	USHL_16B(22, 4, 5)     \
	USHL_16B(22, 6, 7)     \
	USHL_16B(21, 4, 4)     \
	USHL_16B(21, 6, 6)

#define PAIRS_32(plane) \
	VLD1R (plane), [V4.D2] \
	ADD   $8, plane        \
	USHL_16B(22, 4, 5)     \
	USHL_16B(21, 4, 4)

#define PAIRS_16(plane) \
	VLD1R (plane), [V4.S4] \
	USHL_16B(23, 4, 4)

#define BITS_64(plane) \
	FMOVD (plane), F16 \
	ADD   $8, plane

#define BITS_32(plane) \
	FMOVS (plane), F16 \
	ADD   $4, plane

#define BITS_16(n) LDR_H(0, n, 16)

// SPREAD_BITS gives each lane the byte with the bit of its channel.
#define SPREAD_BITS \
	VTBL V11.B16, [V16.B16], V19.B16 \
	VTBL V10.B16, [V16.B16], V18.B16 \
	VTBL V9.B16, [V16.B16], V17.B16  \
	VTBL V8.B16, [V16.B16], V16.B16

// WHERE_SET makes lanes all ones where the bit of their channel is set.
#define WHERE_SET(a, b, c, d) \
	SPREAD_BITS                    \
	VCMTST V26.B16, V16.B16, a.B16 \
	VCMTST V26.B16, V17.B16, b.B16 \
	VCMTST V26.B16, V18.B16, c.B16 \
	VCMTST V26.B16, V19.B16, d.B16

// WHERE_CLEAR makes V16-V19 all ones where it is clear; V31 is all ones.
#define WHERE_CLEAR \
	VEOR V31.B16, V16.B16, V16.B16 \
	WHERE_SET(V16, V17, V18, V19)

#define AND_CODES(mask, a, b, c, d) \
	VAND mask.B16, a.B16, V0.B16 \
	VAND mask.B16, b.B16, V1.B16 \
	VAND mask.B16, c.B16, V2.B16 \
	VAND mask.B16, d.B16, V3.B16

#define LOOK_UP \
	VTBL V0.B16, [V20.B16], V0.B16 \
	VTBL V1.B16, [V20.B16], V1.B16 \
	VTBL V2.B16, [V20.B16], V2.B16 \
	VTBL V3.B16, [V20.B16], V3.B16

// PUT_ABOVE joins planes: what is in upper goes above the low count bits of lower.
#define PUT_ABOVE(count, u0, u1, u2, u3, l0, l1, l2, l3) \
	VSLI $count, u0.B16, l0.B16 \
	VSLI $count, u1.B16, l1.B16 \
	VSLI $count, u2.B16, l2.B16 \
	VSLI $count, u3.B16, l3.B16

// ---- 1 bit: a choice between two levels

#define LOAD_64 BITS_64(R8)
#define LOAD_32 BITS_32(R8)
#define LOAD_16 BITS_16(8)
#define CODES \
	WHERE_SET(V0, V1, V2, V3)     \
	VBSL V29.B16, V30.B16, V0.B16 \
	VBSL V29.B16, V30.B16, V1.B16 \
	VBSL V29.B16, V30.B16, V2.B16 \
	VBSL V29.B16, V30.B16, V3.B16

// func unpack1NEON(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)
TEXT ·unpack1NEON(SB), NOSPLIT, $0-48
	ENTER
	TABLE
	VDUP V20.B[0], V29.B16
	VDUP V20.B[1], V30.B16

#include "unpack_rows_arm64.h"

// ---- 2 bits

#define LOAD_64 PAIRS_64(R8)
#define LOAD_32 PAIRS_32(R8)
#define LOAD_16 PAIRS_16(R8)
#define CODES \
	AND_CODES(V29, V4, V5, V6, V7) \
	LOOK_UP

// func unpack2NEON(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)
TEXT ·unpack2NEON(SB), NOSPLIT, $0-48
	ENTER
	TABLE
	VMOVI $3, V29.B16

#include "unpack_rows_arm64.h"

// ---- 3 bits

#define LOAD_64 \
	BITS_64(R9)  \
	PAIRS_64(R8)

#define LOAD_32 \
	BITS_32(R9)  \
	PAIRS_32(R8)

#define LOAD_16 \
	BITS_16(9)   \
	PAIRS_16(R8)

#define CODES \
	SPREAD_BITS                                          \
	USHL_16B(25, 16, 16)                                 \
	USHL_16B(25, 17, 17)                                 \
	USHL_16B(25, 18, 18)                                 \
	USHL_16B(25, 19, 19)                                 \
	PUT_ABOVE(2, V16, V17, V18, V19, V4, V5, V6, V7)     \
	AND_CODES(V29, V4, V5, V6, V7)                       \
	LOOK_UP

// func unpack3NEON(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)
TEXT ·unpack3NEON(SB), NOSPLIT, $0-48
	ENTER
	TABLE
	VMOVI $7, V29.B16
	LSR   $2, R3, R6

#include "unpack_rows_arm64.h"

// ---- 4 bits

#define LOAD_64 NIBBLES_64(R8)
#define LOAD_32 NIBBLES_32(R8)
#define LOAD_16 NIBBLES_16(R8)
#define CODES \
	VAND V29.B16, V0.B16, V0.B16 \
	VAND V29.B16, V2.B16, V2.B16 \
	LOOK_UP

// func unpack4NEON(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)
TEXT ·unpack4NEON(SB), NOSPLIT, $0-48
	ENTER
	TABLE
	VMOVI $15, V29.B16

#include "unpack_rows_arm64.h"

// ---- 5 bits

#define LOAD_64 \
	BITS_64(R9)    \
	NIBBLES_64(R8)

#define LOAD_32 \
	BITS_32(R9)    \
	NIBBLES_32(R8)

#define LOAD_16 \
	BITS_16(9)     \
	NIBBLES_16(R8)

#define CODES \
	WHERE_CLEAR                                      \
	PUT_ABOVE(4, V16, V17, V18, V19, V0, V1, V2, V3)

// func unpack5NEON(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)
TEXT ·unpack5NEON(SB), NOSPLIT, $0-48
	ENTER
	VMOVI $255, V31.B16
	LSR   $1, R3, R6

#include "unpack_rows_arm64.h"

// ---- 6 bits: there is no plane of single bits, hence the subtraction

#define LOAD_64 \
	PAIRS_64(R9)   \
	NIBBLES_64(R8)

#define LOAD_32 \
	PAIRS_32(R9)   \
	NIBBLES_32(R8)

#define LOAD_16 \
	PAIRS_16(R9)   \
	NIBBLES_16(R8)

#define CODES \
	PUT_ABOVE(4, V4, V5, V6, V7, V0, V1, V2, V3) \
	AND_CODES(V29, V0, V1, V2, V3)               \
	VSUB V30.B16, V0.B16, V0.B16                 \
	VSUB V30.B16, V1.B16, V1.B16                 \
	VSUB V30.B16, V2.B16, V2.B16                 \
	VSUB V30.B16, V3.B16, V3.B16

// func unpack6NEON(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)
TEXT ·unpack6NEON(SB), NOSPLIT, $0-48
	ENTER
	VMOVI $63, V29.B16
	VMOVI $32, V30.B16
	LSR   $1, R3, R6

#include "unpack_rows_arm64.h"

// ---- 7 bits

#define LOAD_64 \
	BITS_64(R10)   \
	PAIRS_64(R9)   \
	NIBBLES_64(R8)

#define LOAD_32 \
	BITS_32(R10)   \
	PAIRS_32(R9)   \
	NIBBLES_32(R8)

#define LOAD_16 \
	BITS_16(10)    \
	PAIRS_16(R9)   \
	NIBBLES_16(R8)

#define CODES \
	WHERE_CLEAR                                      \
	PUT_ABOVE(2, V16, V17, V18, V19, V4, V5, V6, V7) \
	PUT_ABOVE(4, V4, V5, V6, V7, V0, V1, V2, V3)

// func unpack7NEON(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)
TEXT ·unpack7NEON(SB), NOSPLIT, $0-48
	ENTER
	VMOVI $255, V31.B16
	LSR   $1, R3, R6
	ADD   R3>>2, R6, R7

#include "unpack_rows_arm64.h"

// ---- 8 bits

#define LOAD_64 \
	FLDPQ (R8), (F0, F1)   \
	FLDPQ 32(R8), (F2, F3) \
	ADD   $64, R8

#define LOAD_32 \
	FLDPQ (R8), (F0, F1) \
	ADD   $32, R8

#define LOAD_16 FMOVQ (R8), F0

#define CODES \
	VEOR V29.B16, V0.B16, V0.B16 \
	VEOR V29.B16, V1.B16, V1.B16 \
	VEOR V29.B16, V2.B16, V2.B16 \
	VEOR V29.B16, V3.B16, V3.B16

// func unpack8NEON(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8)
TEXT ·unpack8NEON(SB), NOSPLIT, $0-48
	ENTER
	VMOVI $128, V29.B16

#include "unpack_rows_arm64.h"
