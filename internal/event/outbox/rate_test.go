package outbox

import (
	"context"
	"errors"
	"testing"
	"time"

	"comanda/internal/event"
	"comanda/internal/event/eventsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
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

// inventory-tcc 003-F3: the events of the last hour by state. Older ones do not count, except if they died in this hour.
func TestCountStates(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		since := db.Now().Add(-time.Hour)
		states := func() States { return testenv.Must(CountStates(t.Context(), db, since))(t) }
		testenv.Equal(t, States{}, states())

		events := paid(6)
		for i := range events {
			events[i].At = db.Now()
		}
		events[5].At = db.Now().Add(-2 * time.Hour)
		commit(t, db, events...)
		testenv.Equal(t, States{Waiting: 5}, states())

		// One event is refused, and another has been refused for the last time.
		refused := errors.New("refused")
		b := &broker{refuse: func(e event.Event) error {
			if e.ID == events[1].ID {
				return refused
			}
			return nil
		}}
		run(t, New(db, b, Options{}))
		testenv.Equal(t, States{Published: 4, Retrying: 1}, states())
		addDeadLetter(t, db, eventsql.DeadLetter{Event: events[0], Reason: "refused", DiedAt: db.Now()})
		testenv.Equal(t, States{Published: 3, Retrying: 1, Dead: 1}, states())

		// A consumer fails on an old event now, and failed on another one before this hour. Both were published.
		addDeadLetter(t, db, eventsql.DeadLetter{Event: events[5], Consumer: "daybook", Reason: "failed", DiedAt: db.Now()})
		addDeadLetter(t, db, eventsql.DeadLetter{Event: events[2], Consumer: "daybook", Reason: "failed", DiedAt: since.Add(-time.Second)})
		testenv.Equal(t, States{Published: 3, Retrying: 1, Dead: 2}, states())

		late := paid(2)
		for i := range late {
			late[i].At = db.Now()
		}
		commit(t, db, late...)
		testenv.Equal(t, States{Waiting: 2, Published: 3, Retrying: 1, Dead: 2}, states())
	})
}

func addDeadLetter(t *testing.T, db *sqldb.DB, letter eventsql.DeadLetter) {
	t.Helper()
	testenv.NoError(t, db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
		eventsql.InsertDeadLetters(tx, []eventsql.DeadLetter{letter})
		return nil
	}))
}
