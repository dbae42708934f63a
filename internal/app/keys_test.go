package app

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"comanda/internal/keyspace"
)

func TestLintKeys(t *testing.T) {
	for _, problem := range LintKeys() {
		t.Error(problem)
	}
}

func TestLintKeys_sees(t *testing.T) {
	ds := keyspace.Declarations()
	ds[0].Rebuild = "no.such"
	if found := lintKeys(ds); len(found) != 1 || !strings.HasSuffix(found[0], ": nothing is called no.such") {
		t.Errorf("found %q", found)
	}
}

// Every rebuilder that a declaration names is an existing function, and every function is named.
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
