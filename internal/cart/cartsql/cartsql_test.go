package cartsql_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"comanda/internal/cart"
	"comanda/internal/cart/cartsql"
	"comanda/internal/cart/carttest"
	"comanda/internal/catalog"
	"comanda/internal/document/documentsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.Sequences(testenv.Size(20, 100))
	goleak.VerifyTestMain(m)
}

func TestStatements(t *testing.T) { sqldbtest.PrepareAll(t, cartsql.Statements) }

func each(t *testing.T, test func(t *testing.T, h *carttest.Fixture)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		test(t, carttest.Open(t, db, stock.Unlimited, stock.Unlimited, stock.Unlimited))
	})
}

// A member who reads twice at once sees each dish once, although both reads share a statement.
func TestStore_Cart_at_once(t *testing.T) {
	each(t, func(t *testing.T, h *carttest.Fixture) {
		member, empty := h.Member(t, 7), h.Member(t, 8)
		h.AddDishes(t, member, 2, 101, 102)
		var wg sync.WaitGroup
		for i := range 64 {
			wg.Go(func() {
				user, lines := member.UserID, 2
				if i%4 == 0 {
					user, lines = empty.UserID, 0
				}
				c, err := h.Store.Cart(t.Context(), user)
				if err != nil || len(c.Lines) != lines || c.UserID != user || (c.ID != 0) != (lines != 0) {
					t.Errorf("Cart = %+v, %v, want %d lines of user %d", c, err, lines, user)
				}
			})
		}
		wg.Wait()
	})
}

// C1: after concurrent first additions in two processes there is one cart, with the dish once.
func TestStore_Change_at_once(t *testing.T) {
	each(t, func(t *testing.T, h *carttest.Fixture) {
		otherProcess := carttest.OpenProcess(t, h.Restaurant, h.Clock)
		member := h.Member(t, 7)
		var wg sync.WaitGroup
		for i := range 19 {
			wg.Go(func() {
				store := []*carttest.Fixture{h, otherProcess}[i%2].Store
				add := &cart.Add{DishID: 101, Quantity: 1, Price: orderingtest.Price}
				if _, _, err := store.Change(t.Context(), cart.Change{UserID: member.UserID, Add: add}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		c, err := h.Store.Cart(t.Context(), member.UserID)
		if err != nil || len(c.Lines) != 1 || c.Lines[0].Quantity != 19 {
			t.Errorf("Cart = %+v, %v, want one line of 19", c, err)
		}
		if rows := h.Rows(t); rows.Carts != 1 || rows.Lines != 1 {
			t.Errorf("rows = %+v, want one cart and one line", rows)
		}
	})
}

// A refused change does not affect the others in its transaction.
func TestStore_Change_refusals(t *testing.T) {
	each(t, func(t *testing.T, h *carttest.Fixture) {
		good, bad := h.Member(t, 7), h.Member(t, 8)
		h.AddDishes(t, bad, 20, 101)
		otherLine := h.Get(t, bad).Items[0].ID
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				add := &cart.Add{DishID: 102, Quantity: 1, Price: orderingtest.Price}
				if _, _, err := h.Store.Change(t.Context(), cart.Change{UserID: good.UserID, Add: add}); err != nil {
					t.Error(err)
				}
			})
			wg.Go(func() {
				c, want := cart.Change{UserID: bad.UserID, Add: &cart.Add{DishID: 101, Quantity: 1}}, error(cart.ErrQuantity)
				switch i % 3 {
				case 1:
					c, want = cart.Change{UserID: good.UserID, Remove: otherLine}, cart.ErrLine
				case 2:
					c, want = cart.Change{UserID: 9, Set: &cart.Set{Line: otherLine, Quantity: 1}}, cart.ErrLine
				}
				if _, _, err := h.Store.Change(t.Context(), c); !errors.Is(err, want) {
					t.Errorf("%v, want %v", err, want)
				}
			})
		}
		wg.Wait()
		if v := h.Get(t, good); len(v.Items) != 1 || v.Items[0].Quantity != 20 {
			t.Errorf("cart = %+v, want one line of 20", v.Cart)
		}
		if v := h.Get(t, bad); v.Version != 1 || len(v.Items) != 1 || v.Items[0].Quantity != 20 {
			t.Errorf("a refused change was made: %+v", v.Cart)
		}
	})
}

// There is no cart before its first dish, and an emptied cart stays.
func TestStore_empty(t *testing.T) {
	each(t, func(t *testing.T, h *carttest.Fixture) {
		member := h.Member(t, 7)
		if v, err := h.Carts.Empty(t.Context(), member); err != nil || v.ID != 0 || h.Rows(t).Carts != 0 {
			t.Errorf("Empty without a cart = %+v, %v, want none", v.Cart, err)
		}
		first := h.AddDishes(t, member, 1, 101, 102)
		v, err := h.Carts.Empty(t.Context(), member)
		if err != nil || v.ID != first.ID || len(v.Items) != 0 || v.Version <= first.Version || h.Rows(t).Lines != 0 {
			t.Errorf("Empty = %+v, %v, want cart %d without lines, of a later version", v.Cart, err, first.ID)
		}
		again := h.AddDishes(t, member, 1, 101)
		if again.ID != first.ID || again.Items[0].ID == first.Items[0].ID {
			t.Errorf("%+v after %+v", again.Cart, first.Cart)
		}
	})
}

// C4: carts are deleted with the order's transaction, or stay as they are.
func TestQueueDelete(t *testing.T) {
	each(t, func(t *testing.T, h *carttest.Fixture) {
		one, two, none := h.Member(t, 7), h.Member(t, 8), h.Member(t, 9)
		first := h.AddDishes(t, one, 2, 101, 102)
		h.AddDishes(t, two, 3, 103)
		failure := errors.New("the order does not fit")
		take := func(fail error) error {
			return h.DB.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
				carts := map[int64]cart.Cart{}
				cartsql.QueueLock(tx, []int64{two.UserID, one.UserID, none.UserID}, carts)
				if err := tx.Flush(ctx); err != nil {
					return err
				}
				if diff := cmp.Diff(first.Cart, carts[one.UserID]); diff != "" || len(carts) != 2 {
					t.Errorf("%d carts, the first (-want +got):\n%s", len(carts), diff)
				}
				taken := cartsql.QueueDelete(tx, []cart.Cart{carts[one.UserID], carts[two.UserID]})
				documentsql.Queue(tx, h.Clock.Now(), taken...)
				if err := tx.Flush(ctx); err != nil {
					return err
				}
				return fail
			})
		}
		testenv.ErrorIs(t, failure, take(failure))
		if diff := cmp.Diff(first.Cart, h.Get(t, one).Cart); diff != "" || h.Rows(t).Lines != 3 {
			t.Errorf("cart after the rollback (-want +got):\n%s", diff)
		}
		testenv.NoError(t, take(nil))
		if rows := h.Rows(t); rows.Carts != 0 || rows.Lines != 0 || h.Get(t, one).ID != 0 {
			t.Errorf("rows = %+v, want none", rows)
		}
		if next := h.AddDishes(t, one, 1, 101); next.ID <= first.ID || next.Items[0].ID <= first.Items[1].ID {
			t.Errorf("ids were reused: %+v after %+v", next.Cart, first.Cart)
		}
	})
}

// C3, C4: a dish that is added while an order deletes the cart is ordered, or is in the next cart.
func TestStore_Change_of_an_ordered_cart(t *testing.T) {
	each(t, func(t *testing.T, h *carttest.Fixture) {
		member := h.Member(t, 7)
		first := h.AddDishes(t, member, 2, 101)
		added := make(chan error, 1)
		err := h.DB.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
			carts := map[int64]cart.Cart{}
			cartsql.QueueLock(tx, []int64{member.UserID}, carts)
			if err := tx.Flush(ctx); err != nil {
				return err
			}
			go func() {
				_, _, err := h.Carts.Add(t.Context(), member, 102, 3, 0)
				added <- err
			}()
			testenv.Eventually(t, 10*time.Second, func() bool {
				waits, err := sqldbtest.Waits(ctx, h.DB)
				return waits && err == nil
			})
			documentsql.Queue(tx, h.Clock.Now(), cartsql.QueueDelete(tx, []cart.Cart{carts[member.UserID]})...)
			return nil
		})
		testenv.NoError(t, errors.Join(err, <-added))
		next := h.Get(t, member)
		if next.ID <= first.ID || len(next.Items) != 1 || next.Items[0].DishID != 102 || next.Items[0].Quantity != 3 {
			t.Errorf("%+v after %+v", next.Cart, first.Cart)
		}
	})
}

func TestStore_FirstBranch(t *testing.T) {
	each(t, func(t *testing.T, h *carttest.Fixture) {
		first := func() int64 {
			t.Helper()
			return testenv.Must(h.Store.FirstBranch(t.Context()))(t)
		}
		testenv.Equal(t, 1, first())
		orderingtest.Open(t, h.DB, 2, 5)
		h.SetOpen(t, 1, false)
		if id := first(); id != 2 {
			t.Errorf("while the first is closed it is branch %d", id)
		}
		h.SetOpen(t, 2, false)
		if id := first(); id != 1 {
			t.Errorf("while all are closed it is branch %d", id)
		}
	})
}

// The absence of branches is not cached: the first branch that opens is found at once.
func TestStore_FirstBranch_none(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := cartsql.New(db, func() time.Time { return time.Time{} })
		defer s.Stop()
		for _, want := range []int64{0, 1} {
			testenv.Equal(t, want, testenv.Must(s.FirstBranch(t.Context()))(t))
			if want == 0 {
				orderingtest.Open(t, db, 1)
			}
		}
	})
}

func TestStore_DishNames(t *testing.T) {
	each(t, func(t *testing.T, h *carttest.Fixture) {
		names, err := h.Store.DishNames(t.Context(), []int64{102, 999, 101})
		want := map[int64]catalog.Texts{101: {catalog.English: "Dish"}, 102: {catalog.English: "Dish"}}
		if diff := cmp.Diff(want, names); diff != "" || err != nil {
			t.Error(diff, err)
		}
	})
}

func TestStore_Stop(t *testing.T) {
	each(t, func(t *testing.T, h *carttest.Fixture) {
		member := h.Member(t, 7)
		h.Store.Stop()
		_, err := h.Store.Cart(t.Context(), member.UserID)
		_, _, changed := h.Store.Change(t.Context(), cart.Change{UserID: member.UserID, Empty: true})
		if !slices.Equal([]error{err, changed}, []error{sqldb.ErrStopped, sqldb.ErrStopped}) {
			t.Error(err, changed)
		}
	})
}

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
			testenv.Equal(t, want, lines)
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

// plans are statements that explain plans of PostgreSQL, and others that make the tables' statistics those of emptied
// tables.
var plans = sqldb.Load(func() fstest.MapFS {
	files := fstest.MapFS{}
	add := func(name, text string) { files[name+".sql"] = &fstest.MapFile{Data: []byte(text)} }
	add("free_carts", `ALTER TABLE cart DROP CONSTRAINT cart_user_id_fkey`)
	add("free_lines", `ALTER TABLE cart_detail DROP CONSTRAINT cart_detail_dish_id_fkey`)
	add("fill_carts", `INSERT INTO cart (id, user_id, created_at, updated_at) SELECT n, n + 0, 0, 0 FROM generate_series(1, 1500) AS n`)
	add("fill_lines", `INSERT INTO cart_detail (id, cart_id, dish_id, quantity, price) SELECT n, n + 0, 1, 1, 1 FROM generate_series(1, 1500) AS n`)
	add("empty_carts", `DELETE FROM cart`)
	add("empty_lines", `DELETE FROM cart_detail`)
	add("look", `ANALYZE cart, cart_detail`)
	cartsql.Statements.All(func(s *sqldb.Stmt) {
		add("explain_"+s.Name, "EXPLAIN "+s.Text(sqldb.Postgres))
	})
	return files
}())

// quadratic matches a plan that joins all pairs of rows or filters all rows of a table.
var quadratic = regexp.MustCompile(`Join Filter: \(\w+\.\w+ = |Filter: \(.*= ANY`)

// Carts are created and deleted often, so PostgreSQL's statistics may describe empty tables. Even then, its plans must
// not compare each row of a table with each row of a batch.
func TestStatements_with_stale_statistics(t *testing.T) {
	db, ctx := sqldbtest.Postgres(t), t.Context()
	for _, name := range []string{
		"free_carts", "free_lines", "fill_carts", "fill_lines", "empty_lines", "empty_carts", "look", "fill_carts", "fill_lines",
	} {
		testenv.Must(db.Exec(ctx, plans.Must(name)))(t)
	}
	ids, none, names := make([]int64, 32), make([]int64, 32), make([]string, 32)
	for i := range ids {
		ids[i] = int64(i) + 1
	}
	for name, args := range map[string][]any{
		"cart_select": {ids}, "cart_lock": {ids}, "cart_delete": {ids}, "line_select": {ids}, "line_delete": {ids},
		"cart_ensure": {ids, names, int64(0)}, "cart_update": {ids, none, none, names, ids},
	} {
		lines, err := sqldb.Collect(ctx, db, sqldb.Value[string], plans.Must("explain_"+name), args...)
		if err != nil {
			t.Fatal(name, err)
		}
		if plan := strings.Join(lines, "\n"); quadratic.MatchString(plan) || !strings.Contains(plan, "cart") {
			t.Errorf("plan of %s, want indexes and no nested scan:\n%s", name, plan)
		}
	}
}
