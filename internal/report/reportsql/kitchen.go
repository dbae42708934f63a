package reportsql

import (
	"context"

	"comanda/internal/report"
	"comanda/internal/sqldb"
)

// Tickets implements report.Store.
func (b *Store) Tickets(ctx context.Context, s report.Span) ([]report.Ticket, error) {
	return ask(ctx, b, stmt("ticket_times"), s, func(r sqldb.Rows) (t report.Ticket, err error) {
		err = r.Scan(&t.Date, &t.Paid, &t.Accepted, &t.Ready, &t.Served)
		return t, err
	})
}
