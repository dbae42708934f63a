package reportsql_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/event"
	"comanda/internal/event/eventsql"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/report"
	"comanda/internal/report/reportsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

func TestMain(m *testing.M) {
	testenv.Sequences(testenv.Size(40, 200))
	goleak.VerifyTestMain(m)
}

func TestStatements(t *testing.T) { sqldbtest.PrepareAll(t, reportsql.Statements) }

var stmts = sqldb.Load(fstest.MapFS{
	"events.sql": {Data: []byte(`
		SELECT id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at
		FROM event_log WHERE branch_id = $1 ORDER BY position`)},
	"off.sql":  {Data: []byte(`UPDATE sales_quota_counter SET cap = 0, off = NULL WHERE menu_item_id = $1`)},
	"item.sql": {Data: []byte(`UPDATE menu_item SET off_at = $2, off_through = $3, daily_quota = $4 WHERE id = $1`)},
	"step.sql": {Data: []byte(`
		INSERT INTO order_step (order_id, version, at, from_status, to_status, actor) VALUES ($1, $2, $3, $4, $5, 'user:1')`)},
})

// machine places, pays, expires and refunds orders in a branch through the ledger, over days on which the clock of New
// York was set forward. It compares every report with sums computed from the orders alone, one by one and in plain Go.
type machine struct {
	db         *sqldb.DB
	restaurant *orderingtest.Restaurant
	ledger     *orderingsql.Ledger
	span       report.Span
	ms         atomic.Int64
	ids        []string
	made       int
	steps      map[string]stepTimes // times of orders that the kitchen has finished
}

// stepTimes has the times at which an order was accepted, ready and served.
type stepTimes struct{ accepted, ready, served time.Time }

var begin = time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC)

func (m *machine) now() time.Time { return time.UnixMilli(m.ms.Load()).UTC() }

func TestModel(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		number := int64(0)
		rapid.Check(t, func(t *rapid.T) {
			number++
			m := &machine{db: db, restaurant: orderingtest.Open(t, db, number, 4, 6, stock.Unlimited), steps: map[string]stepTimes{}}
			m.ms.Store(begin.UnixMilli())
			b := testenv.Must(catalog.NewBranch(catalog.Branch{
				ID: number, Name: "Test", Currency: "VND", Timezone: "America/New_York", DayStart: 4,
				Locales: []catalog.Locale{catalog.English}, AutoClose: time.Hour,
			}))(t)
			m.span = report.Span{Branch: b, From: "2026-03-07", To: "2026-03-10"}
			m.ledger = orderingsql.NewLedger(db, orderingtest.NoAdmission{}, m.now)
			defer m.ledger.Stop()
			t.Repeat(map[string]func(*rapid.T){
				"place": m.place, "placeMore": m.place, "pay": m.pay, "fail": m.fail, "payAgain": m.payAgain, "end": m.end,
				"refund": m.refund, "finish": m.finish, "cook": m.cook, "wait": m.wait,
			})
			m.compare(t)
		})
	})
}

// On a past date, a quota of 0 is told from an item that was off sale, whatever its quota is now. A counter may begin while
// its item is off, or be set when it is taken off and restored.
func TestStore_Quotas_of_zero(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const yesterday, before = "2026-03-06", "2026-03-05"
		r := orderingtest.Open(t, db, 1, 4, 4, 0, 4)
		ledger := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, func() time.Time { return begin })
		defer ledger.Stop()
		off, began, none, restored := r.Items[0], r.Items[1], r.Items[2], r.Items[3]
		takeOff := func(id int64, through string) {
			t.Helper()
			testenv.Must(db.Exec(t.Context(), stmts.Must("item"), id, begin.UnixMilli(), through, 4))(t)
		}
		restore := func(id, quota int64) {
			t.Helper()
			testenv.Must(db.Exec(t.Context(), stmts.Must("item"), id, nil, nil, quota))(t)
		}
		takeOff(began, yesterday) // its counters begin with 0
		r.SetQuota(t, none, 0, before, begin)
		for _, id := range []int64{off, restored} {
			takeOff(id, before)
			r.SetQuota(t, id, 0, yesterday, begin)
		}
		restore(restored, 4)
		r.SetQuota(t, restored, 0, yesterday, begin) // the quota itself is 0 that day
		testenv.NoError(t, stocksql.NewCounters(db).Ensure(t.Context(), stock.Hold{
			Scope: stock.Scope{Branch: 1, Date: yesterday}, Lines: []stock.Line{{Item: began, Qty: 1}},
		}))
		restore(none, 5) // its quota is not 0 any more
		b := testenv.Must(r.Catalog(t).Branch(t.Context(), 1))(t)
		got := testenv.Must(reportsql.New(db).Quotas(t.Context(), report.Span{Branch: b, From: before, To: yesterday}))(t)
		zero := new(int64(0))
		testenv.Equal(t, []report.Quota{
			{Date: before, ItemID: none, Cap: zero}, {Date: yesterday, ItemID: off, Off: true},
			{Date: yesterday, ItemID: began, Off: true}, {Date: yesterday, ItemID: restored, Cap: zero},
		}, got, cmpopts.IgnoreFields(report.Quota{}, "Names"))
	})
}

// An item that staff took off sale keeps its quota in the report, although the cap of its counter is 0. The quota of a
// past date is unknown: the item may have had another one than now.
func TestStore_Quotas_of_items_off_sale(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := orderingtest.Open(t, db, 1, 4, 6, 0, stock.Unlimited)
		now := begin
		ledger := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, func() time.Time { return now })
		defer ledger.Stop()
		lines := []stock.Line{{Item: r.Items[0], Qty: 2}, {Item: r.Items[1], Qty: 1}, {Item: r.Items[3], Qty: 1}}
		b := testenv.Must(r.Catalog(t).Branch(t.Context(), 1))(t)
		place := func(key string) (date string) {
			c := r.Place(key, now, time.Hour, lines...)
			date = b.Calendar().BizDate(now)
			c.Order.Scope.Date, c.Hold.Scope.Date = date, date
			testenv.Must(ledger.Do(t.Context(), c))(t)
			return date
		}
		past, placed := place("past"), now
		now = db.Now().Add(48 * time.Hour) // not today, which may end during the test
		coming := place("coming")
		for _, item := range []int64{r.Items[0], r.Items[3]} {
			testenv.Must(db.Exec(t.Context(), stmts.Must("off"), item))(t)
		}
		want := []report.Quota{
			{Date: past, ItemID: r.Items[0], Held: 2, LastUnit: placed, Off: true},
			{Date: past, ItemID: r.Items[1], Cap: new(int64(6)), Held: 1, LastUnit: placed},
			{Date: coming, ItemID: r.Items[0], Cap: new(int64(4)), Held: 2, LastUnit: now, Off: true},
			{Date: coming, ItemID: r.Items[1], Cap: new(int64(6)), Held: 1, LastUnit: now},
		}
		got := testenv.Must(reportsql.New(db).Quotas(t.Context(), report.Span{Branch: b, From: past, To: coming}))(t)
		testenv.Equal(t, want, got, cmpopts.IgnoreFields(report.Quota{}, "Names"))
	})
}

func (m *machine) do(t *rapid.T, c ordering.Command) ordering.Result {
	return testenv.Must(m.ledger.Do(context.Background(), c))(t)
}

func (m *machine) wait(t *rapid.T) {
	m.ms.Add(rapid.Int64Range(1, 9*3600).Draw(t, "seconds") * 1000)
}

// today returns the business date, which is in the span or right after it.
func (m *machine) today() string { return m.span.Branch.Calendar().BizDate(m.now()) }

func (m *machine) place(t *rapid.T) {
	var lines []stock.Line
	for range rapid.IntRange(1, 3).Draw(t, "lines") {
		lines = append(lines, stock.Line{
			Item: rapid.SampledFrom(m.restaurant.Items).Draw(t, "item"), Qty: rapid.Int64Range(1, 3).Draw(t, "qty"),
		})
	}
	m.made++
	c := m.restaurant.Place(fmt.Sprint("k", m.made), m.now(), time.Hour, lines...)
	scope := stock.Scope{Branch: m.restaurant.Branch, Date: m.today()}
	c.Order.Scope, c.Hold.Scope = scope, scope
	for i := range c.Order.Items {
		part := rapid.SampledFrom(m.restaurant.Items).Draw(t, "part")
		options := rapid.SampledFrom([][]catalog.OptionLine{
			nil, {{GroupID: 1, OptionID: 1, Qty: 1}}, {{GroupID: 1, OptionID: 2, Qty: 1}, {GroupID: 2, OptionID: 3, Qty: 2}},
			{{GroupID: 3, OptionID: 4, Kind: catalog.ComboGroup, Qty: 1, Component: part}},
		}).Draw(t, "options")
		c.Order.Items[i].Options = catalog.EncodeOptionLines(options)
		for l, qty := range catalog.All(options) {
			if l.Component != 0 {
				lines = append(lines, stock.Line{Item: l.Component, Qty: qty * c.Order.Items[i].Qty})
			}
		}
	}
	c.Hold.Lines = testenv.Must(stock.MergeLines(lines))(t)
	switch _, err := m.ledger.Do(context.Background(), c); {
	case errors.Is(err, ordering.ErrSoldOut):
	case err != nil:
		t.Fatal(err)
	default:
		m.ids = append(m.ids, c.Order.ID)
	}
}

func (m *machine) pick(t *rapid.T) string {
	if len(m.ids) == 0 {
		t.Skip("no orders yet")
	}
	return rapid.SampledFrom(m.ids).Draw(t, "order")
}

func (m *machine) report(order string, by payment.Method, s payment.State, raw string) ordering.Command {
	return &ordering.Settle{
		OrderID: order, NewID: uid.New(m.now()), Method: by, State: s, Source: ordering.SourceCallback, Raw: raw,
		Today: m.today(),
	}
}

// pay pays on time or late. A late payment revives the order or is due for refund.
func (m *machine) pay(t *rapid.T) {
	m.do(t, m.report(m.pick(t), payment.Sandbox, payment.Paid, "{}"))
}

func (m *machine) fail(t *rapid.T) {
	m.do(t, m.report(m.pick(t), payment.Sandbox, payment.Failed, "vnp_ResponseCode=24"))
}

// payAgain captures a second payment, with another method.
func (m *machine) payAgain(t *rapid.T) {
	m.do(t, m.report(m.pick(t), payment.Counter, payment.Paid, "{}"))
}

func (m *machine) end(t *rapid.T) {
	c := orderingtest.End(m.pick(t), rapid.SampledFrom([]ordering.CancelReason{
		ordering.UserCanceled, ordering.StaffCanceled, ordering.Expired,
	}).Draw(t, "reason"))
	c.By = authz.System()
	if _, err := m.ledger.Do(context.Background(), c); err != nil && !errors.Is(err, ordering.ErrNotCancelable) {
		t.Fatal(err)
	}
}

func (m *machine) refund(t *rapid.T) {
	_, err := m.ledger.Do(context.Background(), &ordering.Refund{
		OrderID: m.pick(t), NewID: uid.New(m.now()), Amount: rapid.Int64Range(0, 1500).Draw(t, "amount"), Note: "cold",
		By: authz.System(),
	})
	if err != nil && !errors.Is(err, ordering.ErrNotRefundable) {
		t.Fatal(err)
	}
}

// finish records a manual refund.
func (m *machine) finish(t *rapid.T) {
	id := m.pick(t)
	for _, f := range m.order(t, id).Refunds {
		m.do(t, &ordering.RecordRefundResult{
			OrderID: id, RefundID: f.ID, State: payment.RefundDone, Note: "given back", By: authz.System(),
		})
	}
}

// cook performs the kitchen's steps of a paid order, with a recall that must not count.
func (m *machine) cook(t *rapid.T) {
	id := m.pick(t)
	d := m.order(t, id)
	if _, cooked := m.steps[id]; cooked || d.PaidAt.IsZero() {
		return
	}
	later := func(from time.Time) time.Time {
		return from.Add(time.Duration(rapid.Int64Range(0, 1800).Draw(t, "seconds")) * time.Second)
	}
	accepted := later(d.PaidAt)
	first := later(accepted)
	ready := later(first)
	served := later(ready)
	for i, s := range []struct {
		at       time.Time
		from, to string
	}{
		{accepted, "PLACED", "ACCEPTED"}, {accepted, "ACCEPTED", "PREPARING"}, {first, "PREPARING", "READY"},
		{first, "READY", "PREPARING"}, {ready, "PREPARING", "READY"}, {served, "READY", "SERVED"},
	} {
		testenv.Must(m.db.Exec(context.Background(), stmts.Must("step"), id, 1000+i, s.at.UnixMilli(), s.from, s.to))(t)
	}
	m.steps[id] = stepTimes{accepted, ready, served}
}

func (m *machine) order(t *rapid.T, id string) ordering.Detail {
	d, found, err := orderingsql.NewOrders(m.db).Order(context.Background(), id)
	if err != nil || !found {
		t.Fatalf("order %s: %v, %v", id, found, err)
	}
	return d
}

// inSpan reads the orders of the span's dates, one by one.
func (m *machine) inSpan(t *rapid.T) (all []ordering.Detail) {
	for _, id := range m.ids {
		if d := m.order(t, id); d.Scope.Date >= m.span.From && d.Scope.Date <= m.span.To {
			all = append(all, d)
		}
	}
	return all
}

func (m *machine) compare(t *rapid.T) {
	ctx, store, orders := context.Background(), reportsql.New(m.db), m.inSpan(t)
	days, err := store.Days(ctx, m.span)
	m.same(t, "days", err, daysOf(orders), days)
	cells, err := store.Cells(ctx, m.span)
	m.same(t, "hours", err, cellsOf(orders, m.span.Branch.Calendar().Zone()), cells)
	dishes, err := store.Dishes(ctx, m.span)
	m.same(t, "dishes", err, dishesOf(orders), dishes)
	options, err := store.Options(ctx, m.span)
	m.same(t, "options", err, chosenOf(orders), countsOf(options))
	attempts, err := store.Attempts(ctx, m.span)
	m.same(t, "attempts", err, attemptsOf(orders), attempts)
	refunds, err := store.Refunds(ctx, m.span)
	m.same(t, "refunds", err, refundsOf(orders), refunds)
	ended, err := store.Ended(ctx, m.span)
	m.same(t, "ended", err, endedOf(orders), ended)
	quotas, err := store.Quotas(ctx, m.span)
	m.same(t, "quotas", err, m.quotasOf(t, orders), quotas)
	tickets, err := store.Tickets(ctx, m.span)
	slices.SortFunc(tickets, byPayment)
	m.same(t, "tickets", err, m.ticketsOf(orders), tickets)

	m.wantEqualReports(t, days, cells, dishes, attempts, refunds, ended)
}

// chosenOf returns how many units of each option of a dish the paid orders have, by dish and option.
func chosenOf(orders []ordering.Detail) map[[2]int64]int64 {
	chosen := map[[2]int64]int64{}
	for _, o := range orders {
		for _, it := range o.Items {
			for _, l := range it.OptionLines() {
				if !o.PaidAt.IsZero() {
					chosen[[2]int64{it.DishID, l.OptionID}] += l.Qty * it.Qty
				}
			}
		}
	}
	return chosen
}

func countsOf(options []report.OptionSale) map[[2]int64]int64 {
	counts := map[[2]int64]int64{}
	for _, o := range options {
		counts[[2]int64{o.DishID, o.OptionID}] = o.Qty
	}
	return counts
}

func (m *machine) same(t *rapid.T, what string, err error, want, got any) {
	t.Helper()
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Fatalf("%s (-want +got): %v\n%s", what, err, diff)
	}
}

// wantEqualReports checks R1 to R4, and the daybook.
func (m *machine) wantEqualReports(
	t *rapid.T, days []report.Day, cells []report.Cell, dishes []report.Dish, attempts []report.Attempts,
	refunds []report.Refunds, ended []report.Ended,
) {
	total, booked := report.Total(days), m.daybook(t)
	var hours, menu, lost report.Day
	for _, c := range cells {
		hours.Placed, hours.Sales, hours.Gross = hours.Placed+c.Placed, hours.Sales+c.Sales, hours.Gross+c.Gross
	}
	for _, d := range dishes {
		menu.Gross += d.Gross
	}
	for _, e := range ended {
		lost.Canceled += e.Orders
	}
	money := report.MoneyOf(attempts, refunds)
	for what, pair := range map[string][2]int64{
		"R1": {total.Placed, total.Sales + total.Canceled + total.Open}, "R2, orders": {total.Placed, hours.Placed},
		"R2, sales": {total.Sales, hours.Sales}, "R2, hours": {total.Gross, hours.Gross}, "R2, dishes": {total.Gross, menu.Gross},
		"R2, placed": {total.Placed, booked.Placed}, "R2, paid": {total.Sales, booked.Paid},
		"R2, canceled": {total.Canceled, booked.Canceled}, "R2, revenue": {total.Gross, booked.Revenue},
		"R3": {total.Net(), money.Kept()}, "R3, refunds": {total.Refunded, money.Refunded}, "R4": {total.Canceled, lost.Canceled},
	} {
		if pair[0] != pair[1] {
			t.Fatalf("%s: %d and %d", what, pair[0], pair[1])
		}
	}
}

// daybook returns the daybook of the span, as its consumer writes it.
func (m *machine) daybook(t *rapid.T) (sum ordering.Day) {
	all := testenv.Must(sqldb.Collect(context.Background(), m.db, func(r sqldb.Rows) (event.Event,
		error) {
		return eventsql.Scan(r)
	}, stmts.Must("events"), m.restaurant.Branch))(t)
	days := testenv.Must(ordering.Tally(all))(t)
	for _, d := range days {
		if d.Scope.Date >= m.span.From && d.Scope.Date <= m.span.To {
			sum.Placed, sum.Paid, sum.Canceled = sum.Placed+d.Placed, sum.Paid+d.Paid, sum.Canceled+d.Canceled
			sum.Revenue += d.Revenue
		}
	}
	return sum
}

// group returns sums sorted by less.
func group[K comparable, V any](sums map[K]V, less func(a, b V) int) []V {
	return slices.SortedFunc(maps.Values(sums), less)
}

func daysOf(orders []ordering.Detail) []report.Day {
	sums := map[string]report.Day{}
	for _, d := range orders {
		s := sums[d.Scope.Date]
		s.Date = d.Scope.Date
		s.Placed++
		switch {
		case !d.PaidAt.IsZero():
			s.Sales++
			s.Gross += d.Total
			s.Refunded += d.Refunded
		case d.Status == ordering.Canceled:
			s.Canceled++
		default:
			s.Open++
		}
		sums[d.Scope.Date] = s
	}
	return group(sums, func(a, b report.Day) int { return cmp.Compare(a.Date, b.Date) })
}

func cellsOf(orders []ordering.Detail, zone *time.Location) []report.Cell {
	sums := map[[2]int]report.Cell{}
	for _, d := range orders {
		at := d.CreatedAt.In(zone)
		key := [2]int{(int(at.Weekday())+6)%7 + 1, at.Hour()}
		c := sums[key]
		c.Weekday, c.Hour = key[0], key[1]
		c.Placed++
		if !d.PaidAt.IsZero() {
			c.Sales++
			c.Gross += d.Total
		}
		sums[key] = c
	}
	return group(sums, func(a, b report.Cell) int {
		return cmp.Or(cmp.Compare(a.Weekday, b.Weekday), cmp.Compare(a.Hour, b.Hour))
	})
}

func dishesOf(orders []ordering.Detail) []report.Dish {
	sums := map[int64]report.Dish{}
	for _, d := range orders {
		for _, it := range d.Items {
			if d.PaidAt.IsZero() {
				continue
			}
			s := sums[it.DishID]
			s.ID, s.Names = it.DishID, catalog.Texts{catalog.English: "Dish"}
			s.Qty += it.Qty
			s.Gross += it.Qty * it.Price
			sums[it.DishID] = s
		}
	}
	return group(sums, func(a, b report.Dish) int {
		return cmp.Or(cmp.Compare(b.Gross, a.Gross), cmp.Compare(b.Qty, a.Qty), cmp.Compare(a.ID, b.ID))
	})
}

func attemptsOf(orders []ordering.Detail) []report.Attempts {
	sums := map[[2]string]report.Attempts{}
	for _, d := range orders {
		for _, a := range d.Attempts {
			key := [2]string{string(a.Method), string(a.State)}
			s := sums[key]
			s.Method, s.State = key[0], key[1]
			s.Number++
			s.Amount += a.Amount
			sums[key] = s
		}
	}
	return group(sums, func(a, b report.Attempts) int {
		return cmp.Or(cmp.Compare(a.Method, b.Method), cmp.Compare(a.State, b.State))
	})
}

func refundsOf(orders []ordering.Detail) []report.Refunds {
	sums := map[report.Refunds]report.Refunds{}
	for _, d := range orders {
		for _, f := range d.Refunds {
			key := report.Refunds{
				Date: d.Scope.Date, Method: string(f.Method), Reason: string(f.Reason), State: string(f.State),
			}
			s, known := sums[key]
			if !known {
				s = key
			}
			s.Number++
			s.Amount += f.Amount
			sums[key] = s
		}
	}
	return group(sums, func(a, b report.Refunds) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Reason, b.Reason),
			cmp.Compare(a.State, b.State))
	})
}

func endedOf(orders []ordering.Detail) []report.Ended {
	sums := map[[2]string]report.Ended{}
	for _, d := range orders {
		if d.Status != ordering.Canceled {
			continue
		}
		key := [2]string{d.Scope.Date, string(d.CancelReason)}
		s := sums[key]
		s.Date, s.Reason = key[0], key[1]
		s.Orders++
		s.Amount += d.Total
		sums[key] = s
	}
	return group(sums, func(a, b report.Ended) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Reason, b.Reason))
	})
}

// quotasOf returns quotas with the caps of the counters. All other values come from the orders.
func (m *machine) quotasOf(t *rapid.T, orders []ordering.Detail) []report.Quota {
	var all []report.Quota
	for day := begin; m.span.Branch.Calendar().BizDate(day) <= m.span.To; day = day.AddDate(0, 0, 1) {
		date := m.span.Branch.Calendar().BizDate(day)
		for _, c := range m.restaurant.CountsOf(t, date) {
			if c.Cap == stock.Unlimited {
				continue
			}
			q := report.Quota{Date: date, ItemID: c.Item, Names: catalog.Texts{catalog.English: "Dish"}, Cap: &c.Cap}
			for _, d := range orders {
				if d.Scope.Date == date && d.Status != ordering.Canceled {
					addUnits(&q, d)
				}
			}
			all = append(all, q)
		}
	}
	return all
}

// addUnits adds the units of one item in an order to a quota.
func addUnits(q *report.Quota, d ordering.Detail) {
	units := int64(0)
	for _, it := range d.Items {
		if it.ItemID == q.ItemID {
			units += it.Qty
		}
		for l, qty := range catalog.All(it.OptionLines()) {
			if l.Component == q.ItemID {
				units += qty * it.Qty
			}
		}
	}
	if d.PaidAt.IsZero() {
		q.Held += units
	} else {
		q.Sold += units
	}
	if units > 0 && d.CreatedAt.After(q.LastUnit) {
		q.LastUnit = d.CreatedAt
	}
}

func (m *machine) ticketsOf(orders []ordering.Detail) []report.Ticket {
	var all []report.Ticket
	for _, d := range orders {
		if s, cooked := m.steps[d.ID]; cooked {
			all = append(all, report.Ticket{
				Date: d.Scope.Date, Paid: d.PaidAt.UnixMilli(), Accepted: s.accepted.UnixMilli(), Ready: s.ready.UnixMilli(),
				Served: s.served.UnixMilli(),
			})
		}
	}
	slices.SortFunc(all, byPayment)
	return all
}

func byPayment(a, b report.Ticket) int {
	return cmp.Or(cmp.Compare(a.Paid, b.Paid), cmp.Compare(a.Accepted, b.Accepted), cmp.Compare(a.Ready, b.Ready),
		cmp.Compare(a.Served, b.Served))
}
