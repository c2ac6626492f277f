package gguf_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"edgeinfer/edge/gguf"
	"edgeinfer/edge/gguf/gguftest"
)

// got is what a getter gave, for comparing.
func got[T any](v T, ok bool, err error) string { return fmt.Sprintf("%v %v %v", v, ok, err) }

func TestGetters(t *testing.T) {
	f := mustParse(t, tiny())
	cases := []struct{ name, got, want string }{
		{"u8", got(f.Uint("k.u8")), "200 true <nil>"},
		{"u16", got(f.Uint("k.u16")), "60000 true <nil>"},
		{"u32", got(f.Uint("general.alignment")), "64 true <nil>"},
		{"u64", got(f.Uint("k.u64")), "9223372036854775808 true <nil>"},
		{"f32", got(f.Float("k.f32")), "1.5 true <nil>"},
		{"f64", got(f.Float("k.f64")), "0.1 true <nil>"},
		{"bool", got(f.Bool("k.bool")), "true true <nil>"},
		{"string", got(f.String("general.architecture")), "llama true <nil>"},
		{"strings", got(f.Strings("k.strings")), "[a  \xff\xfe \u2581the] true <nil>"},
		{"bools", got(f.Bools("k.bools")), "[true false true] true <nil>"},
		{"ints", got(f.Ints("k.ints")), "[1 -2 3] true <nil>"},
		{"floats", got(f.Floats("k.floats")), "[0.25 -4] true <nil>"},
		{"empty", got(f.Strings("k.empty")), "[] true <nil>"},
		{"absent Uint", got(f.Uint("no")), "0 false <nil>"},
		{"absent Float", got(f.Float("no")), "0 false <nil>"},
		{"absent Bool", got(f.Bool("no")), "false false <nil>"},
		{"absent String", got(f.String("no")), " false <nil>"},
		{"absent Strings", got(f.Strings("no")), "[] false <nil>"},
		{"absent Floats", got(f.Floats("no")), "[] false <nil>"},
		{"absent Ints", got(f.Ints("no")), "[] false <nil>"},
		{"absent Uints", got(f.Uints("no")), "[] false <nil>"},
		{"absent Bools", got(f.Bools("no")), "[] false <nil>"},
	}
	for _, c := range cases {
		if c.got != c.want {
			t.Errorf("%s = %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestGettersOfTheWrongType(t *testing.T) {
	f := mustParse(t, tiny())
	cases := []struct{ name, got, key, found, wanted string }{
		{"Uint of string", got(f.Uint("general.architecture")), "general.architecture",
			`string "llama"`, "an integer that is not negative"},
		{"Uint of negative", got(f.Uint("k.i64")), "k.i64", "i64 -1099511627776", "not negative"},
		{"Uint of negative i8", got(f.Uint("k.i8")), "k.i8", "i8 -3", "not negative"},
		{"Uint of bool", got(f.Uint("k.bool")), "k.bool", "bool true", "an integer"},
		{"Uint of array", got(f.Uint("k.ints")), "k.ints", "i32[3] [1, -2, 3]", "an integer"},
		{"Float of integer", got(f.Float("k.u8")), "k.u8", "u8 200", "f32 or f64"},
		{"Float of array", got(f.Float("k.floats")), "k.floats", "f32[2] [0.25, -4]", "f32 or f64"},
		{"Bool of u8", got(f.Bool("k.u8")), "k.u8", "u8 200", "bool"},
		{"String of u8", got(f.String("k.u8")), "k.u8", "u8 200", "string"},
		{"String of strings", got(f.String("k.strings")), "k.strings",
			`string[4] ["a", "", "\xff\xfe", "▁the"]`, "string"},
		{"Strings of string", got(f.Strings("general.architecture")), "general.architecture",
			`string "llama"`, "an array of strings"},
		{"Strings of ints", got(f.Strings("k.ints")), "k.ints", "i32[3]", "an array of strings"},
		{"Floats of ints", got(f.Floats("k.ints")), "k.ints", "i32[3]", "an array of f32 or f64"},
		{"Ints of floats", got(f.Ints("k.floats")), "k.floats", "f32[2]", "an array of integers"},
		{"Ints of scalar", got(f.Ints("k.i16")), "k.i16", "i16 -300", "an array of integers"},
		{"Uints of negative", got(f.Uints("k.ints")), "k.ints", "element 1 of i32[3] is -2", "0 or more"},
		{"Uints of bools", got(f.Uints("k.bools")), "k.bools", "bool[3] [true, false, true]", "integers"},
		{"Bools of bool", got(f.Bools("k.bool")), "k.bool", "bool true", "an array of bools"},
	}
	for _, c := range cases {
		for _, want := range []string{fmt.Sprintf("false gguf: good.gguf: key %q: ", c.key), c.found,
			c.wanted, ", wanted ", "; convert the model again"} {
			if !strings.Contains(c.got, want) {
				t.Errorf("%s = %q, want %q in it", c.name, c.got, want)
			}
		}
	}
}

// Ints and Uints take every integer type, to the ends of their range.
func TestIntegerRanges(t *testing.T) {
	const lowest, highest = math.MinInt32, math.MaxInt32
	cases := []struct {
		value       any
		ints, uints string // what the getters give, or a part of the error
	}{
		{[]uint8{0, 255}, "[0 255] true", "[0 255] true"},
		{[]int8{-128, 127}, "[-128 127] true", "element 0 of i8[2] is -128"},
		{[]uint16{65535}, "[65535] true", "[65535] true"},
		{[]int16{-32768}, "[-32768] true", "is -32768"},
		{[]uint32{1 << 31}, "element 0 of u32[1] is 2147483648", "[2147483648] true"},
		{[]int32{lowest, highest}, "[-2147483648 2147483647] true", "is -2147483648"},
		{[]uint64{highest}, "[2147483647] true", "[2147483647] true"},
		{[]uint64{math.MaxUint64}, "is 18446744073709551615", "[18446744073709551615] true"},
		{[]int64{lowest}, "[-2147483648] true", "is -2147483648"},
		{[]int64{lowest - 1}, "is -2147483649", "is -2147483649"},
		{[]int64{math.MinInt64}, "is -9223372036854775808", "is -9223372036854775808"},
	}
	for _, c := range cases {
		f := mustParse(t, gguftest.New(3).Key("k", c.value).Bytes())
		if got := got(f.Ints("k")); !strings.Contains(got, c.ints) {
			t.Errorf("Ints of %v = %s, want %s", c.value, got, c.ints)
		}
		if got := got(f.Uints("k")); !strings.Contains(got, c.uints) {
			t.Errorf("Uints of %v = %s, want %s", c.value, got, c.uints)
		}
	}
}

func TestValuesPrintShort(t *testing.T) {
	cases := []struct {
		value          any
		typeName, text string
	}{
		{uint8(7), "u8", "7"},
		{int64(-7), "i64", "-7"},
		{uint64(math.MaxUint64), "u64", "18446744073709551615"},
		{float32(1e-5), "f32", "1e-05"},
		{0.1, "f64", "0.1"},
		{false, "bool", "false"},
		{"plain", "string", `"plain"`},
		{"\x1b[31mred\n\xff\u202e", "string", `"\x1b[31mred\n\xff\u202e"`},
		{strings.Repeat("x", 97), "string", `"` + strings.Repeat("x", 96) + `"… (97 bytes)`},
		{strings.Repeat("é", 49) + "!", "string", `"` + strings.Repeat("é", 48) + `"… (99 bytes)`},
		{"x" + strings.Repeat("é", 48), "string",
			`"x` + strings.Repeat("é", 47) + `"… (97 bytes)`},
		{[]uint8{1, 2, 3, 4}, "u8[4]", "[1, 2, 3, 4]"},
		{[]int16{1, 2, 3, 4, 5}, "i16[5]", "[1, 2, 3, 4, …]"},
		{[]string{"a", "b\n", "c", "d", "e"}, "string[5]", `["a", "b\n", "c", "d", …]`},
		{[]string{strings.Repeat("x", 33)}, "string[1]",
			`["` + strings.Repeat("x", 32) + `"… (33 bytes)]`},
		{[]float64{}, "f64[0]", "[]"},
		{[]bool{true}, "bool[1]", "[true]"},
	}
	for _, c := range cases {
		v, ok := mustParse(t, gguftest.New(3).Key("k", c.value).Bytes()).Value("k")
		if !ok || v.TypeName() != c.typeName || v.String() != c.text {
			t.Errorf("%#v prints as %s %s, want %s %s", c.value, v.TypeName(), v, c.typeName, c.text)
		}
	}
}

// Strings are views of the file: one allocation for a whole vocabulary, none
// of it in Parse.
func TestVocabularyIsNotCopied(t *testing.T) {
	small, large := vocabulary(10), vocabulary(150_000)
	parse := func(data []byte) float64 {
		return testing.AllocsPerRun(5, func() { mustParse(t, data) })
	}
	if a, b := parse(small), parse(large); a != b {
		t.Errorf("Parse allocates %v times for 10 tokens, %v times for 150000", a, b)
	}
	if taken := heapTaken(func() { mustParse(t, large) }); taken > 4<<10 {
		t.Errorf("Parse of 150000 tokens takes %d bytes of heap, want at most 4 KiB", taken)
	}
	f := mustParse(t, large)
	var tokens []string
	allocs := testing.AllocsPerRun(5, func() { tokens, _, _ = f.Strings("tokenizer.ggml.tokens") })
	if allocs != 1 || len(tokens) != 150_000 || tokens[149_999] != "token 149999" {
		t.Errorf("Strings allocates %v times and gives %d", allocs, len(tokens))
	}
	first := uintptr(unsafe.Pointer(unsafe.SliceData(large)))
	for _, token := range tokens {
		at := uintptr(unsafe.Pointer(unsafe.StringData(token)))
		if at < first || at >= first+uintptr(len(large)) {
			t.Fatalf("%q is a copy", token)
		}
	}
}

func vocabulary(n int) []byte {
	tokens, merges := make([]string, n), make([]string, n)
	for i := range tokens {
		tokens[i] = fmt.Sprintf("token %d", i)
		merges[i] = fmt.Sprintf("to k%d", i)
	}
	return gguftest.New(3).Key("tokenizer.ggml.tokens", tokens).
		Key("tokenizer.ggml.scores", make([]float32, n)).
		Key("tokenizer.ggml.merges", merges).Bytes()
}

// A file that changes under us, as a mapped one can: no look-up may panic.
func TestFileChangedWhileOpen(t *testing.T) {
	data := tiny()
	f := mustParse(t, data)
	header := int(f.DataOffset)
	for _, fill := range []byte{0x00, 0x01, 0x07, 0x7f, 0xff} {
		for i := range header {
			data[i] = fill
		}
		for i := range f.Metadata {
			key := f.Metadata[i].Key
			_ = f.Metadata[i].String()
			f.Value(key)
			f.Uint(key)
			f.Float(key)
			f.Bool(key)
			f.String(key)
			f.Strings(key)
			f.Floats(key)
			f.Ints(key)
			f.Uints(key)
			f.Bools(key)
			f.TokenID(key)
		}
		for i := range f.Tensors {
			f.Tensor(f.Tensors[i].Name)
		}
	}
	// With the key left alone the getter is reached, and says what happened.
	data = gguftest.New(3).Key("k", []string{"a", "b"}).Bytes()
	f = mustParse(t, data)
	data[len(data)-9] = 2 // the length of "b"
	if _, ok, err := f.Strings("k"); ok || err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("Strings of a changed file: %v, %v, want an error", ok, err)
	}
}

// Whatever is written is read back.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringN(0, 9, -1), 0, 5).Draw(t, "texts")
		ints := rapid.SliceOfN(rapid.Int32(), 0, 5).Draw(t, "ints")
		uints := rapid.SliceOfN(rapid.Uint64(), 0, 5).Draw(t, "uints")
		floats := rapid.SliceOfN(rapid.Float32(), 0, 5).Draw(t, "floats")
		number := rapid.Uint64().Draw(t, "number")
		shift := rapid.IntRange(3, 16).Draw(t, "alignment")
		version := rapid.Uint32Range(2, 3).Draw(t, "version")
		w := gguftest.New(version).Key("general.alignment", uint32(1)<<shift).
			Key("texts", texts).Key("ints", ints).Key("uints", uints).Key("floats", floats).
			Key("number", number).Key("text", strings.Join(texts, " "))
		type tensor struct {
			name string
			dims []uint64
			data []byte
		}
		var tensors []tensor
		for i := range rapid.IntRange(0, 4).Draw(t, "tensors") {
			dims := rapid.SliceOfN(rapid.Uint64Range(1, 5), 1, 4).Draw(t, "dims")
			n := uint64(1)
			for _, dim := range dims {
				n *= dim
			}
			data := rapid.SliceOfN(rapid.Byte(), int(2*n), int(2*n)).Draw(t, "data")
			tensors = append(tensors, tensor{fmt.Sprint("t", i), dims, data})
			w.Tensor(fmt.Sprint("t", i), gguf.TypeF16, dims, data)
		}
		f, err := gguf.Parse("trip.gguf", w.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range tensors {
			got, ok := f.Tensor(want.name)
			if !ok || got.Type != gguf.TypeF16 || !cmp.Equal(got.Dims, want.dims) ||
				!cmp.Equal(got.Data, want.data) {
				t.Errorf("%s = %v, %v, want %v", want.name, got, ok, want)
			}
		}
		compare(t, "texts", texts, f.Strings)
		compare(t, "ints", ints, f.Ints)
		compare(t, "uints", uints, f.Uints)
		compare(t, "floats", floats, f.Floats)
		compare(t, "number", number, f.Uint)
		compare(t, "text", strings.Join(texts, " "), f.String)
	})
}

func compare[T any](t *rapid.T, key string, want T, get func(string) (T, bool, error)) {
	got, ok, err := get(key)
	if !ok || err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s = %v, %v, %v, want %v", key, got, ok, err, want)
	}
}

func BenchmarkParseVocabulary(b *testing.B) {
	data := vocabulary(150_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := gguf.Parse("bench.gguf", data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStrings(b *testing.B) {
	f := mustParse(b, vocabulary(150_000))
	b.ReportAllocs()
	for b.Loop() {
		if v, _, err := f.Strings("tokenizer.ggml.tokens"); err != nil || len(v) != 150_000 {
			b.Fatal(len(v), err)
		}
	}
}
