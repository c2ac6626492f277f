package edge

// The embedded model: TinyStories of 260K parameters in F16, 0.5 MB, so that
// the program does its job without a download. Converted from llama2.c's
// stories260K (MIT licence, see stories260K.LICENSE).

import (
	_ "embed"
	"unsafe"
)

//go:embed stories260K.gguf
var embedded []byte

// EmbeddedName is what the embedded model is called where a path would stand.
const EmbeddedName = "stories260K (embedded)"

// embeddedAlign is the alignment that weights used in place need.
const embeddedAlign = 32

// embeddedBytes returns the embedded file, aligned. The linker aligns data of
// this size today; should it stop doing so, the half megabyte is copied.
func embeddedBytes() []byte {
	if uintptr(unsafe.Pointer(unsafe.SliceData(embedded)))%embeddedAlign == 0 {
		return embedded
	}
	buffer := make([]byte, len(embedded)+embeddedAlign)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(buffer)))) & (embeddedAlign - 1)
	copy(buffer[skip:], embedded)
	return buffer[skip : skip+len(embedded)]
}
