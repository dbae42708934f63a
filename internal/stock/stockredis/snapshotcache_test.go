package stockredis

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

var _ stock.SnapshotCache = (*SnapshotCache)(nil)

// Snapshots are read as written, for a minute; missing and unreadable ones are left out.
func TestSnapshotCache(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		hot := NewSnapshotCache(db)
		at := time.Date(2026, 2, 26, 5, 0, 0, 123e6, time.UTC)
		rice, beer := stock.LevelSnapshot{Branch: 7, SKU: "rice", Available: 5, At: at}, stock.LevelSnapshot{Branch: 7, SKU: "Beer-0.5_l", At: at}
		testenv.NoError(t, hot.Write(t.Context(),
			[]stock.LevelSnapshot{rice, beer, {Branch: 8, SKU: "tea", Available: 1, At: at}}))
		testenv.NoError(t, db.Do(t.Context(), "HSET", keyspace.HotInventory(7, "odd"), "available", "many", "lastUpdate",
			"yesterday").Err())
		got, err := hot.Read(t.Context(), 7, []string{"none", "Beer-0.5_l", "odd", "tea", "rice"})
		if d := cmp.Diff([]stock.LevelSnapshot{beer, rice}, got); d != "" || err != nil {
			t.Error(d, err)
		}
		ttl, err := db.Do(t.Context(), "PTTL", keyspace.HotInventory(7, "rice")).Int()
		if ttl <= 50_000 || ttl > 60_000 || err != nil {
			t.Errorf("a glance lives for %d ms, %v", ttl, err)
		}
		rice.Available = 4
		testenv.NoError(t, hot.Write(t.Context(), []stock.LevelSnapshot{rice}))
		if got, err = hot.Read(t.Context(), 7, []string{"rice"}); err != nil || len(got) != 1 || got[0] != rice {
			t.Errorf("Read = %v, %v, want the snapshot that was written", got, err)
		}
	})
}
