// Package orderingtest creates a small restaurant in a database and builds ordering commands for tests.
package orderingtest

import (
	"context"
	"fmt"
	"slices"
	"testing/fstest"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/money"
	"comanda/internal/ordering"
	"comanda/internal/payment"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

// stmts inserts and reads rows directly. The services that own these tables would need more data than an order does.
var stmts = sqldb.Load(fstest.MapFS{
	"branch.sql": {Data: []byte(`
		INSERT INTO branch (id, name, currency, timezone, biz_day_start_hour, locales, auto_close_minutes, created_at)
		VALUES ($1, 'Test', 'VND', 'Asia/Ho_Chi_Minh', 4, '["vi","en"]', 60, 0)`)},
	"category.sql": {Data: []byte(`INSERT INTO category (id, names) VALUES ($1, '{"en":"Food"}')`)},
	"dish.sql":     {Data: []byte(`INSERT INTO dish (id, category_id, names, descriptions) VALUES ($1, $2, '{"en":"Dish"}', '{}')`)},
	"menu.sql":     {Data: []byte(`INSERT INTO menu (id, branch_id, name) VALUES ($1, $2, 'Menu')`)},
	"item.sql":     {Data: []byte(`INSERT INTO menu_item (id, menu_id, branch_id, dish_id, daily_quota) VALUES ($1, $2, $3, $4, $5)`)},
	"version.sql": {Data: []byte(`
		INSERT INTO menu_version (id, menu_id, branch_id, number, status, created_at) VALUES ($1, $2, $3, 1, 'PUBLISHED', 0)`)},
	"version_item.sql": {Data: []byte(`INSERT INTO menu_version_item (version_id, item_id, price) VALUES ($1, $2, $3)`)},
	"table.sql":        {Data: []byte(`INSERT INTO dining_table (id, branch_id, label) VALUES ($1, $2, $3)`)},
	"visit.sql": {Data: []byte(`
		INSERT INTO visit (id, branch_id, table_id, biz_date, status, opened_at, last_seen_at)
		VALUES ($1, $2, $3, '2026-02-26', 'OPEN', 0, 0)`)},
	"visit_close.sql":  {Data: []byte(`UPDATE visit SET status = 'CLOSED' WHERE id = $1`)},
	"visit_reopen.sql": {Data: []byte(`UPDATE visit SET status = 'OPEN' WHERE id = $1`)},
	"counters.sql": {Data: []byte(`
		SELECT menu_item_id, coalesce(cap, -1), held_qty, used_qty FROM sales_quota_counter
		WHERE branch_id = $1 AND stat_date >= $2 AND stat_date <= $3 ORDER BY stat_date, menu_item_id`)},
	"option_group.sql": {Data: []byte(`
		INSERT INTO option_group (id, kind, names, created_at, updated_at) VALUES ($1, 'CHOICE', '{"en":"Toppings"}', 0, 0)`)},
	"option.sql":       {Data: []byte(`INSERT INTO option_choice (id, group_id, names, sort) VALUES ($1, $1, '{"en":"Pearls"}', 1)`)},
	"option_off.sql":   {Data: []byte(`INSERT INTO choice_off (branch_id, choice_id, off_at, off_by) VALUES ($1, $2, 0, 'test')`)},
	"quota.sql":        {Data: []byte(`UPDATE menu_item SET daily_quota = $2 WHERE id = $1`)},
	"count_events.sql": {Data: []byte(`SELECT count(*) FROM event_log WHERE event_type = $1`)},
})

// Price is the price of every item, in minor units.
const Price = 1000

// Restaurant is one branch with one published menu and one open visit.
type Restaurant struct {
	DB       *sqldb.DB
	Branch   int64
	Version  int64
	Visit    string
	Items    []int64
	Currency money.Currency // currency of the menu's prices
}

// Open creates a restaurant with one item per quota. stock.Unlimited creates an item without a quota. Item ids are
// branch*100+1, branch*100+2 and so on.
func Open(t testenv.TB, db *sqldb.DB, branch int64, quotas ...int64) *Restaurant {
	t.Helper()
	r := &Restaurant{DB: db, Branch: branch, Version: branch, Visit: uid.New(time.Now()), Currency: money.VND}
	r.run(t, "branch", branch)
	r.run(t, "category", branch)
	r.run(t, "menu", branch, branch)
	r.run(t, "version", branch, branch, branch)
	for i, q := range quotas {
		id := branch*100 + int64(i) + 1
		var quota *int64
		if q != stock.Unlimited {
			quota = &q
		}
		r.run(t, "dish", id, branch)
		r.run(t, "item", id, branch, branch, id, quota)
		r.run(t, "version_item", branch, id, Price)
		r.Items = append(r.Items, id)
	}
	r.run(t, "table", branch, branch, fmt.Sprint("T", branch))
	r.run(t, "visit", r.Visit, branch, branch)
	return r
}

func (r *Restaurant) run(t testenv.TB, name string, args ...any) {
	t.Helper()
	testenv.Must(r.DB.Exec(context.Background(), stmts.Must(name), args...))(t)
}

// NextVisit closes the visit and opens another one at the same table.
func (r *Restaurant) NextVisit(t testenv.TB) {
	t.Helper()
	r.run(t, "visit_close", r.Visit)
	r.Visit = uid.New(time.Now())
	r.run(t, "visit", r.Visit, r.Branch, r.Branch)
}

// Reopen closes the visit and opens an earlier one again.
func (r *Restaurant) Reopen(t testenv.TB, visit string) {
	t.Helper()
	r.run(t, "visit_close", r.Visit)
	r.Visit = visit
	r.run(t, "visit_reopen", visit)
}

// Place builds a command that places an order of lines under an idempotency key. The order expires window after now. It
// bypasses pricing and the admission cache: only the ledger decides. All orders are of one phone and one business date.
func (r *Restaurant) Place(key string, now time.Time, window time.Duration, lines ...stock.Line) *ordering.Place {
	id := uid.New(now)
	o := ordering.Order{
		ID: id, Scope: stock.Scope{Branch: r.Branch, Date: "2026-02-26"}, Kind: ordering.DineIn, VisitID: r.Visit, GuestHash: "guest",
		MenuVersionID: r.Version, HoldID: id, ClientTxnID: key, Digest: fmt.Sprint(lines), Status: ordering.Placed, PaymentStatus: ordering.Unpaid,
		Method: payment.Sandbox, Currency: "VND", PayBy: now.Add(window), ExpiresAt: now.Add(window),
		CreatedAt: now, UpdatedAt: now, Version: 1,
	}
	for _, l := range lines {
		o.Items = append(o.Items, ordering.Item{ItemID: l.Item, DishID: l.Item, Name: "Dish", Price: Price, Qty: l.Qty})
		o.Total += Price * l.Qty
	}
	merged, err := stock.MergeLines(lines)
	if err != nil {
		panic(err)
	}
	return &ordering.Place{Order: o, Versions: []int64{r.Version}, Hold: stock.Hold{ID: id, Scope: o.Scope, Lines: merged, Until: o.ExpiresAt}}
}

// Pay builds a gateway's report of a successful payment. It names no attempt and no amount, so it settles the newest
// attempt of the sandbox.
func Pay(order string, now time.Time) *ordering.Settle {
	return &ordering.Settle{
		OrderID: order, NewID: uid.New(now), Method: payment.Sandbox, State: payment.Paid,
		Source: ordering.SourceCallback, Raw: "{}", Today: "2026-02-26",
	}
}

// End builds the cancellation or expiry of an order.
func End(order string, reason ordering.CancelReason) *ordering.End {
	return &ordering.End{OrderID: order, Reason: reason}
}

// Counts reads the branch's counters of all dates, sorted by date and item.
func (r *Restaurant) Counts(t testenv.TB) []stock.Count {
	t.Helper()
	return r.counts(t, "", "9")
}

// CountsOf reads the branch's counters of one business date, sorted by item.
func (r *Restaurant) CountsOf(t testenv.TB, date string) []stock.Count {
	t.Helper()
	return r.counts(t, date, date)
}

func (r *Restaurant) counts(t testenv.TB, from, to string) []stock.Count {
	t.Helper()
	return testenv.Must(sqldb.Collect(context.Background(), r.DB, func(s sqldb.Rows) (c stock.Count, err error) {
		err = s.Scan(&c.Item, &c.Cap, &c.Held, &c.Used)
		return c, err
	}, stmts.Must("counters"), r.Branch, from, to))(t)
}

// SetQuota changes an item's quota from a date on, as an operator does. stock.Unlimited removes the quota.
func (r *Restaurant) SetQuota(t testenv.TB, item, quota int64, date string, now time.Time) {
	t.Helper()
	var q *int64
	if quota != stock.Unlimited {
		q = &quota
	}
	r.run(t, "quota", item, q)
	testenv.NoError(t, r.DB.Write(context.Background(), func(ctx context.Context, tx sqldb.Tx) error {
		scope := stock.Scope{Branch: r.Branch, Date: date}
		return stocksql.SetCap(ctx, tx, scope, item, q, now)
	}))
}

// AddUnavailableOption creates an option of the library that is off sale in the branch.
func (r *Restaurant) AddUnavailableOption(t testenv.TB, option int64) {
	t.Helper()
	r.run(t, "option_group", option)
	r.run(t, "option", option)
	r.run(t, "option_off", r.Branch, option)
}

// Events counts the committed events of a type that the relay has not published yet.
func (r *Restaurant) Events(t testenv.TB, eventType string) int64 {
	t.Helper()
	return testenv.Must(sqldb.Scalar[int64](context.Background(), r.DB, stmts.Must("count_events"), eventType))(t)
}

// NoAdmission is an admission cache that applies nothing. Ledgers under test need no Redis with it.
type NoAdmission struct{}

// EnqueueCommitted does nothing.
func (NoAdmission) EnqueueCommitted([]stock.OutboxEntry) {}

// DrainApplied returns nothing.
func (NoAdmission) DrainApplied() []string { return nil }

// Catalog implements ordering.Catalog with the restaurant's only menu version.
type Catalog struct {
	branch  catalog.Branch
	edition *catalog.Edition
}

// Catalog builds the restaurant's catalog.
func (r *Restaurant) Catalog(t testenv.TB) Catalog {
	t.Helper()
	b := testenv.Must(catalog.NewBranch(catalog.Branch{
		ID: r.Branch, Name: "Test", Currency: r.Currency, Timezone: "Asia/Ho_Chi_Minh", DayStart: 4,
		Locales: []catalog.Locale{catalog.Vietnamese, catalog.English}, AutoClose: time.Hour, Open: true,
	}))(t)
	items := make([]catalog.Item, len(r.Items))
	for i, id := range r.Items {
		items[i] = catalog.Item{ID: id, DishID: id, Price: Price, Active: true, Names: catalog.Texts{catalog.English: "Dish"}}
	}
	return Catalog{b, catalog.NewEdition(r.Version, r.Branch, nil, items)}
}

// Priced returns the catalog with taxes, service charges and discounts. The items have the tax classes in their order; the
// others have the last one.
func (c Catalog) Priced(p catalog.Pricing, classes ...string) Catalog {
	c.branch.Pricing = p
	return c.Edit(func(items []catalog.Item) {
		for i := range items {
			items[i].TaxClass = classes[min(i, len(classes)-1)]
		}
	})
}

// WithHours returns the catalog with opening hours of the branch.
func (c Catalog) WithHours(t testenv.TB, h catalog.OpeningHours) Catalog {
	t.Helper()
	c.branch.Hours = h
	c.branch = testenv.Must(catalog.NewBranch(c.branch))(t)
	return c
}

// Edit returns the catalog with items that edit has changed.
func (c Catalog) Edit(edit func(items []catalog.Item)) Catalog {
	items := slices.Clone(c.edition.Items)
	edit(items)
	c.edition = catalog.NewEdition(c.edition.VersionID, c.edition.BranchID, nil, items)
	return c
}

// Branch implements ordering.Catalog.
func (c Catalog) Branch(_ context.Context, id int64) (catalog.Branch, error) {
	if id != c.branch.ID {
		return catalog.Branch{}, catalog.ErrBranch
	}
	return c.branch, nil
}

// Version implements ordering.Catalog.
func (c Catalog) Version(_ context.Context, branch, version int64) (*catalog.Snapshot, error) {
	if branch != c.branch.ID || version != c.edition.VersionID {
		return nil, catalog.ErrVersion
	}
	return &catalog.Snapshot{Branch: c.branch, Edition: c.edition}, nil
}
