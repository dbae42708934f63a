package stocksql

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"comanda/internal/fault"
	"comanda/internal/queue"
	"comanda/internal/queue/queuesql"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

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
func (l *Store) Unapplied(ctx context.Context, before time.Time, after string, limit int) ([]stock.OutboxEntry, error) {
	return sqldb.Collect(ctx, l.db, scanEntry, stmt("ops_select"), before.UnixMilli(), after, limit)
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
func (l *Store) RetryDead(ctx context.Context, id string) (int64, error) {
	return l.db.Exec(ctx, stmt("ops_retry_dead"), id)
}

// DeadLetters returns a page of dead entries, newest first, and the total. An empty id selects all.
func (l *Store) DeadLetters(ctx context.Context, id string, limit, offset int) ([]queue.DeadLetter, int64, error) {
	total, err := sqldb.Scalar[int64](ctx, l.db, stmt("ops_dead_total"), id)
	if err != nil {
		return nil, 0, err
	}
	page, err := sqldb.Collect(ctx, l.db, func(r sqldb.Rows) (queue.DeadLetter, error) {
		var date, ops string
		d := queue.DeadLetter{Consumer: queue.RedisConsumer}
		err := r.Scan(&d.ID, &d.Branch, &date, &ops, sqldb.Time(&d.CreatedAt), sqldb.Time(&d.DiedAt), &d.Reason)
		d.About, d.Payload = "scope:"+cmp.Or(date, "stock"), json.RawMessage(ops)
		return d, err
	}, stmt("ops_dead"), id, limit, offset)
	return page, total, err
}
