package catalogsql

import (
	"context"
	"errors"
	"slices"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
)

// itemRow is a menu item and its OffItem, if off is set.
type itemRow struct {
	dish  int64
	quota *int64
	off   bool
	catalog.OffItem
}

func selectItem(ctx context.Context, tx sqldb.Tx, item int64) (itemRow, error) {
	it, err := sqldb.Get(ctx, tx, catalog.ErrItem, func(r sqldb.Rows) (it itemRow, err error) {
		err = r.Scan(&it.dish, &it.quota, sqldb.Time(&it.Since), sqldb.Time(&it.Until), &it.By)
		it.off, it.Item = !it.Since.IsZero(), item
		return it, err
	}, stmt("off_select"), item)
	return it, err
}

// TakeOff marks an item as off and calls the hook to set today's cap to 0. The hook's update waits for transactions
// that hold the counter; later orders find nothing left. Counters of later business dates start with a cap of 0 up to
// LastDate. The items of the same dish on other menus of the branch go off with it: the kitchen has run out of a dish, and
// another menu would sell it on.
func (s *Store) TakeOff(
	ctx context.Context, by authz.Actor, item int64, until catalog.Until, now time.Time,
) (at catalog.ItemRef, a catalog.OffItem, err error) {
	err = s.writeQuota(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		branch, err := lockBranch(ctx, tx, by, stmt("branch_lock_item"), item, catalog.ErrItem)
		if err != nil {
			return err
		}
		it, err := selectItem(ctx, tx, item)
		if err != nil {
			return err
		}
		b, _, err := sqldb.One(ctx, tx, scanBranch, stmt("branch_select"), branch)
		if err != nil {
			return err
		}
		at, a = catalog.ItemRef{Branch: branch, Dish: it.dish}, catalog.OffItem{Item: item, Since: now, By: by.String()}
		// A repeated call only changes the end.
		if it.off {
			a.Since = it.Since
		}
		if a.Until, err = until.Instant(b.Calendar(), now); err != nil {
			return err
		}
		all, err := sqldb.Collect(ctx, tx, sqldb.Value[int64], stmt("off_same_dish"), item)
		if err != nil {
			return err
		}
		tx.Queue(stmt("branch_touch"), branch)
		for _, same := range all {
			tx.QueueExactly(1, stmt("off_set"), same, sqldb.NullMillis(a.Since), sqldb.NullMillis(a.Until),
				a.LastDate(b.Calendar()), a.By)
			if err := s.hook(ctx, tx, branch, same, new(int64)); err != nil {
				return err
			}
		}
		return auditsql.Record(ctx, tx, auditEntry(by, now, audit.ActionItemOff, "menuItem", item, branch).
			WithAfter(map[string]any{"until": sqldb.NullMillis(a.Until)}))
	})
	return at, a, err
}

// Restore puts an item back on sale, and with it the items of its dish on other menus of the branch. It does nothing for
// an item that is not off.
func (s *Store) Restore(ctx context.Context, by authz.Actor, item int64, now time.Time) (catalog.ItemRef, error) {
	return s.restore(ctx, by, item, now, func(catalog.OffItem) bool { return true })
}

// restore restores an item that is off if wanted accepts it, and those of its dish that are off. wanted runs under the
// branch's lock.
func (s *Store) restore(
	ctx context.Context, by authz.Actor, item int64, now time.Time, wanted func(catalog.OffItem) bool,
) (at catalog.ItemRef, err error) {
	err = s.writeQuota(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		branch, err := lockBranch(ctx, tx, by, stmt("branch_lock_item"), item, catalog.ErrItem)
		if err != nil {
			return err
		}
		it, err := selectItem(ctx, tx, item)
		at = catalog.ItemRef{Branch: branch, Dish: it.dish}
		if err != nil || !it.off || !wanted(it.OffItem) {
			return err
		}
		all, err := sqldb.Collect(ctx, tx, sqldb.Value[int64], stmt("off_same_dish"), item)
		if err != nil {
			return err
		}
		tx.Queue(stmt("branch_touch"), branch)
		for _, id := range all {
			same, err := selectItem(ctx, tx, id)
			if err != nil {
				return err
			}
			if !same.off {
				continue
			}
			tx.QueueExactly(1, stmt("off_set"), id, nil, nil, nil, "")
			// Today's counter gets the standing quota again, even if the quota was set while the item was off.
			if err := s.hook(ctx, tx, branch, id, same.quota); err != nil {
				return err
			}
		}
		return auditsql.Record(ctx, tx, auditEntry(by, now, audit.ActionItemRestored, "menuItem", item, branch).
			WithBefore(map[string]any{"until": sqldb.NullMillis(it.Until), "by": it.By}))
	})
	return at, err
}

// RestoreDue restores the items whose Until has passed. It checks each item again under the lock, because a later end
// may have been set meanwhile. If one item fails, the others are restored nevertheless.
func (s *Store) RestoreDue(ctx context.Context, now time.Time) ([]int64, error) {
	items, err := sqldb.Collect(ctx, s.db, sqldb.Value[int64], stmt("off_due"), now.UnixMilli())
	if err != nil {
		return nil, err
	}
	var branches []int64
	var failures []error
	for _, item := range items {
		at, err := s.restore(ctx, authz.System(), item, now, func(a catalog.OffItem) bool {
			return !a.Until.IsZero() && !a.Until.After(now)
		})
		failures = append(failures, err)
		if err == nil && !slices.Contains(branches, at.Branch) {
			branches = append(branches, at.Branch)
		}
	}
	return branches, errors.Join(failures...)
}

// OffItems returns the items of a branch that are off, by item.
func (s *Store) OffItems(ctx context.Context, branch int64) (map[int64]catalog.OffItem, error) {
	all, err := sqldb.Collect(ctx, s.db, sqldb.Row(func(a *catalog.OffItem) []any {
		return []any{&a.Item, sqldb.Time(&a.Since), sqldb.Time(&a.Until), &a.By}
	}), stmt("off_list"), branch)
	return seq.Index(all, func(a catalog.OffItem) int64 { return a.Item }), err
}

var scanOffOption = sqldb.Row(func(o *catalog.OffOption) []any {
	return []any{&o.Option, sqldb.Time(&o.Since), sqldb.Time(&o.Until), &o.By}
})

// AddUnavailableOption marks an option as off in a branch. Orders read the row in the transaction that places them.
func (s *Store) AddUnavailableOption(
	ctx context.Context, by authz.Actor, branch, option int64, until catalog.Until, now time.Time,
) (off catalog.OffOption, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		b, current, err := lockOff(ctx, tx, by, branch, option)
		if err != nil {
			return err
		}
		off = catalog.OffOption{Option: option, Since: now, By: by.String()}
		// A repeated call only changes the end.
		if !current.Since.IsZero() {
			off.Since = current.Since
		}
		if off.Until, err = until.Instant(b.Calendar(), now); err != nil {
			return err
		}
		tx.QueueExactly(1, stmt("choice_off_set"), branch, option, off.Since.UnixMilli(), sqldb.NullMillis(off.Until), off.By)
		tx.Queue(stmt("branch_touch"), branch)
		return auditsql.Record(ctx, tx, auditEntry(by, now, audit.ActionOptionOff, "option", option, branch).
			WithAfter(map[string]any{"until": sqldb.NullMillis(off.Until)}))
	})
	return off, err
}

// lockOff locks a branch and returns it, and the option's state there; Since is zero if it is not off.
func lockOff(
	ctx context.Context, tx sqldb.Tx, by authz.Actor, branch, option int64,
) (b catalog.Branch, off catalog.OffOption, err error) {
	if _, err = lockBranch(ctx, tx, by, stmt("branch_lock"), branch, catalog.ErrBranch); err != nil {
		return b, off, err
	}
	if b, _, err = sqldb.One(ctx, tx, scanBranch, stmt("branch_select"), branch); err != nil {
		return b, off, err
	}
	_, found, err := sqldb.One(ctx, tx, sqldb.Value[int64], stmt("choice_group"), option)
	if err == nil && !found {
		err = catalog.ErrOptionMissing
	}
	if err != nil {
		return b, off, err
	}
	off, _, err = sqldb.One(ctx, tx, scanOffOption, stmt("choice_off_select"), branch, option)
	return b, off, err
}

// RestoreOption puts an option back on sale. It does nothing for an option that is not off.
func (s *Store) RestoreOption(ctx context.Context, by authz.Actor, branch, option int64, now time.Time) error {
	return s.restoreOption(ctx, by, branch, option, now, func(catalog.OffOption) bool { return true })
}

// restoreOption restores an option that is off if wanted accepts it. wanted runs under the branch's lock.
func (s *Store) restoreOption(
	ctx context.Context, by authz.Actor, branch, option int64, now time.Time, wanted func(catalog.OffOption) bool,
) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		_, off, err := lockOff(ctx, tx, by, branch, option)
		if err != nil || off.Since.IsZero() || !wanted(off) {
			return err
		}
		tx.QueueExactly(1, stmt("choice_off_delete"), branch, option)
		tx.Queue(stmt("branch_touch"), branch)
		return auditsql.Record(ctx, tx, auditEntry(by, now, audit.ActionOptionRestored, "option", option, branch).
			WithBefore(map[string]any{"until": sqldb.NullMillis(off.Until), "by": off.By}))
	})
}

// RestoreDueOptions restores the options whose Until has passed. It checks each one again under the lock, because a later
// end may have been set meanwhile.
func (s *Store) RestoreDueOptions(ctx context.Context, now time.Time) ([]int64, error) {
	due, err := sqldb.Collect(ctx, s.db, sqldb.Pair, stmt("choice_off_due"), now.UnixMilli())
	if err != nil {
		return nil, err
	}
	var branches []int64
	var failures []error
	for _, d := range due {
		err := s.restoreOption(ctx, authz.System(), d[0], d[1], now, func(o catalog.OffOption) bool {
			return !o.Until.IsZero() && !o.Until.After(now)
		})
		failures = append(failures, err)
		if err == nil && !slices.Contains(branches, d[0]) {
			branches = append(branches, d[0])
		}
	}
	return branches, errors.Join(failures...)
}

// OffOptions returns the options of a branch that are off, by option.
func (s *Store) OffOptions(ctx context.Context, branch int64) (map[int64]catalog.OffOption, error) {
	all, err := sqldb.Collect(ctx, s.db, scanOffOption, stmt("choice_off_list"), branch)
	return seq.Index(all, func(o catalog.OffOption) int64 { return o.Option }), err
}
