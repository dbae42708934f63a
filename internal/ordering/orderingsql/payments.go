// Package orderingsql stores orders in SQL: the ledger that runs commands in shared transactions, the reads for guests
// and staff, and the daybook.
//
// Every transaction takes its locks in one order, which rules out deadlocks: counters by (branch, date, item), then the
// numbers of business dates, then members' carts, then the carts that guests share by visit, then holds by id, then
// orders by id, and the audit log last. Only Ledger writes orders, apart from the index of names. Orders reads without
// locks, and its results may be outdated when they are used.
package orderingsql

import (
	"context"
	"embed"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/ordering"
	"comanda/internal/payment"
	"comanda/internal/payment/paymentsql"
	"comanda/internal/sqldb"
)

// owner is the order and branch of a payment attempt. The zero owner stands for an unknown attempt.
type owner = paymentsql.Owner

// owners returns one owner per attempt in the same order, as sqldb.ReadGroup requires.
func owners(ctx context.Context, db sqldb.Conn, attempts []string) ([]owner, error) {
	found, err := paymentsql.Owners(ctx, db, attempts)
	if err != nil {
		return nil, err
	}
	all := make([]owner, len(attempts))
	for i, id := range attempts {
		all[i] = found[id]
	}
	return all, nil
}

// Owner returns the order and the branch of an attempt. Every report of a gateway needs them, so concurrent calls share
// one statement, and attempts that this process has begun or found before need none. An unknown attempt is not
// remembered: another process may begin it.
func (l *Ledger) Owner(ctx context.Context, attempt string) (order string, branch int64, found bool, err error) {
	o, known := l.knownOwners.Get(attempt, l.now())
	if !known {
		if o, err = l.owners.Do(ctx, attempt); err != nil || o == (owner{}) {
			return "", 0, false, err
		}
		l.knownOwners.Put(attempt, o)
	}
	return o.OrderID, o.Branch, true, nil
}

// rememberOwners stores the owners of the attempts of committed commands at remote gateways, unless an earlier command of
// the order has.
func (l *Ledger) rememberOwners(results []ordering.Result) {
	now := l.now()
	for i := range results {
		o := &results[i].Order
		if results[i].Err != nil || o.PaymentRef == "" {
			continue
		}
		if _, known := l.knownOwners.Get(o.PaymentRef, now); !known {
			l.knownOwners.Put(o.PaymentRef, owner{OrderID: o.ID, Branch: o.Scope.Branch})
		}
	}
}

// Stuck counts the attempts that need attention, by state.
func (l *Ledger) Stuck(ctx context.Context) (map[payment.State]int64, error) {
	return paymentsql.CountStuck(ctx, l.db, l.db.Now())
}

// Record stores a rejected gateway notification. It is not a command, because it changes no order.
func (l *Ledger) Record(ctx context.Context, e payment.Event) error {
	return l.db.Write(ctx, func(_ context.Context, tx sqldb.Tx) error {
		paymentsql.QueueEvents(tx, []payment.Event{e})
		return nil
	})
}

// ClaimChecks implements ordering.Payments.
func (l *Ledger) ClaimChecks(ctx context.Context, now time.Time, most int) ([]payment.Attempt, error) {
	return paymentsql.ClaimChecks(ctx, l.db, now, most)
}

// ClaimRefunds implements ordering.Payments.
func (l *Ledger) ClaimRefunds(ctx context.Context, now time.Time, most int) ([]payment.Refund, error) {
	return paymentsql.ClaimRefunds(ctx, l.db, now, most)
}

// ClearMismatches implements ordering.Payments. It takes the audit log's lock last, in line with the ledger's lock
// order.
func (l *Ledger) ClearMismatches(ctx context.Context, attempt string, e audit.Entry) error {
	return l.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		n, err := paymentsql.ClearMismatches(ctx, tx, attempt, e.At)
		if err != nil || n == 0 {
			return err
		}
		return auditsql.Record(ctx, tx, e)
	})
}

// MarkSent implements ordering.Payments.
func (l *Ledger) MarkSent(ctx context.Context, refund string, before []string) error {
	return paymentsql.MarkSent(ctx, l.db, refund, before)
}

//go:embed *.sql
var files embed.FS

// Statements contains all SQL statements of this package.
var Statements = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = Statements.Must
