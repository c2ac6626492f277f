package main

// Where a setting comes from: a flag, else an environment variable, else the
// configuration file, else what is built in. All of them set the same flags, so
// there is one list of names and one check of values.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// origin says where a setting came from; the larger one wins.
type origin int

const (
	builtIn origin = iota
	fromConfig
	fromEnvironment
	fromFlag
)

func (o origin) String() string {
	return [...]string{"by default", "in the configuration file", "in the environment", "as flags"}[o]
}

// environmentPrefix begins the variables that set flags.
const environmentPrefix = "EDGEINFER_"

// maxConfigBytes bounds what is read of a configuration file.
const maxConfigBytes = 1 << 20

// notInConfig are the flags of one call, which no file may set.
var notInConfig = []string{"config", "help", "json"}

// configure gives the flags of c that were not set on the command line their
// values from the environment and the configuration file.
func (p *program) configure(c *cobra.Command, s *settings) error {
	s.origins = map[string]origin{}
	c.Flags().Visit(func(f *pflag.Flag) { s.origins[f.Name] = fromFlag })
	if err := p.applyEnvironment(c, s); err != nil {
		return err
	}
	return p.applyConfig(c, s)
}

// applyEnvironment sets flags from EDGEINFER_ variables. An empty variable is
// one that is not set, as in a unit's EnvironmentFile.
func (p *program) applyEnvironment(c *cobra.Command, s *settings) error {
	known := allFlags(c.Root())
	for _, variable := range slices.Sorted(maps.Keys(p.env)) {
		name, ours := strings.CutPrefix(variable, environmentPrefix)
		value := p.env[variable]
		if !ours || value == "" {
			continue
		}
		name = string(normaliseFlag(nil, strings.ToLower(name)))
		f := c.Flags().Lookup(name)
		switch {
		case f == nil && known[name]: // of another verb
		case f == nil:
			if hint := didYouMean(name, "--", slices.Sorted(maps.Keys(known))); hint != "" {
				p.note("variable %s sets no flag%s", variable, hint)
			}
		case s.origins[f.Name] < fromEnvironment:
			if err := f.Value.Set(value); err != nil {
				return inputError{fmt.Errorf("variable %s=%q: %w", variable, value, err)}
			}
			s.origins[f.Name] = fromEnvironment
		}
	}
	return nil
}

// applyConfig sets flags from the configuration file.
func (p *program) applyConfig(c *cobra.Command, s *settings) error {
	path, data, err := p.readConfig(s.config)
	if err != nil || path == "" {
		return err
	}
	values, lines, err := parseConfig(data)
	if err != nil {
		return inputError{fmt.Errorf("%s:%w", path, err)}
	}
	known := allFlags(c.Root())
	for _, key := range slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return lines[a] - lines[b]
	}) {
		name := string(normaliseFlag(nil, key))
		if !known[name] || slices.Contains(notInConfig, name) {
			return inputError{fmt.Errorf("%s:%d: unknown key %q%s", path, lines[key], key,
				didYouMean(name, "", slices.Sorted(maps.Keys(known))))}
		}
		if f := c.Flags().Lookup(name); f != nil && s.origins[f.Name] < fromConfig {
			if err := setFromConfig(f, values[key]); err != nil {
				return inputError{fmt.Errorf("%s:%d: %s: %w", path, lines[key], key, err)}
			}
			s.origins[f.Name] = fromConfig
		}
	}
	return nil
}

// readConfig reads the file named by the user, or else the first of the usual
// places that has one; path is "" where there is none.
func (p *program) readConfig(named string) (path string, data []byte, err error) {
	paths := []string{named}
	if named == "" {
		paths = p.configPaths()
	}
	for _, path := range paths {
		data, err := readFile(path, maxConfigBytes)
		switch {
		case err == nil:
			return path, data, nil
		case named != "" || !errors.Is(err, fs.ErrNotExist):
			return path, nil, inputError{fmt.Errorf("configuration file: %w", err)}
		}
	}
	return "", nil, nil
}

// configPaths are the usual places, the user's before the machine's.
func (p *program) configPaths() []string {
	var paths []string
	home := p.env["XDG_CONFIG_HOME"]
	if home == "" && p.env["HOME"] != "" {
		home = filepath.Join(p.env["HOME"], ".config")
	}
	if home != "" {
		paths = append(paths, filepath.Join(home, "edgeinfer", "edgeinfer.toml"))
	}
	return append(paths, "/etc/edgeinfer/edgeinfer.toml")
}

// parseConfig returns the values of a TOML document by key, and the line of
// each. Decoding strictly into nothing reports every key with its place.
func parseConfig(data []byte) (values map[string]any, lines map[string]int, err error) {
	if err := toml.Unmarshal(data, &values); err != nil {
		var decode *toml.DecodeError
		if errors.As(err, &decode) {
			line, column := decode.Position()
			return nil, nil, fmt.Errorf("%d:%d: %s", line, column, strings.TrimPrefix(err.Error(), "toml: "))
		}
		return nil, nil, fmt.Errorf(" %w", err)
	}
	lines = map[string]int{}
	var nothing struct{}
	var strict *toml.StrictMissingError
	err = toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&nothing)
	if errors.As(err, &strict) {
		for _, missing := range strict.Errors {
			key := missing.Key()[0]
			if line, _ := missing.Position(); lines[key] == 0 {
				lines[key] = line
			}
		}
	}
	return values, lines, nil
}

// setFromConfig sets f to a TOML value: a string, a number, a boolean, or an
// array of them for flags that may be repeated.
func setFromConfig(f *pflag.Flag, value any) error {
	switch v := value.(type) {
	case string, int64, float64, bool:
		return f.Value.Set(fmt.Sprint(v))
	case []any:
		if !slices.Contains(repeatable, f.Name) {
			return errors.New("takes one value, not an array")
		}
		for _, element := range v {
			if err := setFromConfig(f, element); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.New("takes a string, a number or a boolean, not a table or a date")
}

// repeatable are the flags that may be given more than once.
var repeatable = []string{"reverse-prompt", "override-kv"}

// allFlags are the names of the flags of all commands.
func allFlags(c *cobra.Command) map[string]bool {
	names := map[string]bool{}
	c.Flags().VisitAll(func(f *pflag.Flag) { names[f.Name] = true })
	for _, sub := range c.Commands() {
		for name := range allFlags(sub) {
			names[name] = true
		}
	}
	return names
}

// readFile reads a file of at most limit bytes.
func readFile(path string, limitBytes int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, path, limitBytes)
}

// readAll reads r to its end, at most limit bytes; name is for the error.
func readAll(r io.Reader, name string, limitBytes int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limitBytes+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limitBytes {
		return nil, fmt.Errorf("%s: more than %d bytes, the limit; shorten it", name, limitBytes)
	}
	return data, nil
}
