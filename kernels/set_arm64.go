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
	neon.Product[Q8_0] = arm64.ProductQ8_0NEON
	neon.Product[Q4_0] = arm64.ProductQ4_0NEON
	neon.Product[Q4_1] = arm64.ProductQ4_1NEON
	return append(sets, neon)
}
