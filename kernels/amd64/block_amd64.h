// What the kernels of block formats share: eight rows side by side.
//
// A group is eight weight rows; lane r of a vector belongs to row r. The rows
// begin DX bytes apart, rows 0..3 are reached from SI and rows 4..7 from R8,
// both advancing block by block:
//
//	SI  block of row 0        SI+DX  SI+2·DX  SI+R9
//	R8  block of row 4        R8+DX  R8+2·DX  R8+R9        R9 = 3·DX

// Y8[r] = f16 at byte `at` of row r's block, as float32.
#define SCALES(at) \
	VPXOR     X8, X8, X8               \
	VPINSRW   $0, at(SI), X8, X8       \
	VPINSRW   $1, at(SI)(DX*1), X8, X8 \
	VPINSRW   $2, at(SI)(DX*2), X8, X8 \
	VPINSRW   $3, at(SI)(R9*1), X8, X8 \
	VPINSRW   $4, at(R8), X8, X8       \
	VPINSRW   $5, at(R8)(DX*1), X8, X8 \
	VPINSRW   $6, at(R8)(DX*2), X8, X8 \
	VPINSRW   $7, at(R8)(R9*1), X8, X8 \
	VCVTPH2PS X8, Y8

// Y8[r], Y9[r] = the two f16 that begin row r's block, as float32; pairs is the
// byte order halvesApart. The eight pairs are fetched as dwords.
#define SCALES_MINIMA(pairs) \
	VMOVD        (SI), X8                 \
	VPINSRD      $1, (SI)(DX*1), X8, X8   \
	VPINSRD      $2, (SI)(DX*2), X8, X8   \
	VPINSRD      $3, (SI)(R9*1), X8, X8   \
	VMOVD        (R8), X9                 \
	VPINSRD      $1, (R8)(DX*1), X9, X9   \
	VPINSRD      $2, (R8)(DX*2), X9, X9   \
	VPINSRD      $3, (R8)(R9*1), X9, X9   \
	VINSERTI128  $1, X9, Y8, Y8           \
	VPSHUFB      pairs, Y8, Y8            \
	VPERMQ       $0xd8, Y8, Y8            \
	VEXTRACTI128 $1, Y8, X9               \
	VCVTPH2PS    X8, Y8                   \
	VCVTPH2PS    X9, Y9
