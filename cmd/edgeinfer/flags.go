package main

// What a flag is here: a name, a checked value, a line of help, and the group
// under which help shows it. Environment and config file set flags by the same
// Set, so a value is checked by the same words wherever it comes from.

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"edgeinfer/budget"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// option is the value of a flag.
type option struct {
	text string // as given, or the default's text
	kind string // what help shows in the place of the value
	set  func(text string) error
}

func (o *option) Set(text string) error {
	if err := o.set(text); err != nil {
		return err
	}
	o.text = text
	return nil
}

func (o *option) String() string { return o.text }
func (o *option) Type() string   { return o.kind }

// flagGroup is a set of flags under one title.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

func newGroup(title string) flagGroup {
	flags := pflag.NewFlagSet(title, pflag.ContinueOnError)
	flags.SortFlags = false
	return flagGroup{title, flags}
}

// add defines a flag. defaultText is what help calls the default.
func (g flagGroup) add(name, short, kind, defaultText, usage string, set func(string) error) {
	g.flags.VarP(&option{text: defaultText, kind: kind, set: set}, name, short, usage)
}

// boolean defines a switch.
func (g flagGroup) boolean(dst *bool, name, usage string) {
	g.add(name, "", "", "", usage, func(text string) (err error) {
		*dst, err = parseSwitch(text)
		return err
	})
	g.flags.Lookup(name).NoOptDefVal = "true"
}

// hide leaves flags out of help.
func (g flagGroup) hide(names ...string) {
	for _, name := range names {
		g.flags.Lookup(name).Hidden = true
	}
}

// parseSwitch takes what llama.cpp's environment variables take.
func parseSwitch(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true", "1", "on", "yes", "enabled":
		return true, nil
	case "false", "0", "off", "no", "disabled":
		return false, nil
	}
	return false, errors.New("is neither true nor false")
}

// integer parses a whole number from low to high; hint is the way out.
func integer[T int | int64](dst *T, low, high int64, hint string) func(string) error {
	return func(text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return fmt.Errorf("is out of range; %s", hint)
		case err != nil:
			return fmt.Errorf("is not a whole number; %s", hint)
		case n < low:
			return fmt.Errorf("must be at least %d; %s", low, hint)
		case n > high:
			return fmt.Errorf("must be at most %d; %s", high, hint)
		}
		*dst = T(n)
		return nil
	}
}

// real parses a number from low to high; hint is the way out.
func real(dst *float32, low, high float64, hint string) func(string) error {
	return func(text string) error {
		v, err := strconv.ParseFloat(text, 32)
		switch {
		case err != nil || math.IsNaN(v):
			return fmt.Errorf("is not a number; %s", hint)
		case v < low || v > high:
			return fmt.Errorf("must be between %g and %g; %s", low, high, hint)
		}
		*dst = float32(v)
		return nil
	}
}

// size parses bytes with a unit.
func size(dst *int64) func(string) error {
	return func(text string) (err error) {
		*dst, err = budget.ParseSize(text)
		return err
	}
}

// text takes anything.
func text(dst *string) func(string) error {
	return func(value string) error {
		*dst = value
		return nil
	}
}

// list takes anything, as often as it is given.
func list(dst *[]string) func(string) error {
	return func(value string) error {
		*dst = append(*dst, value)
		return nil
	}
}

// attach gives c the flags of groups and the help that shows them by group.
func attach(c *cobra.Command, groups ...flagGroup) {
	for _, g := range groups {
		c.Flags().AddFlagSet(g.flags)
	}
	c.Flags().SortFlags = false
	c.DisableFlagsInUseLine = true
	c.SetUsageFunc(func(c *cobra.Command) error {
		out := c.OutOrStderr()
		fmt.Fprintf(out, "Usage:\n  %s\n", c.UseLine())
		if c.Example != "" {
			fmt.Fprintf(out, "\nExamples:\n%s\n", c.Example)
		}
		for _, g := range groups {
			if g.flags.HasAvailableFlags() {
				fmt.Fprintf(out, "\n%s:\n", g.title)
				g.flags.VisitAll(func(f *pflag.Flag) { writeFlagHelp(out, f) })
			}
		}
		return nil
	})
}
