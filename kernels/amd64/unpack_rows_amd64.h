// The loop over rows and units of every function of unpack_amd64.s.

	SHRQ $5, DX

row:
	MOVQ  R10, SI
	LEAQ  (SI)(R12*1), R8
	LEAQ  (SI)(R13*1), R9
	MOVQ  DX, CX
	TESTQ CX, CX
	JZ    half

unit:
	UNIT
	VMOVDQU Y0, (DI)
	ADDQ    $32, DI
	STEP
	DECQ    CX
	JNZ     unit

half:
	TESTL   AX, AX
	JZ      next
	HALF
	VMOVDQU X0, (DI)
	ADDQ    $16, DI

next:
	ADDQ R11, R10
	DECQ BX
	JNZ  row
	VZEROUPPER
	RET

#undef UNIT
#undef HALF
#undef STEP
