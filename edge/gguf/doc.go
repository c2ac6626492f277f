// Package gguf reads GGUF model files, versions 2 and 3, in place: metadata in
// file order, and tensors as slices of the file. Opening one reads the header
// and none of the tensor data. The parts of a split model open as one.
//
// It is a container reader and no more: which keys and tensors a model needs,
// and which tensor types this runtime multiplies, is for others to say.
//
// Files come from strangers. Every count, length, offset, product and type is
// held against the bytes that are there before it is used, nothing is
// allocated by a number that was only claimed, and a bad file is an error that
// names the file, the key or tensor, the value found and the limit. Parsing,
// and each getter after it, takes no more heap than the file's own size and
// 16 MiB; limits.go has the arithmetic.
package gguf
