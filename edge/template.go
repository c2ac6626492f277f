package edge

// The model's chat template, with the texts of the model's own tokens.

import "edgeinfer/edge/chat"

// ChatTemplate returns the template that the model file carries, or the
// built-in ChatML where it carries none; its Name says which.
func (s *Source) ChatTemplate() (*chat.Template, error) {
	text, ok, err := s.file.String("tokenizer.chat_template")
	if err != nil {
		return nil, inputError{err}
	}
	if !ok || text == "" {
		return chat.Builtin("chatml")
	}
	t, err := chat.New(text, chat.Options{BOS: s.piece(s.vocab.BOS), EOS: s.piece(s.vocab.EOS)})
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
