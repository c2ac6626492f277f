//go:build !unix

package kernels

import "testing"

// guardPages says that a touch outside a guarded buffer goes unnoticed here.
const guardPages = false

// mapGuarded returns size ordinary bytes where pages cannot be protected.
func mapGuarded(_ testing.TB, size int) []byte { return make([]byte, max(size, 1)) }
