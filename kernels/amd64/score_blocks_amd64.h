// The loop over blocks of eight rows and over groups of both functions of
// score_amd64.s: OPEN clears what DOTS_32 and DOTS_16 add up, REDUCE leaves the
// dots of the block in Y0.

	MOVQ scores+0(FP), DI
	MOVQ codes+8(FP), SI
	MOVQ stride+16(FP), DX
	MOVQ scales+64(FP), R11
	MOVQ minima+72(FP), R13
	MOVQ scaleStride+80(FP), R12
	MOVQ qSum+56(FP), AX
	SUBQ qScale+48(FP), AX
	LEAQ (DX)(DX*2), R9

block:
	LEAQ   (SI)(DX*4), R8
	MOVQ   q+40(FP), R10
	MOVQ   qScale+48(FP), R15
	MOVQ   padded+24(FP), BX
	VXORPS Y14, Y14, Y14

group:
	MOVQ    group+88(FP), CX
	CMPQ    CX, BX
	CMOVQGT BX, CX
	SUBQ    CX, BX
	OPEN
	SUBQ    $32, CX
	JLT     half

dots:
	DOTS_32
	ADDQ $32, SI
	ADDQ $32, R8
	ADDQ $32, R10
	SUBQ $32, CX
	JGE  dots

half:
	CMPQ CX, $-32
	JEQ  reduce
	DOTS_16
	ADDQ $16, SI
	ADDQ $16, R8
	ADDQ $16, R10

reduce:
	REDUCE
	VCVTDQ2PS Y0, Y0
	VMOVDQU   evenFirst<>(SB), Y9
	CMPQ      R12, $4
	JEQ       scaleOne
	CMPQ      R12, $8
	JEQ       scaleTwo
	GATHER(R11)
	JMP       scaled

scaleOne:
	VMOVUPS (R11), Y12
	JMP     scaled

scaleTwo:
	PAIRS_OF(R11)

scaled:
	VBROADCASTSS (R15), Y13
	VMULPS       Y13, Y12, Y12
	VMULPS       Y0, Y12, Y12
	VADDPS       Y12, Y14, Y14
	ADDQ         $4, R11
	TESTQ        R13, R13
	JZ           next
	CMPQ         R12, $4
	JEQ          minimumOne
	CMPQ         R12, $8
	JEQ          minimumTwo
	GATHER(R13)
	JMP          minimum

minimumOne:
	VMOVUPS (R13), Y12
	JMP     minimum

minimumTwo:
	PAIRS_OF(R13)

minimum:
	VBROADCASTSS (R15)(AX*1), Y13
	VMULPS       Y13, Y12, Y12
	VADDPS       Y12, Y14, Y14
	ADDQ         $4, R13

next:
	ADDQ    $4, R15
	TESTQ   BX, BX
	JNZ     group
	VADDPS  (DI), Y14, Y14
	VMOVUPS Y14, (DI)
	ADDQ    $32, DI
	SUBQ    padded+24(FP), SI
	LEAQ    (SI)(DX*8), SI
	LEAQ    (R12)(R12*2), CX
	LEAQ    (CX)(R12*4), CX
	ADDQ    CX, R11
	TESTQ   R13, R13
	JZ      rows
	ADDQ    CX, R13

rows:
	DECQ blocks+32(FP)
	JNZ  block
	VZEROUPPER
	RET

#undef OPEN
#undef DOTS_32
#undef DOTS_16
#undef REDUCE
