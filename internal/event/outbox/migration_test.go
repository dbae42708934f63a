package outbox

import (
	"context"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/event"
	"comanda/internal/event/eventsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// migration is the number of the migration that made event_log the place of unpublished events.
const migration = 36

var previousStmts = sqldb.Load(fstest.MapFS{
	"waiting.sql": {Data: []byte(`SELECT id, attempts FROM outbox_events ORDER BY id`)},
	"logged.sql":  {Data: []byte(`SELECT id, created_at FROM event_log ORDER BY id`)},
})

// An event that is published, pending, refused or dead is so after a migration back to the previous version and again
// after the return.
func TestMigration_keeps_events(t *testing.T) {
	t.Parallel()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		events := paid(4)
		published, refused, dead, pending := events[0], events[1], events[2], events[3]
		commit(t, db, published, refused)
		clock := newManualClock()
		b := &broker{refuse: func(e event.Event) error {
			if e.ID == refused.ID {
				return errNacked
			}
			return nil
		}}
		r := New(db, b, Options{Now: clock.now})
		run(t, r)
		commit(t, db, pending)
		testenv.NoError(t, db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
			eventsql.InsertDeadLetters(tx, []eventsql.DeadLetter{{Event: dead, Reason: "nacked", DiedAt: noon}})
			return nil
		}))

		sqldbtest.MigrateBefore(t, db, migration)
		waiting := testenv.Must(sqldb.Map[string, int64](t.Context(), db, previousStmts.Must("waiting")))(t)
		if len(waiting) != 2 || waiting[refused.ID] != 1 {
			t.Errorf("the previous version has to publish %v, want %s after 1 attempt and %s", waiting, refused.ID, pending.ID)
		}
		if _, ok := waiting[pending.ID]; !ok {
			t.Errorf("the previous version does not publish the pending event %s", pending.ID)
		}
		logged := testenv.Must(sqldb.Map[string, int64](t.Context(), db, previousStmts.Must("logged")))(t)
		if len(logged) != 1 || logged[published.ID] != noon.UnixMilli() {
			t.Errorf("the previous version has published %v, want %s", logged, published.ID)
		}

		testenv.NoError(t, db.Migrate(t.Context()))
		want(t, db, 2, 1, 1)
		b.refuse, b.got = nil, nil
		clock.advance(pauses.Max + time.Minute)
		run(t, r)
		if len(b.got) != 2 || !sameEvent(b.got[0], refused) || !sameEvent(b.got[1], pending) {
			t.Errorf("published %v after the return, want %s and %s", b.ids(), refused.ID, pending.ID)
		}
		late := paid(1)[0]
		commit(t, db, late)
		run(t, r)
		if last := b.got[len(b.got)-1]; !sameEvent(last, late) {
			t.Errorf("published %v, want %s at the end", b.ids(), late.ID)
		}
	})
}
