package boards

// What this machine is. The device tree names board and module, so it counts
// first; then what firmware states as DMI, then the name of the CPU, then the
// chip of the device tree, which other boards have too. What nothing matches
// gets a profile made from what is seen.

import (
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Machine is what was found.
type Machine struct {
	Board             // what it was taken for
	How        string // why
	Model      string // what it calls itself; "" where it does not
	TotalBytes int64  // memory as the kernel sees it; 0 where it is not told
	PageBytes  int
	CPUs       []CPU // those that are online
	// QuotaCPUs is how many CPUs' worth of time this process gets; 0: all.
	QuotaCPUs   float64
	QuotaSource string
	Notes       []string // what was left out
}

// maxTreeEntries bounds how many names of the device tree are looked at.
const maxTreeEntries = 64

// Detect looks at the machine. root is its file system, os.DirFS("/") but in
// tests; pageBytes is the page size of this process. Where there is no /proc, as
// on other systems than Linux, it finds the generic board with nothing known.
func Detect(root fs.FS, pageBytes int) Machine {
	s := &scanner{files: root}
	m := Machine{PageBytes: pageBytes, TotalBytes: s.memTotal(), CPUs: s.scanCPUs()}
	quota := s.scanQuota()
	m.QuotaCPUs, m.QuotaSource = quota.cpus, quota.source
	names := s.names()
	m.Model = names.model
	if p, how := match(names, m.cpuNames(), m.TotalBytes); p != nil {
		m.Board, m.How = p.withRAM(m.TotalBytes), how
		m.Variant.RAMBytes = max(m.Variant.RAMBytes, m.TotalBytes) // more than we know of
	} else {
		m.Board, m.How = m.generic(), "no profile matches"
	}
	m.Notes = s.notes
	return m
}

// As returns the machine taken for another board: "" and "auto" leave it as
// detected, "generic" is what is seen. A name without a size of memory is the
// one with the memory that is seen.
func (m Machine) As(name string) (Machine, error) {
	switch name {
	case "", "auto":
		return m, nil
	case Generic:
		m.Board, m.How = m.generic(), "as asked for"
		return m, nil
	}
	board, sized, err := Lookup(name)
	if err != nil {
		return m, err
	}
	if !sized {
		board = board.withRAM(m.TotalBytes)
	}
	m.Board, m.How = board, "as asked for"
	return m, nil
}

// FastCores is the number of threads to compute with: the physical cores of the
// fast cluster among the CPUs that the affinity leaves, and not more than the
// quota pays for, but at least one. 0 where nothing is known of the CPUs.
func (m Machine) FastCores() int {
	fast := m.fast()
	if m.QuotaCPUs > 0 {
		return min(physicalCores(fast), max(1, int(math.Min(m.QuotaCPUs, maxCPUs))))
	}
	return physicalCores(fast)
}

// FastCoresSource says in words where FastCores comes from.
func (m Machine) FastCoresSource() string {
	allowed, fast := m.allowed(), m.fast()
	if len(fast) == 0 {
		return "nothing is known of the CPUs"
	}
	text := "1 physical core"
	if cores := physicalCores(fast); cores > 1 {
		text = fmt.Sprintf("%d physical cores", cores)
	}
	if len(fast) < len(allowed) {
		text += " of the fast cluster"
	}
	if core := fast[0].Core; core != "" {
		text += " (" + core + ")"
	}
	if len(allowed) < len(m.CPUs) {
		text += fmt.Sprintf(", affinity leaves %d of %d CPUs", len(allowed), len(m.CPUs))
	}
	if m.QuotaCPUs > 0 {
		text += fmt.Sprintf(", quota of %.4g CPUs (%s)", m.QuotaCPUs, m.QuotaSource)
	}
	return text
}

// fast are the CPUs of the fast cluster that this process may use. What is
// known of a board's clusters helps; those of the generic one are only seen.
func (m Machine) fast() []CPU {
	if m.Name == Generic {
		return fastest(m.allowed(), nil)
	}
	return fastest(m.allowed(), m.Clusters)
}

// allowed are the CPUs this process may use.
func (m Machine) allowed() (cpus []CPU) {
	for _, c := range m.CPUs {
		if c.Allowed {
			cpus = append(cpus, c)
		}
	}
	return cpus
}

// genericReserve is what the system keeps of memory on a machine that nothing
// is known of: a sixteenth, which is between what Raspberry Pis and Jetsons
// keep, and not more than a gibibyte.
func genericReserve(totalBytes int64) int64 { return min(totalBytes/16, gib) }

// generic makes a board from what is seen.
func (m Machine) generic() Board {
	v := Variant{RAMBytes: m.TotalBytes, ReserveBytes: genericReserve(m.TotalBytes)}
	p := &Profile{Name: Generic, Title: "Unknown machine", Variants: []Variant{v},
		Clusters: clustersOf(m.CPUs), PageBytes: []int{m.PageBytes},
		Sources: []Source{
			{[]Figure{FigureCores, FigureFeatures, FigureRAM, FigurePages}, Measured,
				"what the kernel tells"},
			reserveSource("a sixteenth of the memory, at most 1 GiB"),
			bandwidth(Estimate, "unknown"),
		}}
	return Board{p, v}
}

// cpuNames are the different names of the CPUs.
func (m Machine) cpuNames() []string {
	var names []string
	for _, c := range m.CPUs {
		if !slices.Contains(names, c.Core) {
			names = append(names, c.Core)
		}
	}
	return names
}

// machineNames are what device tree and DMI say.
type machineNames struct {
	model       string
	compatibles []string
	products    []string
}

// names reads what the machine calls itself.
func (s *scanner) names() (n machineNames) {
	for _, folder := range []string{"proc/device-tree/", "sys/firmware/devicetree/base/"} {
		text, ok := s.read(folder+"compatible", maxFileBytes)
		if !ok {
			continue
		}
		for _, entry := range strings.SplitN(text, "\x00", maxTreeEntries+1) {
			if entry = strings.TrimSpace(entry); entry != "" && len(n.compatibles) < maxTreeEntries {
				n.compatibles = append(n.compatibles, entry)
			}
		}
		model, _ := s.read(folder+"model", maxFileBytes)
		n.model = printable(model)
		break
	}
	for _, name := range []string{"product_name", "board_name"} {
		if product := printable(s.word("sys/class/dmi/id/" + name)); product != "" {
			n.products = append(n.products, product)
		}
	}
	if n.model == "" && len(n.products) > 0 {
		n.model = n.products[0]
	}
	return n
}

// match finds the profile and says by what.
func match(n machineNames, cpuNames []string, totalBytes int64) (*Profile, string) {
	by := func(seen []string, known func(*Profile) []string) (*Profile, string) {
		for _, name := range seen {
			for _, p := range profiles {
				if slices.Contains(known(p), name) {
					return p, name
				}
			}
		}
		return nil, ""
	}
	if p, name := by(n.compatibles, func(p *Profile) []string { return p.Compatibles }); p != nil {
		return p, "by the device tree, " + quote(name)
	}
	if p, name := by(n.products, func(p *Profile) []string { return p.ProductNames }); p != nil {
		return p, "by the DMI name " + quote(name)
	}
	if p, name := by(cpuNames, func(p *Profile) []string { return p.CPUNames }); p != nil {
		return p, "by the CPU's name, " + quote(name)
	}
	return matchChip(n.compatibles, totalBytes)
}

// matchChip takes the smallest board of the chip that has the memory, else the
// largest.
func matchChip(compatibles []string, totalBytes int64) (found *Profile, how string) {
	for _, name := range compatibles {
		for _, p := range profiles {
			if !slices.Contains(p.Chips, name) {
				continue
			}
			found, how = p, "another board with the same chip, "+quote(name)
			if p.holds(totalBytes) {
				return found, how
			}
		}
		if found != nil {
			return found, how
		}
	}
	return nil, ""
}

// memTotal reads the memory that the kernel manages; 0 where it is not told.
func (s *scanner) memTotal() int64 {
	const name = "proc/meminfo"
	text, _ := s.read(name, maxFileBytes)
	value, told := field(text, "MemTotal")
	if !told {
		return 0
	}
	number, unit, _ := strings.Cut(value, " ")
	kB, err := strconv.ParseInt(number, 10, 64)
	if err != nil || unit != "kB" || kB < 1 || kB > math.MaxInt64/1024 {
		s.note("%s holds a MemTotal of %s", name, quote(value))
		return 0
	}
	return kB * 1024
}
