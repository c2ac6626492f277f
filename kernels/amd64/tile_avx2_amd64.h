// What the AVX2 tiles of four tokens share. Registers are those of
// tile_avx2_amd64.s.

// M(address, vector) for four tokens.
#define FOUR(M, at, base, v0, v1, v2, v3) \
	M(at(base), v0)       \
	M(at(base)(DX*1), v1) \
	M(at(base)(DX*2), v2) \
	M(at(base)(BX*1), v3)

// The first four columns set the pairs, the others add to them.
#define FIRST_PAIRS(at, pair) \
	VPBROADCASTD at, Y10        \
	VPMADDUBSW   Y10, Y8, pair

#define ADD_PAIRS(at, pair) \
	VPBROADCASTD at, Y10         \
	VPMADDUBSW   Y10, Y8, Y10    \
	VPADDW       Y10, pair, pair

#define COLUMNS(M, k) \
	VMOVDQU (32*k)(SI), Y8 \
	FOUR(M, (4*k), R8, Y4, Y5, Y6, Y7)

#define TIMES(at, dot) \
	VBROADCASTSS at, Y10       \
	VMULPS       Y10, dot, dot

// acc += d·(float(dot)·s), d at byte `at` of the record.
#define SCALE_BY(at) \
	VMOVUPS     at(SI), Y11  \
	VCVTDQ2PS   Y4, Y4       \
	VCVTDQ2PS   Y5, Y5       \
	VCVTDQ2PS   Y6, Y6       \
	VCVTDQ2PS   Y7, Y7       \
	FOUR(TIMES, 0, R10, Y4, Y5, Y6, Y7) \
	VFMADD231PS Y4, Y11, Y0  \
	VFMADD231PS Y5, Y11, Y1  \
	VFMADD231PS Y6, Y11, Y2  \
	VFMADD231PS Y7, Y11, Y3

#define SCALE SCALE_BY(256)

#define ADD_MINIMUM(at, acc) \
	VBROADCASTSS at, Y10       \
	VFMADD231PS  Y10, Y12, acc

// CX = 3·yStride, then acc from y or back.
#define LOAD \
	LEAQ    (AX)(AX*2), CX \
	VMOVUPS (DI), Y0       \
	VMOVUPS (DI)(AX*1), Y1 \
	VMOVUPS (DI)(AX*2), Y2 \
	VMOVUPS (DI)(CX*1), Y3

#define STORE \
	LEAQ    (AX)(AX*2), CX \
	VMOVUPS Y0, (DI)       \
	VMOVUPS Y1, (DI)(AX*1) \
	VMOVUPS Y2, (DI)(AX*2) \
	VMOVUPS Y3, (DI)(CX*1)
