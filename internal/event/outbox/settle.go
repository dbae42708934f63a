package outbox

import (
	"context"
	"time"

	"comanda/internal/event/eventsql"
	"comanda/internal/sqldb"
)

// The pause after the n-th refusal: a second, then three times as long each time. Eight attempts take a good
// quarter of an hour, in which a full queue is emptied or a missing one declared again.
const (
	firstPause = time.Second
	maxPause   = 10 * time.Minute
)

func pause(attempts int64) time.Duration {
	p := firstPause
	for ; attempts > 1 && p < maxPause; attempts-- {
		p *= 3
	}
	return min(p, maxPause)
}

// settlement is what became of a batch.
type settlement struct {
	published []entry
	again     []entry
	dead      []eventsql.DeadLetter
}

func (s settlement) len() int { return len(s.published) + len(s.again) + len(s.dead) }

// settle writes what became of rows that this transaction has deleted.
func (r *Relay) settle(tx sqldb.Tx, rows []entry, refused []error) settlement {
	s := settlement{published: make([]entry, 0, len(rows))}
	now := r.now()
	for i, row := range rows {
		cause := refusal(refused, i)
		if cause == nil {
			s.published = append(s.published, row)
			continue
		}
		row.attempts++
		if row.attempts >= maxAttempts {
			s.dead = append(s.dead, eventsql.DeadLetter{Event: row.Event, Reason: cause.Error(), DiedAt: now})
			continue
		}
		row.availableAt = now.Add(pause(row.attempts)).UnixMilli()
		s.again = append(s.again, row)
	}
	if len(s.published) > 0 {
		tx.Queue(logInsert, eventsql.RowSet(s.published, entry.fact), now.UnixMilli())
	}
	queueEntries(tx, s.again)
	eventsql.Bury(tx, s.dead)
	return s
}

// report tells the outside what a committed batch came to.
func (r *Relay) report(ctx context.Context, s settlement) {
	r.metrics.published.Add(float64(len(s.published)))
	r.metrics.refused.Add(float64(len(s.again)))
	r.metrics.dead.Add(float64(len(s.dead)))
	if len(s.again) > 0 {
		r.log.WarnContext(ctx, "events were refused and will be published again", "events", len(s.again))
	}
	for _, l := range s.dead {
		r.log.ErrorContext(ctx, "an event was given up", "event_id", l.ID, "event_type", l.Type,
			"aggregate_id", l.AggregateID, "reason", l.Reason)
	}
}
