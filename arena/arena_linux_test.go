package arena

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

// account is what /proc/self/smaps says: of the mapping that starts at one
// address, and of the whole process.
type account struct {
	found               bool
	sizeBytes, rssBytes int64
	processRSS          int64
}

func readAccount(t *testing.T, address uintptr) account {
	t.Helper()
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skipf("no account of mappings here: %v", err)
	}
	defer file.Close()
	var a account
	scanner := bufio.NewScanner(file)
	for inside := false; scanner.Scan(); {
		var start, end uint64
		var kB int64
		if n, _ := fmt.Sscanf(scanner.Text(), "%x-%x ", &start, &end); n == 2 {
			inside = start == uint64(address)
			a.found = a.found || inside
		} else if n, _ := fmt.Sscanf(scanner.Text(), "Size: %d kB", &kB); n == 1 {
			if inside {
				a.sizeBytes = kB << 10
			}
		} else if n, _ := fmt.Sscanf(scanner.Text(), "Rss: %d kB", &kB); n == 1 {
			a.processRSS += kB << 10
			if inside {
				a.rssBytes = kB << 10
			}
		}
	}
	return a
}

func TestTheSystemSeesTheMapping(t *testing.T) {
	// Neighbours of the same kind: without guards the kernel merges them.
	for _, a := range []*Arena{open(t, 1<<20), open(t, 1<<20+1), open(t, 3<<20)} {
		got := readAccount(t, a.Address())
		if !got.found || got.sizeBytes != a.MappedBytes() {
			t.Errorf("smaps at %#x = %+v; want Size %d", a.Address(), got, a.MappedBytes())
		}
		// QEMU's user mode writes the guest's smaps itself and leaves every Rss
		// 0, even that of the running code: nothing can be learned from it.
		if got.processRSS == 0 {
			t.Logf("smaps knows no residence on this machine (an emulator wrote it)")
			continue
		}
		if got.rssBytes != a.MappedBytes() {
			t.Errorf("smaps Rss = %d before any use; want all %d", got.rssBytes, a.MappedBytes())
		}
	}
}

func TestGuardsStopAnOverrun(t *testing.T) {
	a := open(t, 4096)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	page := a.Status().PageBytes
	for _, index := range []int{-1, int(a.MappedBytes())} {
		fault := panicOf(func() { a.region.reserved[page+index] = 1 })
		if !strings.Contains(fault, "invalid memory address") {
			t.Errorf("write at %d of %d = %q; want a fault", index, a.MappedBytes(), fault)
		}
	}
}
