package stocksql

import (
	"context"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// Ledger reads and repairs what the hot path writes.
type Ledger struct{ db *sqldb.DB }

// New makes a ledger on a database.
func New(db *sqldb.DB) *Ledger { return &Ledger{db} }

// recent is how long an ended hold stays in the gate's image: longer than any operation on it can be on its way.
const recent = 15 * time.Minute

// ClaimRebuild makes the caller the only one who may rebuild a scope until an instant.
func (l *Ledger) ClaimRebuild(ctx context.Context, s stock.Scope, now, until time.Time) (bool, error) {
	if _, err := l.db.Exec(ctx, scopeInsert, s.Branch, s.Date); err != nil {
		return false, err
	}
	n, err := l.db.Exec(ctx, scopeClaim, s.Branch, s.Date, now.UnixMilli(), until.UnixMilli())
	return n == 1, err
}

// EndRebuild records the epoch that Redis shows now, empty after a failure, and lets others rebuild the scope again.
func (l *Ledger) EndRebuild(ctx context.Context, s stock.Scope, epoch string) error {
	_, err := l.db.Exec(ctx, scopeRelease, s.Branch, s.Date, epoch)
	return err
}

// Scopes gives the scopes from a business date on that the gate has served, with the epoch it must show.
func (l *Ledger) Scopes(ctx context.Context, from string) (map[stock.Scope]string, error) {
	rows, err := l.db.Query(ctx, scopeSelect, from)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[stock.Scope]string{}
	for rows.Next() {
		var s stock.Scope
		var epoch string
		if err := rows.Scan(&s.Branch, &s.Date, &epoch); err != nil {
			return nil, err
		}
		all[s] = epoch
	}
	return all, rows.Err()
}

// Image reads everything that the gate is rebuilt from. All counters of the scope are locked first, which holds every
// writer of it off for that moment, so that counters and holds belong together. What waited in redis_outbox is part of
// the image and is forgotten with it.
func (l *Ledger) Image(ctx context.Context, s stock.Scope, now time.Time) (stock.Image, error) {
	image := stock.Image{Scope: s}
	read := scopeImage
	if s.Stock() {
		read = stockImage
	} else if _, err := l.db.Exec(ctx, counterEnsureBranch, s.Branch, s.Date); err != nil {
		return image, err
	}
	err := l.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if err := read(ctx, tx, &image, now); err != nil {
			return err
		}
		tx.Queue(opsDeleteScope, s.Branch, s.Date)
		return nil
	})
	return image, err
}

func scopeImage(ctx context.Context, tx sqldb.Tx, im *stock.Image, now time.Time) error {
	rows, err := tx.Query(ctx, counterLockScope, im.Scope.Branch, im.Scope.Date)
	if im.Counts, err = sqldb.Collect(rows, err, scanCount); err != nil {
		return err
	}
	rows, err = tx.Query(ctx, holdSelectScope, im.Scope.Branch, im.Scope.Date, now.Add(-recent).UnixMilli())
	im.Holds, err = collectHolds(rows, err)
	return err
}

// staleDate is how far back orders are looked at that may hold units of the stock: none is held for so long.
const staleDate = 4 * 24 * time.Hour

func stockImage(ctx context.Context, tx sqldb.Tx, im *stock.Image, now time.Time) error {
	rows, err := tx.Query(ctx, inventoryLockBranch, im.Scope.Branch)
	if im.Counts, err = sqldb.Collect(rows, err, scanThing); err != nil {
		return err
	}
	rows, err = tx.Query(ctx, holdSelectStock, im.Scope.Branch, now.Add(-recent).UnixMilli(),
		now.Add(-staleDate).Format(time.DateOnly))
	im.Holds, err = collectHolds(rows, err)
	return err
}

// Bury writes RELEASED holds for leases that ended without an order, unless an order has come after all, and tells what
// every one of them is now.
func (l *Ledger) Bury(ctx context.Context, leases []stock.Hold, now time.Time) ([]stock.HoldState, error) {
	if len(leases) == 0 {
		return nil, nil
	}
	_, err := l.db.Exec(ctx, holdTombstone, sqldb.NewRowSet(len(leases)).
		Text("id", func(i int) string { return leases[i].ID }).
		Int("branch_id", func(i int) int64 { return leases[i].Scope.Branch }).
		Text("biz_date", func(i int) string { return leases[i].Scope.Date }), now.UnixMilli())
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(leases))
	for i, h := range leases {
		ids[i] = h.ID
	}
	return l.Holds(ctx, ids)
}

// Holds gives those of some holds that exist.
func (l *Ledger) Holds(ctx context.Context, ids []string) ([]stock.HoldState, error) {
	return Holds(ctx, l.db, ids)
}
