package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"comanda/internal/event"
	"comanda/internal/sqldb"
)

const (
	batchSize   = 1000
	maxAttempts = 8
)

// Publisher brings events to whoever listens.
type Publisher interface {
	// Ready fails while nothing can be published at all. It is asked before events are claimed.
	Ready(ctx context.Context) error
	// Publish gives one error for each event that was refused, nil for one that was taken over for good; a nil slice
	// means that all were. The second result says that nothing is known about any of them.
	Publish(ctx context.Context, events []event.Event) (refused []error, err error)
}

// Local is a Publisher whose listeners write to the same database.
type Local interface {
	Publisher
	// Deliver has every listener apply the events within the relay's transaction. When it fails, the transaction is
	// rolled back and the events are brought through Publish, which parts the good ones from the bad.
	Deliver(ctx context.Context, tx sqldb.Tx, events []event.Event) error
}

// Options are a relay's companions; all may be left out.
type Options struct {
	Log     *slog.Logger
	Metrics *Metrics
	Now     func() time.Time // the database's clock by default
}

// Relay moves committed events to a publisher.
type Relay struct {
	db      *sqldb.DB
	to      Publisher
	log     *slog.Logger
	metrics *Metrics
	now     func() time.Time

	mu       sync.Mutex // one drain at a time: on SQLite nothing else keeps two from publishing the same rows
	measured time.Time
}

// New makes a relay. RunOnce does its work.
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

// RunOnce relays until nothing is due. It returns early when the publisher or the database is out of reach; what was
// not relayed stays for the next call.
func (r *Relay) RunOnce(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.measure(ctx)
	for ctx.Err() == nil {
		n, err := r.batch(ctx)
		if err != nil {
			return err
		}
		if n < batchSize {
			return nil
		}
	}
	return nil
}

// batch relays what is due, up to batchSize, and tells how many events that were.
func (r *Relay) batch(ctx context.Context) (int, error) {
	if err := r.to.Ready(ctx); err != nil {
		return 0, fmt.Errorf("outbox: %w", err)
	}
	if local, ok := r.to.(Local); ok {
		n, err := r.holding(ctx, local)
		if err == nil {
			return n, nil
		}
		r.log.WarnContext(ctx, "events are delivered one by one after a failed batch", "err", err)
		return r.apart(ctx)
	}
	if r.db.Engine() == sqldb.Postgres {
		return r.holdingPublish(ctx)
	}
	return r.apart(ctx)
}

// holding claims, delivers and settles in one transaction; all or nothing.
func (r *Relay) holding(ctx context.Context, to Local) (int, error) {
	return r.claim(ctx, r.db.Write, func(ctx context.Context, tx sqldb.Tx, events []event.Event) ([]error, error) {
		return nil, to.Deliver(ctx, tx, events)
	})
}

// holdingPublish keeps the claimed rows locked while the broker confirms, so that no other relay publishes them too.
func (r *Relay) holdingPublish(ctx context.Context) (int, error) {
	return r.claim(ctx, r.db.WriteWaiting, func(ctx context.Context, _ sqldb.Tx, events []event.Event) ([]error, error) {
		return r.to.Publish(ctx, events)
	})
}

// claim takes due rows away, hands them over and settles them, all in one transaction. A failure in between puts them
// back untouched, attempts included.
func (r *Relay) claim(
	ctx context.Context, write func(context.Context, func(context.Context, sqldb.Tx) error) error,
	hand func(context.Context, sqldb.Tx, []event.Event) ([]error, error),
) (int, error) {
	var done settlement
	err := write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		done = settlement{}
		rows, err := tx.Query(ctx, outboxTake, r.now().UnixMilli(), batchSize)
		taken, err := sqldb.Collect(rows, err, scanEntry)
		if err != nil || len(taken) == 0 {
			return err
		}
		// RETURNING promises no order.
		slices.SortFunc(taken, func(a, b entry) int { return strings.Compare(a.ID, b.ID) })
		refused, err := hand(ctx, tx, facts(taken))
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

// apart reads, publishes outside of any transaction, and then deletes and settles in one. Where another relay was
// faster the rows are gone, and its settlement stands.
func (r *Relay) apart(ctx context.Context) (int, error) {
	rows, err := r.db.Query(ctx, outboxSelect, r.now().UnixMilli(), batchSize)
	due, err := sqldb.Collect(rows, err, scanEntry)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	refused, err := r.to.Publish(ctx, facts(due))
	if err != nil {
		return 0, fmt.Errorf("outbox: %w", err)
	}
	// They are out. A stop that comes now must not leave them to be published once more.
	var done settlement
	err = r.db.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx sqldb.Tx) error {
		mine, refused, err := r.remove(ctx, tx, due, refused)
		if err != nil {
			return err
		}
		done = r.settle(tx, mine, refused)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("outbox: %w", err)
	}
	r.report(ctx, done)
	return len(due), nil
}

// remove deletes the rows and keeps of both lists what was still there.
func (r *Relay) remove(ctx context.Context, tx sqldb.Tx, due []entry, refused []error) ([]entry, []error, error) {
	ids := sqldb.NewRowSet(len(due)).Text("id", func(i int) string { return due[i].ID })
	rows, err := tx.Query(ctx, outboxDelete, ids)
	gone, err := sqldb.Collect(rows, err, sqldb.Value[string])
	if err != nil {
		return nil, nil, err
	}
	there := make(map[string]bool, len(gone))
	for _, id := range gone {
		there[id] = true
	}
	mine, mineRefused := make([]entry, 0, len(gone)), make([]error, 0, len(gone))
	for i, e := range due {
		if there[e.ID] {
			mine, mineRefused = append(mine, e), append(mineRefused, refusal(refused, i))
		}
	}
	return mine, mineRefused, nil
}

func facts(entries []entry) []event.Event {
	events := make([]event.Event, len(entries))
	for i, e := range entries {
		events[i] = e.Event
	}
	return events
}

func refusal(refused []error, i int) error {
	if refused == nil {
		return nil
	}
	return refused[i]
}
