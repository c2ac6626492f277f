package main

// llama.cpp spells some flags with one dash and several letters (-ctk), which
// POSIX parsers read as a row of one-letter flags. They are respelled before
// cobra sees them, so that command lines can be taken over as they are.

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// shortFlags are llama.cpp's flags of one dash and several letters.
var shortFlags = map[string]string{
	"-cnv":    "--conversation",
	"-ctk":    "--cache-type-k",
	"-ctv":    "--cache-type-v",
	"-fa":     "--flash-attn",
	"-ngl":    "--gpu-layers",
	"-no-cnv": "--no-conversation",
	"-np":     "--parallel",
	"-st":     "--single-turn",
	"-sys":    "--system-prompt",
	"-sysf":   "--system-prompt-file",
	"-tb":     "--threads-batch",
	"-ub":     "--ubatch-size",
}

// otherNames are further long spellings that llama.cpp takes.
var otherNames = map[string]string{
	"chat-template-file": "chat-template",
	"n-gpu-layers":       "gpu-layers",
	"n-predict":          "predict",
	"temperature":        "temp",
}

// normaliseFlag is pflag's hook: llama.cpp also takes underscores for dashes.
func normaliseFlag(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	name = strings.ReplaceAll(name, "_", "-")
	if canonical, ok := otherNames[name]; ok {
		name = canonical
	}
	return pflag.NormalizedName(name)
}

// normaliseArgs respells shortFlags in args. What follows a flag that takes a
// value is that value, however it looks, and after "--" there are no flags.
func normaliseArgs(args []string, root *cobra.Command) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		name, value, attached := strings.Cut(args[i], "=")
		if long, ok := shortFlags[name]; ok {
			name = long
		}
		if attached {
			out = append(out, name+"="+value)
			continue
		}
		out = append(out, name)
		if i+1 < len(args) && takesValue(root, name) {
			i++
			out = append(out, args[i])
		}
	}
	return out
}

// takesValue says whether name is, in any command, a flag followed by a value.
func takesValue(c *cobra.Command, name string) bool {
	var flag *pflag.Flag
	switch {
	case strings.HasPrefix(name, "--"):
		flag = c.Flags().Lookup(name[2:])
	case strings.HasPrefix(name, "-") && len(name) == 2:
		flag = c.Flags().ShorthandLookup(name[1:])
	}
	if flag != nil && flag.NoOptDefVal == "" {
		return true
	}
	for _, sub := range c.Commands() {
		if takesValue(sub, name) {
			return true
		}
	}
	return false
}

// flagNames lists the long names of the flags of c that help shows.
func flagNames(c *cobra.Command) []string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// didYouMean suggests the nearest of known, where one is near.
func didYouMean(name, prefix string, known []string) string {
	best, bestDistance := "", 3
	for _, candidate := range known {
		if d := editDistance(name, candidate); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	if best == "" || bestDistance >= len(name) {
		return ""
	}
	return "; did you mean " + prefix + best + "?"
}

// editDistance is Levenshtein's: the fewest insertions, deletions and
// substitutions of bytes that turn a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitution := diagonal
			if a[i] != b[j] {
				substitution++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitution, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
