package cartsql_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/cart"
	"comanda/internal/cart/carttest"
	"comanda/internal/testenv"
)

// A member's cart has a line for each choice of options, and another process reads them.
func TestStore_lines_with_options(t *testing.T) {
	each(t, func(t *testing.T, h *carttest.Fixture) {
		const large, small = `[{"o":17,"q":1}]`, `[{"o":16,"q":1}]`
		member := h.Member(t, 7)
		add := func(options string) cart.Cart {
			t.Helper()
			c, of := testenv.Must2(h.Store.Change(t.Context(), cart.Change{UserID: member.UserID, Add: &cart.Add{
				DishID: 101, Quantity: 1, Price: 1000, Options: options,
			}}))(t)
			if want := (cart.LineKey{DishID: 101, Options: options}); of != want {
				t.Errorf("the change concerns %+v, want %+v", of, want)
			}
			return c
		}
		add("")
		add(large)
		add(small)
		got := add(large)
		want := map[string]int64{"": 1, large: 2, small: 1}
		check := func(c cart.Cart) {
			t.Helper()
			lines := map[string]int64{}
			for _, l := range c.Lines {
				lines[l.Options] = l.Quantity
			}
			if d := cmp.Diff(want, lines); d != "" {
				t.Errorf("quantities by options (-want +got):\n%s", d)
			}
		}
		check(got)
		other := carttest.OpenProcess(t, h.Restaurant, h.Clock).Store
		check(testenv.Must(other.Cart(t.Context(), member.UserID))(t))
		for _, l := range got.Lines {
			if l.Options == large {
				testenv.Must2(h.Store.Change(t.Context(), cart.Change{UserID: member.UserID, Remove: l.ID}))(t)
			}
		}
		delete(want, large)
		check(testenv.Must(other.Cart(t.Context(), member.UserID))(t))

		change := put(h.Visit, "an", "1", 1)
		change.Line.Options = large
		testenv.Must(h.Store.ChangeShared(t.Context(), change))(t)
		change.Line.Options = small
		testenv.Must(h.Store.ChangeShared(t.Context(), change))(t)
		if c := testenv.Must(other.Shared(t.Context(), h.Visit))(t); len(c.Lines) != 1 || c.Lines[0].Options != small {
			t.Errorf("lines of the table's cart = %+v, want one with the second choice", c.Lines)
		}
	})
}
