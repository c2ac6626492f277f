package boards

// The CPU time that control groups grant: the smallest share of any group from
// the own one up to the root, by version 2 (cpu.max) and version 1
// (cpu.cfs_quota_us and cpu.cfs_period_us).

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// maxGroups and maxGroupDepth bound how many groups, and levels of one, are
// looked at.
const maxGroups, maxGroupDepth = 64, 64

// quota is a share of CPU time.
type quota struct {
	cpus   float64 // CPUs' worth of time; 0: no quota
	source string
}

// scanQuota finds the smallest quota.
func (s *scanner) scanQuota() (q quota) {
	text, _ := s.read("proc/self/cgroup", maxFileBytes)
	for i, line := range strings.SplitN(text, "\n", maxGroups+1) {
		// "0::/path" is version 2, "4:cpu,cpuacct:/path" version 1.
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if i == maxGroups || len(parts) != 3 {
			continue
		}
		if parts[0] == "0" && parts[1] == "" {
			s.climb(&q, []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"}, parts[2], s.quotaV2)
		}
		if slices.Contains(strings.Split(parts[1], ","), "cpu") {
			s.climb(&q, []string{"sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"}, parts[2],
				s.quotaV1)
		}
	}
	return q
}

// climb looks at a group and everything above it. Levels that are not there, as
// the host's within a container, have no files.
func (s *scanner) climb(q *quota, mounts []string, group string,
	read func(folder string) (quotaTime, period string)) {
	group = path.Clean("/" + group)
	if len(group) > 4096 || strings.Count(group, "/") > maxGroupDepth {
		s.note("a control group's path of %d bytes", len(group))
		group = "/"
	}
	for ; ; group = path.Dir(group) {
		for _, mount := range mounts {
			folder := path.Join(mount, group)
			quotaText, periodText := read(folder)
			if quotaText == "" || quotaText == "max" || strings.HasPrefix(quotaText, "-") {
				continue
			}
			time, err1 := strconv.ParseUint(quotaText, 10, 64)
			period, err2 := strconv.ParseUint(periodText, 10, 64)
			if err1 != nil || err2 != nil || time == 0 || period == 0 {
				s.note("%s holds a CPU quota of %s in %s", quote(folder), quote(quotaText),
					quote(periodText))
				continue
			}
			cpus := float64(time) / float64(period)
			if q.cpus == 0 || cpus < q.cpus {
				*q = quota{cpus, fmt.Sprintf("control group %s: %d of %d µs", quote(group), time, period)}
			}
		}
		if group == "/" {
			return
		}
	}
}

// quotaV2 reads "quota period", of which quota may be max.
func (s *scanner) quotaV2(folder string) (time, period string) {
	words := strings.Fields(s.word(path.Join(folder, "cpu.max")))
	if len(words) != 2 {
		return "", ""
	}
	return words[0], words[1]
}

// quotaV1 reads quota, −1 for none, and period.
func (s *scanner) quotaV1(folder string) (time, period string) {
	time = s.word(path.Join(folder, "cpu.cfs_quota_us"))
	return time, s.word(path.Join(folder, "cpu.cfs_period_us"))
}
