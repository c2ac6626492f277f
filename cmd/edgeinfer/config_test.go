package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// configFile writes a configuration file.
func configFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "edgeinfer.toml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// contextOf is the context that plan arrives at.
func contextOf(t *testing.T, w world, args ...string) int {
	t.Helper()
	var plan struct {
		ContextTokens int `json:"context_tokens"`
	}
	o := w.mustCall(t, append([]string{"plan", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(o.stdout), &plan); err != nil {
		t.Fatal(err)
	}
	return plan.ContextTokens
}

// TestPrecedence sets the context on every combination of levels.
func TestPrecedence(t *testing.T) {
	file := configFile(t, "ctx-size = 96\n")
	for _, c := range []struct {
		name            string
		flag, env, file bool
		want            int
	}{
		{"built in", false, false, false, 512},
		{"file", false, false, true, 96},
		{"environment", false, true, false, 128},
		{"environment over file", false, true, true, 128},
		{"flag", true, false, false, 160},
		{"flag over file", true, false, true, 160},
		{"flag over environment", true, true, false, 160},
		{"flag over both", true, true, true, 160},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w world
			var args []string
			if c.env {
				w.env = append(w.env, "EDGEINFER_CTX_SIZE=128")
			}
			if c.file {
				w.env = append(w.env, "EDGEINFER_CONFIG="+file)
			}
			if c.flag {
				args = append(args, "-c", "160")
			}
			if got := contextOf(t, w, args...); got != c.want {
				t.Errorf("context %d; want %d", got, c.want)
			}
		})
	}
}

// TestCacheTypesByLevel: --kv and -ctk set the same thing, so the nearer level
// wins whichever of them it is.
func TestCacheTypesByLevel(t *testing.T) {
	for _, c := range []struct{ name, file, env, args, want string }{
		{"kv alone", "", "", "--kv k4v2", "k4v2"},
		{"types over file", `kv = "k4v2"`, "", "-ctk q8_0 -ctv q4_0", "k8v4"},
		{"types over environment", "", "EDGEINFER_KV=k4v2", "-ctk q8_0 -ctv q8_0", "k8v8"},
		{"kv over types of the file", "cache-type-k = \"q8_0\"\ncache-type-v = \"q8_0\"", "",
			"--kv k3v3", "k3v3"},
		{"environment over file", "cache-type-k = \"q8_0\"", "EDGEINFER_KV=k5v5", "", "k5v5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world{env: []string{"EDGEINFER_CONFIG=" + configFile(t, c.file), c.env}}
			o := w.mustCall(t, append([]string{"plan"}, strings.Fields(c.args)...)...)
			if !strings.Contains(o.stdout, "cache     "+c.want+":") {
				t.Errorf("plan %s; want cache %s", o.stdout, c.want)
			}
		})
	}
}

func TestConfigPlaces(t *testing.T) {
	xdg, home := t.TempDir(), t.TempDir()
	for folder, context := range map[string]string{xdg: "96", filepath.Join(home, ".config"): "128"} {
		path := filepath.Join(folder, "edgeinfer", "edgeinfer.toml")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("ctx-size = "+context), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	named := configFile(t, "ctx-size = 160")
	for _, c := range []struct {
		name string
		env  []string
		args []string
		want int
	}{
		{"XDG_CONFIG_HOME", []string{"XDG_CONFIG_HOME=" + xdg, "HOME=" + home}, nil, 96},
		{"HOME", []string{"HOME=" + home}, nil, 128},
		{"variable", []string{"HOME=" + home, "EDGEINFER_CONFIG=" + named}, nil, 160},
		{"flag", []string{"HOME=" + home, "EDGEINFER_CONFIG=nowhere"}, []string{"--config", named}, 160},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world{env: append([]string{"EDGEINFER_CONFIG="}, c.env...)}
			if got := contextOf(t, w, c.args...); got != c.want {
				t.Errorf("context %d; want %d", got, c.want)
			}
		})
	}
	p := &program{env: map[string]string{"XDG_CONFIG_HOME": xdg}}
	want := []string{filepath.Join(xdg, "edgeinfer", "edgeinfer.toml"),
		"/etc/edgeinfer/edgeinfer.toml"}
	if got := p.configPaths(); !slices.Equal(got, want) {
		t.Errorf("configPaths() = %v; want %v", got, want)
	}
}

func TestBadConfig(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"unknown key", "kv = \"f16\"\n\nctx-sise = 5\n",
			`edgeinfer\.toml:3: unknown key "ctx-sise"; did you mean ctx-size\?`},
		{"unknown table", "kv = \"f16\"\n[server]\nport = 1\n",
			`edgeinfer\.toml:2: unknown key "server"`},
		{"first of two", "b = 1\na = 1\n", `edgeinfer\.toml:1: unknown key "b"`},
		{"syntax", "kv = \"f16\"\nthreads = = 4\n", `edgeinfer\.toml:2:11: `},
		{"twice", "threads = 1\nthreads = 2\n", `edgeinfer\.toml:.*threads`},
		{"value", "\nthreads = 0\n", `edgeinfer\.toml:2: threads: must be at least 1`},
		{"type", "threads = \"many\"\n", `edgeinfer\.toml:1: threads: is not a whole number`},
		{"fraction", "threads = 1.5\n", `edgeinfer\.toml:1: threads: is not a whole number`},
		{"array", "threads = [1, 2]\n", `edgeinfer\.toml:1: threads: takes one value`},
		{"date", "kv = 2026-01-15\n", `edgeinfer\.toml:1: kv: takes a string`},
		{"table", "[kv]\nx = 1\n", `edgeinfer\.toml:1: kv: takes a string`},
		{"size", "budget = \"many\"\n", `edgeinfer\.toml:1: budget: `},
		{"of one call", "json = true\n", `edgeinfer\.toml:1: unknown key "json"`},
		{"itself", "config = \"x\"\n", `edgeinfer\.toml:1: unknown key "config"`},
		{"large", "# " + strings.Repeat("x", maxConfigBytes), `more than 1048576 bytes`},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantRefusal(t, call("plan", "--config", configFile(t, c.content)), c.want)
		})
	}
	wantRefusal(t, call("plan", "--config", filepath.Join(t.TempDir(), "none.toml")), `none\.toml`)
	wantRefusal(t, call("plan", "--config", t.TempDir()), `director|Incorrect function`)
}

// TestConfigServesAllVerbs: a key that another verb has is no error.
func TestConfigServesAllVerbs(t *testing.T) {
	file := configFile(t, "temp = 0\nprompt = \"Once\"\npredict = 5\nkernels = \"generic\"\n"+
		"mlock = false\nreverse-prompt = [\"one\", \"two\"]\nmin_p = 0.1\nbudget = \"1GiB\"\n")
	for _, args := range []string{"plan", "inspect", "kernels", "tokenize x",
		"eval logits --tokens 1"} {
		mustCall(t, append(strings.Fields(args), "--config", file)...)
	}
	report := reportOf(t, mustCall(t, "run", "--json", "--config", file))
	if len(report.Tokens) != 5 || report.Kernels != "generic" || report.Memory.BudgetBytes != 1<<30 {
		t.Errorf("run with a file: %d tokens, kernels %s, budget %d; want 5, generic, 1 GiB",
			len(report.Tokens), report.Kernels, report.Memory.BudgetBytes)
	}
}

func TestEnvironment(t *testing.T) {
	for _, c := range []struct {
		name, variable string
		wantError      string
		wantNote       string
	}{
		{"bad value", "EDGEINFER_THREADS=0", `variable EDGEINFER_THREADS="0": must be at least 1`, ""},
		{"bad switch", "EDGEINFER_ALLOW_PAGING=perhaps",
			`EDGEINFER_ALLOW_PAGING.*neither true nor false`, ""},
		{"empty", "EDGEINFER_THREADS=", "", ""},
		{"other verb", "EDGEINFER_TOKENS=xyz", "", ""},
		{"misspelt", "EDGEINFER_THREDS=3", "", "EDGEINFER_THREDS sets no flag; did you mean --threads?"},
		{"of somebody else", "EDGEINFER_TEST_EMULATED=1", "", ""},
		{"switch on", "EDGEINFER_ALLOW_PAGING=on", "", ""},
		{"switch off", "EDGEINFER_ALLOW_PAGING=off", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := world{env: []string{c.variable}}.call("plan")
			if c.wantError != "" {
				wantRefusal(t, o, c.wantError)
				return
			}
			if o.status != 0 || !strings.Contains(o.stderr, c.wantNote) || (c.wantNote == "" &&
				o.stderr != "") {
				t.Errorf("status %d, stderr %q; want 0 and %q", o.status, o.stderr, c.wantNote)
			}
		})
	}
	w := world{env: []string{"EDGEINFER_TEMPERATURE=0", "EDGEINFER_PROMPT=Once",
		"EDGEINFER_PREDICT=4"}}
	want := textOf(t, mustCall(t, "run", "-p", "Once", "--temp", "0", "-n", "4", "--json"))
	if got := textOf(t, w.mustCall(t, "run", "--json")); got != want || got == "" {
		t.Errorf("run by environment: %q; want %q", got, want)
	}
}
