package main

import (
	"slices"
	"strings"
	"testing"

	"comanda/internal/catalog"
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
