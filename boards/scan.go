package boards

// Reading of files that anything may have written: bounded in size and number,
// never followed into more than what is asked for. What does not parse is left
// out, and a note says so.

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

const (
	// maxFileBytes bounds what is read of one file; maxCPUInfoBytes of
	// /proc/cpuinfo, which has a kilobyte and a half for each CPU.
	maxFileBytes    = 1 << 16
	maxCPUInfoBytes = 1 << 20
	// maxCPUs bounds how many CPUs are looked at.
	maxCPUs = 1024
	// maxNotes bounds how much is told of what was left out.
	maxNotes = 4
)

// scanner reads below a root.
type scanner struct {
	files fs.FS
	notes []string
}

// note records what was left out.
func (s *scanner) note(format string, args ...any) {
	if len(s.notes) < maxNotes {
		s.notes = append(s.notes, fmt.Sprintf(format, args...))
	}
}

// read returns the content of a file, at most maxBytes of it. A missing file is
// no surprise; anything else is noted.
func (s *scanner) read(name string, maxBytes int64) (string, bool) {
	file, err := s.files.Open(name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
			s.note("%s: %v", quote(name), err)
		}
		return "", false
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxBytes))
	if err != nil {
		s.note("%s: %v", quote(name), err)
		return "", false
	}
	return string(data), true
}

// word reads a file that holds one line.
func (s *scanner) word(name string) string {
	text, _ := s.read(name, maxFileBytes)
	return strings.TrimSpace(text)
}

// number reads a file that holds one whole number from 1 to most; 0 where it is
// missing or holds something else.
func (s *scanner) number(name string, most int) int {
	text := s.word(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		s.note("%s holds %s", quote(name), quote(text))
		return 0
	}
	return n
}

// field returns what follows "name:" at the start of a line of text.
func field(text, name string) (string, bool) {
	for line := range strings.Lines(text) {
		key, value, found := strings.Cut(line, ":")
		if found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// cpuList reads the kernel's lists of CPUs, "0-3,5", in ascending order.
func (s *scanner) cpuList(name, text string) []int {
	var listed [maxCPUs]bool
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		firstText, lastText, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(firstText)
		last := first
		if err == nil && isRange {
			last, err = strconv.Atoi(lastText)
		}
		if err != nil || first < 0 || last < first {
			s.note("%s holds %s", quote(name), quote(part))
			continue
		}
		if last >= maxCPUs {
			s.note("the CPUs from %d on", maxCPUs)
		}
		for id := first; id <= min(last, maxCPUs-1); id++ {
			listed[id] = true
		}
	}
	var ids []int
	for id, is := range listed {
		if is {
			ids = append(ids, id)
		}
	}
	return ids
}

// printable makes text from outside fit for a terminal: one line, no control
// characters, shortened.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 80 {
		text = string(runes[:80]) + "…"
	}
	return text
}
