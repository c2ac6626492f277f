package boards

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tree writes files below a new root.
func tree(t testing.TB, files map[string]string) fs.FS {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return os.DirFS(root)
}

// cpu is one CPU of a tree.
type cpu struct {
	part     string // implementer and part, "41/d0b"
	capacity int    // 0: the file is missing
	kHz      int    // 0: likewise
}

// alike are n equal CPUs.
func alike(n int, c cpu) []cpu {
	var all []cpu
	for range n {
		all = append(all, c)
	}
	return all
}

// Flags of cores of ARMv8.0 and 8.2.
const (
	armv80Flags = "fp asimd evtstrm crc32 cpuid"
	armv82Flags = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimddp"
)

// cpuFiles are the files of /sys and /proc for CPUs, all of them online.
func cpuFiles(cpus []cpu) map[string]string {
	files := map[string]string{cpuFolder + "online": fmt.Sprintf("0-%d\n", len(cpus)-1)}
	var info strings.Builder
	for id, c := range cpus {
		folder := fmt.Sprintf("%scpu%d/", cpuFolder, id)
		implementer, part, _ := strings.Cut(c.part, "/")
		flags := armv80Flags
		if slices.Contains([]string{"41/d05", "41/d0b", "41/d42"}, c.part) {
			flags = armv82Flags
		}
		fmt.Fprintf(&info, "processor\t: %d\nBogoMIPS\t: 108.00\nFeatures\t: %s\n"+
			"CPU implementer\t: 0x%s\nCPU architecture: 8\nCPU part\t: 0x%s\n\n",
			id, flags, implementer, part)
		files[folder+"topology/core_cpus_list"] = fmt.Sprintf("%d\n", id)
		if c.capacity > 0 {
			files[folder+"cpu_capacity"] = fmt.Sprintf("%d\n", c.capacity)
		}
		if c.kHz > 0 {
			files[folder+"cpufreq/cpuinfo_max_freq"] = fmt.Sprintf("%d\n", c.kHz)
		}
	}
	files["proc/cpuinfo"] = info.String()
	return files
}

// board are the files of a board with a device tree, whose names are separated
// by spaces here. What follows are files and their other contents; "-" takes a
// file away.
func board(compatibles string, memKB int, cpus []cpu, overrides ...string) map[string]string {
	files := cpuFiles(cpus)
	files["proc/device-tree/compatible"] = strings.ReplaceAll(compatibles, " ", "\x00") + "\x00"
	files["proc/device-tree/model"] = "Some Board Rev 1.0\x00"
	files["proc/meminfo"] = fmt.Sprintf("MemTotal:  %d kB\nMemFree:  100 kB\n", memKB)
	for i := 0; i+1 < len(overrides); i += 2 {
		files[overrides[i]] = overrides[i+1]
		if overrides[i+1] == "-" {
			delete(files, overrides[i])
		}
	}
	return files
}

var (
	a53     = alike(4, cpu{part: "41/d03", capacity: 1024, kHz: 1000000})
	a57     = alike(4, cpu{part: "41/d07", capacity: 1024, kHz: 1479000})
	a72     = alike(4, cpu{part: "41/d08", kHz: 1800000})
	a76     = alike(4, cpu{part: "41/d0b", capacity: 1024, kHz: 2400000})
	a78ae   = alike(12, cpu{part: "41/d42", capacity: 1024, kHz: 2201600})
	carmels = alike(8, cpu{part: "4e/004", capacity: 1024, kHz: 1907200})
	// The RK3588's A76 are sorted by quality: two pairs of slightly different clocks.
	rk3588 = slices.Concat(alike(4, cpu{part: "41/d05", capacity: 530, kHz: 1800000}),
		alike(2, cpu{part: "41/d0b", capacity: 1008, kHz: 2352000}),
		alike(2, cpu{part: "41/d0b", capacity: 1024, kHz: 2400000}))
	// Denver 2 are CPUs 1 and 2 of a TX2.
	tx2 = slices.Concat(alike(1, cpu{part: "41/d07", kHz: 2035200}),
		alike(2, cpu{part: "4e/003", kHz: 2035200}), alike(3, cpu{part: "41/d07", kHz: 2035200}))
)

// Device trees.
const (
	rock = "radxa,rock-5b rockchip,rk3588"
	pi5  = "raspberrypi,5-model-b brcm,bcm2712"
)

// x86 are the files of a PC with the model name; each CPU has its siblings.
func x86(model string, memKB int, siblings []string, kHz ...int) map[string]string {
	files := map[string]string{
		"proc/meminfo":                  fmt.Sprintf("MemTotal: %d kB\n", memKB),
		"sys/class/dmi/id/product_name": "Box\n",
		cpuFolder + "online":            fmt.Sprintf("0-%d\n", len(siblings)-1),
	}
	for id, list := range siblings {
		folder := fmt.Sprintf("%scpu%d/", cpuFolder, id)
		files["proc/cpuinfo"] += fmt.Sprintf("processor\t: %d\nmodel name\t: %s\n"+
			"flags\t\t: fpu sse2 fma avx f16c avx2 avx_vnni\n\n", id, model)
		files[folder+"topology/thread_siblings_list"] = list + "\n"
		files[folder+"cpufreq/cpuinfo_max_freq"] = fmt.Sprintf("%d\n", kHz[min(id, len(kHz)-1)])
	}
	return files
}

var machines = []struct {
	name    string
	files   map[string]string
	board   string
	how     string // pattern
	usable  int64  // MiB
	threads int
	why     string // pattern
}{
	{name: "Pi Zero 2 W",
		files: board("raspberrypi,model-zero-2-w brcm,bcm2837", 437248, a53),
		board: "rpi-zero-2w-512m", usable: 352, threads: 4,
		how: `^by the device tree, "raspberrypi,model-zero-2-w"$`,
		why: `^4 physical cores \(Cortex-A53\)$`},
	{name: "Pi 3B+",
		files: board("raspberrypi,3-model-b-plus brcm,bcm2837", 949248, a53),
		board: "rpi-3b-plus-1g", usable: 832, threads: 4, how: `3-model-b-plus`},
	{name: "Pi 3B, which has the chip of the 3B+",
		files: board("raspberrypi,3-model-b brcm,bcm2837", 930816, a53),
		board: "rpi-3b-plus-1g", usable: 832, threads: 4,
		how: `^another board with the same chip, "brcm,bcm2837"$`},
	{name: "Pi 4B, 1 GB",
		files: board("raspberrypi,4-model-b brcm,bcm2711", 930816, a72),
		board: "rpi-4b-1g", usable: 800, threads: 4, how: `4-model-b`},
	{name: "CM4, 8 GB",
		files: board("raspberrypi,4-compute-module brcm,bcm2711", 8048640, a72),
		board: "rpi-4b-8g", usable: 7744, threads: 4, how: `4-compute-module`},
	{name: "Pi 4B by UEFI and ACPI",
		files: map[string]string{"proc/meminfo": "MemTotal: 3884352 kB\n",
			"sys/class/dmi/id/product_name": "Raspberry Pi 4 Model B\n"},
		board: "rpi-4b-4g", usable: 3776, how: `^by the DMI name "Raspberry Pi 4 Model B"$`,
		why: "nothing is known of the CPUs"},
	{name: "Pi 5, 8 GB",
		files: board(pi5, 8256512, a76),
		board: "rpi-5-8g", usable: 7744, threads: 4, how: `5-model-b`},
	{name: "CM5, 16 GB",
		files: board("raspberrypi,5-compute-module brcm,bcm2712", 16605184, a76),
		board: "rpi-5-16g", usable: 15616, threads: 4, how: `5-compute-module`},
	{name: "Jetson Nano",
		files: board("nvidia,p3449-0000-b00+p3448-0000-b00 nvidia,jetson-nano nvidia,tegra210",
			4059264, a57),
		board: "jetson-nano-4g", usable: 3584, threads: 4, how: `p3449-0000-b00`},
	{name: "TX2, Denver cores on",
		files: board("nvidia,quill nvidia,tegra186", 8048640, tx2),
		board: "jetson-tx2-8g", usable: 7424, threads: 4, how: `quill`,
		why: `^4 physical cores of the fast cluster \(Cortex-A57\)$`},
	{name: "TX2, Denver cores off",
		files: board("nvidia,quill nvidia,tegra186", 8048640, tx2, cpuFolder+"online", "0,3-5\n"),
		board: "jetson-tx2-8g", usable: 7424, threads: 4, why: `^4 physical cores \(Cortex-A57\)$`},
	{name: "Xavier NX",
		files: board("nvidia,p3449-0000+p3668-0001 nvidia,p3509-0000+p3668-0001 nvidia,tegra194",
			7977984, carmels[:6]),
		board: "jetson-xavier-nx-8g", usable: 7168, threads: 6, how: `p3668-0001`, why: `Carmel`},
	{name: "AGX Xavier",
		files: board("nvidia,galen nvidia,jetson-xavier nvidia,tegra194", 32692224, carmels),
		board: "jetson-agx-xavier-32g", usable: 30720, threads: 8, how: `galen`},
	{name: "Orin Nano, whose DMI says Orin NX",
		files: board("nvidia,p3768-0000+p3767-0003 nvidia,p3767-0003 nvidia,tegra234", 6606848,
			a78ae[:6], "sys/class/dmi/id/product_name", "NVIDIA Orin NX Developer Kit\n"),
		board: "jetson-orin-nano-8g", usable: 6656, threads: 6, how: `p3768-0000\+p3767-0003`},
	{name: "Orin NX on a carrier of somebody else",
		files: board("vendor,carrier nvidia,p3767-0000 nvidia,tegra234", 16031334, a78ae[:8]),
		board: "jetson-orin-nx-16g", usable: 14592, threads: 8, how: `"nvidia,p3767-0000"`},
	{name: "AGX Orin",
		files: board("nvidia,p3737-0000+p3701-0005 nvidia,p3701-0005 nvidia,tegra234", 64349388, a78ae),
		board: "jetson-agx-orin-64g", usable: 61952, threads: 12, how: `p3701-0005`},
	{name: "Orin on an unknown module",
		files: board("vendor,new nvidia,tegra234", 31457280, a78ae),
		board: "jetson-agx-orin-32g", usable: 29696, threads: 12, how: `same chip, "nvidia,tegra234"`},

	{name: "Rock 5B",
		files: board(rock, 16262144, rk3588),
		board: "rock-5b-16g", usable: 15744, threads: 4, how: `rock-5b`,
		why: `^4 physical cores of the fast cluster \(Cortex-A76\)$`},
	{name: "Rock 5B, no capacities",
		files: board(rock, 16262144, without(rk3588, true, false)),
		board: "rock-5b-16g", usable: 15744, threads: 4, why: `Cortex-A76`},
	{name: "Rock 5B, no clocks",
		files: board(rock, 16262144, without(rk3588, false, true)),
		board: "rock-5b-16g", usable: 15744, threads: 4, why: `Cortex-A76`},
	{name: "Rock 5B, two fast cores offline",
		files: board(rock, 16262144, rk3588, cpuFolder+"online", "0-4,6\n"),
		board: "rock-5b-16g", usable: 15744, threads: 2, why: `^2 physical cores of the fast`},
	{name: "Rock 5B, affinity with two fast CPUs",
		files: board(rock, 16262144, rk3588, "proc/self/status",
			"Name:\tx\nCpus_allowed:\tc3\nCpus_allowed_list:\t0-1,6-7\n"),
		board: "rock-5b-16g", usable: 15744, threads: 2, why: `affinity leaves 4 of 8 CPUs`},
	{name: "Rock 5B, affinity with little CPUs alone",
		files: board(rock, 16262144, rk3588, "proc/self/status", "Cpus_allowed_list:\t0-2\n"),
		board: "rock-5b-16g", usable: 15744, threads: 3, why: `^3 physical cores \(Cortex-A55\)`},
	{name: "Rock 5B, quota of two and a half CPUs",
		files: board(rock, 16262144, rk3588, "proc/self/cgroup", "0::/edge\n",
			"sys/fs/cgroup/edge/cpu.max", "250000 100000\n"),
		board: "rock-5b-16g", usable: 15744, threads: 2,
		why: `quota of 2.5 CPUs \(control group "/edge": 250000 of 100000 µs\)`},
	{name: "RK3588 of somebody else",
		files: board("xunlong,orangepi-5 rockchip,rk3588s", 8105984, rk3588),
		board: "rock-5b-8g", usable: 7744, threads: 4, how: `same chip, "rockchip,rk3588s"`},

	{name: "N100",
		files: x86("Intel(R) N100", 16130048, []string{"0", "1", "2", "3"}, 3400000),
		board: "n100-16g", usable: 15104, threads: 4, how: `^by the CPU's name, "Intel\(R\) N100"$`},
}

// without are CPUs whose capacities or clocks are not told.
func without(cpus []cpu, capacity, clock bool) []cpu {
	var all []cpu
	for _, c := range cpus {
		if capacity {
			c.capacity = 0
		}
		if clock {
			c.kHz = 0
		}
		all = append(all, c)
	}
	return all
}

func TestDetect(t *testing.T) {
	for _, c := range machines {
		t.Run(c.name, func(t *testing.T) {
			m := Detect(tree(t, c.files), 4096)
			if m.FullName() != c.board || !regexp.MustCompile(c.how).MatchString(m.How) {
				t.Errorf("taken for %s, %s; want %s, a match of %s", m.FullName(), m.How, c.board, c.how)
			}
			if got := m.UsableBytes() >> 20; got != c.usable {
				t.Errorf("%d MiB usable; want %d", got, c.usable)
			}
			if got := m.FastCores(); got != c.threads {
				t.Errorf("%d fast cores; want %d", got, c.threads)
			}
			if why := m.FastCoresSource(); !regexp.MustCompile(c.why).MatchString(why) {
				t.Errorf("because %q; want a match of %s", why, c.why)
			}
			if len(m.Notes) > 0 {
				t.Errorf("notes %q", m.Notes)
			}
		})
	}
}

// TestSeenIsAsProfiled: clusters made from what is seen are the profile's.
func TestSeenIsAsProfiled(t *testing.T) {
	for _, c := range machines {
		m := Detect(tree(t, c.files), 4096)
		if len(m.CPUs) < 4 || strings.Contains(c.name, "line") || strings.Contains(c.name, "TX2") ||
			!strings.Contains(m.How, "device tree") {
			continue
		}
		seen := clustersOf(m.CPUs)
		if len(seen) != len(m.Clusters) {
			t.Errorf("%s: clusters %v; want %v", c.name, seen, m.Clusters)
			continue
		}
		for i, cluster := range m.Clusters {
			if i == 0 {
				cluster.Cores = m.Board.FastCores()
			}
			if seen[i].Cores != cluster.Cores || seen[i].Core != cluster.Core {
				t.Errorf("%s: cluster %+v; want %+v", c.name, seen[i], cluster)
			}
		}
	}
}

func TestPagesAndModel(t *testing.T) {
	m := Detect(tree(t, board(pi5, 8256512, a76,
		"proc/device-tree/model", "Raspberry Pi 5 Model B Rev 1.0\x00")), 16384)
	if m.PageBytes != 16384 || m.Profile.PageBytes[0] != 16384 ||
		m.Model != "Raspberry Pi 5 Model B Rev 1.0" {
		t.Errorf("pages of %d bytes, model %q", m.PageBytes, m.Model)
	}
	if m, _ = m.As(Generic); m.Profile.PageBytes[0] != 16384 {
		t.Errorf("generic pages of %v", m.Profile.PageBytes)
	}
	// The link from /proc may be missing.
	files := board(pi5, 8256512, nil)
	files["sys/firmware/devicetree/base/compatible"] = files["proc/device-tree/compatible"]
	delete(files, "proc/device-tree/compatible")
	if m := Detect(tree(t, files), 4096); m.Name != "rpi-5" {
		t.Errorf("by /sys/firmware: %s", m.Name)
	}
}

func TestGeneric(t *testing.T) {
	pairs, hybrid := []string{"0,2", "1,3", "0,2", "1,3"}, []string{"0-1", "0-1", "2", "3", "4", "5"}
	mixed := slices.Concat(alike(2, cpu{part: "41/d0a", capacity: 1024}),
		alike(2, cpu{part: "99/123", capacity: 400}))
	for _, c := range []struct {
		name     string
		files    map[string]string
		threads  int
		clusters string
		usable   int64
	}{
		{"nothing", nil, 0, "[]", 0},
		{"two threads a core", x86("Some CPU @ 2 GHz", 8388608, pairs, 3000000),
			2, "[{2 Some CPU @ 2 GHz 3000 [avx2 fma f16c avx-vnni]}]", 7680},
		{"cores sorted by quality",
			x86("AMD", 8388608, []string{"0", "1", "2"}, 5000000, 4700000, 4500000), 3,
			"[{3 AMD 5000 [avx2 fma f16c avx-vnni]}]", 7680},
		{"P and E cores", x86("Core i5", 67108864, hybrid, 4800000, 4800000, 3600000),
			1, "[{1 Core i5 4800 [avx2 fma f16c avx-vnni]} {4 Core i5 3600 [avx2 fma f16c avx-vnni]}]",
			64512},
		{"unknown board", board("acme,thing acme,soc", 2097152, mixed),
			2, "[{2 Cortex-A75 0 [neon]} {2 core 0x99/0x123 0 [neon]}]", 1920},
		{"features differ", board("acme,thing", 1048576, a76[:2], "proc/cpuinfo",
			"processor: 0\nFeatures: asimd asimddp\nprocessor: 1\nFeatures: asimd\n"),
			2, "[{2  2400 [neon]}]", 960},
		{"no list of CPUs", board("acme,thing", 1048576, a53, cpuFolder+"online", "-"),
			4, "[{4 Cortex-A53 1000 [neon]}]", 960},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := Detect(tree(t, c.files), 4096)
			if m.FullName() != Generic || m.FastCores() != c.threads || m.UsableBytes()>>20 != c.usable {
				t.Errorf("%s, %d fast cores, %d MiB usable; want %s, %d, %d", m.FullName(), m.FastCores(),
					m.UsableBytes()>>20, Generic, c.threads, c.usable)
			}
			if got := fmt.Sprint(m.Clusters); got != c.clusters {
				t.Errorf("clusters %s; want %s", got, c.clusters)
			}
			if m.BytesPerSecond() != 0 {
				t.Errorf("reads %d bytes a second, which nobody knows", m.BytesPerSecond())
			}
			checkGenericSources(t, m.Profile)
		})
	}
}

func checkGenericSources(t *testing.T, p *Profile) {
	for _, figure := range []Figure{FigureCores, FigureFeatures, FigureRAM, FigureReserve,
		FigureBandwidth, FigurePages} {
		if p.SourceOf(figure).Text == "" {
			t.Errorf("no source of the %s", figure)
		}
	}
}

func TestAs(t *testing.T) {
	m := Detect(tree(t, board("acme,thing", 3900000, a72)), 4096)
	for name, want := range map[string]string{
		"": Generic, "auto": Generic, "generic": Generic,
		"rpi-4b": "rpi-4b-4g", "rpi-4b-2g": "rpi-4b-2g", "rpi-zero-2w": "rpi-zero-2w-512m",
		"jetson-agx-orin": "jetson-agx-orin-32g",
	} {
		got, err := m.As(name)
		if err != nil || got.FullName() != want || got.FastCores() != 4 {
			t.Errorf("As(%q) = %s, %d fast cores, %v; want %s, 4", name, got.FullName(), got.FastCores(),
				err, want)
		}
	}
	if _, err := m.As("toaster"); err == nil {
		t.Error("there is a profile for toasters")
	}
	// More memory than any variant has is taken as it is, where it was seen.
	if m := Detect(tree(t, board(pi5, 33554432, nil)), 4096); m.UsableBytes() != 32*gib-768*mib {
		t.Errorf("%d bytes usable", m.UsableBytes())
	}
}

func TestQuota(t *testing.T) {
	const (
		groups = "proc/self/cgroup"
		v2     = "sys/fs/cgroup/"
		v1     = "sys/fs/cgroup/cpu,cpuacct/"
		v1Old  = "sys/fs/cgroup/cpu/"
		time   = "cpu.cfs_quota_us"
		period = "cpu.cfs_period_us"
	)
	for _, c := range []struct {
		name    string
		files   []string
		cpus    float64
		threads int
		notes   int
	}{
		{"none", []string{groups, "0::/a\n", v2 + "a/cpu.max", "max 100000\n"}, 0, 4, 0},
		{"half a CPU", []string{groups, "0::/a\n", v2 + "a/cpu.max", "50000 100000"}, 0.5, 1, 0},
		{"more than there are", []string{groups, "0::/a\n", v2 + "a/cpu.max", "800000 100000"}, 8, 4, 0},
		{"further up", []string{groups, "0::/a/b/c\n", v2 + "a/b/c/cpu.max", "300000 100000",
			v2 + "a/cpu.max", "200000 100000"}, 2, 2, 0},
		{"root of a container", []string{groups, "0::/\n", v2 + "cpu.max", "150000 50000"}, 3, 3, 0},
		{"version 1", []string{groups, "3:cpu,cpuacct:/x\n4:memory:/y\n", v1 + "x/" + time, "200000",
			v1 + "x/" + period, "100000", v1 + time, "-1", v1 + period, "100000"}, 2, 2, 0},
		{"version 1, other mount", []string{groups, "3:cpu:/\n", v1Old + time, "100000",
			v1Old + period, "100000"}, 1, 1, 0},
		{"version 1, accounting alone", []string{groups, "3:cpuacct:/\n", v1Old + time, "100000",
			v1Old + period, "100000"}, 0, 4, 0},
		{"no period", []string{groups, "0::/\n", v2 + "cpu.max", "1000 0"}, 0, 4, 1},
		{"no time", []string{groups, "0::/\n", v2 + "cpu.max", "0 1000"}, 0, 4, 1},
		{"garbage", []string{groups, "0::/\n", v2 + "cpu.max", "many few"}, 0, 4, 1},
		{"out of the tree", []string{groups, "0::/../../etc\n", "etc/cpu.max", "1000 100000"}, 0, 4, 0},
		{"too deep", []string{groups, "0::" + strings.Repeat("/a", 100) + "\n"}, 0, 4, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := Detect(tree(t, board(pi5, 8256512, a76, c.files...)), 4096)
			if m.QuotaCPUs != c.cpus || m.FastCores() != c.threads || len(m.Notes) != c.notes {
				t.Errorf("quota %g, %d fast cores, notes %q; want %g, %d, %d", m.QuotaCPUs, m.FastCores(),
					m.Notes, c.cpus, c.threads, c.notes)
			}
		})
	}
}

// TestGarbage: what nobody can read is left out, and said.
func TestGarbage(t *testing.T) {
	for _, c := range []struct {
		name, file, content string
		threads             int
		note                string
	}{
		{"online", cpuFolder + "online", "0-3,x,7-5,-2", 4, `online".* holds "x"`},
		{"very many CPUs", cpuFolder + "online", "0-4294967295\n", 4, `CPUs from 1024 on`},
		{"an overflow", cpuFolder + "online", "0-99999999999999999999999", 4, `holds "0-999`},
		{"affinity of no CPU", "proc/self/status", "Cpus_allowed_list:\t900-901\n", 4,
			`no CPU that is online`},
		{"affinity", "proc/self/status", "Cpus_allowed_list:\tnone\n", 4, `"none"`},
		{"capacity", cpuFolder + "cpu5/cpu_capacity", "fast\n", 4, `cpu_capacity" holds "fast"`},
		{"a negative capacity", cpuFolder + "cpu5/cpu_capacity", "-1024\n", 4, `"-1024"`},
		{"clock", cpuFolder + "cpu5/cpufreq/cpuinfo_max_freq", strings.Repeat("9", 1<<17), 4, `"999`},
		{"siblings", cpuFolder + "cpu5/topology/core_cpus_list", "\x00\xff", 4, `"\\x00\\xff"`},
		{"memory", "proc/meminfo", "MemTotal: 99999999999999999 kB\n", 4, `MemTotal of "9999`},
		{"memory in MB", "proc/meminfo", "MemTotal: 4096 MB\n", 4, `"4096 MB"`},
		{"cpuinfo", "proc/cpuinfo", "processor: -1\nprocessor\nprocessor: 5000\nCPU part: x\n" +
			"processor: 1\nCPU part: 0x\n", 4, ``},
		{"groups", "proc/self/cgroup", strings.Repeat("0::/\n", 1000) + "\x00:::::", 4, ``},
		{"tree", "proc/device-tree/compatible", strings.Repeat("\x00", 200) +
			strings.Repeat("a,b\x00", 100000), 4, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := Detect(tree(t, board(rock, 16262144, rk3588, c.file, c.content)), 4096)
			if got := m.FastCores(); got != c.threads {
				t.Errorf("%d fast cores; want %d (%s)", got, c.threads, m.FastCoresSource())
			}
			notes := strings.Join(m.Notes, "\n")
			if !regexp.MustCompile(c.note).MatchString(notes) || len(m.Notes) > maxNotes {
				t.Errorf("notes %q; want a match of %s", notes, c.note)
			}
			if len(notes) > 1000 {
				t.Errorf("notes of %d bytes", len(notes))
			}
		})
	}
	// Folders where files should be.
	m := Detect(tree(t, map[string]string{"proc/cpuinfo/x": "", "proc/meminfo/x": "",
		cpuFolder + "online/x": "", "proc/device-tree/compatible/x": ""}), 4096)
	if m.FullName() != Generic || len(m.Notes) != 4 {
		t.Errorf("%s, notes %q", m.FullName(), m.Notes)
	}
}

// TestPrintable: what a machine calls itself cannot speak to the terminal.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"Pi 5\x00":                "Pi 5",
		"\x1b[2Jgone\r\n\u202e":   "[2Jgone",
		"a\xffb":                  "ab",
		strings.Repeat("x", 1000): strings.Repeat("x", 80) + "…",
	} {
		if got := printable(text); got != want {
			t.Errorf("printable(%q) = %q; want %q", text, got, want)
		}
	}
}

// TestThisMachine: the real files of this machine, where there are any.
func TestThisMachine(t *testing.T) {
	if _, err := os.Stat("/proc/cpuinfo"); err != nil {
		t.Skip("no /proc here")
	}
	m := Detect(os.DirFS("/"), os.Getpagesize())
	if m.FastCores() < 1 || m.FastCores() > len(m.CPUs) || m.UsableBytes() <= 0 ||
		m.UsableBytes() >= m.TotalBytes+gib {
		t.Errorf("%d fast cores of %d CPUs, %d of %d bytes usable", m.FastCores(), len(m.CPUs),
			m.UsableBytes(), m.TotalBytes)
	}
	t.Logf("%s %s, %s: %s", m.FullName(), m.How, m.Model, m.FastCoresSource())
}
