package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"edgeinfer/edge"
)

func reportOf(t *testing.T, o outcome) runReport {
	t.Helper()
	var report runReport
	decoder := json.NewDecoder(strings.NewReader(o.stdout))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&report); err != nil || decoder.More() {
		t.Fatalf("%v; want one JSON document: %q", err, o.stdout)
	}
	return report
}

func textOf(t *testing.T, o outcome) string {
	t.Helper()
	return reportOf(t, o).Text
}

func TestRunPrintsTextAlone(t *testing.T) {
	args := []string{"run", "-p", "Once upon a time", "-n", "50", "--temp", "0"}
	report := reportOf(t, mustCall(t, append(args, "--json")...))
	if !strings.HasPrefix(report.Text, ", there was a little girl named Lily") {
		t.Errorf("text %q", report.Text)
	}
	o := mustCall(t, args...)
	if o.stdout != report.Text+"\n" {
		t.Errorf("stdout %q; want the text %q and a newline", o.stdout, report.Text)
	}
	for _, want := range []string{"prompt ", "tokens/s, first token after", "generated      50 tokens",
		"the limit was reached", "memory, of a limit of", "  kv payload", "  total"} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("summary %q; want %q in it", o.stderr, want)
		}
	}
}

// countingWriter keeps each write apart.
type countingWriter struct{ writes []string }

func (w *countingWriter) Write(p []byte) (int, error) {
	w.writes = append(w.writes, string(p))
	return len(p), nil
}

func TestTextStreams(t *testing.T) {
	var stdout countingWriter
	args := []string{"run", "-p", "Once upon a time", "-n", "50", "--temp", "0"}
	env := []string{"EDGEINFER_CONFIG=" + os.DevNull}
	if status := run(args, env, strings.NewReader(""), &stdout, io.Discard); status != 0 {
		t.Fatalf("status %d", status)
	}
	if len(stdout.writes) < 30 || stdout.writes[0] != "," {
		t.Errorf("50 tokens came in %d writes: %q; want them piece by piece",
			len(stdout.writes), stdout.writes)
	}
}

// TestRunReport checks the fields of the JSON document against each other and
// against plan with the same flags.
func TestRunReport(t *testing.T) {
	flags := []string{"-c", "256", "--kv", "k4v2", "--budget", "200MiB", "-t", "1"}
	o := mustCall(t, append([]string{"run", "-p", "Once", "-n", "20", "--temp", "0", "--json"},
		flags...)...)
	report := reportOf(t, o)
	if len(report.Tokens) != 20 || report.PromptTokens < 2 || report.FinishReason != "length" {
		t.Errorf("report %+v; want 20 tokens, a prompt and length", report)
	}
	if report.ContextTokens != 256 || report.KV != "k4v2" || report.Threads != 1 {
		t.Errorf("context %d, kv %s, threads %d", report.ContextTokens, report.KV, report.Threads)
	}
	if tm := report.Timings; tm.PromptPerSecond <= 0 || tm.PredictedPerSecond <= 0 ||
		tm.FirstTokenMS <= 0 {
		t.Errorf("timings %+v; want all above 0", tm)
	}
	var plan planReport
	if err := json.Unmarshal([]byte(mustCall(t, append([]string{"plan", "--json"},
		flags...)...).stdout), &plan); err != nil {
		t.Fatal(err)
	}
	m := report.Memory
	if m.BudgetBytes != 200<<20 || m.PlannedBytes != plan.TotalBytes ||
		m.UsedBytes != m.PlannedBytes ||
		m.UsedBytes > m.BudgetBytes {
		t.Errorf("memory %+v; want a budget of 200 MiB and the plan's %d bytes", m, plan.TotalBytes)
	}
	if !slices.Equal(m.Lines, plan.Lines) {
		t.Errorf("ledger %v; want the plan %v", m.Lines, plan.Lines)
	}
	for _, key := range []string{"text", "tokens", "prompt_tokens", "finish_reason", "timings",
		"memory",
		"prompt_per_second", "predicted_per_second", "first_token_ms",
		"budget_bytes", "planned_bytes", "used_bytes", "rss_bytes"} {
		if !strings.Contains(o.stdout, `"`+key+`":`) {
			t.Errorf("no field %s in %s", key, o.stdout)
		}
	}
}

func TestWhereThePromptComesFrom(t *testing.T) {
	want := textOf(t, mustCall(t, "run", "--json", "-p", "The dog", "-n", "10", "--temp", "0"))
	file := filepath.Join(t.TempDir(), "prompt.txt")
	if err := os.WriteFile(file, []byte("The dog\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		w    world
		args []string
	}{
		{"file", world{}, []string{"-f", file}},
		{"file, stdin unread", world{stdin: "A cat"}, []string{"-f", file}},
		{"dash", world{stdin: "The dog\r\n"}, []string{"-f", "-"}},
		{"stdin", world{stdin: "The dog"}, nil},
		{"flag over file of the environment", world{env: []string{"EDGEINFER_FILE=nowhere"}},
			[]string{"-p", "The dog"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := c.w.mustCall(t, append([]string{"run", "--json", "-n", "10", "--temp", "0"}, c.args...)...)
			if got := textOf(t, o); got != want {
				t.Errorf("text %q; want %q", got, want)
			}
		})
	}
	wantRefusal(t, call("run", "-f", filepath.Join(t.TempDir(), "none.txt")), `prompt: .*none\.txt`)
	wantRefusal(t, call("run", "-sysf", filepath.Join(t.TempDir(), "none.txt")),
		`system prompt: .*none\.txt`)
	wantRefusal(t, world{stdin: strings.Repeat("x", maxPromptBytes+1)}.call("run"),
		`more than 4194304 bytes`)
	wantRefusal(t, call("run", "-p", strings.Repeat("dog ", 600)),
		`prompt has \d+ tokens, the context holds 512`)
}

func TestSamplingFlagsCount(t *testing.T) {
	text := func(args ...string) string {
		return textOf(t, mustCall(t, append([]string{"run", "--json", "-p", "Once", "-n", "30"},
			args...)...))
	}
	greedy := text("--temp", "0")
	if a, b := text("-s", "7"), text("-s", "7"); a != b {
		t.Errorf("seed 7 gave %q and %q", a, b)
	}
	if a, b := text("-s", "7", "--temp", "1.5"), text("-s", "8", "--temp", "1.5"); a == b {
		t.Errorf("seeds 7 and 8 both gave %q", a)
	}
	for _, args := range [][]string{{"--top-k", "1"}, {"--top-p", "0.0001"}, {"--min-p", "1"}} {
		if got := text(append(args, "--temp", "1.5")...); got != greedy {
			t.Errorf("%v: %q; want the greedy %q", args, got, greedy)
		}
	}
	if got := text("--temp", "0", "--repeat-penalty", "3"); got == greedy {
		t.Errorf("a penalty of 3 changed nothing: %q", got)
	}
	if got := text("--temp", "0", "--repeat-penalty", "3", "--repeat-last-n", "0"); got != greedy {
		t.Errorf("a penalty that looks back on nothing gave %q; want %q", got, greedy)
	}
}

func TestWhereTheTextEnds(t *testing.T) {
	args := []string{"run", "--json", "-p", "Once upon a time", "--temp", "0"}
	stopped := reportOf(t, mustCall(t, append(args, "-r", "not there", "-r", "outside")...))
	if stopped.FinishReason != "stop" || !strings.HasSuffix(stopped.Text, "to play ") {
		t.Errorf("with -r outside: reason %s, text %q", stopped.FinishReason, stopped.Text)
	}
	full := reportOf(t, mustCall(t, append(args, "--ignore-eos", "-c", "64")...))
	if full.FinishReason != "length" || full.PromptTokens+len(full.Tokens) != 64 {
		t.Errorf("until the context is full: reason %s, %d tokens after %d of 64",
			full.FinishReason, len(full.Tokens), full.PromptTokens)
	}
	empty := reportOf(t, mustCall(t, append(args, "-r", ",", "-n", "8")...))
	if empty.Text != "" || empty.Tokens == nil {
		t.Errorf("stopped at once: text %q, tokens %v", empty.Text, empty.Tokens)
	}
}

func TestControlTokensOnlyWhereAskedFor(t *testing.T) {
	count := func(args ...string) int {
		args = append([]string{"run", "--json", "-n", "1", "-p", "<s>"}, args...)
		return reportOf(t, mustCall(t, args...)).PromptTokens
	}
	if plain, special := count(), count("--special"); plain <= 2 || special != 2 {
		t.Errorf("prompt <s>: %d tokens, with --special %d; want more than 2, and 2", plain, special)
	}
}

func TestFlagsWithoutEffectAreNamed(t *testing.T) {
	o := mustCall(t, "run", "-n", "1", "-ngl", "99", "-fa", "on", "-tb", "2", "-ub", "16")
	for _, name := range withoutEffect {
		if !strings.Contains(o.stderr, "note: --"+name+" has no effect here") {
			t.Errorf("stderr %q; want a note about --%s", o.stderr, name)
		}
	}
	if strings.Contains(o.stderr, "ubatch") {
		t.Errorf("stderr %q: --ubatch-size has an effect", o.stderr)
	}
}

// TestBatchIsTheSmaller reads the batch from what activations take.
func TestBatchIsTheSmaller(t *testing.T) {
	activations := func(args ...string) int64 {
		var plan planReport
		o := mustCall(t, append([]string{"plan", "--json"}, args...)...)
		if err := json.Unmarshal([]byte(o.stdout), &plan); err != nil {
			t.Fatal(err)
		}
		for _, l := range plan.Lines {
			if l.Purpose == "activations" {
				return l.Bytes
			}
		}
		t.Fatalf("no activations in %s", o.stdout)
		return 0
	}
	want := activations("-b", "16")
	for _, args := range [][]string{{"-ub", "16"}, {"-b", "64", "-ub", "16"}, {"-b", "16", "-ub",
		"64"}} {
		if got := activations(args...); got != want {
			t.Errorf("%v: activations of %d bytes; want those of -b 16, %d", args, got, want)
		}
	}
	if activations("-b", "64") <= want {
		t.Error("a batch of 64 takes no more than one of 16")
	}
}

func TestChatOnce(t *testing.T) {
	for _, args := range [][]string{{"-cnv", "-p", "Hello"}, {"-sys", "Be kind.", "-p", "Hello"}} {
		o := world{stdin: "never read\n"}.mustCall(t, append([]string{"run", "-n", "8", "--temp", "0"},
			args...)...)
		if !strings.HasSuffix(o.stdout, "\n") || strings.Count(o.stderr, "generated ") != 1 {
			t.Errorf("%v: stdout %q, stderr %q; want one answer and one summary", args, o.stdout, o.stderr)
		}
		if !strings.Contains(o.stderr, "ChatML is used") {
			t.Errorf("%v: stderr %q; want a note that the model has no template", args, o.stderr)
		}
	}
	plain := reportOf(t, mustCall(t, "run", "--json", "-p", "Hello", "-n", "4", "-no-cnv"))
	chat := reportOf(t, mustCall(t, "run", "--json", "-p", "Hello", "-n", "4", "-cnv"))
	system := reportOf(t, mustCall(t, "run", "--json", "-p", "Hello", "-n", "4", "-sys", "Be kind."))
	if !(plain.PromptTokens < chat.PromptTokens && chat.PromptTokens < system.PromptTokens) {
		t.Errorf("prompts of %d, %d and %d tokens; want plain < chat < with a system message",
			plain.PromptTokens, chat.PromptTokens, system.PromptTokens)
	}
}

func TestChatTurns(t *testing.T) {
	w := world{stdin: "Hello\n\nAnd then?\n"}
	o := w.mustCall(t, "run", "-cnv", "-n", "6", "--temp", "0")
	if strings.Count(o.stderr, "generated ") != 1 || !strings.Contains(o.stderr, "from the cache") {
		t.Errorf("stderr %q; want one summary, of a turn that used the cache", o.stderr)
	}
	once := w.mustCall(t, "run", "-cnv", "-st", "-n", "6", "--temp", "0")
	if rest, ok := strings.CutPrefix(o.stdout, once.stdout); !ok || rest == "" {
		t.Errorf("two turns %q, one turn %q; want the same first answer", o.stdout, once.stdout)
	}
	asked := reportOf(t, w.mustCall(t, "run", "-cnv", "--json", "-n", "6", "--temp", "0"))
	if asked.Text == "" || asked.FinishReason != "length" {
		t.Errorf("chat with --json: %+v", asked)
	}
	wantRefusal(t, world{stdin: " \n"}.call("run", "-cnv"), `the chat has no message`)
	long := world{stdin: "Hello\n" + strings.Repeat("dog ", 600) + "\n"}.call("run", "-cnv", "-n", "3")
	if long.status != 2 || !strings.Contains(long.stderr, "the context holds 512") {
		t.Errorf("a turn too long: status %d, stderr %q", long.status, long.stderr)
	}
}

func TestSummaryNamesEveryReason(t *testing.T) {
	for _, reason := range []string{"stop", "length", "cancelled"} {
		if finishWords[reason] == "" {
			t.Errorf("no words for the reason %q", reason)
		}
	}
	if report := describeRun(embeddedEngine(t), edge.Result{}); report.Tokens == nil {
		t.Error("no tokens are null in JSON; want []")
	}
}

// embeddedEngine starts the embedded model for the length of the test.
func embeddedEngine(t *testing.T) *edge.Engine {
	t.Helper()
	e, err := edge.Open(edge.Options{ContextTokens: 64})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}
