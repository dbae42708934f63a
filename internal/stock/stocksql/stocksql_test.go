package stocksql_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/ordering/orderingtest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
)

func TestStatements(t *testing.T) { sqldbtest.PrepareAll(t, stocksql.Statements) }

var (
	scope = stock.Scope{Branch: 1, Date: "2026-02-26"}
	now   = time.UnixMilli(1_772_000_000_000).UTC()
)

// enter writes holds and their counters as the ledger does.
func enter(t *testing.T, db *sqldb.DB, holds ...stocksql.NewHold) {
	t.Helper()
	counters := stocksql.NewCounters(db)
	for _, h := range holds {
		if err := counters.Ensure(t.Context(), h.Hold); err != nil {
			t.Fatal(err)
		}
	}
	err := db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
		book := stock.NewBook()
		plain := make([]stock.Hold, len(holds))
		for i, h := range holds {
			plain[i] = h.Hold
		}
		stocksql.QueueLock(tx, stocksql.KeysOf(plain), book)
		if err := tx.Flush(ctx); err != nil {
			return err
		}
		for _, h := range holds {
			if outcome, short := book.Take(h.Hold, h.State); outcome != stock.Changed {
				t.Fatalf("take: %d, %v", outcome, short)
			}
		}
		stocksql.QueueDeltas(tx, book)
		stocksql.QueueHolds(tx, holds, now.UnixMilli())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func held(id string, lines ...stock.Line) stocksql.NewHold {
	return stocksql.NewHold{Hold: stock.Hold{ID: id, Scope: scope, Lines: lines, Until: now}, State: stock.Held}
}

// The image is what the gate is rebuilt from; what waited in redis_outbox is part of it and goes with it.
func TestLedger_Image(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		orderingtest.Open(t, db, 1, 10, stock.Unlimited)
		l := stocksql.New(db)
		a, b := held("a", stock.Line{Item: 101, Qty: 2}), held("b", stock.Line{Item: 101, Qty: 1}, stock.Line{Item: 102, Qty: 3})
		enter(t, db, a, b)
		err := db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
			stocksql.QueueMoves(tx, []stocksql.Move{{ID: "a", Was: stock.Held, Now: stock.Released, Reason: "EXPIRED"}}, now.UnixMilli())
			_, err := stocksql.QueueOps(tx, []stock.Op{{Kind: stock.OpHeld, Hold: b.Hold}}, func() string { return "e1" }, now.UnixMilli())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		entries, err := l.Unapplied(t.Context(), now, "", 10)
		if err != nil || len(entries) != 1 || !cmp.Equal(entries[0].Ops[0].Hold, b.Hold) {
			t.Fatalf("entries %+v, %v", entries, err)
		}
		image, err := l.Image(t.Context(), scope, now.Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		want := stock.Image{
			Scope:  scope,
			Counts: []stock.Count{{Item: 101, Cap: 10, Held: 3}, {Item: 102, Cap: stock.Unlimited, Held: 3}},
			Holds:  []stock.HoldState{{Hold: a.Hold, State: stock.Released}, {Hold: b.Hold, State: stock.Held}},
		}
		if diff := cmp.Diff(want, image); diff != "" {
			t.Error(diff)
		}
		if n, _, err := l.Backlog(t.Context(), now); n != 0 || err != nil {
			t.Errorf("%d entries are left, %v", n, err)
		}
		image, err = l.Image(t.Context(), scope, now.Add(time.Hour))
		if err != nil || len(image.Holds) != 1 {
			t.Errorf("an hour later the image has %d holds, %v", len(image.Holds), err)
		}
	})
}

// A step that does not find the state which was seen under the lock undoes everything.
func TestQueueMoves_expectsTheState(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		orderingtest.Open(t, db, 1, 10)
		enter(t, db, held("a", stock.Line{Item: 101, Qty: 2}))
		move := func() error {
			return db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
				stocksql.QueueMoves(tx, []stocksql.Move{{ID: "a", Was: stock.Held, Now: stock.Confirmed}}, 1)
				return nil
			})
		}
		if err := move(); err != nil {
			t.Fatal(err)
		}
		if err := move(); err == nil {
			t.Error("a hold was confirmed twice")
		}
	})
}

// I12: a lease is buried in SQL first; an order that comes late with its id fails there.
func TestLedger_Bury(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		orderingtest.Open(t, db, 1, 10)
		l := stocksql.New(db)
		ordered := held("ordered", stock.Line{Item: 101, Qty: 2})
		enter(t, db, ordered)
		late := stock.Hold{ID: "late", Scope: scope, Lines: []stock.Line{{Item: 101, Qty: 1}}}
		for range 2 {
			states, err := l.Bury(t.Context(), []stock.Hold{late, ordered.Hold}, now)
			if err != nil || len(states) != 2 || states[0].State != stock.Released || states[1].State != stock.Held {
				t.Fatalf("%+v, %v", states, err)
			}
		}
		err := db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
			stocksql.QueueHolds(tx, []stocksql.NewHold{{Hold: late, State: stock.Held}}, 1)
			return nil
		})
		if err == nil {
			t.Error("a buried lease was held after all")
		}
	})
}

func TestLedger_ClaimRebuild(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		l := stocksql.New(db)
		claim := func(at time.Time) bool {
			t.Helper()
			ok, err := l.ClaimRebuild(t.Context(), scope, at, at.Add(time.Second))
			if err != nil {
				t.Fatal(err)
			}
			return ok
		}
		if !claim(now) || claim(now) {
			t.Error("one of two may rebuild")
		}
		if !claim(now.Add(2 * time.Second)) {
			t.Error("a rebuild that was given up is taken over")
		}
		if err := l.EndRebuild(t.Context(), scope, "epoch"); err != nil {
			t.Fatal(err)
		}
		scopes, err := l.Scopes(t.Context(), "2026-01-01")
		if err != nil || scopes[scope] != "epoch" {
			t.Errorf("%v, %v", scopes, err)
		}
	})
}

func TestSetCap(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := orderingtest.Open(t, db, 1, 10)
		enter(t, db, held("a", stock.Line{Item: 101, Qty: 5}))
		r.SetQuota(t, 101, 2, scope.Date, now) // below what is held: it only stops new holds
		if diff := cmp.Diff([]stock.Count{{Item: 101, Cap: 2, Held: 5}}, r.Counts(t)); diff != "" {
			t.Error(diff)
		}
		entries, err := stocksql.New(db).Unapplied(t.Context(), now, "", 10)
		if err != nil || len(entries) != 1 || entries[0].Ops[0].Kind != stock.OpCap || entries[0].Ops[0].Hold.Lines[0].Qty != 2 {
			t.Errorf("%+v, %v", entries, err)
		}
		r.SetQuota(t, 101, stock.Unlimited, scope.Date, now)
		if diff := cmp.Diff([]stock.Count{{Item: 101, Cap: -1, Held: 5}}, r.Counts(t)); diff != "" {
			t.Error(diff)
		}
	})
}

// The checker finds a counter that was tampered with.
func TestLedger_Drift(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		orderingtest.Open(t, db, 1, 10)
		enter(t, db, held("a", stock.Line{Item: 101, Qty: 5}))
		l := stocksql.New(db)
		if found, err := l.Drift(t.Context(), scope.Date); err != nil || len(found) != 0 {
			t.Fatalf("%v, %v", found, err)
		}
		err := db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
			stocksql.QueueMoves(tx, []stocksql.Move{{ID: "a", Was: stock.Held, Now: stock.Confirmed}}, 1)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if found, err := l.Drift(t.Context(), scope.Date); err != nil || len(found) != 1 {
			t.Errorf("a counter that its holds contradict: %v, %v", found, err)
		}
	})
}
