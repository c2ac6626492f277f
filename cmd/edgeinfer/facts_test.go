package main

// Tests of the verbs that print data: plan, inspect, tokenize, template, eval.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"edgeinfer/tests/shared"
)

// decode reads one JSON document into v.
func decode(t *testing.T, o outcome, v any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(o.stdout))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil || decoder.More() {
		t.Fatalf("%v; want one JSON document: %q", err, o.stdout)
	}
}

func TestPlanReport(t *testing.T) {
	var plan planReport
	o := mustCall(t, "plan", "--json", "-c", "320", "--kv", "0-1:k8v6,2-4:k4v2", "--budget", "100MiB")
	decode(t, o, &plan)
	var sum, cache, layers int64
	for _, l := range plan.Lines {
		sum += l.Bytes
		if strings.HasPrefix(l.Purpose, "kv ") || l.Purpose == "page table" || l.Purpose == "key means" {
			cache += l.Bytes
		}
	}
	if sum != plan.TotalBytes || plan.LimitBytes != 100<<20 || plan.LimitSource == "" ||
		plan.ContextTokens != 320 {
		t.Errorf("plan %+v; lines sum to %d", plan, sum)
	}
	if cache != plan.KV.Bytes || plan.KV.Plan != "0-1:k8v6,2-4:k4v2" {
		t.Errorf("cache %+v; lines of it sum to %d", plan.KV, cache)
	}
	for i, l := range plan.KV.Layers {
		k, v := 8, 6
		if i > 1 {
			k, v = 4, 2
		}
		if l.Layer != i || l.K.Bits != k || l.V.Bits != v || l.K.Group <= 0 ||
			!strings.Contains(l.V.Format, fmt.Sprint(v)) {
			t.Errorf("layer %+v; want k%dv%d", l, k, v)
		}
		layers += l.K.Bytes + l.V.Bytes
	}
	if len(plan.KV.Layers) != 5 || layers > cache || layers < cache*9/10 {
		t.Errorf("%d layers of %d bytes in a cache of %d", len(plan.KV.Layers), layers, cache)
	}
	if plan.KV.BytesPerToken <= 0 || plan.KV.AverageBits <= 0 || plan.Planner == "" ||
		plan.PredictedDistortion <= 0 {
		t.Errorf("plan %+v: a figure is missing", plan)
	}
	for _, key := range []string{"context_tokens", "total_bytes", "limit_bytes", "limit_source",
		"lines", "purpose",
		"kv", "bytes_per_token", "average_bits", "layers", "layer", "k", "v", "bits", "group", "format",
		"rotated",
		"planner", "predicted_distortion"} {
		if !strings.Contains(o.stdout, `"`+key+`":`) {
			t.Errorf("no field %s in %s", key, o.stdout)
		}
	}
}

func TestPlanForPeople(t *testing.T) {
	o := mustCall(t, "plan", "--budget", "100MiB", "-c", "0", "--kv", "f16")
	for _, want := range []string{"context   512 tokens", "cache     f16:",
		"limit     100.0 MiB (--budget)",
		"  W weights ", "  G go reserve ", "  total "} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("plan %s; want %q in it", o.stdout, want)
		}
	}
	if o.stderr != "" {
		t.Errorf("stderr %q; want nothing", o.stderr)
	}
}

func TestContextZeroIsTheModels(t *testing.T) {
	for args, want := range map[string]int{"-c 0": 512, "-c auto": 512, "-c 0 -np 2": 1024,
		"-c 256 -np 2": 256} {
		if got := contextOf(t, world{}, strings.Fields(args)...); got != want {
			t.Errorf("plan %s: context %d; want %d", args, got, want)
		}
	}
}

func TestWindowAndSinksReachThePlan(t *testing.T) {
	window := func(args ...string) (bytes int64) {
		var plan planReport
		decode(t, mustCall(t, append([]string{"plan", "--json", "-c", "512", "--kv", "k4v4"},
			args...)...), &plan)
		for _, l := range plan.Lines {
			if l.Purpose == "kv window and sinks" {
				bytes = l.Bytes
			}
		}
		return bytes
	}
	none, usual, wide := window("--window", "none", "--sinks", "0"), window(), window("--window", "3")
	if !(none < usual && usual < wide) {
		t.Errorf("windows of none, 1 and 3 tiles take %d, %d and %d bytes", none, usual, wide)
	}
}

func TestInspect(t *testing.T) {
	var facts modelFacts
	decode(t, mustCall(t, "inspect", "--json"), &facts)
	if facts.Architecture != "llama" || facts.Parameters != 260032 || facts.Tensors != 47 ||
		facts.ContextLength != 512 || facts.Tokenizer != "llama" || !facts.Supported {
		t.Errorf("facts of the embedded model: %+v", facts)
	}
	if !reflect.DeepEqual(facts.HeadCount, []uint64{8}) || !reflect.DeepEqual(facts.HeadCountKV,
		[]uint64{4}) {
		t.Errorf("heads %v, KV heads %v; want 8 and 4", facts.HeadCount, facts.HeadCountKV)
	}
	people := mustCall(t, "inspect", "--metadata").stdout
	for _, want := range []string{"architecture    llama", "260032 in 47 tensors", "512 tokens",
		"runs here       yes",
		"llama.context_length u32 = 512"} {
		if !strings.Contains(people, want) {
			t.Errorf("inspect printed %s; want %q in it", people, want)
		}
	}
}

// TestInspectOtherArchitectures: facts also of what cannot be run.
func TestInspectOtherArchitectures(t *testing.T) {
	path := shared.Path(t, "models", "vocab", "ggml-vocab-gpt-2.gguf")
	var facts modelFacts
	decode(t, mustCall(t, "inspect", "--json", "-m", path), &facts)
	if facts.Architecture != "gpt2" || facts.Supported || facts.Vocabulary != 50257 ||
		facts.PreTokenizer != "gpt-2" ||
		!strings.Contains(facts.UnsupportedReason, "gpt2") {
		t.Errorf("facts of a GPT-2 vocabulary: %+v", facts)
	}
	wantRefusal(t, call("run", "-m", path, "-p", "a"), `architecture "gpt2" is not supported`)
}

func TestTokenize(t *testing.T) {
	for _, c := range []struct {
		w    world
		args []string
		want string
	}{
		{world{}, []string{"Hello world"}, "[1,346,306,414,263,304,341]\n"},
		{world{}, []string{"--no-bos", "Hello world"}, "[346,306,414,263,304,341]\n"},
		{world{stdin: "Hello world"}, nil, "[1,346,306,414,263,304,341]\n"},
		{world{}, []string{"--no-bos", ""}, "[]\n"},
		{world{}, []string{"--special", "--no-bos", "</s>"}, "[2]\n"},
		{world{stdin: "unread"}, []string{""}, "[1]\n"},
	} {
		o := c.w.mustCall(t, append([]string{"tokenize"}, c.args...)...)
		if o.stdout != c.want || o.stderr != "" {
			t.Errorf("tokenize %q: %q, stderr %q; want %q", c.args, o.stdout, o.stderr, c.want)
		}
	}
	newline := world{stdin: "Hello world\n"}.mustCall(t, "tokenize").stdout
	if !strings.HasPrefix(newline, "[1,346,306,414,263,304,341,") {
		t.Errorf("with a newline at the end: %s; it belongs to the text", newline)
	}
}

// TestTokenizeVocabularies runs the command on a vocabulary of an architecture
// that cannot be run. All texts are the tokenizer's own test.
func TestTokenizeVocabularies(t *testing.T) {
	path := shared.Path(t, "models", "vocab", "ggml-vocab-gpt-2.gguf")
	inputs, err := os.ReadFile(path + ".inp")
	if err != nil {
		t.Fatal(err)
	}
	outputs, err := os.ReadFile(path + ".out")
	if err != nil {
		t.Fatal(err)
	}
	texts := bytes.Split(inputs, []byte("\n__ggml_vocab_test__\n"))
	for i, line := range strings.Split(string(outputs), "\n")[:len(texts)-1] {
		if i%15 != 0 {
			continue
		}
		want := "[" + strings.Join(strings.Fields(line), ",") + "]\n"
		got := world{stdin: string(texts[i])}.mustCall(t, "tokenize", "-m", path, "--no-bos").stdout
		if got != want {
			t.Errorf("text %d, %q: %s; want %s", i, texts[i], got, want)
		}
	}
}

func TestTemplate(t *testing.T) {
	folder := t.TempDir()
	template := filepath.Join(folder, "chat.jinja")
	source := "{{ bos_token }}{% for m in messages %}[{{ m.role }}] " +
		"{{ m.content }}{{ eos_token }}{% endfor %}" +
		"{% if add_generation_prompt %}>{% endif %} {{ strftime_now('%d.%m.%Y') }}"
	if err := os.WriteFile(template, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	request := filepath.Join(folder, "request.json")
	messages := `"messages":[{"role":"user","content":"<s>Hi"}]`
	if err := os.WriteFile(request, []byte(`{`+messages+`}`), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"template", "--chat-template", template, "--bos", "<s>", "--eos", "</s>",
		"--now", "2026-01-15"}
	const want = "<s>[user] <s>Hi</s>> 15.01.2026"
	if got := mustCall(t, append(args, "-f", request)...).stdout; got != want {
		t.Errorf("template printed %q; want exactly %q", got, want)
	}
	w := world{stdin: `{` + messages + `,"add_generation_prompt":false}`}
	if got := w.mustCall(t, args...).stdout; got != strings.Replace(want, ">>", ">", 1) {
		t.Errorf("without a generation prompt: %q", got)
	}
	var report promptReport
	decode(t, mustCall(t, append(args, "-f", request, "--json")...), &report)
	wantParts := []promptPart{{"<s>[user] ", true}, {"<s>Hi", false}, {"</s>> 15.01.2026", true}}
	if report.Text != want || !reflect.DeepEqual(report.Parts, wantParts) {
		t.Errorf("parts %+v; want %+v", report.Parts, wantParts)
	}
	o := w.mustCall(t, "template")
	if o.stdout != "<|im_start|>user\n<s>Hi<|im_end|>\n" || !strings.Contains(o.stderr,
		"ChatML is used") {
		t.Errorf("embedded model: %q, stderr %q; want ChatML and a note", o.stdout, o.stderr)
	}
}

func TestBadTemplates(t *testing.T) {
	folder := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("good.jinja", "{{ messages[0].content }}")
	for _, c := range []struct{ name, template, request, want string }{
		{"no JSON", good, "hello", `messages: .*wanted is JSON such as`},
		{"no messages", good, "{}", `messages.*is missing`},
		{"empty", good, "", `wanted is JSON`},
		{"bad role", good, `{"messages":[{"content":"x"}]}`, `messages\[0\].*role`},
		{"syntax", write("bad.jinja", "a\n{% for %}"), `{"messages":[]}`, `bad\.jinja.*2`},
		{"raises", write("raise.jinja", "{{ raise_exception('no tools here') }}"), `{"messages":[]}`,
			`no tools here`},
		{"missing", filepath.Join(folder, "none.jinja"), `{"messages":[]}`,
			`chat template: .*none\.jinja`},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantRefusal(t, world{stdin: c.request}.call("template", "--chat-template", c.template), c.want)
		})
	}
	wantRefusal(t, call("template", "-f", filepath.Join(folder, "none.json")),
		`messages: .*none\.json`)
}

// TestTemplateOfAModel renders with a model's own template and tokens.
func TestTemplateOfAModel(t *testing.T) {
	path := shared.Path(t, "models", "SmolLM2-135M-Instruct.Q4_1.gguf")
	w := world{stdin: `{"messages":[{"role":"user","content":"Hello"}]}`}
	const want = "<|im_start|>system\n" +
		"You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n" +
		"<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n"
	if o := w.mustCall(t, "template", "-m", path); o.stdout != want || o.stderr != "" {
		t.Errorf("template printed %q, stderr %q; want %q", o.stdout, o.stderr, want)
	}
}

// goldenCase is one case of golden/logits-exact.json.
type goldenCase struct {
	Prompt     []int32
	ArgmaxEach []int32 `json:"argmax_each"`
	Greedy     []int32
	Last       struct {
		Mean, RMS float64
		Top       [][2]float64
		First16   []float64
	}
}

func TestEvalLogitsIsGolden(t *testing.T) {
	data, err := os.ReadFile(shared.Path(t, "golden", "logits-exact.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string]map[string]goldenCase
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden["stories260K.gguf"]) == 0 {
		t.Fatal("no golden cases of stories260K")
	}
	for name, want := range golden["stories260K.gguf"] {
		ids := strings.Trim(strings.ReplaceAll(fmt.Sprint(want.Prompt), " ", ","), "[]")
		var got struct {
			Top        [][2]float64
			First16    []float64
			Mean, RMS  float64
			ArgmaxEach []int32 `json:"argmax_each"`
			Greedy     []int32
		}
		decode(t, mustCall(t, "eval", "logits", "--kv", "f32", "-n", fmt.Sprint(len(want.Greedy)),
			"--tokens", ids), &got)
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-3*max(1, math.Abs(want)) {
				t.Errorf("%s: %s = %g; want %g", name, what, got, want)
			}
		}
		near("mean", got.Mean, want.Last.Mean)
		near("rms", got.RMS, want.Last.RMS)
		if len(got.Top) != 20 || len(got.First16) != 16 || len(want.Last.Top) != 20 {
			t.Fatalf("%s: %d top, %d first; want 20 and 16", name, len(got.Top), len(got.First16))
		}
		for i, pair := range want.Last.Top {
			near(fmt.Sprintf("top[%d]", i), got.Top[i][1], pair[1])
		}
		for i, v := range want.Last.First16 {
			near(fmt.Sprintf("first16[%d]", i), got.First16[i], v)
		}
		if got.Top[0][0] != want.Last.Top[0][0] || !slices.Equal(got.ArgmaxEach, want.ArgmaxEach) ||
			!slices.Equal(got.Greedy, want.Greedy) {
			t.Errorf("%s: top %v, arg-maxes %v, greedy %v; want %v", name, got.Top[0], got.ArgmaxEach,
				got.Greedy, want)
		}
	}
}

func TestEvalLogitsTakesIDsInAnyList(t *testing.T) {
	want := mustCall(t, "eval", "logits", "--tokens", "1,403,407").stdout
	for _, ids := range []string{"1 403 407", "[1, 403, 407]", "1,\n403,407"} {
		if got := mustCall(t, "eval", "logits", "--json", "--tokens", ids).stdout; got != want {
			t.Errorf("--tokens %q: %s; want %s", ids, got, want)
		}
	}
	if strings.Contains(want, "greedy") {
		t.Errorf("without -n: %s; want no greedy ids", want)
	}
	w := world{stdin: ""}
	wantRefusal(t, w.call("eval", "logits", "--tokens", "1,2,3", "-c", "2"), `3 tokens.*context`)
}
