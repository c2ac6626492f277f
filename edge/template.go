package edge

// Chat templates: the model's own, one of a file, or a built-in one.

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"edgeinfer/edge/chat"
)

// maxTemplateBytes bounds a template file; the longest in use have 25 KB.
const maxTemplateBytes = 1 << 20

// ChatTemplate returns the template that Options.ChatTemplate names, else the
// one that the model file carries, else the built-in ChatML. Its Name says
// which: "model", "built-in chatml" or the path.
func (s *Source) ChatTemplate() (*chat.Template, error) {
	o := chat.Options{BOS: s.piece(s.vocab.BOS), EOS: s.piece(s.vocab.EOS)}
	if s.options.ChatTemplate != "" {
		return OpenChatTemplate(s.options.ChatTemplate, o)
	}
	text, ok, err := s.file.String("tokenizer.chat_template")
	if err != nil {
		return nil, inputError{err}
	}
	if !ok || text == "" {
		return chat.Builtin("chatml")
	}
	t, err := chat.New(text, o)
	if err != nil {
		return nil, inputError{err}
	}
	return t, nil
}

// OpenChatTemplate reads the template in the file at path, or returns the
// built-in one of that name where there is no such file.
func OpenChatTemplate(path string, o chat.Options) (*chat.Template, error) {
	f, err := os.Open(path)
	if err != nil {
		if t, unknown := chat.Builtin(path); unknown == nil && errors.Is(err, fs.ErrNotExist) {
			return t, nil
		}
		return nil, inputError{fmt.Errorf("chat template: %w; give a file, or chatml", err)}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxTemplateBytes+1))
	switch {
	case err != nil:
		return nil, inputError{fmt.Errorf("chat template: %w", err)}
	case len(data) > maxTemplateBytes:
		return nil, inputError{fmt.Errorf("chat template: %s: more than %d bytes, the limit; shorten it",
			path, maxTemplateBytes)}
	}
	o.Name = path
	t, err := chat.New(string(data), o)
	if err != nil {
		return nil, inputError{err}
	}
	return t, nil
}

// piece is the text of a token, "" where there is none.
func (s *Source) piece(id int64) string {
	if id < 0 || id >= int64(len(s.vocab.Tokens)) {
		return ""
	}
	return s.vocab.Tokens[id]
}

// ChatTemplate returns the template of the engine's model, see
// Source.ChatTemplate.
func (e *Engine) ChatTemplate() (*chat.Template, error) { return e.source.ChatTemplate() }
