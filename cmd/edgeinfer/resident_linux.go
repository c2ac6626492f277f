package main

import (
	"os"
	"strconv"
	"strings"
)

// residentBytes is what the system holds in memory for this process.
func residentBytes() (bytes int64, ok bool) {
	data, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		return 0, false
	}
	return parseResident(string(data))
}

// parseResident finds the Rss line of smaps_rollup.
func parseResident(text string) (bytes int64, ok bool) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == "Rss:" && fields[2] == "kB" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}
