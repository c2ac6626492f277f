//go:build unix

package main

import (
	"bytes"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestInterrupt sends a signal while text comes, to a process of its own. The
// greedy text of the prompt is known, so that what came can be compared.
func TestInterrupt(t *testing.T) {
	whole := textOf(t, mustCall(t, "run", "--json", "-p", "Once", "--temp", "0", "--ignore-eos"))
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(s.String(), func(t *testing.T) {
			// Reading a pipe of 64 KiB slowly does not stop so small a model:
			// the cache quantized by the generic set is slow enough.
			cmd := process(t, "run", "-p", "Once", "--temp", "0", "--ignore-eos")
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			first := make([]byte, 1)
			if _, err := io.ReadFull(stdout, first); err != nil {
				t.Fatalf("no text came: %v, %s", err, stderr.String())
			}
			if err := cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(stdout)
			if err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			checkInterrupted(t, cmd.ProcessState.ExitCode(), string(first)+string(rest), whole,
				stderr.String(), 128+int(s))
		})
	}
}

// checkInterrupted accepts that the text ended before the signal came.
func checkInterrupted(t *testing.T, status int, text, whole, stderr string, wantStatus int) {
	t.Helper()
	ended := strings.Contains(stderr, "the limit was reached")
	if ended {
		t.Log("the text ended before the signal came")
		wantStatus = 0
	}
	if status != wantStatus {
		t.Errorf("status %d; want %d", status, wantStatus)
	}
	body, newline := strings.CutSuffix(text, "\n")
	if !newline || !strings.HasPrefix(whole, strings.TrimRight(body, "\n")) {
		t.Errorf("text %q; want a beginning of %q and a newline", text, whole)
	}
	for _, want := range []string{"generated ", "  total"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("stderr %q; want the summary with %q", stderr, want)
		}
	}
	if !ended && !strings.Contains(stderr, "interrupted") {
		t.Errorf("stderr %q; want it to say interrupted", stderr)
	}
}

// TestTextStreams reads the first piece long before the last one is written.
func TestTextStreams(t *testing.T) {
	cmd := process(t, "run", "-p", "Once", "--temp", "0", "--ignore-eos", "--kernels", "generic")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reads := 0
	buffer := make([]byte, 1<<16)
	for start := time.Now(); time.Since(start) < time.Minute; reads++ {
		if _, err := stdout.Read(buffer); err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if reads < 10 {
		t.Errorf("the text came in %d reads; want it piece by piece", reads)
	}
}
