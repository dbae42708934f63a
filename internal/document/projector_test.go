package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What was deleted and nothing else is written without a look at its row; whatever else happened to it in the same round,
// its row is read, and the deletion's version stands by.
func TestNewWork(t *testing.T) {
	claim := func(e *Entity, dead map[string]int64, ids ...string) Claimed {
		return Claimed{ID: "row", Entity: e, IDs: ids, Dead: dead}
	}
	for _, c := range []struct {
		name       string
		claimed    []Claimed
		read, gone string
	}{
		{"changed", []Claimed{claim(Cart, nil, "1", "2")}, "cart:1 cart:2", ""},
		{"deleted", []Claimed{claim(Cart, map[string]int64{"1": 4}, "1")}, "", "cart:1@4"},
		{"deleted twice", []Claimed{
			claim(Cart, map[string]int64{"1": 4}, "1"), claim(Cart, map[string]int64{"1": 9}, "1"),
		}, "", "cart:1@9"},
		{"one of two", []Claimed{claim(Cart, map[string]int64{"1": 4}, "1", "2")}, "cart:2", "cart:1@4"},
		{"changed, then deleted", []Claimed{claim(Cart, nil, "1"), claim(Cart, map[string]int64{"1": 4}, "1")}, "cart:1", ""},
		{"deleted, then there again", []Claimed{claim(Cart, map[string]int64{"1": 4}, "1"), claim(Cart, nil, "1")}, "cart:1", ""},
		{"another entity's id", []Claimed{
			claim(Cart, map[string]int64{"1": 4}, "1"), claim(CartDetail, nil, "1"),
		}, "cartDetail:1", "cart:1@4"},
		{"no key", []Claimed{claim(Cart, map[string]int64{"": 4}, "")}, "", ""},
		{"of another release", []Claimed{{ID: "row"}}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWork(c.claimed)
			var read, gone []string
			for _, r := range w.refs {
				read = append(read, r.Entity.Name+":"+r.ID)
			}
			slices.SortFunc(w.gone, func(a, b Document) int { return cmp.Compare(a.ID, b.ID) })
			for _, d := range w.gone {
				if !d.Dead {
					t.Errorf("%+v", d)
				}
				gone = append(gone, fmt.Sprintf("%s:%s@%d", d.Entity.Name, d.ID, d.Version))
			}
			if strings.Join(read, " ") != c.read || strings.Join(gone, " ") != c.gone {
				t.Errorf("reads %q, writes %q", read, gone)
			}
		})
	}
}
