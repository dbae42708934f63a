package stocksql_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/ordering/orderingtest"
	"comanda/internal/queue"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
)

func TestStatements(t *testing.T) { sqldbtest.PrepareAll(t, stocksql.Statements) }

var (
	scope = stock.Scope{Branch: 1, Date: "2026-02-26"}
	now   = time.UnixMilli(1_772_000_000_000).UTC()
)

// loadHolds writes holds and their counters as SQL does.
func loadHolds(t *testing.T, db *sqldb.DB, holds ...stock.NewHold) {
	t.Helper()
	counters := stocksql.NewCounters(db)
	for _, h := range holds {
		testenv.NoError(t, counters.Ensure(t.Context(), h.Hold))
	}
	testenv.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
		balances := stock.NewBalances()
		plain := make([]stock.Hold, len(holds))
		for i, h := range holds {
			plain[i] = h.Hold
		}
		stocksql.QueueLock(tx, stocksql.KeysOf(plain), balances)
		if err := tx.Flush(ctx); err != nil {
			return err
		}
		for _, h := range holds {
			if outcome, short := balances.Reserve(h.Hold, h.State); outcome != stock.Applied {
				t.Fatalf("take: %d, %v", outcome, short)
			}
		}
		stocksql.QueueDeltas(tx, balances)
		stocksql.QueueHolds(tx, holds, now.UnixMilli())
		return nil
	}))
}

func held(id string, lines ...stock.Line) stock.NewHold {
	return stock.NewHold{Hold: stock.Hold{ID: id, Scope: scope, Lines: lines, Until: now}, State: stock.Held}
}

// A rebuild reads all holds that are open or ended recently, and then those that changed meanwhile according to their
// outbox entries. It deletes entries that were queued before it.
func TestStore_Snapshot(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		orderingtest.Open(t, db, 1, 10, stock.Unlimited)
		l := stocksql.New(db)
		a, b := held("a", stock.Line{Item: 101, Qty: 2}), held("b", stock.Line{Item: 101, Qty: 1}, stock.Line{Item: 102, Qty: 3})
		loadHolds(t, db, a, b)
		change := func(entry string, ops ...stock.Op) {
			testenv.NoError(t, db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
				_, err := stocksql.QueueOps(tx, ops, func() string { return entry }, now.UnixMilli())
				return err
			}))
		}
		read := func(since time.Time) (all []stock.HoldState) {
			testenv.NoError(t, l.ReadHolds(t.Context(), scope, since, func(page []stock.HoldState) error {
				all = append(all, page...)
				return nil
			}))
			return all
		}
		change("e1", stock.Op{Kind: stock.OpHeld, Hold: a.Hold}, stock.Op{Kind: stock.OpHeld, Hold: b.Hold})
		entries, err := l.Unapplied(t.Context(), now, "", 10)
		if err != nil || len(entries) != 1 || !cmp.Equal(entries[0].Ops[1].Hold, b.Hold) {
			t.Fatalf("entries %+v, %v", entries, err)
		}
		testenv.NoError(t, l.PrepareRebuild(t.Context(), scope))
		testenv.Equal(t, 0, testenv.Must(l.Backlog(t.Context(), now))(t).Pending)
		both := []stock.HoldState{{Hold: a.Hold, State: stock.Held}, {Hold: b.Hold, State: stock.Held}}
		if diff := cmp.Diff(both, read(now.Add(time.Hour))); diff != "" {
			t.Error("what is held is read however old it is", diff)
		}
		testenv.NoError(t, db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
			stocksql.QueueTransitions(tx, []stock.Transition{{ID: "a", From: stock.Held, To: stock.Released, Reason: "EXPIRED"}}, now.UnixMilli())
			return nil
		}))
		released := stock.HoldState{Hold: a.Hold, State: stock.Released}
		if diff := cmp.Diff([]stock.HoldState{released, both[1]}, read(now)); diff != "" {
			t.Error("what has ended lately is read", diff)
		}
		testenv.Equal(t, both[1:], read(now.Add(time.Second)))
		change("e2", stock.Op{Kind: stock.OpCancel, Hold: a.Hold})
		change("e3", stock.Op{Kind: stock.OpCap, Hold: stock.Hold{Scope: scope, Lines: []stock.Line{{Item: 101, Qty: 10}}}})
		image, entries2, more, err := l.Snapshot(t.Context(), scope, 10)
		want := stock.ScopeSnapshot{
			Scope: scope, Holds: []stock.HoldState{released},
			Counts: []stock.Count{{Item: 101, Cap: 10, Held: 3}, {Item: 102, Cap: stock.Unlimited, Held: 3}},
		}
		if diff := cmp.Diff(want, image) + cmp.Diff([]string{"e2", "e3"}, entries2); err != nil || more || diff != "" {
			t.Error(err, diff)
		}
		if _, page, more, err := l.Snapshot(t.Context(), scope, 1); err != nil || !more || !slices.Equal(page, []string{"e2"}) {
			t.Errorf("the first entry is %v, %v", page, err)
		}
	})
}

// One process rebuilds a scope at a time. The next may begin when the claim of the first has expired, or shortly after
// it has finished.
func TestStore_ClaimRebuild(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		l := stocksql.New(db)
		claim := func(at, until time.Time, wantFree time.Time) {
			t.Helper()
			claimed, free, err := l.ClaimRebuild(t.Context(), scope, at, until)
			if err != nil || claimed != wantFree.IsZero() || !claimed && !free.Equal(wantFree) {
				t.Fatalf("mine %t, free at %v, %v; want %v", claimed, free, err, wantFree)
			}
		}
		renew := func(heldUntil, until time.Time, want bool) {
			t.Helper()
			testenv.Equal(t, want, testenv.Must(l.RenewRebuild(t.Context(), scope, heldUntil, until))(t))
		}
		end := func(heldUntil time.Time, epoch string, next time.Time) {
			t.Helper()
			testenv.NoError(t, l.EndRebuild(t.Context(), scope, heldUntil, epoch, next))
		}
		at := func(s int) time.Time { return now.Add(time.Duration(s) * time.Second) }
		claim(at(0), at(5), time.Time{})
		claim(at(1), at(6), at(5).Add(time.Millisecond))
		renew(at(5), at(8), true)
		renew(at(5), at(9), false)
		claim(at(6), at(11), at(8).Add(time.Millisecond))
		claim(at(9), at(14), time.Time{}) // the first process hung
		end(at(8), "theirs", at(20))      // and ends its claim too late
		end(at(14), "mine", at(19))
		claim(at(18), at(30), at(19))
		claim(at(19), at(30), time.Time{})
		setBack := at(30).Add(-time.Hour) // the clock was set back; the claim must not last an hour longer
		claim(setBack, setBack.Add(5*time.Second), time.Time{})
		claim(setBack, setBack.Add(5*time.Second), setBack.Add(5*time.Second+time.Millisecond))
		testenv.Equal(t, "mine", testenv.Must(l.Scopes(t.Context(), "2000-01-01"))(t)[scope])
		testenv.NoError(t, l.ResetRebuilds(t.Context(), "2000-01-01")) // a process has started
		renew(setBack.Add(5*time.Second), setBack.Add(6*time.Second), false)
		claim(setBack, setBack.Add(5*time.Second), time.Time{})
		testenv.Equal(t, "", testenv.Must(l.Scopes(t.Context(), "2000-01-01"))(t)[scope])
	})
}

// A transition undoes everything if the state is no longer the one that was read under the lock.
func TestQueueTransitions_expects_state(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		orderingtest.Open(t, db, 1, 10)
		loadHolds(t, db, held("a", stock.Line{Item: 101, Qty: 2}))
		move := func() error {
			return db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
				stocksql.QueueTransitions(tx, []stock.Transition{{ID: "a", From: stock.Held, To: stock.Confirmed}}, 1)
				return nil
			})
		}
		testenv.NoError(t, move())
		if err := move(); err == nil {
			t.Error("a hold was confirmed twice")
		}
	})
}

// I12: a provisional hold gets a tombstone in SQL first, so that an order that arrives later with its id is refused.
func TestStore_TombstoneProvisional(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		orderingtest.Open(t, db, 1, 10)
		l := stocksql.New(db)
		ordered := held("ordered", stock.Line{Item: 101, Qty: 2})
		loadHolds(t, db, ordered)
		late := stock.Hold{ID: "late", Scope: scope, Lines: []stock.Line{{Item: 101, Qty: 1}}}
		for range 2 {
			states, err := l.TombstoneProvisional(t.Context(), []stock.Hold{late, ordered.Hold}, now)
			if err != nil || len(states) != 2 || states[0].State != stock.Released || states[1].State != stock.Held {
				t.Fatalf("TombstoneProvisional = %+v, %v, want RELEASED and HELD", states, err)
			}
		}
		err := db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
			stocksql.QueueHolds(tx, []stock.NewHold{{Hold: late, State: stock.Held}}, 1)
			return nil
		})
		if err == nil {
			t.Error("a buried provisional hold was held after all")
		}
	})
}

func TestSetCap(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := orderingtest.Open(t, db, 1, 10)
		loadHolds(t, db, held("a", stock.Line{Item: 101, Qty: 5}))
		r.SetQuota(t, 101, 2, scope.Date, now) // below the held units, which only prevents new holds
		testenv.Equal(t, []stock.Count{{Item: 101, Cap: 2, Held: 5}}, r.Counts(t))
		entries, err := stocksql.New(db).Unapplied(t.Context(), now, "", 10)
		if err != nil || len(entries) != 1 || entries[0].Ops[0].Kind != stock.OpCap || entries[0].Ops[0].Hold.Lines[0].Qty != 2 {
			t.Errorf("Unapplied = %+v, %v, want one new cap of 2", entries, err)
		}
		r.SetQuota(t, 101, stock.Unlimited, scope.Date, now)
		testenv.Equal(t, []stock.Count{{Item: 101, Cap: -1, Held: 5}}, r.Counts(t))

		// A counter of a later date exists if the start of the business day was changed or the clock was set back.
		r.SetQuota(t, 101, 3, "2099-12-31", now)
		r.SetQuota(t, 101, 4, scope.Date, now)
		testenv.Equal(t, []stock.Count{{Item: 101, Cap: 4, Held: 5}, {Item: 101, Cap: 4}}, r.Counts(t))
	})
}

// Drift reports a counter that was tampered with.
func TestStore_Drift(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		orderingtest.Open(t, db, 1, 10)
		loadHolds(t, db, held("a", stock.Line{Item: 101, Qty: 5}))
		l := stocksql.New(db)
		if found, err := l.Drift(t.Context(), scope.Date); err != nil || len(found) != 0 {
			t.Fatalf("Drift = %v, %v, want none", found, err)
		}
		testenv.NoError(t, db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
			stocksql.QueueTransitions(tx, []stock.Transition{{ID: "a", From: stock.Held, To: stock.Confirmed}}, 1)
			return nil
		}))
		if found, err := l.Drift(t.Context(), scope.Date); err != nil || len(found) != 1 {
			t.Errorf("a counter that its holds contradict: %v, %v", found, err)
		}
	})
}

// Dead entries are listed with their cause, newest first. Entries that are still retried are not listed.
func TestStore_DeadLetters(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := orderingtest.Open(t, db, 1, 10, 10, 10)
		l := stocksql.New(db)
		for i, item := range r.Items {
			r.SetQuota(t, item, 2, scope.Date, now.Add(time.Duration(i)*time.Second))
		}
		entries, err := l.Unapplied(t.Context(), now.Add(time.Hour), "", 10)
		if err != nil || len(entries) != 3 {
			t.Fatalf("Unapplied = %+v, %v, want three entries", entries, err)
		}
		for i, e := range entries[:2] {
			died := queue.Failure{ID: e.ID, Attempts: 1, Due: now, Dead: true, Reason: "no"}
			testenv.NoError(t, l.RecordFailures(t.Context(), now.Add(time.Duration(i)*time.Minute), died))
		}
		page, total, err := l.DeadLetters(t.Context(), "", 1, 0)
		if err != nil || total != 2 || len(page) != 1 {
			t.Fatalf("DeadLetters: total %d, page %+v, error %v, want one of two", total, page, err)
		}
		if e := page[0]; e.ID != entries[1].ID || e.Branch != scope.Branch || e.About != "scope:"+scope.Date || e.Reason != "no" || len(e.Payload) == 0 || !e.DiedAt.Equal(now.Add(time.Minute)) {
			t.Errorf("dead letter = %+v, want the second entry, which died after a minute", e)
		}
		if page, total, err = l.DeadLetters(t.Context(), entries[0].ID, 10, 0); err != nil || total != 1 || page[0].ID != entries[0].ID {
			t.Errorf("DeadLetters by id: total %d, page %+v, error %v, want only the first entry", total, page, err)
		}
		if page, total, err = l.DeadLetters(t.Context(), entries[2].ID, 10, 0); err != nil || total != 0 || len(page) != 0 {
			t.Errorf("what is still tried: %d: %+v, %v", total, page, err)
		}
	})
}

// DriftOf returns the differences of one branch, or of all.
func TestStore_DriftOf(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		orderingtest.Open(t, db, 1)
		orderingtest.Open(t, db, 2)
		put(t, db, "hold", "quota", scope.Date, string(stock.Held), 0)
		put(t, db, "line", "quota", 7)
		put(t, db, "thing", int64(1), 2, "x", nil)
		put(t, db, "level", 2, int64(1), 5) // five units without an adjustment
		for branch, want := range map[int64]int{0: 2, 1: 1, 2: 1, 3: 0} {
			found, err := stocksql.New(db).DriftOf(t.Context(), branch, scope.Date)
			if len(found) != want || err != nil {
				t.Errorf("branch %d: %v, %v", branch, found, err)
			}
		}
	})
}

// With statistics, SQLite prefers to read the counters of a date first, and all rows of the statement for each of them.
func TestCounter_lock_reads_the_rows_first(t *testing.T) {
	t.Parallel()
	db := sqldbtest.SQLite(t)
	_, text, _ := strings.Cut(string(testenv.Must(os.ReadFile("counter.sql"))(t)), "-- name: counter_lock\n")
	text, _, _ = strings.Cut(text, "-- name:")
	stmts := sqldb.Load(fstest.MapFS{
		"fill.sql": {Data: []byte(`
			INSERT INTO sales_quota_counter (branch_id, stat_date, menu_item_id, slot_key, cap)
			SELECT 1, '2026-02-26', r.item, 'ALL_DAY', 10 FROM @rows($1: item int) AS r`)},
		"analyze.sql": {Data: []byte(`ANALYZE`)},
		"explain.sql": {Data: []byte("EXPLAIN QUERY PLAN " + text[strings.Index(text, "SELECT"):])},
	})
	item := func(i int) int64 { return int64(i) }
	testenv.Must(db.Exec(t.Context(), stmts.Must("fill"), sqldb.NewRowSet(200).Int("item", item)))(t)
	testenv.Must(db.Exec(t.Context(), stmts.Must("analyze")))(t)
	keys := sqldb.NewRowSet(200).Int("branch_id", func(int) int64 { return 1 }).
		Text("stat_date", func(int) string { return "2026-02-26" }).Int("item", item)
	steps, err := sqldb.Collect(t.Context(), db, func(r sqldb.Rows) (step string, err error) {
		var id, parent, unused int64
		err = r.Scan(&id, &parent, &unused, &step)
		return step, err
	}, stmts.Must("explain"), keys)
	if err != nil || len(steps) == 0 || !strings.Contains(steps[0], "row_set") {
		t.Errorf("the plan is %q, %v; want row_set first", steps, err)
	}
}
