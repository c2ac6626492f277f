//go:build !noasm

#include "textflag.h"
#include "insn_arm64.h"

// What happens to a query before it meets the keys: quantization and rotation.

// The formula is that of quantizeNEON, for groups of any multiple of 16.
//
//	R0 codes   R1 scales   R2 sums   R3 x   R4 values left   R5 values of a group
//	R6 those of the group   R7, R8 the same, counted down   R9 x, ahead
//	V0-V7 x, then codes   V16, V17 largest   V18 scale, inverse   V19 scratch
//	V20, V21 Σ code   V30 127 in every lane   V31 1e-30 in every lane
//
// func quantizeQueryNEON(dst *int8, scale, sum, x *float32, n, group int)
TEXT ·quantizeQueryNEON(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD scale+8(FP), R1
	MOVD sum+16(FP), R2
	MOVD x+24(FP), R3
	MOVD n+32(FP), R4
	MOVD group+40(FP), R5
	MOVD $0x42fe0000, R6          // 127
	VDUP R6, V30.S4
	MOVD $0x0da24260, R6          // 1e-30
	VDUP R6, V31.S4

group:
	CMP   R4, R5
	CSEL  LT, R5, R4, R6
	SUB   R6, R4
	MOVD  R6, R7
	MOVD  R6, R8
	MOVD  R3, R9
	VMOVI $0, V16.B16
	VMOVI $0, V17.B16

largest:
	FLDPQ (R9), (F0, F1)
	FLDPQ 32(R9), (F2, F3)
	ADD   $64, R9
	SUBS  $16, R7
	FABS_4S(0, 0)
	FABS_4S(1, 1)
	FABS_4S(2, 2)
	FABS_4S(3, 3)
	FMAXNM_4S(0, 16, 16)
	FMAXNM_4S(1, 17, 17)
	FMAXNM_4S(2, 16, 16)
	FMAXNM_4S(3, 17, 17)
	BNE   largest

	FMAXNM_4S(17, 16, 16)
	FMAXNMV_4S(16, 16)            // amax 0 0 0
	VDUP   V16.S[0], V19.S4
	VMOV   V30.S[0], V16.S[1]     // amax 127
	VREV64 V16.S4, V17.S4         // 127 amax
	FDIV_2S(17, 16, 18)           // scale inverse
	FCMGE_4S(31, 19, 19)          // amax ≥ 1e-30, else all is zero
	VAND   V19.B16, V18.B16, V18.B16
	VMOVI  $0, V20.B16
	VMOVI  $0, V21.B16

codes:
	FLDPQ (R3), (F0, F1)
	FLDPQ 32(R3), (F2, F3)
	ADD   $64, R3
	SUBS  $16, R8
	FMUL_4S_LANE(1, 18, 0, 0)
	FMUL_4S_LANE(1, 18, 1, 1)
	FMUL_4S_LANE(1, 18, 2, 2)
	FMUL_4S_LANE(1, 18, 3, 3)
	FCVTNS_4S(0, 0)
	FCVTNS_4S(1, 1)
	FCVTNS_4S(2, 2)
	FCVTNS_4S(3, 3)
	VADD  V0.S4, V20.S4, V20.S4
	VADD  V1.S4, V21.S4, V21.S4
	VUZP1 V1.H8, V0.H8, V0.H8
	VADD  V2.S4, V20.S4, V20.S4
	VADD  V3.S4, V21.S4, V21.S4
	VUZP1 V3.H8, V2.H8, V2.H8
	VUZP1 V2.B16, V0.B16, V0.B16
	FMOVQ F0, (R0)
	ADD   $16, R0
	BNE   codes

	VADD  V21.S4, V20.S4, V20.S4
	VADDV V20.S4, V20
	SCVTF_4S(20, 20)
	FMUL_4S_LANE(0, 18, 20, 20)
	FMOVS F18, (R1)
	FMOVS F20, (R2)
	ADD   $4, R1
	ADD   $4, R2
	CBNZ  R4, group
	RET

// BUTTERFLIES turns the vectors a to d: by a distance of one of them, then of two.
#define BUTTERFLIES(a, b, c, d) \
	FADD_4S(b, a, 4) \
	FSUB_4S(b, a, 5) \
	FADD_4S(d, c, 6) \
	FSUB_4S(d, c, 7) \
	FADD_4S(6, 4, a) \
	FADD_4S(7, 5, b) \
	FSUB_4S(6, 4, c) \
	FSUB_4S(7, 5, d)

#define SCALE_4 \
	FMUL_4S(30, 0, 0) \
	FMUL_4S(30, 1, 1) \
	FMUL_4S(30, 2, 2) \
	FMUL_4S(30, 3, 3)

// SCALE_IF_LAST: V30 = scale if n bytes, R2, are turned by now, else 1.
#define SCALE_IF_LAST(turned) \
	CMP  turned, R2         \
	CSEL EQ, R10, R11, R12  \
	VDUP R12, V30.S4

// Butterflies of distances 1, 2, … n/2 over count values, n ≥ 16 a power of two,
// times scale in the last pass, times 1, which changes nothing, in those before.
// The first pass turns sixteen values by 1 and 2 as columns and by 4 and 8 as rows;
// the others turn by two distances each, the last by one if one is left.
//
//	R0 x   R1 its end   R2 bytes of a block   R3 bytes of the distance
//	R4-R7 values one, two and three distances apart   R8 end of the first
//	R10 scale   R11 1   R12 scratch   V0-V3 values   V4-V7 scratch   V30 factor
//
// func walshNEON(x *float32, count, n int, scale float32)
TEXT ·walshNEON(SB), NOSPLIT, $0-28
	MOVD  x+0(FP), R0
	MOVD  count+8(FP), R1
	MOVD  n+16(FP), R2
	MOVWU scale+24(FP), R10
	MOVD  $0x3f800000, R11
	ADD   R1<<2, R0, R1
	LSL   $2, R2
	MOVD  $64, R3
	SCALE_IF_LAST(R3)
	MOVD  R0, R4

sixteen:
	VLD4  (R4), [V0.S4, V1.S4, V2.S4, V3.S4]
	BUTTERFLIES(0, 1, 2, 3)
	VZIP1 V1.S4, V0.S4, V4.S4
	VZIP2 V1.S4, V0.S4, V5.S4
	VZIP1 V3.S4, V2.S4, V6.S4
	VZIP2 V3.S4, V2.S4, V7.S4
	VZIP1 V6.D2, V4.D2, V0.D2
	VZIP2 V6.D2, V4.D2, V1.D2
	VZIP1 V7.D2, V5.D2, V2.D2
	VZIP2 V7.D2, V5.D2, V3.D2
	BUTTERFLIES(0, 1, 2, 3)
	SCALE_4
	FSTPQ (F0, F1), (R4)
	FSTPQ (F2, F3), 32(R4)
	ADD   $64, R4
	CMP   R1, R4
	BLT   sixteen

distance:
	LSL  $1, R3, R12
	CMP  R2, R12
	BGT  done
	BEQ  last
	LSL  $2, R3, R12
	SCALE_IF_LAST(R12)
	MOVD R0, R4

four:
	ADD R3, R4, R5
	ADD R3, R5, R6
	ADD R3, R6, R7
	MOVD R5, R8

quad:
	FMOVQ (R4), F0
	FMOVQ (R5), F1
	FMOVQ (R6), F2
	FMOVQ (R7), F3
	BUTTERFLIES(0, 1, 2, 3)
	SCALE_4
	FMOVQ F0, (R4)
	FMOVQ F1, (R5)
	FMOVQ F2, (R6)
	FMOVQ F3, (R7)
	ADD   $16, R4
	ADD   $16, R5
	ADD   $16, R6
	ADD   $16, R7
	CMP   R8, R4
	BLT   quad
	MOVD  R7, R4
	CMP   R1, R4
	BLT   four
	LSL   $2, R3
	B     distance

last:
	VDUP R10, V30.S4
	MOVD R0, R4

two:
	ADD  R3, R4, R5
	MOVD R5, R8

pair:
	FMOVQ (R4), F0
	FMOVQ (R5), F1
	FADD_4S(1, 0, 2)
	FSUB_4S(1, 0, 3)
	FMUL_4S(30, 2, 2)
	FMUL_4S(30, 3, 3)
	FMOVQ F2, (R4)
	FMOVQ F3, (R5)
	ADD   $16, R4
	ADD   $16, R5
	CMP   R8, R4
	BLT   pair
	MOVD  R5, R4
	CMP   R1, R4
	BLT   two

done:
	RET
