package budget

import (
	"encoding/binary"
	"fmt"
	"syscall"
)

// machineMemory offers half of the machine: macOS states no number like
// MemAvailable, and compresses rather than refuses.
func machineMemory() (int64, string, error) {
	// The number comes as text of which a last zero byte is cut off.
	text, err := syscall.Sysctl("hw.memsize")
	if err != nil {
		return 0, "", fmt.Errorf("hw.memsize: %w", err)
	}
	var number [8]byte
	copy(number[:], text)
	half := int64(binary.LittleEndian.Uint64(number[:]) / 2)
	return half, "half of the machine's memory (hw.memsize): " + FormatSize(half), nil
}
