package edge

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writeCalibration writes a side file of the embedded model, all factors the
// same, as change leaves it, and returns its path.
func writeCalibration(t *testing.T, factor float32, change func(*calibration)) string {
	t.Helper()
	source, err := Load(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	c := calibration{Version: 1, Fingerprint: source.file.Fingerprint(), Provenance: "a test"}
	for i, l := range source.Spec().Shape() {
		balance := make([][]float32, l.KVHeads)
		for head := range balance {
			balance[head] = slices.Repeat([]float32{factor}, l.HeadDim)
		}
		c.Layers = append(c.Layers, calibrationLayer{i, balance})
	}
	if change != nil {
		change(&c)
	}
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "calibration.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// logitsOf runs 200 tokens of a story and returns the last logits.
func logitsOf(t *testing.T, o Options) (last []float32) {
	t.Helper()
	o.ContextTokens, o.Threads = 256, 1
	e := open(t, o)
	tokens := story(e)
	for len(tokens) < 200 {
		tokens = append(tokens, int32(300+len(tokens)%100))
	}
	err := newSession(t, e).Eval(tokens, func(position int, logits []float32) {
		last = slices.Clone(logits)
	})
	if err != nil {
		t.Fatal(err)
	}
	return last
}

// Factors of 1 change nothing; others reach the cache. (Powers of two, the same
// for all channels, are undone exactly by the query.)
func TestBalanceComesFromTheSideFile(t *testing.T) {
	plain := logitsOf(t, Options{KV: "k3v8"})
	ones := logitsOf(t, Options{KV: "k3v8/balance=on", Calibration: writeCalibration(t, 1, nil)})
	if !slices.Equal(plain, ones) {
		t.Error("factors of 1 change the logits")
	}
	skewed := writeCalibration(t, 1, func(c *calibration) {
		for _, l := range c.Layers {
			for _, row := range l.KeyBalance {
				for i := range row {
					row[i] = 1 + float32(i)
				}
			}
		}
	})
	if slices.Equal(plain, logitsOf(t, Options{KV: "k3v8/balance=on", Calibration: skewed})) {
		t.Error("the factors of the side file have no effect")
	}
}

func TestCalibrationThatCannotBe(t *testing.T) {
	text := func(content string) string {
		path := filepath.Join(t.TempDir(), "calibration.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for want, path := range map[string]string{
		"--calibration":                    "",
		"no such file":                     filepath.Join(t.TempDir(), "absent"),
		"EOF":                              text("{"),
		"where a { belongs":                text("[1]"),
		"where a [ belongs":                text(`{"layers":{}}`),
		"more layers than the model's 5":   text(`{"layers":[{},{},{},{},{},{}]}`),
		"bytes that this model's 5 layers": text(strings.Repeat(" ", 1<<20)),
		"is 0; this program":               text("{}"),
		"cannot unmarshal":                 text(`{"edgeinfer_calibration":1,"layers":[{"layer":"x"}]}`),
		"cannot unmarshal number 1e60":     text(`{"edgeinfer_calibration":1,"layers":[{"key_balance":[[1e60]]}]}`),
		"with the fingerprint":             writeCalibration(t, 1, func(c *calibration) { c.Fingerprint = "0" }),
		"no key_balance for layer 4": writeCalibration(t, 1, func(c *calibration) {
			c.Layers = c.Layers[:4]
		}),
		"layer 2 has 1 heads": writeCalibration(t, 1, func(c *calibration) {
			c.Layers[2].KeyBalance = c.Layers[2].KeyBalance[:1]
		}),
		"head 1 has 7 channels": writeCalibration(t, 1, func(c *calibration) {
			c.Layers[2].KeyBalance[1] = c.Layers[2].KeyBalance[1][:7]
		}),
		"is 0; it must be":   writeCalibration(t, 0, nil),
		"is 1e+09; it must":  writeCalibration(t, 1e9, nil),
		"factor 0 of layer ": writeCalibration(t, -1, nil),
	} {
		_, err := Open(Options{KV: "k4v4/balance=on", ContextTokens: 64, Calibration: path})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Open = %v; want it to say %q", fmt.Sprint(filepath.Base(path)), err, want)
		}
	}
}
