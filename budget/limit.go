package budget

// How much memory this process may take: the smallest of what the machine has
// to give (MemAvailable) and what is left within each control group the
// process is in, up to the root of the tree. Swap is not memory.
//
// Within a group, pages of the file cache count as used although the kernel
// drops them when they are in the way; they are subtracted from the use. What
// this process has taken already (little: this runs first) stays counted.
//
// Everything is read below a root that tests may choose, and trusted as little
// as any file: what does not parse is left out, and the source says so.

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

const (
	// noLimit is from where a version 1 limit means none: the kernel writes the
	// largest multiple of its page size.
	noLimit = math.MaxInt64 &^ (1<<20 - 1)
	// maxFileBytes bounds what is read of one file; the longest real one, the
	// statistics of a group, has a few kilobytes.
	maxFileBytes = 1 << 16
	// maxGroups and maxGroupDepth bound how many groups, and levels of one, are
	// looked at.
	maxGroups, maxGroupDepth = 64, 64
)

// DetectLimit returns the bytes this process may take and where the number
// comes from, with its arithmetic. root is "/" but in tests. It fails where
// nothing tells how much memory there is.
func DetectLimit(root string) (bytes int64, source string, err error) {
	d := detector{files: os.DirFS(root)}
	d.memAvailable()
	d.groups()
	if !d.found && root == "/" {
		if bytes, source, err := machineMemory(); err == nil {
			d.offer(bytes, source)
		} else {
			d.notes = append(d.notes, err.Error())
		}
	}
	notes := ""
	if len(d.notes) > 0 {
		notes = "left out: " + strings.Join(d.notes, ", ")
	}
	switch {
	case !d.found && notes != "":
		return 0, "", fmt.Errorf("budget: cannot tell how much memory there is (%s); "+
			"give --budget", notes)
	case !d.found:
		return 0, "", errors.New("budget: cannot tell how much memory there is; give --budget")
	case notes != "":
		d.source += "; " + notes
	}
	return d.bytes, d.source, nil
}

// detector keeps the smallest bound seen.
type detector struct {
	files  fs.FS
	found  bool
	bytes  int64
	source string
	notes  []string
}

func (d *detector) offer(bytes int64, source string) {
	if bytes = max(0, bytes); !d.found || bytes < d.bytes {
		d.found, d.bytes, d.source = true, bytes, source
	}
}

// note records what was left out, a few at most.
func (d *detector) note(format string, args ...any) {
	if len(d.notes) < 4 {
		d.notes = append(d.notes, fmt.Sprintf(format, args...))
	}
}

// read returns a file's content. A missing file is no surprise; anything else
// is noted.
func (d *detector) read(name string) (string, bool) {
	file, err := d.files.Open(name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
			d.note("%s: %v", quote(name), err)
		}
		return "", false
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes))
	if err != nil {
		d.note("%s: %v", quote(name), err)
		return "", false
	}
	return string(data), true
}

// number reads a file that holds one number.
func (d *detector) number(name string) (int64, bool) {
	text, ok := d.read(name)
	if !ok {
		return 0, false
	}
	return d.parse(name, strings.TrimSpace(text))
}

// parse reads a number of bytes; more than int64 holds is no limit at all.
func (d *detector) parse(name, text string) (int64, bool) {
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		d.note("%s holds %s", quote(name), quote(text))
		return 0, false
	}
	return int64(min(value, math.MaxInt64)), true
}

// fields reads a file of lines "name value" and returns the sum of the wanted
// ones and how many there were.
func (d *detector) fields(name string, wanted ...string) (sum int64, seen int) {
	text, _ := d.read(name)
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		for _, key := range wanted {
			if words[0] != key {
				continue
			}
			if value, ok := d.parse(name, words[1]); ok {
				sum = saturated(sum, value)
				seen++
			}
		}
	}
	return sum, seen
}

func (d *detector) memAvailable() {
	kB, seen := d.fields("proc/meminfo", "MemAvailable:")
	if seen == 1 && kB < math.MaxInt64/1024 {
		d.offer(kB*1024, "MemAvailable of /proc/meminfo: "+FormatSize(kB*1024))
	} else if seen > 0 {
		d.note("proc/meminfo states no possible MemAvailable")
	}
}

// groups looks at the groups of this process, both versions.
func (d *detector) groups() {
	text, _ := d.read("proc/self/cgroup")
	for i, line := range strings.SplitN(text, "\n", maxGroups+1) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if i == maxGroups {
			d.note("the lines of proc/self/cgroup from %d on", i+1)
			return
		}
		// "0::/path" is version 2, "4:memory:/path" version 1.
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			d.note("proc/self/cgroup holds %s", quote(strings.TrimSpace(line)))
			continue
		}
		if parts[0] == "0" && parts[1] == "" {
			d.climb(groupV2, parts[2])
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			if controller == "memory" {
				d.climb(groupV1, parts[2])
			}
		}
	}
}

// groupVersion is how a version of control groups tells its limits.
type groupVersion struct {
	name   string
	mounts []string // where the tree may be
	limits []string
	used   string
	cache  []string // names in memory.stat of what the kernel can drop
}

var (
	groupV2 = groupVersion{
		name:   "cgroup v2",
		mounts: []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"},
		limits: []string{"memory.max", "memory.high"},
		used:   "memory.current",
		cache:  []string{"inactive_file", "active_file"},
	}
	groupV1 = groupVersion{
		name:   "cgroup v1",
		mounts: []string{"sys/fs/cgroup/memory"},
		limits: []string{"memory.limit_in_bytes"},
		used:   "memory.usage_in_bytes",
		cache:  []string{"total_inactive_file", "total_active_file"},
	}
)

// climb looks at a group and everything above it. Within a container the path
// may be the host's, of which only the root of the tree is there; levels that
// are not there have no files and are passed over.
func (d *detector) climb(v groupVersion, group string) {
	group = path.Clean("/" + group)
	levels := strings.Count(group, "/")
	if len(group) > 4096 || levels > maxGroupDepth {
		d.note("%s path of %d bytes and %d levels", v.name, len(group), levels)
		group = "/"
	}
	for ; ; group = path.Dir(group) {
		for _, mount := range v.mounts {
			d.level(v, path.Join(mount, group), group)
		}
		if group == "/" {
			return
		}
	}
}

// level offers what one group leaves.
func (d *detector) level(v groupVersion, folder, group string) {
	for _, limitName := range v.limits {
		file := path.Join(folder, limitName)
		text, ok := d.read(file)
		if text = strings.TrimSpace(text); !ok || text == "max" {
			continue
		}
		limit, ok := d.parse(file, text)
		if !ok || limit >= noLimit {
			continue
		}
		sum := fmt.Sprintf("%s %s %s: %s", v.name, quote(group), limitName, FormatSize(limit))
		used, ok := d.number(path.Join(folder, v.used))
		if !ok {
			d.offer(limit, sum)
			continue
		}
		cache, _ := d.fields(path.Join(folder, "memory.stat"), v.cache...)
		cache = min(cache, used)
		d.offer(limit-(used-cache), fmt.Sprintf("%s − %s used + %s of that file cache = %s",
			sum, FormatSize(used), FormatSize(cache), FormatSize(max(0, limit-(used-cache)))))
	}
}
