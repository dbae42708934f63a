package app

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/catalog"
	"comanda/internal/seq"
	"comanda/internal/stock"
	"comanda/internal/stock/stockhttp"
	"comanda/internal/stock/stockmemory"
	"comanda/internal/stock/stockredis"
	"comanda/internal/worker"
)

// wireAdmissionCache creates the admission cache: in the memory of the only process, or in the Redis that all processes
// share. A command beside the server has no access to the server's memory: its changes stay in redis_outbox, and the
// server applies them within a few seconds.
func (k *Core) wireAdmissionCache(reg prometheus.Registerer, noCache bool) {
	switch {
	case noCache:
		k.AdmissionCache = stock.NoCache{}
	case k.Redis.InProcess():
		k.memory = stockmemory.New(stockmemory.Config{Now: k.DB.Now, Metrics: reg})
		k.AdmissionCache = k.memory
		k.mirror = stockredis.New(k.Redis, stockredis.Config{Now: k.DB.Now, Log: k.Log})
	case k.Redis.Embedded():
		k.AdmissionCache = stock.NoCache{}
	default:
		k.AdmissionCache = stockredis.New(k.Redis, stockredis.Config{Now: k.DB.Now, Log: k.Log, Metrics: reg})
	}
}

// mirrorInterval is the age of the counters that commands and redis-cli see in the embedded store.
const mirrorInterval = time.Second

// mirrorLoops copies the counters of the admission cache in memory to the embedded store, for commands of other
// processes. Orders never read them. With a Redis there is nothing to copy.
func (k *Core) mirrorLoops() []worker.Loop {
	if k.memory == nil {
		return nil
	}
	return []worker.Loop{{Name: "gate_mirror", Run: k.mirrorCounters, Every: mirrorInterval, Timeout: 20 * time.Second}}
}

// mirrorCounters copies the scopes that have changed, or that the embedded store has lost.
func (k *Core) mirrorCounters(ctx context.Context) error {
	if k.behind == nil {
		k.behind = map[stock.Scope]bool{}
	}
	scopes := k.memory.Scopes()
	missing, failed := k.mirror.Missing(ctx, slices.Collect(maps.Keys(scopes)))
	for _, s := range missing {
		k.behind[s] = true
	}
	for s, changed := range scopes {
		if changed {
			k.behind[s] = true // a failed copy is repeated in the next round
		}
	}
	for s := range k.behind {
		if err := k.copyScope(ctx, s); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		delete(k.behind, s)
	}
	return failed
}

func (k *Core) copyScope(ctx context.Context, s stock.Scope) error {
	shown, ok, err := k.memory.ReadScope(ctx, s)
	if err != nil {
		return err
	}
	epoch, err := k.mirror.BeginRebuild(ctx, s)
	if err != nil || !ok {
		return err
	}
	return k.mirror.FinishRebuild(ctx, stock.ScopeSnapshot{
		Scope: s, Epoch: epoch, Ends: shown.ExpiresAt.Add(-stock.RecordTTL), Counts: shown.Counts,
	})
}

// stockServices returns the services behind the stock routes.
func (k *Core) stockServices() stockhttp.Services {
	return stockhttp.Services{
		Reservations: k.ReservationService, Snapshots: k.Snapshots,
		Recipes: &stock.RecipeService{Store: k.Stock, Cache: k.Recipes}, Actors: k.AuditLog,
		Items: &stock.ItemService{Store: k.Reservations, Queries: k.Stock, Branches: k.branches},
	}
}

// branches returns the ids of all branches.
func (k *Core) branches(ctx context.Context) ([]int64, error) {
	all, err := k.Branches.Store.Branches(ctx)
	return seq.Map(all, func(b catalog.Branch) int64 { return b.ID }), err
}

// warmInterval is half the maximum age of a snapshot, so that a round may be late.
const warmInterval = stock.MaxSnapshotAge / 2

// snapshotLoops run in every process that serves requests. The first caches the most read stock items at the start
// and again before they expire. The second stores how often each item is read.
func (k *Core) snapshotLoops() []worker.Loop {
	return []worker.Loop{
		{Name: "hot_warm", Run: k.warmSnapshots, Every: warmInterval, Timeout: 10 * time.Second, MaxPause: warmInterval},
		{Name: "hot_rank", Run: k.Snapshots.FlushReads, Every: 10 * time.Second, Timeout: 10 * time.Second, MaxPause: time.Minute},
	}
}

// warmSnapshots does nothing without Redis: snapshots are then read from SQL. The server is ready without warm
// snapshots.
func (k *Core) warmSnapshots(ctx context.Context) error {
	if !k.Redis.Up() {
		return nil
	}
	return k.Snapshots.Warm(ctx)
}
