package stockredis_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/authz"
	"comanda/internal/keyspace"
	"comanda/internal/queue"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

// corruptHold replaces the record of a hold with a value of another type, so that every script fails on it.
func corruptHold(t *testing.T, redis *redisdb.DB, h stock.Hold) keyspace.Key {
	t.Helper()
	key := keyspace.HoldRecord(h.Scope.Branch, h.ID)
	testenv.NoError(t, redis.Do(t.Context(), "SET", key, "a stranger's").Err())
	return key
}

// left returns the numbers of waiting and of dead entries.
func (k *syncerFixture) left(t *testing.T) (waiting, dead int64) {
	t.Helper()
	l := stocksql.New(k.db)
	b := testenv.Must(l.Backlog(t.Context(), time.Now()))(t)
	return b.Pending, b.Dead
}

func (k *syncerFixture) recover(t *testing.T) {
	t.Helper()
	testenv.NoError(t, k.syncer.Replay(t.Context()))
}

// wantLeft replays once and compares the remaining entries.
func (k *syncerFixture) wantLeft(t *testing.T, waiting, dead, held int64) {
	t.Helper()
	k.recover(t)
	if w, d := k.left(t); w != waiting || d != dead || k.held(t) != held {
		t.Fatalf("%d wait, %d are dead, held %d; want %d, %d, %d", w, d, k.held(t), waiting, dead, held)
	}
}

// An entry on which a script fails is retried ten times with growing pauses and is then dead. Other entries are not
// blocked. The rebuild of its scope, which is requested after the last attempt, applies the entry.
func TestSyncer_dead_letters_poisoned_entry(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		redis := redisdbtest.Redis(t)
		k := newSyncerFixtureOn(t, db, redis, 100)
		bad := k.hold(5)
		for _, h := range []stock.Hold{k.hold(1), bad, k.hold(2)} {
			k.commit(t, h)
		}
		key := corruptHold(t, redis, bad)
		k.setRebuildable(false)
		k.jump(5 * time.Second)
		k.wantLeft(t, 1, 0, 3)
		k.wantLeft(t, 1, 0, 3) // not due
		pause := time.Second
		for range 8 {
			k.jump(pause + 3*time.Second) // entries are not replayed for their first two seconds
			k.wantLeft(t, 1, 0, 3)
			pause = min(3*pause, 10*time.Minute)
		}
		k.jump(pause + 3*time.Second)
		k.recover(t)
		if w, d := k.left(t); w != 0 || d != 1 || k.deadLetters != 1 {
			t.Fatalf("after ten attempts %d wait, %d are dead and %d were reported", w, d, k.deadLetters)
		}
		k.jump(time.Hour)
		k.recover(t)
		if w, d := k.left(t); w != 0 || d != 1 || k.deadLetters != 1 {
			t.Fatalf("the dead entry was tried: %d wait, %d are dead", w, d)
		}
		testenv.NoError(t, redis.Do(t.Context(), "DEL", key).Err())
		k.setRebuildable(true)
		testenv.Eventually(t, 20*time.Second, func() bool {
			// The rebuild requested above may still be running, because the jumps of the clock have ended its claim.
			if err := k.syncer.Rebuild(t.Context(), k.scope); err != nil && !errors.Is(err, stock.ErrSuperseded) {
				t.Fatal(err)
			}
			w, d := k.left(t)
			return w+d == 0 && k.held(t) == 8
		})
	})
}

// A dead entry whose cause was fixed is tried again.
func TestSyncer_retries_revived_entry(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		redis := redisdbtest.Redis(t)
		k := newSyncerFixtureOn(t, db, redis, 100)
		entry := k.commit(t, k.hold(5))[0]
		l := stocksql.New(db)
		died := queue.Failure{ID: entry.ID, Attempts: 1, Due: time.Now(), Dead: true, Reason: errLasting.Error()}
		for range 2 { // two processes try the same entry, which counts as one attempt
			testenv.NoError(t, l.RecordFailures(t.Context(), time.Now(), died))
		}
		k.jump(time.Minute)
		k.wantLeft(t, 0, 1, 0)
		testenv.Equal(t, 0, testenv.Must(l.RetryDead(t.Context(), "another"))(t))
		testenv.Equal(t, 1, testenv.Must(l.RetryDead(t.Context(), entry.ID))(t))
		k.wantLeft(t, 0, 0, 5)
	})
}

var corruptEntry = sqldb.Load(fstest.MapFS{"it.sql": {Data: []byte(`UPDATE redis_outbox SET ops = '[' WHERE id = $1`)}}).Must("it")

// A row that was edited by hand blocks no other.
func TestSyncer_survives_unreadable_entry(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		redis := redisdbtest.Redis(t)
		k := newSyncerFixtureOn(t, db, redis, 100)
		first := k.commit(t, k.hold(5))[0]
		k.commit(t, k.hold(1))
		testenv.Must(db.Exec(t.Context(), corruptEntry, first.ID))(t)
		k.jump(time.Minute)
		k.wantLeft(t, 1, 0, 1)
	})
}

// An outage of Redis, full memory or an unknown scope uses up no attempts of an entry.
func TestSyncer_outage_costs_no_attempts(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		redis, server := redisdbtest.Real(t)
		k := newSyncerFixtureOn(t, db, redis, 100)
		k.setRebuildable(false)
		k.commit(t, k.hold(5))
		k.jump(time.Minute)
		attempts := func(when string) {
			t.Helper()
			k.recover(t)
			entries, err := stocksql.New(db).Unapplied(t.Context(), time.Now().Add(time.Hour), "", 10)
			if err != nil || len(entries) != 1 || entries[0].Attempts != 0 {
				t.Errorf("entries %s = %+v, %v, want one without attempts", when, entries, err)
			}
		}
		setMemory(t, server.Addr(), "1")
		attempts("full")
		setMemory(t, server.Addr(), "0")
		testenv.Must(k.gate.BeginRebuild(t.Context(), k.scope))(t)
		attempts("unknown")
		server.Kill()
		attempts("gone")
	})
}

// setMemory limits a server's memory; 0 removes the limit.
func setMemory(t *testing.T, addr, bytes string) {
	t.Helper()
	conn := testenv.Must(net.Dial("tcp", addr))(t)
	defer func() { _ = conn.Close() }()
	testenv.Must(fmt.Fprintf(conn, "CONFIG SET maxmemory %s\r\n", bytes))(t)
	testenv.Equal(t, "+OK\r\n", testenv.Must(bufio.NewReader(conn).ReadString('\n'))(t))
}

// If a scope cannot be rebuilt and its entries fill more than a page, entries of other scopes are still replayed.
func TestSyncer_replays_past_a_stuck_scope(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		redis := redisdbtest.Redis(t)
		k := newSyncerFixtureOn(t, db, redis, 100)
		k.setRebuildable(false)
		stuck := k.scope
		stuck.Branch = 99
		k.queue(t, 1200, stuck)
		k.commit(t, k.hold(5))
		k.jump(time.Minute)
		k.wantLeft(t, 1200, 0, 5)
	})
}

// The stock of a branch is reconciled like the quotas of a day: a lasting difference is reported and repaired.
func TestSyncer_repairs_stock_drift(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, redis *redisdb.DB) {
		k := newSyncerFixture(t, redis, 10)
		reservations := stocksql.NewReservations(k.db, k.syncer, time.Now)
		defer reservations.Stop()
		flour := stock.Adjustment{Branch: 1, SKU: "flour", Kind: stock.Received, Units: 10, Create: true}
		level := testenv.Must(reservations.Adjust(t.Context(), authz.System(), flour))(t)
		scope := stock.StockScope(1)
		testenv.NoError(t, k.syncer.Rebuild(t.Context(), scope))
		stray := stock.Hold{ID: stock.HoldID("stray"), Scope: scope, Lines: []stock.Line{{Item: level.ID, Qty: 4}}}
		testenv.Must(k.gate.Apply(t.Context(), []stock.Op{{Kind: stock.OpHeld, Hold: stray}}))(t)
		for range 2 {
			k.jump(time.Second) // rebuilds have a minimum interval
			if err := k.syncer.Reconcile(t.Context()); err != nil || k.drift != 4 {
				t.Fatalf("the watch saw %d units, %v", k.drift, err)
			}
		}
		testenv.Eventually(t, 10*time.Second, func() bool {
			counts, ok, err := k.gate.Counts(t.Context(), scope, []int64{level.ID})
			return err == nil && ok && len(counts) == 1 && counts[0] == stock.Count{Item: level.ID, Cap: 10}
		})
	})
}

// queue writes entries without passing them to any process.
func (k *syncerFixture) queue(t *testing.T, n int, s stock.Scope) {
	t.Helper()
	testenv.NoError(t, k.db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
		for range n {
			h := k.hold(1)
			h.Scope = s
			ops := []stock.Op{{Kind: stock.OpHeld, Hold: h}}
			id := func() string { return uid.New(time.Now()) }
			if _, err := stocksql.QueueOps(tx, ops, id, time.Now().UnixMilli()); err != nil {
				return err
			}
		}
		return nil
	}))
}
