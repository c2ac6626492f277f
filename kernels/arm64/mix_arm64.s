//go:build !noasm

#include "textflag.h"
#include "insn_arm64.h"
#include "rows_arm64.h"

// Weighted sums of rows: a panel of channels stays in registers while all rows
// pass, so that every channel is one chain of fused additions, row by row:
//
//	for each row r { out[c] = fma(w[r], x[r][c], out[c]) }
//
//	R0 out   R1 row   R2 bytes from row to row   R3 rows left
//	R4 weight of the row, R5 that of its channels 32-63
//	R6 bytes from row to row of the weights
//	V0-V15 the panel   V16-V19 codes   V20-V25 scratch   V26, V27 weights
//	V28-V31 bytes 0-3, 4-7, 8-11 and 12-15 to the top of a lane each

// Byte i of the codes to the top of lane i mod 4: what is taken from byte 255 is 0.
DATA codeTops<>+0(SB)/8, $0x01ffffff00ffffff
DATA codeTops<>+8(SB)/8, $0x03ffffff02ffffff
DATA codeTops<>+16(SB)/8, $0x05ffffff04ffffff
DATA codeTops<>+24(SB)/8, $0x07ffffff06ffffff
DATA codeTops<>+32(SB)/8, $0x09ffffff08ffffff
DATA codeTops<>+40(SB)/8, $0x0bffffff0affffff
DATA codeTops<>+48(SB)/8, $0x0dffffff0cffffff
DATA codeTops<>+56(SB)/8, $0x0fffffff0effffff
GLOBL codeTops<>(SB), RODATA|NOPTR, $64

// TOPS leaves codes at the top of the lanes of a, b, c and v itself: code·2²⁴.
#define TOPS(v, a, b, c) \
	VTBL V28.B16, [v.B16], a.B16 \
	VTBL V29.B16, [v.B16], b.B16 \
	VTBL V30.B16, [v.B16], c.B16 \
	VTBL V31.B16, [v.B16], v.B16

// FLOATS makes the codes float32; the conversion divides by 2²⁴.
#define FLOATS(v, a, b, c) \
	SCVTF_4S_FIX(24, a, a) \
	SCVTF_4S_FIX(24, b, b) \
	SCVTF_4S_FIX(24, c, c) \
	SCVTF_4S_FIX(24, v, v)

// ADD_16 adds 16 codes times the weight w to the panel from out on.
#define ADD_16(v, a, b, c, w, out) \
	FMLA_4S_LANE(0, w, a, (out)+0) \
	FMLA_4S_LANE(0, w, b, (out)+1) \
	FMLA_4S_LANE(0, w, c, (out)+2) \
	FMLA_4S_LANE(0, w, v, (out)+3)

#define ENTER_MIX \
	MOVD  out+0(FP), R0         \
	MOVD  codes+8(FP), R1       \
	MOVD  stride+16(FP), R2     \
	MOVD  rows+24(FP), R3       \
	MOVD  w+32(FP), R4          \
	MOVD  wStride+40(FP), R6    \
	MOVD  $codeTops<>(SB), R7   \
	FLDPQ (R7), (F28, F29)      \
	FLDPQ 32(R7), (F30, F31)

// func mix64NEON(out *float32, codes *int8, stride, rows int, w *float32, wStride, second int)
TEXT ·mix64NEON(SB), NOSPLIT, $0-56
	ENTER_MIX
	MOVD second+48(FP), R5
	ADD  R4, R5
	LOAD_PANEL

row:
	FLDPQ (R1), (F16, F17)
	FLDPQ 32(R1), (F18, F19)
	FMOVS (R4), F26
	FMOVS (R5), F27
	ADD   R2, R1
	ADD   R6, R4
	ADD   R6, R5
	TOPS(V16, V20, V21, V22)
	TOPS(V17, V23, V24, V25)
	FLOATS(16, 20, 21, 22)
	FLOATS(17, 23, 24, 25)
	ADD_16(16, 20, 21, 22, 26, 0)
	TOPS(V18, V20, V21, V22)
	ADD_16(17, 23, 24, 25, 26, 4)
	TOPS(V19, V23, V24, V25)
	FLOATS(18, 20, 21, 22)
	FLOATS(19, 23, 24, 25)
	ADD_16(18, 20, 21, 22, 27, 8)
	SUBS  $1, R3
	ADD_16(19, 23, 24, 25, 27, 12)
	BNE   row
	STORE_PANEL
	RET

// func mix16NEON(out *float32, codes *int8, stride, rows int, w *float32, wStride int)
TEXT ·mix16NEON(SB), NOSPLIT, $0-48
	ENTER_MIX
	FLDPQ (R0), (F0, F1)
	FLDPQ 32(R0), (F2, F3)

row:
	FMOVQ (R1), F16
	FMOVS (R4), F26
	ADD   R2, R1
	ADD   R6, R4
	TOPS(V16, V20, V21, V22)
	FLOATS(16, 20, 21, 22)
	ADD_16(16, 20, 21, 22, 26, 0)
	SUBS  $1, R3
	BNE   row
	FSTPQ (F0, F1), (R0)
	FSTPQ (F2, F3), 32(R0)
	RET
