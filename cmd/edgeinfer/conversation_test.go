package main

import (
	"strings"
	"testing"
)

func TestTheStrongerPlaceDecidesOnAChat(t *testing.T) {
	w := world{env: []string{"EDGEINFER_CONVERSATION=true"}, stdin: "Once upon a time"}
	o := w.mustCall(t, "run", "-no-cnv", "--temp", "0", "-n", "8", "--json")
	if !strings.Contains(o.stdout, `"prompt_tokens": 5`) && !strings.Contains(o.stdout, `"prompt_tokens":5`) {
		t.Errorf("-no-cnv over the environment: %s; want the 5 prompt tokens of standard input", o.stdout)
	}
	w = world{env: []string{"EDGEINFER_NO_CONVERSATION=true"}, stdin: "Hi\nBye\n"}
	if o := w.mustCall(t, "run", "-cnv", "--temp", "0", "-n", "8"); !strings.Contains(o.stderr, "ChatML") {
		t.Errorf("-cnv over the environment: %q does not chat", o.stderr)
	}
}

func TestAChatThatFillsItsContextEnds(t *testing.T) {
	w := world{stdin: strings.Repeat("Hello there, my little friend\n", 20)}
	o := w.mustCall(t, "run", "-cnv", "-c", "256", "--temp", "0", "-n", "8")
	if !strings.Contains(o.stderr, "fills the context of 256 tokens") ||
		!strings.Contains(o.stderr, "go reserve") {
		t.Errorf("stderr %q; want the reason and the summary", o.stderr)
	}
}
