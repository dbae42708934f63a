package documentsql_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/document"
	"comanda/internal/document/documentsql"
	"comanda/internal/document/documenttest"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

// sizes reads all values of an index with their counts, limit values at a time.
func sizes(t *testing.T, s *documentsql.Store, e *document.Entity, index string, limit int) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	for after := ""; ; {
		page := testenv.Must(s.Sizes(t.Context(), e, e.Index(index), after, limit))(t)
		for _, p := range page {
			if _, twice := all[p.Value]; twice {
				t.Fatalf("%s by %s: %s comes twice", e.Name, index, p.Value)
			}
			all[p.Value] = p.N
		}
		if len(page) < limit {
			return all
		}
		after = page[len(page)-1].Value
	}
}

// Counting a set index agrees with finding documents by it, whatever the page size. Documents without a value are in
// no set.
func TestSizes(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		ctx := t.Context()
		testenv.NoError(t, h.PutRole(ctx, 1, "USER"), h.PutCategory(ctx, 2, "A"), h.PutCategory(ctx, 10, "B"))
		for i, city := range []string{"Huế", "huế", "HANOI", "", "Hanoi"} {
			testenv.NoError(t, h.PutUser(ctx, documenttest.User{ID: int64(i + 1), Role: 1, City: city, Province: city, Registered: i > 2}))
		}
		orders := []string{uid.New(time.UnixMilli(1e12)), uid.New(time.UnixMilli(2e12))}
		testenv.NoError(t, h.PutDish(ctx, 1, 2, "a"), h.PutDish(ctx, 2, 10, "b"), h.PutDish(ctx, 3, 10, "c"),
			h.OfferDishes(ctx, 1, 2, 3), h.WithdrawDishes(ctx, 2),
			h.PutCart(ctx, 7, 1),
			h.PutDetail(ctx, 1, 7, 1, 1), h.PutDetail(ctx, 2, 7, 2, 1), h.PutOrder(ctx, orders[0], "PLACED", 3, ""),
			h.PutOrder(ctx, orders[1], "PLACED", 0, ""), h.PutLine(ctx, orders[0], 1, 1), h.PutLine(ctx, orders[0], 2, 1),
			h.PutLine(ctx, orders[1], 1, 1))
		places := map[string]int64{"huế": 2, "hanoi": 2}
		want := map[*document.Index]map[string]int64{
			document.User.Index("province"): places, document.User.Index("city"): places,
			document.User.Index("registered"):   {"no": 3},
			document.Dish.Index("category"):     {"2": 1, "10": 2},
			document.Dish.Index("onMenu"):       {"yes": 2},
			document.CartDetail.Index("cart"):   {"7": 2},
			document.Order.Index("user"):        {"3": 1},
			document.OrderDetail.Index("order"): {orders[0]: 2, orders[1]: 1},
		}
		for _, e := range document.Entities {
			for _, x := range e.Sets() {
				for _, limit := range []int{1, 2, 100} {
					if d := cmp.Diff(want[x], sizes(t, s, e, x.Name, limit)); d != "" {
						t.Errorf("%s by %s, %d at a time (-want +got):\n%s", e.Name, x.Name, limit, d)
					}
				}
				delete(want, x)
			}
		}
		for e, n := range map[*document.Entity]int64{document.User: 5, document.Order: 2, document.OrderDetail: 3, document.Permission: 0} {
			got, err := s.Total(ctx, e, document.Tally{})
			if got.N != n || err != nil {
				t.Errorf("%d of %s, want %d, %v", got.N, e.Name, n, err)
			}
			if again, err := s.Total(ctx, e, got); again != got || err != nil {
				t.Errorf("%s: %+v after %+v, %v", e.Name, again, got, err)
			}
		}
		// A row that was counted is not counted again, even if its order has a further line: orders get all lines at once.
		lines, latest := testenv.Must(s.Total(ctx, document.OrderDetail, document.Tally{}))(t), uid.New(time.UnixMilli(3e12))
		testenv.NoError(t, h.PutOrder(ctx, latest, "PLACED", 3, ""), h.PutLine(ctx, latest, 1, 1), h.PutLine(ctx, orders[1], 2, 1))
		wantLines := document.Tally{N: 4, Last: latest}
		if got, err := s.Total(ctx, document.OrderDetail, lines); got != wantLines || err != nil {
			t.Errorf("%+v, want %+v, %v", got, wantLines, err)
		}
		if len(want) > 0 {
			t.Errorf("nothing was counted by %v", want)
		}
	})
}

// Pending returns every document of a waiting transaction, claimed or not. The projector's position is before the
// oldest of them.
func TestPending(t *testing.T) {
	onEach(t, func(t *testing.T, s *documentsql.Store, h documenttest.Writer) {
		ctx := t.Context()
		waits := func(limit int) (all []string, ok bool) {
			t.Helper()
			refs, ok := testenv.Must2(s.Pending(ctx, limit))(t)
			for _, e := range document.Entities {
				for _, id := range []string{"1", "2", "7"} {
					if _, ok := refs[document.Ref{Entity: e, ID: id}]; ok {
						all = append(all, e.Name+":"+id)
					}
				}
			}
			if len(all) != len(refs) {
				t.Errorf("%v wait", refs)
			}
			return all, ok
		}
		if at, err := s.Position(ctx); !at.IsZero() || err != nil {
			t.Errorf("nothing waits: %v, %v", at, err)
		}
		if all, ok := waits(1); len(all) > 0 || !ok {
			t.Errorf("nothing waits: %v", all)
		}
		begun := h.DB.Now()
		testenv.NoError(t, h.PutRole(ctx, 1, "USER"), h.PutUser(ctx, documenttest.User{ID: 2, Role: 1}), h.PutCart(ctx, 7, 2),
			h.DeleteCart(ctx, 7))
		claimed := testenv.Must(s.Claim(ctx, h.DB.Now(), h.DB.Now().Add(time.Minute), 1))(t)
		if all, ok := waits(4); cmp.Diff([]string{"role:1", "user:2", "cart:7"}, all) != "" || !ok {
			t.Errorf("%v wait, all of them: %v", all, ok)
		}
		if _, ok := waits(3); ok {
			t.Error("there are more than 3")
		}
		if at, err := s.Position(ctx); at.Before(begun.Truncate(time.Millisecond)) || at.After(h.DB.Now()) || err != nil {
			t.Errorf("the position is %v, %v", at, err)
		}
		first, err := s.Position(ctx)
		testenv.NoError(t, err, s.DeleteQueued(ctx, []string{claimed[0].ID}))
		if at, err := s.Position(ctx); at.Before(first) || err != nil {
			t.Errorf("the position was %v and is %v, %v", first, at, err)
		}
	})
}
