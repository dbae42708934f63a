package visitsql_test

import (
	"math"
	"testing"

	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
	"comanda/internal/visit/visitsql"
)

// An id of 64 bits is one of a branch that does not exist, and no failure of the statement.
func TestStore_Tables_of_an_unknown_branch(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		store := visitsql.New(db)
		for _, branch := range []int64{7, math.MaxInt32 + 1, math.MaxInt64} {
			if all := testenv.Must(store.Tables(t.Context(), branch))(t); len(all) != 0 {
				t.Errorf("branch %d has the tables %+v", branch, all)
			}
		}
	})
}
