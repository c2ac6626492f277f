package chat

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// Row A15: the forms that the content of a message comes in.
func TestContentForms(t *testing.T) {
	for _, c := range []struct {
		members string // besides the role
		want    Message
	}{
		{`"content":"x"`, Message{Content: "x"}},
		{`"content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]`,
			Message{Content: "xy"}},
		{`"content":[]`, Message{}},
		{`"content":""`, Message{}},
		{`"content":null`, Message{NoContent: true}},
		{`"x":1`, Message{NoContent: true}},
		{`"content":"x","name":"N"`, Message{Content: "x", Name: "N"}},
		{`"content":"x","tool_call_id":"c"`, Message{Content: "x", ToolCallID: "c"}},
		{`"content":"x","name":null,"tool_calls":null`, Message{Content: "x"}},
		{`"content":"x","Content":"y"`, Message{Content: "x"}},
	} {
		var got Message
		if err := json.Unmarshal([]byte(`{"role":"r",`+c.members+`}`), &got); err != nil {
			t.Errorf("%s: %v", c.members, err)
			continue
		}
		if got.Role != "r" || got.Content != c.want.Content || got.NoContent != c.want.NoContent ||
			got.Name != c.want.Name || got.ToolCallID != c.want.ToolCallID ||
			len(got.ToolCalls) != 0 {
			t.Errorf("%s = %+v, want %+v", c.members, got, c.want)
		}
	}
}

// mustComplain reads a request, renders it if it can be read, and looks for
// the error.
func mustComplain(t *testing.T, data, want string) {
	t.Helper()
	tmpl, err := Builtin("chatml")
	if err != nil {
		t.Fatal(err)
	}
	var r Request
	if err = json.Unmarshal([]byte(data), &r); err == nil {
		_, err = tmpl.Render(r)
	}
	var wrong *InputError
	if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), "chat: "+want) {
		t.Errorf("%.120s: got %v, want %q", data, err, want)
	}
}

func TestBadMessages(t *testing.T) {
	for _, c := range []struct{ message, want string }{
		{`{"role":"u","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{}}]}`,
			`.content[1]: parts of type "image_url" are not supported, only "text"`},
		{`{"role":"u","content":[{"text":"x"}]}`, `.content[0]: parts of type ""`},
		{`{"role":"u","content":["x"]}`, ".content[0]: must be an object, not a string"},
		{`{"role":"u","content":[{"type":"text","text":5}]}`,
			".content[0].text: must be a string, not a number"},
		{`{"role":"u","content":5}`,
			".content: must be a string, an array of parts or null, not a number"},
		{`{"role":"u","content":{}}`, ".content: must be a string, an array"},
		{`{"content":"x"}`, ".role: is missing"},
		{`{"role":null}`, ".role: is missing"},
		{`{"role":7}`, ".role: must be a string, not a number"},
		{`{"role":"u","name":[]}`, ".name: must be a string, not an array"},
		{`"x"`, ": must be an object, not a string"},
		{`null`, ": must be an object, not null"},
		{`{"role":"a","tool_calls":{}}`, ".tool_calls: must be an array, not an object"},
		{`{"role":"a","tool_calls":[5]}`, ".tool_calls[0]: must be an object, not a number"},
		{`{"role":"a","tool_calls":[{}]}`, ".tool_calls[0].function: is missing"},
		{`{"role":"a","tool_calls":[{"function":[]}]}`,
			".tool_calls[0].function: must be an object, not an array"},
		{`{"role":"a","tool_calls":[{"id":1}]}`,
			".tool_calls[0].id: must be a string, not a number"},
		{`{"role":"u","x":` + deep(300) + `}`, ": JSON nested deeper than 200"},
	} {
		mustComplain(t, `{"messages":[{"role":"user","content":"a"},`+c.message+`]}`,
			"messages[1]"+c.want)
	}
}

func TestBadRequests(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{`{"messages":{}}`, "messages: must be an array, not an object"},
		{`{"messages":null}`, "messages: must be an array, not null"},
		{`{}`, "messages: is missing"},
		{`[]`, "must be an object, not an array"},
		{`{"messages":[],"add_generation_prompt":"yes"}`,
			"add_generation_prompt: must be true or false, not a string"},
		{`{"messages":[],"tools":{}}`, "tools: must be an array, not an object"},
		{`{"messages":[],"x":` + deep(300) + `}`, "x: JSON nested deeper than 200"},
	} {
		mustComplain(t, c.data, c.want)
	}
}

func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// rendering is what a template makes of one message.
func rendering(t *testing.T, source, message string) string {
	t.Helper()
	tmpl, err := New(source, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := tmpl.Render(decode(t, []byte(`{"messages":[`+message+`]}`)))
	if err != nil {
		return "error: " + err.Error()
	}
	return p.Text
}

// A null content answers tests like None and is empty wherever it is used.
func TestNullContentInTemplates(t *testing.T) {
	for source, want := range map[string]string{
		"{{ m.content }}|":                                  "|",
		"{{ '<' + m.content + '>' }}":                       "<>",
		"{{ m.content ~ 'x' }}":                             "x",
		"{{ m.content | trim }}|":                           "|",
		"{{ m.content is none }}{{ m.content is string }}":  "TrueFalse",
		"{{ m.content == none }}{{ m.content is defined }}": "TrueTrue",
		"{{ '</think>' in m.content }}":                     "False",
		"{{ m.content.split('x') }}":                        "['']",
		"{{ m.content.strip() }}|{{ m.content[1:] }}":       "|",
		"{{ m.content.startswith('x') }}":                   "False",
		"{% for c in m.content %}x{% endfor %}|":            "|",
		"{{ m.content | length }}":                          "0",
		"{{ m.content if m.content }}|":                     "|",
		"{{ m.content | tojson }}":                          "null",
		"{{ m.content | default('x', true) }}":              "x",
	} {
		source = "{% set m = messages[0] %}" + source
		for _, message := range []string{`{"role":"user","content":null}`, `{"role":"user"}`} {
			if got := rendering(t, source, message); got != want {
				t.Errorf("%s of %s = %q, want %q", source, message, got, want)
			}
		}
	}
}

const toolCall = `{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"c1",` +
	`"type":"function","function":{"arguments":%ARGS%,"name":"f"}}],"refusal":null}`

// Arguments are an object for templates that want one and their own text for
// those that want a string.
func TestToolArguments(t *testing.T) {
	const object = `{"z": 1, "a":[true, "é"]}`
	quoted, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ source, args, want string }{
		{"{{ a | tojson }}", string(quoted), `{"z": 1, "a": [true, "é"]}`},
		{"{{ a | tojson }}", object, `{"z": 1, "a": [true, "é"]}`},
		{"{{ a.z }}{{ a is mapping }}{{ a is string }}", string(quoted), "1TrueFalse"},
		{"{{ '<' + a + '>' }}", string(quoted), "<" + object + ">"},
		{"{{ a }}", string(quoted), object},
		{"{{ a }}", object, "{'z': 1, 'a': [True, 'é']}"},
		{"{{ a | items | list | length }}", string(quoted), "2"},
		{"{{ a }}{{ a is string }}", `"not JSON"`, "not JSONTrue"},
		{"{{ a | tojson }}", `""`, "{}"},
		{"{{ a | tojson }}", "null", "{}"},
	} {
		source := "{% set a = messages[0].tool_calls[0].function.arguments %}" + c.source
		message := strings.Replace(toolCall, "%ARGS%", c.args, 1)
		if got := rendering(t, source, message); got != c.want {
			t.Errorf("%s of %s = %q, want %q", c.source, c.args, got, c.want)
		}
	}
}

// What a message holds reaches the template in its order, and null or empty
// lists of calls do not pretend that there are some.
func TestMembersKeepTheirOrder(t *testing.T) {
	const keys = "{% for k in messages[0] %}{{ k }} {% endfor %}"
	for message, want := range map[string]string{
		`{"content":"c","reasoning_content":"r","role":"user","b":1,"a":2}`: "" +
			"content reasoning_content role b a ",
		`{"role":"user","tool_calls":[],"name":null,"content":"c"}`: "role content ",
		`{"role":"user"}`: "role content ",
		strings.Replace(toolCall, "%ARGS%", "{}", 1): "role content tool_calls refusal ",
	} {
		if got := rendering(t, keys, message); got != want {
			t.Errorf("keys of %s = %q, want %q", message, got, want)
		}
	}
	got := rendering(t, "{{ messages[0].tool_calls | tojson }}",
		strings.Replace(toolCall, "%ARGS%", "{}", 1))
	want := `[{"index": 0, "id": "c1", "type": "function", ` +
		`"function": {"arguments": {}, "name": "f"}}]`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Messages made in Go look like decoded ones; decoded ones can be changed.
func TestMessagesFromGo(t *testing.T) {
	tmpl, err := New("{{ messages | tojson }}", Options{})
	if err != nil {
		t.Fatal(err)
	}
	call := ToolCall{ID: "c", Type: "function", Function: Function{Name: "f", Arguments: `{"x":1}`}}
	p, err := tmpl.Render(Request{Messages: Messages{
		{Role: "assistant", NoContent: true, ToolCalls: []ToolCall{call}},
		{Role: "tool", Content: "r", ToolCallID: "c", Name: "f"},
	}})
	want := `[{"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", ` +
		`"function": {"name": "f", "arguments": {"x": 1}}}]}, ` +
		`{"role": "tool", "content": "r", "name": "f", "tool_call_id": "c"}]`
	if err != nil || p.Text != want {
		t.Errorf("got %s, %v, want %s", p.Text, err, want)
	}
	r := decode(t, []byte(`{"messages":[{"content":"old","x":1,"role":"user"}]}`))
	r.Messages[0].Content = "new"
	p, err = tmpl.Render(r)
	if want := `[{"content": "new", "x": 1, "role": "user"}]`; err != nil || p.Text != want {
		t.Errorf("got %s, %v, want %s", p.Text, err, want)
	}
}

// An assistant's tool calls with a null content are rendered by the templates
// that ask whether the content is none.
func TestNullContentKeepsToolCalls(t *testing.T) {
	g := readGolden(t)
	request := []byte(`{"messages":[{"role":"user","content":"q"},` +
		strings.Replace(toolCall, "%ARGS%", `"{\"city\":\"Paris\"}"`, 1) + `]}`)
	rendered := 0
	for name, tmpl := range g.templates {
		p, err := tmpl.Render(decode(t, request))
		var refusal *TemplateError
		if errors.As(err, &refusal) && refusal.Raised {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(p.Text, "None") {
			t.Errorf("%s: None in %q", name, p.Text)
		}
		if strings.Contains(p.Text, "Paris") {
			rendered++
		}
	}
	if rendered < 8 {
		t.Errorf("%d templates rendered the call, want at least 8", rendered)
	}
}
