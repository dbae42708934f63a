package reportsql

import (
	"context"

	"comanda/internal/report"
	"comanda/internal/sqldb"
)

// Tickets implements report.Store.
func (b *Store) Tickets(ctx context.Context, s report.Span) ([]report.Ticket, error) {
	return ask(ctx, b, stmt("ticket_times"), s, sqldb.Row(func(t *report.Ticket) []any {
		return []any{&t.Date, &t.Paid, &t.Accepted, &t.Ready, &t.Served}
	}))
}
