package stockredis

import (
	"context"
	"strconv"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/seq"
	"comanda/internal/stock"
)

// SnapshotCache implements stock.SnapshotCache on Redis.
type SnapshotCache struct{ db *redisdb.DB }

// NewSnapshotCache returns a snapshot cache on a connection.
func NewSnapshotCache(db *redisdb.DB) *SnapshotCache { return &SnapshotCache{db} }

// Read returns the snapshots that exist, in one round trip.
func (c *SnapshotCache) Read(ctx context.Context, branch int64, skus []string) ([]stock.LevelSnapshot, error) {
	replies, err := c.db.DoMulti(ctx, seq.Map(skus, func(sku string) redisdb.Cmd {
		return redisdb.Command("HMGET", keyspace.HotInventory(branch, sku), "available", "lastUpdate")
	})...)
	if err != nil {
		return nil, err
	}
	snapshots := make([]stock.LevelSnapshot, 0, len(skus))
	for i, sku := range skus {
		fields, err := replies[i].Texts()
		if err != nil {
			return nil, err
		}
		if g, ok := parseSnapshot(fields); ok {
			g.Branch, g.SKU = branch, sku
			snapshots = append(snapshots, g)
		}
	}
	return snapshots, nil
}

// parseSnapshot reads the fields that Write has written; anything else counts as missing.
func parseSnapshot(fields []string) (g stock.LevelSnapshot, ok bool) {
	if len(fields) != 2 || fields[1] == "" {
		return g, false
	}
	at, err := time.Parse(time.RFC3339Nano, fields[1])
	if err != nil {
		return g, false
	}
	g.At = at.UTC()
	g.Available, err = strconv.ParseInt(fields[0], 10, 64)
	return g, err == nil
}

// Write stores snapshots for stock.MaxSnapshotAge, all in one round trip.
func (c *SnapshotCache) Write(ctx context.Context, snapshots []stock.LevelSnapshot) error {
	_, err := c.db.DoMulti(ctx, seq.Map(snapshots, func(g stock.LevelSnapshot) redisdb.Cmd {
		return hotScript.Command([]keyspace.Key{keyspace.HotInventory(g.Branch, g.SKU)},
			decimal(g.Available), g.At.UTC().Format(time.RFC3339Nano), ttlMillis(stock.MaxSnapshotAge))
	})...)
	return err
}
