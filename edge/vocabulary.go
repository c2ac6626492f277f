package edge

// The way from a file's tokenizer.* keys to a tokenizer.

import (
	"errors"
	"fmt"

	"edgeinfer/edge/gguf"
	"edgeinfer/edge/tokenizer"
)

// OpenVocabulary returns the tokenizer of a model or vocabulary-only file of
// any architecture; "" is the embedded model. For overrides see Options.
func OpenVocabulary(path string, overrides ...string) (*tokenizer.Tokenizer, error) {
	f, err := OpenFile(path, overrides)
	if err != nil {
		return nil, err
	}
	v, err := vocabulary(f)
	if err != nil {
		return nil, inputError{err}
	}
	t, err := tokenizer.New(v)
	if err != nil {
		return nil, inputError{err}
	}
	return t, nil
}

// OpenFile opens the GGUF file at path, "" being the embedded model, of any
// architecture. For overrides see Options.
func OpenFile(path string, overrides []string) (f *gguf.File, err error) {
	if path == "" {
		f, err = gguf.Parse(EmbeddedName, embeddedBytes())
	} else {
		f, err = gguf.Open(path)
	}
	if err != nil {
		return nil, inputError{err}
	}
	for _, text := range overrides {
		if err := f.Override(text); err != nil {
			f.Close()
			return nil, inputError{err}
		}
	}
	return f, nil
}

// vocabularyReader reads tokenizer keys and keeps the first error.
type vocabularyReader struct {
	f   *gguf.File
	err error
}

// vocabulary reads the tokenizer.* keys of f.
func vocabulary(f *gguf.File) (tokenizer.Vocab, error) {
	r := &vocabularyReader{f: f}
	v := tokenizer.Vocab{Name: f.Name()}
	v.ModelName, _, _ = f.String("general.name")
	var ok bool
	v.Model, ok = read(r, f.String, "tokenizer.ggml.model")
	if r.err == nil && !ok {
		return v, fmt.Errorf("%s: key tokenizer.ggml.model is missing; the file has no vocabulary", f.Name())
	}
	v.Pre, _ = read(r, f.String, "tokenizer.ggml.pre")
	v.Tokens, _ = read(r, f.Strings, "tokenizer.ggml.tokens")
	v.Scores, _ = read(r, f.Floats, "tokenizer.ggml.scores")
	v.Types, _ = read(r, f.Ints, "tokenizer.ggml.token_type")
	v.Merges, _ = read(r, f.Strings, "tokenizer.ggml.merges")
	sentencePiece := v.Model == "llama"
	v.BOS = r.id("bos_token_id", defaultID(sentencePiece, 1))
	v.EOS = r.id("eos_token_id", defaultID(sentencePiece, 2))
	v.UNK = r.id("unknown_token_id", defaultID(sentencePiece, 0))
	v.EOT, v.EOM, v.PAD = r.id("eot_token_id", -1), r.id("eom_token_id", -1), r.id("padding_token_id", -1)
	v.AddBOS = r.flag("add_bos_token", tokenizer.AddsBOS(v.Model, v.Pre))
	v.AddEOS = r.flag("add_eos_token", false)
	v.AddSpacePrefix = r.flag("add_space_prefix", sentencePiece)
	return v, r.err
}

// read calls one of the file's typed getters and keeps its error.
func read[T any](r *vocabularyReader, get func(string) (T, bool, error), key string) (T, bool) {
	v, ok, err := get(key)
	r.err = errors.Join(r.err, err)
	return v, ok && err == nil
}

// id reads a token id, which the file has checked; absent, it is fallback.
func (r *vocabularyReader) id(key string, fallback int64) int64 {
	if v, ok := read(r, r.f.TokenID, "tokenizer.ggml."+key); ok {
		return int64(v)
	}
	return fallback
}

func (r *vocabularyReader) flag(key string, fallback bool) bool {
	if v, ok := read(r, r.f.Bool, "tokenizer.ggml."+key); ok {
		return v
	}
	return fallback
}

func defaultID(sentencePiece bool, id int64) int64 {
	if sentencePiece {
		return id
	}
	return -1
}
