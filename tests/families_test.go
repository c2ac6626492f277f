package tests

// The families as users meet them: the real program prints the golden logits of
// every shared file.

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"edgeinfer/tests/shared"
)

// logitsReport is the JSON of eval logits.
type logitsReport struct {
	Top        [][2]float64
	First16    []float64
	Mean, RMS  float64
	ArgmaxEach []int32 `json:"argmax_each"`
	Greedy     []int32
}

// evalLogits runs the program.
func evalLogits(t *testing.T, args ...string) (report logitsReport) {
	t.Helper()
	cmd := exec.Command(program(t), append([]string{"eval", "logits"}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, err.(*exec.ExitError).Stderr)
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	return report
}

// listed turns the logits of a report into what the golden checks look up;
// others are not a number, which no check lets pass.
func (r logitsReport) listed() computed {
	logits := make([]float32, 1<<16)
	for id := range logits {
		logits[id] = float32(math.NaN())
	}
	for id, v := range r.First16 {
		logits[id] = float32(v)
	}
	for _, top := range r.Top {
		logits[int(top[0])] = float32(top[1])
	}
	return computed{logits: logits, argmax: r.ArgmaxEach, greedy: r.Greedy}
}

func TestEvalLogitsOfEveryFamily(t *testing.T) {
	exactly, peers := loadGolden(t, "logits-exact.json"), loadGolden(t, "logits.json")
	files, err := filepath.Glob(filepath.Join(shared.Path(t, "models", "families"), "*.gguf"))
	if err != nil || len(files) < 13 {
		t.Fatalf("%d families, %v; want 13 or more", len(files), err)
	}
	for _, path := range files {
		file := filepath.Base(path)
		if len(exactly[file]) < 2 || len(peers[file]) != 2 {
			t.Errorf("%s: %d exact and %d peer's cases; want 2 each or more", file,
				len(exactly[file]), len(peers[file]))
		}
		for name, want := range exactly[file] {
			t.Run(file+"/"+name, func(t *testing.T) {
				args := []string{"-m", path, "--kv", "f32", "-n", fmt.Sprint(len(want.Greedy)),
					"--tokens", strings.Trim(fmt.Sprint(want.Prompt), "[]")}
				if name == "short_ctx32" {
					args = append(args, "-c", "32")
				}
				got := evalLogits(t, args...)
				checkReport(t, got, want, floatExact)
				if peer, ok := peers[file][name]; ok {
					tol := floatExact
					if file == "gemma3.gguf" {
						tol.each = 3e-3 // the peer takes GELU from a table of halves
					}
					checkReport(t, got, peer, tol)
				}
			})
		}
	}
}

// checkReport holds all of a report against a golden case.
func checkReport(t *testing.T, got logitsReport, want goldenCase, tol tolerance) {
	t.Helper()
	if len(got.Top) != 20 || len(got.First16) != 16 || len(got.Greedy) != len(want.Greedy) ||
		len(got.ArgmaxEach) != len(want.Prompt) {
		t.Fatalf("%d top, %d first, %d greedy, %d arg-maxes", len(got.Top), len(got.First16),
			len(got.Greedy), len(got.ArgmaxEach))
	}
	checkLogits(t, got.listed(), want, tol)
	checkArgmax(t, got.ArgmaxEach, want, tol)
	checkGreedy(t, got.Greedy, want, tol.margin)
	for _, c := range []struct {
		what      string
		got, want float64
	}{{"mean", got.Mean, want.Last.Mean}, {"rms", got.RMS, want.Last.RMS}} {
		if math.Abs(c.got-c.want) > tol.each*max(1, math.Abs(c.want)) {
			t.Errorf("%s %v, want %v", c.what, c.got, c.want)
		}
	}
}
