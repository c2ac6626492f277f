package main

// What happens between a model and a person: text appears as it is generated,
// and a signal ends it.

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// answerWriter shows an answer piece by piece. A reader that went away ends
// the generation.
type answerWriter struct {
	w       io.Writer // nil: nothing is shown
	cancel  context.CancelFunc
	err     error
	newline bool // the last byte shown
	shown   bool
}

func (a *answerWriter) write(piece []byte) {
	if a.w == nil || a.err != nil || len(piece) == 0 {
		return
	}
	if _, a.err = a.w.Write(piece); a.err != nil {
		a.cancel()
	}
	a.shown, a.newline = true, piece[len(piece)-1] == '\n'
}

// endLine ends the last line, so that what follows begins a new one.
func (a *answerWriter) endLine() {
	if !a.newline {
		a.write([]byte{'\n'})
	}
}

// watchSignals returns a context that ends with the first interrupt or request
// to terminate; after that one, signals do again what they do by default. The
// caller calls stop.
func watchSignals() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			number, _ := s.(syscall.Signal)
			cancel(interrupted{number})
		case <-ctx.Done():
			signal.Stop(signals)
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// interruption is the signal that ended ctx, or nil.
func interruption(ctx context.Context) error {
	var stop interrupted
	if errors.As(context.Cause(ctx), &stop) {
		return stop
	}
	return nil
}

// isTerminal says whether somebody may be typing at r.
func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && !isNullDevice(info)
}

// isNullDevice says whether info is of the device that is always at its end.
func isNullDevice(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}
