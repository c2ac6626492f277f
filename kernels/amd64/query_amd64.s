//go:build !noasm

#include "textflag.h"

// What happens to a query before it meets the keys: rotation and quantization.

DATA queryAbs<>+0(SB)/4, $0x7fffffff
GLOBL queryAbs<>(SB), RODATA|NOPTR, $4
DATA queryCodeMax<>+0(SB)/4, $127.0
GLOBL queryCodeMax<>(SB), RODATA|NOPTR, $4
DATA queryMinAmax<>+0(SB)/4, $1e-30
GLOBL queryMinAmax<>(SB), RODATA|NOPTR, $4

// Registers: SI x, DI codes, R10 scales, R11 sums; BX values left, CX those of
// the group, AX those of it left.
//
// func quantizeQueryAVX2(dst *int8, scale, sum, x *float32, n, group int)
TEXT ·quantizeQueryAVX2(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	MOVQ         scale+8(FP), R10
	MOVQ         sum+16(FP), R11
	MOVQ         x+24(FP), SI
	MOVQ         n+32(FP), BX
	VBROADCASTSS queryAbs<>(SB), Y15
	VMOVSS       queryCodeMax<>(SB), X14
	VMOVSS       queryMinAmax<>(SB), X13

group:
	MOVQ    group+40(FP), CX
	CMPQ    CX, BX
	CMOVQGT BX, CX
	SUBQ    CX, BX
	MOVQ    SI, R8
	MOVQ    CX, AX
	VXORPS  Y4, Y4, Y4
	VXORPS  Y5, Y5, Y5

largest:
	VANDPS       (R8), Y15, Y0   // amax = max |x|
	VANDPS       32(R8), Y15, Y1
	VMAXPS       Y4, Y0, Y4
	VMAXPS       Y5, Y1, Y5
	ADDQ         $64, R8
	SUBQ         $16, AX
	JNZ          largest
	VMAXPS       Y5, Y4, Y4
	VEXTRACTF128 $1, Y4, X5
	VMAXPS       X5, X4, X4
	VPERMILPS    $0x4e, X4, X5
	VMAXPS       X5, X4, X4
	VPERMILPS    $0xb1, X4, X5
	VMAXPS       X5, X4, X4

	VCMPSS       $13, X13, X4, X8 // amax ≥ 1e-30, else all is zero
	VDIVSS       X14, X4, X6      // scale = amax/127
	VDIVSS       X4, X14, X7      // inverse = 127/amax
	VANDPS       X8, X6, X6
	VANDPS       X8, X7, X7
	VBROADCASTSS X7, Y7
	VPXOR        Y3, Y3, Y3

codes:
	VMULPS       (SI), Y7, Y0   // code = rne(x·inverse)
	VMULPS       32(SI), Y7, Y1
	VCVTPS2DQ    Y0, Y0
	VCVTPS2DQ    Y1, Y1
	VPADDD       Y0, Y3, Y3     // Σ code
	VPADDD       Y1, Y3, Y3
	VPACKSSDW    Y1, Y0, Y0
	VPERMQ       $0xd8, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPACKSSWB    X1, X0, X0
	VMOVDQU      X0, (DI)
	ADDQ         $64, SI
	ADDQ         $16, DI
	SUBQ         $16, CX
	JNZ          codes

	VEXTRACTI128 $1, Y3, X4
	VPADDD       X4, X3, X3
	VPHADDD      X3, X3, X3
	VPHADDD      X3, X3, X3
	VCVTDQ2PS    X3, X3
	VMULSS       X6, X3, X3 // sum = scale·Σ code
	VMOVSS       X6, (R10)
	VMOVSS       X3, (R11)
	ADDQ         $4, R10
	ADDQ         $4, R11
	TESTQ        BX, BX
	JNZ          group
	VZEROUPPER
	RET

// Which half of each pair is subtracted, for strides of 1, 2 and 4.
DATA minusOdd<>+0(SB)/8, $0x8000000000000000
DATA minusOdd<>+8(SB)/8, $0x8000000000000000
DATA minusOdd<>+16(SB)/8, $0x8000000000000000
DATA minusOdd<>+24(SB)/8, $0x8000000000000000
GLOBL minusOdd<>(SB), RODATA|NOPTR, $32

DATA minusUpperTwo<>+0(SB)/8, $0
DATA minusUpperTwo<>+8(SB)/8, $0x8000000080000000
DATA minusUpperTwo<>+16(SB)/8, $0
DATA minusUpperTwo<>+24(SB)/8, $0x8000000080000000
GLOBL minusUpperTwo<>(SB), RODATA|NOPTR, $32

DATA minusUpperFour<>+0(SB)/8, $0
DATA minusUpperFour<>+8(SB)/8, $0
DATA minusUpperFour<>+16(SB)/8, $0x8000000080000000
DATA minusUpperFour<>+24(SB)/8, $0x8000000080000000
GLOBL minusUpperFour<>(SB), RODATA|NOPTR, $32

// Butterflies of strides 1, 2, … n/2 over count values, n ≥ 8 a power of two,
// then times scale: a−b is a+(−b), so every sum is the one of kernels.Walsh.
//
// Registers: DI x, CX its bytes, DX stride in bytes, BX n in bytes, R8 offset;
// SI, R9 and R10 the two halves of a block and the end of the first.
//
// func walshAVX2(x *float32, count, n int, scale float32)
TEXT ·walshAVX2(SB), NOSPLIT, $0-28
	MOVQ         x+0(FP), DI
	MOVQ         count+8(FP), CX
	MOVQ         n+16(FP), BX
	VBROADCASTSS scale+24(FP), Y15
	VMOVUPS      minusOdd<>(SB), Y14
	VMOVUPS      minusUpperTwo<>(SB), Y13
	VMOVUPS      minusUpperFour<>(SB), Y12
	SHLQ         $2, CX
	SHLQ         $2, BX
	XORQ         R8, R8

inside:
	VMOVUPS    (DI)(R8*1), Y0
	VMOVSHDUP  Y0, Y1            // stride 1
	VMOVSLDUP  Y0, Y0
	VXORPS     Y14, Y1, Y1
	VADDPS     Y1, Y0, Y0
	VPERMILPS  $0xee, Y0, Y1     // stride 2
	VPERMILPS  $0x44, Y0, Y0
	VXORPS     Y13, Y1, Y1
	VADDPS     Y1, Y0, Y0
	VPERM2F128 $0x11, Y0, Y0, Y1 // stride 4
	VPERM2F128 $0x00, Y0, Y0, Y0
	VXORPS     Y12, Y1, Y1
	VADDPS     Y1, Y0, Y0
	VMOVUPS    Y0, (DI)(R8*1)
	ADDQ       $32, R8
	CMPQ       R8, CX
	JLT        inside
	MOVQ       $32, DX

stride:
	CMPQ DX, BX
	JGE  rescale
	MOVQ DI, SI
	LEAQ (DI)(CX*1), R11

block:
	LEAQ (SI)(DX*1), R9
	MOVQ R9, R10

pair:
	VMOVUPS (SI), Y0
	VMOVUPS (R9), Y1
	VADDPS  Y1, Y0, Y2
	VSUBPS  Y1, Y0, Y3
	VMOVUPS Y2, (SI)
	VMOVUPS Y3, (R9)
	ADDQ    $32, SI
	ADDQ    $32, R9
	CMPQ    SI, R10
	JLT     pair
	MOVQ    R9, SI
	CMPQ    SI, R11
	JLT     block
	SHLQ    $1, DX
	JMP     stride

rescale:
	VMULPS  -32(DI)(CX*1), Y15, Y0
	VMOVUPS Y0, -32(DI)(CX*1)
	SUBQ    $32, CX
	JNZ     rescale
	VZEROUPPER
	RET
