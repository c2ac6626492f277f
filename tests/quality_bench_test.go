package tests

// What quantized caches cost in quality, as tables in Markdown: SmolLM2 on the
// test part of WikiText-2, many plans in one pass, and llama.cpp's own caches
// beside them. It takes more than an hour on two cores and runs only when asked:
//
//	EDGEINFER_TEST_QUALITY=16 EDGEINFER_PEER=… go test ./tests -run QualityTables -v -timeout 4h
//
// EDGEINFER_TEST_QUALITY is the most chunks of each size; 16 runs all of them.
// EDGEINFER_PEER names the folder that holds llama-perplexity; without it our
// figures stand alone.
//
// The floor: two programs that compute the same cache, or one that rounds in
// another order, differ by about 0.003 in mean divergence on this model, because
// activations are quantized on the way. So the same f16 cache on the portable
// kernels is measured as one of the plans, and llama.cpp's without its fused
// attention; what a format costs is what it has above that.

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"edgeinfer/edge"
	"edgeinfer/edge/eval"
	"edgeinfer/tests/shared"
)

// qualityPlans are measured with the default window and without any.
var qualityPlans = []string{"k8v8", "k8v4", "k6v4", "k5v4", "k4v4", "k4v3", "k4v2", "k3v3", "k3v2",
	"k2v4", "k2v2"}

// floatCache is the reference's plan, noWindow what a plan without one ends in.
const (
	floatCache = "f16"
	noWindow   = "/window=none"
)

// peerCaches are llama.cpp's types and our plans of about the same bytes.
var peerCaches = []struct {
	k, v string
	bits float64 // a value, by llama.cpp's block sizes
	ours string
}{{"q4_0", "q4_0", 4.5, "k4v4"}, {"q8_0", "q4_0", 6.5, "k8v4"}}

func TestQualityTables(t *testing.T) {
	asked := os.Getenv("EDGEINFER_TEST_QUALITY")
	if asked == "" {
		t.Skip("EDGEINFER_TEST_QUALITY is not set; its value is the most chunks of each size")
	}
	most, err := strconv.Atoi(asked)
	if err != nil || most < 1 {
		t.Fatalf("EDGEINFER_TEST_QUALITY=%q is no number of chunks", asked)
	}
	for _, size := range []struct{ context, chunks int }{{512, 16}, {2048, 4}} {
		t.Run(fmt.Sprintf("c=%d", size.context), func(t *testing.T) {
			qualityTables(t, size.context, min(most, size.chunks))
		})
	}
}

// qualityRow is one cache that was measured.
type qualityRow struct {
	name                string
	bits, bytes         float64 // a value, a token; of sealed tiles
	mean, meanError     float64 // of the divergence
	p99, sameTop, ppl   float64
	referencePPL, above float64 // above: mean less the floor
}

// qualityTables measures and prints everything of one chunk size.
func qualityTables(t *testing.T, context, chunks int) {
	ours := ourQuality(t, context, chunks)
	floor := ours[floorRow]
	fmt.Printf("\n## %d chunks of %d tokens\n\nPPL of the f16 cache %.4f. Floor %.5f ± %.5f: "+
		"the f16 cache on the portable kernels.\n", chunks, context, floor.referencePPL, floor.mean,
		floor.meanError)
	windowed, bare := []qualityRow{floor, ours["f32"]}, []qualityRow(nil)
	for _, plan := range qualityPlans {
		windowed, bare = append(windowed, ours[plan]), append(bare, ours[plan+noWindow])
	}
	printQuality("Default window and sinks", windowed)
	printQuality("No window", bare)
	if folder := os.Getenv("EDGEINFER_PEER"); folder != "" {
		comparePeerQuality(t, folder, ours, context, chunks)
	}
}

// floorRow names the f16 cache on other kernels.
const floorRow = "f16 (floor)"

// ourQuality runs all plans in one pass.
func ourQuality(t *testing.T, context, chunks int) map[string]qualityRow {
	open := func(plan, set string) *edge.Engine {
		return openSmolLM2(t, edge.Options{ContextTokens: context, KV: plan, Kernels: set, LogitRows: 16})
	}
	names := []string{floorRow, "f32"}
	engines := []*edge.Engine{open(floatCache, "generic"), open("f32", "")}
	for _, plan := range qualityPlans {
		for _, plan := range []string{plan, plan + noWindow} {
			names, engines = append(names, plan), append(engines, open(plan, ""))
		}
	}
	text, err := os.ReadFile(shared.Path(t, "text", "wikitext2-test.txt"))
	if err != nil {
		t.Fatal(err)
	}
	reference := open(floatCache, "")
	tok := reference.Tokenizer()
	o := eval.Options{ContextTokens: context, Chunks: chunks, BOS: -1}
	if tok.AddBOS() {
		o.BOS = tok.BOS()
	}
	results, err := eval.Divergence(t.Context(), reference, engines,
		tok.Encode(nil, string(text), tokenizerOptions), o, func(done, chunks int, _ []eval.Result) {
			fmt.Fprintf(os.Stderr, "chunk %d of %d\n", done, chunks)
		})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]qualityRow{}
	for i, r := range results {
		g := engines[i].Plan().Geometry
		rows[names[i]] = qualityRow{name: names[i], bits: g.AverageBits(), bytes: g.SealedBytesPerToken(),
			mean: r.KLD.Mean, meanError: r.KLD.Error, p99: r.KLD.P99, sameTop: r.SameTop, ppl: r.PPL,
			referencePPL: r.PPLReference, above: r.KLD.Mean - results[0].KLD.Mean}
	}
	return rows
}

// printQuality prints a table.
func printQuality(title string, rows []qualityRow) {
	fmt.Printf("\n%s:\n\n| cache | bits | bytes/token | mean KLD | ± | above floor | p99 | "+
		"same top | PPL |\n|---|---|---|---|---|---|---|---|---|\n", title)
	for _, r := range rows {
		fmt.Printf("| %s | %.2f | %.0f | %.5f | %.5f | %.5f | %.4f | %.2f %% | %.4f |\n", r.name, r.bits,
			r.bytes, r.mean, r.meanError, r.above, r.p99, 100*r.sameTop, r.ppl)
	}
}

// comparePeerQuality measures llama.cpp's caches on the same chunks and prints
// both side by side. Its f16 cache must have our perplexity.
func comparePeerQuality(t *testing.T, folder string, ours map[string]qualityRow, context,
	chunks int) {
	p := peerQuality{t, folder, context, chunks, filepath.Join(t.TempDir(), "base.kld"),
		ours[floorRow].bytes / ours[floorRow].bits}
	p.run("-fa", "on")
	floor := p.measure("f16/f16 (floor)", 16, "-fa", "off")
	rows := []qualityRow{floor}
	for _, c := range peerCaches {
		r := p.measure(c.k+"/"+c.v, c.bits, "-fa", "on", "-ctk", c.k, "-ctv", c.v)
		r.above = r.mean - floor.mean
		rows = append(rows, r)
	}
	f16 := ours[floorRow].referencePPL
	if d := f16/floor.referencePPL - 1; !(math.Abs(d) <= 0.01) {
		t.Errorf("PPL of the f16 cache is %.4f, the peer's %.4f: %.2f %% apart, want 1 %% at most",
			f16, floor.referencePPL, 100*d)
	}
	printQuality(fmt.Sprintf("llama.cpp, PPL of its f16 cache %.4f; its floor is the f16 cache "+
		"without fused attention", floor.referencePPL), rows)
	fmt.Print("\nSide by side, divergences above the floors:\n\n| llama.cpp | bits | above floor | " +
		"ours | bits | above floor | ratio |\n|---|---|---|---|---|---|---|\n")
	for i, c := range peerCaches {
		peer := rows[1+i]
		for _, plan := range []string{c.ours, c.ours + noWindow} {
			r := ours[plan]
			fmt.Printf("| %s | %.2f | %.5f | %s | %.2f | %.5f | %.3f |\n", peer.name, peer.bits, peer.above,
				plan, r.bits, r.above, r.above/peer.above)
		}
	}
}

// peerQuality runs llama-perplexity on the chunks of one size.
type peerQuality struct {
	t               *testing.T
	folder          string
	context, chunks int
	base            string  // file of the reference's logits
	bytesPerBit     float64 // of a token's cache, for a bit a value
}

// run returns what llama-perplexity prints; without --kl-divergence it writes
// the base.
func (p peerQuality) run(args ...string) []byte {
	args = append([]string{"-m", shared.Path(p.t, "models", smollm2),
		"-f", shared.Path(p.t, "text", "wikitext2-test.txt"), "-c", strconv.Itoa(p.context),
		"-b", "512", "--chunks", strconv.Itoa(p.chunks), "--kl-divergence-base", p.base}, args...)
	out, err := exec.CommandContext(p.t.Context(), filepath.Join(p.folder, "llama-perplexity"),
		args...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("llama-perplexity %q: %v\n%s", args, err, out)
	}
	return out
}

// measure compares a cache with the base.
func (p peerQuality) measure(name string, bits float64, args ...string) qualityRow {
	out := p.run(append(args, "--kl-divergence")...)
	field := func(pattern string) float64 {
		m := regexp.MustCompile(`(?m)^` + pattern).FindSubmatch(out)
		if m == nil {
			p.t.Fatalf("llama-perplexity printed no line %q:\n%s", pattern, out)
		}
		v, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			p.t.Fatal(err)
		}
		return v
	}
	return qualityRow{name: name, bits: bits, bytes: bits * p.bytesPerBit,
		mean: field(`Mean +KLD: +(\S+)`), meanError: field(`Mean +KLD: +\S+ ± +(\S+)`),
		p99: field(`99\.0% +KLD: +(\S+)`), sameTop: field(`Same top p: +(\S+)`) / 100,
		ppl: field(`Mean PPL\(Q\) +: +(\S+)`), referencePPL: field(`Mean PPL\(base\) +: +(\S+)`)}
}
