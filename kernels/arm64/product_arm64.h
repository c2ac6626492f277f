// The skeleton of every product: four weight rows at a time against 1, 4 or 8
// (float formats: 1 or 4) activation rows.
//
// Where fewer than four rows are left, the last row takes the missing places
// too: it is computed again and stored again, the same bits at the same place,
// so no row needs code of its own and nothing is read or written out of bounds.
//
//	R0  y of the first row         R1  bytes from token to token of y
//	R2  x                          R3  bytes from token to token of x
//	R4  rows left                  R5  blocks (float: columns) of a row
//	R6  first weight row           R7  bytes of a weight row
//	R8-R11  weights of rows 0-3    R12-R15  y of rows 0-3
//	R16 activations                R20 blocks left
//	R21 back over the tokens and on to the next block
//	R24 prefetch distance          R17, R19, R22, R23  see the formats

// PREFETCH_DISTANCE: four rows ahead is the next row group, which a core that
// follows few streams (Cortex-A53: two) would not find; with long rows 512
// bytes ahead in the same row are enough.
#define PREFETCH_DISTANCE \
	LSL  $2, R7, R24       \
	MOVD $512, R25         \
	CMP  R25, R24          \
	CSEL LT, R24, R25, R24

#define PREFETCH_ROWS \
	PRFM_PLDL1KEEP(24, 8)  \
	PRFM_PLDL1KEEP(24, 9)  \
	PRFM_PLDL1KEEP(24, 10) \
	PRFM_PLDL1KEEP(24, 11)

#define ROW_GROUP \
	MOVD R6, R8            \
	MOVD R0, R12           \
	CMP  $2, R4            \
	ADD  R7, R8, R9        \
	ADD  $4, R12, R13      \
	CSEL LT, R8, R9, R9    \
	CSEL LT, R12, R13, R13 \
	CMP  $3, R4            \
	ADD  R7, R9, R10       \
	ADD  $4, R13, R14      \
	CSEL LT, R9, R10, R10  \
	CSEL LT, R13, R14, R14 \
	CMP  $4, R4            \
	ADD  R7, R10, R11      \
	ADD  $4, R14, R15      \
	CSEL LT, R10, R11, R11 \
	CSEL LT, R14, R15, R15

// NEXT_ROW_GROUP leaves the flags of rows left for BGT.
#define NEXT_ROW_GROUP \
	ADD  $16, R0   \
	ADD  R7<<2, R6 \
	SUBS $4, R4

// STORE writes the four rows of the next token.
#define STORE(acc) \
	VST1.P acc.S[0], (R12)(R1) \
	VST1.P acc.S[1], (R13)(R1) \
	VST1.P acc.S[2], (R14)(R1) \
	VST1.P acc.S[3], (R15)(R1)

#define ADVANCE_ROWS(bytes) \
	ADD $bytes, R8  \
	ADD $bytes, R9  \
	ADD $bytes, R10 \
	ADD $bytes, R11

#define ZERO(v) VEOR v.B16, v.B16, v.B16

#define ZERO4(a, b, c, d) \
	ZERO(a) \
	ZERO(b) \
	ZERO(c) \
	ZERO(d)
