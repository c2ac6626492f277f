package main

// A chat: messages rendered by the model's template, one answer a turn. The
// session keeps its cache, so a turn costs its own tokens only.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"edgeinfer/edge"
	"edgeinfer/edge/chat"
	"edgeinfer/edge/tokenizer"
)

// chat answers the prompt, if one is given, and then the lines of standard
// input, each of them a turn.
func (r *runVerb) chat(prompt string, given bool) error {
	template, err := r.engine.ChatTemplate()
	if err != nil {
		return inputError{err}
	}
	if !r.hasTemplate {
		r.note("the model brings no chat template; ChatML is used")
	}
	if template.Name() == "built-in chatml" {
		r.stops = append(r.stops, "<|im_end|>")
	}
	var messages []chat.Message
	if r.system != "" {
		messages = append(messages, chat.Message{Role: "system", Content: r.system})
	}
	typed := isTerminal(r.stdin)
	once := r.json || r.singleTurn || given && !(typed && r.conversation)
	var lines <-chan inputLine
	var last edge.Result
	for turns := 0; ; turns++ {
		if turns > 0 || !given {
			if lines == nil {
				lines = readLines(r.stdin)
			}
			if prompt, err = r.nextTurn(lines, typed); err != nil {
				return r.endChat(last, turns, err)
			}
		}
		messages = append(messages, chat.Message{Role: "user", Content: prompt})
		ctx, stop := watchSignals()
		answer, err := r.turn(ctx, template, messages)
		if errors.Is(err, edge.ErrContext) && r.fitsAlone(template, messages[len(messages)-1]) {
			stop()
			r.note("the conversation fills the context of %d tokens and ends; "+
				"a larger --ctx-size holds more", r.engine.ContextTokens())
			return r.endChat(last, turns, io.EOF)
		}
		last = answer
		if err == nil && once {
			err = r.finish(ctx, last)
			stop()
			return err
		}
		stop()
		if err != nil {
			return err
		}
		messages = append(messages, chat.Message{Role: "assistant", Content: last.Text})
		if interruption(ctx) != nil && !typed {
			return r.finish(ctx, last)
		}
	}
}

// fitsAlone says whether the context would hold a message without those before
// it: then it is the conversation that is too long.
func (r *runVerb) fitsAlone(t *chat.Template, message chat.Message) bool {
	rendered, err := t.Render(chat.Request{Messages: chat.Messages{message}})
	return err == nil && len(encodePrompt(r.engine.Tokenizer(), rendered)) < r.engine.ContextTokens()
}

// turn renders the messages and answers the last one.
func (r *runVerb) turn(ctx context.Context, t *chat.Template,
	messages []chat.Message) (edge.Result, error) {
	rendered, err := t.Render(chat.Request{Messages: messages})
	if err != nil {
		return edge.Result{}, inputError{fmt.Errorf("chat template: %w", err)}
	}
	return r.answer(ctx, encodePrompt(r.engine.Tokenizer(), rendered))
}

// encodePrompt gives the tokens of a rendered prompt. Only what the template
// wrote may be control tokens. BOS is added where the template did not.
func encodePrompt(t *tokenizer.Tokenizer, p chat.Prompt) []int32 {
	parts := make([]tokenizer.Part, len(p.Parts))
	for i, part := range p.Parts {
		parts[i] = tokenizer.Part{Text: part.Text, Special: part.Special}
	}
	tokens := t.EncodeParts(nil, parts, false)
	if t.AddBOS() && (len(tokens) == 0 || tokens[0] != t.BOS()) {
		tokens = t.EncodeParts(nil, parts, true)
	}
	return tokens
}

// nextTurn waits for the next line that says something.
func (r *runVerb) nextTurn(lines <-chan inputLine, typed bool) (string, error) {
	ctx, stop := watchSignals()
	defer stop()
	if typed {
		fmt.Fprint(r.stderr, "> ")
	}
	for {
		select {
		case line, open := <-lines:
			switch {
			case !open:
				return "", io.EOF
			case line.err != nil:
				return "", line.err
			case strings.TrimSpace(line.text) != "":
				return line.text, nil
			case typed:
				fmt.Fprint(r.stderr, "> ")
			}
		case <-ctx.Done():
			return "", interruption(ctx)
		}
	}
}

// endChat ends a chat that has no further turn.
func (r *runVerb) endChat(last edge.Result, turns int, err error) error {
	if turns == 0 && errors.Is(err, io.EOF) {
		return inputError{errors.New("the chat has no message; give one with -p or on standard input")}
	}
	if turns > 0 {
		writeSummary(r.stderr, r.engine, last)
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// inputLine is a line of standard input, or why there is none.
type inputLine struct {
	text string
	err  error
}

// readLines reads r as lines are asked for. A read cannot be interrupted, so
// it has a goroutine of its own, which ends with the input or the program.
func readLines(r io.Reader) <-chan inputLine {
	lines := make(chan inputLine)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(r)
		scanner.Buffer(nil, maxPromptBytes)
		for scanner.Scan() {
			lines <- inputLine{text: scanner.Text()}
		}
		if err := scanner.Err(); err != nil {
			lines <- inputLine{err: inputError{fmt.Errorf("standard input: %w", err)}}
		}
	}()
	return lines
}
