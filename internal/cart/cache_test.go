package cart

import (
	"fmt"
	"testing"
)

// An older cart that arrives late never replaces a newer one, and an empty cart counts as none.
func TestRecent(t *testing.T) {
	lines := []Line{{ID: 1}}
	for _, c := range []struct {
		name string
		seen []Cart
		want string // "id/version" of member 7's
	}{
		{"nobody", nil, "0/0"},
		{"one", []Cart{{ID: 3, Version: 2, Lines: lines}}, "3/2"},
		{"newer", []Cart{{ID: 3, Version: 2, Lines: lines}, {ID: 3, Version: 3, Lines: lines}}, "3/3"},
		{"late", []Cart{{ID: 3, Version: 3, Lines: lines}, {ID: 3, Version: 2, Lines: lines}}, "3/3"},
		{"late and empty", []Cart{{ID: 3, Version: 3, Lines: lines}, {ID: 3, Version: 2}}, "3/3"},
		{"emptied", []Cart{{ID: 3, Version: 3, Lines: lines}, {ID: 3, Version: 4}}, "0/0"},
		{"another", []Cart{{ID: 3, Version: 9, Lines: lines}, {ID: 4, Version: 1, Lines: lines}}, "4/1"},
		{"the one before", []Cart{{ID: 4, Version: 1, Lines: lines}, {ID: 3, Version: 9, Lines: lines}}, "4/1"},
		{"gone", []Cart{{ID: 4, Version: 1, Lines: lines}, {}}, "0/0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r recentCarts
			for _, seen := range c.seen {
				seen.UserID = 7
				r.put(seen)
				r.put(Cart{ID: 99, UserID: 8, Version: 1, Lines: lines})
			}
			got, ok := r.get(7)
			if fmt.Sprintf("%d/%d", got.ID, got.Version) != c.want || ok != (got.ID != 0) {
				t.Errorf("%d/%d, %v; want %s", got.ID, got.Version, ok, c.want)
			}
			if r.evict(7); r.byUser.Len() > 1 {
				t.Error("it is remembered all the same")
			}
		})
	}
}
