// The loop over rows and groups of both functions of score_arm64.s.

	MOVD  scores+0(FP), R0
	MOVD  codes+8(FP), R11
	MOVD  padded+16(FP), R5
	MOVD  rows+24(FP), R4
	MOVD  q+32(FP), R2
	MOVD  qScale+40(FP), R17
	MOVD  qSum+48(FP), R23
	MOVD  scales+56(FP), R15
	MOVD  minima+64(FP), R22
	MOVD  scaleBytes+72(FP), R3
	SUB   R5, R11         // as if a row before the first were done
	SUB   R3, R15
	SUB   R3, R22
	MOVD  ZR, R6
	VMOVI $0, V4.B16
	VMOVI $0, V5.B16
	VMOVI $0, V6.B16
	VMOVI $0, V7.B16
	VMOVI $0, V18.B16
	VMOVI $0, V19.B16
	VMOVI $0, V31.B16

rows:
	FOUR_FROM(R8, R9, R10, R11, R5)
	FOUR_FROM(R12, R13, R14, R15, R3)
	FOUR_FROM(R19, R20, R21, R22, R3)
	MOVD ZR, R16
	MOVD ZR, R7
	CMP  $4, R3
	CSET EQ, R1
	CMP  $4, R4
	BLT  lastRows

group:
	MOVD group+80(FP), R25
	SUB  R16, R5, R24
	CMP  R24, R25
	CSEL LT, R25, R24, R25
	ADD  $16, R16, R24
	SUBS $32, R25
	BLT  short
	FIRST_32
	B    carried

short:
	FIRST_16
	ADD $16, R25

carried:
	CBZ   R6, factors
	FMOVQ (R6), F30       // the last group was the last of its rows
	FADD_4S(31, 30, 30)
	VMOVI $0, V31.B16
	FMOVQ F30, (R6)
	MOVD  ZR, R6

factors:
	CBNZ R1, adjoin
	FOUR_OF(R12, R13, R14, R15, F18, V18)
	B    scaled

adjoin:
	FMOVQ (R12), F18

scaled:
	FMOVS (R17)(R7), F20
	FMUL_4S_LANE(0, 20, 18, 18)
	CBZ   R23, dots
	CBNZ  R1, adjoinMinima
	FOUR_OF(R19, R20, R21, R22, F19, V19)
	B     offset

adjoinMinima:
	FMOVQ (R19), F19

offset:
	FMOVS (R23)(R7), F20
	FMUL_4S_LANE(0, 20, 19, 19)

dots:
	ADD  $4, R7
	SUBS $32, R25
	BLT  half

wide:
	NEXT_32
	SUBS $32, R25
	BGE  wide

half:
	TBZ $4, R25, next
	NEXT_16

next:
	CMP  R5, R16
	BLT  group
	MOVD R0, R6
	ADD  $16, R0
	SUBS $4, R4
	BGT  rows
	SUM_LAST
	FINISH
	BNE   few
	FMOVQ (R6), F30
	FADD_4S(31, 30, 30)
	FMOVQ F30, (R6)
	RET

lastRows:
	CMP  $2, R4
	LAST_AGAIN(R8, R9, R10, R11)
	LAST_AGAIN(R12, R13, R14, R15)
	LAST_AGAIN(R19, R20, R21, R22)
	MOVD ZR, R1
	B    group

few: // R4 is −1, −2 or −3: there are three, two or one of the four rows
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
