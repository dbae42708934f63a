package stocksql

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// QueueHolds inserts new holds with their lines. An id that exists violates the primary key and fails the transaction
// with ErrUnique, which keeps a tombstoned id from holding anything (I12).
func QueueHolds(tx sqldb.Tx, holds []stock.NewHold, now int64) {
	if len(holds) == 0 {
		return
	}
	tx.Queue(stmt("hold_insert"), sqldb.NewRowSet(len(holds)).
		Text("id", func(i int) string { return holds[i].ID }).
		Int("branch_id", func(i int) int64 { return holds[i].Scope.Branch }).
		Text("biz_date", func(i int) string { return holds[i].Scope.Date }).
		Text("state", func(i int) string { return string(holds[i].State) }).
		Text("reason", func(i int) string { return holds[i].Reason }).
		Text("lines", func(i int) string { return formatLines(holds[i].Hold) }).
		Int("expires_at", func(i int) int64 { return holds[i].Until.UnixMilli() }), now)
}

// formatLines returns the lines of a hold in the form of the column hold.lines: item:quantity, separated by spaces,
// with an s before stock items. Lines have no rows of their own, because they never change and no statement selects a
// single line.
func formatLines(h stock.Hold) string {
	b := make([]byte, 0, 16*(len(h.Lines)+len(h.Stock)))
	for key, qty := range h.Quantities {
		if len(b) > 0 {
			b = append(b, ' ')
		}
		if key.Scope.IsStock() {
			b = append(b, 's')
		}
		b = strconv.AppendInt(b, key.Item, 10)
		b = append(b, ':')
		b = strconv.AppendInt(b, qty, 10)
	}
	return string(b)
}

// parseLines is the inverse of formatLines. It sets the lines of a hold whose scope is set.
func parseLines(h *stock.Hold, lines string) error {
	for field := range strings.FieldsSeq(lines) {
		text, isStock := strings.CutPrefix(field, "s")
		item, qty, _ := strings.Cut(text, ":")
		id, err := strconv.ParseInt(item, 10, 64)
		if err != nil {
			return fmt.Errorf("stocksql: lines %q: %w", lines, err)
		}
		n, err := strconv.ParseInt(qty, 10, 64)
		if err != nil {
			return fmt.Errorf("stocksql: lines %q: %w", lines, err)
		}
		if isStock && !h.Scope.IsStock() {
			h.Stock = append(h.Stock, stock.Line{Item: id, Qty: n})
		} else {
			h.Lines = append(h.Lines, stock.Line{Item: id, Qty: n})
		}
	}
	return nil
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
		Text("reason", func(i int) string { return moves[i].Reason }), now)
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
	return sqldb.Collect(ctx, c, scanHold, stmt("hold_select"), sqldb.IDs(ids))
}

// scanHold reads the columns of the fragment hold_columns.
func scanHold(r sqldb.Rows) (h stock.HoldState, err error) {
	var state, lines string
	var until int64
	err = r.Scan(&h.Hold.ID, &h.Hold.Scope.Branch, &h.Hold.Scope.Date, &state, &until, &lines)
	if err != nil {
		return h, err
	}
	h.State, h.Hold.Until = stock.State(state), time.UnixMilli(until).UTC()
	return h, parseLines(&h.Hold, lines)
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
