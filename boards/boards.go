// Package boards knows hardware: what each board has, and which one this is.
//
// Profiles are data (profiles.go): memory, what of it the system keeps, cores,
// practical bandwidth, and for every figure where it comes from and how sure it
// is. Detection (detect.go, cpus.go, quota.go) reads /proc and /sys below a root
// that tests may choose, and trusts none of it.
//
// It plans nothing: usable memory and fast cores are numbers for those who do.
package boards

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Profile is one kind of board, with all its sizes of memory.
type Profile struct {
	Name    string   // as --board takes it
	Aliases []string // other names it takes
	Title   string

	// How such a board is recognised. Chips are also on other boards, which are
	// then taken for the smallest board of that chip that has their memory.
	Compatibles  []string // entries of the device tree that name board or module
	Chips        []string // entries of the device tree that name the chip
	ProductNames []string // DMI product or board names, of boards with UEFI
	CPUNames     []string // model names in /proc/cpuinfo, where the chip is what counts

	Variants           []Variant // by memory, least first
	Clusters           []Cluster // the one to compute on first
	ReadBytesPerSecond int64     // practical, by the cores of the first cluster; 0: unknown
	PageBytes          []int     // page sizes in use, the usual one first
	Sources            []Source  // of every figure, exactly one
}

// Variant is a size of memory, with what differs with it.
type Variant struct {
	RAMBytes           int64
	ReserveBytes       int64 // what firmware, kernel and a system without desktop keep
	Cores              int   // of the first cluster, where fewer; 0: all
	ReadBytesPerSecond int64 // where it differs from the profile's; 0: it does not
}

// Cluster is a set of equal cores.
type Cluster struct {
	Cores    int
	Core     string // "Cortex-A76"
	MaxMHz   int    // 0: unknown
	Features []string
}

// Features that kernels ask for, by the names used here. Every 64-bit ARM core
// has neon.
const (
	NEON    = "neon"
	DotProd = "dotprod"
	FP16    = "fp16"
	I8MM    = "i8mm"
	AVX2    = "avx2"
	FMA     = "fma"
	F16C    = "f16c"
	AVXVNNI = "avx-vnni"
)

// Figure is what a Source is about.
type Figure string

// The figures of a profile.
const (
	FigureCores     Figure = "cores" // number, type and clock
	FigureFeatures  Figure = "features"
	FigureRAM       Figure = "ram"
	FigureReserve   Figure = "reserve"
	FigureBandwidth Figure = "bandwidth"
	FigurePages     Figure = "pages"
)

// Certainty says how far a figure can be relied on.
type Certainty string

// Kinds of certainty.
const (
	Vendor   Certainty = "vendor"   // who made it says so
	Measured Certainty = "measured" // somebody ran it and published the output
	Estimate Certainty = "estimate" // our guess, from what is said
)

// Source says where figures of a profile come from.
type Source struct {
	Figures   []Figure
	Certainty Certainty
	Text      string
}

// SourceOf returns the source of a figure; the zero Source where there is none.
func (p *Profile) SourceOf(figure Figure) Source {
	for _, s := range p.Sources {
		if slices.Contains(s.Figures, figure) {
			return s
		}
	}
	return Source{}
}

// Board is a profile with one size of memory.
type Board struct {
	*Profile
	Variant Variant
}

// Generic is the name of the profile for machines that no other one fits.
const Generic = "generic"

// All returns the profiles, Raspberry Pi, Jetson and others, each from the
// smallest to the largest. The generic one, which is made from what is seen, is
// not among them.
func All() []*Profile { return profiles }

// Boards returns the boards of a profile, one for each size of memory.
func (p *Profile) Boards() []Board {
	var all []Board
	for _, v := range p.Variants {
		all = append(all, Board{p, v})
	}
	return all
}

// withRAM returns the board with the least memory that holds bytes, as the
// system sees them (always somewhat less than there is), else the largest.
func (p *Profile) withRAM(bytes int64) Board {
	for _, v := range p.Variants {
		if v.RAMBytes >= bytes {
			return Board{p, v}
		}
	}
	return Board{p, p.Variants[len(p.Variants)-1]}
}

// holds says whether some variant has so much memory.
func (p *Profile) holds(bytes int64) bool {
	return p.Variants[len(p.Variants)-1].RAMBytes >= bytes
}

// FullName is the name with the size of memory, as Lookup takes it.
func (b Board) FullName() string {
	if b.Name == Generic {
		return Generic
	}
	return b.Name + "-" + ramSuffix(b.Variant.RAMBytes)
}

// ramSuffix writes a size of memory as names have it: 512m, 8g.
func ramSuffix(bytes int64) string {
	if bytes%(1<<30) == 0 {
		return strconv.FormatInt(bytes>>30, 10) + "g"
	}
	return strconv.FormatInt(bytes>>20, 10) + "m"
}

// UsableBytes is what is left of the memory when the system has its part; 0
// where the memory is unknown.
func (b Board) UsableBytes() int64 {
	return max(0, b.Variant.RAMBytes-b.Variant.ReserveBytes)
}

// FastCores is the number of physical cores in the cluster to compute on.
func (b Board) FastCores() int {
	if b.Variant.Cores > 0 {
		return b.Variant.Cores
	}
	if len(b.Clusters) == 0 {
		return 0
	}
	return b.Clusters[0].Cores
}

// BytesPerSecond is how fast the fast cores read memory, in practice; 0 where
// that is unknown.
func (b Board) BytesPerSecond() int64 {
	if b.Variant.ReadBytesPerSecond > 0 {
		return b.Variant.ReadBytesPerSecond
	}
	return b.ReadBytesPerSecond
}

// Lookup finds a board by its name, with or without the size of memory: "rpi-5",
// "rpi-5-8g". sized says that the name has one; without it the board is the
// smallest. The error names what there is.
func Lookup(name string) (b Board, sized bool, err error) {
	wanted := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "-")
	if p := profileNamed(wanted); p != nil {
		return Board{p, p.Variants[0]}, false, nil
	}
	if i := strings.LastIndexByte(wanted, '-'); i > 0 {
		if p := profileNamed(wanted[:i]); p != nil {
			return p.sized(wanted[i+1:])
		}
	}
	var names []string
	for _, p := range profiles {
		names = append(names, p.Name)
	}
	return Board{}, false, fmt.Errorf("there is no board %s; there are %s", quote(name),
		strings.Join(names, ", "))
}

// profileNamed returns the profile of that name or alias.
func profileNamed(name string) *Profile {
	for _, p := range profiles {
		if p.Name == name || slices.Contains(p.Aliases, name) {
			return p
		}
	}
	return nil
}

// sized returns the board whose memory is called suffix.
func (p *Profile) sized(suffix string) (Board, bool, error) {
	var sizes []string
	for _, b := range p.Boards() {
		size := ramSuffix(b.Variant.RAMBytes)
		if size == strings.TrimSuffix(suffix, "b") {
			return b, true, nil
		}
		sizes = append(sizes, p.Name+"-"+size)
	}
	return Board{}, false, fmt.Errorf("%s does not come with %s of memory; there are %s",
		p.Name, quote(suffix), strings.Join(sizes, ", "))
}

// quote quotes text from outside for a message, shortened.
func quote(text string) string {
	if len(text) > 60 {
		return strconv.QuoteToASCII(text[:60]) + "…"
	}
	return strconv.QuoteToASCII(text)
}
