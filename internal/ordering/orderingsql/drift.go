package orderingsql

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"comanda/internal/ordering"
	"comanda/internal/sqldb"
	"comanda/internal/stock/stocksql"
)

// maxDrift is the maximum number of reported differences per kind. The first few show a systematic error, and
// thousands of them would hide the other kinds.
const maxDrift = 50

// overdueGrace is how long an unpaid hold may outlive its deadline before it counts as overdue (I10). The sweeper runs
// periodically and needs some time.
const overdueGrace = 5 * time.Second

// Drift compares orders with their holds and payments, from a business date on, in all branches. It returns one
// sentence per difference, at most maxDrift per kind, and nothing if all agree.
func (s *Orders) Drift(ctx context.Context, from string, now time.Time) ([]string, error) {
	return s.DriftOf(ctx, 0, from, now)
}

// DriftOf is Drift for one branch, or for all if branch is 0. All comparisons read one snapshot. It takes no locks, so
// it may run beside servers.
func (s *Orders) DriftOf(ctx context.Context, branch int64, from string, now time.Time) (found []string, err error) {
	err = s.db.Snapshot(ctx, func(ctx context.Context, at sqldb.Reader) error {
		d := drift{at: at, branch: branch, from: from}
		d.windows(ctx, nextOrders, stmt("drift_states"), describeState)
		d.windows(ctx, nextOrders, stmt("drift_lines"), describeLine)
		d.parts(ctx)
		d.windows(ctx, stocksql.NextHolds, stmt("drift_orphans"), describeOrphan)
		d.windows(ctx, nextOrders, stmt("drift_money"), describeMoney)
		// Few holds are HELD, so one statement can compare all of them.
		d.run(ctx, stmt("drift_overdue"), describeOverdue, now.Add(-overdueGrace).UnixMilli(), maxDrift, branch)
		found = d.found
		return d.err
	})
	return found, err
}

// drift collects differences until the first error.
type drift struct {
	at     sqldb.Reader
	branch int64
	from   string
	found  []string
	err    error
}

// perWindow is the number of rows that one statement compares. It keeps each statement below a second, regardless of
// the table's size.
const perWindow = 10_000

// windows runs stmt on successive ranges of ids until the rows end or maxDrift differences are found. Each kind has its
// own maximum: differences of another kind do not use it up.
func (d *drift) windows(
	ctx context.Context, next func(ctx context.Context, at sqldb.Reader, after string, n int) (string, error),
	stmt *sqldb.Stmt, say func(sqldb.Rows) (string, error),
) {
	enough := len(d.found) + maxDrift
	for after := ""; d.err == nil && len(d.found) < enough; {
		to, err := next(ctx, d.at, after, perWindow)
		if d.err = err; err != nil || to == "" {
			return
		}
		d.run(ctx, stmt, say, d.from, enough-len(d.found), d.branch, after, to)
		after = to
	}
}

// parts compares the holds of orders with options, in windows. Which dishes a combo contains is in the JSON of its line,
// so Go compares them.
func (d *drift) parts(ctx context.Context) {
	enough := len(d.found) + maxDrift
	for after := ""; d.err == nil && len(d.found) < enough; {
		to, err := nextOrders(ctx, d.at, after, perWindow)
		if d.err = err; err != nil || to == "" {
			return
		}
		orders, held := []*ordering.Order{}, map[string]string{}
		d.err = sqldb.Each(ctx, d.at, func(r sqldb.Rows) error {
			var id, lines string
			var it ordering.Item
			if err := r.Scan(&id, &it.ItemID, &it.Qty, &it.Options, &lines); err != nil {
				return err
			}
			if n := len(orders); n == 0 || orders[n-1].ID != id {
				orders = append(orders, &ordering.Order{ID: id})
			}
			o := orders[len(orders)-1]
			o.Items, held[id] = append(o.Items, it), lines
			return nil
		}, stmt("drift_parts"), d.from, d.branch, after, to)
		for _, o := range orders {
			if want, ok := wantParts(o, held[o.ID]); !ok && len(d.found) < enough {
				d.found = append(d.found, fmt.Sprintf("order %s takes %q with its options, and its hold has %q (item:quantity)",
					o.ID, want, held[o.ID]))
			}
		}
		after = to
	}
}

// wantParts returns the units of menu items that an order takes, in the form of a hold's lines, and reports whether the
// hold has them.
func wantParts(o *ordering.Order, held string) (want string, ok bool) {
	h, err := o.Hold(o.ID)
	if err != nil {
		return err.Error(), false
	}
	var lines []string
	for _, l := range h.Lines {
		lines = append(lines, fmt.Sprintf("%d:%d", l.Item, l.Qty))
	}
	// Stock follows the menu items.
	items := slices.DeleteFunc(strings.Fields(held), func(s string) bool { return strings.HasPrefix(s, "s") })
	return strings.Join(lines, " "), slices.Equal(lines, items)
}

// run adds the differences that one statement finds. After an error it does nothing.
func (d *drift) run(ctx context.Context, stmt *sqldb.Stmt, say func(sqldb.Rows) (string, error), args ...any) {
	if d.err != nil {
		return
	}
	found, err := sqldb.Collect(ctx, d.at, say, stmt, args...)
	d.found, d.err = append(d.found, found...), err
}

// nextOrders returns the last id of the window after an id, and "" at the end.
func nextOrders(ctx context.Context, at sqldb.Reader, after string, n int) (to string, err error) {
	return sqldb.Scalar[string](ctx, at, stmt("drift_window"), after, n)
}

func describeState(r sqldb.Rows) (string, error) {
	var id, status, payment, hold string
	err := r.Scan(&id, &status, &payment, &hold)
	return fmt.Sprintf("order %s is %s/%s and its hold is %s", id, status, payment, hold), err
}

func describeLine(r sqldb.Rows) (string, error) {
	var id, held string
	var item, ordered int64
	err := r.Scan(&id, &item, &ordered, &held)
	return fmt.Sprintf("order %s lists %d of item %d, and its hold has %q (item:quantity)", id, ordered, item, held), err
}

func describeOrphan(r sqldb.Rows) (string, error) {
	var id, state string
	err := r.Scan(&id, &state)
	return fmt.Sprintf("hold %s is %s and belongs to no order", id, state), err
}

func describeMoney(r sqldb.Rows) (string, error) {
	var id, payment string
	var total, captured, refunded int64
	err := r.Scan(&id, &payment, &total, &captured, &refunded)
	return fmt.Sprintf("order %s of %d is %s, with %d captured and %d to be refunded",
		id, total, payment, captured, refunded), err
}

func describeOverdue(r sqldb.Rows) (string, error) {
	var id string
	var at int64
	err := r.Scan(&id, &at)
	return fmt.Sprintf("hold %s is overdue since %s", id, time.UnixMilli(at).UTC().Format(time.RFC3339)), err
}
