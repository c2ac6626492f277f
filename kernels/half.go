package kernels

// IEEE 754 half precision, through x448/float16: the reference and the cold
// paths. Hot paths use the CPU's own conversion (F16C, FCVTL/FCVTN).

import (
	"encoding/binary"

	"github.com/x448/float16"
)

// F16ToF32 widens one IEEE half, exactly.
func F16ToF32(h uint16) float32 { return float16.Frombits(h).Float32() }

// F32ToF16 rounds to the nearest IEEE half, ties to even; magnitudes from
// 65520 become infinity.
func F32ToF16(v float32) uint16 { return float16.Fromfloat32(v).Bits() }

// WidenF16 is the reference of Set.WidenF16.
func WidenF16(dst []float32, src []byte) {
	src = src[:2*len(dst)]
	for i := range dst {
		dst[i] = F16ToF32(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

// NarrowF16 is the reference of Set.NarrowF16.
func NarrowF16(dst []byte, src []float32) {
	dst = dst[:2*len(src)]
	for i, v := range src {
		binary.LittleEndian.PutUint16(dst[2*i:], F32ToF16(v))
	}
}
