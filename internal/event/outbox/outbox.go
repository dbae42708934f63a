package outbox

import (
	"context"
	"embed"
	"time"

	"comanda/internal/event"
	"comanda/internal/event/eventsql"
	"comanda/internal/sqldb"
	"comanda/internal/uid"
)

//go:embed *.sql
var files embed.FS

var stmts = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = stmts.Must

// Queue adds the insertion of events to the caller's transaction as a single statement. The events are due from the
// commit on, independent of any clock.
func Queue(tx sqldb.Tx, events []event.Event) {
	rows := make([]entry, len(events))
	for i, e := range events {
		rows[i].Event = e
	}
	queueEntries(tx, rows)
}

// entry is a row of outbox_events.
type entry struct {
	event.Event
	availableAt int64 // unix milliseconds; zero means immediately
	attempts    int64 // number of refusals of the event itself
}

func (e entry) event() event.Event { return e.Event }

func queueEntries(tx sqldb.Tx, rows []entry) {
	if len(rows) == 0 {
		return
	}
	tx.Queue(stmt("outbox_insert"), eventsql.RowSet(rows, entry.event).
		Int("available_at", func(i int) int64 { return rows[i].availableAt }).
		Int("attempts", func(i int) int64 { return rows[i].attempts }))
}

// scanEntry reads a row of outbox_take or outbox_select.
func scanEntry(r sqldb.Rows) (e entry, err error) {
	e.Event, err = eventsql.Scan(r, &e.availableAt, &e.attempts)
	return e, err
}

// purgeStep is the maximum number of rows per purging statement, so that a purge never blocks the writer for long.
const purgeStep = 2000

// PurgeLog deletes log entries of events published before an instant and returns their number. Ids ascend with creation
// time, so newer events are not scanned. Older events that were published late stay until they are old enough. Each
// page is deleted in a transaction of its own, so the purge may be interrupted at any point.
func PurgeLog(ctx context.Context, db *sqldb.DB, before time.Time) (purged int64, err error) {
	end := new(uid.Source).New(before)
	for last := ""; ; {
		first := last
		if last, err = sqldb.Scalar[string](ctx, db, stmt("log_page"), first, end, purgeStep); err != nil || last == "" {
			return purged, err
		}
		n, err := db.Exec(ctx, stmt("log_purge"), first, last, before.UnixMilli())
		purged += n
		if err != nil {
			return purged, err
		}
	}
}

// MoveDeadlines moves the instants at which events are tried again, because the deciding clock was set by as much. It
// returns how many there were. Rows that are due immediately have no instant and stay.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	return tx.Exec(ctx, stmt("outbox_deadline_move"), by.Milliseconds())
}
