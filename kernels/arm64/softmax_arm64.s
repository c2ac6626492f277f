//go:build !noasm

#include "textflag.h"
#include "insn_arm64.h"

// The steps of a softmax: the largest score, exponentials and their sum.

// The constants of kernels.Exp, in its order. The one is the bias of an exponent,
// too.
DATA expConstants<>+0(SB)/4, $0x42b17218  // overflow
DATA expConstants<>+4(SB)/4, $0xc2cff1b4  // vanish
DATA expConstants<>+8(SB)/4, $0x3fb8aa3b  // log2 e
DATA expConstants<>+12(SB)/4, $0x3f318000 // ln 2, high part
DATA expConstants<>+16(SB)/4, $0xb95e8083 // ln 2, low part
DATA expConstants<>+20(SB)/4, $0x39506967 // the polynomial
DATA expConstants<>+24(SB)/4, $0x3ab743ce
DATA expConstants<>+28(SB)/4, $0x3c088908
DATA expConstants<>+32(SB)/4, $0x3d2aa9c1
DATA expConstants<>+36(SB)/4, $0x3e2aaaaa
DATA expConstants<>+40(SB)/4, $0x3f000000
DATA expConstants<>+44(SB)/4, $0x3f800000 // 1
DATA expConstants<>+48(SB)/4, $0x7f800000 // infinity
GLOBL expConstants<>(SB), RODATA|NOPTR, $52

// x[i] = Exp(x[i]−largest), added to sums[i mod 8], the steps of kernels.Exp one by
// one, none fused: n = round(x·log2 e), r = x − n·ln 2 in two parts, the polynomial
// in r, times 2ⁿ in two factors, then infinity above and 0 below the range. Eight
// values side by side, those of the even registers first.
//
//	R0 x   R1 values left   R2 constants   R3 sums
//	V0, V1 x           V2, V3 n, then 2^half       V4, V5 r
//	V6, V7 polynomial  V8, V9 n in integers, then 2^rest
//	V10, V11 scratch   V12, V13 sums               V15 0
//	V16-V28 as expConstants<> has them             V29 largest
//
// func expSumNEON(x *float32, n int, largest float32, sums *float32)
TEXT ·expSumNEON(SB), NOSPLIT, $0-32
	MOVD  x+0(FP), R0
	MOVD  n+8(FP), R1
	FMOVS largest+16(FP), F29
	MOVD  sums+24(FP), R3
	MOVD  $expConstants<>(SB), R2
	VDUP  V29.S[0], V29.S4
	VLD1R.P 4(R2), [V16.S4]
	VLD1R.P 4(R2), [V17.S4]
	VLD1R.P 4(R2), [V18.S4]
	VLD1R.P 4(R2), [V19.S4]
	VLD1R.P 4(R2), [V20.S4]
	VLD1R.P 4(R2), [V21.S4]
	VLD1R.P 4(R2), [V22.S4]
	VLD1R.P 4(R2), [V23.S4]
	VLD1R.P 4(R2), [V24.S4]
	VLD1R.P 4(R2), [V25.S4]
	VLD1R.P 4(R2), [V26.S4]
	VLD1R.P 4(R2), [V27.S4]
	VLD1R.P 4(R2), [V28.S4]
	FLDPQ (R3), (F12, F13)
	VMOVI $0, V15.B16

eight:
	FLDPQ (R0), (F0, F1)
	ADD   $32, R0
	SUBS  $8, R1
	FSUB_4S(29, 0, 0)
	FSUB_4S(29, 1, 1)
	FMUL_4S(18, 0, 2)
	FMUL_4S(18, 1, 3)
	FCVTNS_4S(2, 8)
	FCVTNS_4S(3, 9)
	FRINTN_4S(2, 2)
	FRINTN_4S(3, 3)
	FMUL_4S(19, 2, 4)       // r = x − n·ln 2
	FMUL_4S(19, 3, 5)
	FSUB_4S(4, 0, 4)
	FSUB_4S(5, 1, 5)
	FMUL_4S(20, 2, 10)
	FMUL_4S(20, 3, 11)
	FSUB_4S(10, 4, 4)
	FSUB_4S(11, 5, 5)
	FMUL_4S(21, 4, 6)
	FMUL_4S(21, 5, 7)
	SSHR_4S(1, 8, 2)        // half = n>>1, rest = n − half
	SSHR_4S(1, 9, 3)
	FADD_4S(22, 6, 6)
	FADD_4S(22, 7, 7)
	VSUB  V2.S4, V8.S4, V8.S4
	VSUB  V3.S4, V9.S4, V9.S4
	FMUL_4S(4, 6, 6)
	FMUL_4S(5, 7, 7)
	VSHL  $23, V2.S4, V2.S4
	VSHL  $23, V3.S4, V3.S4
	FADD_4S(23, 6, 6)
	FADD_4S(23, 7, 7)
	VSHL  $23, V8.S4, V8.S4
	VSHL  $23, V9.S4, V9.S4
	FMUL_4S(4, 6, 6)
	FMUL_4S(5, 7, 7)
	FMUL_4S(4, 4, 10)       // r²
	FMUL_4S(5, 5, 11)
	FADD_4S(24, 6, 6)
	FADD_4S(24, 7, 7)
	VADD  V27.S4, V2.S4, V2.S4
	VADD  V27.S4, V3.S4, V3.S4
	FMUL_4S(4, 6, 6)
	FMUL_4S(5, 7, 7)
	VADD  V27.S4, V8.S4, V8.S4
	VADD  V27.S4, V9.S4, V9.S4
	FADD_4S(25, 6, 6)
	FADD_4S(25, 7, 7)
	FMUL_4S(4, 6, 6)
	FMUL_4S(5, 7, 7)
	FADD_4S(26, 6, 6)
	FADD_4S(26, 7, 7)
	FMUL_4S(10, 6, 6)
	FMUL_4S(11, 7, 7)
	FCMGT_4S(0, 17, 10)     // x < vanish
	FCMGT_4S(1, 17, 11)
	FADD_4S(4, 6, 6)
	FADD_4S(5, 7, 7)
	FCMGT_4S(16, 0, 0)      // x > overflow
	FCMGT_4S(16, 1, 1)
	FADD_4S(27, 6, 6)
	FADD_4S(27, 7, 7)
	FMUL_4S(2, 6, 6)
	FMUL_4S(3, 7, 7)
	FMUL_4S(8, 6, 6)
	FMUL_4S(9, 7, 7)
	VBIT  V0.B16, V28.B16, V6.B16
	VBIT  V1.B16, V28.B16, V7.B16
	VBIT  V10.B16, V15.B16, V6.B16
	VBIT  V11.B16, V15.B16, V7.B16
	FADD_4S(6, 12, 12)
	FADD_4S(7, 13, 13)
	FSTPQ (F6, F7), -32(R0)
	BNE   eight
	FSTPQ (F12, F13), (R3)
	RET

// func maxNEON(x *float32, n int) float32
//
// A comparison with NaN is false, which leaves the largest so far.
//
//	R0 x   R1 values left   V0-V3 x   V4-V7 the largest   V16-V19 where x is larger
TEXT ·maxNEON(SB), NOSPLIT, $0-20
	MOVD x+0(FP), R0
	MOVD n+8(FP), R1
	MOVD $0xff800000, R2          // −infinity
	VDUP R2, V4.S4
	VDUP R2, V5.S4
	VDUP R2, V6.S4
	VDUP R2, V7.S4
	SUBS $16, R1
	BLT  few

sixteen:
	FLDPQ (R0), (F0, F1)
	FLDPQ 32(R0), (F2, F3)
	ADD   $64, R0
	SUBS  $16, R1
	FCMGT_4S(4, 0, 16)
	FCMGT_4S(5, 1, 17)
	FCMGT_4S(6, 2, 18)
	FCMGT_4S(7, 3, 19)
	VBIT  V16.B16, V0.B16, V4.B16
	VBIT  V17.B16, V1.B16, V5.B16
	VBIT  V18.B16, V2.B16, V6.B16
	VBIT  V19.B16, V3.B16, V7.B16
	BGE   sixteen

few:
	ADDS $16, R1
	BEQ  reduce

one:
	VLD1R.P 4(R0), [V0.S4]
	SUBS    $1, R1
	FCMGT_4S(4, 0, 16)
	VBIT  V16.B16, V0.B16, V4.B16
	BNE     one

reduce:
	FMAXNM_4S(5, 4, 4)
	FMAXNM_4S(7, 6, 6)
	FMAXNM_4S(6, 4, 4)
	FMAXNMV_4S(4, 4)
	FMOVS F4, ret+16(FP)
	RET
