package stocksql

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"comanda/internal/fault"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// wireOp is an operation as stored in redis_outbox. Its scope is in the row's own columns.
type wireOp struct {
	Kind  stock.OpKind `json:"k"`
	ID    string       `json:"id,omitempty"`
	Lines [][2]int64   `json:"l,omitempty"`
	Until int64        `json:"u,omitempty"`
}

// QueueOps writes the operations that the admission cache must apply after the commit: one row per scope, because
// rows cost more than bytes.
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
			return nil, fault.Wrap("write gate operations", err)
		}
		texts[i] = string(text)
	}
	tx.Queue(opsInsert, sqldb.NewRowSet(len(entries)).
		Text("id", func(i int) string { return entries[i].ID }).
		Int("branch_id", func(i int) int64 { return entries[i].Scope.Branch }).
		Text("biz_date", func(i int) string { return entries[i].Scope.Date }).
		Text("ops", func(i int) string { return texts[i] }), now)
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

func decodeOps(scope stock.Scope, text string) ([]stock.Op, error) {
	var in []wireOp
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return nil, fault.Wrap("read gate operations", err)
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

// QueueDeleteEntries deletes entries that Redis has applied.
func QueueDeleteEntries(tx sqldb.Tx, ids []string) {
	if len(ids) > 0 {
		slices.Sort(ids)
		tx.Queue(opsDelete, idRows(ids))
	}
}

// DeleteEntries deletes entries that Redis has applied, in a transaction of its own.
func (l *Store) DeleteEntries(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	_, err := l.db.Exec(ctx, opsDelete, idRows(ids))
	return err
}

// Unapplied implements stock.SyncStore. The order of ids is the order of writing.
func (l *Store) Unapplied(ctx context.Context, before time.Time, after string, limit int) ([]stock.OutboxEntry, error) {
	rows, err := l.db.Query(ctx, opsSelect, before.UnixMilli(), after, limit)
	return sqldb.Collect(rows, err, scanEntry)
}

func scanEntry(r sqldb.Rows) (e stock.OutboxEntry, err error) {
	var text string
	var at int64
	if err := r.Scan(&e.ID, &e.Scope.Branch, &e.Scope.Date, &text, &at, &e.Attempts); err != nil {
		return e, err
	}
	e.At = time.UnixMilli(at).UTC()
	e.Ops, e.DecodeErr = decodeOps(e.Scope, text)
	return e, nil
}

// maxCause bounds the stored error text of a rejected entry, in bytes.
const maxCause = 500

// Postpone records one more attempt of rejected entries. If two processes tried the same entry, only the first is
// counted.
func (l *Store) Postpone(ctx context.Context, late []stock.FailedEntry, now time.Time) error {
	slices.SortFunc(late, func(a, b stock.FailedEntry) int { return strings.Compare(a.ID, b.ID) })
	_, err := l.db.Exec(ctx, opsPostpone, sqldb.NewRowSet(len(late)).
		Text("id", func(i int) string { return late[i].ID }).
		Int("was", func(i int) int64 { return int64(late[i].Attempts) }).
		Int("due_at", func(i int) int64 { return late[i].Due.UnixMilli() }).
		Int("dead", func(i int) int64 { return number(late[i].Dead) }).
		Text("error", func(i int) string { return truncated(late[i].Cause.Error()) }), now.UnixMilli())
	return err
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// truncated cuts a text to maxCause bytes at a character boundary.
func truncated(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxCause)], "")
}

// RetryDead resets the attempts of dead entries, so that they are tried again, and returns their number. An empty id
// selects all.
func (l *Store) RetryDead(ctx context.Context, id string) (int64, error) {
	return l.db.Exec(ctx, opsRevive, id)
}

// Backlog returns the number of entries that Redis has not applied, and the age of the oldest.
func (l *Store) Backlog(ctx context.Context, now time.Time) (n int64, age time.Duration, err error) {
	return l.count(ctx, opsCount, now)
}

// DeadBacklog returns the number of dead entries, and the age of the oldest.
func (l *Store) DeadBacklog(ctx context.Context, now time.Time) (n int64, age time.Duration, err error) {
	return l.count(ctx, opsCountDead, now)
}

// count reads a number and a start time.
func (l *Store) count(
	ctx context.Context, q *sqldb.Stmt, now time.Time, args ...any,
) (n int64, age time.Duration, err error) {
	rows, err := l.db.Query(ctx, q, args...)
	pair, _, err := sqldb.One(rows, err, sqldb.Pair)
	if err != nil || pair[0] == 0 {
		return pair[0], 0, err
	}
	return pair[0], max(0, now.Sub(time.UnixMilli(pair[1]))), nil
}
