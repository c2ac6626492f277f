package budget

import (
	"fmt"
	"math"
	"syscall"
	"unsafe"
)

// memoryStatus is MEMORYSTATUSEX of the Windows API.
type memoryStatus struct {
	length, load                                   uint32
	totalPhysical, availablePhysical               uint64
	totalPageFile, availablePageFile               uint64
	totalVirtual, availableVirtual, availableExtra uint64
}

// machineMemory offers the physical memory that is available.
func machineMemory() (int64, string, error) {
	call := syscall.NewLazyDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")
	if err := call.Find(); err != nil {
		return 0, "", err
	}
	var status memoryStatus
	status.length = uint32(unsafe.Sizeof(status))
	if ok, _, err := call.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return 0, "", fmt.Errorf("GlobalMemoryStatusEx: %w", err)
	}
	bytes := int64(min(status.availablePhysical, math.MaxInt64))
	return bytes, "available physical memory: " + FormatSize(bytes), nil
}
