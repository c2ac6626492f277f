// What the packers of panels share. A panel's records are described in
// pack_amd64.s; registers are SI, R8, DX, R9 as in block_amd64.h, R10 = vector,
// R11 = 3·vector.

// Y0..Y3 = the sixteen bytes at `at` of the eight rows' blocks, turned: Y<j>
// holds bytes 4j..4j+3 of rows 0..7 in its lanes. Uses Y4..Y7.
#define TURN_16_BYTES(at) \
	VMOVDQU     at(SI), X0                   \ // row i and row i+4 side by side
	VMOVDQU     at(SI)(DX*1), X1             \
	VMOVDQU     at(SI)(DX*2), X2             \
	VMOVDQU     at(SI)(R9*1), X3             \
	VINSERTI128 $1, at(R8), Y0, Y0           \
	VINSERTI128 $1, at(R8)(DX*1), Y1, Y1     \
	VINSERTI128 $1, at(R8)(DX*2), Y2, Y2     \
	VINSERTI128 $1, at(R8)(R9*1), Y3, Y3     \
	VPUNPCKLDQ  Y1, Y0, Y4                   \ // then 4×4 dwords in each half
	VPUNPCKHDQ  Y1, Y0, Y5                   \
	VPUNPCKLDQ  Y3, Y2, Y6                   \
	VPUNPCKHDQ  Y3, Y2, Y7                   \
	VPUNPCKLQDQ Y6, Y4, Y0                   \
	VPUNPCKHQDQ Y6, Y4, Y1                   \
	VPUNPCKLQDQ Y7, Y5, Y2                   \
	VPUNPCKHQDQ Y7, Y5, Y3

// Y0..Y3 to vectors 0..3 of the record or, from AX, to vectors 4..7.
#define STORE_4(to) \
	VMOVDQU Y0, (to)        \
	VMOVDQU Y1, (to)(R10*1) \
	VMOVDQU Y2, (to)(R10*2) \
	VMOVDQU Y3, (to)(R11*1)

// The sixteen nibble bytes at `at`: low ones to vectors 0..3, high ones to
// 4..7. Y14 = 0x0f bytes.
#define UNPACK_NIBBLES(at) \
	TURN_16_BYTES(at)            \
	VPSRLQ  $4, Y0, Y4           \
	VPSRLQ  $4, Y1, Y5           \
	VPSRLQ  $4, Y2, Y6           \
	VPSRLQ  $4, Y3, Y7           \
	VPAND   Y14, Y0, Y0          \
	VPAND   Y14, Y1, Y1          \
	VPAND   Y14, Y2, Y2          \
	VPAND   Y14, Y3, Y3          \
	STORE_4(DI)                  \
	VPAND   Y14, Y4, Y0          \
	VPAND   Y14, Y5, Y1          \
	VPAND   Y14, Y6, Y2          \
	VPAND   Y14, Y7, Y3          \
	STORE_4(AX)

#define ENTER \
	LEAQ (DX)(DX*2), R9   \
	LEAQ (SI)(DX*4), R8   \
	LEAQ (R10)(R10*2), R11
