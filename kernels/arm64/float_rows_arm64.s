//go:build !noasm

#include "textflag.h"
#include "insn_arm64.h"
#include "rows_arm64.h"

// Rows of float32: their dots with a query, and their weighted sum.

#define ENTER_AXPY \
	MOVD out+0(FP), R0     \
	MOVD w+8(FP), R4       \
	MOVD x+16(FP), R1      \
	MOVD stride+24(FP), R2 \
	MOVD rows+32(FP), R3

#define ADD_TO(x, panel) FMLA_4S_LANE(0, 31, x, panel)

// Every element is computed in one way, in lanes of fused additions:
//
//	a[j] += q[c+j]·x[c+j], b[j] += q[c+4+j]·x[c+4+j], for c in steps of 8
//	a[j] += q[c+j]·x[c+j] for the next four, a[0] += q[c]·x[c] for single ones
//	((a+b)[0] + (a+b)[1]) + ((a+b)[2] + (a+b)[3])
//
//	R0 scores   R1 bytes from row to row   R2 query   R3 values   R4 rows left
//	R5 values left   R6, R7 bytes done, and 16 more   R8-R11 rows 0-3
//	V0, V1 query   V2-V9 rows   V16-V23 a and b of rows 0-3
//
// func dotRowsNEON(scores, x *float32, stride, rows int, q *float32, n int)
TEXT ·dotRowsNEON(SB), NOSPLIT, $0-48
	MOVD scores+0(FP), R0
	MOVD x+8(FP), R11
	MOVD stride+16(FP), R1
	MOVD rows+24(FP), R4
	MOVD q+32(FP), R2
	MOVD n+40(FP), R3
	SUB  R1, R11                   // as if a row before the first were done

rows:
	FOUR_FROM(R8, R9, R10, R11, R1)
	VMOVI $0, V16.B16
	VMOVI $0, V17.B16
	VMOVI $0, V18.B16
	VMOVI $0, V19.B16
	VMOVI $0, V20.B16
	VMOVI $0, V21.B16
	VMOVI $0, V22.B16
	VMOVI $0, V23.B16
	MOVD  ZR, R6
	MOVD  $16, R7
	CMP   $4, R4
	BGE   columns
	CMP   $2, R4
	LAST_AGAIN(R8, R9, R10, R11)

columns:
	SUBS $8, R3, R5
	BLT  four

eight:
	LDR_Q(6, 2, 0)
	LDR_Q(6, 8, 2)
	LDR_Q(6, 9, 3)
	LDR_Q(6, 10, 4)
	LDR_Q(6, 11, 5)
	LDR_Q(7, 2, 1)
	LDR_Q(7, 8, 6)
	LDR_Q(7, 9, 7)
	LDR_Q(7, 10, 8)
	LDR_Q(7, 11, 9)
	ADD  $32, R6
	ADD  $32, R7
	SUBS $8, R5
	FMLA_4S(0, 2, 16)
	FMLA_4S(0, 3, 18)
	FMLA_4S(0, 4, 20)
	FMLA_4S(0, 5, 22)
	FMLA_4S(1, 6, 17)
	FMLA_4S(1, 7, 19)
	FMLA_4S(1, 8, 21)
	FMLA_4S(1, 9, 23)
	BGE  eight

four:
	TBZ $2, R5, single
	LDR_Q(6, 2, 0)
	LDR_Q(6, 8, 2)
	LDR_Q(6, 9, 3)
	LDR_Q(6, 10, 4)
	LDR_Q(6, 11, 5)
	ADD $16, R6
	FMLA_4S(0, 2, 16)
	FMLA_4S(0, 3, 18)
	FMLA_4S(0, 4, 20)
	FMLA_4S(0, 5, 22)

single:
	ANDS  $3, R5
	BEQ   sum

one:
	FMOVS (R2)(R6), F0
	FMOVS (R8)(R6), F2
	FMOVS (R9)(R6), F3
	FMOVS (R10)(R6), F4
	FMOVS (R11)(R6), F5
	ADD   $4, R6
	FMLA_4S(0, 2, 16)
	FMLA_4S(0, 3, 18)
	FMLA_4S(0, 4, 20)
	FMLA_4S(0, 5, 22)
	SUBS  $1, R5
	BNE   one

sum:
	FADD_4S(17, 16, 16)
	FADD_4S(19, 18, 18)
	FADD_4S(21, 20, 20)
	FADD_4S(23, 22, 22)
	FADDP_4S(18, 16, 16)
	FADDP_4S(22, 20, 20)
	FADDP_4S(20, 16, 16)
	SUBS  $4, R4
	BLT   few
	FMOVQ F16, (R0)
	ADD   $16, R0
	BNE   rows
	RET

few: // R4 is −1, −2 or −3: there are three, two or one of the four rows
	ADD   $4, R4
	TBZ   $1, R4, odd
	FMOVD F16, (R0)
	ADD   $8, R0
	VDUP  V16.S[2], V16.S4

odd:
	TBZ   $0, R4, done
	FMOVS F16, (R0)

done:
	RET

// ---- Weighted sums, as mix_arm64.s has them
//
//	R0 out   R1 row   R2 bytes from row to row   R3 rows left   R4 weights
//	V0-V15 the panel   V16-V30 the row   V31 its weight
//
// func axpyRows64NEON(out, w, x *float32, stride, rows int)
TEXT ·axpyRows64NEON(SB), NOSPLIT, $0-40
	ENTER_AXPY
	LOAD_PANEL

row:
	FMOVS (R4), F31
	FLDPQ (R1), (F16, F17)
	FLDPQ 32(R1), (F18, F19)
	FLDPQ 64(R1), (F20, F21)
	FLDPQ 96(R1), (F22, F23)
	FLDPQ 128(R1), (F24, F25)
	FLDPQ 160(R1), (F26, F27)
	FLDPQ 192(R1), (F28, F29)
	FMOVQ 224(R1), F30
	ADD   $4, R4
	ADD_TO(16, 0)
	FMOVQ 240(R1), F16
	ADD   R2, R1
	ADD_TO(17, 1)
	ADD_TO(18, 2)
	ADD_TO(19, 3)
	ADD_TO(20, 4)
	ADD_TO(21, 5)
	ADD_TO(22, 6)
	ADD_TO(23, 7)
	ADD_TO(24, 8)
	ADD_TO(25, 9)
	ADD_TO(26, 10)
	ADD_TO(27, 11)
	ADD_TO(28, 12)
	SUBS  $1, R3
	ADD_TO(29, 13)
	ADD_TO(30, 14)
	ADD_TO(16, 15)
	BNE   row
	STORE_PANEL
	RET

// func axpyRows16NEON(out, w, x *float32, stride, rows int)
TEXT ·axpyRows16NEON(SB), NOSPLIT, $0-40
	ENTER_AXPY
	FLDPQ (R0), (F0, F1)
	FLDPQ 32(R0), (F2, F3)

row:
	FMOVS (R4), F31
	FLDPQ (R1), (F16, F17)
	FLDPQ 32(R1), (F18, F19)
	ADD   $4, R4
	ADD   R2, R1
	ADD_TO(16, 0)
	ADD_TO(17, 1)
	ADD_TO(18, 2)
	ADD_TO(19, 3)
	SUBS  $1, R3
	BNE   row
	FSTPQ (F0, F1), (R0)
	FSTPQ (F2, F3), 32(R0)
	RET

// func axpyRows4NEON(out, w, x *float32, stride, rows int)
TEXT ·axpyRows4NEON(SB), NOSPLIT, $0-40
	ENTER_AXPY
	FMOVQ (R0), F0

row:
	FMOVS (R4), F31
	FMOVQ (R1), F16
	ADD   $4, R4
	ADD   R2, R1
	ADD_TO(16, 0)
	SUBS  $1, R3
	BNE   row
	FMOVQ F0, (R0)
	RET

// func axpyRows1NEON(out, w, x *float32, stride, rows int)
TEXT ·axpyRows1NEON(SB), NOSPLIT, $0-40
	ENTER_AXPY
	FMOVS (R0), F0

row:
	FMOVS (R4), F31
	FMOVS (R1), F16
	ADD   $4, R4
	ADD   R2, R1
	ADD_TO(16, 0)
	SUBS  $1, R3
	BNE   row
	FMOVS F0, (R0)
	RET
