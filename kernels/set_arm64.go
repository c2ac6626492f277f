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
	sets = append(sets, neon(sets[len(sets)-1]))
	if cpuid.CPU.Has(cpuid.ASIMDDP) {
		sets = append(sets, neonDotprod(sets[len(sets)-1]))
	}
	return sets
}

// neon replaces all the references. Floats are fused, integers exact.
func neon(s Set) Set {
	s.Name = "neon"
	s.Quantize = arm64.QuantizeNEON
	s.Product[F32] = arm64.ProductF32NEON
	s.Product[F16] = arm64.ProductF16NEON
	s.Product[BF16] = arm64.ProductBF16NEON
	s.Product[Q8_0] = arm64.ProductQ8_0NEON
	s.Product[Q4_0] = arm64.ProductQ4_0NEON
	s.Product[Q4_1] = arm64.ProductQ4_1NEON
	s.Dot, s.Axpy = arm64.DotNEON, arm64.AxpyNEON
	s.WidenF16, s.NarrowF16 = arm64.WidenF16NEON, arm64.NarrowF16NEON
	for bits := 1; bits <= 8; bits++ {
		s.Unpack[bits] = arm64.UnpackNEON(bits)
	}
	s.Score, s.Mix = arm64.Score(false), arm64.MixNEON
	s.DotRows, s.AxpyRows = arm64.DotRowsNEON, arm64.AxpyRowsNEON
	s.QuantizeQuery, s.Walsh = arm64.QuantizeQueryNEON, walshNEON
	s.ExpSum, s.Max = arm64.ExpSumNEON, arm64.MaxNEON
	return s
}

// walshNEON leaves blocks shorter than four vectors to the reference.
func walshNEON(x []float32, n int) {
	if n < 16 {
		Walsh(x, n)
		return
	}
	arm64.WalshNEON(x, n)
}

// neonDotprod improves the integer products.
func neonDotprod(s Set) Set {
	s.Name = "neon-dotprod"
	s.Product[Q8_0] = arm64.ProductQ8_0Dot
	s.Product[Q4_0] = arm64.ProductQ4_0Dot
	s.Product[Q4_1] = arm64.ProductQ4_1Dot
	s.Score = arm64.Score(true)
	return s
}
