package stocksql

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"comanda/internal/fault"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// wireOp is an operation as redis_outbox keeps it. Scope stands in the row's own columns.
type wireOp struct {
	Kind  stock.OpKind `json:"k"`
	ID    string       `json:"id,omitempty"`
	Lines [][2]int64   `json:"l,omitempty"`
	Until int64        `json:"u,omitempty"`
}

// QueueOps writes what the gate must be told after the commit: one row per scope, because rows cost more than bytes.
func QueueOps(tx sqldb.Tx, ops []stock.Op, newID func() string, now int64) ([]stock.Entry, error) {
	var entries []stock.Entry
	index := map[stock.Scope]int{}
	for _, op := range ops {
		i, ok := index[op.Hold.Scope]
		if !ok {
			i = len(entries)
			index[op.Hold.Scope] = i
			entries = append(entries, stock.Entry{ID: newID(), Scope: op.Hold.Scope, At: time.UnixMilli(now).UTC()})
		}
		entries[i].Ops = append(entries[i].Ops, op)
	}
	if entries == nil {
		return nil, nil
	}
	texts := make([]string, len(entries))
	for i, e := range entries {
		text, err := json.Marshal(wire(e.Ops))
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

func wire(ops []stock.Op) []wireOp {
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

func unwire(scope stock.Scope, text string) ([]stock.Op, error) {
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

// QueueForget deletes entries that Redis has taken in.
func QueueForget(tx sqldb.Tx, ids []string) {
	if len(ids) > 0 {
		slices.Sort(ids)
		tx.Queue(opsDelete, idRows(ids))
	}
}

// Forget deletes entries that Redis has taken in, in a transaction of its own.
func (l *Ledger) Forget(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	_, err := l.db.Exec(ctx, opsDelete, idRows(ids))
	return err
}

// Unapplied gives entries that were written at or before an instant and not deleted since, the oldest first.
func (l *Ledger) Unapplied(ctx context.Context, before time.Time, limit int) ([]stock.Entry, error) {
	rows, err := l.db.Query(ctx, opsSelect, before.UnixMilli(), limit)
	return sqldb.Collect(rows, err, func(r sqldb.Rows) (e stock.Entry, err error) {
		var text string
		var at int64
		if err := r.Scan(&e.ID, &e.Scope.Branch, &e.Scope.Date, &text, &at); err != nil {
			return e, err
		}
		e.At = time.UnixMilli(at).UTC()
		e.Ops, err = unwire(e.Scope, text)
		return e, err
	})
}

// Backlog tells how many entries Redis has not taken in, and how old the oldest is.
func (l *Ledger) Backlog(ctx context.Context, now time.Time) (n int64, age time.Duration, err error) {
	rows, err := l.db.Query(ctx, opsCount)
	pair, _, err := sqldb.One(rows, err, sqldb.Pair)
	if err != nil || pair[0] == 0 {
		return pair[0], 0, err
	}
	return pair[0], now.Sub(time.UnixMilli(pair[1])), nil
}
