// Package carttest sets up a small restaurant with members and their carts for tests, and changes its menu.
package carttest

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/authz"
	"comanda/internal/cart"
	"comanda/internal/cart/cartsql"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/catalog/catalogtest"
	"comanda/internal/document"
	"comanda/internal/document/documentredis"
	"comanda/internal/document/documentsql"
	"comanda/internal/document/documenttest"
	"comanda/internal/keyspace"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
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
	"item_price.sql":   {Data: []byte(`UPDATE menu_version_item SET price = $3 WHERE version_id = $1 AND item_id = $2`)},
	"item_drop.sql":    {Data: []byte(`DELETE FROM menu_version_item WHERE version_id = $1 AND item_id = $2`)},
	"branch_open.sql":  {Data: []byte(`UPDATE branch SET is_open = $2 WHERE id = $1`)},
	"branch_hours.sql": {Data: []byte(`UPDATE branch SET hours = $2 WHERE id = $1`)},
	"dish_names.sql":   {Data: []byte(`UPDATE dish SET names = $2 WHERE id = $1`)},
	"menu_kinds.sql":   {Data: []byte(`UPDATE menu SET schedule = $2 WHERE id = $1`)},
	"menu.sql":         {Data: []byte(`INSERT INTO menu (id, branch_id, name, schedule) VALUES ($1, $2, 'Pick-up', $3)`)},
	"version.sql": {Data: []byte(`
		INSERT INTO menu_version (id, menu_id, branch_id, number, status, created_at) VALUES ($1, $2, $3, 1, 'PUBLISHED', 0)`)},
	"item.sql": {Data: []byte(`
		INSERT INTO menu_item (id, menu_id, branch_id, dish_id, daily_quota) VALUES ($1, $2, $3, $4, $5)`)},
	"version_item.sql": {Data: []byte(`INSERT INTO menu_version_item (version_id, item_id, price) VALUES ($1, $2, $3)`)},
	"visit_close.sql":  {Data: []byte(`UPDATE visit SET status = 'CLOSED', closed_at = $2 WHERE id = $1`)},
	"branch_share.sql": {Data: []byte(`UPDATE branch SET shared_cart = $2 WHERE id = $1`)},
	"touch.sql":        {Data: []byte(`UPDATE branch SET revision = revision + 1 WHERE id = $1`)},
	"rows.sql": {Data: []byte(`
		SELECT (SELECT count(*) FROM cart), (SELECT count(*) FROM cart_detail), (SELECT count(*) FROM order_info),
		       (SELECT count(*) FROM hold)`)},
})

// Fixture is the cart service of one process, in a restaurant.
type Fixture struct {
	*orderingtest.Restaurant

	Clock *testenv.Clock
	Left  *catalogtest.Levels // the levels that menus show; the ledger uses its own counters
	Menus *catalog.MenuCache
	Store *cartsql.Store
	Carts *cart.Service
}

// Open creates a restaurant in an empty database: branch 1, with a dish per quota, see orderingtest.Open.
func Open(t testing.TB, db *sqldb.DB, quotas ...int64) *Fixture {
	t.Helper()
	testenv.NoError(t, documenttest.Writer{DB: db}.PutRole(t.Context(), 1, authz.RoleUser))
	return OpenProcess(t, orderingtest.Open(t, db, 1, quotas...), testenv.NewClock())
}

// OpenProcess creates the cart service of another process on the same stores.
func OpenProcess(t testing.TB, r *orderingtest.Restaurant, clock *testenv.Clock) *Fixture {
	t.Helper()
	h := &Fixture{Restaurant: r, Clock: clock, Left: &catalogtest.Levels{}, Store: cartsql.New(r.DB, clock.Now)}
	t.Cleanup(h.Store.Stop)
	h.Menus = catalog.NewMenuCache(catalogsql.New(r.DB, nil), catalog.NoSharedCache{}, clock.Now)
	h.Carts = &cart.Service{Store: h.Store, LiveMenus: catalog.NewLiveMenus(h.Menus, h.Left, clock.Now)}
	return h
}

// Member creates a member or returns an existing one.
func (f *Fixture) Member(t testenv.TB, id int64) authz.Actor {
	t.Helper()
	u := documenttest.User{ID: id, Email: strconv.FormatInt(id, 10) + "@example.com", Role: 1}
	testenv.NoError(t, (documenttest.Writer{DB: f.DB}).PutUser(context.Background(), u))
	return authz.Actor{Kind: authz.Account, UserID: id, RoleID: 1, Role: authz.RoleUser}
}

// AddDishes adds a quantity of each dish to a member's cart and returns the cart.
func (f *Fixture) AddDishes(t testing.TB, actor authz.Actor, quantity int64, dishes ...int64) (v cart.View) {
	t.Helper()
	for _, dish := range dishes {
		v, _ = testenv.Must2(f.Carts.Add(t.Context(), actor, dish, quantity, 0))(t)
	}
	return v
}

// Get returns a member's cart, priced by its own branch.
func (f *Fixture) Get(t testing.TB, actor authz.Actor) cart.View {
	t.Helper()
	return testenv.Must(f.Carts.Get(t.Context(), actor, 0))(t)
}

// Reprice publishes a menu version with another price of an item.
func (f *Fixture) Reprice(t testing.TB, item, price int64) { f.publish(t, "item_price", item, price) }

// Drop publishes a menu version without an item.
func (f *Fixture) Drop(t testing.TB, item int64) { f.publish(t, "item_drop", item) }

func (f *Fixture) publish(t testing.TB, change string, args ...any) {
	t.Helper()
	next := f.Version + 1000
	f.run(t, "version_close", f.Version)
	f.run(t, "version_next", f.Version, next)
	f.run(t, "items_copy", f.Version, next)
	f.run(t, change, append([]any{next}, args...)...)
	f.Version = next
	f.invalidate(t)
}

// SplitMenus makes the menu one for delivery, and publishes another one for pick-up with some of its dishes at a price. It
// returns the items of the new menu, which have a daily quota.
func (f *Fixture) SplitMenus(t testing.TB, price, quota int64, dishes ...int64) (items []int64) {
	t.Helper()
	const first = 5000 // id of the menu, of its version and, increased, of its items
	f.run(t, "menu_kinds", f.Branch, `{"kinds":["DELIVERY"]}`)
	f.run(t, "menu", first, f.Branch, `{"kinds":["PICKUP"]}`)
	f.run(t, "version", first, first, f.Branch)
	for _, dish := range dishes {
		item := first + dish
		f.run(t, "item", item, first, f.Branch, dish, quota)
		f.run(t, "version_item", first, item, price)
		items = append(items, item)
	}
	f.invalidate(t)
	return items
}

// SetOpen opens or closes a branch.
func (f *Fixture) SetOpen(t testing.TB, branch int64, open bool) {
	t.Helper()
	f.run(t, "branch_open", branch, map[bool]int{true: 1}[open])
	f.invalidate(t)
}

// Share lets the guests of a table share a cart, or not.
func (f *Fixture) Share(t testing.TB, share bool) {
	t.Helper()
	f.run(t, "branch_share", f.Branch, map[bool]int{true: 1}[share])
	f.invalidate(t)
}

// CloseAt closes a visit at an instant.
func (f *Fixture) CloseAt(t testing.TB, visit string, at time.Time) {
	t.Helper()
	f.run(t, "visit_close", visit, at.UnixMilli())
}

// SetHours sets the opening hours of a branch, as stored.
func (f *Fixture) SetHours(t testing.TB, branch int64, hours string) {
	t.Helper()
	f.run(t, "branch_hours", branch, hours)
	f.invalidate(t)
}

// Name sets the names of a dish, as JSON by locale.
func (f *Fixture) Name(t testing.TB, dish int64, names string) {
	t.Helper()
	f.run(t, "dish_names", dish, names)
	f.invalidate(t)
}

// invalidate makes a change visible to all readers at once.
func (f *Fixture) invalidate(t testing.TB) {
	t.Helper()
	f.run(t, "touch", f.Branch)
	f.Menus.Invalidate(t.Context(), f.Branch)
	f.Clock.Advance(10 * time.Second) // more than the maximum age of a live menu
}

func (f *Fixture) run(t testing.TB, name string, args ...any) {
	t.Helper()
	testenv.Must(f.DB.Exec(context.Background(), Stmts.Must(name), args...))(t)
}

// Rows counts the rows that checkouts write, so that tests can check that none was written.
type Rows struct{ Carts, Lines, Orders, Holds int64 }

// Rows counts the rows.
func (f *Fixture) Rows(t testing.TB) Rows {
	t.Helper()
	got, _ := testenv.Must2(sqldb.One(context.Background(), f.DB, func(s sqldb.Rows) (r Rows, err error) {
		err = s.Scan(&r.Carts, &r.Lines, &r.Orders, &r.Holds)
		return r, err
	}, Stmts.Must("rows")))(t)
	return got
}

// Documents reads the documents of a restaurant in Redis.
type Documents struct {
	redis     *redisdb.DB
	sql       *documentsql.Store
	projector *document.Projector
}

// NewDocuments returns the documents of a restaurant. It queues the restaurant's own rows, which were inserted without
// outbox rows.
func NewDocuments(r *orderingtest.Restaurant, redis *redisdb.DB) *Documents {
	m := &Documents{redis: redis, sql: documentsql.New(r.DB)}
	m.projector = &document.Projector{Source: m.sql, Outbox: m.sql, Writer: documentredis.New(redis), Now: r.DB.Now}
	m.projector.Touch(document.Ref{Entity: document.Category, ID: strconv.FormatInt(r.Branch, 10)})
	for _, dish := range r.Items {
		m.projector.Touch(document.Ref{Entity: document.Dish, ID: strconv.FormatInt(dish, 10)})
	}
	return m
}

// Verify projects the changes and compares all documents with SQL in both directions.
func (m *Documents) Verify(t testenv.TB) {
	t.Helper()
	ctx := context.Background()
	testenv.NoError(t, m.projector.RunOnce(ctx))
	v := &document.Verifier{Source: m.sql, Mirror: documentredis.New(m.redis), Pause: m.projector.RunOnce}
	found, err := v.Verify(ctx)
	if err != nil || !found.Clean {
		t.Fatal(err, found.Found, found.Samples)
	}
}

// Get reads a key: a string, or the members of a set, shortest first, separated by commas. missing is true if there is
// none.
func (m *Documents) Get(t testenv.TB, key string) (value string, missing bool) {
	t.Helper()
	k, ok := keyspace.ParseDocument(key)
	if !ok {
		t.Fatal(key + " is not declared")
	}
	if k.Key.Decl().Type == keyspace.Set {
		members := testenv.Must(m.redis.Do(context.Background(), "SMEMBERS", k.Key).Texts())(t)
		slices.SortFunc(members, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
		return strings.Join(members, ","), len(members) == 0
	}
	value, found := testenv.Must2(m.redis.Do(context.Background(), "GET", k.Key).Text())(t)
	return value, !found
}
