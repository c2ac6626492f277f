package edge

// Calibration: what was measured of a model beforehand, in a side file. Today
// that is Λ, the balance of key channels:
//
//	{
//	  "edgeinfer_calibration": 1,
//	  "fingerprint": "9f3c…",           of the model file, as inspect prints it
//	  "provenance": "2048 tokens of …",
//	  "layers": [{"layer": 0, "key_balance": [[1.2, 0.8, …], …]}, …]
//	}
//
// key_balance is [KV head][head dimension], λ_c = √(rms k_c / rms q_c): coded keys
// are divided by it before they are rotated and queries multiplied (notes on
// quantization, §1.6). Fields it does not know are left alone.

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"edgeinfer/kernels"
)

const (
	calibrationVersion = 1
	// maxCalibrationBytes bounds the file: 128 layers of 64 heads of 256 channels
	// at 24 characters each are 48 MiB.
	maxCalibrationBytes = 64 << 20
)

// calibration is the content of a side file.
type calibration struct {
	Version     int                `json:"edgeinfer_calibration"`
	Fingerprint string             `json:"fingerprint"`
	Provenance  string             `json:"provenance"`
	Layers      []calibrationLayer `json:"layers"`
}

type calibrationLayer struct {
	Layer      int         `json:"layer"`
	KeyBalance [][]float32 `json:"key_balance"`
}

// readCalibration reads the side file at path. It must be of the model with this
// fingerprint.
func readCalibration(path, fingerprint string) (*calibration, error) {
	fail := func(format string, args ...any) (*calibration, error) {
		return nil, fmt.Errorf("calibration: %s: %w", path, fmt.Errorf(format, args...))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("calibration: %w", err) // which names the path
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxCalibrationBytes+1))
	if err != nil {
		return fail("%w", err)
	}
	if len(data) > maxCalibrationBytes {
		return fail("it has more than %d bytes; a calibration is smaller", maxCalibrationBytes)
	}
	c := new(calibration)
	if err := json.Unmarshal(data, c); err != nil {
		return fail("%w", err)
	}
	switch {
	case c.Version != calibrationVersion:
		return fail("edgeinfer_calibration is %d; this program reads version %d",
			c.Version, calibrationVersion)
	case c.Fingerprint != fingerprint:
		return fail("it was made for a model with the fingerprint %.16q, this one has %.16q; "+
			"make one of this model", c.Fingerprint, fingerprint)
	}
	return c, nil
}

// balance returns Λ of a layer, [KV head][head dimension] in one row.
func (c *calibration) balance(layer int, shape kernels.KVLayer) ([]float32, error) {
	for _, l := range c.Layers {
		if l.Layer != layer || l.KeyBalance == nil {
			continue
		}
		if len(l.KeyBalance) != shape.KVHeads {
			return nil, fmt.Errorf("key_balance of layer %d has %d heads, the model has %d",
				layer, len(l.KeyBalance), shape.KVHeads)
		}
		var factors []float32
		for head, row := range l.KeyBalance {
			if len(row) != shape.HeadDim {
				return nil, fmt.Errorf("key_balance of layer %d, head %d has %d channels, the model has %d",
					layer, head, len(row), shape.HeadDim)
			}
			factors = append(factors, row...)
		}
		return factors, nil
	}
	return nil, fmt.Errorf("it has no key_balance for layer %d, which the plan balances", layer)
}

// calibrate gives the cache what the plan takes from the side file.
func (e *Engine) calibrate() error {
	o := e.source.options
	var c *calibration
	for i, l := range e.plan.Geometry.Layers {
		if !l.K.Balance {
			continue
		}
		if o.Calibration == "" {
			return inputError{fmt.Errorf("plan %q balances the keys of layer %d by factors that were "+
				"measured beforehand; name their file with --calibration, or leave out balance=on",
				e.plan.Choice(), i)}
		}
		if c == nil {
			var err error
			if c, err = readCalibration(o.Calibration, e.source.file.Fingerprint()); err != nil {
				return inputError{err}
			}
		}
		factors, err := c.balance(i, l)
		if err == nil {
			err = e.cache.Balance(i, factors)
		}
		if err != nil {
			return inputError{fmt.Errorf("calibration: %s: %w", o.Calibration, err)}
		}
	}
	return nil
}
