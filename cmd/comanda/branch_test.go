package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"comanda/internal/catalog"
	"comanda/internal/testenv"
)

// A branch without a country has a dash in its column, and people read yes and no.
func TestPrintBranches(t *testing.T) {
	var b strings.Builder
	printBranches(&b, []catalog.Branch{
		{ID: 1, Name: "Hoa", Currency: "VND", Timezone: "UTC", Open: true},
		{ID: 2, Name: "Sen", Country: "TW", Currency: "TWD", Timezone: "UTC"},
	})
	rows := strings.Split(strings.TrimSpace(b.String()), "\n")
	want := [][]string{
		{"BRANCH", "NAME", "COUNTRY", "CURRENCY", "TIME", "ZONE", "OPEN"}, {"1", "Hoa", "-", "VND", "UTC", "yes"},
		{"2", "Sen", "TW", "TWD", "UTC", "no"},
	}
	if !slices.EqualFunc(rows, want, func(row string, cells []string) bool { return slices.Equal(strings.Fields(row), cells) }) {
		t.Errorf("the table is\n%s", b.String())
	}
}

// A misspelt command of a group is an error: with the help and exit code 0 a script would not notice it.
func TestGroup_unknown_command(t *testing.T) {
	root := newRoot()
	root.SetArgs([]string{"branch", "lst"})
	root.SetOut(io.Discard)
	if err := root.Execute(); err == nil || !strings.Contains(err.Error(), `"lst"`) {
		t.Errorf("branch lst: error %v, want one that names lst", err)
	}
	for flag, want := range map[string]string{
		"--branch": `invalid argument "x" for "--branch" flag: expected a number`,
		"--json":   `invalid argument "x" for "--json" flag: expected true or false`,
	} {
		root.SetArgs([]string{"tables", flag + "=x"})
		if err := root.Execute(); err == nil || err.Error() != want {
			t.Errorf("%s=x: error %v, want %s", flag, err, want)
		}
	}
	root = newRoot()
	root.SetOut(io.Discard)
	root.SetArgs([]string{"branch"})
	testenv.NoError(t, root.Execute())
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 dishes", 1: "1 dish", 2: "2 dishes"} {
		testenv.Equal(t, want, count(n, "dish", "dishes"))
	}
}
