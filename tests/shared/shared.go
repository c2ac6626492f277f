// Package shared finds the folder of models, texts and golden data that lies
// beside the checkout. It is for tests only; nothing that ships imports it.
package shared

import (
	"os"
	"path/filepath"
	"testing"
)

// Path returns the path of an entry of ../shared, seen from the folder that
// holds go.mod. Where the entry is absent the test is skipped, saying so.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{Root(t), "..", "shared"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("shared data absent: %v", err)
	}
	return path
}

// Root returns the folder that holds go.mod.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = parent
	}
}
