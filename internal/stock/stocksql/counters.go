package stocksql

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"comanda/internal/fault"
	"comanda/internal/queue"
	"comanda/internal/queue/queuesql"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/uid"
)

// Counters creates counters before a transaction locks them. It caches which counters exist, so that only the first
// order of an item on a business date costs a statement.
//
// Counters are created outside of the ordering transaction, because two processes that each had inserted a row and
// waited for the other's row would deadlock. It is safe for concurrent use. Counters are never deleted, so the cache
// is never wrong.
type Counters struct {
	db    *sqldb.DB
	mu    sync.RWMutex
	known map[stock.Key]struct{}
}

// maxKnown bounds the cache to the counters of a few days of a large branch. A full cache is emptied.
const maxKnown = 100_000

// NewCounters returns Counters with an empty cache.
func NewCounters(db *sqldb.DB) *Counters {
	return &Counters{db: db, known: map[stock.Key]struct{}{}}
}

// Ensure creates the missing counters of a hold. Items that are not on the branch's menus get no counter, so SQL
// refuses them. Call it before the transaction. If two callers create the same counter, the second one changes
// nothing.
func (c *Counters) Ensure(ctx context.Context, h stock.Hold) error {
	if h.Scope.IsStock() {
		return nil // stock counters are created with their items
	}
	var missing []stock.Key
	c.mu.RLock()
	for _, l := range h.Lines {
		k := stock.Key{Scope: h.Scope, Item: l.Item}
		if _, ok := c.known[k]; !ok {
			missing = append(missing, k)
		}
	}
	c.mu.RUnlock()
	if missing == nil {
		return nil
	}
	if _, err := c.db.Exec(ctx, stmt("counter_ensure"), keyRows(missing)); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) > maxKnown {
		clear(c.known)
	}
	for _, k := range missing {
		c.known[k] = struct{}{}
	}
	return nil
}

// keyRows returns keys as the rows of a statement. Keys must be sorted where the statement locks rows.
func keyRows(keys []stock.Key) *sqldb.RowSet {
	return sqldb.NewRowSet(len(keys)).
		Int("branch_id", func(i int) int64 { return keys[i].Scope.Branch }).
		Text("stat_date", func(i int) string { return keys[i].Scope.Date }).
		Int("item", func(i int) int64 { return keys[i].Item })
}

// KeysOf returns the counters that holds touch, each once, in lock order. Transactions that lock in this order cannot
// deadlock with each other.
func KeysOf(holds ...[]stock.Hold) []stock.Key {
	set := map[stock.Key]struct{}{}
	for _, group := range holds {
		for _, h := range group {
			for key := range h.Quantities {
				set[key] = struct{}{}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(set), compareKeys)
}

func compareKeys(a, b stock.Key) int {
	return cmp.Or(cmp.Compare(a.Scope.Branch, b.Scope.Branch), cmp.Compare(a.Scope.Date, b.Scope.Date),
		cmp.Compare(a.Item, b.Item))
}

// splitKeys separates the counters of quotas from those of stock, which are locked after them.
func splitKeys(keys []stock.Key) (quotas, items []stock.Key) {
	for _, k := range keys {
		if k.Scope.IsStock() {
			items = append(items, k)
		} else {
			quotas = append(quotas, k)
		}
	}
	return quotas, items
}

// QueueLock locks counters in their order with the next flush and loads them into the balances. Counters that do not
// exist are not loaded, so operations on them return NotFound.
func QueueLock(tx sqldb.Tx, keys []stock.Key, balances *stock.Balances) {
	quotas, items := splitKeys(keys)
	queueLockQuotas(tx, quotas, balances)
	queueLockItems(tx, items, balances)
}

// queueLockQuotas queues the statement that locks the counters of quotas and loads them into balances. The statement locks
// in the order of the keys, which is the same in every transaction.
func queueLockQuotas(tx sqldb.Tx, keys []stock.Key, balances *stock.Balances) {
	if len(keys) == 0 {
		return
	}
	tx.QueueQuery(func(rows sqldb.Rows) error {
		var scope stock.Scope
		var c stock.Count
		var limit sql.NullInt64
		if err := rows.Scan(&scope.Branch, &scope.Date, &c.Item, &limit, &c.Held, &c.Used); err != nil {
			return err
		}
		c.Cap = capOf(limit)
		balances.LoadCount(scope, c)
		return nil
	}, stmt("counter_lock"), keyRows(keys))
}

func capOf(limit sql.NullInt64) int64 {
	if !limit.Valid {
		return stock.Unlimited
	}
	return limit.Int64
}

// QueueDeltas writes the changes of the counters in the balances. The changes are differences and not sums. Each row
// must exist: an update that finds fewer rows fails the transaction, because units would be lost silently.
func QueueDeltas(tx sqldb.Tx, balances *stock.Balances) {
	var quotas, items counterChanges
	balances.Deltas(func(k stock.Key, c stock.Counter) {
		if k.Scope.IsStock() {
			items.add(k, c)
		} else {
			quotas.add(k, c)
		}
	})
	if n := len(quotas.keys); n > 0 {
		tx.QueueExactly(int64(n), stmt("counter_add"), keyRows(quotas.keys).
			Int("held", func(i int) int64 { return quotas.counters[i].DeltaHeld }).
			Int("used", func(i int) int64 { return quotas.counters[i].DeltaUsed }))
	}
	queueItemDeltas(tx, items)
}

// QueueUsed counts units of orders that were sold elsewhere, and creates missing counters. It locks the counters in their
// order.
func QueueUsed(tx sqldb.Tx, used map[stock.Key]int64) {
	keys := slices.SortedFunc(maps.Keys(used), compareKeys)
	if len(keys) == 0 {
		return
	}
	tx.Queue(stmt("counter_ensure"), keyRows(keys))
	tx.QueueExactly(int64(len(keys)), stmt("counter_add"), keyRows(keys).
		Int("held", func(int) int64 { return 0 }).Int("used", func(i int) int64 { return used[keys[i]] }))
}

type counterChanges struct {
	keys     []stock.Key
	counters []stock.Counter
}

func (c *counterChanges) add(k stock.Key, n stock.Counter) {
	c.keys, c.counters = append(c.keys, k), append(c.counters, n)
}

// Counts returns a scope's counters without locking them. They are compared with the admission cache, so they may be
// slightly outdated.
func (st *Store) Counts(ctx context.Context, s stock.Scope) ([]stock.Count, error) {
	return counts(ctx, st.db, s)
}

func counts(ctx context.Context, c sqldb.Reader, s stock.Scope) ([]stock.Count, error) {
	if s.IsStock() {
		return sqldb.Collect(ctx, c, scanItemCount, stmt("inventory_select_branch"), s.Branch)
	}
	return sqldb.Collect(ctx, c, scanCount, stmt("counter_select_scope"), s.Branch, s.Date)
}

// OpenHolds returns the number of unpaid holds of a business date that contain a menu item, and their units of it.
func (st *Store) OpenHolds(ctx context.Context, s stock.Scope, item int64) (holds, units int64, err error) {
	open, err := sqldb.Collect(ctx, st.db, scanHold, stmt("hold_open"), s.Branch, s.Date)
	for _, h := range open {
		for _, line := range h.Hold.Lines {
			if line.Item == item {
				holds, units = holds+1, units+line.Qty
			}
		}
	}
	return holds, units, err
}

func scanCount(r sqldb.Rows) (c stock.Count, err error) {
	var limit sql.NullInt64
	err = r.Scan(&c.Item, &limit, &c.Held, &c.Used)
	c.Cap = capOf(limit)
	return c, err
}

// SetCap changes the cap of an item from a business date on and queues the change for the admission cache. It runs in
// the caller's transaction; nil means unlimited. Later dates without a counter take the standing quota when their
// counter is created.
func SetCap(ctx context.Context, tx sqldb.Tx, s stock.Scope, item int64, quota *int64, now time.Time) error {
	key := []stock.Key{{Scope: s, Item: item}}
	if _, err := tx.Exec(ctx, stmt("counter_ensure"), keyRows(key)); err != nil {
		return err
	}
	dates, err := sqldb.Collect(ctx, tx, sqldb.Value[string], stmt("counter_cap"), s.Branch, item, s.Date, quota)
	if err != nil {
		return err
	}
	limit := stock.Unlimited
	if quota != nil {
		limit = *quota
	}
	ops := make([]stock.Op, len(dates))
	for i, d := range dates {
		ops[i] = stock.Op{Kind: stock.OpCap, Hold: stock.Hold{
			Scope: stock.Scope{Branch: s.Branch, Date: d}, Lines: []stock.Line{{Item: item, Qty: limit}},
		}}
	}
	_, err = QueueOps(tx, ops, func() string { return uid.New(now) }, now.UnixMilli()) // one entry per date
	return err
}

// wireOp is an operation as stored in redis_outbox. The row's own columns contain its scope. Rows of an earlier
// release must stay readable during an upgrade, so fields may be added but not changed. The short names keep rows
// small, because every order writes a row.
type wireOp struct {
	Kind  stock.OpKind `json:"k"`
	ID    string       `json:"id,omitempty"`
	Lines [][2]int64   `json:"l,omitempty"`
	Until int64        `json:"u,omitempty"`
}

// QueueOps writes the operations that the admission cache must apply after the commit. It writes one row per scope,
// because many rows cost more than long ones. It returns the entries, so that the caller can pass them to the cache
// after the commit without reading them back.
func QueueOps(tx sqldb.Tx, ops []stock.Op, newID func() string, now int64) ([]stock.OutboxEntry, error) {
	var entries []stock.OutboxEntry
	index := map[stock.Scope]int{}
	for _, op := range ops {
		i, ok := index[op.Hold.Scope]
		if !ok {
			i = len(entries)
			index[op.Hold.Scope] = i
			entries = append(entries, stock.OutboxEntry{ID: newID(), Scope: op.Hold.Scope, At: time.UnixMilli(now).UTC()})
		}
		entries[i].Ops = append(entries[i].Ops, op)
	}
	if entries == nil {
		return nil, nil
	}
	texts := make([]string, len(entries))
	for i, e := range entries {
		text, err := json.Marshal(encodeOps(e.Ops))
		if err != nil {
			return nil, fault.Wrap("write cache operations", err)
		}
		texts[i] = string(text)
	}
	tx.Queue(stmt("ops_insert"), sqldb.NewRowSet(len(entries)).
		Text("id", func(i int) string { return entries[i].ID }).
		Int("branch_id", func(i int) int64 { return entries[i].Scope.Branch }).
		Text("biz_date", func(i int) string { return entries[i].Scope.Date }).
		Text("ops", func(i int) string { return texts[i] }).
		Int("created_at", func(int) int64 { return now }))
	return entries, nil
}

func encodeOps(ops []stock.Op) []wireOp {
	out := make([]wireOp, len(ops))
	for i, op := range ops {
		out[i] = wireOp{Kind: op.Kind, ID: op.Hold.ID}
		if !op.Hold.Until.IsZero() {
			out[i].Until = op.Hold.Until.UnixMilli()
		}
		for _, l := range op.Hold.Lines {
			out[i].Lines = append(out[i].Lines, [2]int64{l.Item, l.Qty})
		}
	}
	return out
}

// decodeOps reads the operations of an outbox row. The scope is a column of the row and not repeated in the text.
func decodeOps(scope stock.Scope, text string) ([]stock.Op, error) {
	var in []wireOp
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return nil, fault.Wrap("read cache operations", err)
	}
	ops := make([]stock.Op, len(in))
	for i, w := range in {
		ops[i] = stock.Op{Kind: w.Kind, Hold: stock.Hold{ID: w.ID, Scope: scope}}
		if w.Until != 0 {
			ops[i].Hold.Until = time.UnixMilli(w.Until).UTC()
		}
		for _, l := range w.Lines {
			ops[i].Hold.Lines = append(ops[i].Hold.Lines, stock.Line{Item: l[0], Qty: l[1]})
		}
	}
	return ops, nil
}

// entries are the rows of redis_outbox. They are read instead of claimed: each operation is idempotent, so two processes
// may apply the same entry.
var entries = queuesql.New(queuesql.Spec{
	Table: "redis_outbox", Columns: "id, branch_id, biz_date, ops, created_at, attempts",
	Due: "due_at", Order: "id", Since: "created_at", Pending: "dead_at IS NULL", Died: "dead_at",
	Outcome: "error = r.reason, dead_at = NULLIF(r.died, 0)",
}, scanEntry)

// QueueDeleteEntries deletes entries that Redis has applied.
func QueueDeleteEntries(tx sqldb.Tx, ids []string) { entries.QueueDelete(tx, ids) }

// Unapplied implements stock.SyncStore. The order of ids is the order of writing.
func (st *Store) Unapplied(ctx context.Context, before time.Time, after string, limit int) ([]stock.OutboxEntry, error) {
	return sqldb.Collect(ctx, st.db, scanEntry, stmt("ops_select"), before.UnixMilli(), after, limit)
}

// scanEntry reads a row of redis_outbox. An entry that cannot be decoded is returned with its error. If scanEntry
// failed instead, that entry would block all others.
func scanEntry(r sqldb.Rows) (e stock.OutboxEntry, err error) {
	var text string
	if err := r.Scan(&e.ID, &e.Scope.Branch, &e.Scope.Date, &text, sqldb.Time(&e.At), &e.Attempts); err != nil {
		return e, err
	}
	e.Ops, e.DecodeErr = decodeOps(e.Scope, text)
	return e, nil
}

// RetryDead resets the attempts of dead entries, so that they are tried again, and returns their number. An empty id
// selects all. Replay sends them in its next round.
func (st *Store) RetryDead(ctx context.Context, id string) (int64, error) {
	return st.db.Exec(ctx, stmt("ops_retry_dead"), id)
}

// DeadLetters returns a page of dead entries, newest first, and the total. An empty id selects all.
func (st *Store) DeadLetters(ctx context.Context, id string, limit, offset int) ([]queue.DeadLetter, int64, error) {
	total, err := sqldb.Scalar[int64](ctx, st.db, stmt("ops_dead_total"), id)
	if err != nil {
		return nil, 0, err
	}
	page, err := sqldb.Collect(ctx, st.db, func(r sqldb.Rows) (queue.DeadLetter, error) {
		var date, ops string
		d := queue.DeadLetter{Consumer: queue.RedisConsumer}
		err := r.Scan(&d.ID, &d.Branch, &date, &ops, sqldb.Time(&d.CreatedAt), sqldb.Time(&d.DiedAt), &d.Reason)
		d.About, d.Payload = "scope:"+cmp.Or(date, "stock"), json.RawMessage(ops)
		return d, err
	}, stmt("ops_dead"), id, limit, offset)
	return page, total, err
}
