package app

import (
	"context"
	"time"

	"comanda/internal/account/accountsql"
	"comanda/internal/document/documentsql"
	"comanda/internal/event/outbox"
	"comanda/internal/mail/mailsql"
	"comanda/internal/payment/paymentsql"
	"comanda/internal/sqldb"
	"comanda/internal/stock/stocksql"
	"comanda/internal/visit/visitsql"
)

// movers are the functions that move each package's deadlines with the deciding clock. Times that the staff chose, such
// as the end of a pause, stay: they are times of day on the right clock. So do past events and periods of days.
func (k *Core) movers() []mover {
	return []mover{
		{"holds", stocksql.MoveDeadlines},
		{"orders", func(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
			return k.Ledger.MoveDeadlines(ctx, tx, by, k.DB.Now().Add(by))
		}},
		{"payments", paymentsql.MoveDeadlines},
		{"visits", visitsql.MoveDeadlines},
		{"codes", accountsql.MoveDeadlines},
		{"letters", mailsql.MoveDeadlines},
		{"events", outbox.MoveDeadlines},
		{"documents", documentsql.MoveDeadlines},
	}
}

// mover moves the deadlines of one package; of is the label of its metric.
type mover struct {
	of   string
	move func(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error)
}

// moveDeadlines implements clock.Move on SQLite: everything open keeps its remaining time. Its transaction is the only
// writer and sets the time before the next one begins, so no writer compares moved deadlines with the old time, or the
// reverse, provided it reads the time within its transaction. Closing idle visits does not, so it is excluded with
// k.moving.
func (k *Core) moveDeadlines(ctx context.Context, by time.Duration, set func()) error {
	k.moving.Lock()
	defer k.moving.Unlock()
	counts := map[string]int64{}
	err := k.DB.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		for _, m := range k.movers() {
			n, err := m.move(ctx, tx, by)
			if err != nil {
				return err
			}
			// An assignment, because Write may run this function again.
			counts[m.of] = n
		}
		set()
		return nil
	})
	if err != nil {
		return err
	}
	for of, n := range counts {
		k.Metrics.moved.WithLabelValues(of).Add(float64(n))
	}
	k.Log.WarnContext(ctx, "the clock was set; open deadlines were moved", "by", by,
		"orders", counts["orders"], "holds", counts["holds"], "visits", counts["visits"])
	return nil
}

// excludingMoves keeps deadlines from moving during a round that reads the time before its transaction.
func (k *Core) excludingMoves(run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		k.moving.RLock()
		defer k.moving.RUnlock()
		return run(ctx)
	}
}
