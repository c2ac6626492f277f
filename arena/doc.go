// Package arena is the only door to memory: one anonymous mapping, made once,
// handed out by purpose, then sealed. What is asked for after the seal is a
// bug of ours and panics, so nothing can grow while tokens are decoded.
//
// The ledger counts every byte by purpose. Plan lines and ledger lines carry
// the same names, so that "the plan is what was allocated" is one comparison.
// Memory that lies elsewhere (the mapped model file, the program, the Go heap)
// is noted, so that the ledger is the whole process.
//
// The package decides nothing: how much is needed for what is the business of
// budget and of the byte formulas in kernels. It is no general allocator
// either: nothing is ever given back but the whole mapping.
package arena
