package main

import (
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"edgeinfer/kernels"
)

func TestKernelsReport(t *testing.T) {
	var report kernelsReport
	o := mustCall(t, "kernels", "--json")
	if err := json.Unmarshal([]byte(o.stdout), &report); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(report.Available, kernels.Names()) || report.Chosen != kernels.Best().Name {
		t.Errorf("available %v, chosen %s; want %v and the last", report.Available, report.Chosen,
			kernels.Names())
	}
	tested := map[string]int{}
	for _, r := range report.SelfTest {
		tested[r.Set]++
		if !r.OK || r.Cases == 0 {
			t.Errorf("%s %s: %d cases, %g of the bound", r.Set, r.Operation, r.Cases, r.Worst)
		}
	}
	for _, name := range report.Available {
		if tested[name] != tested["generic"] || tested[name] < 12 {
			t.Errorf("%s: %d operations tested, generic %d", name, tested[name], tested["generic"])
		}
	}
	people := mustCall(t, "kernels", "--kernels", "generic").stdout
	if !regexp.MustCompile(`(?m)^\* generic +self-test (\d+) of \d+$`).MatchString(people) {
		t.Errorf("kernels --kernels generic printed %q", people)
	}
	w := world{env: []string{"EDGEINFER_KERNELS=generic"}}
	if got := w.mustCall(t, "kernels", "--json").stdout; !strings.Contains(got, `"chosen":"generic"`) {
		t.Errorf("EDGEINFER_KERNELS=generic: %.100s", got)
	}
}

// TestSelfTestFindsEveryFault breaks one function of a Set at a time, whichever
// fields it has; the self-test must see each.
func TestSelfTestFindsEveryFault(t *testing.T) {
	failures := func(s kernels.Set) (names []string) {
		for _, r := range selfTest(s) {
			if !r.OK {
				names = append(names, r.Operation)
			}
		}
		return names
	}
	if got := failures(kernels.Generic()); got != nil {
		t.Fatalf("the references fail: %v", got)
	}
	shape := reflect.TypeFor[kernels.Set]()
	for i := range shape.NumField() {
		for j := range functions(reflect.New(shape).Elem().Field(i)) {
			s := kernels.Generic()
			f := functions(reflect.ValueOf(&s).Elem().Field(i))[j]
			if f.IsNil() {
				continue
			}
			f.Set(broken(f))
			if got := failures(s); len(got) != 1 {
				t.Errorf("%s %d is broken; failures %v, want one", shape.Field(i).Name, j, got)
			}
		}
	}
}

// functions are the functions in a field of a Set, which may be an array.
func functions(field reflect.Value) (all []reflect.Value) {
	switch field.Kind() {
	case reflect.Func:
		return []reflect.Value{field}
	case reflect.Array:
		for i := range field.Len() {
			all = append(all, functions(field.Index(i))...)
		}
	}
	return all
}

// broken is f with a fault in its result: in what it returns, else in the first
// element of its first argument.
func broken(f reflect.Value) reflect.Value {
	sound := reflect.ValueOf(f.Interface())
	return reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
		results := sound.Call(args)
		if len(results) > 0 {
			results[0] = reflect.ValueOf(float32(results[0].Float() + 1))
			return results
		}
		switch first := args[0].Index(0); first.Kind() {
		case reflect.Float32:
			first.SetFloat(first.Float() + 1)
		case reflect.Int8:
			first.SetInt(first.Int() ^ 1)
		default:
			first.SetUint(first.Uint() ^ 1)
		}
		return results
	})
}

func TestBoundedTakesNoNonsense(t *testing.T) {
	for _, c := range []struct {
		size, bound float64
		ok          bool
	}{{0, 1, true}, {1, 1, true}, {1.01, 1, false}, {math.NaN(), 1, false}, {0, 0, false}, {1, 0,
		false},
		{math.Inf(1), 1, false}} {
		var r testResult
		if r.bounded(c.size, c.bound); r.OK != c.ok {
			t.Errorf("error %g, bound %g: ok %v; want %v", c.size, c.bound, r.OK, c.ok)
		}
	}
}
