package catalogsql

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/document/documentsql"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
)

// SetQuota changes an item's standing quota and calls the hook for the cap of the current business date.
func (s *Store) SetQuota(ctx context.Context, by authz.Actor, item int64, quota *int64, now time.Time) (
	branch int64, err error,
) {
	err = s.writeQuota(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if branch, err = lockBranch(ctx, tx, by, stmt("branch_lock_item"), item, catalog.ErrItem); err != nil {
			return err
		}
		before, err := sqldb.Scalar[*int64](ctx, tx, stmt("quota_select"), item)
		if err != nil {
			return err
		}
		tx.Queue(stmt("branch_touch"), branch)
		if err := s.setQuota(ctx, tx, branch, item, quota); err != nil {
			return err
		}
		return auditsql.Record(ctx, tx,
			auditEntry(by, now, audit.ActionQuotaSet, "menuItem", item, branch).WithBefore(before).WithAfter(quota))
	})
	return branch, err
}

func auditEntry(by authz.Actor, now time.Time, action, kind string, id, branch int64) audit.Entry {
	return audit.NewEntry(by, now, action, kind, strconv.FormatInt(id, 10), branch)
}

// setQuota changes a standing quota, and the quota of drafts that still have the old value. The cap of an item that is
// off stays 0: the quota applies when the item is restored.
func (s *Store) setQuota(ctx context.Context, tx sqldb.Tx, branch, item int64, quota *int64) error {
	tx.Queue(stmt("quota_follow"), item, quota)
	tx.Queue(stmt("quota_set"), item, quota)
	current, err := selectItem(ctx, tx, item)
	if err != nil || current.off {
		return err
	}
	return s.hook(ctx, tx, branch, item, quota)
}

// Draft creates a draft from the menu's published version, or an empty one if there is none.
func (s *Store) Draft(ctx context.Context, by authz.Actor, menu int64, now time.Time) (
	v catalog.Version, err error,
) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if _, err := lockBranch(ctx, tx, by, stmt("branch_lock_menu"), menu, catalog.ErrMenu); err != nil {
			return err
		}
		id, err := sqldb.Scalar[int64](ctx, tx, stmt("version_insert"), menu, now.UnixMilli())
		if err != nil {
			return err
		}
		queueCopy(tx, id, menu)
		if v, err = selectVersion(ctx, tx, id); err != nil {
			return err
		}
		return auditsql.Record(ctx, tx,
			auditEntry(by, now, audit.ActionMenuDrafted, "menuVersion", id, v.BranchID).WithAfter(map[string]int64{"menu": menu}))
	})
	return v, err
}

// queueCopy fills a new draft with the content of the menu's published version.
func queueCopy(tx sqldb.Tx, draft, menu int64) {
	tx.Queue(stmt("version_copy"), draft, menu)
	tx.Queue(stmt("version_copy_groups"), draft, menu)
	tx.Queue(stmt("version_copy_choices"), draft, menu)
}

// EditDraft sets the entry of a menu item in a draft.
func (s *Store) EditDraft(
	ctx context.Context, by authz.Actor, version, item int64, e catalog.Entry, now time.Time,
) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		branch, err := lockBranch(ctx, tx, by, stmt("branch_lock_version"), version, catalog.ErrVersion)
		if err != nil {
			return err
		}
		return putEntry(ctx, tx, by, branch, version, item, e, now)
	})
}

// putEntry writes an entry of a draft. The caller holds the branch's lock.
func putEntry(
	ctx context.Context, tx sqldb.Tx, by authz.Actor, branch, version, item int64, e catalog.Entry, now time.Time,
) error {
	current, err := selectLines(ctx, tx, version, item)
	if err != nil {
		return err
	}
	n, err := tx.Exec(ctx, stmt("entry_put"), version, item, e.Price, e.Quota, sqldb.Flag(e.Active), e.Sort)
	if err != nil {
		return err
	}
	if n == 0 {
		return entryRefusal(ctx, tx, version, item)
	}
	entry := auditEntry(by, now, audit.ActionMenuEdited, "menuVersion", version, branch)
	is := current
	if len(current) > 0 {
		entry = entry.WithBefore(entryNoteOf(item, current[0].Names, current[0].Entry))
	} else if is, err = selectLines(ctx, tx, version, item); err != nil { // the line has the dish's names
		return err
	}
	return auditsql.Record(ctx, tx, entry.WithAfter(entryNoteOf(item, is[0].Names, e)))
}

// entryRefusal returns the reason why an entry was not written.
func entryRefusal(ctx context.Context, tx sqldb.Tx, version, item int64) error {
	if err := requireDraft(ctx, tx, version); err != nil {
		return err
	}
	it, err := selectItem(ctx, tx, item)
	if err != nil {
		return err
	}
	if at, err := sqldb.Scalar[int64](ctx, tx, stmt("dish_retired"), it.dish); err != nil || at > 0 {
		return cmp.Or(err, error(catalog.ErrDishRetired))
	}
	return catalog.ErrItem // the item belongs to another menu
}

// requireDraft returns catalog.ErrNotDraft for a version that is published or closed.
func requireDraft(ctx context.Context, tx sqldb.Tx, version int64) error {
	v, err := selectVersion(ctx, tx, version)
	if err == nil && v.Status != catalog.Draft {
		err = catalog.ErrNotDraft
	}
	return err
}

// entryNote is the audit log's record of an edited draft.
type entryNote struct {
	Item   int64         `json:"menuItem"`
	Names  catalog.Texts `json:"names,omitempty"` // names of the dish, for the log's readers if it is renamed or removed later
	Price  int64         `json:"price"`
	Quota  *int64        `json:"dailyQuota"`
	Active bool          `json:"isActive"`
	Sort   *int64        `json:"sort,omitempty"`
}

func entryNoteOf(item int64, names catalog.Texts, e catalog.Entry) entryNote {
	return entryNote{item, names, e.Price, e.Quota, e.Active, e.Sort}
}

// Publish closes the menu's published version and publishes the draft with its items, prices and quotas, in one
// transaction. It does nothing for a version that is published already.
func (s *Store) Publish(ctx context.Context, by authz.Actor, version int64, now time.Time) (
	v catalog.Version, err error,
) {
	err = s.writeQuota(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if _, err := lockBranch(ctx, tx, by, stmt("branch_lock_version"), version, catalog.ErrVersion); err != nil {
			return err
		}
		v, err = s.publish(ctx, tx, by, version, now)
		return err
	})
	return v, err
}

// publish publishes a draft. The caller holds the branch's lock.
func (s *Store) publish(
	ctx context.Context, tx sqldb.Tx, by authz.Actor, version int64, now time.Time,
) (catalog.Version, error) {
	v, err := selectVersion(ctx, tx, version)
	if err != nil || v.Status == catalog.Published {
		return v, err
	}
	if err := checkPublishable(ctx, tx, v); err != nil {
		return v, err
	}
	tx.Queue(stmt("branch_touch"), v.BranchID)
	// The published version is closed first: a menu has at most one published version at any time.
	tx.Queue(stmt("version_close"), v.MenuID, now.UnixMilli())
	tx.QueueExactly(1, stmt("version_publish"), version, now.UnixMilli())
	if err := s.applyQuotas(ctx, tx, v); err != nil {
		return v, err
	}
	if err := touchDishes(ctx, tx, v.BranchID, now); err != nil {
		return v, err
	}
	if v, err = selectVersion(ctx, tx, version); err != nil {
		return v, err
	}
	return v, auditsql.Record(ctx, tx,
		auditEntry(by, now, audit.ActionMenuPublished, "menuVersion", version, v.BranchID))
}

// touchDishes queues the projection of the documents of a branch's dishes, because they contain prices.
func touchDishes(ctx context.Context, tx sqldb.Tx, branch int64, now time.Time) error {
	ids, err := sqldb.Collect(ctx, tx, sqldb.Value[int64], stmt("dish_touch"), branch, now.UnixMilli())
	if err != nil {
		return err
	}
	documentsql.Changed(tx, now, "dish", seq.Map(ids, decimal)...)
	return nil
}

// checkPublishable refuses anything but a draft, a draft without an active item, one whose options break a rule, and one
// with a dish that has no tax rate.
func checkPublishable(ctx context.Context, tx sqldb.Tx, v catalog.Version) error {
	if v.Status != catalog.Draft {
		return catalog.ErrNotDraft
	}
	n, err := sqldb.Scalar[int64](ctx, tx, stmt("version_active_count"), v.ID)
	if err == nil && n == 0 {
		err = catalog.ErrEmpty
	}
	if err != nil {
		return err
	}
	lines, err := selectLines(ctx, tx, v.ID, 0)
	if err == nil {
		err = catalog.CheckLines(lines)
	}
	if err != nil {
		return err
	}
	b, _, err := sqldb.One(ctx, tx, scanBranch, stmt("branch_select"), v.BranchID)
	if err != nil {
		return err
	}
	return checkTaxed(ctx, tx, b, v.ID)
}

// applyQuotas sets the standing quotas that the published version changes, and the caps of today with them. Equal
// quotas are not written, so that a publication does not lock every counter. Items are processed in the lock order of
// counters.
func (s *Store) applyQuotas(ctx context.Context, tx sqldb.Tx, v catalog.Version) error {
	type change struct {
		item  int64
		quota *int64
	}
	changes, err := sqldb.Collect(ctx, tx, sqldb.Row(func(c *change) []any {
		return []any{&c.item, &c.quota}
	}), stmt("quota_changes"), v.ID)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if err := s.setQuota(ctx, tx, v.BranchID, c.item, c.quota); err != nil {
			return err
		}
	}
	return nil
}

// lockBranch locks the branch that owns a row and returns the branch's id. Later statements of the transaction see what
// the previous lock holder committed. It returns the error missing for an unknown row and for a branch that the actor
// may not see.
func lockBranch(
	ctx context.Context, tx sqldb.Tx, by authz.Actor, q *sqldb.Stmt, id int64, missing error,
) (int64, error) {
	branch, found, err := sqldb.One(ctx, tx, sqldb.Value[int64], q, id)
	if err == nil && (!found || !by.Sees(branch)) {
		err = missing
	}
	return branch, err
}
