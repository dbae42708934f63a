package arch

import (
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTree applies the rules to the whole module.
func TestTree(t *testing.T) {
	root := os.DirFS("../..")
	tr, tab := load(t, root)
	for _, f := range check(root, tr, tab, limits{code: 800, test: 1500, lua: 300, unpolished: unpolished, pathFiles: 25, pathLines: 5000}) {
		t.Error(f)
	}
}

// TestRules checks every rule: testdata/broken is a small module that violates each of them, and testdata/sound one
// that barely satisfies them.
func TestRules(t *testing.T) {
	small := limits{code: 30, test: 30, lua: 3, pathFiles: 1, pathLines: 10}
	t.Run("broken", func(t *testing.T) {
		root := os.DirFS("testdata/broken")
		tr, tab := load(t, root)
		var got []string
		for _, f := range check(root, tr, tab, small) {
			got = append(got, f.String())
		}
		want := []string{
			"docs/ARCHITECTURE.md:19: A1: there is no package gone",
			"docs/ARCHITECTURE.md:21: A8: there is no test catalog.TestGone",
			"docs/ARCHITECTURE.md:21: A11: there is no catalog.TestGone",
			"docs/ARCHITECTURE.md:23: A10: \"gives\" is not plain: returns, sets, passes",
			"docs/ARCHITECTURE.md:23: A11: there is no internal/gone",
			"docs/ARCHITECTURE.md:27: A15: the path of an order has 2 files with 11 lines of code; 1 and 10 are the limits",
			"docs/ARCHITECTURE.md:27: A15: the text before the table does not state \"2 files with 0 lines of code\"",
			"docs/dependencies.md:1: A14: example.com/unreviewed is not reviewed",
			"docs/dependencies.md:1: A14: vite is not reviewed",
			"docs/dependencies.md:4: A14: there is no direct dependency example.com/left",
			"docs/dependencies.md:5: A14: vue needs purpose, license, reason and upkeep",
			"internal/catalog/catalog.go:1: A4: the package's comment has no full sentence that begins with its name",
			"internal/catalog/catalog.go:4: A3: a context's root must not import net/http",
			"internal/catalog/catalog.go:7: A1: catalog must not import sqldb (docs/ARCHITECTURE.md:16)",
			"internal/catalog/catalog.go:8: A1: catalog must not import stock (docs/ARCHITECTURE.md:16)",
			"internal/catalog/catalog.go:10: A2: catalog must not import github.com/redis/rueidis (docs/ARCHITECTURE.md:16)",
			"internal/catalog/catalog.go:13: A6: TO" + "DO",
			"internal/catalog/catalog.go:14: A3: a context takes the time as an argument; it does not call time.Now",
			"internal/catalog/catalog_test.go:7: A1: a test must not import app (docs/ARCHITECTURE.md:18)",
			"internal/catalog/catalog_test.go:12: A7: a test that is skipped proves nothing",
			"internal/catalog/catalog_test.go:13: A7: a test waits for a signal or with testenv.Eventually",
			"internal/catalog/catalog_test.go:14: A10: the message \"%d: %v\\n\" has no words",
			"internal/catalog/catalogsql/branch.sql:4: A12: no code runs the statement branch_unused",
			"internal/catalog/catalogsql/catalogsql.go:5: A1: catalog/catalogsql must not import sqldb/sqldbtest (docs/ARCHITECTURE.md:17)",
			"internal/catalog/catalogsql/catalogsql.go:12: A12: there is no statement branch_gone",
			"internal/stock/stock.go:5: A13: fault has a type Quota, too",
			"internal/stray/stray.go:1: A10: \"nobody\" is not plain: the caller, no process, another request",
			"internal/stray/stray.go:1: A11: there is no file gone.go",
			"internal/stray/stray.go:3: A1: the package stray has no row in docs/ARCHITECTURE.md",
			"internal/stray/stray.go:8: A9: package clock reads the time, not time.Since",
			"internal/stray/stray.go:10: A10: \"gives\" is not plain: returns, sets, passes",
			"internal/stray/stray.lua:2: A9: a key of Redis ends after a span; PEXPIREAT takes an instant",
			"internal/stray/stray.lua:4: A5: the file has 4 lines; 3 are the limit",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
	})
	t.Run("sound", func(t *testing.T) {
		root := os.DirFS("testdata/sound")
		tr, tab := load(t, root)
		if found := check(root, tr, tab, small); len(found) > 0 {
			t.Errorf("a sound module breaks rules: %v", found)
		}
	})
}

// TestTable checks that a table which cannot be read is an error, and not a table that allows everything.
func TestTable(t *testing.T) {
	for name, text := range map[string]string{
		"no table":      "# Architecture\n",
		"no arrows":     groupHead + "\n|---|---|\n| words | `fault` |\n\n" + contextHead + "\n|---|---|\n| `stock` | no other |\n",
		"cells missing": arrowHead + "\n|---|---|---|\n| `fault` | nothing |\n",
		"no such group": arrowHead + "\n|---|---|---|\n| `fault` | telemetry | nothing |\n",
	} {
		t.Run(name, func(t *testing.T) {
			if tab, err := parseTable(text); err == nil {
				t.Errorf("parsed as %v", tab)
			}
		})
	}
}

func load(t *testing.T, root fs.FS) (tree, *table) {
	t.Helper()
	tr := read(t, root)
	i := slices.IndexFunc(tr.files, func(f file) bool { return f.path == architecture })
	if i < 0 {
		t.Fatalf("there is no %s", architecture)
	}
	tab, err := parseTable(tr.files[i].text)
	if err != nil {
		t.Fatalf("parse %s: %v", architecture, err)
	}
	return tr, tab
}
