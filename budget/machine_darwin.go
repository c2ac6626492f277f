package budget

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// machineMemory offers half of the machine: macOS states no number like
// MemAvailable, and compresses rather than refuses.
func machineMemory() (int64, string, error) {
	total, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0, "", fmt.Errorf("hw.memsize: %w", err)
	}
	half := int64(total / 2)
	return half, "half of the machine's memory (hw.memsize): " + FormatSize(half), nil
}
