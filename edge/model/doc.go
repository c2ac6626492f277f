// Package model turns the tensors of a model file into a forward pass.
//
// One table of families (families.go), one binding of weights in place
// (bind.go) and one Forward (forward.go) serve every architecture. The package
// owns the activations; the cache belongs to edge/kv, the products to kernels,
// and text, sampling and byte plans to others.
package model
