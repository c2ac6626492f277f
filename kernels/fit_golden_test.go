package kernels

// The fits against the golden vectors, which the Python packages computed.

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"testing"

	"edgeinfer/tests/shared"
)

// goldenArray is a tensor of a manifest, widened to float32.
type goldenArray struct {
	File   string
	Offset int
	Dtype  string
	Shape  []int
}

// goldenVector is one case of a manifest.
type goldenVector struct {
	Kind, Input, Meta, Qtype string
	Bits, Group, Axis, Dim   int
	Iters                    int     `json:"iters_run"`
	MeanError                float64 `json:"deq_mean_abs_err"`
	MSE                      float64
	Order                    int
	Blocks                   []int
	Rot, Debias              bool
	Values                   json.RawMessage
	X, Y, Codes, Scale, Min  *goldenArray
	Zero, Shift, Deq         *goldenArray
}

// goldenVectors reads a manifest; each calls its cases.
func goldenVectors(t *testing.T, name string) (cases []goldenVector, read func(*goldenArray) []float32) {
	t.Helper()
	data, err := os.ReadFile(shared.Path(t, "golden", "vectors", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Cases []goldenVector }
	if err := json.Unmarshal(data, &manifest); err != nil {
		t.Fatal(err)
	}
	blob, err := os.ReadFile(shared.Path(t, "golden", "vectors", name+".bin"))
	if err != nil {
		t.Fatal(err)
	}
	read = func(a *goldenArray) []float32 {
		n := 1
		for _, d := range a.Shape {
			n *= d
		}
		values := make([]float32, n)
		for i := range values {
			switch a.Dtype {
			case "f32":
				values[i] = math.Float32frombits(binary.LittleEndian.Uint32(blob[a.Offset+4*i:]))
			case "u8":
				values[i] = float32(blob[a.Offset+i])
			case "i8":
				values[i] = float32(int8(blob[a.Offset+i]))
			default:
				t.Fatalf("dtype %q", a.Dtype)
			}
		}
		return values
	}
	if len(manifest.Cases) == 0 {
		t.Fatalf("%s holds no cases", name)
	}
	return manifest.Cases, read
}

func TestRotationsEqualTheVectors(t *testing.T) {
	cases, read := goldenVectors(t, "hadamard")
	for _, c := range cases {
		switch c.Kind {
		case "hadamard":
			checkRotation(t, NewRotation(c.Dim).Apply, NewRotation(c.Dim).Invert, c, read)
		case "hadamard_blockdiag":
			turn := func(invert bool) func([]float32) {
				return func(x []float32) {
					for _, n := range c.Blocks {
						if r := NewRotation(n); invert {
							r.Invert(x[:n])
						} else {
							r.Apply(x[:n])
						}
						x = x[n:]
					}
				}
			}
			checkRotation(t, turn(false), turn(true), c, read)
		case "paley_matrix":
			var values goldenArray
			if err := json.Unmarshal(c.Values, &values); err != nil {
				t.Fatal(err)
			}
			m := map[int]*paleyMatrix{12: &paley12, 20: &paley20}[c.Order]
			for i, v := range read(&values) {
				if got := m.entries[i/c.Order][i%c.Order]; float32(got) != v {
					t.Fatalf("Paley matrix of order %d, entry %d is %d, want %v", c.Order, i, got, v)
				}
			}
		default:
			t.Errorf("unknown kind %q", c.Kind)
		}
	}
}

// checkRotation holds apply against y and invert against x.
func checkRotation(t *testing.T, apply, invert func([]float32), c goldenVector, read func(*goldenArray) []float32) {
	t.Helper()
	x, y := read(c.X), read(c.Y)
	var largest float64
	for _, v := range x {
		largest = max(largest, math.Abs(float64(v)))
	}
	for row := 0; row < len(x); row += c.Dim {
		got := append([]float32{}, x[row:row+c.Dim]...)
		apply(got)
		for i, v := range got {
			if math.Abs(float64(v-y[row+i])) > 1e-5*largest {
				t.Fatalf("%s %d %v: value %d is %v, want %v", c.Kind, c.Dim, c.Blocks, row+i, v, y[row+i])
			}
		}
		invert(got)
		for i, v := range got {
			if math.Abs(float64(v-x[row+i])) > 1e-5*largest {
				t.Fatalf("%s %d: turned back, value %d is %v, was %v", c.Kind, c.Dim, row+i, v, x[row+i])
			}
		}
	}
}

func TestMinMaxEqualsTheVectors(t *testing.T) {
	cases, read := goldenVectors(t, "minmax")
	for i, c := range cases {
		x := read(c.X)
		g := RowGroups(len(x), c.Group)
		codes, scale, low := make([]byte, len(x)), make([]float32, g.Count), make([]float32, g.Count)
		FitMinMax(codes, scale, low, x, g, c.Bits, c.Meta == "f16")
		same(t, i, "scale", scale, read(c.Scale))
		same(t, i, "min", low, read(c.Min))
		same(t, i, "code", widen(codes), read(c.Codes))
	}
}

// same fails unless got equals want, value for value.
func same(t *testing.T, index int, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("case %d: %d values of %s, want %d", index, len(got), what, len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("case %d: %s %d is %v, want %v", index, what, i, got[i], want[i])
		}
	}
}

func widen[T byte | int8](codes []T) []float32 {
	values := make([]float32, len(codes))
	for i, c := range codes {
		values[i] = float32(c)
	}
	return values
}

func TestQuantoEqualsTheVectors(t *testing.T) {
	cases, read := goldenVectors(t, "quanto")
	for i, c := range cases {
		x := read(c.X)
		channels := c.X.Shape[len(c.X.Shape)-1]
		if c.Qtype == "qint8" {
			g := RowGroups(len(x), channels)
			if c.Axis == -1 {
				g = ChannelGroups(len(x), channels, len(x)/channels)
			}
			codes, scale := make([]int8, len(x)), make([]float32, g.Count)
			FitQuantoAbsmax(codes, scale, x, g)
			same(t, i, "scale", scale, read(c.Scale))
			flat := make([]float32, len(x))
			for j := 0; j < g.Count; j++ {
				for r := 0; r < g.Size; r++ {
					flat[g.At(j, r)] = float32(codes[j*g.Size+r])
				}
			}
			same(t, i, "code", flat, read(c.Codes))
			continue
		}
		bits := map[string]int{"qint2": 2, "qint4": 4}[c.Qtype]
		g := RowGroups(len(x), c.Group)
		if c.Axis == -1 {
			g = ChannelGroups(len(x), channels, c.Group)
		}
		codes, scale, shift := make([]byte, len(x)), make([]float32, g.Count), make([]float32, g.Count)
		FitQuanto(codes, scale, shift, x, g, bits)
		same(t, i, "scale", scale, read(c.Scale))
		same(t, i, "shift", shift, read(c.Shift))
		want := read(c.Codes)
		if c.Axis == -1 {
			want = transpose(want, g)
		}
		same(t, i, "code", widen(codes), want)
	}
}

// transpose turns a [size][count] array into [count][size].
func transpose(v []float32, g Grouping) []float32 {
	out := make([]float32, len(v))
	for j := 0; j < g.Count; j++ {
		for r := 0; r < g.Size; r++ {
			out[j*g.Size+r] = v[r*g.Count+j]
		}
	}
	return out
}

func TestHQQEqualsTheVectors(t *testing.T) {
	cases, read := goldenVectors(t, "hqq")
	sameIterations := 0
	for i, c := range cases {
		x := read(c.X)
		g := RowGroups(len(x), c.Group)
		wantCodes := read(c.Codes)
		if c.Axis == 0 {
			g = StridedGroups(len(x), c.Group)
			wantCodes = transpose(wantCodes, g)
		}
		codes, scale, zero := make([]byte, len(x)), make([]float32, g.Count), make([]float32, g.Count)
		if FitHQQ(codes, scale, zero, x, g, c.Bits) == c.Iters {
			sameIterations++
		}
		wantScale, wantZero := read(c.Scale), read(c.Zero)
		odd := 0
		var sum float64
		for j := 0; j < g.Count; j++ {
			if math.Abs(float64(scale[j]-wantScale[j])) > 1e-6*math.Abs(float64(wantScale[j])) {
				t.Fatalf("case %d: scale %d is %v, want %v", i, j, scale[j], wantScale[j])
			}
			off, exact := math.Abs(float64(zero[j]-wantZero[j])), true
			for r := 0; r < g.Size; r++ {
				code := float64(codes[j*g.Size+r])
				d := math.Abs(code - float64(wantCodes[j*g.Size+r]))
				exact = exact && d == 0
				if d > 1 || off > 0.35 {
					t.Fatalf("case %d group %d: code differs by %v, zero by %v", i, j, d, off)
				}
				sum += math.Abs(float64(x[g.At(j, r)]) - (code-float64(zero[j]))*float64(scale[j]))
			}
			if !exact || off > 2e-2 {
				odd++
			}
		}
		if odd > 1 {
			t.Errorf("case %d (%d bits, groups of %d, axis %d): %d groups differ, 1 allowed",
				i, c.Bits, c.Group, c.Axis, odd)
		}
		if mean := sum / float64(len(x)); math.Abs(mean-c.MeanError) > 5e-3*c.MeanError+1e-12 {
			t.Errorf("case %d: mean error %v, want %v", i, mean, c.MeanError)
		}
	}
	t.Logf("iterations equal in %d of %d cases", sameIterations, len(cases))
}

func TestLloydMaxEqualsTheVectors(t *testing.T) {
	cases, read := goldenVectors(t, "codebook")
	for i, c := range cases {
		if c.Kind == "lloydmax_codebook" {
			var want []float32
			if err := json.Unmarshal(c.Values, &want); err != nil {
				t.Fatal(err)
			}
			same(t, i, "level", LloydMaxTable(c.Bits), want)
			continue
		}
		x, wantCodes, wantScale := read(c.X), read(c.Codes), read(c.Scale)
		rotation := NewRotation(64)
		z, codes := make([]float32, 64), make([]byte, 64)
		equal := 0
		var square float64
		for j, want := range wantScale {
			copy(z, x[64*j:])
			if c.Rot {
				rotation.Apply(z)
			}
			scale := FitLloydMax(codes, z, c.Bits, c.Debias)
			same := true
			for r, code := range codes {
				if float32(code) == wantCodes[64*j+r] {
					equal++
				} else {
					same = false
				}
				z[r] = scale * lloydMax[c.Bits][code]
			}
			if ulp := int(F32ToF16(scale)) - int(F32ToF16(want)); same && (ulp < -1 || ulp > 1) {
				t.Errorf("case %d group %d: scale %v, want %v", i, j, scale, want)
			}
			if c.Rot {
				rotation.Invert(z)
			}
			for r, v := range z {
				d := float64(v - x[64*j+r])
				square += d * d
			}
		}
		if share := float64(equal) / float64(len(x)); share < 0.995 {
			t.Errorf("case %d (%d bits, rotated %t): %.2f %% of codes equal", i, c.Bits, c.Rot, 100*share)
		}
		if mse := square / float64(len(x)); math.Abs(mse-c.MSE) > 5e-3*c.MSE+1e-12 {
			t.Errorf("case %d: mean square error %v, want %v", i, mse, c.MSE)
		}
	}
}
