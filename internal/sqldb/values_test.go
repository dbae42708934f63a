package sqldb_test

import (
	"testing"
	"time"

	"comanda/internal/sqldb"
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
		if rows.Len() != 2 {
			t.Errorf("%d rows, want 2", rows.Len())
		}
	}
}
