package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"comanda/internal/event"
	"comanda/internal/sqldb"
)

// batchSize is the maximum number of events per transaction. An event that is refused maxAttempts times becomes a dead
// letter. A batch fits into one wave of the RabbitMQ publisher.
const (
	batchSize   = 1000
	maxAttempts = 8
)

// Publisher sends events to a broker or to consumers.
type Publisher interface {
	// Ready returns an error while nothing can be published at all. The relay calls it before it claims events.
	Ready(ctx context.Context) error
	// Publish returns one error per refused event and nil for each accepted one; a nil slice means that all were
	// accepted. A non-nil err means that the outcome of every event is unknown.
	Publish(ctx context.Context, events []event.Event) (refused []error, err error)
}

// LocalPublisher is a Publisher whose consumers write to the same database.
type LocalPublisher interface {
	Publisher
	// Deliver applies the events for every consumer within the relay's transaction. repeated states that some of them may
	// have been delivered before. If it fails, the relay rolls back and calls Publish, which separates the events that can
	// be applied from the others.
	Deliver(ctx context.Context, tx sqldb.Tx, events []event.Event, repeated bool) error
}

// Options are optional dependencies of a relay.
type Options struct {
	Log     *slog.Logger
	Metrics *Metrics
	Now     func() time.Time // the database's clock by default
}

// Relay moves committed events from the outbox to a publisher.
type Relay struct {
	db      *sqldb.DB
	to      Publisher
	log     *slog.Logger
	metrics *Metrics
	now     func() time.Time

	mu       sync.Mutex // one run at a time: on SQLite nothing else prevents publishing the same rows twice
	measured time.Time
}

// New returns a relay that publishes to a publisher. Call RunOnce repeatedly.
func New(db *sqldb.DB, to Publisher, o Options) *Relay {
	r := &Relay{db: db, to: to, log: o.Log, metrics: o.Metrics, now: o.Now}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if r.metrics == nil {
		r.metrics = NewMetrics(nil)
	}
	if r.now == nil {
		r.now = db.Now
	}
	return r
}

// RunOnce relays until no event is due. It returns an error when the publisher or the database is unavailable;
// unrelayed events stay for the next call. Calls of one relay wait for each other; several processes may each run one.
func (r *Relay) RunOnce(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.measure(ctx)
	for ctx.Err() == nil {
		more, err := r.batch(ctx)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// batch relays up to batchSize new events, and as many that are due for another attempt. It reports whether one of the two
// batches was full, so that more events may be due.
func (r *Relay) batch(ctx context.Context) (more bool, err error) {
	// Ready is called before the claim: while a broker is down for hours, every claim would be rolled back.
	if err := r.to.Ready(ctx); err != nil {
		return false, fmt.Errorf("outbox: %w", err)
	}
	s, found, err := sqldb.One(ctx, r.db, scanState, stmt("relay_state"), r.now().UnixMilli())
	switch {
	case err != nil:
		return false, fmt.Errorf("outbox: %w", err)
	case !found:
		return false, errNoCursor
	}
	for _, q := range []struct {
		due   bool
		queue source
	}{{s.retryDue, retries{}}, {s.readable > s.position, eventLog{s}}} {
		if !q.due || err != nil {
			continue
		}
		var n int
		n, err = r.relay(ctx, q.queue)
		more = more || n == batchSize
	}
	return more, err
}

// relay relays a batch of a source in the way that suits the publisher and the engine, and returns its size.
func (r *Relay) relay(ctx context.Context, from source) (int, error) {
	if local, ok := r.to.(LocalPublisher); ok {
		n, err := r.deliverInTx(ctx, from, local)
		if err == nil {
			return n, nil
		}
		// Publish applies the events in transactions of the consumers. They must not run inside the relay's
		// transaction: on SQLite they would wait for the only writer, which that transaction holds.
		r.log.WarnContext(ctx, "a batch failed; its events are delivered separately", "err", err)
		return r.publishUnlocked(ctx, from)
	}
	if r.db.Engine() == sqldb.Postgres {
		return r.publishLocked(ctx, from)
	}
	return r.publishUnlocked(ctx, from)
}

// deliverInTx claims, delivers and settles a batch in one transaction. If any consumer fails, the whole batch fails,
// and no event counts as refused.
func (r *Relay) deliverInTx(ctx context.Context, from source, to LocalPublisher) (int, error) {
	deliver := func(ctx context.Context, tx sqldb.Tx, events []event.Event, repeated bool) ([]error, error) {
		return nil, to.Deliver(ctx, tx, events, repeated)
	}
	return r.claim(ctx, from, r.db.Write, deliver)
}

// publishLocked keeps the claimed batch locked while the broker confirms, so that no other relay publishes it too.
func (r *Relay) publishLocked(ctx context.Context, from source) (int, error) {
	if ok, err := from.reserve(ctx, r.db); err != nil || !ok {
		return 0, err
	}
	publish := func(ctx context.Context, _ sqldb.Tx, events []event.Event, _ bool) ([]error, error) {
		return r.to.Publish(ctx, events)
	}
	return r.claim(ctx, from, r.db.WriteWaiting, publish)
}

// claim takes a batch, publishes it and settles it, all in one transaction. A failure rolls back and leaves the batch
// unchanged, attempts included.
func (r *Relay) claim(
	ctx context.Context, from source, write func(context.Context, func(context.Context, sqldb.Tx) error) error,
	publish func(ctx context.Context, tx sqldb.Tx, events []event.Event, repeated bool) ([]error, error),
) (int, error) {
	var done settlement
	err := write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		// Write may run this function again.
		done = settlement{}
		taken, repeated, err := from.take(ctx, tx, r.now())
		if err != nil || len(taken) == 0 {
			return err
		}
		refused, err := publish(ctx, tx, eventsOf(taken), repeated)
		if err != nil {
			return err
		}
		done = r.settle(tx, taken, refused)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("outbox: %w", err)
	}
	r.report(ctx, done)
	return done.len(), nil
}

// publishUnlocked reads a batch, publishes it outside of any transaction, and then removes and settles it in one. Events
// that another relay has removed meanwhile are not settled again. A crash in between publishes the batch again, under
// the same ids; two relays may publish it too, and consumers deduplicate both. It returns the number of events read, so
// that RunOnce goes on after a full batch.
func (r *Relay) publishUnlocked(ctx context.Context, from source) (int, error) {
	if ok, err := from.reserve(ctx, r.db); err != nil || !ok {
		return 0, err
	}
	due, err := from.read(ctx, r.db, r.now())
	if err != nil || len(due) == 0 {
		return 0, err
	}
	refused, err := r.to.Publish(ctx, eventsOf(due))
	if err != nil {
		return 0, fmt.Errorf("outbox: %w", err)
	}
	// The events are published. A shutdown at this point must not cause a second publication.
	var done settlement
	err = r.db.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx sqldb.Tx) error {
		removed, refused, err := from.remove(ctx, tx, due, refused)
		if err != nil {
			return err
		}
		done = r.settle(tx, removed, refused)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("outbox: %w", err)
	}
	r.report(ctx, done)
	return len(due), nil
}

// eventsOf returns the events of entries in the same order, so that results match by index.
func eventsOf(entries []entry) []event.Event {
	events := make([]event.Event, len(entries))
	for i, e := range entries {
		events[i] = e.Event
	}
	return events
}

// refusal returns the error of the i-th event; a nil slice means that all were accepted.
func refusal(refused []error, i int) error {
	if refused == nil {
		return nil
	}
	return refused[i]
}
