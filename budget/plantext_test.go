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
	affine := func(kBits, vBits int) LayerFormats {
		return LayerFormats{kernels.AffineRows(kBits, 32), kernels.AffineRows(vBits, 64)}
	}
	for _, c := range []struct {
		text string
		want []LayerFormats
	}{
		{"f32", []LayerFormats{f32, f32, f32}},
		{"f16", []LayerFormats{f16, f16, f16}},
		{"k16v16", []LayerFormats{f16, f16, f16}},
		{"k4v2", []LayerFormats{affine(4, 2), affine(4, 2), affine(4, 2)}},
		{" K8V4 ", []LayerFormats{affine(8, 4), affine(8, 4), affine(8, 4)}},
		{"F16", []LayerFormats{f16, f16, f16}},
		{"k1v8", []LayerFormats{affine(1, 8), affine(1, 8), affine(1, 8)}},
		{"k16v4", []LayerFormats{
			{kernels.CacheF16, kernels.AffineRows(4, 64)},
			{kernels.CacheF16, kernels.AffineRows(4, 64)},
			{kernels.CacheF16, kernels.AffineRows(4, 64)}}},
		{"0-2:k3v3", []LayerFormats{affine(3, 3), affine(3, 3), affine(3, 3)}},
		{"0:k8v6,1-2:k4v3", []LayerFormats{affine(8, 6), affine(4, 3), affine(4, 3)}},
		{"1-2:f16, 0 : K5v4", []LayerFormats{affine(5, 4), f16, f16}},
		{"2:f32,0:f16,1-1:k2v2", []LayerFormats{f16, affine(2, 2), f32}},
		{"0 - 1:k4v2,2:k4v3", []LayerFormats{affine(4, 2), affine(4, 2), affine(4, 3)}},
		{"auto", nil},
		{"AUTO", nil},
	} {
		got, err := ParsePlan(c.text, 3)
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
		{"k4v2/g32", "is no cache format"},
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

func drawFormats(t *rapid.T, layers int) []LayerFormats {
	bits := rapid.SampledFrom([]int{1, 2, 3, 4, 5, 6, 7, 8, 16})
	one := rapid.Custom(func(t *rapid.T) LayerFormats {
		return pair(bits.Draw(t, "kBits"), bits.Draw(t, "vBits"))
	})
	return rapid.SliceOfN(one, layers, layers).Draw(t, "formats")
}

func TestPlanTextRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := drawFormats(t, rapid.IntRange(1, 12).Draw(t, "layers"))
		text := FormatPlan(plan)
		got, err := ParsePlan(text, len(plan))
		if diff := cmp.Diff(plan, got); err != nil || diff != "" {
			t.Errorf("FormatPlan = %q; reading it: %v\n%s", text, err, diff)
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

func FuzzParsePlan(f *testing.F) {
	for _, seed := range []string{"f16", "k4v2", "0-3:k8v6,4-29:k4v3", "0-29:", "-", "k16v1"} {
		f.Add(seed, 30)
	}
	f.Fuzz(func(t *testing.T, text string, layers int) {
		layers = min(layers, 1000)
		plan, err := ParsePlan(text, layers)
		if err == nil && plan != nil {
			again, err := ParsePlan(FormatPlan(plan), layers)
			if diff := cmp.Diff(plan, again); err != nil || diff != "" {
				t.Errorf("ParsePlan(%q) does not survive writing: %v\n%s", text, err, diff)
			}
		}
	})
}
