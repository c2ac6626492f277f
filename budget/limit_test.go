package budget

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree writes files below a new root.
func tree(t testing.TB, files map[string]string) string {
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
	return root
}

const (
	meminfo = "MemTotal:  8000000 kB\nMemFree:  100 kB\nMemAvailable:    4194304 kB\n" +
		"SwapFree: 9999999 kB\n"
	inGroup  = "0::/system.slice/edge.service\n"
	groupDir = "sys/fs/cgroup/system.slice/edge.service/"
	statV2   = "anon 1\nfile 52428800\ninactive_file 31457280\nactive_file 10485760\nslab 5\n"
	statV1   = "inactive_file 1\nactive_file 1\n" +
		"total_inactive_file 31457280\ntotal_active_file 10485760\n"
)

var limitCases = []struct {
	name  string
	files map[string]string
	bytes int64
	says  []string
}{
	{"only the machine", map[string]string{"proc/meminfo": meminfo},
		4 << 30, []string{"MemAvailable of /proc/meminfo: 4096.0 MiB"}},
	{"version 2, max means none", map[string]string{
		"proc/meminfo": meminfo, "proc/self/cgroup": inGroup,
		groupDir + "memory.max": "max\n", groupDir + "memory.high": "max\n",
		groupDir + "memory.current": "999\n"},
		4 << 30, []string{"MemAvailable"}},
	{"own group, use without file cache", map[string]string{
		"proc/meminfo": meminfo, "proc/self/cgroup": inGroup,
		groupDir + "memory.max": "536870912\n", groupDir + "memory.high": "max\n",
		groupDir + "memory.current": "104857600\n", groupDir + "memory.stat": statV2},
		(512 - 100 + 40) * mib, []string{`cgroup v2 "/system.slice/edge.service" memory.max: 512.0 MiB`,
			"100.0 MiB used", "40.0 MiB of that file cache = 452.0 MiB"}},
	{"no account of the use", map[string]string{
		"proc/meminfo": meminfo, "proc/self/cgroup": inGroup,
		groupDir + "memory.max": "536870912\n"},
		512 * mib, []string{"memory.max: 512.0 MiB"}},
	{"more file cache than use", map[string]string{
		"proc/self/cgroup": inGroup, groupDir + "memory.max": "536870912",
		groupDir + "memory.current": "1048576", groupDir + "memory.stat": statV2},
		512 * mib, []string{"1.0 MiB of that file cache"}},
	{"high binds before max", map[string]string{
		"proc/meminfo": meminfo, "proc/self/cgroup": inGroup,
		groupDir + "memory.max": "536870912\n", groupDir + "memory.high": "268435456\n",
		groupDir + "memory.current": "0"},
		256 * mib, []string{"memory.high: 256.0 MiB"}},
	{"a group further up binds", map[string]string{
		"proc/meminfo": meminfo, "proc/self/cgroup": inGroup,
		groupDir + "memory.max": "536870912\n", groupDir + "memory.current": "0",
		"sys/fs/cgroup/system.slice/memory.max":     "400000000",
		"sys/fs/cgroup/system.slice/memory.current": "390000000"},
		10000000, []string{`cgroup v2 "/system.slice" memory.max`}},
	{"the root of a container binds", map[string]string{
		"proc/meminfo": meminfo, "proc/self/cgroup": "0::/docker/0123456789ab\n",
		"sys/fs/cgroup/memory.max": "1073741824", "sys/fs/cgroup/memory.current": "0"},
		1 << 30, []string{`cgroup v2 "/" memory.max`}},
	{"the machine binds below a group", map[string]string{
		"proc/meminfo": meminfo, "proc/self/cgroup": inGroup,
		groupDir + "memory.max": "8589934592", groupDir + "memory.current": "0"},
		4 << 30, []string{"MemAvailable"}},
	{"over the limit already", map[string]string{
		"proc/meminfo": meminfo, "proc/self/cgroup": inGroup,
		groupDir + "memory.high": "1000", groupDir + "memory.current": "5000"},
		0, []string{"memory.high: 1000 B", "= 0 B"}},
	{"a limit of nothing", map[string]string{
		"proc/meminfo": meminfo, "proc/self/cgroup": inGroup, groupDir + "memory.max": "0"},
		0, []string{"memory.max: 0 B"}},
	{"version 1", map[string]string{
		"proc/meminfo":     meminfo,
		"proc/self/cgroup": "12:cpu,cpuacct:/x\n4:memory:/jobs/a\n1:name=systemd:/jobs/a\n0::/\n",
		"sys/fs/cgroup/memory/jobs/a/memory.limit_in_bytes": "536870912\n",
		"sys/fs/cgroup/memory/jobs/a/memory.usage_in_bytes": "104857600\n",
		"sys/fs/cgroup/memory/jobs/a/memory.stat":           statV1,
		"sys/fs/cgroup/memory/jobs/memory.limit_in_bytes":   "9223372036854771712\n",
		"sys/fs/cgroup/memory/jobs/memory.usage_in_bytes":   "104857600\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes":        "9223372036854771712\n"},
		452 * mib, []string{`cgroup v1 "/jobs/a" memory.limit_in_bytes: 512.0 MiB`}},
	{"version 1, no limit with 64 KiB pages", map[string]string{
		"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854710272\n",
		"sys/fs/cgroup/memory/memory.usage_in_bytes": "104857600\n"},
		4 << 30, []string{"MemAvailable"}},
	{"version 2 beside version 1", map[string]string{
		"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory,hugetlb:/a\n0::/b\n",
		"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "536870912",
		"sys/fs/cgroup/unified/b/memory.max":           "268435456"},
		256 * mib, []string{`cgroup v2 "/b" memory.max`}},
	{"a path that climbs out stays inside", map[string]string{
		"proc/meminfo": meminfo, "proc/self/cgroup": "0::/../../../../etc\n",
		"sys/fs/cgroup/etc/memory.max": "268435456", "etc/memory.max": "1"},
		256 * mib, []string{`cgroup v2 "/etc" memory.max`}},
}

func TestDetectLimit(t *testing.T) {
	for _, c := range limitCases {
		bytes, source, err := DetectLimit(tree(t, c.files))
		if err != nil || bytes != c.bytes {
			t.Errorf("%s: DetectLimit = %d (%s), %v; want %d", c.name, bytes, source, err, c.bytes)
		}
		for _, part := range c.says {
			if !strings.Contains(source, part) {
				t.Errorf("%s: source = %q; want it to say %q", c.name, source, part)
			}
		}
		if strings.Contains(source, "left out") {
			t.Errorf("%s: source = %q; nothing here is to be left out", c.name, source)
		}
	}
}

// TestHostileFiles: what makes no sense is left out, said so, and the rest holds.
func TestHostileFiles(t *testing.T) {
	deep := strings.Repeat("/a", 1000)
	for _, c := range []struct {
		name  string
		files map[string]string
		bytes int64
		says  string
	}{
		{"garbage limit", map[string]string{groupDir + "memory.max": "lots\n"}, 4 << 30,
			`left out: "` + groupDir + `memory.max" holds "lots"`},
		{"negative limit", map[string]string{groupDir + "memory.max": "-1"}, 4 << 30, `holds "-1"`},
		{"empty limit", map[string]string{groupDir + "memory.max": ""}, 4 << 30, `holds ""`},
		{"fraction", map[string]string{groupDir + "memory.max": "1.5"}, 4 << 30, `holds "1.5"`},
		{"control characters", map[string]string{groupDir + "memory.max": "\x1b[31m\x00"}, 4 << 30,
			`holds "\x1b[31m\x00"`},
		{"a megabyte of digits", map[string]string{groupDir + "memory.max": strings.Repeat("9", 1<<20)},
			4 << 30, "MemAvailable"},
		{"garbage use", map[string]string{groupDir + "memory.max": "1048576",
			groupDir + "memory.current": "x"}, 1 << 20, `memory.current" holds "x"`},
		{"garbage statistics", map[string]string{groupDir + "memory.max": "1048576",
			groupDir + "memory.current": "4096",
			groupDir + "memory.stat":    "inactive_file\nactive_file y\n\n"},
			1<<20 - 4096, `memory.stat" holds "y"`},
		{"overflowing statistics", map[string]string{groupDir + "memory.max": "1048576",
			groupDir + "memory.current": "4096",
			groupDir + "memory.stat": "inactive_file 9223372036854775807\n" +
				"active_file 9223372036854775807\n"},
			1 << 20, "4.0 KiB of that file cache"},
		{"limit beyond int64", map[string]string{groupDir + "memory.max": "18446744073709551615"},
			4 << 30, "MemAvailable"},
		{"a folder in place of a file", map[string]string{groupDir + "memory.max/x": "1"}, 4 << 30,
			"left out: "},
		{"lines of garbage", map[string]string{"proc/self/cgroup": "x\n::\n0:\n:memory\n"}, 4 << 30,
			`left out: "x"`},
		{"very many groups", map[string]string{
			"proc/self/cgroup": strings.Repeat("0::/a/b/c/d\n", 10_000)}, 4 << 30, "from 65 on"},
		{"a very deep group", map[string]string{"proc/self/cgroup": "0::" + deep + "\n",
			"sys/fs/cgroup/memory.max": "1048576"}, 1 << 20, "2000 bytes and 1000 levels"},
		{"a group of bytes", map[string]string{"proc/self/cgroup": "0::/\x00\xff\n"}, 4 << 30,
			"MemAvailable"},
	} {
		files := map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": inGroup}
		for name, content := range c.files {
			files[name] = content
		}
		bytes, source, err := DetectLimit(tree(t, files))
		says := strings.ReplaceAll(c.says, `left out: "x"`, `left out: proc/self/cgroup holds "x"`)
		if err != nil || bytes != c.bytes || !strings.Contains(source, says) {
			t.Errorf("%s: DetectLimit = %d, %q, %v; want %d and %q", c.name, bytes, source, err,
				c.bytes, says)
		}
		if len(source) > 2000 {
			t.Errorf("%s: the source has %d bytes", c.name, len(source))
		}
	}
}

func TestNothingTellsTheLimit(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{nil, "cannot tell how much memory there is; give --budget"},
		{map[string]string{"proc/meminfo": "MemTotal: 5 kB\n"}, "give --budget"},
		{map[string]string{"proc/meminfo": "MemAvailable: much kB\n"}, `holds "much"`},
		{map[string]string{"proc/meminfo": "MemAvailable: 1 kB\nMemAvailable: 2 kB\n"}, "no possible"},
		{map[string]string{"proc/meminfo": fmt.Sprintf("MemAvailable: %d kB\n", int64(math.MaxInt64))},
			"no possible"},
		{map[string]string{"proc/self/cgroup": inGroup, groupDir + "memory.max": "max"}, "give --budget"},
	} {
		bytes, source, err := DetectLimit(tree(t, c.files))
		if err == nil || !strings.HasPrefix(err.Error(), "budget: ") ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("DetectLimit(%v) = %d, %q, %v; want an error that says %q", c.files, bytes, source,
				err, c.want)
		}
	}
	if _, _, err := DetectLimit(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("DetectLimit of a root that is not there succeeded")
	}
}

func TestThisMachine(t *testing.T) {
	bytes, source, err := DetectLimit("/")
	if err != nil {
		t.Fatal(err)
	}
	if bytes < 1<<20 || source == "" {
		t.Errorf("DetectLimit of this machine = %d, %q; want a mebibyte at least", bytes, source)
	}
}

func FuzzDetectLimit(f *testing.F) {
	f.Add(meminfo, inGroup, "536870912\n", "104857600\n", statV2)
	f.Add("", "4:memory:/system.slice/edge.service\n", "max", "-1", "inactive_file x")
	f.Fuzz(func(t *testing.T, meminfo, groups, limit, used, stat string) {
		root := tree(t, map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": groups,
			groupDir + "memory.max": limit, groupDir + "memory.current": used,
			groupDir + "memory.stat": stat,
		})
		bytes, source, err := DetectLimit(root)
		if bytes < 0 || (err == nil) == (source == "") {
			t.Errorf("DetectLimit = %d, %q, %v", bytes, source, err)
		}
	})
}
