package boards

import (
	"testing"
	"testing/fstest"
)

// FuzzDetect: whatever is in the files, detection ends with numbers that make
// sense.
func FuzzDetect(f *testing.F) {
	f.Add("0-3\n", "processor: 0\nCPU implementer: 0x41\nCPU part: 0xd0b\n", "MemTotal: 1 kB\n",
		"raspberrypi,5-model-b\x00", "0::/a\n", "50000 100000", "Cpus_allowed_list: 0-1", "1024")
	f.Add("0-7", "model name: Intel(R) N100\n", "MemTotal: 8000000 kB", "rockchip,rk3588\x00",
		"3:cpu:/\n",
		"max 1", "Cpus_allowed_list: 9", "530")
	f.Add("9999999-99999999,-,--,1-", "processor: 99999999999999", "MemTotal: -1 kB", "\x00\x00",
		"0::/../../..\n::::", "0 0", "", "-9223372036854775808")
	f.Fuzz(func(t *testing.T, online, cpuinfo, meminfo, compatible, cgroup, max, status,
		number string) {
		files := fstest.MapFS{}
		for name, content := range map[string]string{
			cpuFolder + "online": online, "proc/cpuinfo": cpuinfo, "proc/meminfo": meminfo,
			"proc/device-tree/compatible": compatible, "proc/device-tree/model": compatible,
			"sys/class/dmi/id/product_name": number, "proc/self/cgroup": cgroup,
			"sys/fs/cgroup/cpu.max": max, "sys/fs/cgroup/a/cpu.max": max,
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us": number, "sys/fs/cgroup/cpu/cpu.cfs_period_us": number,
			"proc/self/status": status, cpuFolder + "cpu0/cpu_capacity": number,
			cpuFolder + "cpu1/cpu_capacity": "1024", cpuFolder + "cpu1/cpufreq/cpuinfo_max_freq": number,
			cpuFolder + "cpu0/topology/core_cpus_list": online,
		} {
			files[name] = &fstest.MapFile{Data: []byte(content)}
		}
		m := Detect(files, 4096)
		cores := m.FastCores()
		if cores < 0 || cores > len(m.CPUs) || (cores == 0) != (len(m.CPUs) == 0) {
			t.Fatalf("%d fast cores of %d CPUs", cores, len(m.CPUs))
		}
		if m.UsableBytes() < 0 || m.UsableBytes() > m.Variant.RAMBytes || m.TotalBytes < 0 {
			t.Fatalf("%d bytes usable of %d", m.UsableBytes(), m.Variant.RAMBytes)
		}
		if m.QuotaCPUs < 0 || m.QuotaCPUs != m.QuotaCPUs || len(m.Notes) > maxNotes ||
			m.FastCoresSource() == "" || m.FullName() == "" || m.How == "" {
			t.Fatalf("quota %g, notes %q", m.QuotaCPUs, m.Notes)
		}
		for _, name := range []string{"auto", Generic, online, number} {
			if as, err := m.As(name); err == nil && as.UsableBytes() < 0 {
				t.Fatalf("as %q: %d bytes usable", name, as.UsableBytes())
			}
		}
	})
}
