package keyspace

import (
	"slices"
	"strings"
	"testing"

	"comanda/internal/testenv"
)

// shortWords are words of at most four letters that are not abbreviations.
var shortWords = strings.Fields("by cart city code date day dish due end hash hold hot id item lang left line list live " +
	"lock mark menu name no page paid part rate role seen sold tag tags user view wake week yes")

// redis-key-naming (001-A4): every abbreviation in a key's name is explained. Words of more than four letters speak for
// themselves.
func TestLegend_covers_every_key(t *testing.T) {
	patterns := []string{}
	for _, d := range Declarations() {
		patterns = append(patterns, d.Pattern)
	}
	for _, c := range Channels() {
		patterns = append(patterns, c.Name)
	}
	explained := map[string]bool{}
	for _, a := range Legend() {
		explained[a.Short] = true
	}
	for _, p := range patterns {
		for _, w := range nameWords(p) {
			if len(w) <= 4 && !explained[w] && !slices.Contains(shortWords, w) {
				t.Errorf("%s: add %q to legend, or to shortWords if it is a word", p, w)
			}
		}
	}
	// Fields of hashes occur in descriptions only.
	for _, field := range []string{"ep", "pos", "bld"} {
		if !explained[field] {
			t.Errorf("the legend lacks the field %s", field)
		}
	}
	if explained["rank"] && !strings.Contains(strings.Join(patterns, " "), "rank") {
		t.Error("the legend explains an abbreviation that no key has")
	}
}

func TestLegend_is_sorted_and_printed(t *testing.T) {
	if !slices.IsSortedFunc(legend, func(a, b Abbreviation) int { return strings.Compare(a.Short, b.Short) }) {
		t.Error("the legend is not sorted")
	}
	if !strings.Contains(Markdown(), "| `rsv` | reserved: units that open holds have |") {
		t.Error("docs/keyspace.md has no legend")
	}
}

func TestNameWords(t *testing.T) {
	testenv.Equal(t, []string{"cis", "menu", "active", "v2", "token", "hash", "b", "branch"},
		nameWords("cis:menu:active:v2:%tokenHash%:{b%branch%}"))
}
