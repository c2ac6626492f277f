package budget

// The text form of a plan, which every command takes:
//
//	plans = plan { ";" plan }
//	plan  = "auto" [ all ] | form [ all ] | range ":" form { "," range ":" form } [ all ]
//	range = layer | layer "-" layer
//	form  = "f32" | "f16" | "k" bits "v" bits { "/" option }        (planform.go)
//	all   = { "/window=" ( tiles | "none" ) | "/sinks=" ( "0" | "1" ) }
//
// Bits are 1 to 8, or 16 for 16-bit rows. The options of a form concern its
// layers, window and sinks the whole cache, wherever they stand.

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"edgeinfer/kernels"
)

// LayerFormats is how one layer's keys and values are kept.
type LayerFormats struct{ K, V kernels.KVFormat }

// Choice is what the text of a plan says.
type Choice struct {
	Layers      []LayerFormats // nil: the planner chooses
	WindowTiles *int           // nil: not said; −1: none
	SinkTiles   *int           // nil: not said
}

const planForms = `a plan is "f32", "f16", or bits for keys and values such as "k4v2" (1 to 8, ` +
	`or 16 for 16-bit rows, as in "k16v4"), then options such as "/chan-a", "/g=32" or ` +
	`"/window=none"; layers may differ: "0-3:k8v6,4-29:k4v3"`

// Auto is the plan text that leaves the choice to the planner.
const Auto = "auto"

// SplitPlans cuts a list of plans at its semicolons. Empty parts are errors of
// ParsePlan, but for one after the last semicolon.
func SplitPlans(text string) []string {
	return strings.Split(strings.TrimSuffix(strings.TrimSpace(text), ";"), ";")
}

// ParsePlan reads the plan of a model with so many layers. An error names the
// part that is wrong, the layer given twice or not at all, and the accepted
// forms.
func ParsePlan(text string, layers int) (Choice, error) {
	choice, err := parsePlan(strings.ToLower(strings.TrimSpace(text)), layers)
	if err != nil {
		return Choice{}, fmt.Errorf("budget: plan %s: %w; %s", quote(text), err, planForms)
	}
	return choice, nil
}

func parsePlan(plain string, layers int) (c Choice, err error) {
	switch {
	case layers < 1:
		return c, fmt.Errorf("the model has %d layers with a cache", layers)
	case plain == "":
		return c, errors.New("it is empty")
	case strings.Contains(plain, ";"):
		return c, errors.New("one plan is wanted here, not a list")
	}
	items := strings.Split(plain, ",")
	for i, item := range items {
		if items[i], err = c.takeOptions(item); err != nil {
			return c, err
		}
	}
	if len(items) == 1 && items[0] == Auto {
		return c, nil
	}
	c.Layers, err = parseItems(items, layers)
	return c, err
}

// takeOptions reads the options of the whole cache and returns item without
// them.
func (c *Choice) takeOptions(item string) (string, error) {
	parts := strings.Split(item, "/")
	rest := parts[:1]
	for _, part := range parts[1:] {
		part = strings.TrimSpace(part)
		name, value, _ := strings.Cut(part, "=")
		var to **int
		n, ok := parseNumber(value)
		switch name {
		case "window":
			if to = &c.WindowTiles; value == "none" {
				n, ok = -1, true
			}
			if !ok {
				return "", fmt.Errorf("%s is no window; it is a number of tiles of %d tokens, or none",
					quote(part), kernels.TileTokens)
			}
		case "sinks":
			if to = &c.SinkTiles; !ok || n > 1 {
				return "", fmt.Errorf("%s: there are 0 sink tiles or 1", quote(part))
			}
		default:
			rest = append(rest, part)
			continue
		}
		if *to != nil && **to != n {
			return "", fmt.Errorf("%s is said again, otherwise: it holds for all layers", name)
		}
		*to = &n
	}
	return strings.TrimSpace(strings.Join(rest, "/")), nil
}

// parseItems reads one form for all layers, or ranges of layers with theirs.
func parseItems(items []string, layers int) ([]LayerFormats, error) {
	plan := make([]LayerFormats, layers)
	given := make([]bool, layers)
	for _, item := range items {
		span, form, ranged := strings.Cut(item, ":")
		first, last := 0, layers-1
		if !ranged {
			form = span
			if len(items) > 1 {
				return nil, fmt.Errorf("%s has no layers in front, as the parts of a list must",
					quote(item))
			}
		} else if err := parseSpan(span, layers, &first, &last); err != nil {
			return nil, err
		}
		formats, err := parseForm(strings.TrimSpace(form))
		if err != nil {
			return nil, err
		}
		for layer := first; layer <= last; layer++ {
			if given[layer] {
				return nil, fmt.Errorf("layer %d is given twice", layer)
			}
			plan[layer], given[layer] = formats, true
		}
	}
	for layer := range given {
		if !given[layer] {
			return nil, fmt.Errorf("layer %d is missing of the layers 0 to %d", layer, layers-1)
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

// parseNumber reads digits only: no sign, no underscore.
func parseNumber(text string) (int, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// String writes the choice as ParsePlan reads it.
func (c Choice) String() string {
	text := Auto
	if c.Layers != nil {
		text = FormatPlan(c.Layers)
	}
	switch {
	case c.WindowTiles == nil:
	case *c.WindowTiles < 0:
		text += "/window=none"
	default:
		text += "/window=" + strconv.Itoa(*c.WindowTiles)
	}
	if c.SinkTiles != nil {
		text += "/sinks=" + strconv.Itoa(*c.SinkTiles)
	}
	return text
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
