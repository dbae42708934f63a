package bench

import (
	"context"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

const (
	clearBatch   = 1000
	clearTimeout = 2 * time.Minute
)

// Clear removes from a Redis of its own what the benchmark's orders have left there, which would otherwise live until a
// day after their business date. It finds them by the ledger, so it comes before the database is dropped, and after the
// server was stopped: a running one would take the loss for an accident and build everything anew.
func Clear(ctx context.Context, c Config) error {
	if c.RedisURL == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, clearTimeout)
	defer cancel()
	db, err := sqldb.Open(ctx, sqldb.Config{URL: c.DatabaseURL, MaxConns: 1})
	if err != nil {
		return err
	}
	defer db.Close()
	redis, err := redisdb.Open(ctx, redisdb.Config{URL: c.RedisURL, Namespace: c.Namespace, Timeout: rawPatient})
	if err != nil {
		return err
	}
	defer redis.Close()
	scopes := map[stock.Scope]bool{}
	for last := ""; ; {
		rows, err := db.Query(ctx, holdList, branchID, last, clearBatch)
		holds, err := sqldb.Collect(rows, err, func(r sqldb.Rows) (h stock.Hold, err error) {
			h.Scope.Branch = branchID
			return h, r.Scan(&h.ID, &h.Scope.Date)
		})
		if err != nil || len(holds) == 0 {
			return err
		}
		var keys []keyspace.Key
		for _, h := range holds {
			if !scopes[h.Scope] {
				keys = append(keys, scopeKeys(h.Scope)...)
				scopes[h.Scope] = true
			}
			keys = append(keys, keyspace.HoldRecord(branchID, h.ID))
		}
		if err := unlink(ctx, redis, keys); err != nil {
			return err
		}
		last = holds[len(holds)-1].ID
	}
}

// scopeKeys are the keys of a scope besides the records of its holds.
func scopeKeys(s stock.Scope) []keyspace.Key {
	return []keyspace.Key{
		keyspace.QuotaCap(s.Branch, s.Date), keyspace.QuotaHeld(s.Branch, s.Date), keyspace.QuotaPaid(s.Branch, s.Date),
		keyspace.LeasesDue(s.Branch),
		keyspace.RefusedIDs(s.Branch, 0), keyspace.RefusedIDs(s.Branch, 1), keyspace.RefusedIDs(s.Branch, 2),
	}
}

// unlink removes keys in their order.
func unlink(ctx context.Context, redis *redisdb.DB, keys []keyspace.Key) error {
	for len(keys) > 0 {
		some := keys[:min(len(keys), clearBatch)]
		keys = keys[len(some):]
		cmds := make([]redisdb.Cmd, len(some))
		for i, k := range some {
			cmds[i] = redisdb.Command("UNLINK", k)
		}
		if _, err := redis.DoMulti(ctx, cmds...); err != nil {
			return err
		}
	}
	return nil
}
