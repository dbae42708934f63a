package catalogsql

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/identity"
	"comanda/internal/identity/identitysql"
	"comanda/internal/sqldb"
)

func decimal(id int64) string { return strconv.FormatInt(id, 10) }

// MenusOf lists the menus of a branch, of all branches for 0.
func (s *Store) MenusOf(ctx context.Context, branch int64) ([]catalog.Menu, error) {
	rows, err := s.db.Query(ctx, menuList, branch)
	return sqldb.Collect(rows, err, func(r sqldb.Rows) (m catalog.Menu, err error) {
		err = r.Scan(&m.ID, &m.BranchID, &m.Name, &m.Published, &m.Drafts)
		return m, err
	})
}

// AddMenu makes a menu.
func (s *Store) AddMenu(
	ctx context.Context, by identity.Actor, m catalog.Menu, now time.Time,
) (catalog.Menu, error) {
	err := s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if _, err := lockBranch(ctx, tx, by, branchLock, m.BranchID, catalog.ErrBranch); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, menuInsert, m.BranchID, m.Name)
		if m.ID, _, err = sqldb.One(rows, err, scanID); err != nil {
			return err
		}
		return identitysql.RecordAudit(ctx, tx, did(by, now, identity.ActionMenuCreated, "menu", m.ID, m.BranchID).
			WithAfter(map[string]string{"name": m.Name}))
	})
	return m, err
}

// Versions lists the versions of a menu, the newest first.
func (s *Store) Versions(
	ctx context.Context, by identity.Actor, menu int64, limit, offset int,
) ([]catalog.Version, int64, error) {
	rows, err := s.db.Query(ctx, menuBranch, menu)
	branch, found, err := sqldb.One(rows, err, scanID)
	if err == nil && (!found || !by.Sees(branch)) {
		err = catalog.ErrMenu
	}
	if err != nil {
		return nil, 0, err
	}
	rows, err = s.db.Query(ctx, versionCount, menu)
	total, _, err := sqldb.One(rows, err, scanID)
	if err != nil {
		return nil, 0, err
	}
	rows, err = s.db.Query(ctx, versionList, menu, limit, offset)
	page, err := sqldb.Collect(rows, err, scanVersion)
	return page, total, err
}

// seen gives a version of a branch that the actor sees.
func (s *Store) seen(ctx context.Context, by identity.Actor, id int64) (catalog.Version, error) {
	v, err := selectVersion(ctx, s.db, id)
	if err == nil && !by.Sees(v.BranchID) {
		return catalog.Version{}, catalog.ErrVersion
	}
	return v, err
}

// Lines gives a version with all that it says.
func (s *Store) Lines(ctx context.Context, by identity.Actor, version int64) (catalog.Version, []catalog.Line, error) {
	v, err := s.seen(ctx, by, version)
	if err != nil {
		return v, nil, err
	}
	lines, err := selectLines(ctx, s.db, version, 0)
	return v, lines, err
}

// selectLines reads one line of a version, all for 0.
func selectLines(ctx context.Context, c sqldb.Conn, version, item int64) ([]catalog.Line, error) {
	rows, err := c.Query(ctx, versionLines, version, item)
	return sqldb.Collect(rows, err, func(r sqldb.Rows) (l catalog.Line, err error) {
		var category, names string
		var image *string
		var active, sort int64
		err = r.Scan(&l.ItemID, &l.DishID, &l.CategoryID, &category, &names, &image, &l.Price, &l.Quota, &active, &sort)
		if err != nil {
			return l, err
		}
		l.Active, l.Sort = active == 1, &sort
		if image != nil {
			l.ImageURL = *image
		}
		if err := json.Unmarshal([]byte(category), &l.Category); err != nil {
			return l, err
		}
		return l, json.Unmarshal([]byte(names), &l.Names)
	})
}

// Whole gives the content of any version. The quotas of a draft are those that it would bring into force.
func (s *Store) Whole(ctx context.Context, by identity.Actor, version int64) (c catalog.Content, err error) {
	v, lines, err := s.Lines(ctx, by, version)
	if err != nil {
		return c, err
	}
	if c.Edition, err = s.edition(ctx, v.ID, v.MenuID, v.BranchID); err != nil {
		return c, err
	}
	c.Quotas = map[int64]int64{}
	for _, l := range lines {
		if l.Quota != nil {
			c.Quotas[l.ItemID] = *l.Quota
		}
	}
	return c, nil
}

// AddLine puts a dish on a draft.
func (s *Store) AddLine(
	ctx context.Context, by identity.Actor, version, dish int64, e catalog.Entry, now time.Time,
) (line catalog.Line, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		branch, err := lockBranch(ctx, tx, by, branchLockVersion, version, catalog.ErrVersion)
		if err != nil {
			return err
		}
		if err := drafted(ctx, tx, version); err != nil {
			return err
		}
		item, err := ensureItem(ctx, tx, version, dish)
		if err != nil {
			return err
		}
		if err := putEntry(ctx, tx, by, branch, version, item, e, now); err != nil {
			return err
		}
		lines, err := selectLines(ctx, tx, version, item)
		if err == nil {
			line = lines[0]
		}
		return err
	})
	return line, err
}

// ensureItem gives the item under which a menu has a dish, and makes it the first time.
func ensureItem(ctx context.Context, tx sqldb.Tx, version, dish int64) (int64, error) {
	if _, err := tx.Exec(ctx, itemEnsure, version, dish); err != nil {
		return 0, err
	}
	rows, err := tx.Query(ctx, itemFind, version, dish)
	item, found, err := sqldb.One(rows, err, scanID)
	if err != nil || found {
		return item, err
	}
	rows, err = tx.Query(ctx, dishRetired, dish)
	if _, found, err = sqldb.One(rows, err, scanID); err == nil {
		err = catalog.ErrDish
		if found {
			err = catalog.ErrDishRetired
		}
	}
	return 0, err
}

// RemoveLine takes an item off a draft.
func (s *Store) RemoveLine(ctx context.Context, by identity.Actor, version, item int64, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		branch, err := lockBranch(ctx, tx, by, branchLockVersion, version, catalog.ErrVersion)
		if err != nil {
			return err
		}
		n, err := tx.Exec(ctx, entryDelete, version, item)
		if err != nil {
			return err
		}
		if n == 0 {
			if err := drafted(ctx, tx, version); err != nil {
				return err
			}
			return catalog.ErrItem
		}
		return identitysql.RecordAudit(ctx, tx, did(by, now, identity.ActionMenuEdited, "menuVersion", version, branch).
			WithBefore(map[string]int64{"menuItem": item}))
	})
}

// Discard deletes a draft.
func (s *Store) Discard(ctx context.Context, by identity.Actor, version int64, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		branch, err := lockBranch(ctx, tx, by, branchLockVersion, version, catalog.ErrVersion)
		if err != nil {
			return err
		}
		if err := drafted(ctx, tx, version); err != nil {
			return err
		}
		tx.Queue(versionClear, version)
		tx.QueueExactly(1, versionDelete, version)
		return identitysql.RecordAudit(ctx, tx, did(by, now, identity.ActionMenuDiscarded, "menuVersion", version, branch))
	})
}
