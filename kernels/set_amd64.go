//go:build !noasm

package kernels

import (
	"github.com/klauspost/cpuid/v2"

	"edgeinfer/kernels/amd64"
)

// arch appends the Sets that this CPU can run. cpuid reports vector features
// only where the operating system saves their registers.
func arch(sets []Set) []Set {
	if !cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.F16C) {
		return sets
	}
	sets = append(sets, avx2(sets[len(sets)-1]))
	if cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512VL, cpuid.AVX512DQ,
		cpuid.AVX512VNNI) {
		sets = append(sets, avx512vnni(sets[len(sets)-1]))
	}
	return sets
}

// avx2 replaces all the references. Floats are fused, integers exact.
func avx2(s Set) Set {
	s.Name = "avx2"
	s.Quantize = amd64.QuantizeAVX2
	s.Product[F32] = amd64.ProductF32AVX2
	s.Product[F16] = amd64.ProductF16AVX2
	s.Product[BF16] = amd64.ProductBF16AVX2
	s.Product[Q8_0] = amd64.ProductQ8_0AVX2
	s.Product[Q4_0] = amd64.ProductQ4_0AVX2
	s.Product[Q4_1] = amd64.ProductQ4_1AVX2
	setCodeProducts(&s, false)
	s.Dot, s.Axpy = amd64.DotAVX2, amd64.AxpyAVX2
	s.WidenF16, s.NarrowF16 = amd64.WidenF16AVX2, amd64.NarrowF16AVX2
	for bits := 1; bits <= 8; bits++ {
		s.Unpack[bits] = amd64.UnpackAVX2(bits)
	}
	s.Score, s.Mix = amd64.Score(false), amd64.Mix(false)
	s.DotRows, s.AxpyRows = amd64.DotRowsAVX2, amd64.AxpyRowsAVX2
	s.QuantizeQuery, s.Walsh = amd64.QuantizeQueryAVX2, walshAVX2
	s.ExpSum, s.Max = amd64.ExpSumAVX2, amd64.MaxAVX2
	s.ScaleRows, s.Finite = amd64.ScaleRowsAVX2, amd64.FiniteAVX2
	s.FitLevels, s.FitUniform = amd64.FitLevelsAVX2, amd64.FitUniformAVX2
	s.Pack = amd64.PackCodesAVX2
	return s
}

// walshAVX2 leaves blocks shorter than a vector to the reference.
func walshAVX2(x []float32, n int) {
	if n < 8 {
		Walsh(x, n)
		return
	}
	amd64.WalshAVX2(x, n)
}

// avx512vnni improves batches of the block formats, the scores of tiles and the mixes
// of values. One token is bound by memory on either tier, and float batches reach the
// FMA units' peak with AVX2 on CPUs that split 512-bit vectors in two. The fits wait
// for chains of single results: with 16 lanes a group by itself takes 12 % less, but a
// tile of them no less (BenchmarkSeal on a Xeon).
func avx512vnni(s Set) Set {
	s.Name = "avx512vnni"
	s.Product[Q8_0] = amd64.ProductQ8_0VNNI
	s.Product[Q4_0] = amd64.ProductQ4_0VNNI
	s.Product[Q4_1] = amd64.ProductQ4_1VNNI
	setCodeProducts(&s, true)
	s.Score, s.Mix = amd64.Score(true), amd64.Mix(true)
	return s
}
