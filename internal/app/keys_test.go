package app

import (
	"reflect"
	"slices"
	"testing"

	"comanda/internal/keyspace"
)

func TestLintKeys(t *testing.T) {
	for _, problem := range LintKeys() {
		t.Error(problem)
	}
}

// Every name under which a declaration promises to be restored is a function that is really there, and none is forgotten.
func TestRebuilders(t *testing.T) {
	var named []string
	for _, d := range keyspace.Declarations() {
		if d.Rebuild == "" {
			continue
		}
		named = append(named, d.Rebuild)
		if f := reflect.ValueOf(rebuilders[d.Rebuild]); f.Kind() != reflect.Func || f.IsNil() {
			t.Errorf("%s: nothing is called %s", d.Pattern, d.Rebuild)
		}
	}
	for name := range rebuilders {
		if !slices.Contains(named, name) {
			t.Errorf("%s restores nothing", name)
		}
	}
}
