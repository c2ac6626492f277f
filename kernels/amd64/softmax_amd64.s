//go:build !noasm

#include "textflag.h"

// The steps of a softmax: the largest score, exponentials and their sum.

// A constant in all lanes of a vector.
#define EIGHT(name, bits) \
DATA name+0(SB)/4, $bits \
DATA name+4(SB)/4, $bits \
DATA name+8(SB)/4, $bits \
DATA name+12(SB)/4, $bits \
DATA name+16(SB)/4, $bits \
DATA name+20(SB)/4, $bits \
DATA name+24(SB)/4, $bits \
DATA name+28(SB)/4, $bits \
GLOBL name(SB), RODATA|NOPTR, $32

// The constants of kernels.Exp, in its order; 1.5·2²³ rounds to whole numbers.
EIGHT(expOver<>, 0x42b17218)
EIGHT(expVanish<>, 0xc2cff1b4)
EIGHT(expLog2e<>, 0x3fb8aa3b)
EIGHT(expToInt<>, 0x4b400000)
EIGHT(expLn2High<>, 0x3f318000)
EIGHT(expLn2Low<>, 0xb95e8083)
EIGHT(exp0<>, 0x39506967)
EIGHT(exp1<>, 0x3ab743ce)
EIGHT(exp2<>, 0x3c088908)
EIGHT(exp3<>, 0x3d2aa9c1)
EIGHT(exp4<>, 0x3e2aaaaa)
EIGHT(exp5<>, 0x3f000000)
EIGHT(expOne<>, 0x3f800000)
EIGHT(expInfinity<>, 0x7f800000)
EIGHT(expBias<>, 127)
EIGHT(minusInfinity<>, 0xff800000)

// n lanes that are set from 4·(8−n) bytes on, then clear ones.
DATA firstOf8<>+0(SB)/8, $-1
DATA firstOf8<>+8(SB)/8, $-1
DATA firstOf8<>+16(SB)/8, $-1
DATA firstOf8<>+24(SB)/8, $-1
GLOBL firstOf8<>(SB), RODATA|NOPTR, $64

// Y0 = Exp(Y0), the steps of kernels.Exp one by one, none fused: n = round(x·log2 e),
// r = x − n·ln 2 in two parts, the polynomial in r, times 2ⁿ in two factors, then
// infinity above and 0 below the range. Uses Y1..Y5.
#define EXP \
	VMULPS     expLog2e<>(SB), Y0, Y1         \
	VADDPS     expToInt<>(SB), Y1, Y1         \
	VSUBPS     expToInt<>(SB), Y1, Y1         \
	VMULPS     expLn2High<>(SB), Y1, Y2       \
	VSUBPS     Y2, Y0, Y2                     \
	VMULPS     expLn2Low<>(SB), Y1, Y3        \
	VSUBPS     Y3, Y2, Y2                     \
	VMULPS     exp0<>(SB), Y2, Y3             \
	VADDPS     exp1<>(SB), Y3, Y3             \
	VMULPS     Y2, Y3, Y3                     \
	VADDPS     exp2<>(SB), Y3, Y3             \
	VMULPS     Y2, Y3, Y3                     \
	VADDPS     exp3<>(SB), Y3, Y3             \
	VMULPS     Y2, Y3, Y3                     \
	VADDPS     exp4<>(SB), Y3, Y3             \
	VMULPS     Y2, Y3, Y3                     \
	VADDPS     exp5<>(SB), Y3, Y3             \
	VMULPS     Y2, Y2, Y4                     \
	VMULPS     Y4, Y3, Y3                     \
	VADDPS     Y2, Y3, Y3                     \
	VADDPS     expOne<>(SB), Y3, Y3           \
	VCVTTPS2DQ Y1, Y1                         \
	VPSRAD     $1, Y1, Y4                     \
	VPSUBD     Y4, Y1, Y1                     \
	VPADDD     expBias<>(SB), Y4, Y4          \
	VPADDD     expBias<>(SB), Y1, Y1          \
	VPSLLD     $23, Y4, Y4                    \
	VPSLLD     $23, Y1, Y1                    \
	VMULPS     Y4, Y3, Y3                     \
	VMULPS     Y1, Y3, Y3                     \
	VCMPPS     $0x11, expVanish<>(SB), Y0, Y5 \
	VCMPPS     $0x1e, expOver<>(SB), Y0, Y4   \
	VBLENDVPS  Y4, expInfinity<>(SB), Y3, Y3  \
	VANDNPS    Y3, Y5, Y0

// x[i] = Exp(x[i]−largest), added to sums[i mod 8]; the result is
// ((s0+s4) + (s2+s6)) + ((s1+s5) + (s3+s7)).
//
// func expSumAVX2(x *float32, n int, largest float32, sums *float32) float32
TEXT ·expSumAVX2(SB), NOSPLIT, $0-36
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VBROADCASTSS largest+16(FP), Y15
	MOVQ         sums+24(FP), DI
	VMOVUPS      (DI), Y14
	SUBQ         $8, CX
	JLT          short

eight:
	VMOVUPS (SI), Y0
	VSUBPS  Y15, Y0, Y0
	EXP
	VMOVUPS Y0, (SI)
	VADDPS  Y0, Y14, Y14
	ADDQ    $32, SI
	SUBQ    $8, CX
	JGE     eight

short:
	ADDQ       $8, CX
	JZ         reduce
	NEGQ       CX
	LEAQ       firstOf8<>+32(SB), R8
	VMOVUPS    (R8)(CX*4), Y13
	VMASKMOVPS (SI), Y13, Y0
	VSUBPS     Y15, Y0, Y0
	EXP
	VMASKMOVPS Y0, Y13, (SI)
	VANDPS     Y13, Y0, Y0
	VADDPS     Y0, Y14, Y14

reduce:
	VMOVUPS      Y14, (DI)
	VEXTRACTF128 $1, Y14, X1
	VADDPS       X1, X14, X0
	VMOVHLPS     X0, X0, X1
	VADDPS       X1, X0, X0
	VMOVSHDUP    X0, X1
	VADDSS       X1, X0, X0
	VMOVSS       X0, ret+32(FP)
	VZEROUPPER
	RET

// func maxAVX2(x *float32, n int) float32
TEXT ·maxAVX2(SB), NOSPLIT, $0-20
	MOVQ    x+0(FP), SI
	MOVQ    n+8(FP), CX
	VMOVUPS minusInfinity<>(SB), Y0
	VMOVAPS Y0, Y1
	SUBQ    $16, CX
	JLT     eights

sixteen:
	VMOVUPS (SI), Y2   // a NaN leaves the second operand, the largest so far
	VMOVUPS 32(SI), Y3
	VMAXPS  Y0, Y2, Y0
	VMAXPS  Y1, Y3, Y1
	ADDQ    $64, SI
	SUBQ    $16, CX
	JGE     sixteen
	VMAXPS  Y1, Y0, Y0

eights:
	ADDQ    $8, CX
	JLT     reduce
	VMOVUPS (SI), Y2
	VMAXPS  Y0, Y2, Y0
	ADDQ    $32, SI
	SUBQ    $8, CX

reduce:
	VEXTRACTF128 $1, Y0, X1
	VMAXPS       X1, X0, X0
	VMOVHLPS     X0, X0, X1
	VMAXPS       X1, X0, X0
	VMOVSHDUP    X0, X1
	VMAXSS       X1, X0, X0
	ADDQ         $8, CX
	JZ           done

one:
	VMOVSS (SI), X2
	VMAXSS X0, X2, X0
	ADDQ   $4, SI
	DECQ   CX
	JNZ    one

done:
	VMOVSS X0, ret+16(FP)
	VZEROUPPER
	RET
