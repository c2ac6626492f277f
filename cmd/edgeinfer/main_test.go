package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// outcome is what one run of the program left.
type outcome struct {
	status         int
	stdout, stderr string
}

// world is what surrounds a run. No configuration file is read unless env says
// so.
type world struct {
	env   []string
	stdin string
}

func (w world) call(args ...string) outcome {
	var stdout, stderr bytes.Buffer
	env := append([]string{"EDGEINFER_CONFIG=" + os.DevNull}, w.env...)
	status := run(args, env, strings.NewReader(w.stdin), &stdout, &stderr)
	return outcome{status, stdout.String(), stderr.String()}
}

// call runs the program without standard input.
func call(args ...string) outcome { return world{}.call(args...) }

// mustCall is a call that has to succeed.
func mustCall(t *testing.T, args ...string) outcome {
	t.Helper()
	return world{}.mustCall(t, args...)
}

func (w world) mustCall(t *testing.T, args ...string) outcome {
	t.Helper()
	o := w.call(args...)
	if o.status != 0 {
		t.Fatalf("edgeinfer %q: status %d, stderr %s", args, o.status, o.stderr)
	}
	return o
}

// wantRefusal checks that bad usage or input ends with status 2, says why in
// words that match each pattern, and leaves standard output empty.
func wantRefusal(t *testing.T, o outcome, patterns ...string) {
	t.Helper()
	if o.status != 2 || o.stdout != "" {
		t.Errorf("status %d, stdout %q; want 2 and nothing", o.status, o.stdout)
	}
	if !strings.HasPrefix(o.stderr, "edgeinfer: ") {
		t.Errorf("stderr %q; want it to begin with the program's name", o.stderr)
	}
	for _, p := range patterns {
		if !regexp.MustCompile(p).MatchString(o.stderr) {
			t.Errorf("stderr %q; want a match of %q", o.stderr, p)
		}
	}
}

func TestBadUsage(t *testing.T) {
	for _, c := range []struct {
		args string
		want string
	}{
		{"", `a command is missing`},
		{"rnu", `unknown command "rnu".*did you mean "run"`},
		{"rnu -m x --whatever", `unknown command "rnu"`},
		{"help rnu", `unknown command "rnu".*did you mean "run"`},
		{"xyzzy", `unknown command "xyzzy" for "edgeinfer"\n`},
		{"serve", `unknown command "serve"`},
		{"--nope", `unknown flag --nope`},
		{"run --thraeds 3", `--thraeds; did you mean --threads\?\n.*edgeinfer run --help`},
		{"run --quite-unknown", `unknown flag --quite-unknown\n`},
		{"run -z", `unknown flag -z`},
		{"run -p", `--prompt needs a value`},
		{"run text", `unexpected argument "text".* -p`},
		{"run --json=maybe", `--json "maybe": is neither true nor false`},
		{"run -p a -f b", `--prompt and --file are both set`},
		{"run -cnv -no-cnv", `--conversation and --no-conversation are both set`},
		{"run -sys a -sysf b", `--system-prompt and --system-prompt-file are both set`},
		{"eval", `eval logits`},
		{"eval logist", `unknown command "logist" for "edgeinfer eval"; did you mean "logits"`},
		{"eval logits", `--tokens is missing`},
		{"tokenize a b", `2 texts; put the text in quotes`},
		{"plan model.gguf", `name the model with -m`},
		{"inspect --norms", `--norms is not available in this version`},
		{"template -m a --chat-template b", `--model and --chat-template are both set`},
	} {
		t.Run(c.args, func(t *testing.T) {
			wantRefusal(t, call(strings.Fields(c.args)...), c.want)
		})
	}
}

func TestBadValues(t *testing.T) {
	for _, c := range []struct {
		args string
		want string
	}{
		{"run -t 0", `--threads "0": must be at least 1.*one thread per fast core`},
		{"run -t -4", `--threads "-4": must be at least 1`},
		{"run -t two", `--threads "two": is not a whole number`},
		{"run -t 99999999999999999999", `--threads .* is out of range`},
		{"run -t 100000", `threads is 100000`},
		{"run -n 0", `--predict "0": generates nothing; -1`},
		{"run -n -2", `--predict "-2": must be at least -1`},
		{"run -c -1", `--ctx-size "-1": must be at least 0`},
		{"run -c 513", `--ctx-size 513: .* trained with contexts of 512 tokens; give at most 512`},
		{"run -c 1025 -np 2", `--ctx-size 1025: .*give at most 1024`},
		{"eval logits --tokens 1 -c 513", `trained with contexts of 512 tokens`},
		{"plan -c 99999999999", `--ctx-size .*must be at most`},
		{"run -b 0", `--batch-size "0": must be at least 1`},
		{"run -np 0", `--parallel "0": must be at least 1`},
		{"run --kv k9v9", `"k9v9".*9 bits.*"k4v2"`},
		{"run --kv nonsense", `"nonsense".*is no cache format`},
		{"run --kv 0-9:k4v4", `beyond the last layer, 4`},
		{"run --floor k1", `"k1".*is no cache format`},
		{"run --planner best", `no planner "best"`},
		{"run --kernels sse9", `--kernels "sse9".*available: auto, generic`},
		{"run --budget 12potatoes", `--budget.*unknown unit "potatoes".*1500MiB`},
		{"run --budget 0", `--budget "0".*less than a byte`},
		{"run --budget -1GiB", `--budget.*negative`},
		{"run --budget 1KiB", `needs .*there are 1.0 KiB \(--budget\): --budget [0-9]+MiB would do`},
		{"run --kv-budget 1KiB", `--kv-budget`},
		{"run --window x", `--window "x": is not a whole number; or none`},
		{"run --sinks 2", `--sinks "2": must be at most 1`},
		{"run -ctk q3_k", `--cache-type-k "q3_k": is no cache type; known are bf16.*q8_0`},
		{"run -ctk q8_0 --kv f16", `--kv f16 and cache types are both set as flags`},
		{"run --temp nan", `--temp "nan": is not a number`},
		{"run --temp -1", `--temp "-1": must be between 0 and`},
		{"run --top-k -1", `--top-k "-1": must be at least 0`},
		{"run --top-p 1.5", `--top-p "1.5": must be between 1e-06 and 1`},
		{"run --top-p 0", `--top-p "0": must be between 1e-06 and 1`},
		{"run --min-p -0.1", `--min-p "-0.1": must be between 0 and 1`},
		{"run --repeat-penalty 0", `--repeat-penalty "0": must be between`},
		{"run --repeat-last-n -2", `--repeat-last-n "-2": must be at least -1`},
		{"run -s -2", `--seed "-2": must be at least -1`},
		{"eval logits --tokens 1,x", `"x" is no token id`},
		{"eval logits --tokens 1,-1", `"-1" is no token id`},
		{"eval logits --tokens 1,512", `token 512 is outside the vocabulary of 512`},
		{"eval logits --tokens 1 -n 0", `--predict "0": must be at least 1`},
		{"template --now yesterday", `--now "yesterday": is no date.*2026-01-15`},
	} {
		t.Run(c.args, func(t *testing.T) {
			wantRefusal(t, call(strings.Fields(c.args)...), c.want)
		})
	}
}

// TestBadFiles gives every verb that opens a model files that are none.
func TestBadFiles(t *testing.T) {
	folder := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	files := map[string]string{
		filepath.Join(folder, "missing.gguf"): `missing\.gguf.*(no such file|cannot find)`,
		folder:                                `is a directory`,
		write("empty.gguf", ""):               `empty\.gguf.*is empty`,
		write("text.gguf",
			"This is no model, but it is long enough."): `text\.gguf.*begins with \\?"This`,
		write("short.gguf", "GGUF\x03\x00\x00\x00"): `short\.gguf`,
	}
	verbs := [][]string{{"run", "-p", "a"}, {"plan"}, {"plan", "--json"}, {"inspect"}, {"tokenize",
		"a"},
		{"eval", "logits", "--tokens", "1"}}
	for path, want := range files {
		for _, verb := range verbs {
			t.Run(verb[0]+"/"+filepath.Base(path), func(t *testing.T) {
				wantRefusal(t, call(append(verb, "-m", path)...), want)
			})
		}
		request := world{stdin: `{"messages":[]}`}
		wantRefusal(t, request.call("template", "-m", path), want)
	}
}

func TestVersion(t *testing.T) {
	o := mustCall(t, "--version")
	if !regexp.MustCompile(`^edgeinfer \S+.* go1\.\S+ \w+/\w+\n$`).MatchString(o.stdout) ||
		o.stderr != "" {
		t.Errorf("--version printed %q and %q", o.stdout, o.stderr)
	}
	got := describeBuild(&debug.BuildInfo{
		GoVersion: "go1.26.0",
		Main:      debug.Module{Version: "(devel)"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.time",
				Value: "2026-01-15T00:00:00Z"},
			{Key: "vcs.modified", Value: "true"}, {Key: "GOOS", Value: "linux"}, {Key: "GOARCH",
				Value: "arm64"},
		},
	})
	want := "devel (0123456789ab, 2026-01-15T00:00:00Z, modified) go1.26.0 linux/arm64"
	if got != want {
		t.Errorf("describeBuild = %q; want %q", got, want)
	}
}

// failingWriter is a standard output whose reader went away.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestFailureToWriteIsStatus1(t *testing.T) {
	for _, args := range [][]string{{"run", "-p", "a", "-n", "400", "--ignore-eos"}, {"run",
		"--json", "-n", "5"},
		{"plan", "--json"}, {"tokenize", "a"}, {"kernels", "--json"}} {
		var stderr bytes.Buffer
		env := []string{"EDGEINFER_CONFIG=" + os.DevNull}
		status := run(args, env, strings.NewReader(""), failingWriter{}, &stderr)
		if status != 1 || !strings.Contains(stderr.String(), "broken pipe") {
			t.Errorf("%q: status %d, stderr %q; want 1 and the reason", args, status, stderr.String())
		}
	}
}

// eachCommand visits every command that users see.
func eachCommand(visit func(c *cobra.Command)) {
	p := &program{stdin: strings.NewReader(""), stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		visit(c)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(p.root())
}

func TestHelpIsForPeople(t *testing.T) {
	eachCommand(func(c *cobra.Command) {
		args := append(strings.Fields(c.CommandPath())[1:], "--help")
		o := mustCall(t, args...)
		if o.stderr != "" || !strings.Contains(o.stdout, "Usage:\n  "+c.CommandPath()) {
			t.Errorf("%q: stderr %q, stdout %.200q", args, o.stderr, o.stdout)
		}
		for line := range strings.Lines(o.stdout) {
			if len(line) > helpWidth+1 {
				t.Errorf("%q: %d columns: %q", args, len(line), line)
			}
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if shown := strings.Contains(o.stdout, "--"+f.Name); shown == f.Hidden {
				t.Errorf("%q: --%s shown %v, hidden %v", args, f.Name, shown, f.Hidden)
			}
			if f.Usage == "" {
				t.Errorf("%q: --%s is not explained", args, f.Name)
			}
		})
	})
}

// TestHelpShowsTheDefaultsInUse sets every flag that has a default which is a
// value to that value; nothing may change.
func TestHelpShowsTheDefaultsInUse(t *testing.T) {
	plain := mustCall(t, "plan", "-c", "512")
	spelt := mustCall(t, "plan", "-c", "512", "-np", "1", "--kv", "auto", "--floor", "k4v3",
		"--window", "1",
		"--sinks", "1", "-b", "128", "--kernels", "auto")
	if total(plain.stdout) == "" || total(plain.stdout) != total(spelt.stdout) {
		t.Errorf("plan by default:\n%s\nwith the defaults as flags:\n%s", plain.stdout, spelt.stdout)
	}
}

// total is the line of a plan that sums it up.
func total(plan string) string { return regexp.MustCompile(`total +\d+`).FindString(plan) }

func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if o := mustCall(t, "completion", shell); !strings.Contains(o.stdout, "edgeinfer") {
			t.Errorf("completion %s: %.100q", shell, o.stdout)
		}
	}
	if o := mustCall(t, "__complete", "ru"); !strings.HasPrefix(o.stdout, "run\t") {
		t.Errorf("completion of ru: %q", o.stdout)
	}
}
