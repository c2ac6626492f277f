// What the AVX-512 VNNI tiles share. Registers are those of tile_vnni_amd64.s.

// M(address, vector) for four tokens.
#define FOUR(M, at, base, v0, v1, v2, v3) \
	M(at(base), v0)       \
	M(at(base)(DX*1), v1) \
	M(at(base)(DX*2), v2) \
	M(at(base)(BX*1), v3)

#define DOT(at, dot) VPDPBUSD.BCST at, Z16, dot
#define TIMES(at, dot) VMULPS.BCST at, dot, dot
#define ADD_MINIMUM(at, acc) VFMADD231PS.BCST at, Z18, acc

// Four columns of all rows with tokens 0..3, and with tokens 4..7 too.
#define COLUMNS_4(k) \
	VMOVDQU32 (64*k)(SI), Z16 \
	FOUR(DOT, (4*k), R8, Z8, Z9, Z10, Z11)

#define COLUMNS_8(k) \
	COLUMNS_4(k) \
	FOUR(DOT, (4*k), R9, Z12, Z13, Z14, Z15)

#define BLOCK(COLUMNS) \
	COLUMNS(0) \
	COLUMNS(1) \
	COLUMNS(2) \
	COLUMNS(3) \
	COLUMNS(4) \
	COLUMNS(5) \
	COLUMNS(6) \
	COLUMNS(7) \
	VMOVUPS 512(SI), Z17

// acc += d·(float(dot)·s) for tokens 0..3 and 4..7.
#define SCALE_LOW \
	VCVTDQ2PS   Z8, Z8       \
	VCVTDQ2PS   Z9, Z9       \
	VCVTDQ2PS   Z10, Z10     \
	VCVTDQ2PS   Z11, Z11     \
	FOUR(TIMES, 0, R10, Z8, Z9, Z10, Z11) \
	VFMADD231PS Z8, Z17, Z0  \
	VFMADD231PS Z9, Z17, Z1  \
	VFMADD231PS Z10, Z17, Z2 \
	VFMADD231PS Z11, Z17, Z3

#define SCALE_HIGH \
	VCVTDQ2PS   Z12, Z12     \
	VCVTDQ2PS   Z13, Z13     \
	VCVTDQ2PS   Z14, Z14     \
	VCVTDQ2PS   Z15, Z15     \
	FOUR(TIMES, 0, R11, Z12, Z13, Z14, Z15) \
	VFMADD231PS Z12, Z17, Z4 \
	VFMADD231PS Z13, Z17, Z5 \
	VFMADD231PS Z14, Z17, Z6 \
	VFMADD231PS Z15, Z17, Z7

#define CLEAR_LOW \
	VPXORD Z8, Z8, Z8    \
	VPXORD Z9, Z9, Z9    \
	VPXORD Z10, Z10, Z10 \
	VPXORD Z11, Z11, Z11

#define CLEAR_HIGH \
	VPXORD Z12, Z12, Z12 \
	VPXORD Z13, Z13, Z13 \
	VPXORD Z14, Z14, Z14 \
	VPXORD Z15, Z15, Z15

// A token's row of excess has 96 bytes.
#define EXCESS_LOW \
	VPBROADCASTD (R12), Z8     \
	VPBROADCASTD 96(R12), Z9   \
	VPBROADCASTD 192(R12), Z10 \
	VPBROADCASTD 288(R12), Z11

#define EXCESS_HIGH \
	VPBROADCASTD 384(R12), Z12 \
	VPBROADCASTD 480(R12), Z13 \
	VPBROADCASTD 576(R12), Z14 \
	VPBROADCASTD 672(R12), Z15

// acc from y and back. CX = 3·yStride, R15 = y of token 4.
#define Y_ROWS \
	LEAQ (AX)(AX*2), CX  \
	LEAQ (DI)(AX*4), R15

#define LOAD_LOW \
	VMOVUPS (DI), Z0       \
	VMOVUPS (DI)(AX*1), Z1 \
	VMOVUPS (DI)(AX*2), Z2 \
	VMOVUPS (DI)(CX*1), Z3

#define LOAD_HIGH \
	VMOVUPS (R15), Z4       \
	VMOVUPS (R15)(AX*1), Z5 \
	VMOVUPS (R15)(AX*2), Z6 \
	VMOVUPS (R15)(CX*1), Z7

#define STORE_LOW \
	VMOVUPS Z0, (DI)       \
	VMOVUPS Z1, (DI)(AX*1) \
	VMOVUPS Z2, (DI)(AX*2) \
	VMOVUPS Z3, (DI)(CX*1)

#define STORE_HIGH \
	VMOVUPS Z4, (R15)       \
	VMOVUPS Z5, (R15)(AX*1) \
	VMOVUPS Z6, (R15)(AX*2) \
	VMOVUPS Z7, (R15)(CX*1)
