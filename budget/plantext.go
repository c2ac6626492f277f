package budget

// The text form of a plan, which every command takes:
//
//	plan  = form | range ":" form { "," range ":" form }
//	range = layer | layer "-" layer
//	form  = "f32" | "f16" | "k" bits "v" bits
//
// Bits are 1 to 8, or 16 for 16-bit rows. A form is one word and a range ends
// with a colon, so that options can follow a form later without changing what
// is valid now.

import (
	"fmt"
	"strconv"
	"strings"

	"edgeinfer/kernels"
)

// LayerFormats is how one layer's keys and values are kept.
type LayerFormats struct{ K, V kernels.KVFormat }

// Groups of the affine formats when a plan names none: keys need the finer
// scales (notes on quality: groups 32 for keys, 64 for values).
const (
	keyGroup   = 32
	valueGroup = 64
)

const planForms = `a plan is "f32", "f16", or bits for keys and values such as "k4v2" (1 to 8, ` +
	`or 16 for 16-bit rows, as in "k16v4"); layers may differ: "0-3:k8v6,4-29:k4v3"`

// Auto is the plan text that leaves the choice to the planner.
const Auto = "auto"

// ParsePlan reads the plan of a model with so many layers. Auto gives nil. An
// error names the part that is wrong, the layer given twice or not at all, and
// the accepted forms.
func ParsePlan(text string, layers int) ([]LayerFormats, error) {
	fail := func(format string, args ...any) ([]LayerFormats, error) {
		return nil, fmt.Errorf("budget: plan %s: %s; %s",
			quote(text), fmt.Sprintf(format, args...), planForms)
	}
	plain := strings.ToLower(strings.TrimSpace(text))
	switch {
	case layers < 1:
		return fail("the model has %d layers with a cache", layers)
	case plain == Auto:
		return nil, nil
	case plain == "":
		return fail("it is empty")
	case strings.Contains(plain, ";"):
		return fail("one plan is wanted here, not a list")
	}
	plan := make([]LayerFormats, layers)
	given := make([]bool, layers)
	for item := range strings.SplitSeq(plain, ",") {
		span, form, ranged := strings.Cut(item, ":")
		first, last := 0, layers-1
		if !ranged {
			form = span
			if strings.Contains(plain, ",") {
				return fail("%s has no layers in front, as the parts of a list must", quote(item))
			}
		} else if err := parseSpan(span, layers, &first, &last); err != nil {
			return fail("%v", err)
		}
		formats, err := parseForm(strings.TrimSpace(form))
		if err != nil {
			return fail("%v", err)
		}
		for layer := first; layer <= last; layer++ {
			if given[layer] {
				return fail("layer %d is given twice", layer)
			}
			plan[layer], given[layer] = formats, true
		}
	}
	for layer := range given {
		if !given[layer] {
			return fail("layer %d is missing of the layers 0 to %d", layer, layers-1)
		}
	}
	return plan, nil
}

// parseSpan reads "3" or "4-29", both ends within the model.
func parseSpan(span string, layers int, first, last *int) error {
	low, high, pair := strings.Cut(span, "-")
	if !pair {
		high = low
	}
	for _, end := range []struct {
		text  string
		layer *int
	}{{low, first}, {high, last}} {
		text := strings.TrimSpace(end.text)
		n, ok := parseNumber(text)
		if !ok {
			return fmt.Errorf("%s is no layer or range of layers", quote(span))
		}
		if n >= layers {
			return fmt.Errorf("layer %s is beyond the last layer, %d", text, layers-1)
		}
		*end.layer = n
	}
	if *first > *last {
		return fmt.Errorf("the range %s runs backwards", quote(span))
	}
	return nil
}

// parseForm reads what follows the layers.
func parseForm(form string) (LayerFormats, error) {
	switch form {
	case "f32":
		return LayerFormats{kernels.CacheF32, kernels.CacheF32}, nil
	case "f16":
		return LayerFormats{kernels.CacheF16, kernels.CacheF16}, nil
	}
	rest, isPair := strings.CutPrefix(form, "k")
	kText, vText, hasV := strings.Cut(rest, "v")
	kBits, kOK := parseNumber(kText)
	vBits, vOK := parseNumber(vText)
	if !isPair || !hasV || !kOK || !vOK {
		return LayerFormats{}, fmt.Errorf("%s is no cache format", quote(form))
	}
	if !validBits(kBits) {
		return LayerFormats{}, fmt.Errorf("keys of %s bits in %s are not possible", kText, quote(form))
	}
	if !validBits(vBits) {
		return LayerFormats{}, fmt.Errorf("values of %s bits in %s are not possible", vText, quote(form))
	}
	return pair(kBits, vBits), nil
}

// parseNumber reads digits only: no sign, no underscore.
func parseNumber(text string) (int, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

func validBits(bits int) bool { return (1 <= bits && bits <= 8) || bits == 16 }

// pair returns the formats of so many bits, 16 meaning 16-bit rows.
func pair(kBits, vBits int) LayerFormats {
	return LayerFormats{side(kBits, keyGroup), side(vBits, valueGroup)}
}

func side(bits, group int) kernels.KVFormat {
	if bits == 16 {
		return kernels.CacheF16
	}
	return kernels.AffineRows(bits, group)
}

// String writes the formats as ParsePlan reads them.
func (f LayerFormats) String() string {
	switch {
	case f.K == kernels.CacheF32 && f.V == kernels.CacheF32:
		return "f32"
	case f.K == kernels.CacheF16 && f.V == kernels.CacheF16:
		return "f16"
	}
	return fmt.Sprintf("k%dv%d", f.K.Bits, f.V.Bits)
}

// FormatPlan writes a plan as ParsePlan reads it: one form when all layers
// agree, else ranges.
func FormatPlan(plan []LayerFormats) string {
	var text strings.Builder
	for first := 0; first < len(plan); {
		last := first
		for last+1 < len(plan) && plan[last+1] == plan[first] {
			last++
		}
		if first == 0 && last == len(plan)-1 {
			return plan[0].String()
		}
		if first > 0 {
			text.WriteByte(',')
		}
		if text.WriteString(strconv.Itoa(first)); last > first {
			fmt.Fprintf(&text, "-%d", last)
		}
		text.WriteString(":" + plan[first].String())
		first = last + 1
	}
	return text.String()
}

// uniform is the plan with the same formats in all layers.
func uniform(f LayerFormats, layers int) []LayerFormats {
	plan := make([]LayerFormats, layers)
	for i := range plan {
		plan[i] = f
	}
	return plan
}
