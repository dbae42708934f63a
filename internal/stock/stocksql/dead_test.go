package stocksql_test

import (
	"testing"
	"time"

	"comanda/internal/ordering/orderingtest"
	"comanda/internal/queue"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
)

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
