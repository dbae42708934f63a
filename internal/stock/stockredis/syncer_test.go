package stockredis_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"comanda/internal/ordering/orderingtest"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stockredis"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

// syncerFixture is a syncer between a real SQL store and a real cache.
type syncerFixture struct {
	db     *sqldb.DB
	gate   *stockredis.Cache
	syncer *stock.Syncer
	scope  stock.Scope

	mu          sync.Mutex
	ahead       time.Duration // how far the syncer's clock is ahead
	lasting     bool          // if set, no scope can be rebuilt
	deadLetters int           // number of dead entries
	drift       int64         // units, at the last comparison
}

func newSyncerFixture(t *testing.T, redis *redisdb.DB, quota int64) *syncerFixture {
	t.Helper()
	return newSyncerFixtureOn(t, sqldbtest.SQLite(t), redis, quota)
}

func newSyncerFixtureOn(t *testing.T, db *sqldb.DB, redis *redisdb.DB, quota int64) *syncerFixture {
	t.Helper()
	k := &syncerFixture{db: db, scope: stock.Scope{Branch: 1, Date: time.Now().UTC().Format(time.DateOnly)}}
	orderingtest.Open(t, k.db, 1, quota)
	now := func() time.Time {
		k.mu.Lock()
		defer k.mu.Unlock()
		return time.Now().Add(k.ahead)
	}
	k.gate = stockredis.New(redis, stockredis.Config{Now: time.Now, Timeout: 5 * time.Second})
	k.syncer = stock.NewSyncer(stock.SyncerConfig{
		Cache: k.gate, Store: stocksql.New(k.db), Now: now, RebuildInterval: -1, Log: slog.New(slog.DiscardHandler),
		EndOfDay: k.ends, Observer: stock.Observer{DeadLettered: k.countDeadLetters, Drift: k.drifts},
	})
	t.Cleanup(k.syncer.Close)
	testenv.NoError(t, k.syncer.Rebuild(t.Context(), k.scope))
	return k
}

var errLasting = errors.New("the test wants no rebuild")

func (k *syncerFixture) ends(context.Context, stock.Scope) (time.Time, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lasting {
		return time.Time{}, errLasting
	}
	return time.Now().Add(24 * time.Hour), nil
}

// setRebuildable allows rebuilds of scopes, or prevents them.
func (k *syncerFixture) setRebuildable(possible bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lasting = !possible
}

func (k *syncerFixture) drifts(units int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drift = units
}

func (k *syncerFixture) countDeadLetters(entries int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.deadLetters += entries
}

func (k *syncerFixture) hold(qty int64) stock.Hold {
	return stock.Hold{
		ID: uid.New(time.Now()), Scope: k.scope, Lines: []stock.Line{{Item: 101, Qty: qty}}, Until: time.Now().Add(time.Hour),
	}
}

// commit writes a hold as the SQL store does and returns the entries for the cache.
func (k *syncerFixture) commit(t *testing.T, h stock.Hold) []stock.OutboxEntry {
	t.Helper()
	testenv.NoError(t, stocksql.NewCounters(k.db).Ensure(t.Context(), h))
	var entries []stock.OutboxEntry
	testenv.NoError(t, k.db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
		balances := stock.NewBalances()
		stocksql.QueueLock(tx, stocksql.KeysOf([]stock.Hold{h}), balances)
		if err := tx.Flush(ctx); err != nil {
			return err
		}
		if outcome, _ := balances.Reserve(h, stock.Held); outcome != stock.Applied {
			t.Errorf("take: %d", outcome)
		}
		stocksql.QueueDeltas(tx, balances)
		stocksql.QueueHolds(tx, []stock.NewHold{{Hold: h, State: stock.Held}}, time.Now().UnixMilli())
		var err error
		entries, err = stocksql.QueueOps(tx, []stock.Op{{Kind: stock.OpHeld, Hold: h}}, func() string { return uid.New(time.Now()) },
			time.Now().UnixMilli())
		return err
	}))
	return entries
}

// held returns the held units in the cache; -1 while the scope is unknown.
func (k *syncerFixture) held(t *testing.T) int64 {
	t.Helper()
	counts, ok, err := k.gate.Counts(t.Context(), k.scope, []int64{101})
	if err != nil || !ok || len(counts) != 1 {
		return -1
	}
	return counts[0].Held
}

func (k *syncerFixture) jump(d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ahead += d
}

// A process dies between its commit and Redis: another process replays the entries and deletes them.
func TestSyncer_replays_committed_entries(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, redis *redisdb.DB) {
		k := newSyncerFixture(t, redis, 10)
		k.commit(t, k.hold(3)) // without passing the entries to the cache
		if err := k.syncer.Replay(t.Context()); err != nil || k.held(t) != 0 {
			t.Errorf("an entry that may still be on its way was taken: held %d, %v", k.held(t), err)
		}
		k.jump(time.Minute)
		for range 2 { // replaying changes nothing (I8)
			if err := k.syncer.Replay(t.Context()); err != nil || k.held(t) != 3 {
				t.Fatalf("held %d, %v", k.held(t), err)
			}
		}
		testenv.Equal(t, 0, testenv.Must(stocksql.New(k.db).Backlog(t.Context(), time.Now()))(t).Pending)
	})
}

// A process dies between TRY and its order: the units are released when the provisional hold ends, and the order can
// no longer commit (I3, I12). The hold of a committed order stays.
func TestSyncer_expires_provisional_holds(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, redis *redisdb.DB) {
		k := newSyncerFixture(t, redis, 10)
		lost, ordered := k.hold(3), k.hold(2)
		for _, h := range []stock.Hold{lost, ordered} {
			testenv.Equal(t, stock.Admitted, k.syncer.Reserve(t.Context(), h).Status)
		}
		k.commit(t, ordered)
		if err := k.syncer.ExpireProvisional(t.Context()); err != nil || k.held(t) != 5 {
			t.Errorf("before the provisional holds end: held %d, %v", k.held(t), err)
		}
		k.jump(time.Minute)
		if err := k.syncer.ExpireProvisional(t.Context()); err != nil || k.held(t) != 2 {
			t.Errorf("after: held %d, %v", k.held(t), err)
		}
		states, err := stocksql.Holds(t.Context(), k.db, []string{lost.ID, ordered.ID})
		if err != nil || len(states) != 2 || states[0].State != stock.Released || states[1].State != stock.Held {
			t.Errorf("in SQL: %+v, %v", states, err)
		}
	})
}

// A process is killed between TRY and commit: the units of its provisional hold are free, and another order gets them
// from SQL. Units that are taken in SQL stay refused.
func TestSyncer_overrules_wrong_refusals(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, redis *redisdb.DB) {
		k := newSyncerFixture(t, redis, 10)
		testenv.Equal(t, stock.Admitted, k.syncer.Reserve(t.Context(), k.hold(8)).Status)
		ownHold := k.hold(10)
		if v := k.syncer.Reserve(t.Context(), ownHold); v.Status != stock.Cold {
			t.Errorf("units of a dead provisional hold: %+v", v)
		}
		k.commit(t, ownHold)
		k.jump(time.Second) // refusals may reuse a reading of the counters for a moment
		if v := k.syncer.Reserve(t.Context(), k.hold(3)); v.Status != stock.Refused {
			t.Errorf("units that are sold: %+v", v)
		}
	})
}

// I9: if two consecutive checks find a difference, the scope is rebuilt. An operation that is still pending is not a
// difference.
func TestSyncer_repairs_drift(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, redis *redisdb.DB) {
		k := newSyncerFixture(t, redis, 10)
		stray := k.hold(4)
		testenv.Equal(t, stock.Admitted, k.syncer.Reserve(t.Context(), stray).Status)
		if err := k.syncer.Reconcile(t.Context()); err != nil || k.held(t) != 4 {
			t.Errorf("one look rebuilt: held %d, %v", k.held(t), err)
		}
		k.jump(time.Second) // rebuilds have a minimum interval
		testenv.NoError(t, k.syncer.Reconcile(t.Context()))
		testenv.Eventually(t, 10*time.Second, func() bool { return k.held(t) == 0 })
	})
}

// A Redis that has lost all keys is rebuilt while orders continue. Missing keys never count as zero.
func TestSyncer_rebuilds_after_flush(t *testing.T) {
	redis, server := redisdbtest.Real(t)
	k := newSyncerFixture(t, redis, 10)
	h := k.hold(3)
	k.syncer.EnqueueCommitted(k.commit(t, h))
	server.Kill()
	server.Restart()
	testenv.Eventually(t, 20*time.Second, func() bool {
		k.jump(time.Second)
		v := k.syncer.Reserve(t.Context(), k.hold(8)) // only 7 are left, even if Redis has lost that
		if v.Status == stock.Admitted {
			t.Fatal("oversold by the cache")
		}
		return v.Status == stock.Refused
	})
	testenv.Equal(t, 3, k.held(t))
}
