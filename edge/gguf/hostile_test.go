package gguf_test

// Files made to hurt. The cases A1 to A7 are reported crashes and CVEs of
// other GGUF readers; the rest is what an attacker would try next.

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"edgeinfer/edge/gguf"
	"edgeinfer/edge/gguf/gguftest"
)

// withAlignment is a valid small file but for the alignment.
func withAlignment(value any) []byte {
	return gguftest.New(3).Key("general.alignment", value).
		Tensor("t", gguf.TypeF32, []uint64{8}, make([]byte, 32)).Bytes()
}

func TestReportedCrashes(t *testing.T) {
	const alignment = `key "general.alignment": the alignment is `
	cases := []struct {
		name  string
		data  []byte
		wants []string
	}{
		{"A1 zero dimension", header(1, 0).tensor("t", gguf.TypeF32, 0, 1, 0),
			[]string{`tensor "t": dimension 1 is 0`}},
		{"A2 rows wrap", header(1, 0).
			tensor("token_embd.weight", gguf.TypeQ8_0, 0, 1152, 1<<42+1).aligned().zeros(64),
			[]string{`tensor "token_embd.weight"`, "needs 5383208929592520 bytes",
				"the file has 160"}},
		{"A3 5 dimensions", header(1, 0).str("t").u32(5).zeros(16),
			[]string{`tensor "t": 5 dimensions, at most 4`}},
		{"A3 9 dimensions", header(1, 0).str("t").u32(9).zeros(16),
			[]string{`tensor "t": 9 dimensions, at most 4`}},
		{"A3 2^32-1 dimensions", header(1, 0).str("t").u32(math.MaxUint32).zeros(16),
			[]string{`tensor "t": 4294967295 dimensions, at most 4`}},
		{"A4 alignment 0", withAlignment(uint32(0)), []string{alignment + "0, "}},
		{"A4 alignment 3", withAlignment(uint32(3)), []string{alignment + "3, "}},
		{"A4 alignment 2^31", withAlignment(uint32(1 << 31)), []string{alignment + "2147483648, "}},
		{"A4 alignment text", withAlignment("32"), []string{alignment + `string "32", `}},
		{"A4 alignment i32", withAlignment(int32(32)), []string{alignment + "i32 32, "}},
		{"A5 magic alone", []byte("GGUF"), []string{"file too short: the version needs 4 bytes"}},
		{"A6 string of 2^40", header(0, 1).key("general.name", gguf.KindString).u64(1 << 40).zeros(5),
			[]string{`key "general.name"`, "needs 1099511627776 bytes", "5 remain"}},
		{"A6 array of 2^60", header(0, 1).key("general.name", gguf.KindArray).u32(4).u64(1 << 60),
			[]string{`key "general.name"`, "an array of 1152921504606846976 u32", "0 bytes remain"}},
		{"A6 key of 2^63+1", header(0, 1).u64(1<<63 + 1).zeros(6),
			[]string{"key 0: ", "needs 9223372036854775809 bytes", "6 remain"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { mustFail(t, c.data, c.wants...) })
	}
}

// A5: every prefix of a valid file of 200 bytes.
func TestEveryPrefixIsTooShort(t *testing.T) {
	whole := gguftest.New(3).Key("general.name", "prefixes").
		Tensor("t", gguf.TypeF32, []uint64{8, 2}, make([]byte, 64)).Bytes()
	if len(whole) != 192 {
		t.Fatalf("the file has %d bytes, meant to be 192", len(whole))
	}
	whole = append(whole, make([]byte, 8)...) // bytes after the last tensor are allowed
	mustParse(t, whole)
	for n := range 192 {
		t.Run(fmt.Sprint(n), func(t *testing.T) { mustFail(t, whole[:n], "file too short") })
	}
	mustParse(t, whole[:192])
}

// A7: token ids outside the vocabulary.
func TestTokenIDOutsideVocabulary(t *testing.T) {
	for _, name := range []string{"eos", "bos", "unknown", "padding"} {
		key := "tokenizer.ggml." + name + "_token_id"
		for _, id := range []any{uint32(math.MaxUint32), uint32(1), int32(-1), uint64(1) << 40} {
			f := mustParse(t, gguftest.New(3).Key("general.architecture", "llama").
				Key("tokenizer.ggml.tokens", []string{"x"}).Key(key, id).Bytes())
			got, ok, err := f.TokenID(key)
			want := fmt.Sprintf("gguf: good.gguf: key %q: %s token id %d outside vocabulary of 1; ",
				key, name, id)
			if ok || err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("TokenID(%s) of %v = %d, %v, %v, want error %q", key, id, got, ok, err, want)
			}
		}
	}
	f := mustParse(t, gguftest.New(3).Key("tokenizer.ggml.tokens", []string{"x", "y"}).
		Key("tokenizer.ggml.eos_token_id", uint32(1)).Key("text", "1").Bytes())
	if id, ok, err := f.TokenID("tokenizer.ggml.eos_token_id"); id != 1 || !ok || err != nil {
		t.Errorf("TokenID(eos) = %d, %v, %v, want 1, true, nil", id, ok, err)
	}
	if id, ok, err := f.TokenID("tokenizer.ggml.bos_token_id"); id != 0 || ok || err != nil {
		t.Errorf("TokenID(absent) = %d, %v, %v, want 0, false, nil", id, ok, err)
	}
	if _, _, err := f.TokenID("text"); err == nil {
		t.Error("TokenID of a string gave no error")
	}
}

func TestHostileHeaders(t *testing.T) {
	cases := []struct {
		name  string
		data  []byte
		wants []string
	}{
		{"empty", nil, []string{"file too short: the magic number needs 4 bytes at offset 0, where 0"}},
		{"other magic", rawFile("PK\x03\x04").zeros(40), []string{`begins with "PK\x03\x04"`, `"GGUF"`}},
		{"LFS pointer", []byte("version https://git-lfs.github.com/spec/v1\n"),
			[]string{`begins with "vers"`, "download the model file itself"}},
		{"version 0", rawFile("GGUF").u32(0).zeros(16), []string{"GGUF version is 0"}},
		{"version 1", rawFile("GGUF").u32(1).zeros(16), []string{"GGUF version 1", "convert"}},
		{"version 4", rawFile("GGUF").u32(4).zeros(16), []string{"GGUF version is 4, versions 2 and 3"}},
		{"big-endian", rawFile("GGUF\x00\x00\x00\x03").zeros(16), []string{"big-endian (version 3 "}},
		{"tensors -1", header(math.MaxUint64, 0),
			[]string{"18446744073709551615 tensors, at most 65536"}},
		{"keys -1", header(0, math.MaxUint64), []string{"18446744073709551615 keys, at most 16384"}},
		{"tensors beyond the file", header(65536, 0).zeros(65536*24 - 9),
			[]string{"a table of 65536 tensors starts at offset 16"}},
		{"keys beyond the file", header(0, 16384).zeros(16384*14 - 1),
			[]string{"a table of 16384 keys starts at offset 24"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { mustFail(t, c.data, c.wants...) })
	}
}

func TestHostileKeys(t *testing.T) {
	long := strings.Repeat("k", 1<<16)
	cases := []struct {
		name  string
		data  []byte
		wants []string
	}{
		{"empty key", header(0, 1).key("", gguf.KindU8).zeros(16), []string{"key 0: the name is empty"}},
		{"long key", header(0, 1).key(long, gguf.KindU8).u8(0),
			[]string{"the name has 65536 bytes, at most 65535", "… (65536 bytes)"}},
		{"terminal escapes", header(0, 1).key("\x1b[2J\u202e\n", 77).zeros(16),
			[]string{`key "\x1b[2J\u202e\n": value type 77`}},
		{"kind 13", header(0, 1).key("k", 13).zeros(16), []string{`key "k": value type 13`}},
		{"kind 2^32-1", header(0, 1).key("k", math.MaxUint32).zeros(16),
			[]string{`key "k": value type 4294967295`}},
		{"element kind 13", header(0, 1).key("k", gguf.KindArray).u32(13).u64(0),
			[]string{`key "k": value type 13`}},
		{"array of arrays", header(0, 1).key("k", gguf.KindArray).u32(9).u64(1).u32(9).u64(1).zeros(64),
			[]string{`key "k": the value is an array of arrays`}},
		{"string of -1", header(0, 1).key("k", gguf.KindString).u64(math.MaxUint64).zeros(9),
			[]string{"the string needs 18446744073709551615 bytes", "9 remain"}},
		{"string one too long", header(0, 1).key("k", gguf.KindString).u64(6).zeros(5),
			[]string{"the string needs 6 bytes", "5 remain"}},
		{"string of 2^32+1", header(0, 1).key("k", gguf.KindString).u64(1<<32 + 1).zeros(9),
			[]string{"the string needs 4294967297 bytes", "9 remain"}},
		{"array one too long", header(0, 1).key("k", gguf.KindArray).u32(10).u64(3).zeros(23),
			[]string{"an array of 3 u64", "23 bytes remain"}},
		{"count times size wraps", header(0, 1).key("k", gguf.KindArray).u32(10).u64(1<<61 + 1).zeros(8),
			[]string{"an array of 2305843009213693953 u64"}},
		{"strings beyond the file", header(0, 1).key("k", gguf.KindArray).u32(8).u64(1<<61 + 1).zeros(8),
			[]string{"an array of 2305843009213693953 strings"}},
		{"string in array too long", header(0, 1).key("k", gguf.KindArray).u32(8).u64(2).
			str("a").u64(7).zeros(6), []string{"string 1 of 2 needs 7 bytes", "6 remain"}},
		{"string in array -8", header(0, 1).key("k", gguf.KindArray).u32(8).u64(2).
			str("a").u64(math.MaxUint64 - 7).zeros(16),
			[]string{"string 1 of 2 needs 18446744073709551608"}},
		{"length in array cut", header(0, 1).key("k", gguf.KindArray).u32(8).u64(2).
			str("aaaaaaaa").zeros(7), []string{"the length of string 1 of 2 needs 8 bytes", "7 remain"}},
		{"bool 2", header(0, 1).key("k", gguf.KindBool).u8(2), []string{"stored as 2"}},
		{"bool in array", header(0, 1).key("k", gguf.KindArray).u32(7).u64(3).u8(0).u8(1).u8(255),
			[]string{"bool 2 of 3 is stored as 255"}},
		{"twins", header(0, 3).key("k", gguf.KindU8).u8(0).key("j", gguf.KindU8).u8(0).
			key("k", gguf.KindU8).u8(1), []string{`key "k": the name is there twice, as key 0 and 2`}},
		{"alignment twice", header(0, 2).key("general.alignment", gguf.KindU32).u32(32).
			key("general.alignment", gguf.KindU32).u32(64), []string{"there twice"}},
		{"alignment array", withAlignment([]uint32{32}), []string{"u32[1] [32], it must be a u32"}},
		{"alignment 4", withAlignment(uint32(4)), []string{"alignment is 4, it must be a power of two"}},
		{"alignment 48", withAlignment(uint32(48)),
			[]string{"alignment is 48, it must be a power of two"}},
		{"alignment of long texts", withAlignment([]string{strings.Repeat("\xff", 99), "", "", "", ""}),
			[]string{"alignment is string[5] "}},
		{"alignment 2^17", withAlignment(uint32(1 << 17)), []string{"alignment is 131072"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { mustFail(t, c.data, c.wants...) })
	}
}

func TestHostileTensors(t *testing.T) {
	f32, q4 := gguf.TypeF32, gguf.TypeQ4_0
	one := func(t gguf.Type, offset uint64, dims ...uint64) rawFile {
		return header(1, 0).tensor("t", t, offset, dims...).aligned().zeros(64)
	}
	two := func(offset0, offset1 uint64) rawFile {
		return header(2, 0).tensor("t", f32, offset0, 8).tensor("u", f32, offset1, 8).
			aligned().zeros(128)
	}
	cases := []struct {
		name  string
		data  []byte
		wants []string
	}{
		{"empty name", header(1, 0).tensor("", f32, 0, 8).aligned().zeros(64),
			[]string{"tensor 0: the name is empty"}},
		{"long name", header(1, 0).tensor(strings.Repeat("n", 65), f32, 0, 8).aligned().zeros(64),
			[]string{"the name has 65 bytes, at most 64"}},
		{"2^62 values of 8 bytes", one(gguf.TypeF64, 0, 1<<31, 1<<31), []string{`tensor "t"`}},
		{"product 2^64", one(f32, 0, 1<<32, 1<<32),
			[]string{"size of 4294967296x4294967296 F32 overflows"}},
		{"product wraps to 8", one(f32, 0, 8, 1<<61+1), []string{"overflows"}},
		{"product wraps twice", one(f32, 0, 1<<63, 2, 1<<63, 2), []string{"overflows"}},
		{"wraps to 0", one(f32, 0, 1<<62, 4, 1, 1), []string{"overflows"}},
		{"2^63 values", one(gguf.TypeI8, 0, 1<<63), []string{"needs 9223372036854775808 bytes"}},
		{"dimension -1", one(f32, 0, math.MaxUint64), []string{"overflows"}},
		{"bytes wrap to 0", one(f32, 0, 1<<62), []string{`tensor "t"`}},
		{"row and block", one(q4, 0, 33),
			[]string{"rows of 33 values do not divide into Q4_0 blocks of 32"}},
		{"product fills blocks, row does not", one(q4, 0, 16, 2), []string{"rows of 16 values"}},
		{"type 43", one(43, 0, 8), []string{`tensor "t": type id 43 is not known`}},
		{"type 2^32-1", one(math.MaxUint32, 0, 8), []string{"type id 4294967295 is not known"}},
		{"type withdrawn", one(31, 0, 32), []string{"type Q4_0_4_4 (id 31) was withdrawn", "Q4_0"}},
		{"offset past the end", one(f32, 96, 8), []string{"needs 32 bytes at offset 96", "file has 128"}},
		{"offset 2^31", one(f32, 1<<31, 8), []string{"needs 32 bytes at offset 2147483648"}},
		{"offset 2^32", one(f32, 1<<32, 8), []string{"needs 32 bytes at offset 4294967296"}},
		{"offset 2^63", one(f32, 1<<63, 8), []string{"at offset 9223372036854775808"}},
		{"offset -32", one(f32, math.MaxUint64-31, 8), []string{"at offset 18446744073709551584"}},
		{"offset unaligned", one(f32, 4, 8), []string{"offset 4 is no multiple of the alignment 32"}},
		{"data one byte short", one(f32, 0, 8)[:95], []string{"file too short", "file has 95"}},
		{"no data at all", header(1, 0).tensor("t", f32, 0, 8), []string{"file too short"}},
		{"twins", header(2, 0).tensor("t", f32, 0, 8).tensor("t", f32, 32, 8).aligned().zeros(64),
			[]string{`tensor "t": the name is there twice, as tensor 0 and 1`}},
		{"same place", two(0, 0), []string{`tensor "u": offset 0 lies in tensor "t", which ends at 32`}},
		{"same place, other order", header(2, 0).tensor("t", f32, 32, 8).tensor("u", f32, 0, 16).
			aligned().zeros(128), []string{`tensor "t": offset 32 lies in tensor "u", which ends at 64`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { mustFail(t, c.data, c.wants...) })
	}
}

// What looks odd and is allowed.
func TestUnusualButValid(t *testing.T) {
	t.Run("scalar tensor", func(t *testing.T) {
		f := mustParse(t, header(1, 0).tensor("t", gguf.TypeF32, 0).aligned().zeros(4))
		if got := f.Tensors[0]; fmt.Sprint(got.Dims) != "[1]" || len(got.Data) != 4 || got.Values() != 1 {
			t.Errorf("dims %v, %d bytes, want [1] and 4", got.Dims, len(got.Data))
		}
	})
	t.Run("tensors out of order with gaps", func(t *testing.T) {
		f := mustParse(t, header(2, 0).tensor("t", gguf.TypeF32, 96, 8).
			tensor("u", gguf.TypeF32, 0, 8).aligned().zeros(128))
		if a, b := f.Tensors[0], f.Tensors[1]; a.Name != "t" || b.Name != "u" || a.Offset != 96 {
			t.Errorf("tensors %v, %v, want t at 96, then u", a, b)
		}
	})
	t.Run("no keys, no tensors", func(t *testing.T) {
		f := mustParse(t, header(0, 0))
		if f.DataOffset != 24 || f.Size() != 24 || f.Alignment != 32 || f.Parameters() != 0 {
			t.Errorf("data at %d of %d, alignment %d", f.DataOffset, f.Size(), f.Alignment)
		}
	})
	t.Run("version 2", func(t *testing.T) {
		f := mustParse(t, gguftest.New(2).Key("k", "v").Bytes())
		if v, ok, err := f.String("k"); f.Version != 2 || v != "v" || !ok || err != nil {
			t.Errorf("version %d, k = %q, %v, %v", f.Version, v, ok, err)
		}
	})
	t.Run("longest key and name", func(t *testing.T) {
		key, name := strings.Repeat("k", 1<<16-1), strings.Repeat("n", 64)
		f := mustParse(t, gguftest.New(3).Key(key, uint8(1)).
			Tensor(name, gguf.TypeI8, []uint64{1}, []byte{7}).Bytes())
		if _, ok := f.Value(key); !ok {
			t.Error("the key is not found")
		}
		if tensor, ok := f.Tensor(name); !ok || tensor.Data[0] != 7 {
			t.Errorf("tensor = %v, %v", tensor, ok)
		}
	})
}
