package arena

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// account is what /proc/self/smaps says of the mapping that starts at one
// address. In QEMU's user mode the file is the host's, and so are its pages:
// smaller ones, perhaps, than the page size the guest is told.
type account struct {
	found                          bool
	sizeBytes, rssBytes, pageBytes int64
}

func readAccount(t *testing.T, address uintptr) account {
	t.Helper()
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skipf("no account of mappings here: %v", err)
	}
	defer file.Close()
	var a account
	fields := map[string]*int64{
		"Size:": &a.sizeBytes, "Rss:": &a.rssBytes, "KernelPageSize:": &a.pageBytes,
	}
	scanner := bufio.NewScanner(file)
	for inside := false; scanner.Scan(); {
		var start, end uint64
		if n, _ := fmt.Sscanf(scanner.Text(), "%x-%x ", &start, &end); n == 2 {
			inside = start == uint64(address)
			a.found = a.found || inside
			continue
		}
		words := strings.Fields(scanner.Text())
		if field := fields[words[0]]; inside && field != nil {
			kB, err := strconv.ParseInt(words[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			*field = kB << 10
		}
	}
	return a
}

func TestTheSystemSeesTheMapping(t *testing.T) {
	if !addressesAgree(t) {
		t.Skip("an emulator runs this test at addresses of its own")
	}
	// Neighbours of the same kind: without guards the kernel merges them.
	for _, a := range []*Arena{open(t, 1<<20), open(t, 1<<20+1), open(t, 3<<20)} {
		got := readAccount(t, a.Address())
		if !got.found || got.sizeBytes != a.MappedBytes() {
			t.Errorf("smaps at %#x = %+v; want Size %d", a.Address(), got, a.MappedBytes())
		}
		// One touch makes one page of the kernel's present, whatever QEMU calls a page.
		want := a.MappedBytes() / int64(PageBytes()) * min(got.pageBytes, int64(PageBytes()))
		if got.rssBytes < want || got.rssBytes > a.MappedBytes() {
			t.Errorf("smaps Rss = %d before any use; want all %d", got.rssBytes, want)
		}
	}
}

// addressesAgree says whether smaps has a mapping where, as maps says, the
// program's first one starts. QEMU's user mode translates maps into the guest's
// addresses and passes smaps through: the two agree for a 64-bit guest, which
// has the host's addresses, and not for a 32-bit one.
func addressesAgree(t *testing.T) bool {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skipf("no list of mappings here: %v", err)
	}
	var start uint64
	if _, err := fmt.Sscanf(string(maps), "%x-", &start); err != nil {
		t.Fatalf("maps begins with %.40q: %v", maps, err)
	}
	return readAccount(t, uintptr(start)).found
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
