package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"edgeinfer/edge/chat/internal/jinja"
)

// The request, read from OpenAI's JSON. Member names are matched to the letter,
// errors name the place.

// members are those of a JSON object.
type members map[string]json.RawMessage

func object(data []byte) (members, *InputError) {
	var m members
	if err := json.Unmarshal(data, &m); err != nil || m == nil {
		return nil, inputError("", "must be an object, not %s", kindOf(data))
	}
	return m, nil
}

// array is the elements of a JSON array; missing and null have none.
func array(data []byte) ([]json.RawMessage, *InputError) {
	var elements []json.RawMessage
	if kindOf(data) == "missing" {
		return nil, nil
	}
	if err := json.Unmarshal(data, &elements); err != nil {
		return nil, inputError("", "must be an array, not %s", kindOf(data))
	}
	return elements, nil
}

// text reads a string member; missing and null leave it empty.
func (m members) text(key string, to *string) *InputError {
	switch kindOf(m[key]) {
	case "missing", "null":
		return nil
	case "a string":
		if json.Unmarshal(m[key], to) == nil {
			return nil
		}
	}
	return inputError(key, "must be a string, not %s", kindOf(m[key]))
}

// kindOf names the type of a JSON value.
func kindOf(data []byte) string {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return "missing"
	}
	switch data[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// source is the object with the order of its members and with those that are
// not known here.
func source(data []byte) (*jinja.Dict, *InputError) {
	v, err := jinja.DecodeJSON(data)
	if err != nil {
		return nil, inputError("", "%v", err)
	}
	return v.(*jinja.Dict), nil
}

// UnmarshalJSON reads an object with the members messages, tools and
// add_generation_prompt (true where missing or null); every other member is a
// variable.
func (r *Request) UnmarshalJSON(data []byte) error {
	m, err := object(data)
	if err != nil {
		return err
	}
	if m["messages"] == nil {
		return inputError("messages", "is missing")
	}
	out := Request{Tools: m["tools"], Variables: m}
	if err := out.Messages.decode(m["messages"]); err != nil {
		return err
	}
	if value, ok := m["add_generation_prompt"]; ok {
		add := true
		if json.Unmarshal(value, &add) != nil {
			return inputError("add_generation_prompt", "must be true or false, not %s",
				kindOf(value))
		}
		out.OmitGenerationPrompt = !add
	}
	for _, known := range []string{"messages", "tools", "add_generation_prompt"} {
		delete(m, known)
	}
	*r = out
	return nil
}

// UnmarshalJSON reads an array of messages.
func (m *Messages) UnmarshalJSON(data []byte) error {
	if err := m.decode(data); err != nil {
		return err
	}
	return nil
}

func (m *Messages) decode(data []byte) *InputError {
	elements, err := array(data)
	if err == nil && elements == nil {
		err = inputError("", "must be an array, not %s", kindOf(data))
	}
	if err != nil {
		return err.within("messages")
	}
	*m = make(Messages, len(elements))
	for i, e := range elements {
		if err := (*m)[i].decode(e); err != nil {
			return err.within(fmt.Sprintf("messages[%d]", i))
		}
	}
	return nil
}

// UnmarshalJSON reads one message. The content may be a string, an array of
// text parts, null or missing.
func (m *Message) UnmarshalJSON(data []byte) error {
	if err := m.decode(data); err != nil {
		return err
	}
	return nil
}

func (m *Message) decode(data []byte) *InputError {
	raw, err := object(data)
	if err != nil {
		return err
	}
	*m = Message{}
	if m.source, err = source(data); err != nil {
		return err
	}
	if err := raw.text("role", &m.Role); err != nil {
		return err
	}
	if m.Role == "" {
		return inputError("role", "is missing")
	}
	if err := raw.text("name", &m.Name); err != nil {
		return err
	}
	if err := raw.text("tool_call_id", &m.ToolCallID); err != nil {
		return err
	}
	if err := m.decodeContent(raw["content"]); err != nil {
		return err.within("content")
	}
	calls, err := array(raw["tool_calls"])
	if err != nil {
		return err.within("tool_calls")
	}
	m.ToolCalls = make([]ToolCall, len(calls))
	for i, call := range calls {
		if err := m.ToolCalls[i].decode(call); err != nil {
			return err.within(fmt.Sprintf("tool_calls[%d]", i))
		}
	}
	return nil
}

func (m *Message) decodeContent(data json.RawMessage) *InputError {
	switch kindOf(data) {
	case "missing", "null":
		m.NoContent = true
		return nil
	case "a string":
		return members{"": data}.text("", &m.Content)
	case "an array":
	default:
		return inputError("", "must be a string, an array of parts or null, not %s", kindOf(data))
	}
	parts, err := array(data)
	if err != nil {
		return err
	}
	var joined strings.Builder
	for i, data := range parts {
		text, err := partText(data)
		if err != nil {
			return err.within(fmt.Sprintf("[%d]", i))
		}
		joined.WriteString(text)
	}
	m.Content = joined.String()
	return nil
}

// partText is the text of a content part. No other type is passed over in
// silence: what a model cannot read must not seem to have been read.
func partText(data []byte) (string, *InputError) {
	part, err := object(data)
	if err != nil {
		return "", err
	}
	var kind, text string
	if err := part.text("type", &kind); err != nil {
		return "", err
	}
	if kind != "text" {
		return "", inputError("", "parts of type %q are not supported, only \"text\"", kind)
	}
	if err := part.text("text", &text); err != nil {
		return "", err
	}
	return text, nil
}

func (c *ToolCall) decode(data []byte) *InputError {
	raw, err := object(data)
	if err != nil {
		return err
	}
	*c = ToolCall{}
	if c.source, err = source(data); err != nil {
		return err
	}
	if err := raw.text("id", &c.ID); err != nil {
		return err
	}
	if err := raw.text("type", &c.Type); err != nil {
		return err
	}
	if raw["function"] == nil {
		return inputError("function", "is missing")
	}
	if err := c.Function.decode(raw["function"]); err != nil {
		return err.within("function")
	}
	return nil
}

func (f *Function) decode(data []byte) *InputError {
	raw, err := object(data)
	if err != nil {
		return err
	}
	*f = Function{}
	if f.source, err = source(data); err != nil {
		return err
	}
	if err := raw.text("name", &f.Name); err != nil {
		return err
	}
	switch kindOf(raw["arguments"]) {
	case "missing", "null":
		return nil
	case "a string":
		return raw.text("arguments", &f.Arguments)
	}
	f.Arguments, f.object = string(raw["arguments"]), true
	return nil
}
