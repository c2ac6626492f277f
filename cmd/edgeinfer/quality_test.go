package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"edgeinfer/kernels"

	gocmp "github.com/google/go-cmp/cmp"
)

// storyFile holds a text that the embedded model knows well.
func storyFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "story.txt")
	text := strings.Repeat("Once upon a time, there was a little girl named Lily. She loved to play "+
		"outside in the park. One day, she saw a big, red ball. ", 12)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPerplexityAndDivergence(t *testing.T) {
	path := storyFile(t)
	var ppl, same, coarse qualityReport
	decode(t, mustCall(t, "eval", "ppl", "-f", path, "-c", "100", "--chunks", "2", "--json"), &ppl)
	if ppl.Tokens != 98 || ppl.Chunks != 2 || ppl.PPL < 1 || ppl.PPL > 40 || ppl.KLD != nil {
		t.Errorf("eval ppl: %+v", ppl)
	}
	decode(t, mustCall(t, "eval", "kld", "-f", path, "-c", "100", "--kv", "f16", "--json"), &same)
	if same.KLD.Max != 0 || *same.SameTop != 1 || same.PPL != same.PPLReference {
		t.Errorf("the f16 cache diverges from itself: %+v", same)
	}
	decode(t, mustCall(t, "eval", "kld", "-f", path, "-c", "100", "--kv", "k2v2", "--json"), &coarse)
	if !(coarse.KLD.Mean > 0) || coarse.KVBytesPerToken >= same.KVBytesPerToken {
		t.Errorf("k2v2: %+v, %+v; want a divergence and fewer bytes than %v",
			coarse, coarse.KLD, same.KVBytesPerToken)
	}
	table := mustCall(t, "eval", "kld", "-f", path, "-c", "100", "--kv", "k4v4", "-b", "8")
	for _, want := range []string{"KL divergence", "same likeliest token", "chunks of 100"} {
		if !strings.Contains(table.stdout, want) {
			t.Errorf("table %q lacks %q", table.stdout, want)
		}
	}
	if !strings.Contains(table.stderr, "chunk 1 of") {
		t.Errorf("stderr %q shows no progress", table.stderr)
	}
}

// Several plans give a row each, the same as alone.
func TestQualityOfSeveralPlans(t *testing.T) {
	path := storyFile(t)
	var all qualityReports
	decode(t, mustCall(t, "eval", "kld", "-f", path, "-c", "100", "--kv", "k8v8;k4v4/window=none",
		"--kv", "k2v2", "--json"), &all)
	if len(all.Rows) != 3 || all.Chunks == 0 || all.ContextTokens != 100 {
		t.Fatalf("%+v", all)
	}
	for i, plan := range []string{"k8v8", "k4v4/window=none", "k2v2"} {
		var alone qualityReport
		decode(t, mustCall(t, "eval", "kld", "-f", path, "-c", "100", "--kv", plan, "--json"), &alone)
		row := all.Rows[i]
		if row.KV != plan || row.AverageBits == 0 {
			t.Errorf("the row of %s is of %q with %v bits", plan, row.KV, row.AverageBits)
		}
		row.KV, row.AverageBits = "", 0
		if diff := gocmp.Diff(alone, row); diff != "" {
			t.Errorf("%s alone and among others (-alone +others):\n%s", plan, diff)
		}
	}
	table := mustCall(t, "eval", "kld", "-f", path, "-c", "100", "--kv", "k8v8;k2v2")
	if !strings.Contains(table.stdout, "\n| k2v2 | ") || !strings.Contains(table.stderr, "k8v8 kld ") {
		t.Errorf("table %q, progress %q", table.stdout, table.stderr)
	}
	ppl := mustCall(t, "eval", "ppl", "-f", path, "-c", "100", "--kv", "k8v8;k2v2")
	if !strings.Contains(ppl.stdout, "| plan | bits | bytes/token | PPL |") {
		t.Errorf("table %q", ppl.stdout)
	}
}

// One plan gives a flat document, several give the same fields a row and its plan.
func TestQualityDocuments(t *testing.T) {
	path := storyFile(t)
	fields := func(document map[string]any) []string { return slices.Sorted(maps.Keys(document)) }
	ppl := []string{"chunks", "context_tokens", "kv_bytes_per_token", "ppl", "tokens"}
	kld := slices.Sorted(slices.Values(append([]string{"kld", "ln_ppl_ratio", "ln_ppl_ratio_error",
		"ppl_reference", "same_top"}, ppl...)))
	for verb, want := range map[string][]string{"ppl": ppl, "kld": kld} {
		var one, several map[string]any
		decode(t, mustCall(t, "eval", verb, "-f", path, "-c", "100", "--kv", "k8v8", "--json"), &one)
		decode(t, mustCall(t, "eval", verb, "-f", path, "-c", "100", "--kv", "k8v8;k2v2", "--json"),
			&several)
		if diff := gocmp.Diff(want, fields(one)); diff != "" {
			t.Errorf("fields of eval %s (-want +got):\n%s", verb, diff)
		}
		above := []string{"chunks", "context_tokens", "rows", "tokens"}
		if diff := gocmp.Diff(above, fields(several)); diff != "" {
			t.Fatalf("fields of eval %s of two plans (-want +got):\n%s", verb, diff)
		}
		for _, row := range several["rows"].([]any) {
			want := slices.Sorted(slices.Values(append([]string{"average_bits", "kv"}, want...)))
			if diff := gocmp.Diff(want, fields(row.(map[string]any))); diff != "" {
				t.Errorf("fields of a row of eval %s (-want +got):\n%s", verb, diff)
			}
		}
	}
}

// What is compared with can be another plan and another kernel set.
func TestQualityAgainstAnotherReference(t *testing.T) {
	path := storyFile(t)
	var itself, floor qualityReport
	decode(t, mustCall(t, "eval", "kld", "-f", path, "-c", "100", "--kv", "k2v2", "--reference", "k2v2",
		"--json"), &itself)
	if itself.KLD.Max != 0 || itself.PPL != itself.PPLReference {
		t.Errorf("k2v2 diverges from itself: %+v", itself)
	}
	decode(t, mustCall(t, "eval", "kld", "-f", path, "-c", "100", "--kv", "f16", "--reference-kernels",
		"generic", "--json"), &floor)
	if floor.KLD.Mean > 1e-3 {
		t.Errorf("f16 on another kernel set: %+v", floor.KLD)
	}
	if len(kernels.Names()) > 1 && floor.KLD.Max == 0 {
		t.Error("the reference ran on the kernels of the tested cache")
	}
}

func TestQualityRefusesBadInput(t *testing.T) {
	wantRefusal(t, call("eval", "ppl"), `-f is missing`)
	wantRefusal(t, call("eval", "kld", "-f", filepath.Join(t.TempDir(), "none.txt")), `none\.txt`)
	wantRefusal(t, call("eval", "ppl", "-f", storyFile(t), "-c", "500", "--chunks", "-1"), `chunks`)
	kld := func(args ...string) outcome {
		return call(append([]string{"eval", "kld", "-f", storyFile(t), "-c", "100"}, args...)...)
	}
	wantRefusal(t, kld("--kv", "k4v4;q4_0"), `"q4_0" is no cache format`)
	wantRefusal(t, kld("--kv", "k4v4;;f16"), `a plan of the list is empty`)
	wantRefusal(t, kld("--kv", strings.Repeat("f16;", 65)), `65 plans; at most 64`)
	wantRefusal(t, kld("--reference", "best"), `the reference cache: .*"best"`)
	wantRefusal(t, kld("--reference-kernels", "sse"), `no set "sse"`)
	short := filepath.Join(t.TempDir(), "short.txt")
	if err := os.WriteFile(short, []byte("Once"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, call("eval", "ppl", "-f", short, "-c", "100"),
		`short\.txt has \d+ tokens, one chunk takes 100`)
}
