package outbox

import (
	"context"
	"time"

	"comanda/internal/backoff"
	"comanda/internal/event/eventsql"
	"comanda/internal/sqldb"
)

// The pause after the n-th refusal is one second, tripled with each further refusal. Eight attempts span about a
// quarter of an hour, enough for operators to empty a full queue or declare a missing one.
var pauses = backoff.Policy{First: time.Second, Factor: 3, Max: 10 * time.Minute}

// settlement is the outcome of a batch.
type settlement struct {
	published int
	retried   []entry
	dead      []eventsql.DeadLetter
}

func (s settlement) len() int { return s.published + len(s.retried) + len(s.dead) }

// settle queues the statements that record the outcome of a batch: a refused event is stored in event_retry with its
// pause, and one that was refused too often becomes a dead letter. The caller moves the cursor past the batch, or deletes
// its rows of event_retry, in the same transaction (I7).
func (r *Relay) settle(tx sqldb.Tx, rows []entry, refused []error) settlement {
	s := settlement{}
	now := r.now()
	for i, row := range rows {
		cause := refusal(refused, i)
		if cause == nil {
			s.published++
			continue
		}
		row.attempts++
		if row.attempts >= maxAttempts {
			s.dead = append(s.dead, eventsql.DeadLetter{Event: row.Event, Reason: cause.Error(), DiedAt: now})
			continue
		}
		row.availableAt = now.Add(pauses.After(int(row.attempts))).UnixMilli()
		s.retried = append(s.retried, row)
	}
	queueRetries(tx, s.retried)
	eventsql.InsertDeadLetters(tx, s.dead)
	return s
}

// report updates metrics and logs after the settlement is committed. Before the commit they could count a batch that is
// rolled back.
func (r *Relay) report(ctx context.Context, s settlement) {
	r.metrics.published.Add(float64(s.published))
	r.metrics.refused.Add(float64(len(s.retried)))
	r.metrics.dead.Add(float64(len(s.dead)))
	if len(s.retried) > 0 {
		r.log.WarnContext(ctx, "events were refused and will be published again after a pause", "events", len(s.retried))
	}
	for _, l := range s.dead {
		r.log.ErrorContext(ctx, "event became a dead letter", "event_id", l.ID, "event_type", l.Type,
			"aggregate_id", l.AggregateID, "reason", l.Reason)
	}
}

// maxCounted bounds the cost of counting, whatever the size of the log.
const maxCounted = 10_000

// CountPublished returns the number of published events that were created since an instant, at most 10,000.
func CountPublished(ctx context.Context, db *sqldb.DB, since time.Time) (int64, error) {
	return sqldb.Scalar[int64](ctx, db, stmt("event_rate"), since.UnixMilli(), maxCounted)
}

// States counts the events of a period by their state.
type States struct {
	Waiting   int64 `json:"waiting" doc:"Not tried yet."`
	Published int64 `json:"published" doc:"Counted among the newest 50000 events."`
	Retrying  int64 `json:"retrying" doc:"Refused, and waiting for another attempt."`
	Dead      int64 `json:"dead" doc:"Became dead letters in this period, of the relay or of a consumer."`
}

// maxStates bounds the cost of CountStates, whatever the size of the log: fourteen events a second for an hour.
const maxStates = 50_000

// CountStates counts the events that were created since an instant by their state, in one statement. Events that became
// dead letters count by that instant, so that a failure of now is seen whatever the age of its event.
func CountStates(ctx context.Context, db *sqldb.DB, since time.Time) (States, error) {
	s, _, err := sqldb.One(ctx, db, func(r sqldb.Rows) (s States, err error) {
		return s, r.Scan(&s.Waiting, &s.Published, &s.Retrying, &s.Dead)
	}, stmt("event_states"), since.UnixMilli(), maxStates)
	s.Published = max(s.Published, 0) // refused events may be older than the newest maxStates
	return s, err
}
