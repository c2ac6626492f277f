package tests

// The house's rules as a test: who may import whom, what comes from outside,
// and that every package says what it is for. Files are parsed rather than
// listed with the go command, whose answers the test cache would keep.

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"edgeinfer/tests/shared"
)

// mayImport says which of our packages each package may import. A new edge
// comes with its reason in docs/RATIONALE.md, and never closes a cycle.
var mayImport = map[string][]string{
	"arena":                 {},
	"kernels/amd64":         {},
	"kernels/arm64":         {},
	"kernels":               {"kernels/amd64", "kernels/arm64"},
	"boards":                {},
	"budget":                {"arena", "kernels"},
	"edge/internal/mmap":    {},
	"edge/internal/workers": {},
	"edge/gguf":             {"edge/internal/mmap"},
	"edge/gguf/gguftest":    {"edge/gguf"},
	"edge/tokenizer":        {},
	"edge/chat":             {},
	"edge/sample":           {},
	"edge/kv":               {"arena", "kernels", "edge/internal/workers"},
	"edge/model":            {"arena", "kernels", "edge/kv", "edge/gguf", "edge/internal/workers"},
	"edge": {"arena", "boards", "budget", "kernels", "edge/chat", "edge/gguf", "edge/kv", "edge/model",
		"edge/sample", "edge/tokenizer", "edge/internal/workers"},
	"edge/eval": {"edge"},
	"cmd/edgeinfer": {"arena", "boards", "budget", "kernels", "edge", "edge/chat", "edge/eval", "edge/gguf",
		"edge/sample", "edge/tokenizer"},
	"tests/shared": {},
}

// fromOutside says which modules the shipped code of each package may import.
// Everything else outside the standard library is for tests and tools.
var fromOutside = map[string][]string{
	"arena":                 {"golang.org/x/sys"},
	"kernels":               {"github.com/klauspost/cpuid/v2", "github.com/x448/float16"},
	"edge/internal/mmap":    {"golang.org/x/sys"},
	"edge/internal/workers": {"golang.org/x/sys"},
	"cmd/edgeinfer":         {"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/pelletier/go-toml/v2"},
}

func TestImportsFollowTheTable(t *testing.T) {
	documented := map[string]bool{}
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		room := filepath.ToSlash(filepath.Dir(file))
		allowed, known := mayImport[room]
		if !known && !strings.Contains(room, "/internal/") {
			t.Errorf("%s: package %s is not in the table of rooms", file, room)
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(shared.Root(t), file), nil,
			parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if parsed.Doc != nil {
			documented[room] = true
		} else if _, seen := documented[room]; !seen {
			documented[room] = false
		}
		for _, spec := range parsed.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			checkImport(t, file, room, path, allowed)
		}
	}
	for room, ok := range documented {
		if !ok {
			t.Errorf("package %s has no package comment", room)
		}
	}
}

// checkImport holds one import against the tables.
func checkImport(t *testing.T, file, room, path string, allowed []string) {
	t.Helper()
	if ours, ok := strings.CutPrefix(path, "edgeinfer/"); ok {
		private := strings.HasPrefix(ours, room+"/internal/")
		if !private && !slices.Contains(allowed, ours) {
			t.Errorf("%s: %s may not import %s", file, room, ours)
		}
		return
	}
	if !strings.Contains(strings.Split(path, "/")[0], ".") {
		return // the standard library
	}
	owner := room
	if i := strings.Index(room, "/internal/"); i >= 0 && fromOutside[room] == nil {
		owner = room[:i]
	}
	for _, module := range fromOutside[owner] {
		if path == module || strings.HasPrefix(path, module+"/") {
			return
		}
	}
	t.Errorf("%s: %s may not import %s", file, room, path)
}

// goFiles lists the Go files of the tree, relative to its root.
func goFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	root := shared.Root(t)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "dist") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(name, ".go") {
			rel, err := filepath.Rel(root, path)
			files = append(files, rel)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("found %d Go files; the walk is broken", len(files))
	}
	return files
}
