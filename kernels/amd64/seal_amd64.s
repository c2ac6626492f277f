//go:build !noasm

#include "textflag.h"

// What is around a fit: finite values, packing, the weights of a mix.

#define SCALAR(name, bits) \
DATA name+0(SB)/4, $bits   \
GLOBL name(SB), RODATA|NOPTR, $4

SCALAR(sealMaxHalf<>, 0x477fe000) // 65504
SCALAR(sealMinHalf<>, 0xc77fe000)

// Registers: SI x, CX values left.
//
// func finiteAVX2(x *float32, n int)
TEXT ·finiteAVX2(SB), NOSPLIT, $0-16
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VBROADCASTSS sealMaxHalf<>(SB), Y15
	VBROADCASTSS sealMinHalf<>(SB), Y14
	SUBQ         $8, CX
	JLT          ones

eight:
	VMOVUPS (SI), Y0
	VCMPPS  $7, Y0, Y0, Y1 // a number
	VMINPS  Y15, Y0, Y0
	VMAXPS  Y14, Y0, Y0
	VANDPS  Y1, Y0, Y0
	VMOVUPS Y0, (SI)
	ADDQ    $32, SI
	SUBQ    $8, CX
	JGE     eight

ones:
	ADDQ $8, CX
	JZ   done

one:
	VMOVSS (SI), X0
	VCMPSS $7, X0, X0, X1
	VMINSS X15, X0, X0
	VMAXSS X14, X0, X0
	VANDPS X1, X0, X0
	VMOVSS X0, (SI)
	ADDQ   $4, SI
	DECQ   CX
	JNZ    one

done:
	VZEROUPPER
	RET

// Where the quarters or halves of a unit go in a byte.
DATA packNibbles<>+0(SB)/8, $0
DATA packNibbles<>+8(SB)/8, $0
DATA packNibbles<>+16(SB)/8, $4
DATA packNibbles<>+24(SB)/8, $4
GLOBL packNibbles<>(SB), RODATA|NOPTR, $32

DATA packHalfNibbles<>+0(SB)/8, $0
DATA packHalfNibbles<>+8(SB)/8, $4
GLOBL packHalfNibbles<>(SB), RODATA|NOPTR, $16

DATA packPairs<>+0(SB)/8, $0
DATA packPairs<>+8(SB)/8, $2
DATA packPairs<>+16(SB)/8, $4
DATA packPairs<>+24(SB)/8, $6
GLOBL packPairs<>(SB), RODATA|NOPTR, $32

DATA packHalfPairs<>+0(SB)/8, $0x0000000200000000
DATA packHalfPairs<>+8(SB)/8, $0x0000000600000004
GLOBL packHalfPairs<>(SB), RODATA|NOPTR, $16

DATA packMasks<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA packMasks<>+8(SB)/8, $0x0303030303030303
GLOBL packMasks<>(SB), RODATA|NOPTR, $16

// The planes of kernels.PackCodes one after the other, the widest first. In each,
// the bits of a plane are masked out, shifted to their place in a byte, and the parts
// of a unit that share bytes are or-ed.
//
// Registers: DI dst, AX bits; SI codes, CX those left in the plane.
//
// func packCodesAVX2(dst, codes *uint8, n, bits int)
TEXT ·packCodesAVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         bits+24(FP), AX
	TESTL        $4, AX
	JZ           pairs
	MOVQ         codes+8(FP), SI
	MOVQ         n+16(FP), CX
	VPBROADCASTQ packMasks<>+0(SB), Y15
	VMOVDQU      packNibbles<>(SB), Y14
	SUBQ         $32, CX
	JLT          nibblesHalf

nibblesUnit:
	VPAND        (SI), Y15, Y0
	VPSLLVQ      Y14, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPOR         X1, X0, X0
	VMOVDQU      X0, (DI)
	ADDQ         $32, SI
	ADDQ         $16, DI
	SUBQ         $32, CX
	JGE          nibblesUnit

nibblesHalf:
	ADDQ    $32, CX
	JZ      pairs
	VPAND   (SI), X15, X0
	VPSLLVQ packHalfNibbles<>(SB), X0, X0
	VPSRLDQ $8, X0, X1
	VPOR    X1, X0, X0
	VMOVQ   X0, (DI)
	ADDQ    $8, DI

pairs:
	TESTL        $2, AX
	JZ           single
	MOVQ         codes+8(FP), SI
	MOVQ         n+16(FP), CX
	MOVL         AX, DX
	ANDL         $4, DX
	VMOVD        DX, X13
	VPBROADCASTQ packMasks<>+8(SB), Y15
	VMOVDQU      packPairs<>(SB), Y14
	SUBQ         $32, CX
	JLT          pairsHalf

pairsUnit:
	VMOVDQU      (SI), Y0
	VPSRLW       X13, Y0, Y0
	VPAND        Y15, Y0, Y0
	VPSLLVQ      Y14, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPOR         X1, X0, X0
	VPSRLDQ      $8, X0, X1
	VPOR         X1, X0, X0
	VMOVQ        X0, (DI)
	ADDQ         $32, SI
	ADDQ         $8, DI
	SUBQ         $32, CX
	JGE          pairsUnit

pairsHalf:
	ADDQ    $32, CX
	JZ      single
	VMOVDQU (SI), X0
	VPSRLW  X13, X0, X0
	VPAND   X15, X0, X0
	VPSLLVD packHalfPairs<>(SB), X0, X0
	VPSRLDQ $8, X0, X1
	VPOR    X1, X0, X0
	VPSRLDQ $4, X0, X1
	VPOR    X1, X0, X0
	VMOVD   X0, (DI)
	ADDQ    $4, DI

single:
	TESTL $1, AX
	JZ    done
	MOVQ  codes+8(FP), SI
	MOVQ  n+16(FP), CX
	ANDL  $6, AX
	NEGL  AX
	ADDL  $7, AX          // to the sign of a byte
	VMOVD AX, X13
	SUBQ  $32, CX
	JLT   singleHalf

singleUnit:
	VMOVDQU   (SI), Y0
	VPSLLW    X13, Y0, Y0
	VPMOVMSKB Y0, DX
	MOVL      DX, (DI)
	ADDQ      $32, SI
	ADDQ      $4, DI
	SUBQ      $32, CX
	JGE       singleUnit

singleHalf:
	ADDQ      $32, CX
	JZ        done
	VMOVDQU   (SI), X0
	VPSLLW    X13, X0, X0
	VPMOVMSKB X0, DX
	MOVW      DX, (DI)

done:
	VZEROUPPER
	RET

// Registers: DI dst, SI w, R8 scales, CX rows left, DX ng; R9 scales of a row left.
//
// func scaleRowsAVX2(dst, w, scales *float32, rows, ng int)
TEXT ·scaleRowsAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ scales+16(FP), R8
	MOVQ rows+24(FP), CX
	MOVQ ng+32(FP), DX
	CMPQ DX, $1
	JEQ  single
	CMPQ DX, $2
	JEQ  pairs

row:
	VBROADCASTSS (SI), X0
	ADDQ         $4, SI
	MOVQ         DX, R9
	SUBQ         $4, R9
	JLT          rest

four:
	VMULPS  (R8), X0, X1
	VMOVUPS X1, (DI)
	ADDQ    $16, R8
	ADDQ    $16, DI
	SUBQ    $4, R9
	JGE     four

rest:
	ADDQ $4, R9
	JZ   next

one:
	VMULSS (R8), X0, X1
	VMOVSS X1, (DI)
	ADDQ   $4, R8
	ADDQ   $4, DI
	DECQ   R9
	JNZ    one

next:
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET

pairs:
	SUBQ $4, CX
	JLT  pairsRest

fourPairs:
	VPMOVZXDQ (SI), Y0
	VMOVSLDUP Y0, Y0
	VMULPS    (R8), Y0, Y0
	VMOVUPS   Y0, (DI)
	ADDQ      $16, SI
	ADDQ      $32, R8
	ADDQ      $32, DI
	SUBQ      $4, CX
	JGE       fourPairs

pairsRest:
	ADDQ $4, CX
	JNZ  row
	VZEROUPPER
	RET

single:
	SUBQ $8, CX
	JLT  singleRest

eight:
	VMOVUPS (SI), Y0
	VMULPS  (R8), Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, R8
	ADDQ    $32, DI
	SUBQ    $8, CX
	JGE     eight

singleRest:
	ADDQ $8, CX
	JNZ  row
	VZEROUPPER
	RET
