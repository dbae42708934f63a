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

// Orders go on at every step of a rebuild, and what was committed before reaches the gate late and more than once. In the end the gate has the ledger's counters and the ledger's holds.
func TestGatekeeper_rebuildsWhileOrdersGoOn(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		testenv.SequencesOf(t, testenv.Size(10, 100))
		redis := redisdbtest.Redis(t)
		branch := int64(500)
		rapid.Check(t, func(rt *rapid.T) {
			branch++
			orderingtest.Open(t, db, branch, 1000, stock.Unlimited)
			b := &busyHouse{
				T: rt, db: db, ledger: stocksql.New(db), states: map[string]stock.State{}, way: map[string]int{},
				scope: stock.Scope{Branch: branch, Date: time.Now().UTC().Format(time.DateOnly)},
			}
			b.Gate = stockredis.New(redis, stockredis.Config{Now: time.Now, Patience: 5 * time.Second})
			b.keep = stock.NewGatekeeper(stock.GatekeeperConfig{
				Gate: b, Journal: interrupted{b.ledger, b.work}, Now: time.Now, Pause: -1, Log: slog.New(slog.DiscardHandler),
				Ends: func(context.Context, stock.Scope) (time.Time, error) { return time.Now().Add(24 * time.Hour), nil },
			})
			defer b.keep.Close()
			for range 3 {
				b.budget = 25
				b.work()
				if err := b.keep.Rebuild(context.Background(), b.scope); err != nil {
					rt.Fatal(err)
				}
				b.work()
			}
			b.compare()
		})
	})
}

// busyHouse decides in the ledger whenever the rebuild reads or writes something.
type busyHouse struct {
	*rapid.T
	*stockredis.Gate

	db     *sqldb.DB
	ledger *stocksql.Ledger
	keep   *stock.Gatekeeper
	scope  stock.Scope
	states map[string]stock.State
	late   []stock.Op     // committed, and still on their way
	way    map[string]int // how the gate hears of a hold: at once, late, from redis_outbox; it never goes back
	budget int            // changes until the rebuild is left alone: it catches up with two of them at a time
}

// Load is the gate's, with work before and after.
func (b *busyHouse) Load(ctx context.Context, im stock.Image) error {
	b.work()
	defer b.work()
	return b.Gate.Load(ctx, im)
}

// FinishRebuild is the gate's, with work before it.
func (b *busyHouse) FinishRebuild(ctx context.Context, im stock.Image) error {
	b.work()
	return b.Gate.FinishRebuild(ctx, im)
}

// interrupted is a journal with work before and after what it reads.
type interrupted struct {
	*stocksql.Ledger

	work func()
}

func (i interrupted) BeginImage(ctx context.Context, s stock.Scope) error {
	i.work()
	defer i.work()
	return i.Ledger.BeginImage(ctx, s)
}

func (i interrupted) Image(ctx context.Context, s stock.Scope, _ int) (stock.Image, []string, bool, error) {
	i.work()
	defer i.work()
	return i.Ledger.Image(ctx, s, 2) // each second entry is left to the next piece
}

// work changes some holds in the ledger. The gate hears of each change at once, later, or from redis_outbox only.
func (b *busyHouse) work() {
	n := min(b.budget, rapid.IntRange(0, 3).Draw(b.T, "changes"))
	b.budget -= n
	for range n {
		entries := b.change()
		for _, e := range entries { // of one operation
			id := e.Ops[0].Hold.ID
			b.way[id] = max(b.way[id], rapid.IntRange(0, 2).Draw(b.T, "way"))
			switch b.way[id] {
			case 0:
				b.tell(e)
			case 1:
				b.late = append(b.late, e.Ops...)
			}
		}
	}
	if rapid.Bool().Draw(b.T, "what is late arrives") && len(b.late) > 0 {
		if _, err := b.Apply(context.Background(), b.late); err != nil {
			b.Fatal(err)
		}
	}
}

// tell has the gate take an entry in as a process does that has just committed it; what it takes in is forgotten.
func (b *busyHouse) tell(e stock.Entry) {
	applied, err := b.Apply(context.Background(), e.Ops)
	if err == nil && !slices.Contains(applied, false) {
		err = b.ledger.Forget(context.Background(), []string{e.ID})
	}
	if err != nil {
		b.Fatal(err)
	}
}

// change is one transaction of the ledger: a new hold, or a step of one that is there.
func (b *busyHouse) change() (entries []stock.Entry) {
	ctx, now := context.Background(), time.Now()
	h := stock.Hold{ID: uid.New(now), Scope: b.scope, Until: now.Add(time.Hour), Lines: []stock.Line{
		{Item: b.scope.Branch*100 + 1, Qty: rapid.Int64Range(1, 3).Draw(b.T, "quantity")},
	}}
	known := slices.Sorted(maps.Keys(b.states))
	step := rapid.IntRange(0, 3).Draw(b.T, "step")
	if step > 0 && len(known) > 0 {
		h.ID = rapid.SampledFrom(known).Draw(b.T, "hold")
	}
	if err := stocksql.NewCounters(b.db).Ensure(ctx, h); err != nil {
		b.Fatal(err)
	}
	err := b.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		book, was := stock.NewBook(), b.states[h.ID]
		stocksql.QueueLock(tx, stocksql.KeysOf([]stock.Hold{h}), book)
		if err := tx.Flush(ctx); err != nil {
			return err
		}
		if was == "" {
			if o, short := book.Take(h, stock.Held); o != stock.Changed {
				return fmt.Errorf("take: %d, %v", o, short)
			}
			stocksql.QueueHolds(tx, []stocksql.NewHold{{Hold: h, State: stock.Held}}, now.UnixMilli())
			return b.end(ctx, tx, book, stock.Op{Kind: stock.OpHeld, Hold: h}, stock.Held, &entries)
		}
		all, err := stocksql.Holds(ctx, tx, []string{h.ID})
		if err != nil {
			return err
		}
		book.LoadHold(all[0].Hold, was)
		kind, becomes, act := stock.OpCancel, stock.Released, book.Release
		switch {
		case was == stock.Held && step == 1:
			kind, becomes, act = stock.OpConfirm, stock.Confirmed, book.Confirm
		case was == stock.Confirmed:
			kind, becomes, act = stock.OpReturn, stock.Returned, book.Return
		}
		if act(h.ID) != stock.Changed {
			return nil // it has ended
		}
		stocksql.QueueMoves(tx, []stocksql.Move{{ID: h.ID, Was: was, Now: becomes}}, now.UnixMilli())
		return b.end(ctx, tx, book, stock.Op{Kind: kind, Hold: all[0].Hold}, becomes, &entries)
	})
	if err != nil {
		b.Fatal(err)
	}
	return entries
}

func (b *busyHouse) end(
	ctx context.Context, tx sqldb.Tx, book *stock.Book, op stock.Op, becomes stock.State, entries *[]stock.Entry,
) (err error) {
	stocksql.QueueDeltas(tx, book)
	*entries, err = stocksql.QueueOps(tx, []stock.Op{op}, func() string { return uid.New(time.Now()) }, time.Now().UnixMilli())
	if err == nil {
		err = tx.Flush(ctx)
	}
	b.states[op.Hold.ID] = becomes
	return err
}

// compare replays what the gate has not heard of, and what is late once more.
func (b *busyHouse) compare() {
	ctx := context.Background()
	if _, err := b.Apply(ctx, b.late); err != nil {
		b.Fatal(err)
	}
	if err := b.keep.RecoverAll(ctx); err != nil {
		b.Fatal(err)
	}
	truth, err := b.ledger.Counts(ctx, b.scope)
	if err != nil {
		b.Fatal(err)
	}
	shown, ok, err := b.All(ctx, b.scope)
	if err != nil || !ok {
		b.Fatalf("the scope is known: %t, %v", ok, err)
	}
	states, err := b.States(ctx, b.scope, shown.Epoch, slices.Collect(maps.Keys(b.states)))
	if diff := cmp.Diff(truth, shown.Counts) + cmp.Diff(b.states, states); err != nil || diff != "" {
		b.Fatal(err, diff)
	}
}

// A rebuild waits for no order: it ends while another transaction has the counters locked. On SQLite there is one writer
// at a time anyway.
func TestGatekeeper_rebuildsWithoutALock(t *testing.T) {
	db := sqldbtest.Postgres(t)
	k := keptOn(t, db, redisdbtest.Redis(t), 100)
	h := k.hold(5)
	k.commit(t, h)
	err := db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
		stocksql.QueueLock(tx, stocksql.KeysOf([]stock.Hold{h}), stock.NewBook())
		if err := tx.Flush(ctx); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		return k.keep.Rebuild(ctx, k.scope)
	})
	if err != nil || k.held(t) != 5 {
		t.Errorf("held %d, %v", k.held(t), err)
	}
}
