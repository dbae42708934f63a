package outbox

import (
	"context"
	"time"

	"comanda/internal/event/eventsql"
	"comanda/internal/sqldb"
)

// Status is the outbox as an operator sees it.
type Status struct {
	Pending          int64            `json:"pending"`
	OldestAgeSeconds float64          `json:"oldestAgeSeconds"`
	ByType           []Pending        `json:"byType"`
	Dead             []eventsql.Count `json:"dead"`
}

// Pending is what waits of one type.
type Pending struct {
	Type   string `json:"type"`
	Events int64  `json:"events"`
}

// ReadStatus counts what waits and what was given up. It needs no relay, so that the command line can ask.
func ReadStatus(ctx context.Context, db *sqldb.DB) (Status, error) {
	s := Status{ByType: []Pending{}, Dead: []eventsql.Count{}}
	oldest := int64(0)
	rows, err := db.Query(ctx, outboxCount)
	byType, err := sqldb.Collect(rows, err, func(r sqldb.Rows) (p Pending, err error) {
		var first int64
		err = r.Scan(&p.Type, &p.Events, &first)
		if oldest == 0 || first < oldest {
			oldest = first
		}
		return p, err
	})
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
	dead, err := eventsql.CountDead(ctx, db)
	s.Dead = append(s.Dead, dead...)
	return s, err
}

// replayStep bounds one transaction of a replay.
const replayStep = 500

// Replay puts the relay's dead letters back into the outbox, with all attempts before them. The filter's consumer is
// ignored: what one consumer could not apply is replayed to that consumer only, by inbox.
func Replay(ctx context.Context, db *sqldb.DB, f eventsql.Filter) (replayed int, err error) {
	f.Consumer = ""
	for after := ""; ; {
		letters, err := eventsql.DeadLetters(ctx, db, f, after, replayStep)
		if err != nil || len(letters) == 0 {
			return replayed, err
		}
		after = letters[len(letters)-1].ID
		back := 0
		err = db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
			taken, err := eventsql.Exhume(ctx, tx, "", letters)
			back = len(taken)
			queueEntries(tx, revived(taken))
			return err
		})
		if err != nil {
			return replayed, err
		}
		replayed += back
	}
}

func revived(letters []eventsql.DeadLetter) []entry {
	rows := make([]entry, len(letters))
	for i, l := range letters {
		rows[i].Event = l.Event
	}
	return rows
}
