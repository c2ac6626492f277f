package main

import (
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"

	"edgeinfer/boards"
	"edgeinfer/tests/shared"
)

// boardsJSON runs boards with args and --json.
func boardsJSON(t *testing.T, w world, args ...string) (report boardsReport) {
	t.Helper()
	o := w.mustCall(t, append([]string{"boards", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(o.stdout), &report); err != nil {
		t.Fatal(err)
	}
	return report
}

func TestBoardsList(t *testing.T) {
	report := boardsJSON(t, world{})
	count := 0
	for _, p := range boards.All() {
		count += len(p.Variants)
	}
	if len(report.Boards) != count || report.Model != "" || report.Machine.Plan != nil {
		t.Errorf("%d boards, model %q; want %d and none", len(report.Boards), report.Model, count)
	}
	for _, b := range report.Boards {
		if b.UsableBytes != b.RAMBytes-b.ReserveBytes || b.Threads != b.Clusters[0].Cores ||
			len(b.Sources) == 0 || b.Plan != nil {
			t.Errorf("%+v", b)
		}
	}
	m := report.Machine
	if m.Board == "" || m.How == "" || m.Threads < 0 || m.Threads > m.CPUs {
		t.Errorf("this machine: %+v", m)
	}
	people := mustCall(t, "boards").stdout
	for _, want := range []string{`(?m)^this machine +\S+ \(.*\)$`, `(?m)^threads +\d+: `,
		`(?m)^rpi-5-8g +8192.0 MiB +7744.0 MiB +12 GB/s measured +4 × Cortex-A76 2400 MHz$`,
		`(?m)^rock-5b-32g .* 4 × Cortex-A76 2400 MHz \+ 4 × Cortex-A55 1800 MHz$`,
		`(?m)^jetson-orin-nx-8g .* 50 GB/s estimate +6 × Cortex-A78AE`} {
		if !regexp.MustCompile(want).MatchString(people) {
			t.Errorf("boards printed %s; want a match of %s", people, want)
		}
	}
}

func TestBoardsByName(t *testing.T) {
	report := boardsJSON(t, world{}, "n100-8g", "jetson-nano")
	var names []string
	for _, b := range report.Boards {
		names = append(names, b.Name)
	}
	if got := strings.Join(names, " "); got != "n100-8g jetson-nano-2g jetson-nano-4g" {
		t.Errorf("boards %s", got)
	}
	people := mustCall(t, "boards", "rpi-5").stdout
	for _, want := range []string{
		`rpi-5-1g +1024.0 MiB, of which the system keeps 256.0 MiB; 4 threads`,
		`cores +4 × Cortex-A76 2400 MHz: neon, dotprod, fp16`, `pages +16.0 KiB, or 4.0 KiB`,
		`reserve \(estimate\): MemTotal`} {
		if n := len(regexp.MustCompile(want).FindAllString(people, -1)); n != 1 {
			t.Errorf("boards rpi-5 printed %s; %d matches of %s", people, n, want)
		}
	}
	wantRefusal(t, call("boards", "toaster"), `there is no board "toaster"; there are rpi-zero-2w, `)
	wantRefusal(t, call("boards", "rpi-5-3g"), `rpi-5 does not come with "3g".*rpi-5-16g`)
}

// TestBoardsPlans: each board gets a plan within its memory; more memory is
// never worse, and predicted speeds are bandwidth over bytes.
func TestBoardsPlans(t *testing.T) {
	model := shared.Path(t, "models", "SmolLM2-135M-Instruct.Q4_1.gguf")
	report := boardsJSON(t, world{}, "-m", model, "--kv", "f16")
	for i, b := range report.Boards {
		p := b.Plan
		if p == nil || p.Error != "" {
			t.Fatalf("%s: plan %+v", b.Name, p)
		}
		if p.TotalBytes > p.LimitBytes || p.LimitBytes != b.UsableBytes || p.ContextTokens < 32 ||
			p.AverageBits != 16 || p.KV != "f16" || !strings.Contains(p.LimitSource, b.Name) {
			t.Errorf("%s: plan %+v", b.Name, p)
		}
		if i > 0 && report.Boards[i-1].Title == b.Title &&
			report.Boards[i-1].Plan.ContextTokens > p.ContextTokens {
			t.Errorf("%s gets a smaller context than the board before", b.Name)
		}
		seconds := 1/p.TokensPerSecondFullContext - 1/p.TokensPerSecond
		cacheBytes := seconds * float64(b.ReadBytesPerSecond)
		if math.Abs(cacheBytes/float64(p.KVBytes)-1) > 1e-6 {
			t.Errorf("%s: a full cache costs %g s, which is %g bytes; it has %d", b.Name, seconds,
				cacheBytes, p.KVBytes)
		}
	}
	if p := report.Machine.Plan; p == nil || p.TotalBytes == 0 || p.LimitSource == "" {
		t.Errorf("this machine's plan: %+v", p)
	}
}

// TestBoardsThatAreTooSmall shows who cannot, and why, without failing.
func TestBoardsThatAreTooSmall(t *testing.T) {
	model := shared.Path(t, "models", "SmolLM2-135M-Instruct.Q4_1.gguf")
	args := []string{"-m", model, "-c", "65536", "-np", "8", "--kv", "f16", "rpi-zero-2w", "rpi-5-8g"}
	report := boardsJSON(t, world{}, args...)
	small, large := report.Boards[0].Plan, report.Boards[1].Plan
	if small.Error == "" || small.NeedBytes <= 1<<30 || small.LimitBytes != 352<<20 ||
		!strings.Contains(small.Error, "board rpi-zero-2w-512m") || small.TokensPerSecond != 0 {
		t.Errorf("512 MB: %+v", small)
	}
	if large.Error != "" || large.ContextTokens != 65536 || large.TokensPerSecond <= 0 {
		t.Errorf("8 GB: %+v", large)
	}
	people := mustCall(t, append([]string{"boards"}, args...)...).stdout
	for _, want := range []string{`(?m)^rpi-zero-2w-512m +352.0 MiB does not fit: needs [0-9.]+ MiB$`,
		`(?m)^rpi-5-8g +7744.0 MiB .* 65536 +16.00 .* … .*f16$`, `Tokens per second are predicted`,
		`(?m)^model +.*SmolLM2`} {
		if !regexp.MustCompile(want).MatchString(people) {
			t.Errorf("boards printed %s; want a match of %s", people, want)
		}
	}
	wantRefusal(t, call("boards", "-m", model, "--kv", "k9v9"), `"k9v9"`)
	wantRefusal(t, call("boards", "-m", "/nonexistent.gguf"), `/nonexistent.gguf`)
}

func TestBoardFlag(t *testing.T) {
	type plan struct {
		LimitSource string `json:"limit_source"`
		LimitBytes  int64  `json:"limit_bytes"`
	}
	limitOf := func(w world, args ...string) (p plan) {
		t.Helper()
		o := w.mustCall(t, append([]string{"plan", "--json"}, args...)...)
		if err := json.Unmarshal([]byte(o.stdout), &p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	env := world{env: []string{"EDGEINFER_BOARD=rpi-3b-plus"}}
	for name, p := range map[string]plan{
		"rpi-zero-2w-512m": limitOf(world{}, "--board", "rpi-zero-2w"),
		"rpi-3b-plus-1g":   limitOf(env),
		"rpi-4b-1g":        limitOf(env, "--board", "RPI_4B-1g"),
	} {
		// A machine with less than the board has binds before.
		if p.LimitBytes >= 300<<20 && !strings.Contains(p.LimitSource, "board "+name) &&
			!strings.Contains(p.LimitSource, "MemAvailable") && !strings.Contains(p.LimitSource, "cgroup") {
			t.Errorf("--board %s: limit of %s", name, p.LimitSource)
		}
		if p.LimitBytes > 832<<20 {
			t.Errorf("--board %s: %d bytes", name, p.LimitBytes)
		}
	}
	if p := limitOf(env, "--budget", "1GiB"); p.LimitSource != "--budget" || p.LimitBytes != 1<<30 {
		t.Errorf("--budget beside --board: %+v", p)
	}
	m := boardsJSON(t, env).Machine
	if m.Board != "rpi-3b-plus-1g" || m.How != "as asked for" {
		t.Errorf("EDGEINFER_BOARD: %+v", m)
	}
	wantRefusal(t, call("plan", "--board", "toaster"),
		`--board "toaster": there is no board "toaster"; there are`)
	bad := world{env: []string{"EDGEINFER_BOARD=toaster"}}
	wantRefusal(t, bad.call("run", "-p", "x"), `EDGEINFER_BOARD="toaster".*no board`)
	mustCall(t, "plan", "--board", "generic")
	mustCall(t, "plan", "--board", "auto")
}
