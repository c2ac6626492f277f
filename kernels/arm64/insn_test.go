package arm64

// The encodings of insn_arm64.h against an independent assembler. The test
// needs only the Go tool, on any machine: it assembles, it does not run.

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// minCallsPerMacro is how many operand sets every macro is assembled with: a
// field that is shifted wrongly shows only where its bits are set.
const minCallsPerMacro = 5

// encoding is one line of testdata/insn.txt.
type encoding struct {
	call string // macro call
	word uint32 // what GNU as gave
	gnu  string // what it was given
}

func TestEveryMacroEncodesAsGNUAsDoes(t *testing.T) {
	encodings := readEncodings(t)
	calls := map[string]int{}
	for _, e := range encodings {
		calls[e.call[:strings.Index(e.call, "(")]]++
	}
	macros := macroNames(t)
	for _, name := range macros {
		if calls[name] < minCallsPerMacro {
			t.Errorf("insn_arm64.h: %s has %d lines in testdata/insn.txt; want at least %d",
				name, calls[name], minCallsPerMacro)
		}
		delete(calls, name)
	}
	for name := range calls {
		t.Errorf("testdata/insn.txt: %s is not in insn_arm64.h", name)
	}
	words := assemble(t, encodings)
	if len(words) != len(encodings) {
		t.Fatalf("go tool asm printed %d words; want %d", len(words), len(encodings))
	}
	for i, e := range encodings {
		if words[i] != e.word {
			t.Errorf("%s = %08x; want %08x (%s)", e.call, words[i], e.word, e.gnu)
		}
	}
}

func readEncodings(t *testing.T) []encoding {
	t.Helper()
	text, err := os.ReadFile("testdata/insn.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []encoding
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			t.Fatalf("testdata/insn.txt:%d: %d fields; want call, word, GNU text", i+1, len(fields))
		}
		word, err := strconv.ParseUint(fields[1], 16, 32)
		if err != nil {
			t.Fatalf("testdata/insn.txt:%d: %v", i+1, err)
		}
		list = append(list, encoding{fields[0], uint32(word), fields[2]})
	}
	return list
}

// macroNames lists the function-like macros of the header.
func macroNames(t *testing.T) []string {
	t.Helper()
	header, err := os.ReadFile("insn_arm64.h")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^#define (\w+)\(`).FindAllSubmatch(header, -1) {
		names = append(names, string(m[1]))
	}
	return names
}

// assemble gives the words of the calls, in order.
func assemble(t *testing.T, encodings []encoding) []uint32 {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not in PATH, nothing to assemble with")
	}
	var source bytes.Buffer
	source.WriteString("#include \"insn_arm64.h\"\nTEXT ·calls(SB), $0\n")
	for _, e := range encodings {
		source.WriteString("\t" + e.call + "\n")
	}
	source.WriteString("\tRET\n")
	dir := t.TempDir()
	file := filepath.Join(dir, "calls_arm64.s")
	if err := os.WriteFile(file, source.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "tool", "asm", "-S", "-p", "calls", "-I", here,
		"-o", filepath.Join(dir, "calls.o"), file)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64")
	listing, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go tool asm: %v\n%s", err, listing)
	}
	var words []uint32
	for _, m := range regexp.MustCompile(`\tWORD\t\$(\d+)`).FindAllSubmatch(listing, -1) {
		word, err := strconv.ParseUint(string(m[1]), 10, 32)
		if err != nil {
			t.Fatalf("go tool asm printed WORD $%s: %v", m[1], err)
		}
		words = append(words, uint32(word))
	}
	return words
}
