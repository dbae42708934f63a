package sqldb_test

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"

	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

var pages = sqldb.Load(fstest.MapFS{
	"listed.sql": {Data: []byte("SELECT r.n FROM @rows($1: n int) AS r ORDER BY r.n LIMIT $2 OFFSET $3")},
})

// A page that contains the last row shows the total itself. Any other one needs the count, which may be older, but never below
// what the page shows.
func TestCountedPage(t *testing.T) {
	broken := errors.New("broken")
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for name, c := range map[string]struct {
			rows, limit, offset int
			count               int64
			countErr            error
			page                int
			total               int64
			counted             bool
		}{
			"none":                     {rows: 0, limit: 2},
			"one short page":           {rows: 1, limit: 2, page: 1, total: 1},
			"the last page":            {rows: 5, limit: 2, offset: 4, page: 1, total: 5},
			"a full page":              {rows: 5, limit: 2, count: 5, page: 2, total: 5, counted: true},
			"a full last page":         {rows: 4, limit: 2, offset: 2, count: 4, page: 2, total: 4, counted: true},
			"an older count":           {rows: 5, limit: 2, offset: 2, count: 1, page: 2, total: 4, counted: true},
			"behind the end":           {rows: 5, limit: 2, offset: 8, count: 5, total: 5, counted: true},
			"behind the end of none":   {rows: 0, limit: 2, offset: 8, counted: true},
			"a count that fails":       {rows: 5, limit: 2, countErr: broken, counted: true},
			"a count that is not used": {rows: 1, limit: 2, countErr: broken, page: 1, total: 1},
		} {
			counted := false
			page, total, err := sqldb.CountedPage(t.Context(), db, sqldb.Value[int64], func(context.Context) (int64, error) {
				counted = true
				return c.count, c.countErr
			}, pages.Must("listed"), c.limit, c.offset, numbersUpTo(c.rows))
			if c.counted && c.countErr != nil {
				if !errors.Is(err, broken) {
					t.Errorf("%s: error %v, want that of the count", name, err)
				}
				continue
			}
			testenv.NoError(t, err)
			if len(page) != c.page || total != c.total || counted != c.counted {
				t.Errorf("%s: %d rows of %d, counted %t; want %d of %d, %t", name, len(page), total, counted, c.page, c.total, c.counted)
			}
		}
	})
}

func numbersUpTo(n int) *sqldb.RowSet {
	return sqldb.NewRowSet(n).Int("n", func(i int) int64 { return int64(i) })
}
