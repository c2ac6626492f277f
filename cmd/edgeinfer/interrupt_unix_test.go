//go:build unix

package main

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// interruptingWriter sends its own process a signal at the nth write, and holds
// the writer until the signal has been seen.
type interruptingWriter struct {
	bytes.Buffer
	signal syscall.Signal
	writes int // left until the signal
}

func (w *interruptingWriter) Write(p []byte) (int, error) {
	if w.writes--; w.writes == 0 {
		if err := syscall.Kill(os.Getpid(), w.signal); err != nil {
			return 0, err
		}
		time.Sleep(200 * time.Millisecond)
	}
	return w.Buffer.Write(p)
}

// TestInterrupt sends a signal while text comes. What came stays, a newline and
// the summary follow, and the status is the shell's for that signal.
func TestInterrupt(t *testing.T) {
	const prompt = "Once"
	whole := textOf(t, mustCall(t, "run", "--json", "-p", prompt, "--temp", "0", "--ignore-eos"))
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			stdout := interruptingWriter{signal: signal, writes: 10}
			var stderr bytes.Buffer
			args := []string{"run", "-p", prompt, "--temp", "0", "--ignore-eos"}
			env := []string{"EDGEINFER_CONFIG=" + os.DevNull}
			status := run(args, env, strings.NewReader(""), &stdout, &stderr)
			if want := 128 + int(signal); status != want {
				t.Errorf("status %d; want %d", status, want)
			}
			text, newline := strings.CutSuffix(stdout.String(), "\n")
			if !newline || !strings.HasPrefix(whole, text) || len(text) < 10 || len(text) > len(whole)/2 {
				t.Errorf("text %q; want a beginning of %q and a newline", text, whole)
			}
			for _, want := range []string{"generated ", "; interrupted", "  total"} {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("stderr %q; want %q in it", stderr.String(), want)
				}
			}
		})
	}
}

// TestInterruptInAChat ends a chat that is fed by a pipe, not only its answer.
func TestInterruptInAChat(t *testing.T) {
	stdout := interruptingWriter{signal: syscall.SIGINT, writes: 3}
	var stderr bytes.Buffer
	args := []string{"run", "-cnv", "--temp", "0", "--ignore-eos", "-n", "100"}
	env := []string{"EDGEINFER_CONFIG=" + os.DevNull}
	status := run(args, env, strings.NewReader("Hello\nAnd then?\n"), &stdout, &stderr)
	if status != 130 || strings.Count(stderr.String(), "generated ") != 1 {
		t.Errorf("status %d, stderr %q; want 130 and one summary", status, stderr.String())
	}
}
