// Package carttest sets up a small restaurant with members whose carts are tested, and changes its menu meanwhile.
package carttest

import (
	"context"
	"strconv"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/cart"
	"comanda/internal/cart/cartsql"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/catalog/catalogtest"
	"comanda/internal/document/documenttest"
	"comanda/internal/identity"
	"comanda/internal/identity/identitytest"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/sqldb"
)

// Stmts are the statements of this package.
var Stmts = sqldb.Load(fstest.MapFS{
	"version_close.sql": {Data: []byte(`UPDATE menu_version SET status = 'CLOSED' WHERE id = $1`)},
	"version_next.sql": {Data: []byte(`
		INSERT INTO menu_version (id, menu_id, branch_id, number, status, created_at)
		SELECT $2, menu_id, branch_id, number + 1, 'PUBLISHED', 0 FROM menu_version WHERE id = $1`)},
	"items_copy.sql": {Data: []byte(`
		INSERT INTO menu_version_item (version_id, item_id, price)
		SELECT $2, item_id, price FROM menu_version_item WHERE version_id = $1`)},
	"item_price.sql":  {Data: []byte(`UPDATE menu_version_item SET price = $3 WHERE version_id = $1 AND item_id = $2`)},
	"item_drop.sql":   {Data: []byte(`DELETE FROM menu_version_item WHERE version_id = $1 AND item_id = $2`)},
	"branch_open.sql": {Data: []byte(`UPDATE branch SET is_open = $2 WHERE id = $1`)},
	"dish_names.sql":  {Data: []byte(`UPDATE dish SET names = $2 WHERE id = $1`)},
	"touch.sql":       {Data: []byte(`UPDATE branch SET revision = revision + 1 WHERE id = $1`)},
	"rows.sql": {Data: []byte(`
		SELECT (SELECT count(*) FROM cart), (SELECT count(*) FROM cart_detail), (SELECT count(*) FROM order_info),
		       (SELECT count(*) FROM hold), (SELECT count(*) FROM idempotency), (SELECT count(*) FROM payment_attempt)`)},
})

// TB is what the house needs of a test; rapid's tests have it too.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// House is the cart room of one process, in a restaurant.
type House struct {
	*orderingtest.Restaurant

	Clock *identitytest.Clock
	Left  *catalogtest.Levels // what boards say is left; the ledger goes by its own counters
	Menus *catalog.MenuCache
	Store *cartsql.Store
	Carts *cart.Carts
}

// Open makes a restaurant on an empty database: branch 1, with a dish for each quota, see orderingtest.Open.
func Open(t testing.TB, db *sqldb.DB, quotas ...int64) *House {
	t.Helper()
	documenttest.Must(t, documenttest.Writer{DB: db}.PutRole(t.Context(), 1, identity.RoleUser))
	return Beside(t, orderingtest.Open(t, db, 1, quotas...), identitytest.NewClock())
}

// Beside makes the room of another process on the stores of a house.
func Beside(t testing.TB, r *orderingtest.Restaurant, clock *identitytest.Clock) *House {
	t.Helper()
	h := &House{Restaurant: r, Clock: clock, Left: &catalogtest.Levels{}, Store: cartsql.New(r.DB, clock.Now)}
	t.Cleanup(h.Store.Stop)
	h.Menus = catalog.NewMenuCache(catalogsql.New(r.DB, nil), catalog.NoSharedCache{}, clock.Now)
	h.Carts = &cart.Carts{Store: h.Store, Boards: catalog.NewLiveMenus(h.Menus, h.Left, clock.Now)}
	return h
}

// Member makes a member, or gives one who is there already.
func (h *House) Member(t TB, id int64) identity.Actor {
	t.Helper()
	u := documenttest.User{ID: id, Email: strconv.FormatInt(id, 10) + "@example.com", Role: 1}
	if err := (documenttest.Writer{DB: h.DB}).PutUser(context.Background(), u); err != nil {
		t.Fatal(err)
	}
	return identity.Actor{Kind: identity.Account, UserID: id, RoleID: 1, Role: identity.RoleUser}
}

// Puts has a member put so many of dishes into the cart, which is given as it is then.
func (h *House) Puts(t testing.TB, who identity.Actor, quantity int64, dishes ...int64) (v cart.View) {
	t.Helper()
	for _, dish := range dishes {
		var err error
		if v, _, err = h.Carts.Add(t.Context(), who, dish, quantity, 0); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// Look gives a member's cart as the branch that it is priced by shows it.
func (h *House) Look(t testing.TB, who identity.Actor) cart.View {
	t.Helper()
	v, err := h.Carts.Get(t.Context(), who, 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Reprice publishes a version of the restaurant's menu in which an item costs something else.
func (h *House) Reprice(t testing.TB, item, price int64) { h.publish(t, "item_price", item, price) }

// Drop publishes a version of the restaurant's menu without an item.
func (h *House) Drop(t testing.TB, item int64) { h.publish(t, "item_drop", item) }

func (h *House) publish(t testing.TB, change string, args ...any) {
	t.Helper()
	next := h.Version + 1000
	h.run(t, "version_close", h.Version)
	h.run(t, "version_next", h.Version, next)
	h.run(t, "items_copy", h.Version, next)
	h.run(t, change, append([]any{next}, args...)...)
	h.Version = next
	h.renew(t)
}

// SetOpen opens a branch or closes it.
func (h *House) SetOpen(t testing.TB, branch int64, open bool) {
	t.Helper()
	h.run(t, "branch_open", branch, map[bool]int{true: 1}[open])
	h.renew(t)
}

// Name gives a dish its names, as JSON by languages.
func (h *House) Name(t testing.TB, dish int64, names string) {
	t.Helper()
	h.run(t, "dish_names", dish, names)
	h.renew(t)
}

// renew has everybody see what has changed.
func (h *House) renew(t testing.TB) {
	t.Helper()
	h.run(t, "touch", h.Branch)
	h.Menus.Invalidate(t.Context(), h.Branch)
	h.Clock.Advance(10 * time.Second) // more than a board may be old
}

func (h *House) run(t testing.TB, name string, args ...any) {
	t.Helper()
	if _, err := h.DB.Exec(context.Background(), Stmts.Must(name), args...); err != nil {
		t.Fatal(err)
	}
}

// Rows counts what checkouts write, so that a test can tell that nothing was.
type Rows struct{ Carts, Lines, Orders, Holds, Keys, Attempts int64 }

// Rows counts.
func (h *House) Rows(t testing.TB) Rows {
	t.Helper()
	rows, err := h.DB.Query(context.Background(), Stmts.Must("rows"))
	got, _, err := sqldb.One(rows, err, func(s sqldb.Rows) (r Rows, err error) {
		err = s.Scan(&r.Carts, &r.Lines, &r.Orders, &r.Holds, &r.Keys, &r.Attempts)
		return r, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}
