package main

import (
	"strings"
	"testing"
)

func TestCacheTypes(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-ctk f32 -ctv f32", "f32"},
		{"-ctk f16 -ctv f16", "f16"},
		{"-ctk bf16 -ctv bf16", "f16"},
		{"-ctk f32 -ctv f16", "f16"},
		{"-ctk f32", "f16"},
		{"-ctk q8_0 -ctv q8_0", "k8v8"},
		{"-ctk q8_0", "k8v16"},
		{"-ctv q8_0", "k16v8"},
		{"-ctk f32 -ctv q4_0", "k16v4"},
		{"-ctk q5_1 -ctv iq4_nl", "k5v4"},
		{"-ctk Q5_0 -ctv q4_1", "k5v4"},
	} {
		o := mustCall(t, append([]string{"plan"}, strings.Fields(c.args)...)...)
		if !strings.Contains(o.stdout, "cache     "+c.want+":") {
			t.Errorf("plan %s: %s; want cache %s", c.args, o.stdout, c.want)
		}
		if !strings.Contains(o.stderr, "are kept as --kv "+c.want) {
			t.Errorf("plan %s says %q; want the mapping to --kv %s", c.args, o.stderr, c.want)
		}
	}
}
