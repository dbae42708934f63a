package system

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"comanda/internal/ordering/orderingsql"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stockredis"
	"comanda/internal/stock/stocksql"
)

// A comparison covers reconcileDays, and repeats up to reconcileRounds times before it reports a difference: between a
// commit and its arrival in Redis the two legitimately differ.
const (
	reconcileDays   = 7
	reconcileRounds = 4
	reconcilePause  = 700 * time.Millisecond
)

// Reconcile compares ledger, holds, orders, money and Redis, of one branch or, with 0, of all. It only reads, and
// reports only differences that every comparison finds. Without Redis it compares SQL with itself.
func (s *Service) Reconcile(ctx context.Context, branch int64) (Reconciliation, error) {
	return exclusive(s, func() (Reconciliation, error) {
		switch {
		case s.Redis == nil:
			return s.reconcile(ctx, nil, branch, "Redis is in process of the server, which does not run; only SQL was compared.")
		case !s.Redis.Up():
			return s.reconcile(ctx, nil, branch, "Redis is out of reach; only SQL was compared.")
		}
		return s.reconcile(ctx, s.Redis, branch, "")
	})
}

// reconcile keeps only the differences that every round has found, by their text: a difference whose numbers change is
// still moving. It ends with the first round that leaves none.
func (s *Service) reconcile(ctx context.Context, redis *redisdb.DB, branch int64, note string) (Reconciliation, error) {
	r := Reconciliation{Differences: []string{}, Note: note}
	for round := range reconcileRounds {
		found, scopes, err := differences(ctx, s.DB, redis, branch)
		if err != nil {
			return r, err
		}
		r.Scopes = scopes
		if round > 0 {
			found = slices.DeleteFunc(found, func(d string) bool { return !slices.Contains(r.Differences, d) })
		}
		r.Differences = found
		if len(found) == 0 {
			r.Differences, r.Clean = []string{}, true
			return r, nil
		}
		if round < reconcileRounds-1 {
			select {
			case <-time.After(reconcilePause):
			case <-ctx.Done():
				return r, ctx.Err()
			}
		}
	}
	return r, nil
}

// differences runs one comparison. scopes is the number of scopes compared with Redis.
func differences(ctx context.Context, db *sqldb.DB, redis *redisdb.DB, branch int64) ([]string, int, error) {
	now := db.Now()
	from := now.AddDate(0, 0, -reconcileDays).Format(time.DateOnly)
	ledger := stocksql.New(db)
	all, err := ledger.DriftOf(ctx, branch, from)
	if err != nil {
		return nil, 0, err
	}
	orders, err := orderingsql.NewOrders(db).DriftOf(ctx, branch, from, now)
	if err != nil {
		return nil, 0, err
	}
	all = append(all, orders...)
	if redis == nil {
		return all, 0, nil
	}
	cached, scopes, err := cacheDifferences(ctx, ledger, redis, branch, now)
	return append(all, cached...), scopes, err
}

// cacheDifferences compares each scope that the admission cache holds. A scope that it does not hold is no difference:
// the cache answers nothing for it and rebuilds it when needed.
func cacheDifferences(
	ctx context.Context, ledger *stocksql.Store, redis *redisdb.DB, branch int64, now time.Time,
) ([]string, int, error) {
	cache := stockredis.New(redis, stockredis.Config{Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)})
	// Two days back in UTC include the current business date of every time zone.
	scopes, err := ledger.Scopes(ctx, now.Add(-48*time.Hour).Format(time.DateOnly))
	if err != nil {
		return nil, 0, err
	}
	var all []string
	known := 0
	for s := range scopes {
		if branch != 0 && s.Branch != branch {
			continue
		}
		shown, ok, err := cache.ReadScope(ctx, s)
		if err != nil {
			return nil, 0, err
		}
		if !ok {
			continue
		}
		known++
		truth, err := ledger.Counts(ctx, s)
		if err != nil {
			return nil, 0, err
		}
		if _, text := stock.Difference(truth, shown.Counts); text != "" {
			all = append(all, fmt.Sprintf("branch %d, %s: %s", s.Branch, cmp.Or(s.Date, "stock"), text))
		}
	}
	slices.Sort(all)
	return all, known, nil
}
