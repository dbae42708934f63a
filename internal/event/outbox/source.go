package outbox

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"comanda/internal/backoff"
	"comanda/internal/event/eventsql"
	"comanda/internal/sqldb"
)

// source is one of the two places from which the relay takes events: the log, and the events that were refused before.
type source interface {
	// reserve prepares a publication outside of the transaction that removes the batch. It reports false if another relay
	// has moved on, so that the batch must not be published.
	reserve(ctx context.Context, db *sqldb.DB) (bool, error)
	// take removes a batch, which no other relay can take unless the transaction is rolled back. repeated states that some
	// of its events may have been published before.
	take(ctx context.Context, tx sqldb.Tx, now time.Time) (batch []entry, repeated bool, err error)
	// read returns a batch and leaves it in its place.
	read(ctx context.Context, db *sqldb.DB, now time.Time) ([]entry, error)
	// remove removes a batch that read has returned. It returns the entries, with their errors, that no other relay has
	// removed meanwhile.
	remove(ctx context.Context, tx sqldb.Tx, batch []entry, refused []error) ([]entry, []error, error)
}

// state is the state of the event tables before a batch.
type state struct {
	position       int64 // position of the last settled event
	publishedUntil int64 // events up to this position may have been published outside of the cursor's transaction
	readable       int64 // no event up to this position will become visible later
	retryDue       bool
}

// errNoCursor reports a damaged database: the row is written by a migration and never deleted. Without it no event would
// ever be due.
var errNoCursor = errors.New("outbox: event_cursor has no row")

// scanState reads the row of relay_state.
func scanState(r sqldb.Rows) (s state, err error) {
	due := 0
	err = r.Scan(&s.position, &s.publishedUntil, &s.readable, &due)
	s.retryDue = due == 1
	return s, err
}

// eventLog is the source of new events: those of event_log behind the cursor. One relay at a time takes from it.
//
// A batch that a local publisher delivers in the transaction that moves the cursor needs no deduplication. Any other
// publication may be repeated, even by a local publisher after a change of the configuration.
// event_cursor.published_until therefore covers a batch before it is published elsewhere, and the events that it covers
// are deduplicated.
type eventLog struct{ before state }

// reserved is the number of events that one update of published_until covers in advance, so that it is updated rarely.
const reserved = 10 * batchSize

func (l eventLog) reserve(ctx context.Context, db *sqldb.DB) (bool, error) {
	if l.before.readable <= l.before.publishedUntil {
		return true, nil
	}
	n, err := db.Exec(ctx, stmt("cursor_reserve"), l.before.position, l.before.readable+reserved)
	return n == 1, err
}

// take locks the cursor and returns the next events. It returns nothing if another process holds the cursor. It also reports
// whether some of the events may have been published before, by a relay that stopped before it moved the cursor.
func (l eventLog) take(ctx context.Context, tx sqldb.Tx, _ time.Time) ([]entry, bool, error) {
	var until int64
	scan := func(r sqldb.Rows) (at int64, err error) {
		err = r.Scan(&at, &until)
		return at, err
	}
	at, locked, err := sqldb.One(ctx, tx, scan, stmt("cursor_lock"))
	if err != nil || !locked {
		return nil, false, err
	}
	batch, err := sqldb.Collect(ctx, tx, scanLogged, stmt("event_page"), at, l.before.readable, batchSize)
	if err != nil || len(batch) == 0 {
		return nil, false, err
	}
	tx.QueueExactly(1, stmt("cursor_move"), at, batch[len(batch)-1].position)
	return batch, batch[0].position <= until, nil
}

func (l eventLog) read(ctx context.Context, db *sqldb.DB, _ time.Time) ([]entry, error) {
	return sqldb.Collect(ctx, db, scanLogged, stmt("event_page"), l.before.position, l.before.readable, batchSize)
}

// remove moves the cursor past the batch, unless another relay has moved it. That relay has published the batch too, or its
// first part; the rest is published again.
func (l eventLog) remove(ctx context.Context, tx sqldb.Tx, batch []entry, refused []error) ([]entry, []error, error) {
	n, err := tx.Exec(ctx, stmt("cursor_move"), l.before.position, batch[len(batch)-1].position)
	if err != nil || n == 0 {
		return nil, nil, err
	}
	return batch, refused, nil
}

// retries is the source of the events that wait in event_retry for another attempt. On PostgreSQL any number of relays
// take from it, each other rows. All its events may have been published before.
type retries struct{}

func (retries) reserve(context.Context, *sqldb.DB) (bool, error) { return true, nil }

func (retries) take(ctx context.Context, tx sqldb.Tx, now time.Time) ([]entry, bool, error) {
	batch, err := sqldb.Collect(ctx, tx, scanRetry, stmt("retry_take"), now.UnixMilli(), batchSize)
	// The order of the rows from RETURNING is undefined.
	slices.SortFunc(batch, func(a, b entry) int { return strings.Compare(a.ID, b.ID) })
	return batch, true, err
}

func (retries) read(ctx context.Context, db *sqldb.DB, now time.Time) ([]entry, error) {
	return sqldb.Collect(ctx, db, scanRetry, stmt("retry_select"), now.UnixMilli(), batchSize)
}

func (retries) remove(ctx context.Context, tx sqldb.Tx, batch []entry, refused []error) ([]entry, []error, error) {
	ids := sqldb.NewRowSet(len(batch)).Text("id", func(i int) string { return batch[i].ID })
	deleted, err := sqldb.Collect(ctx, tx, sqldb.Value[string], stmt("retry_delete"), ids)
	if err != nil {
		return nil, nil, err
	}
	removed, errs := make([]entry, 0, len(deleted)), make([]error, 0, len(deleted))
	for i, e := range batch {
		if slices.Contains(deleted, e.ID) {
			removed, errs = append(removed, e), append(errs, refusal(refused, i))
		}
	}
	return removed, errs, nil
}

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
