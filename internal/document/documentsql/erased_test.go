package documentsql

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/document"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
)

// Rows that are erased together leave a tombstone each, one version on, and one row for the projector; those of a
// transaction that fails leave nothing.
func TestErased(t *testing.T) {
	now := time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)
	graves := sqldb.Load(fstest.MapFS{"graves.sql": {
		Data: []byte("SELECT entity, id, version, deleted_at FROM document_tombstone ORDER BY entity, id"),
	}}).Must("graves")
	failure := errors.New("after all not")
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		erase := func(fail error, rows ...Dead) {
			t.Helper()
			err := db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
				Erased(tx, now, "cartDetail", rows)
				return fail
			})
			if !errors.Is(err, fail) {
				t.Fatal(err)
			}
		}
		erase(failure, Dead{"9", 1})
		erase(nil)
		erase(nil, Dead{"5", 3}, Dead{"6", 1})
		erase(nil, Dead{"7", 9})
		rows, err := db.Query(t.Context(), graves)
		got, err := sqldb.Collect(rows, err, func(r sqldb.Rows) (s string, err error) {
			var entity, id string
			var version, at int64
			err = r.Scan(&entity, &id, &version, &at)
			return entity + " " + id + " " + strconv.FormatInt(version, 10) + " " + strconv.FormatInt(at-now.UnixMilli(), 10), err
		})
		if diff := cmp.Diff([]string{"cartDetail 5 4 0", "cartDetail 6 2 0", "cartDetail 7 10 0"}, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
		claimed, err := New(db).Claim(t.Context(), now, now.Add(time.Minute), 10)
		var told [][]string
		for _, c := range claimed {
			if c.Entity != document.CartDetail {
				t.Errorf("%v is told of", c.Entity)
			}
			told = append(told, c.IDs)
		}
		if diff := cmp.Diff([][]string{{"5", "6"}, {"7"}}, told); diff != "" || err != nil {
			t.Error(diff, err)
		}
	})
}
