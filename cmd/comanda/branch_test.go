package main

import (
	"os"
	"path/filepath"
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

// A value of the wrong form in a file of opening hours is named as it stands in the file.
func TestReadHours_problems(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hours.json")
	for text, want := range map[string]string{
		`{"weekly":{"fri":"x"}}`: "a list is expected in weekly, not string",
		`[]`:                     "an object is expected, not array", `{"wekly":{}}`: `unknown field "wekly"`,
		`null`: "has null instead of opening hours", `{"weekly":{}} {"weekly":{}}`: "there is more than one value",
		``: "is empty", strings.Repeat(" ", maxHoursFile+1) + "{}": "has more than 1048576 bytes",
	} {
		testenv.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		if _, err := readHours(file); err == nil || !strings.HasPrefix(err.Error(), file) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: error %v, want %s", text, err, want)
		}
	}
}
