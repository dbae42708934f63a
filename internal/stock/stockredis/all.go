package stockredis

import (
	"context"

	"comanda/internal/stock"
)

// All gives every counter of a scope and the epoch that the scope was built under. Not ok means that it is unknown.
func (g *Gate) All(ctx context.Context, s stock.Scope) (epoch string, counts []stock.Count, ok bool, err error) {
	snap, ok, err := g.Snapshot(ctx, s, nil)
	return snap.Epoch, snap.Counts, ok, err
}
