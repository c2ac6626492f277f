package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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

func TestQualityRefusesBadInput(t *testing.T) {
	wantRefusal(t, call("eval", "ppl"), `-f is missing`)
	wantRefusal(t, call("eval", "kld", "-f", filepath.Join(t.TempDir(), "none.txt")), `none\.txt`)
	wantRefusal(t, call("eval", "ppl", "-f", storyFile(t), "-c", "500", "--chunks", "-1"), `chunks`)
	short := filepath.Join(t.TempDir(), "short.txt")
	if err := os.WriteFile(short, []byte("Once"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, call("eval", "ppl", "-f", short, "-c", "100"), `short\.txt has \d+ tokens, one chunk takes 100`)
}
