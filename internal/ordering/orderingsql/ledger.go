package orderingsql

import (
	"context"
	"errors"
	"time"

	"comanda/internal/cache"
	"comanda/internal/document/documentsql"
	"comanda/internal/ordering"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/uid"
)

// Limits of the group commit, in commands. A full batch of 512 orders takes a few milliseconds; a full queue is less
// than a second of work. Above it requests are refused at once, rather than wait beyond their deadlines.
const (
	maxBatch = 512
	maxQueue = 8192
)

// maxOwners is the capacity of the cache of attempts' owners: the payments of a busy evening, in some 4 MB.
const maxOwners = 20_000

// AdmissionOutbox is the admission cache as the ledger uses it. The ledger calls both methods from the group commit's
// goroutine, so neither may block.
type AdmissionOutbox interface {
	// EnqueueCommitted queues committed entries, which are then applied to Redis.
	EnqueueCommitted(entries []stock.OutboxEntry)
	// DrainApplied returns the ids of entries applied since the last call. The ledger then deletes their rows.
	DrainApplied() []string
}

// Ledger runs commands in shared transactions. It implements ordering.Executor and is safe for concurrent use. It also
// implements ordering.Payments and ordering.BranchSubscriber.
type Ledger struct {
	db            *sqldb.DB
	counters      *stocksql.Counters
	names         *itemNames
	admission     AdmissionOutbox
	now           func() time.Time
	group         *sqldb.Group[ordering.Command, ordering.Result]
	keys          sqldb.ReadGroup[ordering.IdempotencyKey, *ordering.Order]
	versions      sqldb.ReadGroup[string, int64]
	owners        sqldb.ReadGroup[string, owner]
	knownOwners   cache.Cache[string, owner] // by attempt; an attempt never changes its order
	subscriptions ordering.Subscriptions
	entries       []stock.OutboxEntry // entries of the last transaction; only the group's goroutine uses them
}

// NewLedger starts the group commit, which runs until Stop. now is the deciding clock.
func NewLedger(db *sqldb.DB, admission AdmissionOutbox, now func() time.Time) *Ledger {
	l := &Ledger{db: db, counters: stocksql.NewCounters(db), names: newItemNames(db), admission: admission, now: now}
	l.knownOwners.Max = maxOwners
	l.group = sqldb.NewGroup(db, sqldb.GroupConfig[ordering.Command, ordering.Result]{
		Run: l.run,
		After: func(_ []ordering.Command, results []ordering.Result) {
			// The group calls After once per committed batch, so entries are the entries of this batch.
			l.admission.EnqueueCommitted(l.entries)
			l.rememberOwners(results)
			l.subscriptions.Changed(results)
		},
		Max:   maxBatch,
		Queue: maxQueue,
	})
	// Requests and streams repeat these reads often, so concurrent reads share one statement.
	readPrior := func(ctx context.Context, keys []ordering.IdempotencyKey) ([]*ordering.Order, error) {
		return priorResults(ctx, db, keys)
	}
	l.keys = sqldb.NewReadGroup(db, maxBatch, maxQueue, readPrior)
	l.versions = sqldb.NewReadGroup(db, maxBatch, maxQueue, func(ctx context.Context, ids []string) ([]int64, error) {
		return versions(ctx, db, ids)
	})
	l.owners = sqldb.NewReadGroup(db, maxBatch, maxQueue, func(ctx context.Context, ids []string) ([]owner, error) {
		return owners(ctx, db, ids)
	})
	return l
}

// Stop completes the queued commands and reads, and rejects new ones. Call it after the server, so that queued requests
// get their results.
func (l *Ledger) Stop() {
	l.group.Stop()
	l.keys.Stop()
	l.versions.Stop()
	l.owners.Stop()
}

// PriorResult returns the order placed under a key, or nil. Concurrent calls share one statement, because every rejected
// order makes one. It reads outside of the group commit, so it does not wait for queued commands.
func (l *Ledger) PriorResult(ctx context.Context, k ordering.IdempotencyKey) (*ordering.Order, error) {
	return l.keys.Do(ctx, k)
}

// Subscriptions returns the hub that notifies subscribers of changes by this ledger.
func (l *Ledger) Subscriptions() *ordering.Subscriptions { return &l.subscriptions }

// Subscribe subscribes to the changes of an order by this ledger, see ordering.Subscriptions.
func (l *Ledger) Subscribe(order string) (changed <-chan struct{}, end func()) {
	return l.subscriptions.Subscribe(order)
}

// SubscribeBranch subscribes to the changes of all orders of a branch by this ledger.
func (l *Ledger) SubscribeBranch(branch int64) (changed <-chan struct{}, end func()) {
	return l.subscriptions.SubscribeBranch(branch)
}

// Version returns the current version of an order, or 0 if it does not exist. Concurrent calls share one statement,
// because every open stream polls it.
func (l *Ledger) Version(ctx context.Context, order string) (int64, error) {
	return l.versions.Do(ctx, order)
}

// Group returns the group commit, for its metrics.
func (l *Ledger) Group() *sqldb.Group[ordering.Command, ordering.Result] { return l.group }

// Do runs one command. If it returns no error, the result is durable. A unique violation that repeats means that the
// order's provisional hold expired meanwhile and has a tombstone; nothing was written then.
func (l *Ledger) Do(ctx context.Context, c ordering.Command) (ordering.Result, error) {
	if p, ok := c.(*ordering.Place); ok {
		// Missing counters and names are created in separate transactions: inserting them inside the batch would break
		// the lock order.
		if err := l.counters.Ensure(ctx, p.Hold); err != nil {
			return ordering.Result{}, err
		}
		if err := l.names.Set(ctx, p.Order.Items); err != nil {
			return ordering.Result{}, err
		}
	}
	r, err := l.group.Do(ctx, c)
	if errors.Is(err, sqldb.ErrUnique) {
		// Another transaction has placed an order under this key meanwhile, see queuePrior. The second run finds it.
		r, err = l.group.Do(ctx, c)
	}
	if err != nil {
		return r, refusal(err)
	}
	return r, r.Err
}

// DoAll runs many commands and returns a result and an error for each. Unlike Do, it does not create missing counters.
// Only the sweeper calls it, and the counters of its orders exist.
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

// refusal converts temporary failures into ordering.ErrRetry, which asks the client to repeat the request (I5).
// Errors that indicate a defect are returned unchanged, so that they are logged with their cause.
func refusal(err error) error {
	if errors.Is(err, sqldb.ErrUnique) || errors.Is(err, sqldb.ErrRetry) || errors.Is(err, context.DeadlineExceeded) {
		return ordering.ErrRetry.Because(err)
	}
	return err
}

// run executes one batch in a transaction: it loads and locks, decides, and queues the writes.
func (l *Ledger) run(ctx context.Context, tx sqldb.Tx, commands []ordering.Command) ([]ordering.Result, error) {
	// The whole batch uses one time, so that its decisions do not depend on how long it takes.
	now := l.now()
	ld := loader{tx: tx, batch: ordering.NewBatch(now, func() string { return uid.New(now) })}
	if err := ld.load(ctx, commands); err != nil {
		return nil, err
	}
	results := ld.batch.Decide(commands)
	ld.batch.Events = append(ld.batch.Events, ld.batch.Balances.LowStockEvents(now)...)
	// Applied entries of the outbox are deleted along with this commit, which saves a transaction.
	stocksql.QueueDeleteEntries(tx, l.admission.DrainApplied())
	entries, err := write(ctx, tx, ld.batch)
	// The transaction may still fail. After is not called then, and the next run replaces the entries.
	l.entries = entries
	return results, err
}

// MoveDeadlines shifts the deadlines of all unpaid orders by the given step and returns their number. It compensates
// for a step of the deciding clock; now is the time after that step. stocksql.MoveDeadlines shifts the holds. Documents
// and subscribers receive the change like any other.
func (l *Ledger) MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration, now time.Time) (int64, error) {
	moved, err := sqldb.Collect(ctx, tx, func(r sqldb.Rows) (res ordering.Result, err error) {
		// Only the ids and branches are needed to notify subscribers.
		return res, r.Scan(&res.Order.ID, &res.Order.Scope.Branch)
	}, stmt("order_deadline_move"), by.Milliseconds(), now.UnixMilli())
	if err != nil {
		return 0, err
	}
	ids := make([]string, len(moved))
	for i := range moved {
		ids[i] = moved[i].Order.ID
	}
	documentsql.Changed(tx, now, "order", ids...)
	tx.OnCommit(func() { l.subscriptions.Changed(moved) })
	return int64(len(moved)), tx.Flush(ctx)
}
