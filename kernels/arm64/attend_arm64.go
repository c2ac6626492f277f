//go:build !noasm

package arm64

// What attention does with a tile: lengths are checked here (operands that are
// too short panic), and runs of rows are cut so that one assembly call stays
// short. No result depends on the cuts.

// callRows is how many of rows rows of rowBytes bytes the next call works on: all
// of them or, where that takes long, a multiple of eight.
func callRows(rows, rowBytes int) int {
	if rows*rowBytes <= sliceBytes {
		return rows
	}
	return min(rows, max(8, sliceBytes/rowBytes&^7))
}

// mustBeSixteens panics unless n is positive and a multiple of 16.
func mustBeSixteens(n int) {
	if n&15 != 0 || n <= 0 {
		panic("arm64: BUG: the channels of a row and of a group must be multiples of 16")
	}
}

// UnpackFunc is the type of kernels.Set.Unpack[bits].
type UnpackFunc = func(dst []int8, payload []byte, rowBytes, padded, rows int, table []int8)

// unpackers are the assembly by width.
var unpackers = [9]func(dst *int8, payload *byte, rowBytes, padded, rows int, table *int8){
	1: unpack1NEON, 2: unpack2NEON, 3: unpack3NEON, 4: unpack4NEON,
	5: unpack5NEON, 6: unpack6NEON, 7: unpack7NEON, 8: unpack8NEON,
}

// UnpackNEON returns the function of one width that equals kernels.UnpackInt8
// exactly.
func UnpackNEON(bits int) UnpackFunc {
	onePlane, unpack := bits&(bits-1) == 0, unpackers[bits]
	return func(dst []int8, payload []byte, rowBytes, padded, rows int, table []int8) {
		if rows == 0 {
			return
		}
		mustBeSixteens(padded)
		size := padded * bits / 8
		dst, payload = dst[:rows*padded], payload[:(rows-1)*rowBytes+size]
		var levels *int8
		if bits <= 4 {
			levels = &table[:16][0]
		}
		endToEnd := onePlane && padded&31 == 0 && rowBytes == size
		for {
			n := callRows(rows, padded)
			if endToEnd { // rows of whole units in one plane are one long row
				unpack(&dst[0], &payload[0], 0, n*padded, 1, levels)
			} else {
				unpack(&dst[0], &payload[0], rowBytes, padded, n, levels)
			}
			if rows -= n; rows == 0 {
				return
			}
			dst, payload = dst[n*padded:], payload[n*rowBytes:]
		}
	}
}
