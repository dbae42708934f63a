package orderingsql

import (
	"context"
	"errors"
	"time"

	"comanda/internal/ordering"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/uid"
)

// Bounds of the group commit. 512 orders are some milliseconds of work; a queue of 8,192 is under a second of it.
const (
	maxBatch = 512
	maxQueue = 8192
)

// Gate is told what was decided, after every commit. Neither method may block or fail.
type Gate interface {
	// Committed hands over what must now be applied to Redis.
	EnqueueCommitted(entries []stock.OutboxEntry)
	// Applied gives the ids of entries that were applied and can be deleted, and forgets them.
	DrainApplied() []string
}

// Ledger runs commands in shared transactions. It implements ordering.Ledger.
type Ledger struct {
	db       *sqldb.DB
	counters *stocksql.Counters
	gate     Gate
	now      func() time.Time
	group    *sqldb.Group[ordering.Command, ordering.Result]
	keys     sqldb.Questions[ordering.TxnKey, ordering.Earlier]
	versions sqldb.Questions[string, int64]
	owners   sqldb.Questions[string, owner]
	watches  ordering.Watches
	entries  []stock.OutboxEntry // of the transaction that ran last; used by the group's goroutine only
}

// NewLedger starts the group commit; Stop ends it. now is the deciding clock.
func NewLedger(db *sqldb.DB, gate Gate, now func() time.Time) *Ledger {
	l := &Ledger{db: db, counters: stocksql.NewCounters(db), gate: gate, now: now}
	l.group = sqldb.NewGroup(db, sqldb.GroupConfig[ordering.Command, ordering.Result]{
		Run: l.run,
		After: func(_ []ordering.Command, results []ordering.Result) {
			l.gate.EnqueueCommitted(l.entries)
			l.watches.Changed(results)
		},
		Max:   maxBatch,
		Queue: maxQueue,
	})
	ask := func(ctx context.Context, keys []ordering.TxnKey) ([]ordering.Earlier, error) {
		return earlier(ctx, db, keys)
	}
	l.keys = sqldb.NewQuestions(maxBatch, maxQueue, ask)
	l.versions = sqldb.NewQuestions(maxBatch, maxQueue, func(ctx context.Context, ids []string) ([]int64, error) {
		return versions(ctx, db, ids)
	})
	l.owners = sqldb.NewQuestions(maxBatch, maxQueue, func(ctx context.Context, ids []string) ([]owner, error) {
		return owners(ctx, db, ids)
	})
	return l
}

// Stop finishes what waits and refuses what comes.
func (l *Ledger) Stop() {
	l.group.Stop()
	l.keys.Stop()
	l.versions.Stop()
	l.owners.Stop()
}

// Earlier gives the order that a key has made. Questions that come at once share a statement: every refusal asks one.
func (l *Ledger) Earlier(ctx context.Context, k ordering.TxnKey) (ordering.Earlier, error) {
	return l.keys.Do(ctx, k)
}

// Watches wakes who looks on while this ledger changes orders.
func (l *Ledger) Watches() *ordering.Watches { return &l.watches }

// Watch wakes who looks on while this ledger changes an order, see ordering.Watches.
func (l *Ledger) Watch(order string) (wake <-chan struct{}, end func()) {
	return l.watches.Watch(order)
}

// WatchBranch is Watch for all orders of a branch.
func (l *Ledger) WatchBranch(branch int64) (wake <-chan struct{}, end func()) {
	return l.watches.WatchBranch(branch)
}

// Version is the present version of an order, 0 of one that does not exist. Questions that come at once share a
// statement: every stream asks one from time to time.
func (l *Ledger) Version(ctx context.Context, order string) (int64, error) {
	return l.versions.Do(ctx, order)
}

// Group is the ledger's group commit, for its figures.
func (l *Ledger) Group() *sqldb.Group[ordering.Command, ordering.Result] { return l.group }

// Do runs one command; it is durable when Do returns without an error. A unique violation means that a lease was buried
// while its order was on the way, and nothing was written.
func (l *Ledger) Do(ctx context.Context, c ordering.Command) (ordering.Result, error) {
	if c.Place != nil {
		if err := l.counters.Ensure(ctx, c.Place.Hold); err != nil {
			return ordering.Result{}, err
		}
	}
	r, err := l.group.Do(ctx, c)
	if err != nil {
		return r, refusal(err)
	}
	return r, r.Err
}

// DoAll runs many commands and gives a result and an error for each.
func (l *Ledger) DoAll(ctx context.Context, cs []ordering.Command) ([]ordering.Result, []error) {
	results, failures := l.group.DoAll(ctx, cs)
	for i := range failures {
		if failures[i] == nil {
			failures[i] = results[i].Err
		} else {
			failures[i] = refusal(failures[i])
		}
	}
	return results, failures
}

// refusal makes of a failure that says nothing about the command itself the advice to ask again (I5).
func refusal(err error) error {
	if errors.Is(err, sqldb.ErrUnique) || errors.Is(err, sqldb.ErrRetry) || errors.Is(err, context.DeadlineExceeded) {
		return ordering.ErrRetry.Because(err)
	}
	return err
}

// run is one transaction: load and lock, decide, write.
func (l *Ledger) run(ctx context.Context, tx sqldb.Tx, commands []ordering.Command) ([]ordering.Result, error) {
	now := l.now()
	ld := loader{tx: tx, batch: ordering.NewBatch(now, func() string { return uid.New(now) })}
	if err := ld.load(ctx, commands); err != nil {
		return nil, err
	}
	results := ld.batch.Decide(commands)
	ld.batch.Events = append(ld.batch.Events, ld.batch.Book.LowStockEvents(now)...)
	stocksql.QueueDeleteEntries(tx, l.gate.DrainApplied())
	entries, err := write(ctx, tx, ld.batch)
	l.entries = entries
	return results, err
}
