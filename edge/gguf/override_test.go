package gguf_test

import (
	"slices"
	"strings"
	"testing"

	"edgeinfer/edge/gguf"
	"edgeinfer/edge/gguf/gguftest"
)

func TestOverride(t *testing.T) {
	data := gguftest.New(3).Key("b.text", "old").Key("b.count", uint32(7)).
		Key("b.scale", float32(1)).Key("b.flag", true).Key("b.list", []uint32{1}).Bytes()
	f, err := gguf.Parse("file.gguf", data)
	if err != nil {
		t.Fatal(err)
	}
	before := f.Fingerprint()
	for _, text := range []string{"b.text=str:a=b:c", "b.count=int:9", "b.scale=float:2.5",
		"b.flag=bool:false", "a.new=str:first", "z.new=int:-3", "b.new=bool:true"} {
		if err := f.Override(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if s, ok, err := f.String("b.text"); s != "a=b:c" || !ok || err != nil {
		t.Errorf("b.text = %q, %v, %v", s, ok, err)
	}
	if n, ok, err := f.Uint("b.count"); n != 9 || !ok || err != nil {
		t.Errorf("b.count = %d, %v, %v", n, ok, err)
	}
	if x, ok, err := f.Float("b.scale"); x != 2.5 || !ok || err != nil {
		t.Errorf("b.scale = %g, %v, %v", x, ok, err)
	}
	if b, ok, err := f.Bool("b.flag"); b || !ok || err != nil {
		t.Errorf("b.flag = %v, %v, %v", b, ok, err)
	}
	if s, ok, _ := f.String("a.new"); s != "first" || !ok {
		t.Errorf("a.new = %q, %v", s, ok)
	}
	if b, ok, _ := f.Bool("b.new"); !b || !ok {
		t.Errorf("b.new = %v, %v", b, ok)
	}
	if v, ok := f.Value("z.new"); !ok || v.String() != "-3" {
		t.Errorf("z.new = %v, %v", v, ok)
	}
	if v, ok := f.Value("b.list"); !ok || v.Count != 1 {
		t.Errorf("b.list = %v, %v", v, ok)
	}
	if n := len(f.Keys()); n != 8 || !slices.Contains(f.Keys(), "z.new") {
		t.Errorf("%d keys: %q", n, f.Keys())
	}
	if f.Fingerprint() != before {
		t.Error("the fingerprint is another one")
	}
	for text, want := range map[string]string{
		"": "is no override", "b.text": "is no override", "b.text=new": "is no override",
		"=str:x": "is no override", "b.text=text:x": `type "text" is unknown`,
		"b.count=int:many": "no whole number", "b.count=int:1.5": "no whole number",
		"b.scale=float:x": "no number", "b.flag=bool:1": "neither true nor false",
		"b.count=str:9": "file.gguf has a i64 there", "b.list=int:1": "file.gguf has a u32[1] there",
	} {
		if err := f.Override(text); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "KEY=TYPE:VALUE") {
			t.Errorf("%q: error %v, want %q and the form", text, err, want)
		}
	}
}
