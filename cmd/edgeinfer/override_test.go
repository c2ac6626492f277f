package main

import (
	"slices"
	"strings"
	"testing"

	"edgeinfer/tests/shared"
)

func TestSplitOverrides(t *testing.T) {
	for list, want := range map[string][]string{
		"a=int:1":                       {"a=int:1"},
		"a=int:1,b.c=str:x":             {"a=int:1", "b.c=str:x"},
		"a=str:x,y,z,b=bool:true":       {"a=str:x,y,z", "b=bool:true"},
		"a=str:p=q,b":                   {"a=str:p=q,b"},
		"nothing":                       {"nothing"},
		"a=str:,b=float:0.5,c=bool:yes": {"a=str:", "b=float:0.5", "c=bool:yes"},
	} {
		if got := splitOverrides(list); !slices.Equal(got, want) {
			t.Errorf("%q = %q, want %q", list, got, want)
		}
	}
}

// TestOverrides reach every verb that opens a model.
func TestOverrides(t *testing.T) {
	vocabulary := shared.Path(t, "models", "vocab", "ggml-vocab-qwen2.gguf")
	tokenize := func(args ...string) string {
		return mustCall(t, append([]string{"tokenize", "-m", vocabulary, "don't  12 (x):"},
			args...)...).stdout
	}
	usual := tokenize()
	if got := tokenize("--override-kv", "tokenizer.ggml.pre=str:smollm"); got == usual {
		t.Errorf("another pre-tokenizer gives the same ids %s", got)
	}
	wantRefusal(t, call("tokenize", "-m", vocabulary, "--override-kv", "tokenizer.ggml.pre=str:qwen9",
		"x"), `pre-tokenizer "qwen9" is unknown.*--override-kv tokenizer.ggml.pre=str:.*qwen2`)
	o := world{env: []string{"EDGEINFER_OVERRIDE_KV=tokenizer.ggml.pre=str:smollm"}}.mustCall(t,
		"tokenize", "-m", vocabulary, "don't  12 (x):")
	if o.stdout == usual {
		t.Errorf("the environment's override has no effect: %s", o.stdout)
	}
	noBOS := "tokenizer.ggml.add_bos_token=bool:false"
	if got := mustCall(t, "tokenize", "--override-kv", noBOS, "Hello world").stdout; strings.HasPrefix(got,
		"[1,") {
		t.Errorf("without BOS: %s", got)
	}
	rename := "general.name=str:other,general.author=str:me"
	facts := mustCall(t, "inspect", "--metadata", "--override-kv", rename).stdout
	if !strings.Contains(facts, "name            other\n") ||
		!strings.Contains(facts, `general.author string = "me"`) {
		t.Errorf("inspect printed %s", facts)
	}
	plan := mustCall(t, "plan", "--json", "-c", "64", "--override-kv",
		"llama.attention.layer_norm_rms_epsilon=float:1").stdout
	if !strings.Contains(plan, "total_bytes") {
		t.Errorf("plan printed %s", plan)
	}
	logits := func(args ...string) string {
		return mustCall(t, append([]string{"eval", "logits", "--tokens", "1,2,3"}, args...)...).stdout
	}
	if logits() == logits("--override-kv", "llama.attention.layer_norm_rms_epsilon=float:1") {
		t.Error("another epsilon gives the same logits")
	}
	template := "tokenizer.chat_template=str:{{ messages[0].content }}!"
	w := world{stdin: `{"messages":[{"role":"user","content":"Hi"}]}`}
	path := shared.Path(t, "models", "SmolLM2-135M-Instruct.Q4_1.gguf")
	if got := w.mustCall(t, "template", "-m", path, "--override-kv", template).stdout; got != "Hi!" {
		t.Errorf("template printed %q, want Hi!", got)
	}
	for args, want := range map[string]string{
		"run --override-kv x":                    `"x": is no override; write it as KEY=TYPE:VALUE`,
		"plan --override-kv a=text:b":            `type "text" is unknown`,
		"inspect --override-kv a=int:b":          `no whole number`,
		"run --override-kv general.name=int:1":   `has a string there`,
		"tokenize --override-kv a=bool:maybe hi": `neither true nor false`,
	} {
		wantRefusal(t, call(strings.Fields(args)...), want)
	}
}
