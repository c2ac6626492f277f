package main

// The plan for people: layers as bars of bits, memory as one stacked bar, and what a
// little more memory would buy.

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"edgeinfer/arena"
	"edgeinfer/budget"
	"edgeinfer/edge"
)

// writePlan writes the plan for people. next may be nil.
func writePlan(w io.Writer, source *edge.Source, plan budget.Plan, next *nextReport) {
	g, spec := plan.Geometry, source.Spec()
	fmt.Fprintf(w, "model     %s (%s, %d layers, trained with %d tokens)\n",
		source.File().Name(), spec.Architecture, len(spec.Layers), spec.ContextTokens)
	fmt.Fprintf(w, "context   %d tokens, sessions %d\n", plan.ContextTokens, g.Sessions)
	fmt.Fprintf(w, "cache     %s: %s, %.2f bits a value and %.1f bytes a token once sealed\n",
		planText(plan), budget.FormatSize(plan.KVBytes()), g.AverageBits(), g.SealedBytesPerToken())
	fmt.Fprintf(w, "planner   %s, predicted distortion %.3g\n", plan.Planner, plan.PredictedDistortion)
	if plan.Basis != "" && plan.Planner != budget.PlannerGiven {
		fmt.Fprintf(w, "          %s\n", plan.Basis)
	}
	if plan.GuardedLayers > 0 {
		fmt.Fprintf(w, "          %d layers have keys unlike the others' and get more bits for them\n",
			plan.GuardedLayers)
	}
	fmt.Fprintf(w, "limit     %s (%s)\n", budget.FormatSize(plan.LimitBytes), plan.LimitSource)
	writeNext(w, plan, next)
	writeLayers(w, plan.Formats())
	fmt.Fprintln(w, "memory:")
	fmt.Fprintf(w, "  [%s]\n", memoryBar(plan))
	for _, l := range plan.Lines {
		writeBytes(w, string(purposeMarks[l.Purpose])+" "+l.Purpose.String(), l.Bytes)
	}
	writeBytes(w, "  total", plan.TotalBytes)
}

// writeNext says what the least more memory would buy.
func writeNext(w io.Writer, plan budget.Plan, next *nextReport) {
	if next == nil {
		return
	}
	fmt.Fprintf(w, "one more  %s more would buy ", budget.FormatSize(next.MoreBytes))
	if next.ContextTokens > plan.ContextTokens {
		fmt.Fprintf(w, "a context of %d tokens\n", next.ContextTokens)
		return
	}
	kv := next.KV
	if strings.Contains(kv, ":") { // by layer, too long to read
		kv = "better formats"
	}
	fmt.Fprintf(w, "%s, predicted distortion %.3g\n", kv, next.PredictedDistortion)
}

// barBits is the most bits a bar shows; a float row's ends in a mark for the rest.
const barBits = 8

// writeLayers writes a row for each run of layers with the same formats.
func writeLayers(w io.Writer, formats []budget.LayerFormats) {
	fmt.Fprintf(w, "%-9s %-28s %s\n", "layers:", "K bits", "V bits")
	for first := 0; first < len(formats); {
		last := first
		for last+1 < len(formats) && formats[last+1] == formats[first] {
			last++
		}
		name := fmt.Sprint(first)
		if last > first {
			name += fmt.Sprintf("-%d", last)
		}
		f := formats[first]
		fmt.Fprintf(w, "  %-7s %-28s %s\n", name,
			bitBar(f.K.Bits)+" "+budget.SideText(0, f.K), bitBar(f.V.Bits)+" "+budget.SideText(1, f.V))
		first = last + 1
	}
}

// bitBar is a mark for each bit.
func bitBar(bits int) string {
	bar := strings.Repeat("#", min(bits, barBits))
	if bits > barBits {
		bar += "+"
	}
	return fmt.Sprintf("%-*s", barBits+1, bar)
}

// purposeMarks are the letters of the bar of memory.
var purposeMarks = [arena.NumPurposes]byte{
	arena.Weights: 'W', arena.ProgramImage: 'P', arena.KVPayload: 'K', arena.KVScales: 'S',
	arena.KVPadding: 'p', arena.KVWindow: 'R', arena.KeyMeans: 'm', arena.PageTable: 't',
	arena.Scratch: 'c', arena.Activations: 'A', arena.Logits: 'L', arena.Tokenizer: 'T',
	arena.GoReserve: 'G', arena.PageRounding: 'r',
}

// memoryBarWidth is the columns of the bar of memory.
const memoryBarWidth = 76

// memoryBar draws the lines of a plan one after the other, dots for what the limit
// leaves. Where that is more than half, the bar shows the plan alone.
func memoryBar(plan budget.Plan) string {
	whole := max(plan.TotalBytes, 1)
	if plan.LimitBytes/2 <= plan.TotalBytes {
		whole = max(whole, plan.LimitBytes)
	}
	bar, sum := make([]byte, 0, memoryBarWidth), int64(0)
	for _, l := range plan.Lines {
		sum += l.Bytes
		end := int(float64(sum)/float64(whole)*memoryBarWidth + 0.5)
		bar = append(bar, slices.Repeat([]byte{purposeMarks[l.Purpose]}, max(0, end-len(bar)))...)
	}
	return string(bar) + strings.Repeat(".", memoryBarWidth-len(bar))
}
