// What the loops over rows share.

// Rows go four at a time. Where fewer are left the last row takes the missing places
// too, so that no row needs code of its own and nothing is read out of bounds; only
// what belongs to a row is stored.

// FOUR_FROM leaves four addresses, step apart, that follow row3.
#define FOUR_FROM(row0, row1, row2, row3, step) \
	ADD step, row3, row0    \
	ADD step<<1, row3, row1 \
	ADD step<<1, row0, row2 \
	ADD step<<1, row1, row3

// LAST_AGAIN is for fewer than four rows, with the flags of a comparison of the
// number: the last row takes the places behind it too.
#define LAST_AGAIN(row0, row1, row2, row3) \
	CSEL LT, row0, row1, row1 \
	CSEL LE, row1, row2, row2 \
	MOVD row2, row3

// The panel of 64 channels at R0 that a weighted sum keeps in registers.

#define LOAD_PANEL \
	FLDPQ (R0), (F0, F1)      \
	FLDPQ 32(R0), (F2, F3)    \
	FLDPQ 64(R0), (F4, F5)    \
	FLDPQ 96(R0), (F6, F7)    \
	FLDPQ 128(R0), (F8, F9)   \
	FLDPQ 160(R0), (F10, F11) \
	FLDPQ 192(R0), (F12, F13) \
	FLDPQ 224(R0), (F14, F15)

#define STORE_PANEL \
	FSTPQ (F0, F1), (R0)      \
	FSTPQ (F2, F3), 32(R0)    \
	FSTPQ (F4, F5), 64(R0)    \
	FSTPQ (F6, F7), 96(R0)    \
	FSTPQ (F8, F9), 128(R0)   \
	FSTPQ (F10, F11), 160(R0) \
	FSTPQ (F12, F13), 192(R0) \
	FSTPQ (F14, F15), 224(R0)
