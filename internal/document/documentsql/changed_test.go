package documentsql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/testenv"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/document"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
)

// Deleted rows leave one tombstone for each entity. Together with the changed rows they leave one row for the
// projector. Both have the version after the last one. A transaction that fails leaves nothing.
func TestQueue(t *testing.T) {
	now := time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)
	graves := sqldb.Load(fstest.MapFS{"graves.sql": {
		Data: []byte("SELECT entity, dead, deleted_at FROM document_tombstone ORDER BY id"),
	}}).Must("graves")
	failure := errors.New("after all not")
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		queue := func(fail error, changes ...Change) {
			t.Helper()
			err := db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
				Queue(tx, now, changes...)
				return fail
			})
			testenv.ErrorIs(t, fail, err)
		}
		queue(failure, Change{Entity: "cart", IDs: []string{"8"}, Deleted: []Deletion{{"9", 1}}})
		queue(nil)
		queue(nil, Change{Entity: "cart"}, Change{Entity: "cartDetail", Deleted: []Deletion{{"5", 3}, {"6", 1}}})
		queue(nil, Change{Entity: "cartDetail", IDs: []string{"3"}, Deleted: []Deletion{{"7", 9}}},
			Change{Entity: "cart", Deleted: []Deletion{{"5", 1}}}, Change{Entity: "cartDetail", IDs: []string{"4"}})
		got, err := sqldb.Collect(t.Context(), db, func(r sqldb.Rows) (s string, err error) {
			var entity, dead string
			var at int64
			err = r.Scan(&entity, &dead, &at)
			return entity + " " + dead + " " + strconv.FormatInt(at-now.UnixMilli(), 10), err
		}, graves)
		want := []string{`cartDetail {"5":4,"6":2} 0`, `cartDetail {"7":10} 0`, `cart {"5":2} 0`}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
		claimed, err := New(db).Claim(t.Context(), now, now.Add(time.Minute), 10)
		slices.SortFunc(claimed, func(a, b document.Claimed) int { return strings.Compare(a.ID, b.ID) })
		queued := map[string][][]string{}
		for _, c := range claimed {
			queued[c.Entity.Name] = append(queued[c.Entity.Name], c.IDs, []string{fmt.Sprint(c.Deleted)})
		}
		lists := map[string][][]string{
			"cart":       {{"5"}, {"map[5:2]"}},
			"cartDetail": {{"5", "6"}, {"map[5:4 6:2]"}, {"3", "7", "4"}, {"map[7:10]"}},
		}
		if diff := cmp.Diff(lists, queued); diff != "" || err != nil {
			t.Error(diff, err)
		}
	})
}

// Each change is in one lane: orders and their lines in the first, everything else in the second. Neither lane waits for rows
// of the other, even if there are more than a claim takes.
func TestStore_Lanes(t *testing.T) {
	now := time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for i := range 5 {
			err := db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
				Queue(tx, now, Change{Entity: "order", IDs: []string{fmt.Sprint("o", i)}}, Change{Entity: "orderDetail", IDs: []string{fmt.Sprint("o", i)}})
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		err := db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
			Queue(tx, now, Change{Entity: "dish", IDs: []string{"7"}}, Change{Entity: "user", IDs: []string{"8"}})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		orders, others := New(db).Lanes()
		claim := func(from document.Outbox, most int) string {
			t.Helper()
			claimed, err := from.Claim(t.Context(), now, now.Add(time.Minute), most)
			if err != nil {
				t.Fatal(err)
			}
			names := map[string]int{}
			for _, c := range claimed {
				names[c.Entity.Name]++
			}
			return fmt.Sprint(names)
		}
		testenv.Equal(t, "map[dish:1 user:1]", claim(others, 4))
		if got := claim(orders, 6) + claim(orders, 6) + claim(orders, 6); got != "map[order:3 orderDetail:3]map[order:2 orderDetail:2]map[]" {
			t.Errorf("documents of orders: %s", got)
		}
	})
}

func TestStatements(t *testing.T) { sqldbtest.PrepareAll(t, stmts) }
