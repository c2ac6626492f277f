//go:build !noasm

package kernels

import "edgeinfer/kernels/amd64"

// setCodeProducts replaces the products of the formats of codeblock.go.
func setCodeProducts(s *Set, vnni bool) {
	for f, code := range map[Format]amd64.CodeFormat{
		Q5_0: amd64.Q5_0, Q5_1: amd64.Q5_1, Q2_K: amd64.Q2_K, Q3_K: amd64.Q3_K,
		Q4_K: amd64.Q4_K, Q5_K: amd64.Q5_K, Q6_K: amd64.Q6_K,
		IQ4_NL: amd64.IQ4_NL, IQ4_XS: amd64.IQ4_XS,
	} {
		s.Product[f] = amd64.ProductOfCodes(code, vnni)
	}
}
