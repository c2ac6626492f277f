// The loop over rows and channels of every function of unpack_arm64.s.

row:
	MOVD R1, R8
	ADD  R6, R1, R9
	ADD  R7, R1, R10
	SUBS $64, R3, R11
	BLT  unit

wide:
	LOAD_64
	CODES
	FSTPQ (F0, F1), (R0)
	FSTPQ (F2, F3), 32(R0)
	ADD   $64, R0
	SUBS  $64, R11
	BGE   wide

unit:
	TBZ   $5, R3, half
	LOAD_32
	CODES
	FSTPQ (F0, F1), (R0)
	ADD   $32, R0

half:
	TBZ   $4, R3, next
	LOAD_16
	CODES
	FMOVQ F0, (R0)
	ADD   $16, R0

next:
	ADD  R2, R1
	SUBS $1, R4
	BNE  row
	RET

#undef LOAD_64
#undef LOAD_32
#undef LOAD_16
#undef CODES
