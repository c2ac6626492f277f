package tests

// Every weight type, as files have it: de-quantized values against the golden
// ones, and all tensors to the bit against ggml's own code.

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"testing"

	"edgeinfer/edge/gguf"
	"edgeinfer/kernels"
	"edgeinfer/tests/shared"
)

// weightFormats are the formats by the file's type.
var weightFormats = func() map[string]kernels.Format {
	formats := map[string]kernels.Format{}
	for f := range kernels.NumFormats {
		formats[f.String()] = f
	}
	return formats
}()

// ggmlValues are the FNV-1a hashes, 64 bits, of the float32 bits of all tensors of
// a file in file order, computed with ggml's conversions of llama.cpp's
// release of llama-cpp-python 0.3.36.
var ggmlValues = map[string]string{
	"k256-F16.gguf": "3676736d9bb8e767", "k256-BF16.gguf": "7ce01b982d4f4ac4",
	"k256-Q8_0.gguf": "8d4a623f1af2f47e", "k256-Q4_0.gguf": "b8b59a0244f5dffd",
	"k256-Q4_1.gguf": "83f3625926bad36d", "k256-Q5_0.gguf": "97c16aefac35a629",
	"k256-Q5_1.gguf": "6f7c3b2ae3be65b0", "k256-Q2_K.gguf": "90d7ee0bb5049f81",
	"k256-Q3_K_S.gguf": "174f318600871661", "k256-Q4_K_S.gguf": "bc34bdefd554773f",
	"k256-Q5_K_S.gguf": "740ed51117eb4a35", "k256-Q6_K.gguf": "40f8cba047acf4f8",
	"k256-IQ4_NL.gguf": "6ffc7035c0eca258", "k256-IQ4_XS.gguf": "73775c8ece7e3b8f",
}

func values(t *testing.T, tensor gguf.Tensor) []float32 {
	t.Helper()
	f, ok := weightFormats[tensor.Type.String()]
	if !ok {
		t.Fatalf("tensor %s has type %v, which has no format", tensor.Name, tensor.Type)
	}
	x := make([]float32, tensor.Values())
	kernels.DequantizeRow(f, x, tensor.Data)
	return x
}

func TestDequantizedTensorsEqualTheGolden(t *testing.T) {
	data, err := os.ReadFile(shared.Path(t, "golden", "dequant.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string]map[string]struct {
		Type       string
		First      []float64
		Sum, SumSq float64
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	types := map[string]bool{}
	for file, tensors := range golden {
		f, err := gguf.Open(modelPath(t, file))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for name, want := range tensors {
			tensor, ok := f.Tensor(name)
			if !ok || tensor.Type.String() != want.Type {
				t.Fatalf("%s: tensor %s has type %v, want %s", file, name, tensor.Type, want.Type)
			}
			types[want.Type] = true
			var sum, square float64
			for i, v := range values(t, tensor) {
				if i < len(want.First) && !(math.Abs(float64(v)-want.First[i]) <= 1e-6*math.Abs(want.First[i])) {
					t.Errorf("%s: %s[%d] = %v, want %v", file, name, i, v, want.First[i])
				}
				sum += float64(v)
				square += float64(v) * float64(v)
			}
			if math.Abs(sum-want.Sum) > 1e-9*(1+math.Abs(want.Sum)) || math.Abs(square-want.SumSq) > 1e-9*want.SumSq {
				t.Errorf("%s: %s has sum %v and sum of squares %v, want %v and %v",
					file, name, sum, square, want.Sum, want.SumSq)
			}
		}
	}
	if len(types) != 14 {
		t.Errorf("%d types, want 14", len(types))
	}
}

func TestDequantizedTensorsEqualGGML(t *testing.T) {
	for file, want := range ggmlValues {
		f, err := gguf.Open(modelPath(t, file))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		h := fnv.New64a()
		for _, tensor := range f.Tensors {
			for _, v := range values(t, tensor) {
				var bits [4]byte
				binary.LittleEndian.PutUint32(bits[:], math.Float32bits(v))
				h.Write(bits[:])
			}
		}
		if got := fmt.Sprintf("%016x", h.Sum64()); got != want {
			t.Errorf("%s: values hash to %s, want %s", file, got, want)
		}
	}
}
