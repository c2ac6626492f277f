package main

import "github.com/spf13/cobra"

// verb gives a command its flags, and its body the settings from all sources.
func (p *program) verb(c *cobra.Command, s *settings, body func(*cobra.Command, []string) error,
	groups ...flagGroup) *cobra.Command {
	attach(c, append(groups, s.general())...)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := p.configure(c, s); err != nil {
			return err
		}
		return body(c, args)
	}
	return c
}
