package inbox

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"comanda/internal/clock"
	"comanda/internal/event"
	"comanda/internal/event/eventsql"
	"comanda/internal/queue"
	"comanda/internal/sqldb"
)

//go:embed *.sql
var files embed.FS

var stmts = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = stmts.Must

// maxAttempts is the number of failed attempts after which an event becomes a dead letter of the consumer. It must stay
// below the outbox's maximum: on the local bus the event then dies at the one consumer that cannot apply it, and not at
// the relay for all of them.
const maxAttempts = 5

// Options are optional settings of an inbox.
type Options struct {
	Log     *slog.Logger
	Metrics *Metrics
	Pause   time.Duration // after the first failure, doubled with each further one; default 500 ms
}

// Inbox applies events for consumers. It is safe for concurrent use.
type Inbox struct {
	db         *sqldb.DB
	log        *slog.Logger
	metrics    *Metrics
	firstPause time.Duration
}

// New returns an inbox that stores its state in db.
func New(db *sqldb.DB, o Options) *Inbox {
	b := &Inbox{db: db, log: o.Log, metrics: o.Metrics, firstPause: cmp.Or(o.Pause, 500*time.Millisecond)}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	if b.metrics == nil {
		b.metrics = NewMetrics(nil)
	}
	return b
}

// Deliver applies the events that are new to the consumer within the caller's transaction. If it fails, the caller must
// roll back. Metrics are counted before the commit, so a batch that is rolled back later is counted again.
func (b *Inbox) Deliver(ctx context.Context, tx sqldb.Tx, c Consumer, events []event.Event) error {
	wanted := slices.DeleteFunc(slices.Clone(events), func(e event.Event) bool { return !c.Wants(e) })
	if len(wanted) == 0 {
		return nil
	}
	// unseen shortens wanted in place, so the number is taken before.
	all := len(wanted)
	unseen, err := b.unseen(ctx, tx, c, wanted)
	if err != nil {
		return err
	}
	if len(unseen) > 0 {
		err = apply(ctx, tx, c, unseen)
	}
	if err == nil {
		b.metrics.applied(c.Name, len(unseen), all-len(unseen))
	}
	return err
}

// unseen records that the consumer has received the events and returns those that are new to it. If another transaction
// is inserting the same ids, the statement waits for its end: after a commit the events are not new, after a rollback
// they are. So two deliveries at the same time apply an event once (I8).
func (b *Inbox) unseen(ctx context.Context, tx sqldb.Tx, c Consumer, events []event.Event) ([]event.Event, error) {
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	slices.Sort(ids) // equal lock order: processes that insert the same ids wait instead of deadlocking
	inserted, err := sqldb.Collect(ctx, tx, sqldb.Value[string], stmt("dedupe_insert"),
		sqldb.IDs(ids), c.Name, b.db.Now().UnixMilli())
	if err != nil {
		return nil, err
	}
	first := make(map[string]bool, len(inserted))
	for _, id := range inserted {
		first[id] = true
	}
	return slices.DeleteFunc(events, func(e event.Event) bool {
		keep := first[e.ID]
		first[e.ID] = false // a batch may contain the same event twice
		return !keep
	}), nil
}

// apply calls the consumer and turns a panic into an error. A panic must not end the process: the event is retried and
// becomes a dead letter like after any error.
func apply(ctx context.Context, tx sqldb.Tx, c Consumer, events []event.Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("inbox: consumer %s panicked: %v\n%s", c.Name, p, debug.Stack())
		}
	}()
	return c.Apply(ctx, tx, events)
}

// Now returns the database's current time.
func (b *Inbox) Now() time.Time { return b.db.Now() }

// Handle applies events for a consumer in its own transactions and returns one outcome per event. An error means that
// the database is unavailable: no attempt was counted, and the caller must deliver all events again; those that were
// applied will be deduplicated.
func (b *Inbox) Handle(ctx context.Context, c Consumer, events []event.Event) ([]Outcome, error) {
	start := clock.Start()
	outcomes := make([]Outcome, len(events))
	err := b.handle(ctx, c, events, outcomes)
	b.metrics.observe(c.Name, start.Elapsed())
	return outcomes, err
}

// handle applies a batch in one transaction and, if that fails, in halves. The failed transaction is rolled back, so
// the halves start from the state before. outcomes is the part of the result for these events; its zero values mean
// success.
func (b *Inbox) handle(ctx context.Context, c Consumer, events []event.Event, outcomes []Outcome) error {
	if len(events) == 0 {
		return nil
	}
	cause := b.transact(ctx, c, events)
	if cause == nil {
		return nil
	}
	if err := b.transientCause(ctx, cause); err != nil {
		return err
	}
	// Halving isolates one bad event in few transactions, so the others are not delayed by it.
	if len(events) > 1 {
		half := len(events) / 2
		if err := b.handle(ctx, c, events[:half], outcomes[:half]); err != nil {
			return err
		}
		return b.handle(ctx, c, events[half:], outcomes[half:])
	}
	var err error
	outcomes[0], err = b.fail(ctx, c, events[0], cause)
	return err
}

// transact delivers a batch in a transaction of its own: the marks in consumer_dedupe and the consumer's writes are
// committed together.
func (b *Inbox) transact(ctx context.Context, c Consumer, events []event.Event) error {
	return b.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		return b.Deliver(ctx, tx, c, events)
	})
}

// transientCause returns cause if it says nothing about the events: the process is stopping, the transaction hit a
// serialization conflict, or the database is unavailable. Otherwise it returns nil. A statement time-out counts as a
// failure of the event while the database answers.
func (b *Inbox) transientCause(ctx context.Context, cause error) error {
	if ctx.Err() != nil || errors.Is(cause, sqldb.ErrRetry) || b.db.Ping(ctx) != nil {
		return cause
	}
	return nil
}

// fail counts a failed attempt. It stores a dead letter after the last one, or at once for ErrPoison.
func (b *Inbox) fail(ctx context.Context, c Consumer, e event.Event, cause error) (Outcome, error) {
	attempts := int64(0)
	// The count is committed in its own transaction, because the failed one is rolled back. The event is not marked as
	// received, so a later delivery or a replay applies it.
	err := b.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) (err error) {
		now := b.db.Now()
		attempts, err = sqldb.Scalar[int64](ctx, tx, stmt("failure_count"), c.Name, e.ID, queue.Reason(cause.Error()),
			now.UnixMilli())
		if errors.Is(cause, ErrPoison) {
			attempts = max(attempts, maxAttempts)
		}
		if err == nil && attempts >= maxAttempts {
			eventsql.InsertDeadLetters(tx, []eventsql.DeadLetter{{Event: e, Consumer: c.Name, Reason: cause.Error(), DiedAt: now}})
		}
		return err
	})
	if err != nil {
		return Outcome{}, err
	}
	log := b.log.With("consumer", c.Name, "event_id", e.ID, "event_type", e.Type, "aggregate_id", e.AggregateID,
		"attempt", attempts, "err", cause)
	if attempts < maxAttempts {
		b.metrics.messages.WithLabelValues(c.Name, "retry").Inc()
		log.WarnContext(ctx, "a consumer failed; the event will be delivered again")
		return Outcome{Retry, b.pause(attempts)}, nil
	}
	b.metrics.messages.WithLabelValues(c.Name, "dead").Inc()
	log.ErrorContext(ctx, "a consumer failed for the last time; the event is a dead letter")
	return Outcome{State: Dead}, nil
}

// pause returns the pause after the n-th failed attempt. With the default of 500 ms, the five attempts span 7.5
// seconds.
func (b *Inbox) pause(attempts int64) time.Duration { return b.firstPause << (attempts - 1) }
