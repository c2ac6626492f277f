package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"edgeinfer/edge/chat/internal/jinja"
)

// A request as Go sees it, and as a template sees it. Members of the JSON that
// are not known here are kept, and so is the order of all: a template may print
// any of it.

// Request is a conversation to render.
type Request struct {
	Messages Messages
	// Tools is the JSON array of tool definitions. Empty, null and [] all mean
	// that there are none; the template then sees no such variable.
	Tools json.RawMessage
	// OmitGenerationPrompt leaves out the opening of the answer.
	OmitGenerationPrompt bool
	// Variables are further ones of the template, as JSON: enable_thinking,
	// date_string, documents and whatever else it may ask for.
	Variables map[string]json.RawMessage
}

// Messages is a conversation. Its errors say which message they are about.
type Messages []Message

// Message is one turn of a conversation. Decoded from JSON it also carries the
// members that are not listed here (reasoning_content and the like).
type Message struct {
	Role    string
	Content string // content parts are joined
	// NoContent says that the content was null or missing. Templates see that,
	// and an empty text where they use it nevertheless.
	NoContent  bool
	Name       string
	ToolCalls  []ToolCall
	ToolCallID string

	source *jinja.Dict // what was decoded; nil if nothing
}

// ToolCall is a call that the assistant made.
type ToolCall struct {
	ID       string
	Type     string // "function"
	Function Function

	source *jinja.Dict
}

// Function is the function of a tool call.
type Function struct {
	Name string
	// Arguments is JSON text, as the model wrote it. Templates see the object
	// it holds, or this text where it holds none.
	Arguments string

	source *jinja.Dict
	object bool // the arguments came as an object, not as text
}

// InputError is a request that is not what it should be.
type InputError struct {
	Param   string // the place, as in messages[2].content[0]
	Message string
}

func (e *InputError) Error() string {
	if e.Param == "" {
		return "chat: " + e.Message
	}
	return "chat: " + e.Param + ": " + e.Message
}

func inputError(param, format string, args ...any) *InputError {
	return &InputError{Param: param, Message: fmt.Sprintf(format, args...)}
}

// within puts the error under a member or element.
func (e *InputError) within(place string) *InputError {
	switch {
	case e.Param == "":
		e.Param = place
	case strings.HasPrefix(e.Param, "["):
		e.Param = place + e.Param
	default:
		e.Param = place + "." + e.Param
	}
	return e
}

// reserved are the variables that a request cannot set: they are the model's,
// or the language's.
var reserved = []string{
	"bos_token", "eos_token", "raise_exception", "strftime_now",
	"namespace", "range", "dict", "cycler", "joiner", "loop",
}

// roles are the names that a template may build control tokens from, as in
// '<|' + message.role + '|>'. They are the only strings of a request that count
// as the template's own: they are these words and no others.
var roles = []string{"system", "developer", "user", "assistant", "tool", "function", "ipython"}

// variables are what a template sees of the request.
func (r *Request) variables() (map[string]jinja.Value, error) {
	vars := map[string]jinja.Value{}
	for key, data := range r.Variables {
		if slices.Contains(reserved, key) {
			return nil, inputError(key, "is the model's, a request cannot set it")
		}
		v, err := jinja.DecodeJSON(data)
		if err != nil {
			return nil, inputError(key, "%v", err)
		}
		vars[key] = v
	}
	tools, err := r.tools()
	if err != nil {
		return nil, err
	}
	if tools != nil {
		vars["tools"] = tools
	}
	messages := make([]jinja.Value, len(r.Messages))
	for i := range r.Messages {
		messages[i] = r.Messages[i].value()
	}
	vars["messages"] = jinja.NewList(messages...)
	vars["add_generation_prompt"] = !r.OmitGenerationPrompt
	return vars, nil
}

// tools is the list of tools, nil where there are none.
func (r *Request) tools() (jinja.Value, error) {
	if kindOf(r.Tools) == "missing" {
		return nil, nil
	}
	v, err := jinja.DecodeJSON(r.Tools)
	if err != nil {
		return nil, inputError("tools", "%v", err)
	}
	switch v := v.(type) {
	case jinja.None:
		return nil, nil
	case *jinja.List:
		if len(v.Items()) == 0 {
			return nil, nil
		}
		return v, nil
	}
	return nil, inputError("tools", "must be an array, not %s", kindOf(r.Tools))
}

func (m *Message) value() jinja.Value {
	role := jinja.Foreign(m.Role)
	if slices.Contains(roles, m.Role) {
		role = jinja.Own(m.Role)
	}
	var content jinja.Value = jinja.Foreign(m.Content)
	if m.NoContent {
		content = jinja.None{Soft: true}
	}
	var calls jinja.Value
	if len(m.ToolCalls) > 0 {
		values := make([]jinja.Value, len(m.ToolCalls))
		for i := range m.ToolCalls {
			values[i] = m.ToolCalls[i].value()
		}
		calls = jinja.NewList(values...)
	}
	return overlay(m.source, []field{
		{"role", role},
		{"content", content},
		{"name", optional(m.Name)},
		{"tool_calls", calls},
		{"tool_call_id", optional(m.ToolCallID)},
	})
}

func (c *ToolCall) value() jinja.Value {
	return overlay(c.source, []field{
		{"id", optional(c.ID)},
		{"type", optional(c.Type)},
		{"function", overlay(c.Function.source, []field{
			{"name", jinja.Foreign(c.Function.Name)},
			{"arguments", c.Function.arguments()},
		})},
	})
}

// arguments are what the text of the arguments holds. Should a template take
// them for a string, an object that came as text is that text again.
func (f *Function) arguments() jinja.Value {
	if strings.TrimSpace(f.Arguments) == "" {
		return jinja.NewDict()
	}
	v, err := jinja.DecodeJSON([]byte(f.Arguments))
	if f.object && err == nil {
		return v
	}
	if d, ok := v.(*jinja.Dict); ok && err == nil {
		return d.WithSource(jinja.Foreign(f.Arguments))
	}
	return jinja.Foreign(f.Arguments)
}

// field is a member of an object; a nil value means that it is not there.
type field struct {
	key   string
	value jinja.Value
}

func optional(s string) jinja.Value {
	if s == "" {
		return nil
	}
	return jinja.Foreign(s)
}

// overlay is the object that was decoded, in its order, with the known fields
// as they are now. What was not decoded comes after.
func overlay(source *jinja.Dict, known []field) *jinja.Dict {
	out := jinja.NewDict()
	if source != nil {
		for key, v := range source.All() {
			i := slices.IndexFunc(known, func(f field) bool { return f.key == key.String() })
			if i >= 0 {
				v = known[i].value
			}
			if v != nil {
				out.Set(key, v)
			}
		}
	}
	for _, f := range known {
		if f.value != nil {
			out.Set(jinja.Own(f.key), f.value)
		}
	}
	return out
}
