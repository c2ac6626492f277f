package tests

// Speed side by side with llama.cpp: the same model, threads and work, in
// turns, so that a machine whose speed drifts slows both. EDGEINFER_PEER names
// the folder that holds llama-bench; without it our figures stand alone.
//
//	EDGEINFER_PEER=… go test ./tests -run '^$' -bench Peer -benchtime 5x

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"edgeinfer/edge"
	"edgeinfer/tests/shared"
)

func BenchmarkPeer(b *testing.B) {
	for _, threads := range []int{1, 2} {
		for _, work := range []struct {
			name            string
			prompt, predict int
		}{{"pp512", 512, 0}, {"tg128", 0, 128}} {
			b.Run(fmt.Sprintf("%s/threads=%d", work.name, threads), func(b *testing.B) {
				comparePeer(b, work.prompt, work.predict, threads)
			})
		}
	}
}

// comparePeer runs both programs b.N times in turns and reports the medians.
func comparePeer(b *testing.B, prompt, predict, threads int) {
	e := openSmolLM2(b, edge.Options{ContextTokens: 1024, KV: "f16", Threads: threads, BatchTokens: 512})
	var ours, peer, ratios []float64
	for range b.N {
		ours = append(ours, ourSpeed(b, e, prompt, predict))
		if folder := os.Getenv("EDGEINFER_PEER"); folder != "" {
			peer = append(peer, peerSpeed(b, folder, prompt, predict, threads))
			ratios = append(ratios, ours[len(ours)-1]/peer[len(peer)-1])
		}
	}
	b.ReportMetric(median(ours), "tok/s")
	if len(peer) > 0 {
		b.ReportMetric(median(peer), "peer-tok/s")
		b.ReportMetric(median(ratios), "ratio")
	}
	b.ReportMetric(0, "ns/op")
}

// ourSpeed is the tokens per second of one prompt or one answer.
func ourSpeed(b *testing.B, e *edge.Engine, prompt, predict int) float64 {
	s, err := e.NewSession()
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	tokens := make([]int32, max(prompt, 1))
	for i := range tokens {
		tokens[i] = int32(1000 + (i*i*31+7*i)%40000)
	}
	r, err := s.Generate(b.Context(), edge.Request{Tokens: tokens, MaxTokens: predict, Sampling: greedy,
		IgnoreEOS: true}, func([]byte) {})
	if err != nil {
		b.Fatal(err)
	}
	if predict == 0 {
		return r.Timings.PromptPerSecond
	}
	return r.Timings.PredictedPerSecond
}

// peerSpeed is what llama-bench measures in one repetition after its warm-up.
func peerSpeed(b *testing.B, folder string, prompt, predict, threads int) float64 {
	out, err := exec.Command(filepath.Join(folder, "llama-bench"),
		"-m", shared.Path(b, "models", smollm2), "-p", strconv.Itoa(prompt), "-n", strconv.Itoa(predict),
		"-t", strconv.Itoa(threads), "-r", "1", "-o", "json").Output()
	if err != nil {
		b.Fatal(err)
	}
	var rows []struct {
		Speed float64 `json:"avg_ts"`
	}
	if err := json.Unmarshal(out, &rows); err != nil || len(rows) != 1 {
		b.Fatalf("llama-bench printed %d rows, error %v", len(rows), err)
	}
	return rows[0].Speed
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}
