package stockredis_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"comanda/internal/ordering/orderingtest"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stockredis"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

// Orders continue at every step of a rebuild, and earlier commits reach the cache late and more than once. Finally the
// cache has the counters and holds of SQL.
func TestSyncer_rebuilds_while_orders_continue(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		testenv.SequencesOf(t, testenv.Size(10, 100))
		redis := redisdbtest.Redis(t)
		branch := int64(500)
		rapid.Check(t, func(rt *rapid.T) {
			branch++
			orderingtest.Open(t, db, branch, 1000, stock.Unlimited)
			b := &busyRebuild{
				T: rt, db: db, ledger: stocksql.New(db), states: map[string]stock.State{}, way: map[string]int{},
				scope: stock.Scope{Branch: branch, Date: time.Now().UTC().Format(time.DateOnly)},
			}
			b.Cache = stockredis.New(redis, stockredis.Config{Now: time.Now, Timeout: 5 * time.Second})
			b.syncer = stock.NewSyncer(stock.SyncerConfig{
				Cache: b, Store: pausingStore{b.ledger, b.work}, Now: time.Now, RebuildInterval: -1, Log: slog.New(slog.DiscardHandler),
				EndOfDay: func(context.Context, stock.Scope) (time.Time, error) { return time.Now().Add(24 * time.Hour), nil },
			})
			defer b.syncer.Close()
			for range 3 {
				b.budget = 25
				b.work()
				testenv.NoError(rt, b.syncer.Rebuild(context.Background(), b.scope))
				b.work()
			}
			b.compare()
		})
	})
}

// busyRebuild commits changes in SQL at each read and write of a rebuild.
type busyRebuild struct {
	*rapid.T
	*stockredis.Cache

	db     *sqldb.DB
	ledger *stocksql.Store
	syncer *stock.Syncer
	scope  stock.Scope
	states map[string]stock.State
	late   []stock.Op     // committed, not yet applied to the cache
	way    map[string]int // how the cache receives a hold: at once, late or from redis_outbox; it may become later
	budget int            // number of changes left; afterwards the rebuild catches up, two entries at a time
}

// Load calls the cache's Load, with changes in SQL before and after it.
func (b *busyRebuild) Load(ctx context.Context, im stock.ScopeSnapshot) error {
	b.work()
	defer b.work()
	return b.Cache.Load(ctx, im)
}

// FinishRebuild calls the cache's FinishRebuild, with changes in SQL before it.
func (b *busyRebuild) FinishRebuild(ctx context.Context, im stock.ScopeSnapshot) error {
	b.work()
	return b.Cache.FinishRebuild(ctx, im)
}

// pausingStore is a store with changes in SQL before and after each read.
type pausingStore struct {
	*stocksql.Store

	work func()
}

func (i pausingStore) PrepareRebuild(ctx context.Context, s stock.Scope) error {
	i.work()
	defer i.work()
	return i.Store.PrepareRebuild(ctx, s)
}

func (i pausingStore) Snapshot(ctx context.Context, s stock.Scope, _ int) (stock.ScopeSnapshot, []string, bool, error) {
	i.work()
	defer i.work()
	return i.Store.Snapshot(ctx, s, 2) // every second entry is in the next part
}

// work changes some holds in SQL. The cache receives each change immediately, later, or only from redis_outbox.
func (b *busyRebuild) work() {
	n := min(b.budget, rapid.IntRange(0, 3).Draw(b.T, "changes"))
	b.budget -= n
	for range n {
		entries := b.change()
		for _, e := range entries { // each has one operation
			id := e.Ops[0].Hold.ID
			b.way[id] = max(b.way[id], rapid.IntRange(0, 2).Draw(b.T, "way"))
			switch b.way[id] {
			case 0:
				b.send(e)
			case 1:
				b.late = append(b.late, e.Ops...)
			}
		}
	}
	if rapid.Bool().Draw(b.T, "what is late arrives") && len(b.late) > 0 {
		testenv.Must(b.Apply(context.Background(), b.late))(b)
	}
}

// send applies an entry to the cache, as the process that committed it does, and deletes it if it was applied.
func (b *busyRebuild) send(e stock.OutboxEntry) {
	applied, err := b.Apply(context.Background(), e.Ops)
	if err == nil && !slices.Contains(applied, false) {
		err = b.ledger.DeleteQueued(context.Background(), []string{e.ID})
	}
	if err != nil {
		b.Fatal(err)
	}
}

// change is one transaction in SQL: a new hold, or a step of an existing one.
func (b *busyRebuild) change() (entries []stock.OutboxEntry) {
	ctx, now := context.Background(), time.Now()
	h := stock.Hold{ID: uid.New(now), Scope: b.scope, Until: now.Add(time.Hour), Lines: []stock.Line{
		{Item: b.scope.Branch*100 + 1, Qty: rapid.Int64Range(1, 3).Draw(b.T, "quantity")},
	}}
	known := slices.Sorted(maps.Keys(b.states))
	step := rapid.IntRange(0, 3).Draw(b.T, "step")
	if step > 0 && len(known) > 0 {
		h.ID = rapid.SampledFrom(known).Draw(b.T, "hold")
	}
	testenv.NoError(b, stocksql.NewCounters(b.db).Ensure(ctx, h))
	testenv.NoError(b, b.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		balances, before := stock.NewBalances(), b.states[h.ID]
		stocksql.QueueLock(tx, stocksql.KeysOf([]stock.Hold{h}), balances)
		if err := tx.Flush(ctx); err != nil {
			return err
		}
		if before == "" {
			if o, short := balances.Reserve(h, stock.Held); o != stock.Applied {
				return fmt.Errorf("take: %d, %v", o, short)
			}
			stocksql.QueueHolds(tx, []stock.NewHold{{Hold: h, State: stock.Held}}, now.UnixMilli())
			return b.end(ctx, tx, balances, stock.Op{Kind: stock.OpHeld, Hold: h}, stock.Held, &entries)
		}
		all, err := stocksql.Holds(ctx, tx, []string{h.ID})
		if err != nil {
			return err
		}
		balances.LoadHold(all[0].Hold, before)
		kind, becomes, act := stock.OpCancel, stock.Released, balances.Release
		switch {
		case before == stock.Held && step == 1:
			kind, becomes, act = stock.OpConfirm, stock.Confirmed, balances.Confirm
		case before == stock.Confirmed:
			kind, becomes, act = stock.OpReturn, stock.Returned, balances.Return
		}
		if act(h.ID) != stock.Applied {
			return nil // the hold has ended
		}
		stocksql.QueueTransitions(tx, []stock.Transition{{ID: h.ID, From: before, To: becomes}}, now.UnixMilli())
		return b.end(ctx, tx, balances, stock.Op{Kind: kind, Hold: all[0].Hold}, becomes, &entries)
	}))
	return entries
}

func (b *busyRebuild) end(
	ctx context.Context, tx sqldb.Tx, balances *stock.Balances, op stock.Op, becomes stock.State, entries *[]stock.OutboxEntry,
) (err error) {
	stocksql.QueueDeltas(tx, balances)
	*entries, err = stocksql.QueueOps(tx, []stock.Op{op}, func() string { return uid.New(time.Now()) }, time.Now().UnixMilli())
	if err == nil {
		err = tx.Flush(ctx)
	}
	b.states[op.Hold.ID] = becomes
	return err
}

// compare replays the entries that the cache has not received, and the late ones again, and compares the cache with
// SQL.
func (b *busyRebuild) compare() {
	ctx := context.Background()
	testenv.Must(b.Apply(ctx, b.late))(b)
	testenv.NoError(b, b.syncer.ReplayAll(ctx))
	truth := testenv.Must(b.ledger.Counts(ctx, b.scope))(b)
	shown, ok, err := b.ReadScope(ctx, b.scope)
	if err != nil || !ok {
		b.Fatalf("the scope is known: %t, %v", ok, err)
	}
	states, err := b.States(ctx, b.scope, shown.Epoch, slices.Collect(maps.Keys(b.states)))
	if diff := cmp.Diff(truth, shown.Counts) + cmp.Diff(b.states, states); err != nil || diff != "" {
		b.Fatal(err, diff)
	}
}

// A rebuild does not wait for orders: it finishes while another transaction holds the locks of the counters. SQLite has
// only one writer at a time.
func TestSyncer_rebuilds_without_locks(t *testing.T) {
	db := sqldbtest.Postgres(t)
	k := newSyncerFixtureOn(t, db, redisdbtest.Redis(t), 100)
	h := k.hold(5)
	k.commit(t, h)
	err := db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
		stocksql.QueueLock(tx, stocksql.KeysOf([]stock.Hold{h}), stock.NewBalances())
		if err := tx.Flush(ctx); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		return k.syncer.Rebuild(ctx, k.scope)
	})
	if err != nil || k.held(t) != 5 {
		t.Errorf("held %d, %v", k.held(t), err)
	}
}
