// Package budget turns limits into a plan: how much memory there is, which
// context and which cache formats fit into it, and one line for every byte of
// the process.
//
// It allocates nothing and runs nothing. How large a cache is, is the business
// of kernels; how large buffers are, that of whoever takes them: their lines
// come in with the Request. The plan's lines carry the names of the arena's
// ledger, so that the two can be compared line by line after load.
package budget
