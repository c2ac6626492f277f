// Command edgeinfer runs language models inside a fixed memory budget.
//
// There is one file per verb; what verbs share is in args.go (llama.cpp's
// spellings), flags.go and settings.go (what can be set), config.go (by flag,
// environment or file), output.go and summary.go (how it is shown). The program
// holds no numerics and no model knowledge: it turns settings into calls of
// package edge, and results into text and exit statuses.
//
// Data goes to standard output and everything else to standard error. The exit
// status is 0 when done, 1 for a failure at run time, 2 for bad usage or bad
// input, and 128 plus the signal's number after an interrupt.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"edgeinfer/edge"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func main() {
	os.Exit(run(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// program is the outside world of one run.
type program struct {
	env            map[string]string
	stdin          io.Reader
	stdout, stderr io.Writer
}

// run is the whole program but for the process: it returns the exit status.
func run(args, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{env: map[string]string{}, stdin: stdin, stdout: stdout, stderr: stderr}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		p.env[name] = value
	}
	root := p.root()
	args = normaliseArgs(args, root)
	root.SetArgs(args)
	err := root.Execute()
	if _, _, unknown := root.Find(args); unknown != nil {
		err = usageError{root, unknownCommand(root, quotedName(unknown))}
	}
	return p.status(err)
}

// root builds the tree of commands.
func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "edgeinfer",
		Short: "Serve language models inside a fixed memory budget",
		Long: `edgeinfer runs language models on small machines inside a fixed memory budget. It
plans every byte before it takes any, keeps the key/value cache in as few bits as the budget
asks for, and refuses to start where the plan does not fit.

Without -m it uses a small embedded model, so this works at once:

  edgeinfer run -p "Once upon a time"

Every flag can also be set by an environment variable (--kv-budget is EDGEINFER_KV_BUDGET) or in
a TOML file (kv-budget = "64MiB"); the flag wins, then the environment, then the file.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(c *cobra.Command, _ []string) error {
			return usageError{c, errors.New("a command is missing")}
		},
	}
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.Flags().Bool("version", false, "print the version and exit")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{c, explainFlagError(c, err)}
	})
	root.AddCommand(p.runCommand(), p.planCommand(), p.inspectCommand(), p.tokenizeCommand(),
		p.templateCommand(), p.evalCommand(), p.kernelsCommand(), p.boardsCommand())
	root.SetHelpCommand(helpCommand(root))
	root.SetGlobalNormalizationFunc(normaliseFlag)
	return root
}

// helpCommand is cobra's, but an unknown topic is an error.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Show the help of a command",
		RunE: func(c *cobra.Command, args []string) error {
			topic, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usageError{root, unknownCommand(root, strings.Join(args, " "))}
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

// usageError is a mistake in how command was called.
type usageError struct {
	command *cobra.Command
	error
}

func (e usageError) Unwrap() error { return e.error }

// inputError marks what the user gave as the cause of an error.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

// interrupted says that a signal ended the work. The results so far are out.
type interrupted struct{ signal syscall.Signal }

func (e interrupted) Error() string { return "interrupted" }

// status reports err to the user and returns the exit status.
func (p *program) status(err error) int {
	var usage usageError
	var input inputError
	var stop interrupted
	switch {
	case err == nil:
		return 0
	case errors.As(err, &stop):
		return 128 + int(stop.signal)
	case errors.As(err, &usage):
		fmt.Fprintf(p.stderr, "edgeinfer: %v\nTry \"%s --help\".\n", err, usage.command.CommandPath())
		return 2
	}
	fmt.Fprintf(p.stderr, "edgeinfer: %v\n", err)
	if errors.As(err, &input) || edge.IsInputError(err) {
		return 2
	}
	return 1
}

// note tells the user something that is no error.
func (p *program) note(format string, args ...any) {
	fmt.Fprintf(p.stderr, "edgeinfer: note: "+format+"\n", args...)
}

// explainFlagError says what is wrong with a flag in the user's terms.
func explainFlagError(c *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	switch {
	case errors.As(err, &bare):
		return fmt.Errorf("--%s needs a value", bare.GetFlag().Name)
	case errors.As(err, &invalid):
		return fmt.Errorf("--%s %q: %w", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap())
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			return fmt.Errorf("unknown flag -%s%s", short, didYouMean(short, "-", flagNames(c)))
		}
		return fmt.Errorf("unknown flag --%s%s", name, didYouMean(name, "--", flagNames(c)))
	}
	return err
}

// unknownCommand is the error for a name that c has no command for.
func unknownCommand(c *cobra.Command, name string) error {
	suggestion := ""
	c.SuggestionsMinimumDistance = 2
	if names := c.SuggestionsFor(name); len(names) > 0 {
		suggestion = fmt.Sprintf("; did you mean %q?", names[0])
	}
	return fmt.Errorf("unknown command %q for %q%s", name, c.CommandPath(), suggestion)
}

// quotedName is the name in cobra's error about an unknown command, which has no
// type of its own.
func quotedName(err error) string {
	_, text, _ := strings.Cut(err.Error(), "unknown command ")
	quoted, _ := strconv.QuotedPrefix(text)
	name, _ := strconv.Unquote(quoted)
	return name
}

// version is the module's version, or the revision it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return describeBuild(info)
}

// describeBuild words what the Go tool recorded about a build.
func describeBuild(info *debug.BuildInfo) string {
	values := map[string]string{}
	for _, s := range info.Settings {
		values[s.Key] = s.Value
	}
	text := info.Main.Version
	if text == "" || text == "(devel)" {
		text = "devel"
	}
	if revision := values["vcs.revision"]; revision != "" {
		text += fmt.Sprintf(" (%.12s, %s", revision, values["vcs.time"])
		if values["vcs.modified"] == "true" {
			text += ", modified"
		}
		text += ")"
	}
	return fmt.Sprintf("%s %s %s/%s", text, info.GoVersion, values["GOOS"], values["GOARCH"])
}
