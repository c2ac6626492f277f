package budget

import (
	"strings"
	"testing"

	"edgeinfer/kernels"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParsePlan(t *testing.T) {
	f32 := LayerFormats{kernels.CacheF32, kernels.CacheF32}
	f16 := LayerFormats{kernels.CacheF16, kernels.CacheF16}
	rows := func(kBits, vBits int) LayerFormats {
		return LayerFormats{kernels.KeyRows(kBits, 64), kernels.ValueRows(vBits, 64)}
	}
	for _, c := range []struct {
		text string
		want []LayerFormats
	}{
		{"f32", []LayerFormats{f32, f32, f32}},
		{"f16", []LayerFormats{f16, f16, f16}},
		{"k16v16", []LayerFormats{f16, f16, f16}},
		{"k4v2", []LayerFormats{rows(4, 2), rows(4, 2), rows(4, 2)}},
		{" K8V4 ", []LayerFormats{rows(8, 4), rows(8, 4), rows(8, 4)}},
		{"F16", []LayerFormats{f16, f16, f16}},
		{"k1v8", []LayerFormats{rows(1, 8), rows(1, 8), rows(1, 8)}},
		{"k16v4", []LayerFormats{
			{kernels.CacheF16, kernels.ValueRows(4, 64)},
			{kernels.CacheF16, kernels.ValueRows(4, 64)},
			{kernels.CacheF16, kernels.ValueRows(4, 64)}}},
		{"0-2:k3v3", []LayerFormats{rows(3, 3), rows(3, 3), rows(3, 3)}},
		{"0:k8v6,1-2:k4v3", []LayerFormats{rows(8, 6), rows(4, 3), rows(4, 3)}},
		{"1-2:f16, 0 : K5v4", []LayerFormats{rows(5, 4), f16, f16}},
		{"2:f32,0:f16,1-1:k2v2", []LayerFormats{f16, rows(2, 2), f32}},
		{"0 - 1:k4v2,2:k4v3", []LayerFormats{rows(4, 2), rows(4, 2), rows(4, 3)}},
		{"auto", nil},
		{"AUTO", nil},
	} {
		choice, err := ParsePlan(c.text, 3)
		got := choice.Layers
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("ParsePlan(%q, 3): %v (-want +got):\n%s", c.text, err, diff)
		}
		for i, f := range got {
			for _, format := range []kernels.KVFormat{f.K, f.V} {
				if err := format.Check(); err != nil {
					t.Errorf("ParsePlan(%q, 3) layer %d: %v", c.text, i, err)
				}
			}
		}
	}
}

func TestParsePlanErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "it is empty"},
		{"  ", "it is empty"},
		{"q4_0", `"q4_0" is no cache format`},
		{"k4", `"k4" is no cache format`},
		{"v4", `"v4" is no cache format`},
		{"kv", `"kv" is no cache format`},
		{"v4k2", `"v4k2" is no cache format`},
		{"k4v2x", `"k4v2x" is no cache format`},
		{"k-4v2", `"k-4v2" is no cache format`},
		{"k4v2/g32", "there is no such kind"},
		{"k4v2/group=32", "there is no such option"},
		{"k4v2/g=33", "groups of 33"},
		{"k4v2/g=-1", `"-1" is no group`},
		{"k4v2/k.g", "there is no such kind"},
		{"k4v2/x.g=32", "there is no such option"},
		{"k4v2/fit=hqq", "can take it"},
		{"k4v2/affine/fit=best", `no fit "best"; there are minmax, ls, hqq`},
		{"k4v2/affine/fit=absmax", "the fit absmax has 8 bits"},
		{"k4v2/affine/clip=0.4", "no share of the range"},
		{"k4v2/affine/clip=nan", "no share of the range"},
		{"k4v2/v.chan-a", "can take it"},
		{"k4v2/chan-a/g=32/v.g=16", "the g of v is given twice"},
		{"k4v2/chan-c/centre=off", "chan-c needs centred keys"},
		{"k4v2/v.centre=on", "can take it"},
		{"k4v2/centre=yes", "neither on nor off"},
		{"k4v2/rotate=both", "rotate=none, k, v or kv"},
		{"k4v2/k.rotate=k", "with no side in front"},
		{"k4v16/rotate=kv", "v is not coded"},
		{"k4v2/affine/rows", "the kind of k is given twice"},
		{"f16/rotate=none", "neither side is coded"},
		{"k4v2/affine/clip=0.505", "in hundredths"},
		{"k4v2/window=-1", "is no window"},
		{"k4v2/window=", "is no window"},
		{"k4v2/sinks=2", "0 sink tiles or 1"},
		{"0-3:k4v2/window=1,4-29:k4v3/window=2", "window is said again"},
		{"f16/affine", "can take it"},
		{"auto/affine", "is no cache format"},
		{"f8", `"f8" is no cache format`},
		{"k0v4", `keys of 0 bits in "k0v4"`},
		{"k9v4", `keys of 9 bits in "k9v4"`},
		{"k4v0", `values of 0 bits in "k4v0"`},
		{"k32v4", "keys of 32 bits"},
		{"k4v99999999999999999999999", "is no cache format"},
		{"k4v2,k8v8", `"k4v2" has no layers in front`},
		{"0-29:k4v2,k8v8", `"k8v8" has no layers in front`},
		{"0-29:k4v2,", `"" has no layers in front`},
		{"0-3:k8v6,4-28:k4v3", "layer 29 is missing of the layers 0 to 29"},
		{"1-29:k4v3", "layer 0 is missing"},
		{"0-3:k8v6,5-29:k4v3", "layer 4 is missing"},
		{"0-4:k8v6,4-29:k4v3", "layer 4 is given twice"},
		{"0-29:k8v6,29:k4v3", "layer 29 is given twice"},
		{"0-30:k4v3", "layer 30 is beyond the last layer, 29"},
		{"0-29999999999999999999:k4v3", `"0-29999999999999999999" is no layer`},
		{"7-3:k4v3", `the range "7-3" runs backwards`},
		{"-3:k4v3", `"-3" is no layer`},
		{"0-:k4v3", `"0-" is no layer`},
		{"0-1-2:k4v3", `"0-1-2" is no layer`},
		{":k4v3", `"" is no layer`},
		{"a-b:k4v3", `"a-b" is no layer`},
		{"0-29:", `"" is no cache format`},
		{"0-29:0:k4v3", `"0:k4v3" is no cache format`},
		{"f16;k4v2", "one plan is wanted here, not a list"},
	} {
		got, err := ParsePlan(c.text, 30)
		if err == nil {
			t.Errorf("ParsePlan(%q, 30) = %v; want an error", c.text, got)
			continue
		}
		for _, part := range []string{"budget: plan " + quote(c.text), c.want, `"0-3:k8v6,4-29:k4v3"`,
			`as in "k16v4"`} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("ParsePlan(%q, 30) = %q; want it to say %q", c.text, err, part)
			}
		}
	}
	if _, err := ParsePlan("f16", 0); err == nil || !strings.Contains(err.Error(), "0 layers") {
		t.Errorf("ParsePlan for 0 layers = %v; want an error", err)
	}
}

// drawSide draws any format of one side that can be.
func drawSide(t *rapid.T, side int) kernels.KVFormat {
	flag := rapid.Bool()
	f := rapid.Custom(func(t *rapid.T) kernels.KVFormat {
		bits := rapid.SampledFrom([]int{1, 2, 3, 4, 5, 6, 7, 8, 16}).Draw(t, "bits")
		if bits == 16 {
			return kernels.CacheF16
		}
		kinds := []kernels.KVKind{kernels.KVAffine, kernels.KVRows, kernels.KVChannels, kernels.KVCompact}
		f := kindDefaults(rapid.SampledFrom(kinds[:4-2*side]).Draw(t, "kind"), side, bits)
		if f.Group > 0 {
			f.Group = rapid.SampledFrom([]int{16, 32, 64, 128}).Draw(t, "group")
		}
		if f.Kind != kernels.KVRows {
			f.Fit = kernels.KVFit(rapid.IntRange(0, int(kernels.FitsAbsmax)).Draw(t, "fit"))
			f.ClipPercent = rapid.SampledFrom([]int{0, 50, 57, 95, 99}).Draw(t, "clip")
		} else {
			f.Debias = flag.Draw(t, "debias")
		}
		if f.Rotate = flag.Draw(t, "rotate"); side == 0 {
			f.Centre, f.Balance = flag.Draw(t, "centre"), flag.Draw(t, "balance")
		}
		return f
	})
	return f.Filter(func(f kernels.KVFormat) bool { return f.Check() == nil }).Draw(t, "side")
}

func drawFormats(t *rapid.T, layers int) []LayerFormats {
	one := rapid.Custom(func(t *rapid.T) LayerFormats {
		return LayerFormats{drawSide(t, 0), drawSide(t, 1)}
	})
	return rapid.SliceOfN(one, layers, layers).Draw(t, "formats")
}

func TestPlanTextRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		choice := Choice{Layers: drawFormats(t, rapid.IntRange(1, 12).Draw(t, "layers"))}
		if rapid.Bool().Draw(t, "windowSaid") {
			window, sinks := rapid.IntRange(-1, 9).Draw(t, "window"), rapid.IntRange(0, 1).Draw(t, "sinks")
			choice.WindowTiles, choice.SinkTiles = &window, &sinks
		}
		text := choice.String()
		got, err := ParsePlan(text, len(choice.Layers))
		if diff := cmp.Diff(choice, got); err != nil || diff != "" {
			t.Errorf("String = %q; reading it: %v\n%s", text, err, diff)
		}
	})
	f32 := LayerFormats{kernels.CacheF32, kernels.CacheF32}
	for _, c := range []struct {
		plan []LayerFormats
		want string
	}{
		{uniform(f32, 4), "f32"},
		{uniform(pair(4, 3), 4), "k4v3"},
		{[]LayerFormats{pair(4, 3)}, "k4v3"},
		{[]LayerFormats{pair(8, 6), pair(4, 3), pair(4, 3)}, "0:k8v6,1-2:k4v3"},
		{nil, ""},
	} {
		if got := FormatPlan(c.plan); got != c.want {
			t.Errorf("FormatPlan(%v) = %q; want %q", c.plan, got, c.want)
		}
	}
}

// Options change the side they concern and nothing else.
func TestPlanOptions(t *testing.T) {
	k, v := kernels.KeyRows(4, 64), kernels.ValueRows(2, 64)
	affineK, affineV := kernels.AffineRows(4, 32), kernels.AffineRows(2, 64)
	with := func(f kernels.KVFormat, change func(*kernels.KVFormat)) kernels.KVFormat {
		change(&f)
		return f
	}
	for text, want := range map[string]LayerFormats{
		"k4v2/rows": {k, v},
		"k4v2/g=32": {with(k, func(f *kernels.KVFormat) { f.Group = 32 }),
			with(v, func(f *kernels.KVFormat) { f.Group = 32 })},
		"k4v2/k.g=128 / V.G=16": {with(k, func(f *kernels.KVFormat) { f.Group = 128 }),
			with(v, func(f *kernels.KVFormat) { f.Group = 16 })},
		"k4v2/chan-a": {kernels.KeyChannels(4), v},
		"k4v2/fit=ls/chan-a": {with(kernels.KeyChannels(4), func(f *kernels.KVFormat) {
			f.Fit = kernels.FitsLS
		}), v},
		"k4v2/chan-c/balance=on": {with(kernels.CompactChannels(4), func(f *kernels.KVFormat) {
			f.Balance = true
		}), v},
		"k4v2/affine": {affineK, affineV},
		"k4v2/fit=hqq/affine/rotate=k": {with(affineK, func(f *kernels.KVFormat) {
			f.Fit, f.Rotate = kernels.FitsHQQ, true
		}), with(affineV, func(f *kernels.KVFormat) { f.Fit = kernels.FitsHQQ })},
		"k4v2/v.affine/clip=0.95": {k, with(affineV, func(f *kernels.KVFormat) { f.ClipPercent = 95 })},
		"k4v2/rotate=none": {with(k, func(f *kernels.KVFormat) { f.Rotate = false }),
			with(v, func(f *kernels.KVFormat) { f.Rotate = false })},
		"k4v2/centre=off/v.debias=off": {with(k, func(f *kernels.KVFormat) { f.Centre = false }),
			with(v, func(f *kernels.KVFormat) { f.Debias = false })},
		"k4v16/rotate=k": {k, kernels.CacheF16},
	} {
		got, err := ParsePlan(text, 1)
		if err != nil || len(got.Layers) != 1 || got.Layers[0] != want {
			t.Errorf("ParsePlan(%q) = %+v, %v; want %+v", text, got.Layers, err, want)
		}
	}
}

// Window and sinks concern the cache, whichever layer they are said of.
func TestPlanWindowAndSinks(t *testing.T) {
	for text, want := range map[string]string{
		"auto /window=0":                        "auto/window=0",
		"k4v2 / sinks=0  ":                      "k4v2/sinks=0",
		"k4v2/window=none":                      "k4v2/window=none",
		"auto/window=3/sinks=0":                 "auto/window=3/sinks=0",
		"0-3:k8v6/window=2,4-29:k4v3/sinks=1":   "0-3:k8v6,4-29:k4v3/window=2/sinks=1",
		"0-3:k8v6/window=2,4-29:k4v3/window=2":  "0-3:k8v6,4-29:k4v3/window=2",
		"0-29:k4v3/sinks=0/affine/ window=none": "k4v3/affine/window=none/sinks=0",
		"f16":                                   "f16",
	} {
		got, err := ParsePlan(text, 30)
		if err != nil || got.String() != want {
			t.Errorf("ParsePlan(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestSplitPlans(t *testing.T) {
	for text, want := range map[string][]string{
		"f16": {"f16"}, "f16;k4v2": {"f16", "k4v2"}, " f16; k4v2 ; ": {"f16", " k4v2 "},
		"0:f16,1:k4v2;auto": {"0:f16,1:k4v2", "auto"}, "f16;;k4v2": {"f16", "", "k4v2"}, "": {""},
	} {
		if diff := cmp.Diff(want, SplitPlans(text)); diff != "" {
			t.Errorf("SplitPlans(%q): %s", text, diff)
		}
	}
}

func FuzzParsePlan(f *testing.F) {
	for _, seed := range []string{"f16", "k4v2", "0-3:k8v6,4-29:k4v3", "0-29:", "-", "k16v1",
		"k4v2/chan-c/v.affine/v.fit=hqq/clip=0.9/rotate=k/window=none", "auto/sinks=0"} {
		f.Add(seed, 30)
	}
	f.Fuzz(func(t *testing.T, text string, layers int) {
		layers = min(layers, 1000)
		choice, err := ParsePlan(text, layers)
		if err == nil {
			again, err := ParsePlan(choice.String(), layers)
			if diff := cmp.Diff(choice, again); err != nil || diff != "" {
				t.Errorf("ParsePlan(%q) does not survive writing: %v\n%s", text, err, diff)
			}
		}
	})
}
