package main

// template: messages to the prompt that a model's own template makes of them.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"edgeinfer/edge"
	"edgeinfer/edge/chat"
	"edgeinfer/edge/gguf"

	"github.com/spf13/cobra"
)

// templateVerb is one call of template.
type templateVerb struct {
	*program
	*settings
	requestFile string
	bos, eos    string
	now         time.Time
}

func (p *program) templateCommand() *cobra.Command {
	t := &templateVerb{program: p, settings: newSettings()}
	c := &cobra.Command{
		Use:   "template [flags]",
		Short: "Render chat messages to a prompt",
		Long: `template renders messages by the chat template of a model, or of a file, and prints
exactly the prompt. The messages are JSON as in OpenAI's API: an object with messages, and where
wanted tools and add_generation_prompt (true if left out); every other member is a variable of
the template. With --json the prompt comes with its parts: special ones, which the template
wrote, and texts of others.`,
		Example: `  echo '{"messages":[{"role":"user","content":"Hello"}]}' | edgeinfer template -m m.gguf
  edgeinfer template --chat-template llama3.jinja -f request.json --bos "<s>" --now 2026-01-15`,
		Args: noArguments("give the messages with -f FILE or on standard input"),
	}
	g := newGroup("Template")
	t.chatTemplateFlag(g)
	g.add("file", "f", "FILE", "standard input",
		"read the messages from this file",
		text(&t.requestFile))
	g.add("bos", "", "TEXT", "", "the template's bos_token, if not the model's", text(&t.bos))
	g.add("eos", "", "TEXT", "", "the template's eos_token, if not the model's", text(&t.eos))
	g.add("now", "", "DATE", "",
		"what templates take for the present, as in 2026-01-15 or 2026-01-15T12:00:00Z",
		t.setNow)
	return p.verb(c, t.settings, func(c *cobra.Command, _ []string) error {
		if t.chatTemplate != "" && t.origins["model"] == t.origins["chat-template"] {
			return usageError{c, errors.New("--model and --chat-template are both set; give one of them")}
		}
		return t.run()
	}, g, t.modelFile())
}

func (t *templateVerb) setNow(text string) (err error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t.now, err = time.Parse(layout, text); err == nil {
			return nil
		}
	}
	return errors.New("is no date; write it as 2026-01-15 or 2026-01-15T12:00:00Z")
}

func (t *templateVerb) run() error {
	request, err := t.readRequest()
	if err != nil {
		return inputError{err}
	}
	template, err := t.readTemplate()
	if err != nil {
		return inputError{err}
	}
	prompt, err := template.Render(request)
	if err != nil {
		return inputError{err}
	}
	if t.json {
		return writeJSON(t.stdout, describePrompt(prompt))
	}
	_, err = io.WriteString(t.stdout, prompt.Text)
	return err
}

// readRequest reads the messages.
func (t *templateVerb) readRequest() (request chat.Request, err error) {
	var data []byte
	if t.requestFile == "" || t.requestFile == "-" {
		data, err = readAll(t.stdin, "standard input", maxPromptBytes)
	} else {
		data, err = readFile(t.requestFile, maxPromptBytes)
	}
	if err != nil {
		return request, fmt.Errorf("messages: %w", err)
	}
	if err := json.Unmarshal(data, &request); err != nil {
		return request, fmt.Errorf(`messages: %w; wanted is JSON such as `+
			`{"messages":[{"role":"user","content":"Hello"}]}`, err)
	}
	return request, nil
}

// readTemplate reads the template of the file or the model.
func (t *templateVerb) readTemplate() (*chat.Template, error) {
	o := chat.Options{BOS: t.bos, EOS: t.eos}
	if !t.now.IsZero() {
		o.Now = func() time.Time { return t.now }
	}
	if t.chatTemplate != "" {
		return edge.OpenChatTemplate(t.chatTemplate, o)
	}
	if t.model == "" {
		t.note("%s brings no chat template; ChatML is used", edge.EmbeddedName)
		return chat.Builtin("chatml")
	}
	f, err := edge.OpenFile(t.model, t.overrides)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return t.templateOf(f, o)
}

// templateOf is the template of a model file, with the model's own tokens
// where none are given.
func (t *templateVerb) templateOf(f *gguf.File, o chat.Options) (*chat.Template, error) {
	source, ok, err := f.String("tokenizer.chat_template")
	if err != nil {
		return nil, err
	}
	if !ok {
		t.note("%s brings no chat template; ChatML is used", f.Name())
		return chat.Builtin("chatml")
	}
	if o.BOS, err = t.tokenText(f, "bos", o.BOS); err != nil {
		return nil, err
	}
	if o.EOS, err = t.tokenText(f, "eos", o.EOS); err != nil {
		return nil, err
	}
	o.Name = f.Name()
	return chat.New(strings.Clone(source), o)
}

// tokenText is the text of the model's bos or eos token; given wins.
func (t *templateVerb) tokenText(f *gguf.File, name, given string) (string, error) {
	if t.origins[name] != builtIn {
		return given, nil
	}
	id, ok, err := f.TokenID("tokenizer.ggml." + name + "_token_id")
	if err != nil || !ok {
		return "", err
	}
	tokens, _, err := f.Strings("tokenizer.ggml.tokens")
	if err != nil {
		return "", err
	}
	return strings.Clone(tokens[id]), nil
}

// promptReport is template's JSON document.
type promptReport struct {
	Text  string       `json:"text"`
	Parts []promptPart `json:"parts"`
}

type promptPart struct {
	Text    string `json:"text"`
	Special bool   `json:"special"`
}

func describePrompt(p chat.Prompt) promptReport {
	report := promptReport{Text: p.Text, Parts: []promptPart{}}
	for _, part := range p.Parts {
		report.Parts = append(report.Parts, promptPart{part.Text, part.Special})
	}
	return report
}
