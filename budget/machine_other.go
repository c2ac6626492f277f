//go:build !darwin && !windows

package budget

import "errors"

// machineMemory has nothing to add to /proc/meminfo.
func machineMemory() (int64, string, error) {
	return 0, "", errors.New("no /proc/meminfo")
}
