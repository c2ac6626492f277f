package gguf

import (
	"encoding/binary"
	"encoding/hex"
	"hash"
	"hash/fnv"
)

// What a fingerprint reads of the tensor data: so many samples, evenly apart.
// They catch another set of weights under the same header, and no more pages
// are touched than on a quick look.
const (
	fingerprintSamples     = 64
	fingerprintSampleBytes = 1024
)

// Fingerprint names the content of a file: the 128-bit FNV-1a hash of its header,
// its size and samples of its tensor data, in hexadecimal. What was measured on a
// model says by it which one that was. It is no protection against a file made to
// have a given fingerprint; a hash that is would bring 32 MiB of static memory
// into the program (crypto/internal/fips140/drbg), which every plan would count. The parts of a split model follow each other.
func (f *File) Fingerprint() string {
	h := fnv.New128a()
	f.sample(h)
	for _, other := range f.others {
		other.sample(h)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// sample writes what of one file the fingerprint is made of.
func (f *File) sample(h hash.Hash) {
	h.Write(f.data[:f.DataOffset])
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(f.data))))
	weights := f.data[f.DataOffset:]
	for i := range fingerprintSamples {
		at := len(weights) / fingerprintSamples * i
		h.Write(weights[at:min(at+fingerprintSampleBytes, len(weights))])
	}
}
