//go:build !noasm

#include "textflag.h"

// The fits of sealing: kernels.FitLevels and kernels.FitUniform, the same sums in
// the same order. Lanes 0 to 7 of the sixteen partial sums are one vector, 8 to 15
// another; nothing is fused.

// A constant in one lane.
#define SCALAR(name, bits) \
DATA name+0(SB)/4, $bits   \
GLOBL name(SB), RODATA|NOPTR, $4

SCALAR(fitMaxHalf<>, 0x477fe000)   // 65504
SCALAR(fitMinHalf<>, 0xc77fe000)
SCALAR(fitOne<>, 0x3f800000)
SCALAR(fitToInt<>, 0x4b400000)     // 1.5·2²³ rounds to whole numbers

// x = kernels.storedScale(x): within ±65504, rounded to a half.
#define STORED(x) \
	VMINSS    fitMaxHalf<>(SB), x, x \
	VMAXSS    fitMinHalf<>(SB), x, x \
	VCVTPS2PH $0, x, x               \
	VCVTPH2PS x, x

// The sixteen partial sums low and high become one, in X4. Uses X5.
#define TOTAL(low, high) \
	VADDPS       high, low, Y4 \
	VEXTRACTF128 $1, Y4, X5    \
	VADDPS       X5, X4, X4    \
	VMOVHLPS     X4, X4, X5    \
	VADDPS       X5, X4, X4    \
	VMOVSHDUP    X4, X5        \
	VADDSS       X5, X4, X4

// The same of two at once: Y4 and Y5 to X5, Y6 and Y7 to X6. Uses X4 and X7.
#define TOTALS \
	VADDPS       Y5, Y4, Y4 \
	VADDPS       Y7, Y6, Y6 \
	VEXTRACTF128 $1, Y4, X5 \
	VEXTRACTF128 $1, Y6, X7 \
	VADDPS       X5, X4, X4 \
	VADDPS       X7, X6, X6 \
	VMOVLHPS     X6, X4, X5 \
	VMOVHLPS     X4, X6, X7 \
	VADDPS       X7, X5, X5 \
	VMOVSHDUP    X5, X7     \
	VADDPS       X7, X5, X5 \
	VMOVHLPS     X5, X5, X6

// Sixteen codes in the dwords of Y0 and Y1, stored as bytes.
#define STORE_CODES \
	VPACKSSDW    Y1, Y0, Y0    \
	VPERMQ       $0xd8, Y0, Y0 \
	VEXTRACTI128 $1, Y0, X1    \
	VPACKUSWB    X1, X0, X0    \
	VMOVDQU      X0, (DI)      \
	ADDQ         $16, DI

// The level of eight values: a = |x|, k = its number, three steps of 4, 2 and 1. The
// borders Y11, Y12, Y13 are scaled; floats that are not negative compare as integers.
#define SEARCH(x, a, k, t) \
	VANDPS   x, Y15, a    \
	VPCMPGTD Y11, a, k    \
	VPAND    Y9, k, k     \
	VPERMPS  Y12, k, t    \
	VPCMPGTD t, a, t      \
	VPAND    Y8, t, t     \
	VPOR     t, k, k      \
	VPERMPS  Y13, k, t    \
	VPCMPGTD t, a, t      \
	VPSUBD   t, k, k

// Adds a·level to products and level² to squares; the level is 0 beyond the group.
#define MOMENTS(mask, a, k, products, squares) \
	VPERMPS Y10, k, k              \
	VANDPS  mask, k, k             \
	VMULPS  k, a, a                \
	VADDPS  a, products, products  \
	VMULPS  k, k, k                \
	VADDPS  k, squares, squares

// A code: half + k for values above 0, half − 1 − k for the others. Y6 is 1, Y7 half.
#define CODE(x, k, t) \
	VPCMPGTD x, Y6, t \
	VPXOR    t, k, k  \
	VPADDD   Y7, k, k

// The borders for the scale in X0.
#define SCALE_BORDERS \
	VBROADCASTSS X0, Y3        \
	VBROADCASTSS 32(R9), Y11   \
	VMULPS       Y3, Y11, Y11  \
	VMULPS       64(R9), Y3, Y12 \
	VMULPS       96(R9), Y3, Y13

// Registers: SI x, DX its bytes, BX the offset in it; DI codes, R8 mask (an int32 a
// value), R9 table; CX passes left. X14 Σ x², X0 the scale; Y15 all bits but the
// sign, Y8 2, Y9 4, Y10 levels.
//
// func fitLevelsAVX2(codes *uint8, x *float32, blocks int, mask *int32, table *float32,
//	half int, count float32, debias bool) float32
TEXT ·fitLevelsAVX2(SB), NOSPLIT, $0-60
	MOVQ     codes+0(FP), DI
	MOVQ     x+8(FP), SI
	MOVQ     blocks+16(FP), DX
	MOVQ     mask+24(FP), R8
	MOVQ     table+32(FP), R9
	SHLQ     $6, DX
	VPCMPEQD Y15, Y15, Y15
	VPSRLD   $31, Y15, Y8
	VPSLLD   $2, Y8, Y9
	VPADDD   Y8, Y8, Y8
	VPSRLD   $1, Y15, Y15
	VMOVUPS  (R9), Y10
	VXORPS   Y4, Y4, Y4
	VXORPS   Y5, Y5, Y5
	XORQ     BX, BX

energy:
	VMOVUPS (SI)(BX*1), Y0
	VMOVUPS 32(SI)(BX*1), Y1
	VMULPS  Y0, Y0, Y0
	VMULPS  Y1, Y1, Y1
	VADDPS  Y0, Y4, Y4
	VADDPS  Y1, Y5, Y5
	ADDQ    $64, BX
	CMPQ    BX, DX
	JNE     energy
	TOTAL(Y4, Y5)
	VMOVAPS X4, X14
	VDIVSS  count+48(FP), X4, X0
	VSQRTSS X0, X0, X0
	STORED(X0)
	MOVL    $2, CX

refit:
	VXORPS   X3, X3, X3
	VUCOMISS X3, X0
	JEQ      nothing
	SCALE_BORDERS
	VXORPS   Y4, Y4, Y4
	VXORPS   Y5, Y5, Y5
	VXORPS   Y6, Y6, Y6
	VXORPS   Y7, Y7, Y7
	XORQ     BX, BX

moments:
	SEARCH((SI)(BX*1), Y0, Y1, Y2)
	MOMENTS((R8)(BX*1), Y0, Y1, Y4, Y6)
	SEARCH(32(SI)(BX*1), Y0, Y1, Y2)
	MOMENTS(32(R8)(BX*1), Y0, Y1, Y5, Y7)
	ADDQ   $64, BX
	CMPQ   BX, DX
	JNE    moments
	TOTALS
	VDIVSS X6, X5, X0
	STORED(X0)
	DECL   CX
	JNZ    refit

	VXORPS       X3, X3, X3
	VUCOMISS     X3, X0
	JEQ          nothing
	SCALE_BORDERS
	VMOVSS       X0, ret+56(FP)
	VPSRLD       $1, Y8, Y6
	VPBROADCASTD half+40(FP), Y7
	VXORPS       Y4, Y4, Y4
	VXORPS       Y5, Y5, Y5
	XORQ         BX, BX

choose:
	SEARCH((SI)(BX*1), Y2, Y0, Y3)
	VPERMPS Y10, Y0, Y3
	VMULPS  Y3, Y2, Y2
	VADDPS  Y2, Y4, Y4
	CODE((SI)(BX*1), Y0, Y3)
	SEARCH(32(SI)(BX*1), Y2, Y1, Y3)
	VPERMPS Y10, Y1, Y3
	VMULPS  Y3, Y2, Y2
	VADDPS  Y2, Y5, Y5
	CODE(32(SI)(BX*1), Y1, Y3)
	STORE_CODES
	ADDQ    $64, BX
	CMPQ    BX, DX
	JNE     choose
	CMPB    debias+52(FP), $0
	JEQ     done
	TOTAL(Y4, Y5)
	VDIVSS  X4, X14, X0
	STORED(X0)
	VMOVSS  X0, ret+56(FP)

done:
	VZEROUPPER
	RET

nothing:
	VPXOR X0, X0, X0

clear:
	VMOVDQU X0, (DI)
	ADDQ    $16, DI
	SUBQ    $64, DX
	JNZ     clear
	VMOVSS  X0, ret+56(FP)
	VZEROUPPER
	RET

// The levels of sixteen values: x·inverse (Y8) between Y9 and Y10, rounded by adding
// and subtracting Y11; the sums are in Y0 and Y1 before the subtraction.
#define ROUND \
	VMULPS (SI)(BX*1), Y8, Y0   \
	VMULPS 32(SI)(BX*1), Y8, Y1 \
	VMAXPS Y9, Y0, Y0           \
	VMAXPS Y9, Y1, Y1           \
	VMINPS Y10, Y0, Y0          \
	VMINPS Y10, Y1, Y1          \
	VADDPS Y11, Y0, Y0          \
	VADDPS Y11, Y1, Y1          \
	VSUBPS Y11, Y0, Y2          \
	VSUBPS Y11, Y1, Y3

// Y8 = 1/scale, 0 where the scale in X0 is 0.
#define INVERSE \
	VXORPS       X3, X3, X3           \
	VMOVSS       fitOne<>(SB), X8     \
	VDIVSS       X0, X8, X8           \
	VCMPSS       $4, X3, X0, X3       \
	VANDPS       X3, X8, X8           \
	VBROADCASTSS X8, Y8

// Registers: SI x, DX its bytes, BX the offset in it; DI codes, CX passes left. X14
// Σ x², X0 and then X12 the scale; Y9 −half, Y10 half−1, Y11 1.5·2²³, Y13 what makes a
// code of a level plus that.
//
// func fitUniformAVX2(codes *uint8, x *float32, blocks int, half float32, debias bool) float32
TEXT ·fitUniformAVX2(SB), NOSPLIT, $0-36
	MOVQ         codes+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         blocks+16(FP), DX
	VMOVSS       half+24(FP), X10
	VBROADCASTSS fitToInt<>(SB), Y11
	VXORPS       X9, X9, X9
	VSUBSS       X10, X9, X9
	VBROADCASTSS X9, Y9
	VCVTTPS2DQ   X10, X13
	VPSUBD       X11, X13, X13
	VPBROADCASTD X13, Y13
	SHLQ         $6, DX
	VXORPS       Y4, Y4, Y4
	VXORPS       Y5, Y5, Y5
	VXORPS       Y6, Y6, Y6
	VXORPS       Y7, Y7, Y7
	XORQ         BX, BX

energy:
	VMOVUPS (SI)(BX*1), Y0
	VMOVUPS 32(SI)(BX*1), Y1
	VMAXPS  Y0, Y6, Y6
	VMINPS  Y0, Y7, Y7
	VMAXPS  Y1, Y6, Y6
	VMINPS  Y1, Y7, Y7
	VMULPS  Y0, Y0, Y0
	VMULPS  Y1, Y1, Y1
	VADDPS  Y0, Y4, Y4
	VADDPS  Y1, Y5, Y5
	ADDQ    $64, BX
	CMPQ    BX, DX
	JNE     energy
	TOTAL(Y4, Y5)
	VMOVAPS X4, X14

	VEXTRACTF128 $1, Y6, X0 // the largest and, its sign turned, the smallest
	VEXTRACTF128 $1, Y7, X1
	VMAXPS       X0, X6, X6
	VMINPS       X1, X7, X7
	VXORPS       X3, X3, X3
	VSUBPS       X7, X3, X7
	VUNPCKLPS    X7, X6, X0
	VUNPCKHPS    X7, X6, X1
	VMAXPS       X1, X0, X0
	VMOVHLPS     X0, X0, X1
	VMAXPS       X1, X0, X0
	VMOVSHDUP    X0, X1
	VSUBSS       X1, X3, X2
	VCMPSS       $1, X1, X0, X4 // −smallest is larger
	VBLENDVPS    X4, X2, X0, X0
	VDIVSS       X10, X0, X0
	VSUBSS       X0, X3, X0
	STORED(X0)
	VSUBSS       fitOne<>(SB), X10, X10
	VBROADCASTSS X10, Y10
	MOVL         $2, CX

refit:
	VMOVAPS X0, X12
	INVERSE
	VXORPS  Y4, Y4, Y4
	VXORPS  Y5, Y5, Y5
	VXORPS  Y6, Y6, Y6
	VXORPS  Y7, Y7, Y7
	XORQ    BX, BX

moments:
	ROUND
	VMULPS   (SI)(BX*1), Y2, Y0
	VMULPS   32(SI)(BX*1), Y3, Y1
	VADDPS   Y0, Y4, Y4
	VADDPS   Y1, Y5, Y5
	VMULPS   Y2, Y2, Y2
	VMULPS   Y3, Y3, Y3
	VADDPS   Y2, Y6, Y6
	VADDPS   Y3, Y7, Y7
	ADDQ     $64, BX
	CMPQ     BX, DX
	JNE      moments
	TOTALS
	VXORPS   X3, X3, X3
	VMOVAPS  X12, X0
	VUCOMISS X3, X5
	JEQ      again
	VDIVSS   X6, X5, X0
	STORED(X0)

again:
	DECL   CX
	JNZ    refit
	VMOVSS X0, ret+32(FP)
	INVERSE
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	XORQ   BX, BX

choose:
	ROUND
	VMULPS (SI)(BX*1), Y2, Y2
	VMULPS 32(SI)(BX*1), Y3, Y3
	VADDPS Y2, Y4, Y4
	VADDPS Y3, Y5, Y5
	VPADDD Y13, Y0, Y0
	VPADDD Y13, Y1, Y1
	STORE_CODES
	ADDQ   $64, BX
	CMPQ   BX, DX
	JNE    choose
	CMPB   debias+28(FP), $0
	JEQ    done
	TOTAL(Y4, Y5)
	VXORPS   X3, X3, X3
	VUCOMISS X3, X4
	JEQ      done
	VDIVSS   X4, X14, X0
	STORED(X0)
	VMOVSS   X0, ret+32(FP)

done:
	VZEROUPPER
	RET
