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
	"comanda/internal/sqldb"
)

//go:embed *.sql
var files embed.FS

var (
	stmts        = sqldb.Load(files)
	dedupeInsert = stmts.Must("dedupe_insert")
	dedupePurge  = stmts.Must("dedupe_purge")
	failureCount = stmts.Must("failure_count")
	failurePurge = stmts.Must("failure_purge")
)

// maxAttempts is how often a consumer may fail on an event before the event is given up.
const maxAttempts = 5

// Options are an inbox's companions; all may be left out.
type Options struct {
	Log     *slog.Logger
	Metrics *Metrics
	Pause   time.Duration // after the first failure, doubled with each further one; half a second by default
}

// Inbox applies events for consumers. It is safe for concurrent use.
type Inbox struct {
	db      *sqldb.DB
	log     *slog.Logger
	metrics *Metrics
	first   time.Duration
}

// New makes an inbox.
func New(db *sqldb.DB, o Options) *Inbox {
	b := &Inbox{db: db, log: o.Log, metrics: o.Metrics, first: cmp.Or(o.Pause, 500*time.Millisecond)}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	if b.metrics == nil {
		b.metrics = NewMetrics(nil)
	}
	return b
}

// Deliver applies what is new to the consumer within the caller's transaction. A failure means that the transaction
// must be rolled back. The figures count before the commit: a batch that is rolled back after this is counted again.
func (b *Inbox) Deliver(ctx context.Context, tx sqldb.Tx, c Consumer, events []event.Event) error {
	wanted := slices.DeleteFunc(slices.Clone(events), func(e event.Event) bool { return !c.Wants(e) })
	if len(wanted) == 0 {
		return nil
	}
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

// unseen writes down that the consumer has the events, and keeps those of which that was not known.
func (b *Inbox) unseen(ctx context.Context, tx sqldb.Tx, c Consumer, events []event.Event) ([]event.Event, error) {
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	slices.Sort(ids) // two processes that insert the same ids wait for each other instead of deadlocking
	rows, err := tx.Query(ctx, dedupeInsert,
		sqldb.NewRowSet(len(ids)).Text("id", func(i int) string { return ids[i] }), c.Name, b.db.Now().UnixMilli())
	inserted, err := sqldb.Collect(rows, err, sqldb.Value[string])
	if err != nil {
		return nil, err
	}
	first := make(map[string]bool, len(inserted))
	for _, id := range inserted {
		first[id] = true
	}
	return slices.DeleteFunc(events, func(e event.Event) bool {
		keep := first[e.ID]
		first[e.ID] = false // a batch may hold the same event twice
		return !keep
	}), nil
}

// apply calls the consumer; a panic of it is a failure like any other.
func apply(ctx context.Context, tx sqldb.Tx, c Consumer, events []event.Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("inbox: consumer %s panicked: %v\n%s", c.Name, p, debug.Stack())
		}
	}()
	return c.Apply(ctx, tx, events)
}

// Now is the deciding time.
func (b *Inbox) Now() time.Time { return b.db.Now() }

// Handle applies events for a consumer, each batch in a transaction of its own, and gives one outcome for each event.
// An error says that the database is out of reach: nothing counted as an attempt, and all events are to be delivered
// again; those that were applied before it are recognised then.
func (b *Inbox) Handle(ctx context.Context, c Consumer, events []event.Event) ([]Outcome, error) {
	start := clock.Start()
	outcomes := make([]Outcome, len(events))
	err := b.handle(ctx, c, events, outcomes)
	b.metrics.took(c.Name, start.Elapsed())
	return outcomes, err
}

func (b *Inbox) handle(ctx context.Context, c Consumer, events []event.Event, outcomes []Outcome) error {
	if len(events) == 0 {
		return nil
	}
	cause := b.transact(ctx, c, events)
	if cause == nil {
		return nil
	}
	if err := b.excused(ctx, cause); err != nil {
		return err
	}
	// Halving finds one bad event among many in few transactions, and the good ones are not made to wait for it.
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

func (b *Inbox) transact(ctx context.Context, c Consumer, events []event.Event) error {
	return b.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		return b.Deliver(ctx, tx, c, events)
	})
}

// excused gives the failure back when it says nothing about the events: we are stopping, transactions only got into
// each other's way, or the database does not answer. A statement that times out while the database answers counts.
func (b *Inbox) excused(ctx context.Context, cause error) error {
	if ctx.Err() != nil || errors.Is(cause, sqldb.ErrRetry) || b.db.Ping(ctx) != nil {
		return cause
	}
	return nil
}

// fail counts an attempt, and buries the event when that was the last one, as of poison the first one is.
func (b *Inbox) fail(ctx context.Context, c Consumer, e event.Event, cause error) (Outcome, error) {
	attempts := int64(0)
	err := b.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		now := b.db.Now()
		rows, err := tx.Query(ctx, failureCount, c.Name, e.ID, eventsql.Reason(cause.Error()), now.UnixMilli())
		attempts, _, err = sqldb.One(rows, err, sqldb.Value[int64])
		if errors.Is(cause, ErrPoison) {
			attempts = max(attempts, maxAttempts)
		}
		if err == nil && attempts >= maxAttempts {
			eventsql.Bury(tx, []eventsql.DeadLetter{{Event: e, Consumer: c.Name, Reason: cause.Error(), DiedAt: now}})
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
		log.WarnContext(ctx, "a consumer failed and will be asked again")
		return Outcome{Retry, b.pause(attempts)}, nil
	}
	b.metrics.messages.WithLabelValues(c.Name, "dead").Inc()
	log.ErrorContext(ctx, "a consumer failed for the last time; the event is a dead letter")
	return Outcome{State: Dead}, nil
}

// pause is the time after the n-th failed attempt.
func (b *Inbox) pause(attempts int64) time.Duration { return b.first << (attempts - 1) }
