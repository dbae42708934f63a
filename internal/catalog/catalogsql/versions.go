package catalogsql

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/sqldb"
)

func decimal(id int64) string { return strconv.FormatInt(id, 10) }

// MenusOf returns the menus of a branch, or of all branches for 0.
func (s *Store) MenusOf(ctx context.Context, branch int64) ([]catalog.Menu, error) {
	return sqldb.Collect(ctx, s.db, scanMenu, stmt("menu_list"), branch, 0)
}

func scanMenu(r sqldb.Rows) (m catalog.Menu, err error) {
	var schedule string
	if err = r.Scan(&m.ID, &m.BranchID, &m.Name, &schedule, &m.Published, &m.Drafts); err == nil {
		m.Schedule, err = readSchedule(schedule)
	}
	return m, err
}

// readSchedule converts a column to a schedule.
func readSchedule(text string) (m catalog.MenuSchedule, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &m)
	}
	return m, err
}

// scheduleText converts a schedule to a column; a menu that is always offered has an empty text.
func scheduleText(m catalog.MenuSchedule) string {
	if m.Empty() {
		return ""
	}
	return jsonText(m)
}

// lockMenu locks the branch of a menu and returns the menu and the branch.
func lockMenu(
	ctx context.Context, tx sqldb.Tx, by authz.Actor, id int64,
) (m catalog.Menu, b catalog.Branch, err error) {
	branch, err := lockBranch(ctx, tx, by, stmt("branch_lock_menu"), id, catalog.ErrMenu)
	if err != nil {
		return m, b, err
	}
	if m, err = sqldb.Get(ctx, tx, catalog.ErrMenu, scanMenu, stmt("menu_list"), 0, id); err != nil {
		return m, b, err
	}
	b, _, err = sqldb.One(ctx, tx, scanBranch, stmt("branch_select"), branch)
	return m, b, err
}

// SetSchedule stores the schedule of a menu. It changes nothing if the schedule is the same.
func (s *Store) SetSchedule(
	ctx context.Context, by authz.Actor, menu int64, schedule catalog.MenuSchedule, now time.Time,
) (m catalog.Menu, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		var b catalog.Branch
		if m, b, err = lockMenu(ctx, tx, by, menu); err != nil {
			return err
		}
		// The dates and hours of a schedule are those of the branch's calendar.
		if err := schedule.Check(b.Calendar()); err != nil {
			return err
		}
		before := m.Schedule
		if m.Schedule = schedule; scheduleText(before) == scheduleText(schedule) {
			return nil
		}
		tx.QueueExactly(1, stmt("menu_schedule_set"), menu, scheduleText(schedule))
		tx.Queue(stmt("branch_touch"), b.ID)
		return auditsql.Record(ctx, tx, auditEntry(by, now, audit.ActionMenuScheduled, "menu", menu, b.ID).
			WithBefore(before.Filled()).WithAfter(schedule.Filled()))
	})
	return m, err
}

// Withdraw closes the published version of a menu. It does nothing for a menu without one.
func (s *Store) Withdraw(ctx context.Context, by authz.Actor, menu int64, now time.Time) (m catalog.Menu, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		var b catalog.Branch
		if m, b, err = lockMenu(ctx, tx, by, menu); err != nil || m.Published == 0 {
			return err
		}
		tx.Queue(stmt("branch_touch"), b.ID)
		tx.QueueExactly(1, stmt("version_close"), menu, now.UnixMilli())
		if err := touchDishes(ctx, tx, b.ID, now); err != nil {
			return err
		}
		entry := auditEntry(by, now, audit.ActionMenuWithdrawn, "menu", menu, b.ID).
			WithBefore(map[string]int64{"menuVersion": m.Published})
		m.Published = 0
		return auditsql.Record(ctx, tx, entry)
	})
	return m, err
}

// AddCombination stores the parts of a combination, if its id is new.
func (s *Store) AddCombination(ctx context.Context, branch int64, parts []catalog.MenuPart, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		_, err := tx.Exec(ctx, stmt("combination_insert"), catalog.CombinationID(branch, parts), branch, jsonText(parts),
			now.UnixMilli())
		return err
	})
}

// AddMenu creates a menu.
func (s *Store) AddMenu(
	ctx context.Context, by authz.Actor, m catalog.Menu, now time.Time,
) (catalog.Menu, error) {
	err := s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) (err error) {
		if _, err := lockBranch(ctx, tx, by, stmt("branch_lock"), m.BranchID, catalog.ErrBranch); err != nil {
			return err
		}
		if m.ID, err = sqldb.Scalar[int64](ctx, tx, stmt("menu_insert"), m.BranchID, m.Name); err != nil {
			return err
		}
		return auditsql.Record(ctx, tx, auditEntry(by, now, audit.ActionMenuCreated, "menu", m.ID, m.BranchID).
			WithAfter(map[string]string{"name": m.Name}))
	})
	return m, err
}

// Versions returns a page of a menu's versions, newest first, and their total number.
func (s *Store) Versions(
	ctx context.Context, by authz.Actor, menu int64, limit, offset int,
) ([]catalog.Version, int64, error) {
	branch, found, err := sqldb.One(ctx, s.db, sqldb.Value[int64], stmt("menu_branch"), menu)
	if err == nil && (!found || !by.Sees(branch)) {
		err = catalog.ErrMenu
	}
	if err != nil {
		return nil, 0, err
	}
	return sqldb.Page(ctx, s.db, scanVersion, stmt("version_count"), stmt("version_list"), limit, offset, menu)
}

// visibleVersion returns a version, or catalog.ErrVersion if the actor may not see its branch.
func (s *Store) visibleVersion(ctx context.Context, by authz.Actor, id int64) (catalog.Version, error) {
	v, err := selectVersion(ctx, s.db, id)
	if err == nil && !by.Sees(v.BranchID) {
		return catalog.Version{}, catalog.ErrVersion
	}
	return v, err
}

// Lines returns a version and its lines in menu order.
func (s *Store) Lines(ctx context.Context, by authz.Actor, version int64) (catalog.Version, []catalog.Line, error) {
	v, err := s.visibleVersion(ctx, by, version)
	if err != nil {
		return v, nil, err
	}
	lines, err := selectLines(ctx, s.db, version, 0)
	return v, lines, err
}

// selectLines returns the line of an item, or all lines of the version for item 0.
func selectLines(ctx context.Context, c sqldb.Conn, version, item int64) ([]catalog.Line, error) {
	lines, err := sqldb.Collect(ctx, c, sqldb.Row(func(l *catalog.Line) []any {
		return []any{&l.ItemID, &l.DishID, &l.CategoryID, sqldb.JSON(&l.Category), sqldb.JSON(&l.Names),
			sqldb.NullText(&l.ImageURL), &l.Price, &l.Quota, sqldb.Bool(&l.Active), &l.Sort}
	}), stmt("version_lines"), version, item)
	if err != nil || len(lines) == 0 {
		return lines, err
	}
	groups, err := selectGroups(ctx, c, version, item)
	for i := range lines {
		lines[i].Groups = groups[lines[i].ItemID]
	}
	return lines, err
}

// VersionContent returns the content of any version. A draft is returned with the quotas that publishing it would set.
func (s *Store) VersionContent(ctx context.Context, by authz.Actor, version int64) (c catalog.Content, err error) {
	v, lines, err := s.Lines(ctx, by, version)
	if err != nil {
		return c, err
	}
	if c.Edition, err = s.edition(ctx, v.BranchID, []catalog.MenuPart{{VersionID: v.ID}}); err != nil {
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
	ctx context.Context, by authz.Actor, version, dish int64, e catalog.Entry, now time.Time,
) (line catalog.Line, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		branch, err := lockBranch(ctx, tx, by, stmt("branch_lock_version"), version, catalog.ErrVersion)
		if err != nil {
			return err
		}
		if err := requireDraft(ctx, tx, version); err != nil {
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

// ensureItem returns the menu's item for a dish and creates it if needed. The statement inserts nothing for an unknown
// or retired dish.
func ensureItem(ctx context.Context, tx sqldb.Tx, version, dish int64) (int64, error) {
	if _, err := tx.Exec(ctx, stmt("item_ensure"), version, dish); err != nil {
		return 0, err
	}
	item, found, err := sqldb.One(ctx, tx, sqldb.Value[int64], stmt("item_find"), version, dish)
	if err != nil || found {
		return item, err
	}
	if _, found, err = sqldb.One(ctx, tx, sqldb.Value[int64], stmt("dish_retired"), dish); err == nil {
		err = catalog.ErrDish
		if found {
			err = catalog.ErrDishRetired
		}
	}
	return 0, err
}

// RemoveLine removes an item from a draft.
func (s *Store) RemoveLine(ctx context.Context, by authz.Actor, version, item int64, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		branch, err := lockBranch(ctx, tx, by, stmt("branch_lock_version"), version, catalog.ErrVersion)
		if err != nil {
			return err
		}
		tx.Queue(stmt("version_choice_delete"), version, item, 0)
		tx.Queue(stmt("version_group_delete"), version, item, 0)
		n, err := tx.Exec(ctx, stmt("entry_delete"), version, item)
		if err != nil {
			return err
		}
		if n == 0 {
			if err := requireDraft(ctx, tx, version); err != nil {
				return err
			}
			return catalog.ErrItem
		}
		return auditsql.Record(ctx, tx, auditEntry(by, now, audit.ActionMenuEdited, "menuVersion", version, branch).
			WithBefore(map[string]int64{"menuItem": item}))
	})
}

// Discard deletes a draft.
func (s *Store) Discard(ctx context.Context, by authz.Actor, version int64, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		branch, err := lockBranch(ctx, tx, by, stmt("branch_lock_version"), version, catalog.ErrVersion)
		if err != nil {
			return err
		}
		if err := requireDraft(ctx, tx, version); err != nil {
			return err
		}
		tx.Queue(stmt("version_clear_choices"), version)
		tx.Queue(stmt("version_clear_groups"), version)
		tx.Queue(stmt("version_clear"), version)
		tx.QueueExactly(1, stmt("version_delete"), version)
		return auditsql.Record(ctx, tx, auditEntry(by, now, audit.ActionMenuDiscarded, "menuVersion", version, branch))
	})
}
