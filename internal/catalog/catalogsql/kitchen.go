package catalogsql

import (
	"context"
	"errors"
	"slices"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/identity"
	"comanda/internal/identity/identitysql"
	"comanda/internal/sqldb"
)

// itemRow is a menu item with what keeps it from being sold.
type itemRow struct {
	dish  int64
	quota *int64
	off   bool
	catalog.Absence
}

func selectItem(ctx context.Context, tx sqldb.Tx, item int64) (itemRow, error) {
	rows, err := tx.Query(ctx, offSelect, item)
	it, found, err := sqldb.One(rows, err, func(r sqldb.Rows) (it itemRow, err error) {
		var at, until *int64
		err = r.Scan(&it.dish, &it.quota, &at, &until, &it.By)
		it.off, it.Item, it.Since, it.Until = at != nil, item, instant(at), instant(until)
		return it, err
	})
	if err == nil && !found {
		err = catalog.ErrItem
	}
	return it, err
}

// TakeOff notes that an item is off and has the hook set today's cap to nothing: the update waits for orders that hold
// the counter at this moment, and whoever comes after it finds nothing left. Business dates that begin later begin so.
func (s *Store) TakeOff(
	ctx context.Context, by identity.Actor, item int64, until catalog.Until, now time.Time,
) (at catalog.Placed, a catalog.Absence, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		branch, err := lockBranch(ctx, tx, by, branchLockItem, item, catalog.ErrItem)
		if err != nil {
			return err
		}
		it, err := selectItem(ctx, tx, item)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, branchSelect, branch)
		b, _, err := sqldb.One(rows, err, scanBranch)
		if err != nil {
			return err
		}
		at, a = catalog.Placed{Branch: branch, Dish: it.dish}, catalog.Absence{Item: item, Since: now, By: by.String()}
		if it.off {
			a.Since = it.Since
		}
		if a.Until, err = until.In(b.Calendar(), now); err != nil {
			return err
		}
		tx.QueueExactly(1, offSet, item, millis(a.Since), millis(a.Until), a.Through(b.Calendar()), a.By)
		tx.Queue(branchTouch, branch)
		if err := s.hook(ctx, tx, branch, item, new(int64)); err != nil {
			return err
		}
		return identitysql.RecordAudit(ctx, tx, did(by, now, identity.ActionItemOff, "menuItem", item, branch).
			WithAfter(map[string]any{"until": millis(a.Until)}))
	})
	return at, a, err
}

// Restore has an item sold again. One that is not off stays as it is.
func (s *Store) Restore(ctx context.Context, by identity.Actor, item int64, now time.Time) (catalog.Placed, error) {
	return s.restore(ctx, by, item, now, func(catalog.Absence) bool { return true })
}

func (s *Store) restore(
	ctx context.Context, by identity.Actor, item int64, now time.Time, wanted func(catalog.Absence) bool,
) (at catalog.Placed, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		branch, err := lockBranch(ctx, tx, by, branchLockItem, item, catalog.ErrItem)
		if err != nil {
			return err
		}
		it, err := selectItem(ctx, tx, item)
		at = catalog.Placed{Branch: branch, Dish: it.dish}
		if err != nil || !it.off || !wanted(it.Absence) {
			return err
		}
		tx.QueueExactly(1, offSet, item, nil, nil, nil, "")
		tx.Queue(branchTouch, branch)
		if err := s.hook(ctx, tx, branch, item, it.quota); err != nil {
			return err
		}
		return identitysql.RecordAudit(ctx, tx, did(by, now, identity.ActionItemRestored, "menuItem", item, branch).
			WithBefore(map[string]any{"until": millis(it.Until), "by": it.By}))
	})
	return at, err
}

// RestoreDue restores items whose end has come. Each is looked at again under its lock: somebody may have chosen a later
// end meanwhile. One that fails does not keep the others.
func (s *Store) RestoreDue(ctx context.Context, now time.Time) ([]int64, error) {
	rows, err := s.db.Query(ctx, offDue, now.UnixMilli())
	items, err := sqldb.Collect(rows, err, scanID)
	if err != nil {
		return nil, err
	}
	var branches []int64
	var failures []error
	for _, item := range items {
		at, err := s.restore(ctx, identity.System(), item, now, func(a catalog.Absence) bool {
			return !a.Until.IsZero() && !a.Until.After(now)
		})
		failures = append(failures, err)
		if err == nil && !slices.Contains(branches, at.Branch) {
			branches = append(branches, at.Branch)
		}
	}
	return branches, errors.Join(failures...)
}

// Absent gives the items of a branch that are off.
func (s *Store) Absent(ctx context.Context, branch int64) (map[int64]catalog.Absence, error) {
	rows, err := s.db.Query(ctx, offList, branch)
	all, err := sqldb.Collect(rows, err, func(r sqldb.Rows) (a catalog.Absence, err error) {
		var at, until *int64
		err = r.Scan(&a.Item, &at, &until, &a.By)
		a.Since, a.Until = instant(at), instant(until)
		return a, err
	})
	byItem := make(map[int64]catalog.Absence, len(all))
	for _, a := range all {
		byItem[a.Item] = a
	}
	return byItem, err
}
