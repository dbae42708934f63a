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

var scanOffOption = sqldb.Row(func(o *catalog.OffOption) []any {
	return []any{&o.Option, sqldb.Time(&o.Since), sqldb.Time(&o.Until), &o.By}
})

// TakeOptionOff marks an option as off in a branch. Orders read the row in the transaction that places them.
func (s *Store) TakeOptionOff(
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
