package stocksql

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// driftWindow is the number of holds that one statement sums up, so that each statement takes a fraction of a second,
// whatever the number of holds.
const driftWindow = 20_000

// Drift compares counters with the holds that they count (I1): quotas from a business date on, and stock. It returns
// one sentence per difference, none if all agree.
func (st *Store) Drift(ctx context.Context, from string) ([]string, error) {
	return st.DriftOf(ctx, 0, from)
}

// DriftOf is Drift for one branch, or for all with 0. All windows read one snapshot, so orders that commit meanwhile
// show no difference. It locks nothing.
func (st *Store) DriftOf(ctx context.Context, branch int64, from string) (found []string, err error) {
	err = st.db.Snapshot(ctx, func(ctx context.Context, at sqldb.Reader) error {
		sums, err := sumHolds(ctx, at, branch, from)
		if err != nil {
			return err
		}
		counters, err := driftOfCounters(ctx, at, branch, from, sums)
		if err != nil {
			return err
		}
		items, err := driftOfItems(ctx, at, branch, sums)
		if err != nil {
			return err
		}
		found = slices.Concat(counters, items, orphanHolds(sums))
		return nil
	})
	return found, err
}

// holdSum is the number of units that holds take from one counter.
type holdSum struct{ held, used, holds int64 }

// plus returns the sum with one more hold, which is HELD or CONFIRMED.
func (s holdSum) plus(state stock.State, qty int64) holdSum {
	if state == stock.Held {
		s.held += qty
	} else {
		s.used += qty
	}
	s.holds++
	return s
}

// sumHolds sums all holds, window by window. Holds of stock are included however old they are.
func sumHolds(ctx context.Context, at sqldb.Reader, branch int64, from string) (map[stock.Key]holdSum, error) {
	sums := map[stock.Key]holdSum{}
	for after := ""; ; {
		to, err := NextHolds(ctx, at, after, driftWindow)
		if err != nil || to == "" {
			return sums, err
		}
		err = sqldb.Each(ctx, at, func(r sqldb.Rows) error {
			var h stock.Hold
			var state, lines string
			if err := r.Scan(&h.Scope.Branch, &h.Scope.Date, &state, &lines); err != nil {
				return err
			}
			if err := parseLines(&h, lines); err != nil {
				return err
			}
			for k, qty := range h.Quantities {
				if k.Scope.IsStock() || k.Scope.Date >= from {
					sums[k] = sums[k].plus(stock.State(state), qty)
				}
			}
			return nil
		}, stmt("drift_holds"), from, branch, after, to)
		if err != nil {
			return nil, err
		}
		after = to
	}
}

// NextHolds returns the id of the last of the next n holds in the order of ids, empty when there are none.
func NextHolds(ctx context.Context, at sqldb.Reader, after string, n int) (to string, err error) {
	return sqldb.Scalar[string](ctx, at, stmt("drift_window"), after, n)
}

// driftOfCounters compares quotas and removes those with a counter from the sums.
func driftOfCounters(
	ctx context.Context, at sqldb.Reader, branch int64, from string, sums map[stock.Key]holdSum,
) (found []string, err error) {
	_, err = sqldb.Collect(ctx, at, func(r sqldb.Rows) (k stock.Key, err error) {
		var held, used int64
		err = r.Scan(&k.Scope.Branch, &k.Scope.Date, &k.Item, &held, &used)
		s := sums[k]
		delete(sums, k)
		if s.held != held || s.used != used {
			found = append(found, fmt.Sprintf(
				"branch %d, %s, item %d: the counter says held %d and used %d, its holds say %d and %d",
				k.Scope.Branch, k.Scope.Date, k.Item, held, used, s.held, s.used))
		}
		return k, err
	}, stmt("drift_counters"), from, branch)
	return found, err
}

// driftOfItems compares stock, whose units all come from adjustments, and removes the existing items from the sums.
func driftOfItems(
	ctx context.Context, at sqldb.Reader, branch int64, sums map[stock.Key]holdSum,
) (found []string, err error) {
	_, err = sqldb.Collect(ctx, at, func(r sqldb.Rows) (k stock.Key, err error) {
		var available, reserved, sold, units int64
		var sku string
		err = r.Scan(&k.Scope.Branch, &k.Item, &sku, &available, &reserved, &sold, &units)
		s := sums[k]
		delete(sums, k)
		if reserved != s.held || sold != s.used || available+reserved+sold != units {
			found = append(found, fmt.Sprintf("branch %d, stock item %s: available %d, reserved %d, sold %d; its holds say "+
				"reserved %d and sold %d, its adjustments %d in all",
				k.Scope.Branch, sku, available, reserved, sold, s.held, s.used, units))
		}
		return k, err
	}, stmt("drift_inventory"), branch)
	return found, err
}

// orphanHolds returns the holds left in the sums: those of counters that do not exist.
func orphanHolds(sums map[stock.Key]holdSum) (found []string) {
	for _, k := range slices.SortedFunc(maps.Keys(sums), compareKeys) {
		if k.Scope.IsStock() {
			found = append(found, fmt.Sprintf("branch %d, stock item number %d: %d holds and no such item",
				k.Scope.Branch, k.Item, sums[k].holds))
			continue
		}
		found = append(found, fmt.Sprintf("branch %d, %s, item %d: %d holds and no counter",
			k.Scope.Branch, k.Scope.Date, k.Item, sums[k].holds))
	}
	return found
}
