package budget

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseSize(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
	}{
		{"1", 1}, {"123", 123}, {"123B", 123}, {" 64 KiB ", 64 << 10}, {"64kib", 64 << 10},
		{"1500MiB", 1500 << 20}, {"2GiB", 2 << 30}, {"2 GiB", 2 << 30}, {"3TiB", 3 << 40},
		{"2G", 2 << 30}, {"512m", 512 << 20}, {"1k", 1024}, {"1T", 1 << 40},
		{"2GB", 2e9}, {"3MB", 3e6}, {"4kB", 4000}, {"1TB", 1e12},
		{"1.5GiB", 3 << 29}, {"0.5KiB", 512}, {"1.0", 1}, {"1.999999999999KiB", 2047}, {"00012", 12},
		{"0.000000001GiB", 1}, {"9223372036854775807", math.MaxInt64},
		{"8388607TiB", 8388607 << 40}, {"1.9", 1},
	} {
		if got, err := ParseSize(c.text); err != nil || got != c.want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", c.text, got, err, c.want)
		}
	}
}

func TestParseSizeErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `"" does not begin with a number`},
		{"   ", "does not begin with a number"},
		{"0", `"0" is less than a byte`},
		{"0GiB", "is less than a byte"},
		{"0.0000000001", "is less than a byte"},
		{"-1", `"-1" is negative`},
		{"-0.5GiB", "is negative"},
		{"12potatoes", `"12potatoes" has the unknown unit "potatoes"`},
		{"12 Gi B", "has the unknown unit"},
		{"1e9", `unknown unit "e9"`},
		{"1_000", `unknown unit "_000"`},
		{"1,5GiB", `unknown unit`},
		{"0x10", `unknown unit "x10"`},
		{"+5", "does not begin with a number"},
		{"GiB", "does not begin with a number"},
		{".5GiB", "does not begin with a number"},
		{"1.GiB", "does not begin with a number"},
		{"1.2.3", "does not begin with a number"},
		{"٣GiB", "does not begin with a number"},
		{"9223372036854775808", "is too large"},
		{"8388608TiB", "is too large"},
		{"99999999999999999999999GiB", "is too large"},
		{"8589934592GiB", "is too large"},
		{"8388607.9999999999999999999999999999999TiB\x00", "unknown unit"},
		{strings.Repeat("9", 1000), "…"},
	} {
		got, err := ParseSize(c.text)
		if err == nil {
			t.Errorf("ParseSize(%q) = %d; want an error", c.text, got)
			continue
		}
		for _, part := range []string{"budget: size ", c.want, "1500MiB"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("ParseSize(%q) = %q; want it to say %q", c.text, err, part)
			}
		}
	}
}

func TestSizesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytes := rapid.Int64Range(1, 1<<50).Draw(t, "bytes")
		shown, err := ParseSize(FormatSize(bytes))
		if err != nil || shown > bytes || float64(shown) < 0.9*float64(bytes) {
			t.Errorf("FormatSize(%d) = %q reads as %d, %v", bytes, FormatSize(bytes), shown, err)
		}
		offered, err := ParseSize(flagSize(bytes))
		if err != nil || offered < bytes || offered > bytes+max(1<<10, bytes/16) {
			t.Errorf("flagSize(%d) = %q reads as %d, %v", bytes, flagSize(bytes), offered, err)
		}
	})
}

func TestFormatSize(t *testing.T) {
	for _, c := range []struct {
		bytes int64
		want  string
	}{
		{0, "0 B"}, {1023, "1023 B"}, {1024, "1.0 KiB"}, {1<<20 - 1, "1023.9 KiB"},
		{1 << 20, "1.0 MiB"}, {3 << 30, "3072.0 MiB"}, {23<<30 + 1<<29, "23.5 GiB"},
		{math.MaxInt64, "8589934591.9 GiB"},
	} {
		if got := FormatSize(c.bytes); got != c.want {
			t.Errorf("FormatSize(%d) = %q; want %q", c.bytes, got, c.want)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, seed := range []string{"1", "1.5GiB", "-1", "12potatoes", "9223372036854775807TiB"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if size, err := ParseSize(text); err == nil && size < 1 {
			t.Errorf("ParseSize(%q) = %d without an error", text, size)
		}
	})
}
