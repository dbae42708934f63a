package sqldb_test

import (
	"testing"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

func TestInstant(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 2, 26, 12, 0, 0, 5_000_000, time.UTC)
	if got := sqldb.Instant(noon.UnixMilli()); got != noon {
		t.Errorf("%v, want %v in UTC", got, noon)
	}
	if got := sqldb.NullInstant(sqldb.NullMillis(noon)); got != noon {
		t.Errorf("%v, want %v in UTC", got, noon)
	}
	if sqldb.NullMillis(time.Time{}) != nil || !sqldb.NullInstant(nil).IsZero() || !sqldb.Instant(0).IsZero() {
		t.Error("the zero time is not NULL, or NULL and 0 are not the zero time")
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	for _, rows := range []*sqldb.RowSet{sqldb.IDs([]int64{7, 8}), sqldb.IDs([]string{"a", "b"})} {
		testenv.Equal(t, 2, rows.Len())
	}
}

// Columns are converted alike by both engines, NULL included.
func TestRow_conversions(t *testing.T) {
	t.Parallel()
	type kinds struct {
		ID    int64
		At    time.Time
		Flag  bool
		Note  string
		Texts map[string]string
	}
	scan := sqldb.Row(func(k *kinds) []any {
		return []any{&k.ID, sqldb.Time(&k.At), sqldb.Bool(&k.Flag), sqldb.NullText(&k.Note), sqldb.JSON(&k.Texts)}
	})
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var got []kinds
		err := sqldb.Each(t.Context(), db, sqldb.Scanned(scan, func(k kinds) { got = append(got, k) }),
			stmts.Must("kinds_select"))
		if err == nil {
			t.Error("a column of broken JSON was read")
		}
		want := []kinds{
			{1, time.Date(2026, 2, 26, 12, 0, 0, 5_000_000, time.UTC), true, "dry", map[string]string{"en": "tea"}},
			{ID: 2, Texts: map[string]string{}},
		}
		testenv.Equal(t, want, got)
		var k kinds
		found, err := sqldb.Read(t.Context(), db,
			[]any{&k.ID, sqldb.Time(&k.At), sqldb.NullText(&k.Note), &k.Note, &k.Note}, stmts.Must("kinds_select"))
		if err == nil || found {
			t.Error("a number was read as text")
		}
	})
}
