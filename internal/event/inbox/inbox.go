// Package inbox applies every event exactly once per consumer, however often it is delivered.
//
// Invariants:
//
//  1. The row in consumer_dedupe and the consumer's writes are committed together. An applied event is never applied
//     again, and an event whose writes were rolled back is (I8). Deliver needs no row if its caller knows that the events
//     are delivered for the first time.
//  2. An event that cannot be applied does not delay others: a failed batch is halved until that event is isolated.
//  3. Attempts are counted per consumer and event, and only while the database is available. The last failed attempt
//     turns the event into a dead letter of that consumer, with an error log record and a metric (I15).
package inbox

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"runtime/debug"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/clock"
	"comanda/internal/event"
	"comanda/internal/event/eventsql"
	"comanda/internal/queue"
	"comanda/internal/sqldb"
	"comanda/internal/telemetry"
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

// Deliver applies events of the consumer's types within the caller's transaction. If it fails, the caller must roll back.
// repeated states that the consumer may have received some of the events before; then each is recorded, and those that were
// recorded already are skipped. Metrics are counted before the commit, so a batch that is rolled back later is counted
// again.
func (b *Inbox) Deliver(ctx context.Context, tx sqldb.Tx, c Consumer, events []event.Event, repeated bool) (err error) {
	wanted := slices.DeleteFunc(slices.Clone(events), func(e event.Event) bool { return !c.Wants(e) })
	if len(wanted) == 0 {
		return nil
	}
	all := len(wanted)
	if repeated {
		// unseen shortens wanted in place, so the length is stored before.
		if wanted, err = b.unseen(ctx, tx, c, wanted); err != nil {
			return err
		}
	}
	if len(wanted) > 0 {
		err = apply(ctx, tx, c, wanted)
	}
	if err == nil {
		b.metrics.applied(c.Name, len(wanted), all-len(wanted))
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
		return b.Deliver(ctx, tx, c, events, true)
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

// Consumer describes a subscriber that updates its state from events.
type Consumer struct {
	// Name identifies the consumer permanently: under another name all events would count as new.
	Name string
	// Types are the registered names of the event types to consume.
	Types []string
	// Queue is the name of the broker's queue; the default is "comanda." followed by Name.
	Queue string
	// Apply performs the consumer's work within tx and nowhere else. It receives events of Types in the order of
	// delivery, each for the first time. After a failure it is called again with fewer events. An error that wraps
	// ErrPoison turns the event into a dead letter at once.
	Apply func(ctx context.Context, tx sqldb.Tx, events []event.Event) error
}

// ErrPoison reports that a consumer can never apply an event, so that retrying is useless.
var ErrPoison = errors.New("inbox: the event cannot be applied")

// namePattern admits names that are safe in queue names, labels of metrics and keys of tables.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// Check returns an error if the consumer is incomplete or subscribes to unregistered types.
func (c Consumer) Check() error {
	if !namePattern.MatchString(c.Name) {
		return fmt.Errorf("inbox: %q is not a valid consumer name", c.Name)
	}
	if c.Apply == nil || len(c.Types) == 0 {
		return fmt.Errorf("inbox: consumer %s needs Types and Apply", c.Name)
	}
	for _, t := range c.Types {
		if _, ok := event.Lookup(t); !ok {
			return fmt.Errorf("inbox: consumer %s subscribes to %s, which is not a registered event", c.Name, t)
		}
		if external(t) != c.External() {
			return fmt.Errorf("inbox: consumer %s subscribes to events of Comanda and of other systems", c.Name)
		}
	}
	return nil
}

// QueueName returns the name of the consumer's queue on the broker.
func (c Consumer) QueueName() string {
	if c.Queue != "" {
		return c.Queue
	}
	return "comanda." + c.Name
}

// External reports whether the consumer subscribes to messages of other systems. Those share only the body format with
// Comanda's events, so one consumer cannot subscribe to both.
func (c Consumer) External() bool {
	return slices.ContainsFunc(c.Types, external)
}

func external(name string) bool {
	t, _ := event.Lookup(name)
	return t.External
}

// Wants reports whether the consumer subscribes to the type of e.
func (c Consumer) Wants(e event.Event) bool { return slices.Contains(c.Types, e.Type) }

// State is the outcome state of an event at a consumer.
type State uint8

// The outcome states. The zero State is the only one that needs no further action.
const (
	Done  State = iota // applied, now or earlier, or of another type
	Retry              // failed; deliver it again after the pause
	Dead               // failed for the last time; stored as a dead letter
)

// Outcome is the result of handling one event.
type Outcome struct {
	State State
	After time.Duration // pause before the next attempt
}

// Metrics are the consumers' metrics.
type Metrics struct {
	messages *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

// NewMetrics registers the consumers' metrics with reg; if reg is nil they are not exported. The buckets of the
// duration reach from 1 ms to 16 s, because a batch of hundreds of events may take seconds.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := telemetry.Metrics(reg)
	return &Metrics{
		messages: f.Counters("consumer_message_total", "Events by consumer and result: ok, dup, retry or dead.",
			"consumer", "result"),
		duration: f.Histograms("consumer_handle_duration_seconds", "Duration of handling a batch of events.",
			prometheus.ExponentialBuckets(0.001, 4, 8), "consumer"),
	}
}

// applied counts events of a batch; repeated are those that the consumer had applied before.
func (m *Metrics) applied(consumer string, unseen, repeated int) {
	m.messages.WithLabelValues(consumer, "ok").Add(float64(unseen))
	m.messages.WithLabelValues(consumer, "dup").Add(float64(repeated))
}

func (m *Metrics) observe(consumer string, d time.Duration) {
	m.duration.WithLabelValues(consumer).Observe(d.Seconds())
}
