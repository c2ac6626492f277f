//go:build !noasm

#include "textflag.h"

// mix64AVX2 and mix2x32AVX2 (mix_amd64.s) in vectors of sixteen: the same chains of
// fused additions. Registers as there; Z0..Z3 hold the panel.

// Sixteen int8 as float32, times a weight, onto v.
#define CODES_16(at, w, code, v) \
	VPMOVSXBD   at, code   \
	VCVTDQ2PS   code, code \
	VFMADD231PS code, w, v

#define ENTER_MIX \
	MOVQ out+0(FP), DI       \
	MOVQ codes+8(FP), SI     \
	MOVQ stride+16(FP), DX   \
	MOVQ rows+24(FP), CX     \
	MOVQ w+32(FP), BX        \
	MOVQ wStride+40(FP), R12 \
	VMOVUPS (DI), Z0         \
	VMOVUPS 64(DI), Z1       \
	VMOVUPS 128(DI), Z2      \
	VMOVUPS 192(DI), Z3

#define LEAVE_MIX \
	VMOVUPS Z0, (DI)    \
	VMOVUPS Z1, 64(DI)  \
	VMOVUPS Z2, 128(DI) \
	VMOVUPS Z3, 192(DI) \
	VZEROUPPER          \
	RET

// func mix64AVX512(out *float32, codes *int8, stride, rows int, w *float32, wStride int)
TEXT ·mix64AVX512(SB), NOSPLIT, $0-48
	ENTER_MIX

row:
	VBROADCASTSS (BX), Z15
	CODES_16((SI), Z15, Z4, Z0)
	CODES_16(16(SI), Z15, Z5, Z1)
	CODES_16(32(SI), Z15, Z6, Z2)
	CODES_16(48(SI), Z15, Z7, Z3)
	ADDQ         DX, SI
	ADDQ         R12, BX
	DECQ         CX
	JNZ          row
	LEAVE_MIX

// func mix2x32AVX512(out *float32, codes *int8, stride, rows int, w *float32, wStride int)
TEXT ·mix2x32AVX512(SB), NOSPLIT, $0-48
	ENTER_MIX

row:
	VBROADCASTSS (BX), Z15
	VBROADCASTSS 4(BX), Z14
	CODES_16((SI), Z15, Z4, Z0)
	CODES_16(16(SI), Z15, Z5, Z1)
	CODES_16(32(SI), Z14, Z6, Z2)
	CODES_16(48(SI), Z14, Z7, Z3)
	ADDQ         DX, SI
	ADDQ         R12, BX
	DECQ         CX
	JNZ          row
	LEAVE_MIX
