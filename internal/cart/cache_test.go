package cart

import (
	"fmt"
	"testing"
)

// A newer cart is never replaced by an older one that comes late, and a cart with nothing in it is none.
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
			var r cache
			for _, seen := range c.seen {
				seen.UserID = 7
				r.put(seen)
				r.put(Cart{ID: 99, UserID: 8, Version: 1, Lines: lines})
			}
			got, ok := r.get(7)
			if fmt.Sprintf("%d/%d", got.ID, got.Version) != c.want || ok != (got.ID != 0) {
				t.Errorf("%d/%d, %v; want %s", got.ID, got.Version, ok, c.want)
			}
			if r.evict(7); len(r.young)+len(r.old) > 1 {
				t.Error("it is remembered all the same")
			}
		})
	}
}

// However many members come by, so many carts are remembered and no more; who is asked for stays.
func TestRecent_bounded(t *testing.T) {
	var r cache
	for user := range int64(10 * generationSize) {
		r.put(Cart{ID: user + 1, UserID: user, Version: 1, Lines: []Line{{ID: 1}}})
		if _, ok := r.get(0); !ok {
			t.Fatalf("forgotten after %d others", user)
		}
		if n := len(r.young) + len(r.old); n > 2*generationSize {
			t.Fatalf("%d carts are remembered", n)
		}
	}
	if _, ok := r.get(10*generationSize - generationSize); !ok {
		t.Error("a recent cart is forgotten")
	}
	if _, ok := r.get(generationSize); ok {
		t.Error("a cart of long ago is remembered")
	}
}
