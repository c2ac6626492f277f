//go:build !noasm

#include "textflag.h"
#include "insn_arm64.h"

// Vectors of any length: 16 values at a time, then 4, then single ones.

// func dotNEON(x, y []float32) float32
//
// Lanes of V16-V19: value i goes to lane i mod 16; what is beyond the last
// whole sixteen to V16, lane i mod 4, single values to lane 0.
//
//	R0 x   R1 y   R2 values left   V0-V3 of x   V4-V7 of y
TEXT ·dotNEON(SB), NOSPLIT, $0-52
	MOVD x_base+0(FP), R0
	MOVD x_len+8(FP), R2
	MOVD y_base+24(FP), R1
	VEOR V16.B16, V16.B16, V16.B16
	VEOR V17.B16, V17.B16, V17.B16
	VEOR V18.B16, V18.B16, V18.B16
	VEOR V19.B16, V19.B16, V19.B16
	SUBS $16, R2
	BLT  fours

sixteen:
	FMOVQ (R0), F0
	FMOVQ (R1), F4
	FMOVQ 16(R0), F1
	FMOVQ 16(R1), F5
	FMOVQ 32(R0), F2
	FMOVQ 32(R1), F6
	FMOVQ 48(R0), F3
	FMOVQ 48(R1), F7
	ADD   $64, R0
	ADD   $64, R1
	VFMLA V0.S4, V4.S4, V16.S4
	VFMLA V1.S4, V5.S4, V17.S4
	VFMLA V2.S4, V6.S4, V18.S4
	VFMLA V3.S4, V7.S4, V19.S4
	SUBS  $16, R2
	BGE   sixteen

fours:
	ADDS $12, R2
	BLT  ones

four:
	FMOVQ (R0), F0
	FMOVQ (R1), F4
	ADD   $16, R0
	ADD   $16, R1
	VFMLA V0.S4, V4.S4, V16.S4
	SUBS  $4, R2
	BGE   four

ones:
	ADDS $3, R2
	BLT  sum

one:
	FMOVS (R0), F0
	FMOVS (R1), F4
	ADD   $4, R0
	ADD   $4, R1
	VFMLA V0.S4, V4.S4, V16.S4
	SUBS  $1, R2
	BGE   one

sum:
	FADD_4S(17, 16, 16)
	FADD_4S(19, 18, 18)
	FADD_4S(18, 16, 16)
	FADDP_4S(16, 16, 16)
	FADDP_4S(16, 16, 16)
	FMOVS F16, ret+48(FP)
	RET

// func axpyNEON(y []float32, a float32, x []float32)
//
// y[i] = fma(a, x[i], y[i]) for i < len(x).
//
//	R0 y   R1 x   R2 values left   V0-V3 of y   V4-V7 of x   V31 a in every lane
TEXT ·axpyNEON(SB), NOSPLIT, $0-56
	MOVD  y_base+0(FP), R0
	FMOVS a+24(FP), F31
	MOVD  x_base+32(FP), R1
	MOVD  x_len+40(FP), R2
	VDUP  V31.S[0], V31.S4
	SUBS  $16, R2
	BLT   fours

sixteen:
	FMOVQ (R0), F0
	FMOVQ (R1), F4
	FMOVQ 16(R0), F1
	FMOVQ 16(R1), F5
	FMOVQ 32(R0), F2
	FMOVQ 32(R1), F6
	FMOVQ 48(R0), F3
	FMOVQ 48(R1), F7
	VFMLA V31.S4, V4.S4, V0.S4
	VFMLA V31.S4, V5.S4, V1.S4
	VFMLA V31.S4, V6.S4, V2.S4
	VFMLA V31.S4, V7.S4, V3.S4
	ADD   $64, R1
	FMOVQ F0, (R0)
	FMOVQ F1, 16(R0)
	FMOVQ F2, 32(R0)
	FMOVQ F3, 48(R0)
	ADD   $64, R0
	SUBS  $16, R2
	BGE   sixteen

fours:
	ADDS $12, R2
	BLT  ones

four:
	FMOVQ (R0), F0
	FMOVQ (R1), F4
	ADD   $16, R1
	VFMLA V31.S4, V4.S4, V0.S4
	FMOVQ F0, (R0)
	ADD   $16, R0
	SUBS  $4, R2
	BGE   four

ones:
	ADDS $3, R2
	BLT  done

one:
	FMOVS (R0), F0
	FMOVS (R1), F4
	ADD   $4, R1
	VFMLA V31.S4, V4.S4, V0.S4
	FMOVS F0, (R0)
	ADD   $4, R0
	SUBS  $1, R2
	BGE   one

done:
	RET

// func widenF16NEON(dst []float32, src []byte)
//
//	R0 dst   R1 src   R2 values left   V0, V1 halves   V4-V7 floats
TEXT ·widenF16NEON(SB), NOSPLIT, $0-48
	MOVD dst_base+0(FP), R0
	MOVD dst_len+8(FP), R2
	MOVD src_base+24(FP), R1
	SUBS $16, R2
	BLT  fours

sixteen:
	FMOVQ (R1), F0
	FMOVQ 16(R1), F1
	ADD   $32, R1
	FCVTL(0, 4)
	FCVTL2(0, 5)
	FCVTL(1, 6)
	FCVTL2(1, 7)
	FMOVQ F4, (R0)
	FMOVQ F5, 16(R0)
	FMOVQ F6, 32(R0)
	FMOVQ F7, 48(R0)
	ADD   $64, R0
	SUBS  $16, R2
	BGE   sixteen

fours:
	ADDS $12, R2
	BLT  ones

four:
	FMOVD (R1), F0
	ADD   $8, R1
	FCVTL(0, 4)
	FMOVQ F4, (R0)
	ADD   $16, R0
	SUBS  $4, R2
	BGE   four

ones:
	ADDS $3, R2
	BLT  done

one:
	LDR_H(0, 1, 0)
	ADD   $2, R1
	FCVTL(0, 4)
	FMOVS F4, (R0)
	ADD   $4, R0
	SUBS  $1, R2
	BGE   one

done:
	RET

// func narrowF16NEON(dst []byte, src []float32)
//
//	R0 dst   R1 src   R2 values left   V0-V3 floats   V4, V5 halves
TEXT ·narrowF16NEON(SB), NOSPLIT, $0-48
	MOVD dst_base+0(FP), R0
	MOVD src_base+24(FP), R1
	MOVD src_len+32(FP), R2
	SUBS $16, R2
	BLT  fours

sixteen:
	FMOVQ (R1), F0
	FMOVQ 16(R1), F1
	FMOVQ 32(R1), F2
	FMOVQ 48(R1), F3
	ADD   $64, R1
	FCVTN(0, 4)
	FCVTN(2, 5)
	FCVTN2(1, 4)
	FCVTN2(3, 5)
	FMOVQ F4, (R0)
	FMOVQ F5, 16(R0)
	ADD   $32, R0
	SUBS  $16, R2
	BGE   sixteen

fours:
	ADDS $12, R2
	BLT  ones

four:
	FMOVQ (R1), F0
	ADD   $16, R1
	FCVTN(0, 4)
	FMOVD F4, (R0)
	ADD   $8, R0
	SUBS  $4, R2
	BGE   four

ones:
	ADDS $3, R2
	BLT  done

one:
	FMOVS (R1), F0
	ADD   $4, R1
	FCVTN(0, 4)
	STR_H(0, 0, 4)
	ADD   $2, R0
	SUBS  $1, R2
	BGE   one

done:
	RET
