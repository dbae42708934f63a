package outbox

import (
	"testing"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
)

func TestCountPublished(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		events := paid(3)
		for i := range events {
			events[i].At = db.Now()
		}
		commit(t, db, events...)
		before := db.Now().Add(-time.Second)
		n, err := CountPublished(t.Context(), db, before)
		if n != 0 || err != nil {
			t.Errorf("before: %d, %v", n, err)
		}
		run(t, New(db, &broker{}, Options{}))
		if n, err = CountPublished(t.Context(), db, before); n != 3 || err != nil {
			t.Errorf("afterwards: %d, %v", n, err)
		}
		if n, err = CountPublished(t.Context(), db, db.Now().Add(time.Minute)); n != 0 || err != nil {
			t.Errorf("in a minute: %d, %v", n, err)
		}
	})
}
