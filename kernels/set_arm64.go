//go:build !noasm

package kernels

import (
	"github.com/klauspost/cpuid/v2"

	"edgeinfer/kernels/arm64"
)

// arch appends the Sets that this CPU can run: neon for every AArch64 core,
// neon-dotprod where SDOT is (Cortex-A55, A76 and later).
func arch(sets []Set) []Set {
	if !cpuid.CPU.Has(cpuid.ASIMD) {
		return sets
	}
	neon := sets[len(sets)-1]
	neon.Name = "neon"
	neon.Quantize = arm64.QuantizeNEON
	neon.Product[F32] = arm64.ProductF32NEON
	neon.Product[F16] = arm64.ProductF16NEON
	neon.Product[BF16] = arm64.ProductBF16NEON
	neon.Product[Q8_0] = arm64.ProductQ8_0NEON
	neon.Product[Q4_0] = arm64.ProductQ4_0NEON
	neon.Product[Q4_1] = arm64.ProductQ4_1NEON
	neon.Dot = arm64.DotNEON
	neon.Axpy = arm64.AxpyNEON
	neon.WidenF16 = arm64.WidenF16NEON
	neon.NarrowF16 = arm64.NarrowF16NEON
	for bits := 1; bits <= 8; bits++ {
		neon.Unpack[bits] = arm64.UnpackNEON(bits)
	}
	neon.Score, neon.Mix = arm64.Score(false), arm64.MixNEON
	neon.DotRows, neon.AxpyRows = arm64.DotRowsNEON, arm64.AxpyRowsNEON
	neon.ExpSum, neon.Max = arm64.ExpSumNEON, arm64.MaxNEON
	neon.QuantizeQuery, neon.Walsh = arm64.QuantizeQueryNEON, walshNEON
	sets = append(sets, neon)
	if !cpuid.CPU.Has(cpuid.ASIMDDP) {
		return sets
	}
	dot := neon
	dot.Name = "neon-dotprod"
	dot.Product[Q8_0] = arm64.ProductQ8_0Dot
	dot.Product[Q4_0] = arm64.ProductQ4_0Dot
	dot.Product[Q4_1] = arm64.ProductQ4_1Dot
	dot.Score = arm64.Score(true)
	return append(sets, dot)
}

// walshNEON leaves blocks shorter than four vectors to the reference.
func walshNEON(x []float32, n int) {
	if n < 16 {
		Walsh(x, n)
		return
	}
	arm64.WalshNEON(x, n)
}
