package main

// kernels: which sets of functions this CPU can run, which one is chosen, and
// whether each computes what it should.

import (
	"fmt"

	"edgeinfer/kernels"

	"github.com/spf13/cobra"
)

func (p *program) kernelsCommand() *cobra.Command {
	s := newSettings()
	c := &cobra.Command{
		Use:   "kernels [flags]",
		Short: "Show and test the kernel sets of this CPU",
		Long: `kernels lists the sets of compute functions that this CPU can run, the best last,
and tests each: what is exact must be equal to the reference, everything else within its bound.
The exit status is 1 where a test fails. --kernels chooses a set by name, also for run and the
others.`,
		Example: "  edgeinfer kernels\n  edgeinfer kernels --json",
		Args:    noArguments("choose a set with --kernels NAME"),
	}
	g := newGroup("Choice")
	g.flags.AddFlag(s.compute().flags.Lookup("kernels"))
	return p.verb(c, s, func(*cobra.Command, []string) error { return p.kernels(s) }, g)
}

// kernelsReport is the JSON document of kernels.
type kernelsReport struct {
	Chosen    string       `json:"chosen"`
	Available []string     `json:"available"`
	SelfTest  []testResult `json:"selftest"`
}

func (p *program) kernels(s *settings) error {
	chosen, err := kernels.ByName(s.kernels)
	if err != nil {
		return inputError{err}
	}
	report := kernelsReport{Chosen: chosen.Name, Available: kernels.Names()}
	failed := 0
	for _, set := range kernels.All() {
		for _, result := range selfTest(set) {
			if !result.OK {
				failed++
			}
			report.SelfTest = append(report.SelfTest, result)
		}
	}
	if s.json {
		err = writeJSON(p.stdout, report)
	} else {
		p.writeKernels(report)
	}
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d self-tests failed; choose another set with --kernels",
			failed, len(report.SelfTest))
	}
	return err
}

func (p *program) writeKernels(r kernelsReport) {
	for _, name := range r.Available {
		mark := " "
		if name == r.Chosen {
			mark = "*"
		}
		passed, total := 0, 0
		for _, t := range r.SelfTest {
			if t.Set == name {
				total++
				if t.OK {
					passed++
				}
			}
		}
		fmt.Fprintf(p.stdout, "%s %-14s self-test %d of %d\n", mark, name, passed, total)
	}
	for _, t := range r.SelfTest {
		if !t.OK {
			fmt.Fprintf(p.stdout, "  %s %s: FAILED, %.3g of its bound\n", t.Set, t.Operation, t.Worst)
		}
	}
}
