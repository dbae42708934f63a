package stocksql

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// kind returns the value of hold_line.stock: 1 for a stock item, 0 for a menu item.
func kind(k stock.Key) int64 {
	if k.Scope.IsStock() {
		return 1
	}
	return 0
}

// QueueHolds inserts new holds with their lines. An id that exists violates the primary key and fails the transaction
// with ErrUnique, which keeps a tombstoned id from holding anything (I12).
func QueueHolds(tx sqldb.Tx, holds []stock.NewHold, now int64) {
	if len(holds) == 0 {
		return
	}
	type line struct {
		hold string
		key  stock.Key
		qty  int64
	}
	var lines []line
	for _, h := range holds {
		for key, qty := range h.Quantities {
			lines = append(lines, line{h.ID, key, qty})
		}
	}
	tx.Queue(stmt("hold_insert"), sqldb.NewRowSet(len(holds)).
		Text("id", func(i int) string { return holds[i].ID }).
		Int("branch_id", func(i int) int64 { return holds[i].Scope.Branch }).
		Text("biz_date", func(i int) string { return holds[i].Scope.Date }).
		Text("state", func(i int) string { return string(holds[i].State) }).
		NullText("reason", func(i int) (string, bool) { return holds[i].Reason, holds[i].Reason != "" }).
		Text("digest", func(i int) string { return holds[i].Digest() }).
		Int("expires_at", func(i int) int64 { return holds[i].Until.UnixMilli() }), now)
	if len(lines) == 0 {
		return
	}
	tx.Queue(stmt("hold_line_insert"), sqldb.NewRowSet(len(lines)).
		Text("hold_id", func(i int) string { return lines[i].hold }).
		Int("stock", func(i int) int64 { return kind(lines[i].key) }).
		Int("item", func(i int) int64 { return lines[i].key.Item }).
		Int("qty", func(i int) int64 { return lines[i].qty }))
}

// QueueTransitions writes state changes. Each must find the state that was read under the lock; otherwise the
// transaction fails. That is how payment, cancellation and expiry of one hold exclude each other (I4).
func QueueTransitions(tx sqldb.Tx, moves []stock.Transition, now int64) {
	if len(moves) == 0 {
		return
	}
	tx.QueueExactly(int64(len(moves)), stmt("hold_move"), sqldb.NewRowSet(len(moves)).
		Text("id", func(i int) string { return moves[i].ID }).
		Text("was", func(i int) string { return string(moves[i].From) }).
		Text("becomes", func(i int) string { return string(moves[i].To) }).
		NullText("reason", func(i int) (string, bool) { return moves[i].Reason, moves[i].Reason != "" }), now)
}

// QueueExtended moves deadlines of holds to later instants. A deadline never moves to an earlier instant, so a repeated
// or late extension changes nothing.
func QueueExtended(tx sqldb.Tx, until map[string]time.Time) {
	if len(until) == 0 {
		return
	}
	ids := slices.Sorted(maps.Keys(until))
	tx.Queue(stmt("hold_extend"), sqldb.IDs(ids).Int("until", func(i int) int64 { return until[ids[i]].UnixMilli() }))
}

// Holds returns holds with their lines, without a lock: the lines of a hold never change.
func Holds(ctx context.Context, c sqldb.Reader, ids []string) ([]stock.HoldState, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return collectHolds(ctx, c, stmt("hold_select"), sqldb.IDs(ids))
}

// LockHolds locks holds in the order of their ids and loads them into the balances with their current state. Lock the
// counters of the holds first, in the one order of the package.
func LockHolds(ctx context.Context, tx sqldb.Tx, holds []stock.HoldState, balances *stock.Balances) error {
	if len(holds) == 0 {
		return nil
	}
	byID := make(map[string]stock.Hold, len(holds))
	ids := make([]string, len(holds))
	for i, h := range holds {
		byID[h.Hold.ID], ids[i] = h.Hold, h.Hold.ID
	}
	return sqldb.Each(ctx, tx, func(rows sqldb.Rows) error {
		var id, state string
		if err := rows.Scan(&id, &state); err != nil {
			return err
		}
		balances.LoadHold(byID[id], stock.State(state))
		return nil
	}, stmt("hold_lock"), sqldb.IDs(ids))
}

// collectHolds reads rows of (hold, line), which are sorted by hold.
func collectHolds(ctx context.Context, c sqldb.Reader, q *sqldb.Stmt, args ...any) (all holdRows, err error) {
	err = sqldb.Each(ctx, c, all.read, q, args...)
	return all, err
}

// holdRows are holds read from rows of (hold, line), which are sorted by hold. Reading depends on that order: a row of
// another hold ends the one before it.
type holdRows []stock.HoldState

func (all *holdRows) read(r sqldb.Rows) error {
	var h stock.HoldState
	var state string
	var until int64
	var isStock, item, qty sql.NullInt64
	err := r.Scan(&h.Hold.ID, &h.Hold.Scope.Branch, &h.Hold.Scope.Date, &state, &until, &isStock, &item, &qty)
	if err != nil {
		return err
	}
	if n := len(*all); n == 0 || (*all)[n-1].Hold.ID != h.Hold.ID {
		h.State, h.Hold.Until = stock.State(state), time.UnixMilli(until).UTC()
		*all = append(*all, h)
	}
	last, line := &(*all)[len(*all)-1].Hold, stock.Line{Item: item.Int64, Qty: qty.Int64}
	switch {
	case !item.Valid:
	case isStock.Int64 == 1 && !last.Scope.IsStock():
		last.Stock = append(last.Stock, line)
	default:
		last.Lines = append(last.Lines, line)
	}
	return nil
}
