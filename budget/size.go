package budget

// Sizes as people write them. Binary units, exact integer arithmetic.

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

const (
	kib = int64(1) << 10
	mib = int64(1) << 20
	gib = int64(1) << 30
)

// sizeUnits are the accepted units in lower case. K, M and G are binary, as in
// systemd's MemoryMax and Docker's --memory; KB, MB and GB are those of disks.
var sizeUnits = map[string]int64{
	"": 1, "b": 1,
	"k": kib, "kib": kib, "kb": 1e3,
	"m": mib, "mib": mib, "mb": 1e6,
	"g": gib, "gib": gib, "gb": 1e9,
	"t": gib << 10, "tib": gib << 10, "tb": 1e12,
}

const sizeForms = `sizes are bytes ("1048576") or a number with KiB, MiB, GiB ("1500MiB", "1.5GiB")`

// ParseSize reads a size in bytes: "123", "1500MiB", "1.5GiB", "2G". A part of
// a byte is dropped. Zero, negative, malformed and overflowing sizes are
// errors that name the accepted forms.
func ParseSize(text string) (int64, error) {
	fail := func(why string) (int64, error) {
		return 0, fmt.Errorf("budget: size %s %s; %s", quote(text), why, sizeForms)
	}
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "-") {
		return fail("is negative")
	}
	end := 0
	for end < len(trimmed) && (trimmed[end] == '.' || isDigit(trimmed[end])) {
		end++
	}
	whole, fraction, pointed := strings.Cut(trimmed[:end], ".")
	unit, known := sizeUnits[strings.ToLower(strings.TrimSpace(trimmed[end:]))]
	switch {
	case whole == "" || (pointed && fraction == "") || strings.Contains(fraction, "."):
		return fail("does not begin with a number")
	case !known:
		return fail("has the unknown unit " + quote(strings.TrimSpace(trimmed[end:])))
	}
	number, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || number > math.MaxInt64/unit {
		return fail("is too large")
	}
	size := number*unit + fractionOf(fraction, unit)
	switch {
	case size < 0:
		return fail("is too large")
	case size == 0:
		return fail("is less than a byte")
	}
	return size, nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// fractionOf returns ⌊0.digits · unit⌋. Nine digits are enough for a byte of
// a gigabyte; what follows them is dropped.
func fractionOf(digits string, unit int64) int64 {
	value, scale := uint64(0), uint64(1)
	for i := 0; i < min(len(digits), 9); i++ {
		value, scale = 10*value+uint64(digits[i]-'0'), 10*scale
	}
	high, low := bits.Mul64(value, uint64(unit))
	quotient, _ := bits.Div64(high, low, scale)
	return int64(quotient)
}

// quote quotes text from outside for a message, shortened.
func quote(text string) string {
	if len(text) > 60 {
		return strconv.QuoteToASCII(text[:60]) + "…"
	}
	return strconv.QuoteToASCII(text)
}

// quotedList is the texts quoted, with commas.
func quotedList(texts []string) string {
	var quoted []string
	for _, text := range texts {
		quoted = append(quoted, quote(text))
	}
	return strings.Join(quoted, ", ")
}

// FormatSize writes bytes for people, rounded down: "512 B", "7.9 KiB",
// "3689.4 MiB", "23.1 GiB". ParseSize reads it.
func FormatSize(bytes int64) string {
	for _, unit := range []struct {
		from, bytes int64
		name        string
	}{{20 * gib, gib, "GiB"}, {mib, mib, "MiB"}, {kib, kib, "KiB"}} {
		if bytes >= unit.from {
			tenths := bytes % unit.bytes * 10 / unit.bytes
			return fmt.Sprintf("%d.%d %s", bytes/unit.bytes, tenths, unit.name)
		}
	}
	return fmt.Sprintf("%d B", bytes)
}

// flagSize writes bytes rounded up in a form that ParseSize takes: what a
// message offers as a way out must do.
func flagSize(bytes int64) string {
	unit, name := kib, "KiB"
	if bytes >= 16*mib {
		unit, name = mib, "MiB"
	}
	return fmt.Sprintf("%d%s", bytes/unit+min(1, bytes%unit), name)
}
