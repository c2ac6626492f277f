package main

// llama.cpp names cache formats by ggml type, one for keys and one for values.
// The nearest plan of ours has the same bits; which one it is, is said.

import (
	"fmt"
	"slices"
	"strings"
)

// cacheTypeBits are the types that llama.cpp's -ctk and -ctv take.
var cacheTypeBits = map[string]int{
	"f32": 32, "f16": 16, "bf16": 16, "q8_0": 8,
	"q5_1": 5, "q5_0": 5, "q4_1": 4, "q4_0": 4, "iq4_nl": 4,
}

// cacheType takes the name of a type.
func cacheType(dst *string) func(string) error {
	return func(name string) error {
		*dst = strings.ToLower(name)
		if cacheTypeBits[*dst] == 0 {
			var names []string
			for known := range cacheTypeBits {
				names = append(names, known)
			}
			slices.Sort(names)
			return fmt.Errorf("is no cache type; known are %s; --kv takes bits directly",
				strings.Join(names, ", "))
		}
		return nil
	}
}

// cachePlan is the plan text of s: --kv, or the types by llama.cpp's names,
// whichever was set closer to the user.
func (p *program) cachePlan(s *settings) (string, error) {
	plan := s.origins["kv"]
	types := max(s.origins["cache-type-k"], s.origins["cache-type-v"])
	switch {
	case types == builtIn || plan > types:
		return s.kv, nil
	case plan == types:
		return "", inputError{fmt.Errorf("--kv %s and cache types are both set %v; give one of them",
			s.kv, plan)}
	}
	k, v := typeOrF16(s.cacheTypeK), typeOrF16(s.cacheTypeV)
	text := planOfTypes(cacheTypeBits[k], cacheTypeBits[v])
	p.note("cache types %s for keys and %s for values are kept as --kv %s", k, v, text)
	return text, nil
}

// typeOrF16 is llama.cpp's default for the side that is not named.
func typeOrF16(name string) string {
	if name == "" {
		return "f16"
	}
	return name
}

// planOfTypes is the plan with so many bits. Only both sides together can be
// 32-bit; one alone is kept in 16 bits.
func planOfTypes(kBits, vBits int) string {
	switch {
	case kBits == 32 && vBits == 32:
		return "f32"
	case kBits >= 16 && vBits >= 16:
		return "f16"
	}
	return fmt.Sprintf("k%dv%d", min(kBits, 16), min(vBits, 16))
}
