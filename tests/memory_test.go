package tests

// Bytes: the plan's lines, the arena's ledger and what the operating system
// reports are the same numbers.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"edgeinfer/arena"
	"edgeinfer/edge"
	"edgeinfer/tests/shared"
)

// models are the embedded and the real model.
func models(t *testing.T) map[string]string {
	t.Helper()
	m := map[string]string{"embedded": ""}
	if !noasm && !testing.Short() {
		m[smollm2] = shared.Path(t, "models", smollm2)
	}
	return m
}

func TestPlanEqualsLedgerEqualsMapping(t *testing.T) {
	for name, path := range models(t) {
		for _, context := range []int{64, 320, 500} {
			for _, kv := range []string{"f16", "k8v4", "k4v2"} {
				t.Run(fmt.Sprintf("%s/%d/%s", name, context, kv), func(t *testing.T) {
					e, err := edge.Open(edge.Options{Model: path, ContextTokens: context, KV: kv})
					if err != nil {
						t.Fatal(err)
					}
					defer e.Close()
					checkLedger(t, e)
				})
			}
		}
	}
}

// checkLedger compares plan, ledger and mapping of a started engine.
func checkLedger(t *testing.T, e *edge.Engine) {
	t.Helper()
	planned, used := sumLines(e.Plan().Lines), sumLines(e.Ledger())
	if planned != used {
		t.Errorf("plan lines %v, ledger lines %v", planned, used)
	}
	if e.UsedBytes() != e.Plan().TotalBytes {
		t.Errorf("used %d bytes, planned %d", e.UsedBytes(), e.Plan().TotalBytes)
	}
	var inArena int64
	for p, bytes := range used {
		if !arena.Purpose(p).Outside() {
			inArena += bytes
		}
	}
	if runtime.GOOS != "linux" || emulated() {
		return
	}
	mapped := mappingBytes(t, e.Arena().Address())
	if mapped < inArena || mapped >= inArena+int64(os.Getpagesize()) {
		t.Errorf("the arena's mapping has %d bytes, its ledger %d", mapped, inArena)
	}
}

func sumLines(lines []arena.Line) (sums [arena.NumPurposes]int64) {
	for _, l := range lines {
		sums[l.Purpose] += l.Bytes
	}
	return sums
}

// emulated says that /proc describes another process than ours.
func emulated() bool { return os.Getenv("EDGEINFER_TEST_EMULATED") != "" }

// mappingBytes is the Size in /proc/self/smaps of the mapping at address.
func mappingBytes(t *testing.T, address uintptr) int64 {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	start := strconv.FormatUint(uint64(address), 16) + "-"
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if inside && strings.HasPrefix(line, "Size:") {
			kib, err := strconv.ParseInt(strings.Fields(line)[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
		inside = inside || strings.HasPrefix(strings.TrimLeft(line, "0"), start)
	}
	t.Fatalf("no mapping begins at %x", address)
	return 0
}

var buildOnce = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "edgeinfer-test-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "edgeinfer")
	args := []string{"build", "-o", path}
	if noasm {
		args = append(args, "-tags", "noasm")
	}
	cmd := exec.Command("go", append(args, "edgeinfer/cmd/edgeinfer")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

// program builds the real binary, once.
func program(t *testing.T) string {
	t.Helper()
	path, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := buildOnce(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// runReport is the JSON of run that the tests read.
type runReport struct {
	Text   string
	Tokens []int32
	Memory struct {
		Budget  int64 `json:"budget_bytes"`
		Planned int64 `json:"planned_bytes"`
		Used    int64 `json:"used_bytes"`
		Rss     int64 `json:"rss_bytes"`
	}
}

func TestResidentMemoryStaysWithinThePlan(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("resident memory is read from /proc")
	}
	for name, path := range models(t) {
		for _, extra := range [][]string{
			{"-c", "512", "--kv", "f16"}, {"-c", "512", "--kv", "k4v2"}, {"-c", "256", "--kv", "k8v8"},
		} {
			t.Run(name+"/"+strings.Join(extra, " "), func(t *testing.T) {
				args := append([]string{"run", "--json", "-p", strings.Repeat("Once upon a time ", 20),
					"-n", "60", "--temp", "0", "-m", path}, extra...)
				if path == "" {
					args = slices.Delete(args, 8, 10)
				}
				report, peak := watch(t, args)
				if report.Memory.Planned != report.Memory.Used {
					t.Errorf("planned %d bytes, used %d", report.Memory.Planned, report.Memory.Used)
				}
				if peak > report.Memory.Planned || report.Memory.Rss > report.Memory.Planned {
					t.Errorf("resident %d bytes at most, %d at the end; planned %d",
						peak, report.Memory.Rss, report.Memory.Planned)
				}
				t.Logf("planned %d, resident at most %d", report.Memory.Planned, peak)
			})
		}
	}
}

// watch runs the program, polls its resident memory and decodes its report.
func watch(t *testing.T, args []string) (report runReport, peakBytes int64) {
	t.Helper()
	cmd := exec.Command(program(t), args...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for polls := 0; ; polls++ {
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("%v: %v\n%s", args, err, errs.String())
			}
			if err := json.Unmarshal([]byte(out.String()), &report); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			if polls < 3 {
				t.Errorf("resident memory was read %d times only", polls)
			}
			return report, peakBytes
		case <-time.After(2 * time.Millisecond):
			peakBytes = max(peakBytes, residentBytes(cmd.Process.Pid))
		}
	}
}

// residentBytes is the Rss of /proc/PID/smaps_rollup, 0 once the process ended.
func residentBytes(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "Rss:" {
			kib, _ := strconv.ParseInt(f[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}

func TestBudgetsHold(t *testing.T) {
	for name, path := range models(t) {
		plan := func(o edge.Options) (total, kv int64, context int) {
			o.Model = path
			s, err := edge.Load(o)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			p, err := s.Plan()
			if err != nil {
				t.Fatalf("%s %+v: %v", name, o, err)
			}
			sums := sumLines(p.Lines)
			for _, purpose := range []arena.Purpose{arena.KVPayload, arena.KVScales, arena.KVPadding,
				arena.KVWindow, arena.KeyMeans, arena.PageTable} {
				kv += sums[purpose]
			}
			return p.TotalBytes, kv, p.ContextTokens
		}
		full, fullKV, context := plan(edge.Options{BudgetBytes: 1 << 40})
		for _, part := range []int64{3, 2} {
			budget := full - fullKV + fullKV/part
			if total, _, _ := plan(edge.Options{BudgetBytes: budget}); total > budget {
				t.Errorf("%s: budget %d, plan %d", name, budget, total)
			}
			_, kv, _ := plan(edge.Options{BudgetBytes: 1 << 40, KVBudgetBytes: fullKV / part})
			if kv > fullKV/part {
				t.Errorf("%s: cache budget %d, plan %d", name, fullKV/part, kv)
			}
		}
		if context < 512 {
			t.Errorf("%s: an ample budget gives a context of %d only", name, context)
		}
	}
}
