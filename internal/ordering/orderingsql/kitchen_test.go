package orderingsql_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/authz"
	"comanda/internal/event"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

var cook = authz.Actor{Kind: authz.Account, UserID: 3}

func step(order string, kind ordering.StepKind, version int64) ordering.Command {
	return &ordering.Step{OrderID: order, Kind: kind, Version: version, By: cook, Today: "2026-02-26"}
}

func mark(order string, index int, done bool) ordering.Command {
	return &ordering.MarkItem{OrderID: order, Index: index, Done: done}
}

// refundInFull builds a full refund of an order.
func refundInFull(order string, now time.Time) ordering.Command {
	return &ordering.Refund{OrderID: order, NewID: uid.New(now), Note: "cold", By: cook}
}

// runner returns a function that runs commands, each of which must succeed, and returns the last one's order.
func runner(t *testing.T, l *orderingsql.Ledger) func(...ordering.Command) ordering.Order {
	return func(cs ...ordering.Command) (o ordering.Order) {
		t.Helper()
		for _, c := range cs {
			r := testenv.Must(l.Do(t.Context(), c))(t)
			o = r.Order
		}
		return o
	}
}

// query is a branch's board query on the restaurant's business date.
func query(now time.Time) ordering.BoardQuery {
	return ordering.BoardQuery{
		Branch: 1, Date: "2026-02-26", DateBefore: "2026-02-25", PaidSince: now.Add(-time.Hour), ServedSince: now.Add(-time.Hour),
		Limit: 50,
	}
}

func ids(list []ordering.Ticket) (all []string) {
	for _, t := range list {
		all = append(all, t.ID)
	}
	slices.Sort(all)
	return all
}

var documentsCount = sqldb.Load(fstest.MapFS{"documents.sql": {Data: []byte(
	`SELECT count(*) FROM document_outbox WHERE entity = 'order' AND ids LIKE '%' || $1 || '%'`)}}).Must("documents")

// documents returns how many transactions have queued a refresh of an order's document.
func documents(t *testing.T, db *sqldb.DB, order string) int64 {
	t.Helper()
	return testenv.Must(sqldb.Scalar[int64](t.Context(), db, documentsCount, order))(t)
}

// TestLedger_kitchen checks that the database keeps an order's kitchen status, steps, done items, events and place on
// the board.
func TestLedger_kitchen(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, l := restaurant(t, db, 100, stock.Unlimited)
		do, now, reader := runner(t, l), db.Now(), orderingsql.NewOrders(db)
		place := func(key string) string {
			return do(r.Place(key, now, time.Hour, stock.Line{Item: 102, Qty: 2}, stock.Line{Item: 101, Qty: 1})).ID
		}
		cooking, served, voided, cleared, unpaid, canceled := place("a"), place("b"), place("c"), place("d"), place("e"), place("f")
		for _, id := range []string{cooking, served, voided, cleared} {
			do(orderingtest.Pay(id, now))
		}
		do(orderingtest.End(canceled, ordering.UserCanceled))
		do(step(cooking, ordering.Start, 0), mark(cooking, 1, true), mark(cooking, 0, true), mark(cooking, 0, false))
		do(step(served, ordering.Accept, 0), step(served, ordering.Start, 0), step(served, ordering.Done, 0), step(served, ordering.Serve, 0))
		o := do(step(voided, ordering.Start, 0), refundInFull(voided, now))
		if !o.Voided() {
			t.Fatalf("order = %+v, want it voided", o)
		}
		o = do(refundInFull(cleared, now))
		do(step(cleared, ordering.Start, o.Version))
		testenv.ErrorIs(t, ordering.ErrNotPaid, testenv.Err(l.Do(t.Context(), step(unpaid, ordering.Start, 0))))

		d, _, err := reader.Order(t.Context(), cooking)
		if err != nil || d.Status != ordering.Preparing || d.SteppedAt.IsZero() || d.Items[0].DoneAt != (time.Time{}) || d.Items[1].DoneAt.IsZero() {
			t.Errorf("order = %+v, %v, want PREPARING, only its second line done", d.Order, err)
		}
		taken := ordering.StepTaken{OrderID: cooking, Version: 3, At: d.Steps[0].At, From: ordering.Placed, To: ordering.Accepted, By: "user:3"}
		want := []ordering.StepTaken{taken, taken}
		want[1].Version, want[1].From, want[1].To = 4, ordering.Accepted, ordering.Preparing
		if diff := cmp.Diff(want, d.Steps); diff != "" || d.Version != 7 {
			t.Errorf("version %d, want 7; steps (-want +got):\n%s", d.Version, diff)
		}
		testenv.Equal(t, 2+4+2+1, r.Events(t, event.OrderProgressed.Name))
		if n := documents(t, db, cooking); n != 1+1+1+3 { // placed, paid, started and three items
			t.Errorf("document marked as changed %d times, want 6", n)
		}
		wantBoard(t, reader, now, []string{cooking, voided}, []string{served, cleared})
		oldest, err := reader.OldestTickets(t.Context(), time.Date(2026, 2, 26, 0, 0, 0, 0, time.UTC))
		if err != nil || len(oldest) != 1 || !oldest[1].Equal(d.PaidAt) {
			t.Errorf("oldest ticket = %v, %v, want that of branch 1", oldest, err)
		}
		if none, err := reader.OldestTickets(t.Context(), now.Add(time.Hour)); err != nil || len(none) != 0 {
			t.Errorf("oldest tickets an hour later = %v, %v, want none", none, err)
		}

		// Only the served order was ready. A recall keeps the time at which an order was ready, and serving does not
		// set it.
		took, err := reader.ReadyTimes(t.Context(), 1, now.Add(-time.Minute), 30)
		if err != nil || len(took) != 1 || took[0] < 0 || took[0] > time.Minute {
			t.Errorf("ready times = %v, %v, want one of at most a minute", took, err)
		}
		for name, read := range map[string]func() ([]time.Duration, error){
			"another branch": func() ([]time.Duration, error) { return reader.ReadyTimes(t.Context(), 2, now.Add(-time.Minute), 30) },
			"later":          func() ([]time.Duration, error) { return reader.ReadyTimes(t.Context(), 1, now.Add(time.Hour), 30) },
			"none":           func() ([]time.Duration, error) { return reader.ReadyTimes(t.Context(), 1, now.Add(-time.Minute), 0) },
		} {
			if took, err := read(); err != nil || len(took) != 0 {
				t.Errorf("%s: ready times = %v, %v, want none", name, took, err)
			}
		}
	})
}

// wantBoard checks the ids on a board. Every order has two items, and none awaits payment at the counter.
func wantBoard(t *testing.T, reader *orderingsql.Orders, now time.Time, todo, done []string) {
	t.Helper()
	rows := testenv.Must(reader.Board(t.Context(), query(now)))(t)
	slices.Sort(todo)
	slices.Sort(done)
	testenv.Equal(t, todo, ids(rows.Tickets))
	testenv.Equal(t, done, ids(rows.Served))
	if len(rows.Awaiting) != 0 {
		t.Errorf("awaiting = %v, want none", ids(rows.Awaiting))
	}
	for _, tk := range slices.Concat(rows.Tickets, rows.Served) {
		if tk.Table.Label != "T1" || len(tk.Items) != 2 || tk.Items[0].ItemID != 102 {
			t.Errorf("ticket = %+v, want table T1 and two items, 102 first", tk)
		}
	}
	if rows.Categories[101] != 1 || rows.Categories[102] != 1 || len(rows.Stations) != 1 || rows.Stations[0].Names["en"] != "Food" {
		t.Errorf("categories = %v, stations = %v, want Food for 101 and 102", rows.Categories, rows.Stations)
	}
}

// TestOrders_boardOfTheDay checks that a board shows only its own branch, of the day before only orders paid recently,
// and of finished orders only those finished recently.
func TestOrders_boardOfTheDay(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, l := restaurant(t, db, 100)
		do, now := runner(t, l), db.Now()
		id := do(r.Place("a", now, time.Hour, stock.Line{Item: 101, Qty: 1})).ID
		paid := do(orderingtest.Pay(id, now))
		counter := r.Place("b", now, time.Hour, stock.Line{Item: 101, Qty: 1})
		counter.Order.Method = "COUNTER"
		awaiting := do(counter).ID
		look := func(change func(q *ordering.BoardQuery)) string {
			t.Helper()
			q := query(now)
			change(&q)
			rows := testenv.Must(orderingsql.NewOrders(db).Board(t.Context(), q))(t)
			return fmt.Sprint(len(rows.Tickets), len(rows.Served), len(rows.Awaiting))
		}
		over := func(q *ordering.BoardQuery) {
			q.Date, q.DateBefore, q.PaidSince = "2026-02-27", "2026-02-26", paid.PaidAt
		}
		for name, c := range map[string]struct {
			change func(*ordering.BoardQuery)
			want   string
		}{
			"today":                      {func(*ordering.BoardQuery) {}, "1 0 1"},
			"another branch":             {func(q *ordering.BoardQuery) { q.Branch = 2 }, "0 0 0"},
			"over the end of the day":    {over, "1 0 1"},
			"long after the end":         {func(q *ordering.BoardQuery) { over(q); q.PaidSince = paid.PaidAt.Add(time.Millisecond) }, "0 0 1"},
			"two days later":             {func(q *ordering.BoardQuery) { over(q); q.DateBefore = "2026-02-27" }, "0 0 0"},
			"no more than there is room": {func(q *ordering.BoardQuery) { q.Limit = 0 }, "0 0 0"},
		} {
			t.Run(name, func(t *testing.T) {
				testenv.Equal(t, c.want, look(c.change))
			})
		}
		done := do(step(id, ordering.Start, 0), step(id, ordering.Done, 0), step(id, ordering.Serve, 0))
		if got := look(func(q *ordering.BoardQuery) { q.ServedSince = done.SteppedAt }); got != "0 1 1" {
			t.Errorf("board with orders served at this moment = %s, want 0 1 1", got)
		}
		if got := look(func(q *ordering.BoardQuery) { q.ServedSince = done.SteppedAt.Add(time.Millisecond) }); got != "0 0 1" {
			t.Errorf("board with orders served later = %s, want 0 0 1", got)
		}
		do(orderingtest.End(awaiting, ordering.StaffCanceled))
		testenv.Equal(t, "0 1 0", look(func(*ordering.BoardQuery) {}))
	})
}

// TestLedger_bumpRace checks that exactly one of many concurrent bumps of a ticket in two processes changes it, and
// likewise exactly one of the recalls from the same version.
func TestLedger_bumpRace(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, l := restaurant(t, db, 100)
		other := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, db.Now)
		t.Cleanup(other.Stop)
		ledgers := []*orderingsql.Ledger{l, other}
		do, now := runner(t, l), db.Now()
		id := do(r.Place("a", now, time.Hour, stock.Line{Item: 101, Qty: 1})).ID
		o := do(orderingtest.Pay(id, now))
		for _, kind := range []ordering.StepKind{ordering.Accept, ordering.Start, ordering.Done, ordering.Serve, ordering.Recall, ordering.Recall} {
			seen := o.Version
			if kind != ordering.Recall { // a step that is already done is not a conflict
				seen = 0
			}
			changed, unchanged, refused := storm(t, ledgers, step(id, kind, seen))
			if changed != 1 || kind == ordering.Recall && refused != 19 || kind != ordering.Recall && unchanged != 19 {
				t.Errorf("%s: %d of 20 steps changed it, %d found it done, %d were refused; want one change", kind, changed, unchanged, refused)
			}
			d, _, err := orderingsql.NewOrders(db).Order(t.Context(), id)
			if err != nil || d.Version != seen+1 && seen != 0 {
				t.Errorf("version %d after %d, %v, want one more", d.Version, seen, err)
			}
			o = d.Order
		}
		testenv.Equal(t, ordering.Preparing, o.Status)
		if changed, unchanged, _ := storm(t, ledgers, mark(id, 0, true)); changed != 1 || unchanged != 19 {
			t.Errorf("%d marks changed it, %d found it marked; want 1 and 19", changed, unchanged)
		}
		testenv.Equal(t, 6, r.Events(t, event.OrderProgressed.Name))
	})
}

// TestLedger_bumpBesideCounters checks that a bump commits while another transaction locks the counters.
func TestLedger_bumpBesideCounters(t *testing.T) {
	db := sqldbtest.Postgres(t)
	r, l := restaurant(t, db, 100)
	do := runner(t, l)
	id := do(r.Place("a", db.Now(), time.Hour, stock.Line{Item: 101, Qty: 1})).ID
	do(orderingtest.Pay(id, db.Now()))
	locking := sqldb.Load(fstest.MapFS{"lock.sql": {Data: []byte(`SELECT menu_item_id FROM sales_quota_counter /*pg: FOR UPDATE */`)}})
	testenv.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
		held, err := sqldb.Collect(ctx, tx, sqldb.Value[int64], locking.Must("lock"))
		if err != nil || len(held) != 1 {
			t.Fatalf("%d counters locked, %v, want 1", len(held), err)
		}
		within, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		res, err := l.Do(within, step(id, ordering.Start, 0))
		if err != nil || res.Order.Status != ordering.Preparing {
			t.Errorf("step = %+v, %v, want PREPARING", res.Order, err)
		}
		return nil
	}))
}

// storm sends one command twenty times concurrently through two processes and counts the results.
func storm(t *testing.T, ledgers []*orderingsql.Ledger, c ordering.Command) (changed, unchanged, refused int64) {
	t.Helper()
	var counts [3]atomic.Int64
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			switch res, err := ledgers[i%2].Do(t.Context(), c); {
			case errors.Is(err, ordering.ErrChanged):
				counts[2].Add(1)
			case err != nil:
				t.Error(err)
			case res.Changed:
				counts[0].Add(1)
			default:
				counts[1].Add(1)
			}
		})
	}
	wg.Wait()
	return counts[0].Load(), counts[1].Load(), counts[2].Load()
}

// TestLedger_bumpAgainstRefund checks that for a refund and a bump at the same time, in either order, the kitchen never
// clears a voided ticket unseen and never continues to cook one.
func TestLedger_bumpAgainstRefund(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, l := restaurant(t, db, 100)
		other := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, db.Now)
		t.Cleanup(other.Stop)
		do, now := runner(t, l), db.Now()
		for i := range 20 {
			id := do(r.Place(fmt.Sprint(i), now, time.Hour, stock.Line{Item: 101, Qty: 1})).ID
			paid := do(orderingtest.Pay(id, now))
			var bump error
			var wg sync.WaitGroup
			wg.Go(func() { _, bump = other.Do(t.Context(), step(id, ordering.Start, paid.Version*int64(i%2))) })
			wg.Go(func() { do(refundInFull(id, now)) })
			wg.Wait()
			d, _, err := orderingsql.NewOrders(db).Order(t.Context(), id)
			if err != nil || !d.Voided() || d.VoidSeen {
				t.Fatalf("order = %+v, %v, want it voided, and not yet seen", d.Order, err)
			}
			began := d.Status == ordering.Preparing
			if began != (bump == nil) || !began && !errors.Is(bump, ordering.ErrVoided) && !errors.Is(bump, ordering.ErrChanged) {
				t.Errorf("status %s after the step with error %v, want PREPARING exactly without an error", d.Status, bump)
			}
		}
	})
}

// TestOrders_boardIsFound checks that the board's frequent statements use indexes, so that their cost does not grow
// with the number of orders, and that the orders of a date are read once for both lists of open orders.
func TestOrders_boardIsFound(t *testing.T) {
	found := planOf(t, sqldbtest.SQLite(t), "board_select", 1, "2026-02-26", "2026-02-25", 0, 0, 10)
	if strings.Count(found, "INDEX order_info_day") != 1 || strings.Count(found, "INDEX order_info_stepped") != 1 {
		t.Error(found)
	}
}

// BenchmarkOrders_Board reads the board of a busy branch: 200 open tickets and 2,000 orders served today.
func BenchmarkOrders_Board(b *testing.B) {
	for name, open := range map[string]func(testing.TB) *sqldb.DB{"sqlite": sqldbtest.SQLite,
		"postgres": sqldbtest.Postgres} {
		b.Run(name, func(b *testing.B) {
			r, l := restaurant(b, open(b), stock.Unlimited, stock.Unlimited)
			now := r.DB.Now()
			var orders []string
			run := func(cs []ordering.Command) {
				results, failures := l.DoAll(b.Context(), cs)
				if orders = orders[:0]; errors.Join(failures...) != nil {
					b.Fatal(errors.Join(failures...))
				}
				for _, r := range results {
					orders = append(orders, r.Order.ID)
				}
			}
			each := func(command func(id string) ordering.Command) {
				var cs []ordering.Command
				for _, id := range orders {
					cs = append(cs, command(id))
				}
				run(cs)
			}
			var placed []ordering.Command
			for i := range 2200 {
				placed = append(placed, r.Place(fmt.Sprint(i), now, time.Hour, stock.Line{Item: 101, Qty: 1}, stock.Line{Item: 102, Qty: 2}))
			}
			if _, err := l.Do(b.Context(), placed[0]); err != nil { // creates the day's counters, which DoAll does not
				b.Fatal(err)
			}
			run(placed)
			each(func(id string) ordering.Command { return orderingtest.Pay(id, now) })
			orders = orders[:2000]
			for _, kind := range []ordering.StepKind{ordering.Start, ordering.Done, ordering.Serve} {
				each(func(id string) ordering.Command { return step(id, kind, 0) })
			}
			reader, q := orderingsql.NewOrders(r.DB), query(now)
			q.Limit = ordering.MaxTickets
			q.ServedSince = r.DB.Now() // only few orders were served in the last half hour
			for b.Loop() {
				rows, err := reader.Board(b.Context(), q)
				if err != nil || len(rows.Tickets) != 200 {
					b.Fatal(len(rows.Tickets), err)
				}
			}
		})
	}
}
