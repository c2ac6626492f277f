package main

// inspect: facts of a model file, from its metadata and tensor table alone. It
// takes files of any architecture, also those that this version cannot run.

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"edgeinfer/budget"
	"edgeinfer/edge"
	"edgeinfer/edge/gguf"

	"github.com/spf13/cobra"
)

func (p *program) inspectCommand() *cobra.Command {
	s := newSettings()
	var norms, metadata, fingerprint bool
	c := &cobra.Command{
		Use:   "inspect [flags]",
		Short: "Show facts of a model file",
		Long: `inspect reads the metadata and the table of tensors of a GGUF file, and none of the
tensors. It says what the model is, how its weights are stored, and whether this version can run
it.`,
		Example: `  edgeinfer inspect -m model.gguf
  edgeinfer inspect -m model.gguf --metadata`,
		Args: noArguments("name the file with -m"),
	}
	g := newGroup("Facts")
	g.boolean(&metadata, "metadata", "list every metadata key too")
	g.boolean(&fingerprint, "fingerprint", "hash the header and samples of the tensors too, "+
		"as side files name their model")
	g.boolean(&norms, "norms", "norms of key and value matrices, by layer (not yet available)")
	return p.verb(c, s, func(c *cobra.Command, _ []string) error {
		if norms {
			return usageError{c, errors.New("--norms is not available in this version: " +
				"no planner uses the norms of the weights yet; leave it out")}
		}
		return p.inspect(s, metadata, fingerprint)
	}, s.modelFile(), g)
}

func (p *program) inspect(s *settings, metadata, fingerprint bool) error {
	source, runError := edge.Load(edge.Options{Model: s.model, Overrides: s.overrides})
	var f *gguf.File
	if runError == nil {
		defer source.Close()
		f = source.File()
	} else {
		var err error
		if f, err = edge.OpenFile(s.model, s.overrides); err != nil {
			return err
		}
		defer f.Close()
	}
	facts, err := readFacts(f)
	if err != nil {
		return inputError{err}
	}
	if facts.Supported = runError == nil; !facts.Supported {
		facts.UnsupportedReason = runError.Error()
	}
	if fingerprint {
		facts.Fingerprint = f.Fingerprint()
	}
	if metadata {
		for _, v := range f.Metadata {
			facts.Metadata = append(facts.Metadata, metadataEntry{v.Key, v.TypeName(), v.String()})
		}
	}
	if s.json {
		return writeJSON(p.stdout, facts)
	}
	facts.write(p.stdout)
	return nil
}

// modelFacts is inspect's JSON document.
type modelFacts struct {
	File              string          `json:"file"`
	FileBytes         int64           `json:"file_bytes"`
	Fingerprint       string          `json:"fingerprint,omitempty"`
	GGUFVersion       uint32          `json:"gguf_version"`
	Architecture      string          `json:"architecture"`
	Name              string          `json:"name,omitempty"`
	Parameters        uint64          `json:"parameters"`
	Tensors           int             `json:"tensors"`
	Types             []typeFacts     `json:"types"`
	ContextLength     uint64          `json:"context_length"`
	EmbeddingLength   uint64          `json:"embedding_length"`
	BlockCount        uint64          `json:"block_count"`
	HeadCount         []uint64        `json:"head_count"`    // one for all layers, or one each
	HeadCountKV       []uint64        `json:"head_count_kv"` // likewise
	Tokenizer         string          `json:"tokenizer"`
	PreTokenizer      string          `json:"pre_tokenizer,omitempty"`
	Vocabulary        int             `json:"vocabulary"`
	ChatTemplate      bool            `json:"chat_template"`
	Supported         bool            `json:"supported"`
	UnsupportedReason string          `json:"unsupported_reason,omitempty"`
	Metadata          []metadataEntry `json:"metadata,omitempty"`
}

// typeFacts counts the tensors of one type.
type typeFacts struct {
	Type    string `json:"type"`
	Tensors int    `json:"tensors"`
	Bytes   int64  `json:"bytes"`
}

type metadataEntry struct {
	Key   string `json:"key"`
	Type  string `json:"type"`
	Value string `json:"value"`
}

// factReader reads keys and keeps the first error.
type factReader struct {
	f   *gguf.File
	err error
}

func fact[T any](r *factReader, get func(string) (T, bool, error), key string) T {
	v, _, err := get(key)
	if r.err == nil {
		r.err = err
	}
	return v
}

// perLayer reads a key that is one number or an array of one a layer.
func (r *factReader) perLayer(key string) []uint64 {
	if v, ok, err := r.f.Uint(key); ok && err == nil {
		return []uint64{v}
	}
	return fact(r, r.f.Uints, key)
}

func readFacts(f *gguf.File) (modelFacts, error) {
	r := &factReader{f: f}
	architecture := fact(r, f.String, "general.architecture")
	key := func(name string) string { return architecture + "." + name }
	facts := modelFacts{
		File: f.Name(), FileBytes: f.Size(), GGUFVersion: f.Version,
		Architecture:    architecture,
		Name:            fact(r, f.String, "general.name"),
		Parameters:      f.Parameters(),
		Tensors:         len(f.Tensors),
		ContextLength:   fact(r, f.Uint, key("context_length")),
		EmbeddingLength: fact(r, f.Uint, key("embedding_length")),
		BlockCount:      fact(r, f.Uint, key("block_count")),
		HeadCount:       r.perLayer(key("attention.head_count")),
		Tokenizer:       fact(r, f.String, "tokenizer.ggml.model"),
		PreTokenizer:    fact(r, f.String, "tokenizer.ggml.pre"),
		Vocabulary:      len(fact(r, f.Strings, "tokenizer.ggml.tokens")),
		ChatTemplate:    fact(r, f.String, "tokenizer.chat_template") != "",
	}
	if facts.HeadCountKV = r.perLayer(key("attention.head_count_kv")); facts.HeadCountKV == nil {
		facts.HeadCountKV = facts.HeadCount
	}
	for _, c := range f.TypeCounts() {
		facts.Types = append(facts.Types, typeFacts{c.Type.String(), c.Tensors, c.Bytes})
	}
	return facts, r.err
}

// write writes the facts for people.
func (m modelFacts) write(w io.Writer) {
	row := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-15s "+format+"\n", append([]any{name}, args...)...)
	}
	row("file", "%s, GGUF version %d, %s", m.File, m.GGUFVersion, budget.FormatSize(m.FileBytes))
	if m.Fingerprint != "" {
		row("fingerprint", "%s", m.Fingerprint)
	}
	row("architecture", "%s", printable(m.Architecture))
	if m.Name != "" {
		row("name", "%s", printable(m.Name))
	}
	row("parameters", "%d in %d tensors", m.Parameters, m.Tensors)
	for _, t := range m.Types {
		row("", "%-6s %4d tensors %12s", t.Type, t.Tensors, budget.FormatSize(t.Bytes))
	}
	row("context", "%d tokens", m.ContextLength)
	row("shape", "%d layers of %d, heads %s, KV heads %s", m.BlockCount, m.EmbeddingLength,
		eachLayer(m.HeadCount), eachLayer(m.HeadCountKV))
	row("tokenizer", "%s %s, %d tokens", printable(m.Tokenizer), printable(m.PreTokenizer),
		m.Vocabulary)
	row("chat template", "%s", yesNo(m.ChatTemplate))
	if m.Supported {
		row("runs here", "yes")
	} else {
		row("runs here", "no: %s", m.UnsupportedReason)
	}
	for _, e := range m.Metadata {
		fmt.Fprintf(w, "%s %s = %s\n", e.Key, e.Type, e.Value)
	}
}

// printable is text of a file as a terminal may have it: whatever is not one
// short line of printable characters is quoted.
func printable(text string) string {
	const most = 200
	quoted := strconv.Quote(text[:min(len(text), most)])
	if len(text) > most || quoted[1:len(quoted)-1] != text {
		return quoted
	}
	return text
}

func eachLayer(counts []uint64) string {
	if len(counts) == 1 {
		return fmt.Sprint(counts[0])
	}
	return fmt.Sprintf("%v", counts)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
