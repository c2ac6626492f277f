package boards

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestProfiles holds every profile to what detection and planning rely on.
func TestProfiles(t *testing.T) {
	wanted := []string{"rpi-zero-2w", "rpi-3b-plus", "rpi-4b", "rpi-5", "jetson-nano", "jetson-tx2",
		"jetson-xavier-nx", "jetson-agx-xavier", "jetson-orin-nano", "jetson-orin-nx",
		"jetson-agx-orin", "rock-5b", "n100"}
	var names []string
	for _, p := range All() {
		names = append(names, p.Name)
		t.Run(p.Name, func(t *testing.T) { checkProfile(t, p) })
	}
	if !slices.Equal(names, wanted) {
		t.Errorf("profiles %v; want %v", names, wanted)
	}
}

func checkProfile(t *testing.T, p *Profile) {
	if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(p.Name) || p.Title == "" {
		t.Errorf("name %q, title %q", p.Name, p.Title)
	}
	if len(p.Compatibles)+len(p.CPUNames) == 0 {
		t.Error("nothing tells such a board from others")
	}
	for i, b := range p.Boards() {
		v := b.Variant
		if i > 0 && v.RAMBytes <= p.Variants[i-1].RAMBytes {
			t.Errorf("variant %d is not larger than the one before", i)
		}
		if v.RAMBytes%(256*mib) != 0 || v.ReserveBytes%(32*mib) != 0 ||
			v.ReserveBytes < v.RAMBytes/64 || v.ReserveBytes > 2*v.RAMBytes/5 {
			t.Errorf("%s keeps %d MiB of %d", b.FullName(), v.ReserveBytes/mib, v.RAMBytes/mib)
		}
		if cores := b.FastCores(); cores < 2 || cores > 12 || cores > p.Clusters[0].Cores {
			t.Errorf("%s has %d fast cores", b.FullName(), cores)
		}
		// From half a gigabyte a second and core to what four channels of LPDDR5 give.
		if rate := b.BytesPerSecond(); rate < 2e9 || rate > 204.8e9 {
			t.Errorf("%s reads %d bytes a second", b.FullName(), rate)
		}
		if got, sized, err := Lookup(b.FullName()); err != nil || !sized || got != b {
			t.Errorf("Lookup(%q) = %v, %v, %v", b.FullName(), got.Variant, sized, err)
		}
	}
	for _, c := range p.Clusters {
		arm := slices.Contains(c.Features, NEON)
		if c.Cores < 1 || c.MaxMHz < 1000 || c.MaxMHz > 4000 || arm == slices.Contains(c.Features, AVX2) {
			t.Errorf("cluster %+v", c)
		}
	}
	if len(p.PageBytes) == 0 || p.PageBytes[len(p.PageBytes)-1] != 4096 {
		t.Errorf("pages of %v bytes", p.PageBytes)
	}
	checkSources(t, p)
}

// checkSources wants exactly one source for every figure.
func checkSources(t *testing.T, p *Profile) {
	figures := []Figure{FigureCores, FigureFeatures, FigureRAM, FigureReserve, FigureBandwidth,
		FigurePages}
	count := map[Figure]int{}
	for _, s := range p.Sources {
		for _, figure := range s.Figures {
			count[figure]++
		}
		if s.Text == "" || !slices.Contains([]Certainty{Vendor, Measured, Estimate}, s.Certainty) {
			t.Errorf("source %+v", s)
		}
		if s.Certainty == Measured && !strings.Contains(s.Text, "sbc-bench") &&
			!strings.Contains(s.Text, "same chip") {
			t.Errorf("measured, but not said where: %q", s.Text)
		}
	}
	for _, figure := range figures {
		if count[figure] != 1 || p.SourceOf(figure).Text == "" {
			t.Errorf("%d sources of the %s", count[figure], figure)
		}
	}
	if len(count) != len(figures) {
		t.Errorf("sources of %v", count)
	}
}

// TestNoNameIsTwoBoards: what identifies a board identifies one alone.
func TestNoNameIsTwoBoards(t *testing.T) {
	owner := map[string]string{}
	for _, p := range All() {
		for _, names := range [][]string{{p.Name}, p.Aliases, p.Compatibles, p.ProductNames, p.CPUNames} {
			for _, name := range names {
				if other, taken := owner[name]; taken {
					t.Errorf("%q is of %s and of %s", name, other, p.Name)
				}
				owner[name] = p.Name
			}
		}
	}
	for _, p := range All() {
		for _, chip := range p.Chips {
			if other, taken := owner[chip]; taken {
				t.Errorf("chip %q of %s also names %s", chip, p.Name, other)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	for _, c := range []struct {
		name, want string
		sized      bool
	}{
		{"rpi-5", "rpi-5-1g", false},
		{" RPI_5 ", "rpi-5-1g", false},
		{"rpi-cm4-8g", "rpi-4b-8g", true},
		{"rpi-5-16GB", "rpi-5-16g", true},
		{"rpi-zero-2w", "rpi-zero-2w-512m", false},
		{"jetson-nano-2g", "jetson-nano-2g", true},
		{"jetson-orin-nano-4g", "jetson-orin-nano-4g", true},
	} {
		b, sized, err := Lookup(c.name)
		if err != nil || sized != c.sized || b.FullName() != c.want {
			t.Errorf("Lookup(%q) = %v, %v, %v; want %s, %v", c.name, b.Variant, sized, err, c.want,
				c.sized)
		}
	}
	for name, want := range map[string]string{
		"":                `no board ""; there are rpi-zero-2w, .*n100$`,
		"beagle":          `no board "beagle"`,
		"rpi-5-3g":        `rpi-5 does not come with "3g" of memory; there are rpi-5-1g, .*rpi-5-16g$`,
		"rpi-5-":          `rpi-5 does not come with ""`,
		"rpi-5-8g-8g":     `no board`,
		"-8g":             `no board`,
		"rpi\x1b[31m\x00": `no board "rpi\\x1b\[31m\\x00"`,
	} {
		if _, _, err := Lookup(name); err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
			t.Errorf("Lookup(%q): %v; want a match of %s", name, err, want)
		}
	}
}
