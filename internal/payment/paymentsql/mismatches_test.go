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
				if n != want {
					t.Errorf("%d are cleared, want %d", n, want)
				}
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
