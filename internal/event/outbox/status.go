package outbox

import (
	"context"
	"time"

	"comanda/internal/event/eventsql"
	"comanda/internal/queue"
	"comanda/internal/sqldb"
)

// Status is the state of the outbox for operators.
type Status struct {
	Pending          int64
	OldestAgeSeconds float64
	ByType           []queue.PendingCount
	Dead             []queue.DeadLetterCount
}

// ReadStatus counts pending events and dead letters. It needs no running relay, so the command line can call it. Its
// statements see slightly different moments. It groups all pending rows, so its cost grows with the backlog.
func ReadStatus(ctx context.Context, db *sqldb.DB) (Status, error) {
	s := Status{ByType: []queue.PendingCount{}, Dead: []queue.DeadLetterCount{}}
	oldest := int64(0)
	byType, err := sqldb.Collect(ctx, db, func(r sqldb.Rows) (p queue.PendingCount, err error) {
		var first int64
		err = r.Scan(&p.Type, &p.Events, &first)
		if oldest == 0 || first < oldest {
			oldest = first
		}
		return p, err
	}, stmt("outbox_count"))
	if err != nil {
		return s, err
	}
	for _, p := range byType {
		s.Pending += p.Events
	}
	if s.Pending > 0 {
		s.OldestAgeSeconds = max(0, db.Now().Sub(time.UnixMilli(oldest)).Seconds())
	}
	s.ByType = append(s.ByType, byType...)
	dead, err := eventsql.CountDeadLetters(ctx, db)
	s.Dead = append(s.Dead, dead...)
	return s, err
}

// replayStep is the maximum number of dead letters per transaction of a replay.
const replayStep = 500

// Replay moves the relay's dead letters back to the outbox with no attempts counted, and returns their number. The
// filter's consumer is ignored: dead letters of a consumer are replayed to that consumer only, by inbox.Inbox.Replay.
// Each page is one transaction: a letter is never in both tables or in neither.
func Replay(ctx context.Context, db *sqldb.DB, f eventsql.Filter) (replayed int, err error) {
	f.Consumer = ""
	for after := ""; ; {
		letters, err := eventsql.DeadLetters(ctx, db, f, after, replayStep)
		if err != nil || len(letters) == 0 {
			return replayed, err
		}
		after = letters[len(letters)-1].ID
		// Counted after the commit, because Write may run the function again.
		back := 0
		err = db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
			taken, err := eventsql.DeleteDeadLetters(ctx, tx, "", letters)
			back = len(taken)
			queueEntries(tx, entriesOf(taken))
			return err
		})
		if err != nil {
			return replayed, err
		}
		replayed += back
	}
}

func entriesOf(letters []eventsql.DeadLetter) []entry {
	rows := make([]entry, len(letters))
	for i, l := range letters {
		rows[i].Event = l.Event
	}
	return rows
}
