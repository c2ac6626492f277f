package budget

// One form of a plan's text: the formats of a layer's keys and values.
//
//	form    = "f32" | "f16" | "k" bits "v" bits { "/" option }
//	option  = [ side "." ] ( kind | name "=" value )
//	side    = "k" | "v"
//	kind    = "rows" | "affine" | "chan-a" | "chan-c"
//
//	g=16|32|64|128         channels that share a scale, of rows and affine rows
//	fit=NAME               how scales are chosen, of affine rows and channels
//	clip=0.5…0.99          share of the range that codes span, of the same
//	rotate=none|k|v|kv     which sides' coded rows are rotated
//	centre=on|off          keys less the mean of the session's first tile
//	balance=on|off         keys divided by a side file's Λ
//	debias=on|off          scales without shrinkage, of rows
//
// An option without a side concerns each side that can take it; that no side
// can is an error. The order of options does not matter: kinds count first, for
// each comes with settings of its own.

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"edgeinfer/kernels"
)

// Groups when a plan names none. Level rows have one scale a head of 64; affine
// keys need finer ones.
const (
	rowGroup         = 64
	affineKeyGroup   = 32
	affineValueGroup = 64
)

// sideNames are the sides of a form, keys first.
var sideNames = [2]string{"k", "v"}

// kindDefaults returns what a kind is of so many bits when nothing else is said.
// Keys alone can be kept by channel.
func kindDefaults(kind kernels.KVKind, side, bits int) kernels.KVFormat {
	switch {
	case kind == kernels.KVAffine && side == 0:
		return kernels.AffineRows(bits, affineKeyGroup)
	case kind == kernels.KVAffine:
		return kernels.AffineRows(bits, affineValueGroup)
	case kind == kernels.KVChannels:
		return kernels.KeyChannels(bits)
	case kind == kernels.KVCompact:
		return kernels.CompactChannels(bits)
	case side == 0:
		return kernels.KeyRows(bits, rowGroup)
	}
	return kernels.ValueRows(bits, rowGroup)
}

// pair returns the default formats of so many bits, 16 meaning 16-bit rows.
func pair(kBits, vBits int) LayerFormats {
	side := func(which, bits int) kernels.KVFormat {
		if bits == 16 {
			return kernels.CacheF16
		}
		return kindDefaults(kernels.KVRows, which, bits)
	}
	return LayerFormats{side(0, kBits), side(1, vBits)}
}

// parseForm reads what follows the layers.
func parseForm(form string) (LayerFormats, error) {
	parts := strings.Split(form, "/")
	formats, err := parseBits(strings.TrimSpace(parts[0]))
	if err != nil {
		return formats, err
	}
	slices.SortStableFunc(parts[1:], func(a, b string) int { return order(a) - order(b) })
	sides := [2]*kernels.KVFormat{&formats.K, &formats.V}
	var said []string
	for _, part := range parts[1:] {
		if err := parseOption(sides, strings.TrimSpace(part), &said); err != nil {
			return formats, fmt.Errorf("%s in %s: %w", quote(part), quote(form), err)
		}
	}
	for side, f := range sides {
		if err := f.Check(); err != nil {
			return formats, fmt.Errorf("%s in %s: %w", [2]string{"keys", "values"}[side],
				quote(form), err)
		}
	}
	return formats, nil
}

// order puts kinds before options.
func order(part string) int {
	if strings.Contains(part, "=") {
		return 1
	}
	return 0
}

// parseBits reads the word a form begins with.
func parseBits(word string) (LayerFormats, error) {
	switch word {
	case "f32":
		return LayerFormats{kernels.CacheF32, kernels.CacheF32}, nil
	case "f16":
		return LayerFormats{kernels.CacheF16, kernels.CacheF16}, nil
	}
	rest, isPair := strings.CutPrefix(word, "k")
	kText, vText, hasV := strings.Cut(rest, "v")
	kBits, kOK := parseNumber(kText)
	vBits, vOK := parseNumber(vText)
	if !isPair || !hasV || !kOK || !vOK {
		return LayerFormats{}, fmt.Errorf("%s is no cache format", quote(word))
	}
	if !validBits(kBits) {
		return LayerFormats{}, fmt.Errorf("keys of %s bits in %s are not possible", kText, quote(word))
	}
	if !validBits(vBits) {
		return LayerFormats{}, fmt.Errorf("values of %s bits in %s are not possible", vText, quote(word))
	}
	return pair(kBits, vBits), nil
}

func validBits(bits int) bool { return (1 <= bits && bits <= 8) || bits == 16 }

// parseOption applies one option to the sides it concerns. What is said twice of
// one side is an error, lest the order count.
func parseOption(sides [2]*kernels.KVFormat, option string, said *[]string) error {
	prefix, rest, prefixed := strings.Cut(option, ".")
	if !prefixed || (prefix != "k" && prefix != "v") {
		prefix, rest = "", option
	}
	name, value, valued := strings.Cut(rest, "=")
	if name == "rotate" {
		return parseRotation(sides, prefix, value, said)
	}
	applied := 0
	for side, f := range sides {
		if prefix != "" && prefix != sideNames[side] {
			continue
		}
		changed, err := applyOption(*f, side, name, value, valued)
		switch {
		case errors.Is(err, errNotOfSide):
			continue
		case err != nil:
			return err
		}
		if err := sayOnce(said, side, name, valued); err != nil {
			return err
		}
		*f = changed
		applied++
	}
	if applied == 0 {
		return errors.New("neither the keys nor the values named can take it, as they are kept here")
	}
	return nil
}

// sayOnce notes that an option was given for a side; all kinds are one option.
func sayOnce(said *[]string, side int, name string, valued bool) error {
	if !valued {
		name = "kind"
	}
	key := sideNames[side] + "." + name
	if slices.Contains(*said, key) {
		return fmt.Errorf("the %s of %s is given twice", name, sideNames[side])
	}
	*said = append(*said, key)
	return nil
}

// errNotOfSide says that an option means nothing for a side.
var errNotOfSide = errors.New("not of this side")

// applyOption returns f with one option changed.
func applyOption(f kernels.KVFormat, side int, name, value string,
	valued bool) (kernels.KVFormat, error) {
	if !valued {
		return applyKind(f, side, name)
	}
	fitted := f.Kind == kernels.KVAffine || f.Kind == kernels.KVChannels || f.Kind == kernels.KVCompact
	var flag *bool
	switch {
	case name == "g" && f.Group > 0:
		group, ok := parseNumber(value)
		if !ok {
			return f, fmt.Errorf("%s is no group; there are 16, 32, 64 and 128", quote(value))
		}
		f.Group = group
		return f, nil
	case name == "fit" && fitted:
		fit, ok := kernels.ParseKVFit(value)
		if !ok {
			return f, fmt.Errorf("there is no fit %s; there are %s", quote(value), fitNames())
		}
		f.Fit = fit
		return f, nil
	case name == "clip" && fitted:
		share, err := strconv.ParseFloat(value, 64)
		percent := math.Round(100 * share)
		if err != nil || !(percent >= 50 && percent <= 99) || math.Abs(100*share-percent) > 1e-9 {
			return f, fmt.Errorf("%s is no share of the range from 0.5 to 0.99 in hundredths", quote(value))
		}
		f.ClipPercent = int(percent)
		return f, nil
	case name == "centre" && side == 0 && f.Quantized():
		flag = &f.Centre
	case name == "balance" && side == 0 && f.Quantized():
		flag = &f.Balance
	case name == "debias" && f.Kind == kernels.KVRows:
		flag = &f.Debias
	case slices.Contains([]string{"g", "fit", "clip", "centre", "balance", "debias"}, name):
		return f, errNotOfSide
	default:
		return f, fmt.Errorf("there is no such option; there are rows, affine, chan-a, chan-c, g=, " +
			"fit=, clip=, rotate=, centre=, balance=, debias=, window= and sinks=")
	}
	on, ok := map[string]bool{"on": true, "off": false}[value]
	if !ok {
		return f, fmt.Errorf("%s is neither on nor off", quote(value))
	}
	*flag = on
	return f, nil
}

// applyKind returns the default of another kind, of as many bits.
func applyKind(f kernels.KVFormat, side int, name string) (kernels.KVFormat, error) {
	for kind := kernels.KVAffine; kind <= kernels.KVCompact; kind++ {
		if kind.String() != name {
			continue
		}
		byRow := kind == kernels.KVAffine || kind == kernels.KVRows
		if !f.Quantized() || (side == 1 && !byRow) {
			return f, errNotOfSide
		}
		return kindDefaults(kind, side, f.Bits), nil
	}
	return f, errors.New("there is no such kind; there are rows, affine, chan-a and chan-c")
}

// fitNames lists the fits.
func fitNames() string {
	var names []string
	for fit := kernels.KVFit(0); ; fit++ {
		if _, known := kernels.ParseKVFit(fit.String()); !known {
			return strings.Join(names, ", ")
		}
		names = append(names, fit.String())
	}
}

// parseRotation sets which sides are rotated.
func parseRotation(sides [2]*kernels.KVFormat, prefix, value string, said *[]string) error {
	if prefix != "" || !slices.Contains([]string{"none", "k", "v", "kv"}, value) {
		return errors.New("it is rotate=none, k, v or kv, with no side in front")
	}
	coded := 0
	for side, f := range sides {
		rotated := value != "none" && strings.Contains(value, sideNames[side])
		if !f.Quantized() {
			if rotated {
				return fmt.Errorf("%s is not coded, and rows of floats are not rotated", sideNames[side])
			}
			continue
		}
		if err := sayOnce(said, side, "rotation", true); err != nil {
			return err
		}
		f.Rotate = rotated
		coded++
	}
	if coded == 0 {
		return errors.New("neither side is coded, and rows of floats are not rotated")
	}
	return nil
}

// String writes the formats as ParsePlan reads them: bits, then what differs
// from the default.
func (f LayerFormats) String() string {
	switch {
	case f.K == kernels.CacheF32 && f.V == kernels.CacheF32:
		return "f32"
	case f.K == kernels.CacheF16 && f.V == kernels.CacheF16:
		return "f16"
	}
	text := fmt.Sprintf("k%dv%d", f.K.Bits, f.V.Bits)
	k, v := optionsOf(f.K, 0), optionsOf(f.V, 1)
	for _, option := range k {
		if slices.Contains(v, option) {
			text += "/" + option
		} else {
			text += "/k." + option
		}
	}
	for _, option := range v {
		if !slices.Contains(k, option) {
			text += "/v." + option
		}
	}
	return text + rotationOf(f)
}

// SideText writes the format of one side, 0 for keys and 1 for values, as a plan
// would: "k4", "v3/g=32". ParseSide reads it.
func SideText(side int, f kernels.KVFormat) string {
	text := sideNames[side] + strconv.Itoa(f.Bits)
	for _, option := range optionsOf(f, side) {
		text += "/" + option
	}
	if f.Quantized() && f.Rotate != kindDefaults(f.Kind, side, f.Bits).Rotate {
		text += "/rotate=" + map[bool]string{true: sideNames[side], false: "none"}[f.Rotate]
	}
	return text
}

// ParseSide is the inverse of SideText.
func ParseSide(text string) (side int, f kernels.KVFormat, err error) {
	bits, options, _ := strings.Cut(text, "/")
	form := bits + "v16"
	if strings.HasPrefix(bits, sideNames[1]) {
		side, form = 1, "k16"+bits
	}
	if options != "" {
		form += "/" + options
	}
	formats, err := parseForm(form)
	if err != nil {
		return 0, f, fmt.Errorf("%s is no format of keys or values: %w", quote(text), err)
	}
	return side, [2]kernels.KVFormat{formats.K, formats.V}[side], nil
}

// optionsOf lists in what f differs from the default rows, but for the rotation.
func optionsOf(f kernels.KVFormat, side int) (options []string) {
	if !f.Quantized() {
		return nil
	}
	usual := kindDefaults(f.Kind, side, f.Bits)
	if f.Kind != kernels.KVRows {
		options = append(options, f.Kind.String())
	}
	if f.Group != usual.Group {
		options = append(options, "g="+strconv.Itoa(f.Group))
	}
	if f.Fit != usual.Fit {
		options = append(options, "fit="+f.Fit.String())
	}
	if f.ClipPercent != usual.ClipPercent {
		options = append(options, fmt.Sprintf("clip=0.%02d", f.ClipPercent))
	}
	for _, flag := range []struct {
		name      string
		is, usual bool
	}{{"centre", f.Centre, usual.Centre}, {"balance", f.Balance, usual.Balance},
		{"debias", f.Debias, usual.Debias}} {
		if flag.is != flag.usual {
			options = append(options, flag.name+"="+map[bool]string{true: "on", false: "off"}[flag.is])
		}
	}
	return options
}

// rotationOf writes which sides are rotated where that is not the default.
func rotationOf(f LayerFormats) string {
	rotated, usual := "", true
	for side, format := range [2]kernels.KVFormat{f.K, f.V} {
		if !format.Quantized() {
			continue
		}
		if format.Rotate {
			rotated += sideNames[side]
		}
		usual = usual && format.Rotate == kindDefaults(format.Kind, side, format.Bits).Rotate
	}
	switch {
	case usual:
		return ""
	case rotated == "":
		rotated = "none"
	}
	return "/rotate=" + rotated
}
