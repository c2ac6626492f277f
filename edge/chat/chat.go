// Package chat turns a conversation into the prompt that a model was trained
// to continue: messages and tools in, text out, by the model's own template.
//
// It keeps apart what the template wrote and what came in from outside, so that
// a user's text is never taken for the control tokens that frame it. It knows
// nothing of tokens themselves: that is the tokenizer's room.
package chat

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"edgeinfer/edge/chat/internal/jinja"
)

// Limits bound one rendering; a template that needs more is an error.
//
//	OutputBytes  the longest string, the prompt included
//	WorkBytes    all strings and lists made along the way, together
//	Steps        expressions and loop rounds; long strings count for more
//	Time         by the wall clock
type Limits = jinja.Limits

// DefaultLimits hold for any prompt a small board can take (a million tokens
// of English are about 4 MB) and end a runaway template in well under a second.
var DefaultLimits = Limits{
	OutputBytes: 8 << 20,
	WorkBytes:   64 << 20,
	Steps:       1 << 20,
	Time:        time.Second,
}

// Options are the facts a template is rendered with. The zero value works.
type Options struct {
	Name     string           // what messages call the template; "" means "model"
	BOS, EOS string           // the texts of the model's tokens, as bos_token and eos_token
	Now      func() time.Time // the clock of strftime_now; nil means time.Now
	Limits   Limits           // zero fields mean DefaultLimits
}

// Template is a chat template, ready to be rendered any number of times and
// by several goroutines at once.
type Template struct {
	options Options
	program *jinja.Template
}

// Prompt is a rendered conversation.
type Prompt struct {
	Text  string // all parts joined
	Parts []Part // not empty, and no two neighbours are alike
}

// Part is a piece of a prompt. In a Special one, which the template wrote,
// control tokens are meant as such; in any other they are somebody's text.
// Ordinary tokens may reach across the border of two parts.
type Part struct {
	Text    string
	Special bool
}

// TemplateError is a conversation that a template does not render.
type TemplateError struct {
	Template string // the name of the template
	Message  string // with Raised the template's own words, else where and why it failed
	Raised   bool   // the template refused, by raise_exception
}

func (e *TemplateError) Error() string {
	return fmt.Sprintf("chat: template %s: %s", e.Template, e.Message)
}

// New reads a template in the Jinja language, as models carry it. The error, if
// any, names the line.
func New(source string, o Options) (t *Template, err error) {
	if o.Name == "" {
		o.Name = "model"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Limits = withDefaults(o.Limits)
	defer recoverBug(o.Name, &err)
	program, err := jinja.Parse(source)
	if err != nil {
		return nil, templateError(o.Name, err)
	}
	return &Template{options: o, program: program}, nil
}

func withDefaults(l Limits) Limits {
	if l.OutputBytes <= 0 {
		l.OutputBytes = DefaultLimits.OutputBytes
	}
	if l.WorkBytes <= 0 {
		l.WorkBytes = DefaultLimits.WorkBytes
	}
	if l.Steps <= 0 {
		l.Steps = DefaultLimits.Steps
	}
	if l.Time <= 0 {
		l.Time = DefaultLimits.Time
	}
	return l
}

// chatML is the format that most small models were tuned with. Unlike their own
// templates it has no system prompt to add, and no form for tools: it says so
// rather than leave them out.
const chatML = `
{%- if tools %}
    {{- raise_exception("the built-in chatml template has no form for tools") }}
{%- endif %}
{%- for message in messages %}
    {%- if message.tool_calls %}
        {{- raise_exception("the built-in chatml template has no form for tool calls") }}
    {%- endif %}
    {{- "<|im_start|>" + message.role + "\n" + message.content + "<|im_end|>\n" }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- "<|im_start|>assistant\n" }}
{%- endif %}`

// Builtin returns the template that stands in where a model has none. There is
// one, "chatml"; its Name says that it is built in.
func Builtin(name string) (*Template, error) {
	if name != "chatml" {
		return nil, fmt.Errorf("chat: no built-in template %q; there is chatml", name)
	}
	return New(chatML, Options{Name: "built-in chatml"})
}

// Name says which template this is: "built-in chatml", or what Options.Name
// said, "model" by default.
func (t *Template) Name() string { return t.options.Name }

// Render makes the prompt of a conversation. Errors are *TemplateError for what
// the template does and *InputError for what the request holds.
func (t *Template) Render(r Request) (p Prompt, err error) {
	defer recoverBug(t.options.Name, &err)
	vars, err := r.variables()
	if err != nil {
		return Prompt{}, err
	}
	vars["bos_token"] = jinja.Own(t.options.BOS)
	vars["eos_token"] = jinja.Own(t.options.EOS)
	out, err := t.program.Render(vars, t.options.Now, t.options.Limits)
	if err != nil {
		return Prompt{}, templateError(t.options.Name, err)
	}
	p.Text = out.String()
	for text, foreign := range out.Runs() {
		p.Parts = append(p.Parts, Part{Text: text, Special: !foreign})
	}
	return p, nil
}

func templateError(name string, err error) error {
	var raised *jinja.Raised
	return &TemplateError{Template: name, Message: err.Error(), Raised: errors.As(err, &raised)}
}

// recoverBug keeps a fault of the template language from ending the process:
// templates are strangers' programs, and no list of tests has seen them all.
func recoverBug(name string, err *error) {
	r := recover()
	if r == nil {
		return
	}
	if _, ok := r.(runtime.Error); !ok {
		panic(r)
	}
	*err = &TemplateError{Template: name, Message: fmt.Sprintf("BUG: %v", r)}
}
