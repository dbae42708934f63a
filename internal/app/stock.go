package app

import (
	"context"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/seq"
	"comanda/internal/stock"
	"comanda/internal/stock/stockhttp"
	"comanda/internal/worker"
)

// stockServices returns the services behind the stock routes.
func (k *Core) stockServices() stockhttp.Services {
	return stockhttp.Services{
		Reservations: k.ReservationService, Snapshots: k.Snapshots,
		Recipes: &stock.RecipeService{Store: k.Stock, Cache: k.Recipes},
		Items:   &stock.ItemService{Store: k.Reservations, Queries: k.Stock, Branches: k.branches},
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
