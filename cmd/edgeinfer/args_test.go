package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestNormaliseArgs(t *testing.T) {
	root := (&program{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}).root()
	for _, c := range []struct{ in, want string }{
		{"run -ctk q8_0 -ctv q4_0", "run --cache-type-k q8_0 --cache-type-v q4_0"},
		{"run -ctk=q8_0", "run --cache-type-k=q8_0"},
		{"run -sys Hello -cnv", "run --system-prompt Hello --conversation"},
		{"run -no-cnv -st -sysf f", "run --no-conversation --single-turn --system-prompt-file f"},
		{"run -np 2 -ub 64 -tb 4 -fa on -ngl 99",
			"run --parallel 2 --ubatch-size 64 --threads-batch 4 --flash-attn on --gpu-layers 99"},
		{"run -c 512 -n -1 -t 2", "run -c 512 -n -1 -t 2"},
		// What follows a flag that takes a value is that value.
		{"run -p -cnv", "run -p -cnv"},
		{"run --prompt -sys -cnv", "run --prompt -sys --conversation"},
		{"run -sys -ctk -cnv", "run --system-prompt -ctk --conversation"},
		{"run --prompt=x -cnv", "run --prompt=x --conversation"},
		{"run --n_predict 5 -cnv", "run --n_predict 5 --conversation"},
		{"run --json -cnv", "run --json --conversation"},
		{"run -p --", "run -p --"},
		// After -- there are no flags.
		{"tokenize -- -cnv", "tokenize -- -cnv"},
		{"", ""},
	} {
		got := strings.Join(normaliseArgs(strings.Fields(c.in), root), " ")
		if got != c.want {
			t.Errorf("normaliseArgs(%q) = %q; want %q", c.in, got, c.want)
		}
	}
}

// TestFlagsAgree holds what normaliseArgs relies on: a name means the same kind
// of flag in every command, and every respelling has a flag.
func TestFlagsAgree(t *testing.T) {
	switches := map[string]bool{}
	eachCommand(func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			isSwitch := f.NoOptDefVal != ""
			if before, seen := switches[f.Name]; seen && before != isSwitch {
				t.Errorf("%s: --%s is a switch in one command and not in another", c.CommandPath(), f.Name)
			}
			switches[f.Name] = isSwitch
		})
	})
	for short, long := range shortFlags {
		if _, ok := switches[strings.TrimPrefix(long, "--")]; !ok {
			t.Errorf("%s stands for %s, which is no flag", short, long)
		}
	}
	for other, name := range otherNames {
		if _, ok := switches[name]; !ok {
			t.Errorf("--%s stands for --%s, which is no flag", other, name)
		}
	}
	for _, name := range slices.Concat(repeatable, withoutEffect) {
		if _, ok := switches[name]; !ok {
			t.Errorf("--%s is listed and is no flag", name)
		}
	}
}

func TestOtherSpellings(t *testing.T) {
	want := mustCall(t, "run", "-p", "Once", "-n", "12", "--temp", "0", "--json")
	for _, args := range []string{
		"run -p Once --n-predict 12 --temperature 0 --json",
		"run --prompt Once --predict 12 --temp 0.0 --json",
		"run -p Once --n_predict=12 --temp=0 --top_k 40 --json",
	} {
		got := mustCall(t, strings.Fields(args)...)
		if textOf(t, got) != textOf(t, want) {
			t.Errorf("%s: %q; want %q", args, textOf(t, got), textOf(t, want))
		}
	}
}

func TestDidYouMean(t *testing.T) {
	known := []string{"threads", "temp", "top-k", "top-p"}
	for _, c := range []struct{ name, want string }{
		{"thread", "; did you mean --threads?"},
		{"thraeds", "; did you mean --threads?"},
		{"tmep", "; did you mean --temp?"},
		{"topk", "; did you mean --top-k?"},
		{"zz", ""},
		{"something", ""},
	} {
		if got := didYouMean(c.name, "--", known); got != c.want {
			t.Errorf("didYouMean(%q) = %q; want %q", c.name, got, c.want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2},
		{"a", "a", 0},
	} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("editDistance(%q, %q) = %d; want %d", c.a, c.b, got, c.want)
		}
	}
}
