package stocksql

import (
	"context"
	"time"

	"comanda/internal/queue/queuesql"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// Store reads and repairs what the hot path writes.
type Store struct {
	queuesql.Queue[stock.OutboxEntry]

	db *sqldb.DB
}

// New returns a store on a database.
func New(db *sqldb.DB) *Store { return &Store{entries.On(db), db} }

// Scopes returns the scopes from a business date on that the admission cache has served, with the epoch it must show.
func (l *Store) Scopes(ctx context.Context, from string) (map[stock.Scope]string, error) {
	all := map[stock.Scope]string{}
	return all, sqldb.Each(ctx, l.db, func(rows sqldb.Rows) error {
		var s stock.Scope
		var epoch string
		err := rows.Scan(&s.Branch, &s.Date, &epoch)
		all[s] = epoch
		return err
	}, stmt("scope_select"), from)
}

// TombstoneProvisional writes RELEASED holds for provisional holds that timed out, unless their orders have arrived
// after all, and returns the state of each.
func (l *Store) TombstoneProvisional(
	ctx context.Context, provisional []stock.Hold, now time.Time,
) ([]stock.HoldState, error) {
	if len(provisional) == 0 {
		return nil, nil
	}
	_, err := l.db.Exec(ctx, stmt("hold_tombstone"), sqldb.NewRowSet(len(provisional)).
		Text("id", func(i int) string { return provisional[i].ID }).
		Int("branch_id", func(i int) int64 { return provisional[i].Scope.Branch }).
		Text("biz_date", func(i int) string { return provisional[i].Scope.Date }), now.UnixMilli())
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(provisional))
	for i, h := range provisional {
		ids[i] = h.ID
	}
	return l.Holds(ctx, ids)
}

// Holds returns the holds that exist.
func (l *Store) Holds(ctx context.Context, ids []string) ([]stock.HoldState, error) {
	return Holds(ctx, l.db, ids)
}
