package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRunTakesAChatTemplate: of a file, or a built-in one by its name. What the
// template refuses reaches the caller in its own words.
func TestRunTakesAChatTemplate(t *testing.T) {
	folder := t.TempDir()
	write := func(name, source string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	story := write("story.jinja", "Once upon a time, {{ messages[0].content }}")
	const n = "8"
	chat := []string{"run", "--json", "-cnv", "-p", "there was", "-n", n, "--temp", "0", "--chat-template"}
	report := reportOf(t, mustCall(t, append(chat, story)...))
	plain := reportOf(t, mustCall(t, "run", "--json", "-p", "Once upon a time, there was", "-n", n,
		"--temp", "0"))
	if report.Text != plain.Text || report.PromptTokens != plain.PromptTokens {
		t.Errorf("a template of a file: %+v, want %+v", report, plain)
	}
	builtIn := mustCall(t, append(chat, "chatml")...)
	if strings.Contains(builtIn.stderr, "no chat template") {
		t.Errorf("the built-in template was asked for, stderr %q", builtIn.stderr)
	}
	wantRefusal(t, call(append(chat, write("no.jinja", "{{ raise_exception('no chats today') }}"))...),
		`no\.jinja: no chats today`)
	wantRefusal(t, call(append(chat, write("bad.jinja", "\n{% if %}"))...), `bad\.jinja: line 2`)
	wantRefusal(t, call(append(chat, write("deep.jinja",
		"{% for i in range(100000) %}{% for j in range(100000) %}x{% endfor %}{% endfor %}"))...),
		`deep\.jinja: .*more than`)
	wantRefusal(t, call(append(chat, filepath.Join(folder, "none"))...), `chat template: .*none.*chatml`)
	wantRefusal(t, call(append(chat, write("long.jinja", strings.Repeat("x", 1<<20+1)))...),
		`long\.jinja: more than 1048576 bytes`)
	w := world{stdin: `{"messages":[{"role":"user","content":"Hi"}]}`}
	if got := w.mustCall(t, "template", "--chat-template", "chatml").stdout; got !=
		"<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n" {
		t.Errorf("template --chat-template chatml printed %q", got)
	}
	if got := w.mustCall(t, "template", "--chat-template-file", story).stdout; got !=
		"Once upon a time, Hi" {
		t.Errorf("by llama.cpp's name of the flag: %q", got)
	}
}
