// The loop over rows and groups of both functions of score_arm64.s.

	MOVD scores+0(FP), R0
	MOVD codes+8(FP), R11
	MOVD padded+16(FP), R5
	MOVD rows+24(FP), R4
	MOVD q+32(FP), R2
	MOVD scales+56(FP), R15
	MOVD minima+64(FP), R22
	MOVD scaleBytes+72(FP), R3
	MOVD group+80(FP), R7
	MOVD ZR, R6
	ZERO4(V4, V5, V6, V7)
	ZERO(V18)
	ZERO(V19)
	ZERO(V31)

rows:
	ENTER_ROWS
	CMP  $4, R3
	CSET EQ, R1
	CMP  $4, R4
	CSEL LT, ZR, R1, R1

group:
	CMP  R24, R7
	CSEL LT, R7, R24, R25
	SUB  R25, R24
	SUBS $32, R25
	BLT  short
	FIRST_32
	B    carried

short:
	FIRST_16
	ADD $16, R25

carried:
	CBZ R6, factors
	FMOVQ (R6), F30       // the last group was the last of its rows
	FADD_4S(31, 30, 30)
	FMOVQ F30, (R6)
	ZERO(V31)
	MOVD  ZR, R6

factors:
	VLD1R.P 4(R17), [V20.S4]
	CBNZ    R1, adjoin
	FOUR_OF(R12, R13, R14, R15, V18)
	B       scaled

adjoin:
	FMOVQ (R12), F18
	ADD   $4, R15

scaled:
	FMUL_4S(20, 18, 18)
	CBZ     R23, dots
	VLD1R.P 4(R23), [V21.S4]
	CBNZ    R1, adjoinMinima
	FOUR_OF(R19, R20, R21, R22, V19)
	B       offset

adjoinMinima:
	FMOVQ (R19), F19
	ADD   $4, R22

offset:
	FMUL_4S(21, 19, 19)

dots:
	SUBS $32, R25
	BLT  half
	NEXT_32
	B    dots

half:
	TBZ $4, R25, next
	NEXT_16

next:
	CBNZ R24, group
	MOVD R0, R6
	ADD  $16, R0
	SUBS $4, R4
	BGT  rows
	SUM_LAST
	FINISH
	BNE  few
	FMOVQ (R6), F30
	FADD_4S(31, 30, 30)
	FMOVQ F30, (R6)
	RET

few: // R4 = −1, −2 or −3: three, two or one of the four rows
	ADD   $4, R4
	TBZ   $1, R4, odd
	FMOVD (R6), F30
	FADD_4S(31, 30, 30)
	FMOVD F30, (R6)
	ADD   $8, R6
	VDUP  V31.S[2], V31.S4

odd:
	TBZ   $0, R4, done
	FMOVS (R6), F30
	FADD_4S(31, 30, 30)
	FMOVS F30, (R6)

done:
	RET

#undef FIRST_32
#undef FIRST_16
#undef NEXT_32
#undef NEXT_16
