package paymentsql_test

import (
	"context"
	"testing"
	"time"

	"comanda/internal/payment"
	"comanda/internal/payment/paymentsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

func TestStatements(t *testing.T) { sqldbtest.PrepareAll(t, paymentsql.Statements) }

var at = time.UnixMilli(1_772_000_000_000).UTC()

func attempt(id, order string) payment.Attempt {
	return payment.Attempt{
		ID: id, OrderID: order, Method: payment.Sandbox, Amount: 65000, Currency: "VND", State: payment.Created, CreatedAt: at,
	}
}

func write(t *testing.T, db *sqldb.DB, queue func(tx sqldb.Tx)) error {
	t.Helper()
	return db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
		queue(tx)
		return nil
	})
}

func TestAttempts(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a, b := attempt("a", "o1"), attempt("b", "o1")
		b.State, b.GatewayRef, b.SettledAt = payment.Failed, "ref", at.Add(time.Minute)
		testenv.NoError(t, write(t, db, func(tx sqldb.Tx) {
			paymentsql.QueueAttempts(tx, []payment.Attempt{b, a, attempt("c", "o2")})
			paymentsql.QueueEvents(tx, []payment.Event{{ID: "e", OrderID: "o1", Method: payment.Sandbox, Source: "CALLBACK", Raw: "{}", Verdict: "FAILED", ReceivedAt: at}})
		}))
		a.State, a.SettledAt = payment.Paid, at.Add(time.Hour)
		settle := func() error {
			return write(t, db, func(tx sqldb.Tx) { paymentsql.QueueAttempts(tx, []payment.Attempt{a}) })
		}
		testenv.NoError(t, settle())
		if err := settle(); err == nil {
			t.Error("a paid attempt was settled again")
		}
		got := testenv.Must(paymentsql.Attempts(t.Context(), db, []string{"o1"}))(t)
		testenv.Equal(t, []payment.Attempt{a, b}, got)
	})
}

// I6: one capture is refunded once.
func TestRefunds(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		if n, _, err := paymentsql.OutstandingRefunds(t.Context(), db); n != 0 || err != nil {
			t.Fatalf("%d due, %v", n, err)
		}
		r := payment.Refund{ID: "r", OrderID: "o", AttemptID: "a", Amount: 1, Currency: "VND", Method: payment.Sandbox,
			State: payment.RefundDue, Reason: payment.LateSoldOut, PortalRef: "14000009", CreatedAt: at,
		}
		insert := func(id string) error {
			r.ID = id
			return write(t, db, func(tx sqldb.Tx) { paymentsql.QueueRefunds(tx, []payment.Refund{r}) })
		}
		testenv.NoError(t, insert("r"))
		if err := insert("again"); err == nil {
			t.Error("one attempt is refunded twice")
		}
		if n, oldest, err := paymentsql.OutstandingRefunds(t.Context(), db); n != 1 || !oldest.Equal(at) || err != nil {
			t.Errorf("%d due since %v, %v", n, oldest, err)
		}
		r.ID = "r"
		testenv.Equal(t, []payment.Refund{r}, testenv.Must(paymentsql.Refunds(t.Context(), db, []string{"o"}))(t))
	})
}

// Repeated reports of one amount and currency are one mismatch, which remains cleared once it is.
func TestMismatches(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		report := func(amount int64, later time.Duration) payment.AmountMismatch {
			return payment.AmountMismatch{AttemptID: "a", OrderID: "o", Amount: amount, Currency: "VND", ReportedAt: at.Add(later)}
		}
		cleared := func(attempt string, want int64) {
			t.Helper()
			err := db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
				n, err := paymentsql.ClearMismatches(ctx, tx, attempt, at.Add(time.Hour))
				testenv.Equal(t, want, n)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
		dollars := report(1, 0)
		dollars.Currency = "USD"
		for _, all := range [][]payment.AmountMismatch{{report(1, 0), report(2, 0), report(1, time.Second)}, {report(2, time.Minute), dollars}} {
			testenv.NoError(t, write(t, db, func(tx sqldb.Tx) { paymentsql.QueueMismatches(tx, all) }))
		}
		cleared("b", 0)
		cleared("a", 3)
		cleared("a", 0)
		testenv.NoError(t, write(t, db, func(tx sqldb.Tx) {
			paymentsql.QueueMismatches(tx, []payment.AmountMismatch{report(1, 2*time.Hour), report(3, 2*time.Hour)})
		}))
		cleared("a", 1)
	})
}
