package app

import (
	"context"
	"time"

	"comanda/internal/stock"
	"comanda/internal/stock/stockhttp"
	"comanda/internal/worker"
)

// stockRooms returns the services of the stock's routes.
func (k *Core) stockRooms() stockhttp.Services {
	return stockhttp.Services{
		Reservations: k.Stores, Snapshots: k.Window, Recipes: &stock.RecipeService{Store: k.Stock, Cache: k.Recipes},
		Items: &stock.ItemService{Store: k.Desk, Queries: k.Stock, Branches: k.branches},
	}
}

func (k *Core) branches(ctx context.Context) ([]int64, error) {
	all, err := k.Branches.Store.Branches(ctx)
	ids := make([]int64, len(all))
	for i, b := range all {
		ids[i] = b.ID
	}
	return ids, err
}

// warmEvery is half the maximum age of a snapshot, so that a round may be late.
const warmEvery = stock.MaxSnapshotAge / 2

// windowLoops run in every process that serves requests. The first caches the most read windows at the start and again
// before they expire. The second writes which are read most.
func (k *Core) windowLoops() []worker.Loop {
	return []worker.Loop{
		{Name: "hot_warm", Run: k.warm, Every: warmEvery, Timeout: 10 * time.Second, MaxPause: warmEvery},
		{Name: "hot_rank", Run: k.Window.FlushReads, Every: 10 * time.Second, Timeout: 10 * time.Second, MaxPause: time.Minute},
	}
}

// warm does nothing without Redis: windows then read SQL.
func (k *Core) warm(ctx context.Context) error {
	if !k.Redis.Up() {
		return nil
	}
	return k.Window.Warm(ctx)
}
