package boards

// The CPUs: which are online, which of them are one physical core, what each is
// and how fast, and which of them this process may use.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// CPU is one logical CPU that is online.
type CPU struct {
	ID       int
	FirstID  int    // least ID of the CPUs that share its physical core
	Allowed  bool   // by the affinity of this process
	Core     string // "Cortex-A76", or the model name on x86; "" where it is not told
	Capacity int    // the kernel's measure of speed, at most 1024; 0 where it is not told
	MaxMHz   int    // 0 where it is not told
	features []string
}

const cpuFolder = "sys/devices/system/cpu/"

// scanCPUs lists the CPUs that are online.
func (s *scanner) scanCPUs() []CPU {
	info := s.cpuInfo()
	ids := s.cpuList(cpuFolder+"online", s.word(cpuFolder+"online"))
	if len(ids) == 0 {
		for id := range maxCPUs {
			if _, there := info[id]; there {
				ids = append(ids, id)
			}
		}
	}
	allowed := s.affinity(ids)
	cpus := make([]CPU, len(ids))
	for i, id := range ids {
		folder := cpuFolder + "cpu" + strconv.Itoa(id) + "/"
		facts := info[id]
		cpus[i] = CPU{
			ID: id, FirstID: s.firstSibling(folder, id), Allowed: slices.Contains(allowed, id),
			Core: facts.core, features: facts.features,
			Capacity: s.number(folder+"cpu_capacity", 1<<20),
			MaxMHz:   (s.number(folder+"cpufreq/cpuinfo_max_freq", 1<<30) + 500) / 1000, // from kHz
		}
	}
	return cpus
}

// firstSibling is the least CPU of the same physical core. Kernels before 5.1
// know the list by its older name alone.
func (s *scanner) firstSibling(folder string, id int) int {
	for _, name := range []string{"topology/core_cpus_list", "topology/thread_siblings_list"} {
		siblings := s.cpuList(folder+name, s.word(folder+name))
		if slices.Contains(siblings, id) {
			return siblings[0]
		}
	}
	return id
}

// affinity returns those of the CPUs that this process may use: all of them
// where it is not told, or nothing would be left.
func (s *scanner) affinity(ids []int) []int {
	const name = "proc/self/status"
	text, _ := s.read(name, maxFileBytes)
	list, told := field(text, "Cpus_allowed_list")
	if !told {
		return ids
	}
	mask := s.cpuList(name, list)
	allowed := slices.DeleteFunc(slices.Clone(ids), func(id int) bool {
		return !slices.Contains(mask, id)
	})
	if len(allowed) == 0 && len(ids) > 0 {
		s.note("the affinity %s, which has no CPU that is online", quote(list))
		return ids
	}
	return allowed
}

// cpuFacts are what /proc/cpuinfo tells of one CPU.
type cpuFacts struct {
	core              string
	implementer, part string
	features          []string
}

// cpuInfo reads /proc/cpuinfo. ARM tells numbers for implementer and part, x86
// a name.
func (s *scanner) cpuInfo() map[int]cpuFacts {
	text, _ := s.read("proc/cpuinfo", maxCPUInfoBytes)
	all := map[int]cpuFacts{}
	id := -1
	for line := range strings.Lines(text) {
		key, value, found := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if key == "processor" {
			n, err := strconv.Atoi(value)
			if id = n; err != nil || n < 0 || n >= maxCPUs {
				id = -1
			}
		}
		if !found || id < 0 {
			continue
		}
		facts := all[id]
		switch key {
		case "model name":
			facts.core = printable(value)
		case "CPU implementer":
			facts.implementer = value
		case "CPU part":
			facts.part = value
		case "Features", "flags":
			facts.features = features(value)
		}
		all[id] = facts
	}
	for id, facts := range all {
		if facts.part != "" {
			facts.core = coreName(facts.implementer, facts.part)
			all[id] = facts
		}
	}
	return all
}

// kernelFeatures are the features by the names of the kernel, in our order.
var kernelFeatures = []struct{ kernel, ours string }{
	{"asimd", NEON}, {"asimddp", DotProd}, {"asimdhp", FP16}, {"i8mm", I8MM},
	{"avx2", AVX2}, {"fma", FMA}, {"f16c", F16C}, {"avx_vnni", AVXVNNI},
}

// features picks what matters here from a list of flags.
func features(flags string) (named []string) {
	words := strings.Fields(flags)
	for _, f := range kernelFeatures {
		if slices.Contains(words, f.kernel) {
			named = append(named, f.ours)
		}
	}
	return named
}

// coreNames are ARM cores by implementer and part of their MIDR.
var coreNames = map[[2]uint64]string{
	{0x41, 0xd03}: "Cortex-A53", {0x41, 0xd04}: "Cortex-A35", {0x41, 0xd05}: "Cortex-A55",
	{0x41, 0xd07}: "Cortex-A57", {0x41, 0xd08}: "Cortex-A72", {0x41, 0xd09}: "Cortex-A73",
	{0x41, 0xd0a}: "Cortex-A75", {0x41, 0xd0b}: "Cortex-A76", {0x41, 0xd0c}: "Neoverse-N1",
	{0x41, 0xd40}: "Neoverse-V1", {0x41, 0xd41}: "Cortex-A78", {0x41, 0xd42}: "Cortex-A78AE",
	{0x41, 0xd46}: "Cortex-A510", {0x41, 0xd47}: "Cortex-A710", {0x41, 0xd49}: "Neoverse-N2",
	{0x4e, 0x003}: "Denver 2", {0x4e, 0x004}: "Carmel",
}

// coreName names an ARM core; one that is not known by its numbers.
func coreName(implementer, part string) string {
	i, err1 := strconv.ParseUint(implementer, 0, 32)
	p, err2 := strconv.ParseUint(part, 0, 32)
	if err1 != nil || err2 != nil {
		return ""
	}
	if name, known := coreNames[[2]uint64{i, p}]; known {
		return name
	}
	return fmt.Sprintf("core %#02x/%#03x", i, p)
}

// nearlyFast is the share of the fastest CPU's speed, in percent, from which
// one counts as equally fast. Chips sort their cores by quality, so equal ones
// may differ by some percent; little ones have three quarters of the clock at
// most, and half of the capacity.
const nearlyFast = 80

// fastest returns those of the CPUs that form the fast cluster. What a profile
// says of its clusters counts first, then the kernel's capacities (which are
// all alike where it does not know), then clocks.
func fastest(cpus []CPU, clusters []Cluster) []CPU {
	if len(clusters) > 1 {
		for _, cluster := range clusters {
			if same := having(cpus, cluster.Core); len(same) > 0 {
				return same
			}
		}
	}
	cpus = withinShare(cpus, func(c CPU) int { return c.Capacity })
	return withinShare(cpus, func(c CPU) int { return c.MaxMHz })
}

// having returns the CPUs of one type of core.
func having(cpus []CPU, core string) (same []CPU) {
	for _, c := range cpus {
		if c.Core == core {
			same = append(same, c)
		}
	}
	return same
}

// withinShare drops the CPUs whose speed is below nearlyFast of the best, where
// the speed of all is known.
func withinShare(cpus []CPU, speed func(CPU) int) []CPU {
	best := 0
	for _, c := range cpus {
		if speed(c) == 0 {
			return cpus
		}
		best = max(best, speed(c))
	}
	var fast []CPU
	for _, c := range cpus {
		if 100*int64(speed(c)) >= nearlyFast*int64(best) {
			fast = append(fast, c)
		}
	}
	return fast
}

// physicalCores counts the cores that CPUs belong to.
func physicalCores(cpus []CPU) int {
	cores := map[int]bool{}
	for _, c := range cpus {
		cores[c.FirstID] = true
	}
	return len(cores)
}

// clustersOf describes CPUs as a profile would: the fast ones, then the rest.
func clustersOf(cpus []CPU) (clusters []Cluster) {
	fast := fastest(cpus, nil)
	rest := slices.DeleteFunc(slices.Clone(cpus), func(c CPU) bool {
		return slices.ContainsFunc(fast, func(f CPU) bool { return f.ID == c.ID })
	})
	for _, group := range [][]CPU{fast, rest} {
		if len(group) == 0 {
			continue
		}
		cluster := Cluster{Cores: physicalCores(group), Core: group[0].Core,
			Features: slices.Clone(group[0].features)}
		for _, c := range group {
			cluster.MaxMHz = max(cluster.MaxMHz, c.MaxMHz)
			cluster.Features = slices.DeleteFunc(cluster.Features, func(f string) bool {
				return !slices.Contains(c.features, f)
			})
			if c.Core != cluster.Core {
				cluster.Core = ""
			}
		}
		clusters = append(clusters, cluster)
	}
	return clusters
}
