package stocksql

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"comanda/internal/event/outbox"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/uid"
)

// Limits of the group commit, in commands. A batch is as large as one of orders. The queue is twice as long: it has room
// for a command of each of 10,000 clients that send at the same time.
const (
	maxBatch = 512
	maxQueue = 16_384
)

// CacheQueue passes committed changes to the admission cache; stock.Syncer implements it. Neither method may block or
// fail.
type CacheQueue interface {
	// EnqueueCommitted queues entries that must now be applied to Redis.
	EnqueueCommitted(entries []stock.OutboxEntry)
	// DrainApplied returns the ids of applied entries, to be deleted, and clears the list.
	DrainApplied() []string
}

// Reservations runs commands of other systems in shared transactions and manages stock items and their counters. It
// implements stock.ReservationStore, stock.ItemStore and stock.RankingStore. It is safe for concurrent use. Commands,
// single reads and levels each have a goroutine of their own that batches them, so a burst of reads does not wait
// behind commits.
type Reservations struct {
	db     *sqldb.DB
	cache  CacheQueue
	now    func() time.Time
	group  *sqldb.Group[stock.Command, stock.CommandResult]
	finds  sqldb.ReadGroup[string, stock.Reservation]
	levels sqldb.ReadGroup[itemRef, stock.Level]

	// OnCommit receives every committed batch of commands, from HTTP or from messages. It must not block. Set it
	// before the first command; it may be nil.
	OnCommit func(commands []stock.Command, results []stock.CommandResult)
}

// NewReservations starts the goroutines that batch commands and reads; Stop ends them. now is the deciding clock.
func NewReservations(db *sqldb.DB, cache CacheQueue, now func() time.Time) *Reservations {
	r := &Reservations{db: db, cache: cache, now: now}
	r.group = sqldb.NewGroup(db, sqldb.GroupConfig[stock.Command, stock.CommandResult]{
		Run: r.Run, Max: maxBatch, Queue: maxQueue,
	})
	r.finds = sqldb.NewReadGroup(db, maxBatch, maxQueue, r.find)
	r.levels = sqldb.NewReadGroup(db, maxBatch, maxQueue, r.readLevels)
	return r
}

// Stop finishes waiting commands and refuses new ones.
func (r *Reservations) Stop() {
	r.group.Stop()
	r.finds.Stop()
	r.levels.Stop()
}

// Group returns the group commit, for its metrics.
func (r *Reservations) Group() *sqldb.Group[stock.Command, stock.CommandResult] { return r.group }

// maxAttempts is the number of times that a command is tried if another process inserts the same new id. The next
// attempt finds the row of the other process, so a second collision requires a third process.
const maxAttempts = 3

// Do runs one command. Its result is durable unless the error is of kind Unavailable. If ctx ends first, the outcome is
// unknown. Repeating the command returns the result.
func (r *Reservations) Do(ctx context.Context, d stock.Command) (stock.CommandResult, error) {
	var res stock.CommandResult
	var err error
	for range maxAttempts {
		res, err = r.group.Do(ctx, d)
		if !errors.Is(err, sqldb.ErrUnique) {
			break
		}
	}
	return res, tryAgain(err)
}

// DoAll runs many commands and returns a result and an error for each.
func (r *Reservations) DoAll(ctx context.Context, ds []stock.Command) ([]stock.CommandResult, []error) {
	results, failures := r.group.DoAll(ctx, ds)
	for i := range failures {
		failures[i] = tryAgain(failures[i])
	}
	return results, failures
}

// tryAgain converts a failure that was not caused by the command into ErrTryAgain. The kind Unavailable makes clients
// repeat the request, which is safe because every command is idempotent by its id.
func tryAgain(err error) error {
	if errors.Is(err, sqldb.ErrUnique) || errors.Is(err, sqldb.ErrRetry) || errors.Is(err, context.DeadlineExceeded) {
		return stock.ErrTryAgain.Because(err)
	}
	return err
}

// Run decides commands within a transaction: it loads and locks, decides, and writes. After the commit the result is
// passed to the admission cache. Run may be called again after a deadlock, so it has no effect outside of the
// transaction except through OnCommit.
func (r *Reservations) Run(ctx context.Context, tx sqldb.Tx, commands []stock.Command) ([]stock.CommandResult, error) {
	now := r.now()
	b := &stock.CommandBatch{
		Now: now, Balances: stock.NewBalances(), Reasons: map[string]string{}, ConfirmedEarly: map[string]bool{},
	}
	if err := load(ctx, tx, b, commands); err != nil {
		return nil, err
	}
	results := b.Decide(commands)
	if r.OnCommit != nil {
		tx.OnCommit(func() { r.OnCommit(commands, results) })
	}
	return results, r.write(tx, b)
}

// load takes locks in the order of the package: counters, then holds.
//
// It takes two round trips. The lines of a hold, which never change, determine the counters that it needs, so the
// first round trip reads holds without locks. The second one locks the counters and then the holds, and reads their
// states under the lock.
func load(ctx context.Context, tx sqldb.Tx, b *stock.CommandBatch, commands []stock.Command) error {
	ids := make([]string, len(commands))
	wanted := make([]stock.Hold, 0, len(commands))
	for i, d := range commands {
		ids[i] = stock.HoldID(d.ID)
		// A Try that the cache has refused locks no counters: many refusals of a sold-out item must not wait for its
		// row.
		if d.Action == stock.Try && d.Short == nil {
			wanted = append(wanted, d.Hold)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	known := map[string]stock.Hold{}
	var held []stock.Hold
	tx.QueueQuery(sqldb.Scanned(scanHold, func(h stock.HoldState) {
		known[h.Hold.ID], held = h.Hold, append(held, h.Hold)
	}), stmt("hold_select"), sqldb.IDs(ids))
	tx.QueueQuery(func(rows sqldb.Rows) error {
		var id string
		err := rows.Scan(&id)
		b.ConfirmedEarly[id] = true
		return err
	}, stmt("early_select"), sqldb.IDs(ids))
	if err := tx.Flush(ctx); err != nil {
		return err
	}
	// Counters of held and of ended holds are locked: the states are not known before the holds are locked.
	QueueLock(tx, KeysOf(wanted, held), b.Balances)
	tx.QueueQuery(func(rows sqldb.Rows) error {
		var id, state, reason string
		if err := rows.Scan(&id, &state, &reason); err != nil {
			return err
		}
		h, ok := known[id]
		if !ok { // the hold was inserted after its lines were read
			return sqldb.ErrRetry
		}
		b.Balances.LoadHold(h, stock.State(state))
		b.Reasons[id] = reason
		return nil
	}, stmt("reservation_lock"), sqldb.IDs(ids))
	return tx.Flush(ctx)
}

// write queues the changes of a batch. One round trip sends all statements. Holds are inserted in the order of their
// ids, so that two processes that insert the same ids cannot deadlock.
func (r *Reservations) write(tx sqldb.Tx, b *stock.CommandBatch) error {
	now := b.Now.UnixMilli()
	QueueDeleteEntries(tx, r.cache.DrainApplied())
	QueueDeltas(tx, b.Balances)
	slices.SortFunc(b.Created, func(x, y stock.NewHold) int { return strings.Compare(x.ID, y.ID) })
	QueueHolds(tx, b.Created, now)
	QueueTransitions(tx, b.Transitions, now)
	if len(b.EarlyConfirms) > 0 {
		tx.Queue(stmt("early_insert"), sqldb.IDs(b.EarlyConfirms), now)
	}
	// Events are written in the same transaction as the change, so that none is published for a change that was rolled
	// back.
	if events := slices.Concat(b.Events, b.Balances.LowStockEvents(b.Now)); len(events) > 0 {
		outbox.Queue(tx, events)
	}
	entries, err := QueueOps(tx, b.Ops, func() string { return uid.New(b.Now) }, now)
	if err == nil {
		tx.OnCommit(func() { r.cache.EnqueueCommitted(entries) })
	}
	return err
}

// Find returns a reservation. The returned reservation has no id if it does not exist. Concurrent calls share a
// statement.
func (r *Reservations) Find(ctx context.Context, id string) (stock.Reservation, error) {
	return r.finds.Do(ctx, id)
}

func (r *Reservations) find(ctx context.Context, ids []string) ([]stock.Reservation, error) {
	return find(ctx, r.db, ids)
}

// find returns the reservations in the order of ids, for one batch of reads. An unknown id has a zero Reservation, because
// one missing id must not fail the reads of other requests in the batch.
func find(ctx context.Context, c sqldb.Conn, ids []string) ([]stock.Reservation, error) {
	holds := make([]string, len(ids))
	for i, id := range ids {
		holds[i] = stock.HoldID(id)
	}
	states, err := Holds(ctx, c, holds)
	if err != nil {
		return nil, err
	}
	reasons, err := sqldb.Map[string, string](ctx, c, stmt("reservation_reason"), sqldb.IDs(holds))
	if err != nil {
		return nil, err
	}
	var items []int64
	for _, h := range states {
		for _, l := range h.Hold.Lines {
			items = append(items, l.Item)
		}
	}
	names, err := itemNames(ctx, c, items)
	if err != nil {
		return nil, err
	}
	byID := map[string]stock.Reservation{}
	for _, h := range states {
		one := stock.Reservation{
			Branch: h.Hold.Scope.Branch, Status: stock.StatusOf(h.State, reasons[h.Hold.ID]), ExpiresAt: h.Hold.Until,
		}
		for _, l := range h.Hold.Lines {
			one.Lines = append(one.Lines, stock.SKULine{SKU: names[l.Item], Qty: l.Qty})
		}
		byID[h.Hold.ID] = one
	}
	all := make([]stock.Reservation, len(ids))
	for i, id := range ids {
		if one, ok := byID[holds[i]]; ok {
			all[i], all[i].ID = one, id
		}
	}
	return all, nil
}

func itemNames(ctx context.Context, c sqldb.Conn, items []int64) (map[int64]string, error) {
	if len(items) == 0 {
		return map[int64]string{}, nil
	}
	return sqldb.Map[int64, string](ctx, c, stmt("stock_item_skus"), itemRows(items))
}

func itemRows(items []int64) *sqldb.RowSet {
	return sqldb.NewRowSet(len(items)).Int("item", func(i int) int64 { return items[i] })
}

// Overdue returns the ids of reservations past their deadline, the oldest first.
func (r *Reservations) Overdue(ctx context.Context, now time.Time, limit int) ([]string, error) {
	holds, err := sqldb.Collect(ctx, r.db, sqldb.Value[string], stmt("reservation_overdue"), now.UnixMilli(), limit)
	for i, id := range holds {
		holds[i] = stock.ReservationID(id)
	}
	return holds, err
}

// OverdueReservations returns the number of reservations past their deadline, and the delay of the oldest.
func (r *Reservations) OverdueReservations(ctx context.Context, now time.Time) (n int64, by time.Duration, err error) {
	pair, _, err := sqldb.One(ctx, r.db, sqldb.Pair, stmt("reservation_late"), now.UnixMilli())
	if err != nil || pair[0] == 0 {
		return 0, 0, err
	}
	return pair[0], now.Sub(time.UnixMilli(pair[1])), nil
}
