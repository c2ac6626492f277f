// Package kernels holds the numbers: the formats of weights and of the cache,
// the portable reference of every operation, the table of functions a CPU
// runs (Set), and the choice among the tables this machine has.
//
// It is the only door to assembly. The leaves kernels/amd64 and kernels/arm64
// export plain functions; set_amd64.go and set_arm64.go compose them. The
// package knows nothing of models, memory or threads: callers hand in slices
// (from the arena: an argument passed through a func value escapes to the
// heap, so no local array may be passed) and split the work themselves.
package kernels
