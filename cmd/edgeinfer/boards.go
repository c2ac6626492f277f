package main

// boards: the profiles, what this machine was detected as, and what plan each
// board would get for a model. Speeds are predicted, and said to be.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"edgeinfer/boards"
	"edgeinfer/budget"
	"edgeinfer/edge"

	"github.com/spf13/cobra"
)

func (p *program) boardsCommand() *cobra.Command {
	s := newSettings()
	c := &cobra.Command{
		Use:   "boards [flags] [NAME...]",
		Short: "Show boards, what this machine is, and which plan each would get",
		Long: `boards lists the boards that edgeinfer knows and what this machine was detected as.
With names it shows all about those boards, and where each figure comes from.

With -m it shows the plan that each board would get for the model: context, formats and bytes of
the cache, all memory, and tokens per second with an empty and with a full context. Those are
predicted, not measured: the board's practical bandwidth divided by the bytes that a token reads,
which is the most that memory allows. The bytes are those of this program on this machine's page
size.

Names are as in rpi-5, for all sizes of memory, or rpi-5-8g.`,
		Example: `  edgeinfer boards
  edgeinfer boards rock-5b
  edgeinfer boards -m model.gguf
  edgeinfer boards -m model.gguf -c 4096 jetson-orin-nano-8g --json`,
	}
	g := newGroup("Plan")
	for _, name := range []string{"ctx-size", "parallel", "board", "kv-budget", "kv", "floor",
		"calibration", "planner", "cache-type-k", "cache-type-v", "window", "sinks"} {
		g.flags.AddFlag(s.memory().flags.Lookup(name))
	}
	g.flags.AddFlag(s.compute().flags.Lookup("batch-size"))
	return p.verb(c, s, func(c *cobra.Command, names []string) error { return p.boards(c, s, names) },
		s.modelFile(), g)
}

// boards reports, for a model where one is named.
func (p *program) boards(c *cobra.Command, s *settings, names []string) error {
	chosen, err := chosenBoards(names)
	if err != nil {
		return usageError{c, err}
	}
	m, err := boards.Detect(os.DirFS("/"), os.Getpagesize()).As(s.board)
	if err != nil {
		return inputError{err}
	}
	report := boardsReport{Machine: describeMachine(m)}
	for _, b := range chosen {
		report.Boards = append(report.Boards, describeBoard(b))
	}
	if s.model != "" {
		if err := p.planBoards(s, m, chosen, &report); err != nil {
			return err
		}
	}
	switch {
	case s.json:
		return writeJSON(p.stdout, report)
	case s.model != "":
		report.writePlans(p.stdout)
	case len(names) > 0:
		report.writeDetails(p.stdout)
	default:
		report.write(p.stdout)
	}
	return nil
}

// chosenBoards are the boards of the names; all without any.
func chosenBoards(names []string) (chosen []boards.Board, err error) {
	if len(names) == 0 {
		for _, profile := range boards.All() {
			chosen = append(chosen, profile.Boards()...)
		}
		return chosen, nil
	}
	for _, name := range names {
		b, sized, err := boards.Lookup(name)
		switch {
		case err != nil:
			return nil, err
		case sized:
			chosen = append(chosen, b)
		default:
			chosen = append(chosen, b.Boards()...)
		}
	}
	return chosen, nil
}

// planBoards adds the plan of every board, and of this machine, to the report.
func (p *program) planBoards(s *settings, m boards.Machine, chosen []boards.Board,
	report *boardsReport) error {
	source, err := p.load(s)
	if err != nil {
		return err
	}
	defer source.Close()
	report.Model = source.File().Name()
	plan, err := source.Plan()
	if report.Machine.Plan, err = describeBoardPlan(source, m.Board, plan, err); err != nil {
		return err
	}
	for i, b := range chosen {
		plan, err := source.PlanFor(b)
		if report.Boards[i].Plan, err = describeBoardPlan(source, b, plan, err); err != nil {
			return err
		}
	}
	return nil
}

// boardsReport is boards' JSON document.
type boardsReport struct {
	Machine machineReport `json:"machine"`
	Model   string        `json:"model,omitempty"`
	Boards  []boardReport `json:"boards"`
}

// machineReport is what this machine is. What was taken from a profile is in
// the profile's report; this is what was seen.
type machineReport struct {
	Board         string          `json:"board"`
	How           string          `json:"how"`
	Model         string          `json:"model,omitempty"`
	TotalBytes    int64           `json:"total_bytes"`
	UsableBytes   int64           `json:"usable_bytes"`
	PageBytes     int             `json:"page_bytes"`
	CPUs          int             `json:"cpus"`
	QuotaCPUs     float64         `json:"quota_cpus,omitempty"`
	Threads       int             `json:"threads"`
	ThreadsSource string          `json:"threads_source"`
	Clusters      []clusterReport `json:"clusters"`
	LeftOut       []string        `json:"left_out,omitempty"`
	Plan          *boardPlan      `json:"plan,omitempty"`
}

type boardReport struct {
	Name               string          `json:"name"`
	Title              string          `json:"title"`
	RAMBytes           int64           `json:"ram_bytes"`
	ReserveBytes       int64           `json:"reserve_bytes"`
	UsableBytes        int64           `json:"usable_bytes"`
	Threads            int             `json:"threads"`
	Clusters           []clusterReport `json:"clusters"`
	ReadBytesPerSecond int64           `json:"read_bytes_per_second"`
	PageBytes          []int           `json:"page_bytes"` // the usual one first
	Sources            []sourceReport  `json:"sources"`
	Plan               *boardPlan      `json:"plan,omitempty"`
}

type clusterReport struct {
	Cores    int      `json:"cores"`
	Core     string   `json:"core"`
	MaxMHz   int      `json:"max_mhz"`
	Features []string `json:"features"`
}

type sourceReport struct {
	Figures   []boards.Figure  `json:"figures"`
	Certainty boards.Certainty `json:"certainty"`
	Source    string           `json:"source"`
}

// boardPlan is the plan for a board, or why there is none.
type boardPlan struct {
	ContextTokens int     `json:"context_tokens,omitempty"`
	KV            string  `json:"kv,omitempty"`
	AverageBits   float64 `json:"average_bits,omitempty"`
	KVBytes       int64   `json:"kv_bytes,omitempty"`
	TotalBytes    int64   `json:"total_bytes,omitempty"`
	LimitBytes    int64   `json:"limit_bytes"`
	LimitSource   string  `json:"limit_source"`
	// Predicted from bandwidth and bytes; absent where the bandwidth is unknown.
	TokensPerSecond            float64 `json:"predicted_tokens_per_second,omitempty"`
	TokensPerSecondFullContext float64 `json:"predicted_tokens_per_second_full_context,omitempty"`
	NeedBytes                  int64   `json:"need_bytes,omitempty"` // where it does not fit
	Error                      string  `json:"error,omitempty"`
}

func describeMachine(m boards.Machine) machineReport {
	return machineReport{Board: m.FullName(), How: m.How, Model: m.Model, TotalBytes: m.TotalBytes,
		UsableBytes: m.UsableBytes(), PageBytes: m.PageBytes, CPUs: len(m.CPUs), QuotaCPUs: m.QuotaCPUs,
		Threads: m.FastCores(), ThreadsSource: m.FastCoresSource(),
		Clusters: describeClusters(m.Clusters), LeftOut: m.Notes}
}

func describeBoard(b boards.Board) boardReport {
	report := boardReport{Name: b.FullName(), Title: b.Title, RAMBytes: b.Variant.RAMBytes,
		ReserveBytes: b.Variant.ReserveBytes, UsableBytes: b.UsableBytes(), Threads: b.FastCores(),
		Clusters: describeClusters(b.Clusters), ReadBytesPerSecond: b.BytesPerSecond(),
		PageBytes: b.PageBytes}
	report.Clusters[0].Cores = b.FastCores()
	for _, s := range b.Sources {
		report.Sources = append(report.Sources, sourceReport{s.Figures, s.Certainty, s.Text})
	}
	return report
}

func describeClusters(clusters []boards.Cluster) []clusterReport {
	reports := []clusterReport{}
	for _, c := range clusters {
		reports = append(reports, clusterReport(c))
	}
	return reports
}

// describeBoardPlan turns a plan, or the refusal of one, into its report. Any
// other error is returned: it would be the same for all boards.
func describeBoardPlan(source *edge.Source, b boards.Board, plan budget.Plan,
	err error) (*boardPlan, error) {
	var small *budget.TooSmallError
	if errors.As(err, &small) {
		return &boardPlan{NeedBytes: small.NeedBytes, LimitBytes: small.HaveBytes,
			LimitSource: small.Source, Error: err.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	report := &boardPlan{ContextTokens: plan.ContextTokens, KV: planText(plan),
		AverageBits: plan.Geometry.AverageBits(), KVBytes: plan.KVBytes(), TotalBytes: plan.TotalBytes,
		LimitBytes: plan.LimitBytes, LimitSource: plan.LimitSource}
	report.TokensPerSecond, report.TokensPerSecondFullContext =
		source.Roofline(plan, b.BytesPerSecond())
	return report, nil
}

// writeMachine writes what this machine is.
func (r boardsReport) writeMachine(w io.Writer) {
	m := r.Machine
	fmt.Fprintf(w, "this machine  %s (%s)\n", m.Board, m.How)
	if m.Model != "" {
		fmt.Fprintf(w, "calls itself  %s\n", m.Model)
	}
	fmt.Fprintf(w, "memory        %s, of which the board leaves %s; pages of %s\n",
		budget.FormatSize(m.TotalBytes), budget.FormatSize(m.UsableBytes),
		budget.FormatSize(int64(m.PageBytes)))
	fmt.Fprintf(w, "CPUs          %d online\n", m.CPUs)
	fmt.Fprintf(w, "threads       %d: %s\n", m.Threads, m.ThreadsSource)
	if len(m.LeftOut) > 0 {
		fmt.Fprintf(w, "left out      %s\n", strings.Join(m.LeftOut, ", "))
	}
}

// write writes the list of boards.
func (r boardsReport) write(w io.Writer) {
	r.writeMachine(w)
	fmt.Fprintf(w, "\n%-22s %12s %12s  %-20s %s\n", "board", "memory", "usable", "reads", "cores")
	for _, b := range r.Boards {
		reads := fmt.Sprintf("%s %s", formatRate(b.ReadBytesPerSecond),
			b.certainty(boards.FigureBandwidth))
		fmt.Fprintf(w, "%-22s %12s %12s  %-20s %s\n", b.Name, budget.FormatSize(b.RAMBytes),
			budget.FormatSize(b.UsableBytes), reads, formatClusters(b.Clusters))
	}
}

// writeDetails writes all about the boards, what their sizes of memory share
// once.
func (r boardsReport) writeDetails(w io.Writer) {
	for i, b := range r.Boards {
		if i == 0 || r.Boards[i-1].Title != b.Title {
			fmt.Fprintf(w, "%s\n", b.Title)
		}
		fmt.Fprintf(w, "  %-20s %s, of which the system keeps %s; %d threads read %s\n", b.Name,
			budget.FormatSize(b.RAMBytes), budget.FormatSize(b.ReserveBytes), b.Threads,
			formatRate(b.ReadBytesPerSecond))
		if i+1 < len(r.Boards) && r.Boards[i+1].Title == b.Title {
			continue
		}
		for _, c := range b.Clusters {
			fmt.Fprintf(w, "  %-20s %s: %s\n", "cores", formatClusters([]clusterReport{c}),
				strings.Join(c.Features, ", "))
		}
		var pages []string
		for _, bytes := range b.PageBytes {
			pages = append(pages, budget.FormatSize(int64(bytes)))
		}
		fmt.Fprintf(w, "  %-20s %s\n  sources\n", "pages", strings.Join(pages, ", or "))
		for _, s := range b.Sources {
			text := fmt.Sprintf("%s (%s): %s", joinFigures(s.Figures), s.Certainty, s.Source)
			fmt.Fprintf(w, "    %s\n", strings.Join(wrap(text, helpWidth-6), "\n      "))
		}
		fmt.Fprintln(w)
	}
}

func joinFigures(figures []boards.Figure) string {
	var names []string
	for _, f := range figures {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// certainty is how sure a figure of b is.
func (b boardReport) certainty(figure boards.Figure) boards.Certainty {
	for _, s := range b.Sources {
		if slices.Contains(s.Figures, figure) {
			return s.Certainty
		}
	}
	return ""
}

// writePlans writes the plan of each board.
func (r boardsReport) writePlans(w io.Writer) {
	r.writeMachine(w)
	fmt.Fprintf(w, "model         %s\n", r.Model)
	fmt.Fprintf(w, "\n%-22s %12s %12s %9s %6s %12s  %18s  %s\n", "board", "usable", "planned",
		"context", "bits", "cache", "predicted tokens/s", "plan")
	writePlanRow(w, "this machine", r.Machine.Plan)
	for _, b := range r.Boards {
		writePlanRow(w, b.Name, b.Plan)
	}
	fmt.Fprintln(w, "\nTokens per second are predicted, with an empty and a full context: practical "+
		"bandwidth divided\nby the bytes that a token reads. It is the most that memory allows.")
}

func writePlanRow(w io.Writer, name string, p *boardPlan) {
	fmt.Fprintf(w, "%-22s %12s ", name, budget.FormatSize(p.LimitBytes))
	if p.Error != "" {
		fmt.Fprintf(w, "does not fit: needs %s\n", budget.FormatSize(p.NeedBytes))
		return
	}
	speed := "?"
	if p.TokensPerSecond > 0 {
		speed = fmt.Sprintf("%.3g … %.3g", p.TokensPerSecond, p.TokensPerSecondFullContext)
	}
	fmt.Fprintf(w, "%12s %9d %6.2f %12s  %18s  %s\n", budget.FormatSize(p.TotalBytes), p.ContextTokens,
		p.AverageBits, budget.FormatSize(p.KVBytes), speed, p.KV)
}

// formatClusters writes clusters on one line.
func formatClusters(clusters []clusterReport) string {
	var texts []string
	for _, c := range clusters {
		text := fmt.Sprintf("%d × %s", c.Cores, c.Core)
		if c.MaxMHz > 0 {
			text += fmt.Sprintf(" %d MHz", c.MaxMHz)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " + ")
}

// formatRate writes bytes per second as vendors do.
func formatRate(bytesPerSecond int64) string {
	return fmt.Sprintf("%.3g GB/s", float64(bytesPerSecond)/1e9)
}
