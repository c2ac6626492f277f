package main

// tokenize: text to token ids.

import (
	"fmt"

	"edgeinfer/edge"
	"edgeinfer/edge/tokenizer"

	"github.com/spf13/cobra"
)

func (p *program) tokenizeCommand() *cobra.Command {
	s := newSettings()
	var special, noBOS bool
	c := &cobra.Command{
		Use:   "tokenize [flags] [TEXT]",
		Short: "Show the token ids of a text",
		Long: `tokenize prints the token ids of a text as a JSON array. The text is the argument,
or standard input to its end, newlines included. It needs no more than a vocabulary:
vocabulary-only files of any architecture will do.`,
		Example: `  edgeinfer tokenize "Once upon a time"
  edgeinfer tokenize -m model.gguf --special "<|im_start|>user" --no-bos
  edgeinfer tokenize -m model.gguf < text.txt`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{c, fmt.Errorf("%d texts; put the text in quotes to make it one", len(args))}
			}
			return nil
		},
	}
	g := newGroup("Tokens")
	g.boolean(&special, "special", "read control tokens such as <|im_start|> in the text")
	g.boolean(&noBOS, "no-bos", "leave out the tokens that the model has around a text")
	return p.verb(c, s, func(_ *cobra.Command, args []string) error {
		text, err := p.textArgument(args)
		if err != nil {
			return err
		}
		vocabulary, err := edge.OpenVocabulary(s.model, s.overrides...)
		if err != nil {
			return err
		}
		ids := vocabulary.Encode([]int32{}, text, tokenizer.Options{BOS: !noBOS, Special: special})
		return writeJSON(p.stdout, ids)
	}, s.modelFile(), g)
}

// textArgument is the only argument, or standard input.
func (p *program) textArgument(args []string) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	data, err := readAll(p.stdin, "standard input", maxTextBytes)
	if err != nil {
		return "", inputError{err}
	}
	return string(data), nil
}

// maxTextBytes bounds the text of tokenize.
const maxTextBytes = 1 << 30
