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
	// What a side file may take: so many bytes a value, and the rest of it.
	calibrationValueBytes = 32
	calibrationOtherBytes = 64 << 10
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
// fingerprint and these layers; what is larger than theirs is not read.
func readCalibration(path, fingerprint string, layers []kernels.KVLayer) (*calibration, error) {
	fail := func(format string, args ...any) (*calibration, error) {
		return nil, fmt.Errorf("calibration: %s: %w", path, fmt.Errorf(format, args...))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("calibration: %w", err) // which names the path
	}
	defer f.Close()
	most := int64(calibrationOtherBytes)
	for _, l := range layers {
		most += calibrationValueBytes * int64(l.KVHeads) * int64(l.HeadDim)
	}
	info, err := f.Stat()
	if err != nil {
		return fail("%w", err)
	}
	if info.Size() > most {
		return fail("it has more than the %d bytes that this model's %d layers can fill",
			most, len(layers))
	}
	c := new(calibration)
	if err := c.decode(json.NewDecoder(io.LimitReader(f, most)), len(layers)); err != nil {
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

// decode reads the document layer by layer, no more than the model has: a list of
// empty layers would take many times the bytes of its text.
func (c *calibration) decode(d *json.Decoder, layers int) error {
	if err := expect(d, json.Delim('{')); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		switch key {
		case "edgeinfer_calibration":
			err = d.Decode(&c.Version)
		case "fingerprint":
			err = d.Decode(&c.Fingerprint)
		case "provenance":
			err = d.Decode(&c.Provenance)
		case "layers":
			err = c.decodeLayers(d, layers)
		default:
			var other json.RawMessage
			err = d.Decode(&other)
		}
		if err != nil {
			return err
		}
	}
	return expect(d, json.Delim('}'))
}

func (c *calibration) decodeLayers(d *json.Decoder, layers int) error {
	if err := expect(d, json.Delim('[')); err != nil {
		return err
	}
	for d.More() {
		if len(c.Layers) == layers {
			return fmt.Errorf("it has more layers than the model's %d", layers)
		}
		var l calibrationLayer
		if err := d.Decode(&l); err != nil {
			return err
		}
		c.Layers = append(c.Layers, l)
	}
	return expect(d, json.Delim(']'))
}

// expect reads one bracket.
func expect(d *json.Decoder, want json.Delim) error {
	got, err := d.Token()
	switch {
	case err != nil:
		return err
	case got != want:
		return fmt.Errorf("%v where a %v belongs", got, want)
	}
	return nil
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
			if c, err = readCalibration(o.Calibration, e.source.file.Fingerprint(),
				e.plan.Geometry.Layers); err != nil {
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
