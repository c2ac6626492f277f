package main

import "testing"

func TestParseResident(t *testing.T) {
	const rollup = "55d0-7ffd ---p 00000000 00:00 0    [rollup]\nRss:    1234 kB\nPss:     900 kB\n"
	if bytes, ok := parseResident(rollup); bytes != 1234<<10 || !ok {
		t.Errorf("parseResident = %d, %v; want %d, true", bytes, ok, 1234<<10)
	}
	for _, text := range []string{"", "Pss: 5 kB\n", "Rss: five kB\n", "Rss: 5\n"} {
		if bytes, ok := parseResident(text); ok {
			t.Errorf("parseResident(%q) = %d, true; want false", text, bytes)
		}
	}
	if bytes, ok := residentBytes(); !ok || bytes < 1<<20 {
		t.Errorf("residentBytes() = %d, %v; want more than a MiB", bytes, ok)
	}
}
