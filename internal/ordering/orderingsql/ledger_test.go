package orderingsql_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

func TestMain(m *testing.M) {
	testenv.Sequences(testenv.Size(25, 100))
	redisdbtest.VerifyMain(m)
}

func TestStatements(t *testing.T) { sqldbtest.PrepareAll(t, orderingsql.Statements) }

// restaurant opens a restaurant with a ledger that stops before the database closes.
func restaurant(t testing.TB, db *sqldb.DB, quotas ...int64) (*orderingtest.Restaurant, *orderingsql.Ledger) {
	t.Helper()
	r := orderingtest.Open(t, db, 1, quotas...)
	l := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, db.Now)
	t.Cleanup(l.Stop)
	return r, l
}

func TestLedger_placePayCancelExpire(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, l := restaurant(t, db, 10, stock.Unlimited)
		now := db.Now()
		do := func(c ordering.Command) ordering.Result {
			t.Helper()
			return testenv.Must(l.Do(t.Context(), c))(t)
		}
		lines := []stock.Line{{Item: 102, Qty: 1}, {Item: 101, Qty: 2}, {Item: 101, Qty: 1}}
		paid := do(r.Place("a", now, time.Hour, lines...)).Order
		canceled := do(r.Place("b", now, time.Hour, lines...)).Order
		expired := do(r.Place("c", now, 0, lines...)).Order
		if paid.Number != 1 || canceled.Number != 2 || expired.Number != 3 {
			t.Errorf("order numbers = %d, %d, %d, want 1, 2, 3", paid.Number, canceled.Number, expired.Number)
		}
		testenv.Equal(t, []stock.Count{{Item: 101, Cap: 10, Held: 9}, {Item: 102, Cap: -1, Held: 3}}, r.Counts(t))
		if o := do(orderingtest.Pay(paid.ID, now)); !o.Changed || o.Order.PaymentStatus != ordering.Paid {
			t.Errorf("Pay = %+v, want PAID", o)
		}
		testenv.Equal(t, ordering.Canceled, do(orderingtest.End(canceled.ID, ordering.UserCanceled)).Order.Status)
		testenv.Equal(t, ordering.Expired, do(orderingtest.End(expired.ID, ordering.Expired)).Order.CancelReason)
		testenv.Equal(t, []stock.Count{{Item: 101, Cap: 10, Used: 3}, {Item: 102, Cap: -1, Used: 1}}, r.Counts(t))
		for name, n := range map[string]int64{"order.placed": 3, "order.paid": 1, "order.canceled": 2} {
			if got := r.Events(t, name); got != n {
				t.Errorf("%d events %s, want %d", got, name, n)
			}
		}
		// Exactly the rest can be ordered.
		do(r.Place("d", now, time.Hour, stock.Line{Item: 101, Qty: 7}))
		if _, err := l.Do(t.Context(), r.Place("e", now, time.Hour, stock.Line{Item: 101, Qty: 1})); !errors.Is(err, ordering.ErrSoldOut) {
			t.Errorf("one too many: error %v, want ErrSoldOut", err)
		}
	})
}

// The process that placed an order knows whose its attempt is without a statement, and another one from its first lookup
// on. An attempt that is not there yet is looked up again.
func TestLedger_Owner(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, l := restaurant(t, db, 10)
		other := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, db.Now)
		t.Cleanup(other.Stop)
		place := r.Place("a", db.Now(), time.Hour, stock.Line{Item: 101, Qty: 1})
		attempt := uid.New(db.Now())
		place.Order.Method, place.Order.PaymentRef = payment.VNPay, attempt
		check := func(name string, ledger *orderingsql.Ledger, ctx context.Context, want string) {
			t.Helper()
			order, branch, found, err := ledger.Owner(ctx, attempt)
			if err != nil || order != want || found != (want != "") || found && branch != 1 {
				t.Errorf("%s: Owner = %q, %d, %v, %v, want %q of branch 1", name, order, branch, found, err, want)
			}
		}
		check("before the order", l, t.Context(), "")
		check("before the order, elsewhere", other, t.Context(), "")
		order := testenv.Must(l.Do(t.Context(), place))(t).Order.ID
		noStatement, cancel := context.WithCancel(t.Context())
		cancel()
		check("after the order", l, noStatement, order)
		if _, _, _, err := other.Owner(noStatement, attempt); !errors.Is(err, context.Canceled) {
			t.Errorf("elsewhere, Owner without a statement: error %v, want context.Canceled", err)
		}
		check("elsewhere", other, t.Context(), order)
		check("elsewhere, again", other, noStatement, order)
	})
}

// TestLedger_storm checks that of many concurrent orders for the last n units exactly n succeed (I2).
func TestLedger_storm(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, l := restaurant(t, db, 50)
		var won, lost atomic.Int64
		var wg sync.WaitGroup
		for i := range 500 {
			wg.Go(func() {
				_, err := l.Do(t.Context(), r.Place(fmt.Sprint(i), db.Now(), time.Hour, stock.Line{Item: 101, Qty: 1}))
				switch {
				case err == nil:
					won.Add(1)
				case errors.Is(err, ordering.ErrSoldOut):
					lost.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 50 || lost.Load() != 450 {
			t.Errorf("%d won and %d were refused, want 50 and 450", won.Load(), lost.Load())
		}
		testenv.Equal(t, []stock.Count{{Item: 101, Cap: 50, Held: 50}}, r.Counts(t))
	})
}

// TestLedger_sameKey checks that concurrent requests under one key place one order, and that another body under that
// key is rejected (I11).
func TestLedger_sameKey(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, l := restaurant(t, db, 100)
		second := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, db.Now) // like another process
		defer second.Stop()
		var ids sync.Map
		var made atomic.Int64
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				ledger := []*orderingsql.Ledger{l, second}[i%2]
				res, err := ledger.Do(t.Context(), r.Place("same", db.Now(), time.Hour, stock.Line{Item: 101, Qty: 1}))
				if err != nil {
					t.Error(err)
					return
				}
				ids.Store(res.Order.ID, res.Order.Number)
				if res.Changed {
					made.Add(1)
				}
			})
		}
		wg.Wait()
		n := 0
		ids.Range(func(any, any) bool { n++; return true })
		if n != 1 || made.Load() != 1 {
			t.Errorf("%d orders, made %d times, want one", n, made.Load())
		}
		if _, err := l.Do(t.Context(), r.Place("same", db.Now(), time.Hour, stock.Line{Item: 101, Qty: 2})); !errors.Is(err, ordering.ErrIdempotency) {
			t.Errorf("another body: error %v, want ErrIdempotency", err)
		}
		// A rejected order leaves its key unused.
		if _, err := l.Do(t.Context(), r.Place("big", db.Now(), time.Hour, stock.Line{Item: 101, Qty: 100})); !errors.Is(err, ordering.ErrSoldOut) {
			t.Errorf("too many: error %v, want ErrSoldOut", err)
		}
		if _, err := l.Do(t.Context(), r.Place("big", db.Now(), time.Hour, stock.Line{Item: 101, Qty: 99})); err != nil {
			t.Errorf("the same key after a refusal: %v", err)
		}
	})
}

// TestLedger_payRacesExpiry checks that a thousand races of payment against expiry lose no unit and end either PAID or
// REFUND_DUE (I4, I6).
func TestLedger_payRacesExpiry(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const n = 1000
		r, l := restaurant(t, db, n)
		second := orderingsql.NewLedger(db, orderingtest.NoAdmission{}, db.Now)
		defer second.Stop()
		orders := make([]string, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				res, err := l.Do(t.Context(), r.Place(fmt.Sprint(i), db.Now(), -time.Second, stock.Line{Item: 101, Qty: 1}))
				if err != nil {
					t.Error(err)
				}
				orders[i] = res.Order.ID
			})
		}
		wg.Wait()
		// Other orders take half of the released units, so that some late payments find the item sold out.
		var taken atomic.Int64
		for i := range n {
			wg.Go(func() {
				if _, err := l.Do(t.Context(), orderingtest.Pay(orders[i], db.Now())); err != nil {
					t.Errorf("pay: %v", err)
				}
			})
			wg.Go(func() {
				_, err := second.Do(t.Context(), orderingtest.End(orders[i], ordering.Expired))
				if err != nil && !errors.Is(err, ordering.ErrNotCancelable) {
					t.Errorf("expire: %v", err)
				}
			})
			if i%2 == 0 {
				wg.Go(func() {
					_, err := second.Do(t.Context(), r.Place(fmt.Sprint("x", i), db.Now(), time.Hour, stock.Line{Item: 101, Qty: 1}))
					if err == nil {
						taken.Add(1)
					}
				})
			}
		}
		wg.Wait()
		reader := orderingsql.NewOrders(db)
		paid, due := int64(0), int64(0)
		for _, id := range orders {
			d, _ := testenv.Must2(reader.Order(t.Context(), id))(t)
			switch {
			case d.PaymentStatus == ordering.Paid && d.Status == ordering.Placed && len(d.Refunds) == 0:
				paid++
			case d.PaymentStatus == ordering.RefundDue && d.Status == ordering.Canceled && len(d.Refunds) == 1:
				due++
			default:
				t.Errorf("order %s is %s/%s with %d refunds, want it paid or refunded", id, d.Status, d.PaymentStatus, len(d.Refunds))
			}
		}
		if paid+due != n {
			t.Errorf("%d paid and %d to be refunded of %d captures", paid, due, n)
		}
		testenv.Equal(t, []stock.Count{{Item: 101, Cap: n, Held: taken.Load(), Used: paid}}, r.Counts(t))
		checkDrift(t, db)
		t.Logf("%d paid, %d refunds due, %d taken by others", paid, due, taken.Load())
	})
}

// TestLedger_payment_in_the_batch_of_the_expiry checks that a payment restores an order that expires in the same batch.
func TestLedger_payment_in_the_batch_of_the_expiry(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, l := restaurant(t, db, 5)
		placed := testenv.Must(l.Do(t.Context(), r.Place("a", db.Now(), -time.Second, stock.Line{Item: 101, Qty: 5})))(t)
		id := placed.Order.ID
		results, errs := l.DoAll(t.Context(), []ordering.Command{
			orderingtest.End(id, ordering.Expired), orderingtest.Pay(id, db.Now()),
		})
		testenv.NoError(t, errors.Join(errs...))
		if o := results[1].Order; !results[0].Changed || o.PaymentStatus != ordering.Paid || o.Status != ordering.Placed {
			t.Errorf("results = %+v, want the expiry to change the order, and the payment to revive it", results)
		}
		checkDrift(t, db)
	})
}

// Money for an expired order with an option that is off meanwhile is refunded, and revives an order without it. The order
// may have expired before, or in the same batch.
func TestLedger_late_payment_of_an_option_that_is_off(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, l := restaurant(t, db, 10)
		r.AddUnavailableOption(t, 7)
		place := func(key string, option int64) string {
			p := r.Place(key, db.Now(), -time.Second, stock.Line{Item: 101, Qty: 1})
			p.Order.Items[0].Options = catalog.EncodeOptionLines([]catalog.OptionLine{{OptionID: option, Qty: 1}})
			return testenv.Must(l.Do(t.Context(), p))(t).Order.ID
		}
		off, on, offNow := place("off", 7), place("on", 8), place("off now", 7)
		for _, id := range []string{off, on} {
			testenv.Must(l.Do(t.Context(), orderingtest.End(id, ordering.Expired)))(t)
		}
		_, errs := l.DoAll(t.Context(), []ordering.Command{
			orderingtest.Pay(off, db.Now()), orderingtest.Pay(on, db.Now()),
			orderingtest.End(offNow, ordering.Expired), orderingtest.Pay(offNow, db.Now()),
		})
		testenv.NoError(t, errors.Join(errs...))
		got := map[string][]payment.RefundReason{}
		for name, id := range map[string]string{"off": off, "on": on, "off now": offNow} {
			d, _ := testenv.Must2(orderingsql.NewOrders(db).Order(t.Context(), id))(t)
			got[name+" "+string(d.PaymentStatus)] = seq.Map(d.Refunds, func(f payment.Refund) payment.RefundReason { return f.Reason })
		}
		sold := []payment.RefundReason{payment.LateSoldOut}
		testenv.Equal(t, map[string][]payment.RefundReason{
			"off REFUND_DUE": sold, "on PAID": nil, "off now REFUND_DUE": sold,
		}, got, cmpopts.EquateEmpty())
		checkDrift(t, db)
	})
}

func BenchmarkLedger_Place(b *testing.B) {
	for name, open := range map[string]func(testing.TB) *sqldb.DB{"sqlite": sqldbtest.SQLite, "postgres": sqldbtest.Postgres} {
		b.Run(name, func(b *testing.B) {
			r, l := restaurant(b, open(b), 1_000_000, 1_000_000, 1_000_000)
			lines := []stock.Line{{Item: 101, Qty: 1}, {Item: 102, Qty: 1}, {Item: 103, Qty: 1}}
			var n atomic.Int64
			b.SetParallelism(64)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := l.Do(b.Context(), r.Place(fmt.Sprint(n.Add(1)), r.DB.Now(), time.Hour, lines...)); err != nil {
						b.Fatal(err)
					}
				}
			})
			batches, ops := l.Group().Stats()
			b.ReportMetric(float64(ops)/float64(batches), "orders/batch")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "orders/s")
		})
	}
}

// BenchmarkLedger_Pay pays orders of three lines that were placed before.
func BenchmarkLedger_Pay(b *testing.B) {
	for name, open := range map[string]func(testing.TB) *sqldb.DB{"sqlite": sqldbtest.SQLite, "postgres": sqldbtest.Postgres} {
		b.Run(name, func(b *testing.B) {
			r, l := restaurant(b, open(b), 1_000_000, 1_000_000, 1_000_000)
			lines := []stock.Line{{Item: 101, Qty: 1}, {Item: 102, Qty: 1}, {Item: 103, Qty: 1}}
			places := make([]ordering.Command, b.N)
			pays := make([]ordering.Command, b.N)
			for i := range b.N {
				p := r.Place(fmt.Sprint(i), r.DB.Now(), time.Hour, lines...)
				places[i], pays[i] = p, orderingtest.Pay(p.Order.ID, r.DB.Now())
			}
			testenv.Must(l.Do(b.Context(), r.Place("first", r.DB.Now(), time.Hour, lines...)))(b) // creates the counters
			// As many commands as a commit has under load.
			run := func(all []ordering.Command) {
				for commands := range slices.Chunk(all, 64) {
					_, failures := l.DoAll(b.Context(), commands)
					testenv.NoError(b, errors.Join(failures...))
				}
			}
			run(places)
			b.ResetTimer()
			run(pays)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "payments/s")
		})
	}
}

// checkDrift fails the test if the operators' consistency check finds a difference.
func checkDrift(t testing.TB, db *sqldb.DB) {
	t.Helper()
	found := testenv.Must(orderingsql.NewOrders(db).Drift(t.Context(), "2026-01-01", db.Now()))(t)
	counters := testenv.Must(stocksql.New(db).Drift(t.Context(), "2026-01-01"))(t)
	for _, d := range append(found, counters...) {
		t.Error(d)
	}
}

// TestLedger_audit checks that each action of the staff writes one entry to the audit log, even in a batch with guests'
// orders, and that actions of guests and expiry write none.
func TestLedger_audit(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, l := restaurant(t, db, stock.Unlimited)
		now := db.Now()
		by := authz.Actor{Kind: authz.Account, UserID: 7, Branches: []int64{1}}
		var ids []string
		for i := range 12 {
			res := testenv.Must(l.Do(t.Context(), r.Place(fmt.Sprint(i), now, time.Hour, stock.Line{Item: 101, Qty: 1})))(t)
			ids = append(ids, res.Order.ID)
		}
		var commands []ordering.Command
		for i, id := range ids {
			switch i % 4 {
			case 0:
				end := ordering.End{OrderID: id, Reason: ordering.StaffCanceled, By: by}
				commands = append(commands, &end, &end)
			case 1:
				c := orderingtest.Pay(id, now)
				c.Source, c.Method, c.Amount, c.By = ordering.SourceStaff, payment.Counter, orderingtest.Price, by
				commands = append(commands, c)
			case 2:
				commands = append(commands, orderingtest.End(id, ordering.UserCanceled))
			case 3:
				commands = append(commands, orderingtest.Pay(id, now))
			}
			commands = append(commands, r.Place(fmt.Sprint("more", i), now, time.Hour, stock.Line{Item: 101, Qty: 1}))
		}
		if _, failures := l.DoAll(t.Context(), commands); errors.Join(failures...) != nil {
			t.Fatal(failures)
		}
		audit, err := auditsql.Verify(t.Context(), db)
		if err != nil || audit.Entries != 6 || len(audit.Broken) != 0 {
			t.Errorf("Verify = %+v, %v, want an unbroken chain of 6 entries", audit, err)
		}
	})
}
