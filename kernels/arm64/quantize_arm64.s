//go:build !noasm

#include "textflag.h"
#include "insn_arm64.h"

// func quantizeNEON(codes, scales, sums []byte, x []float32)
//
// Per block of 32 values, every operation rounded as the reference rounds it:
//
//	amax = max|x|; scale, inverse = amax/127, 127/amax, both 0 if amax < 1e-30
//	code = rne(x·inverse); sum = scale·Σ code
//
// FMAXNM passes over a NaN and FCVTNS makes it 0, as the reference does.
//
//	R0 codes   R1 scales   R2 sums   R3 x   R4 blocks left
//	V0-V7 x, then codes   V16-V23 scratch   V18 scale, inverse
//	V30 127 in every lane   V31 1e-30 in every lane
TEXT ·quantizeNEON(SB), NOSPLIT, $0-96
	MOVD codes_base+0(FP), R0
	MOVD scales_base+24(FP), R1
	MOVD sums_base+48(FP), R2
	MOVD x_base+72(FP), R3
	MOVD x_len+80(FP), R4
	LSR  $5, R4
	MOVD $0x42fe0000, R5        // 127
	VDUP R5, V30.S4
	MOVD $0x0da24260, R5        // 1e-30
	VDUP R5, V31.S4
	CBZ  R4, done

block:
	FMOVQ  (R3), F0
	FMOVQ  16(R3), F1
	FMOVQ  32(R3), F2
	FMOVQ  48(R3), F3
	FMOVQ  64(R3), F4
	FMOVQ  80(R3), F5
	FMOVQ  96(R3), F6
	FMOVQ  112(R3), F7
	ADD    $128, R3
	FABS_4S(0, 16)
	FABS_4S(1, 17)
	FABS_4S(2, 18)
	FABS_4S(3, 19)
	FABS_4S(4, 20)
	FABS_4S(5, 21)
	FABS_4S(6, 22)
	FABS_4S(7, 23)
	FMAXNM_4S(17, 16, 16)
	FMAXNM_4S(19, 18, 18)
	FMAXNM_4S(21, 20, 20)
	FMAXNM_4S(23, 22, 22)
	FMAXNM_4S(18, 16, 16)
	FMAXNM_4S(22, 20, 20)
	FMAXNM_4S(20, 16, 16)
	FMAXNMV_4S(16, 16)               // amax 0 0 0
	VDUP   V16.S[0], V19.S4
	VMOV   V30.S[0], V16.S[1]        // amax 127
	VREV64 V16.S4, V17.S4            // 127 amax
	FDIV_2S(17, 16, 18)              // scale inverse
	FCMGE_4S(31, 19, 19)             // amax ≥ 1e-30
	VAND   V19.B16, V18.B16, V18.B16
	FMUL_4S_LANE(1, 18, 0, 0)
	FMUL_4S_LANE(1, 18, 1, 1)
	FMUL_4S_LANE(1, 18, 2, 2)
	FMUL_4S_LANE(1, 18, 3, 3)
	FMUL_4S_LANE(1, 18, 4, 4)
	FMUL_4S_LANE(1, 18, 5, 5)
	FMUL_4S_LANE(1, 18, 6, 6)
	FMUL_4S_LANE(1, 18, 7, 7)
	FCVTNS_4S(0, 0)
	FCVTNS_4S(1, 1)
	FCVTNS_4S(2, 2)
	FCVTNS_4S(3, 3)
	FCVTNS_4S(4, 4)
	FCVTNS_4S(5, 5)
	FCVTNS_4S(6, 6)
	FCVTNS_4S(7, 7)
	VADD   V0.S4, V1.S4, V16.S4
	VADD   V2.S4, V3.S4, V17.S4
	VADD   V4.S4, V5.S4, V19.S4
	VADD   V6.S4, V7.S4, V20.S4
	VUZP1  V1.H8, V0.H8, V0.H8
	VUZP1  V3.H8, V2.H8, V2.H8
	VUZP1  V5.H8, V4.H8, V4.H8
	VUZP1  V7.H8, V6.H8, V6.H8
	VADD   V17.S4, V16.S4, V16.S4
	VADD   V20.S4, V19.S4, V19.S4
	VUZP1  V2.B16, V0.B16, V0.B16
	VUZP1  V6.B16, V4.B16, V4.B16
	VADD   V19.S4, V16.S4, V16.S4
	VADDV  V16.S4, V16
	FMOVQ  F0, (R0)
	FMOVQ  F4, 16(R0)
	SCVTF_4S(16, 16)
	FMUL_4S_LANE(0, 18, 16, 16)
	FMOVS  F18, (R1)
	FMOVS  F16, (R2)
	ADD    $32, R0
	ADD    $4, R1
	ADD    $4, R2
	SUBS   $1, R4
	BNE    block

done:
	RET
