package main

// run: a prompt in, text out. Without a conversation the prompt is completed
// as it stands; with one (chat.go) it is the first message of a chat.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"edgeinfer/edge"
	"edgeinfer/edge/tokenizer"

	"github.com/spf13/cobra"
)

// maxPromptBytes bounds what is read as a prompt: more than any context holds,
// and little enough to leave the memory budget alone.
const maxPromptBytes = 4 << 20

// runVerb is one call of run.
type runVerb struct {
	*program
	*settings
	prompt, file                         string
	system, systemFile                   string
	predict                              int
	stops                                []string
	conversation, completion, singleTurn bool
	ignoreEOS, special                   bool

	hasTemplate bool // the model brings a chat template
	engine      *edge.Engine
	session     *edge.Session
}

func (p *program) runCommand() *cobra.Command {
	r := &runVerb{program: p, settings: newSettings(), predict: -1}
	c := &cobra.Command{
		Use:   "run [flags]",
		Short: "Complete a prompt or chat",
		Long: `run completes the prompt of -p or -f, or of standard input where neither is given;
with -cnv or -sys it chats, using the model's own template. The generated text alone goes to
standard output, as it comes; speeds and the memory ledger go to standard error at the end.

A chat with -p is one question and one answer, unless standard input is a terminal and -cnv is
given: then it goes on. Without -p, every line of standard input is a turn. On a terminal, a
model that has a chat template chats when no prompt is given.

Ctrl-C ends the text where it is; the summary still comes and the exit status is 130. In a chat
it ends the answer, and at the prompt the program. A second Ctrl-C ends everything at once.`,
		Example: `  edgeinfer run -p "Once upon a time"
  edgeinfer run -m model.gguf -cnv -sys "Answer in one sentence."
  edgeinfer run -m model.gguf --budget 300MiB -f prompt.txt -n 200 --temp 0 --json`,
		Args: noArguments(`give the prompt with -p "…" or -f FILE`),
	}
	return p.verb(c, r.settings, func(c *cobra.Command, _ []string) error { return r.run(c) },
		r.promptFlags(), r.modelFile(), r.memory(), r.compute(), r.samplingFlags())
}

func (r *runVerb) promptFlags() flagGroup {
	g := newGroup("Prompt and answer")
	g.add("prompt", "p", "TEXT", "",
		"text to complete, or the first message of a chat",
		text(&r.prompt))
	g.add("file", "f", "FILE", "",
		"read the prompt from this file, - is standard input; one newline at its end is "+
			"dropped",
		text(&r.file))
	g.add("predict", "n", "N", "-1",
		"tokens to generate at most; -1 until the text ends or the context is full",
		r.setPredict)
	g.boolean(&r.conversation, "conversation", "chat with the model's template (also -cnv)")
	g.boolean(&r.completion, "no-conversation", "never chat (also -no-cnv)")
	g.add("system-prompt", "", "TEXT", "", "system message of a chat (also -sys)", text(&r.system))
	g.add("system-prompt-file", "", "FILE", "",
		"read the system message from this file (also -sysf)",
		text(&r.systemFile))
	r.chatTemplateFlag(g)
	g.boolean(&r.singleTurn, "single-turn", "end a chat after one answer (also -st)")
	g.add("reverse-prompt", "r", "TEXT", "",
		"end where this text comes, which is not shown; may be repeated",
		list(&r.stops))
	g.boolean(&r.ignoreEOS, "ignore-eos", "go on where the model would end")
	g.boolean(&r.special, "special", "read control tokens such as <|im_start|> in the prompt")
	return g
}

// setPredict takes a count of tokens, or -1.
func (r *runVerb) setPredict(text string) error {
	const hint = "-1 generates until the text ends or the context is full"
	n := 0
	if err := integer(&n, -1, math.MaxInt32, hint)(text); err != nil {
		return err
	}
	if n == 0 {
		return errors.New("generates nothing; " + hint)
	}
	r.predict = n
	return nil
}

// run reads what was asked for, starts the model and hands over.
func (r *runVerb) run(c *cobra.Command) error {
	if err := r.checkFlags(c); err != nil {
		return err
	}
	prompt, given, err := r.readPrompt()
	if err != nil {
		return err
	}
	source, err := r.load(r.settings)
	if err != nil {
		return err
	}
	if _, r.hasTemplate, _ = source.File().String("tokenizer.chat_template"); r.chatTemplate != "" {
		if _, err := source.ChatTemplate(); err != nil { // before memory is taken
			source.Close()
			return err
		}
		r.hasTemplate = true
	}
	if r.engine, err = r.start(source); err != nil {
		return err
	}
	defer r.engine.Close()
	if r.session, err = r.engine.NewSession(); err != nil {
		return err
	}
	defer r.session.Close()
	if r.chats(given) {
		return r.chat(prompt, given)
	}
	return r.complete(prompt)
}

// checkFlags refuses flags that contradict each other.
func (r *runVerb) checkFlags(c *cobra.Command) error {
	for _, pair := range [][2]string{
		{"prompt", "file"}, {"system-prompt", "system-prompt-file"}, {"conversation", "no-conversation"},
		{"no-conversation", "system-prompt"}, {"no-conversation", "system-prompt-file"},
	} {
		a, b := r.origins[pair[0]], r.origins[pair[1]]
		if a == b && a != builtIn {
			return usageError{c, fmt.Errorf("--%s and --%s are both set %v; give one of them",
				pair[0], pair[1], a)}
		}
	}
	return nil
}

// chats says whether this is a chat.
func (r *runVerb) chats(given bool) bool {
	switch wanted, refused := r.chatWanted(), r.chatRefused(); {
	case refused > wanted:
		return false
	case wanted != builtIn:
		return true
	}
	return !given && r.hasTemplate && isTerminal(r.stdin)
}

// chatWanted is the strongest place that asks for a chat, builtIn if none.
func (r *runVerb) chatWanted() origin {
	wanted := builtIn
	for name, asks := range map[string]bool{"conversation": r.conversation,
		"system-prompt": r.system != "", "system-prompt-file": r.systemFile != ""} {
		if asks {
			wanted = max(wanted, r.origins[name])
		}
	}
	return wanted
}

// chatRefused is the place that refuses one, builtIn if none.
func (r *runVerb) chatRefused() origin {
	if r.completion {
		return r.origins["no-conversation"]
	}
	return builtIn
}

// readPrompt returns the prompt and whether there is one. Standard input is
// read to its end only where nothing else is named and nobody is to type.
func (r *runVerb) readPrompt() (prompt string, given bool, err error) {
	if err := r.readSystemPrompt(); err != nil {
		return "", false, err
	}
	chat := r.chatWanted() > r.chatRefused()
	switch {
	case r.origins["prompt"] > r.origins["file"]:
		return r.prompt, true, nil
	case r.file != "" && r.file != "-":
		return r.promptOf(readFile(r.file, maxPromptBytes))
	case r.file == "-", !chat && !isTerminal(r.stdin), r.json && !isTerminal(r.stdin):
		return r.promptOf(readAll(r.stdin, "standard input", maxPromptBytes))
	}
	return "", false, nil
}

// promptOf drops one newline at the end, which editors add.
func (r *runVerb) promptOf(data []byte, err error) (string, bool, error) {
	if err != nil {
		return "", false, inputError{fmt.Errorf("prompt: %w", err)}
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), true, nil
}

func (r *runVerb) readSystemPrompt() error {
	if r.systemFile == "" || r.origins["system-prompt"] > r.origins["system-prompt-file"] {
		return nil
	}
	data, err := readFile(r.systemFile, maxPromptBytes)
	if err != nil {
		return inputError{fmt.Errorf("system prompt: %w", err)}
	}
	r.system = strings.TrimSuffix(string(data), "\n")
	return nil
}

// complete continues the prompt as it stands.
func (r *runVerb) complete(prompt string) error {
	options := tokenizer.Options{BOS: true, Special: r.special}
	tokens := r.engine.Tokenizer().Encode(nil, prompt, options)
	if len(tokens) == 0 {
		return inputError{errors.New("the prompt is empty and this model has no token that " +
			"begins a text; give a prompt with -p or -f")}
	}
	ctx, stop := watchSignals()
	defer stop()
	result, err := r.answer(ctx, tokens)
	if err != nil {
		return err
	}
	return r.finish(ctx, result)
}

// answer generates from tokens and shows the text as it comes.
func (r *runVerb) answer(ctx context.Context, tokens []int32) (edge.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := answerWriter{cancel: cancel}
	if !r.json {
		out.w = r.stdout
	}
	request := edge.Request{Tokens: tokens, MaxTokens: r.predict, Sampling: r.sampling,
		Stop: r.stops, IgnoreEOS: r.ignoreEOS}
	result, err := r.session.Generate(ctx, request, out.write)
	if err == nil || out.shown {
		out.endLine()
	}
	return result, errors.Join(err, out.err)
}

// finish reports on the run and says how it ended.
func (r *runVerb) finish(ctx context.Context, result edge.Result) error {
	if r.json {
		if err := writeJSON(r.stdout, describeRun(r.engine, result)); err != nil {
			return err
		}
	} else {
		writeSummary(r.stderr, r.engine, result)
	}
	return interruption(ctx)
}
