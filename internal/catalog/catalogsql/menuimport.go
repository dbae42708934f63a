package catalogsql

import (
	"context"
	"maps"
	"slices"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/document/documentsql"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
)

// importedMenu is the name of a menu that an import creates.
const importedMenu = "Menu"

// ImportMenu stores images and the result of change in one transaction.
func (s *Store) ImportMenu(
	ctx context.Context, by authz.Actor, branch int64, w catalog.MenuImport, now time.Time,
	change func(catalog.MenuState) (catalog.MenuChange, error),
) (version int64, changed []int64, err error) {
	err = s.writeQuota(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if _, err := sqldb.Collect(ctx, tx, sqldb.Value[int64], stmt("branch_lock_all")); err != nil {
			return err
		}
		if !by.Sees(branch) {
			return catalog.ErrBranch
		}
		// The state is read under the locks. Otherwise the plan could be based on an older menu.
		state, err := stateFor(ctx, tx, branch, w)
		if err != nil || state.Branch.ID == 0 {
			return err
		}
		c, err := change(state)
		if err != nil {
			return err
		}
		m := &menuImport{s, tx, by, now, state, c, w.New, nil, map[int64]bool{branch: true}, false}
		if err := m.write(ctx, w); err != nil {
			return err
		}
		version, changed = m.state.DraftID, slices.Sorted(maps.Keys(m.touched))
		touchBranches(tx, changed)
		return nil
	})
	return version, changed, err
}

// menuImport is one run of ImportMenu's transaction.
type menuImport struct {
	*Store

	tx         sqldb.Tx
	by         authz.Actor
	now        time.Time
	state      catalog.MenuState
	change     catalog.MenuChange
	made       *catalog.NewMenu // the menu to create; nil for one with the default name
	categories []int64          // ids of change.Categories
	touched    map[int64]bool   // branches whose menus show something else
	taxed      bool             // tax classes have changed
}

// write applies an import in the order of its references: images, the draft, categories, dishes, options. A failure at any
// step rolls all of it back. Publishing comes last, so that it sees the whole draft.
func (m *menuImport) write(ctx context.Context, w catalog.MenuImport) error {
	if err := m.writeImages(ctx, w.Images); err != nil {
		return err
	}
	if err := m.prepareDraft(ctx); err != nil {
		return err
	}
	for _, c := range m.change.Categories {
		id, err := m.writeCategory(ctx, c)
		if err != nil {
			return err
		}
		m.categories = append(m.categories, id)
	}
	if err := m.checkDishes(ctx); err != nil {
		return err
	}
	for i := range m.change.Items {
		if err := m.writeItem(ctx, &m.change.Items[i]); err != nil {
			return err
		}
	}
	// A branch with taxes must not sell a dish without a rate. That of the import is among them.
	if m.taxed {
		if err := checkTaxedBranches(ctx, m.tx, slices.Sorted(maps.Keys(m.touched))); err != nil {
			return err
		}
	}
	if err := m.writeOptions(ctx); err != nil {
		return err
	}
	if m.change.OptionsOf != 0 && m.state.DraftID != 0 {
		m.queueOptions()
	}
	if m.change.Created+m.change.Updated > 0 {
		if err := m.record(ctx); err != nil {
			return err
		}
	}
	if !w.Publish || m.state.DraftID == 0 {
		return nil
	}
	_, err := m.publish(ctx, m.tx, m.by, m.state.DraftID, m.now)
	return err
}

// queueOptions sets the options of the draft's dishes to those of a version of another menu. Options and dishes belong to
// the whole installation; only the menu items of combos differ, and are created if the menu lacks one.
func (m *menuImport) queueOptions() {
	draft, from := m.state.DraftID, m.change.OptionsOf
	m.tx.Queue(stmt("copied_components"), draft, from)
	m.tx.Queue(stmt("copied_choice_delete"), draft, from)
	m.tx.Queue(stmt("copied_group_delete"), draft, from)
	m.tx.Queue(stmt("copied_group_insert"), draft, from)
	m.tx.Queue(stmt("copied_choice_insert"), draft, from)
}

// writeOptions creates the groups and options that the library lacks, and sets the options of dishes in the draft.
func (m *menuImport) writeOptions(ctx context.Context) error {
	for g := range m.change.Groups {
		if err := m.writeGroup(ctx, &m.change.Groups[g]); err != nil {
			return err
		}
	}
	for _, w := range m.change.Items {
		if w.Groups == nil {
			continue
		}
		groups := seq.Map(*w.Groups, func(u catalog.GroupUse) catalog.VersionGroup {
			u.GroupID = m.change.Groups[u.Group].ID
			for i := range u.Options {
				u.Options[i].OptionID = m.change.Groups[u.Group].Options[u.Choices[i]].ID
			}
			return u.VersionGroup
		})
		e, err := editGroups(ctx, m.tx, m.by, m.state.DraftID, groups, m.now)
		if err != nil {
			return err
		}
		m.tx.Queue(stmt("version_choice_delete"), m.state.DraftID, w.ItemID, 0)
		m.tx.Queue(stmt("version_group_delete"), m.state.DraftID, w.ItemID, 0)
		e.insert(w.ItemID, groups, func(i int) int64 { return int64(i) })
	}
	return nil
}

// writeGroup creates a group and its options as far as the library lacks them, and sets their ids.
func (m *menuImport) writeGroup(ctx context.Context, g *catalog.GroupWrite) (err error) {
	if g.ID == 0 {
		if err := checkLimit(ctx, m.tx, stmt("group_count"), catalog.MaxGroups, catalog.ErrTooManyGroups); err != nil {
			return err
		}
		g.ID, err = sqldb.Scalar[int64](ctx, m.tx, stmt("group_insert"), string(g.Kind), jsonText(g.Names), "", m.now.UnixMilli())
		if err != nil {
			return err
		}
	}
	added := false
	for i := range g.Options {
		o := &g.Options[i]
		if o.ID != 0 {
			continue
		}
		if o.Sort >= catalog.MaxChoices {
			return catalog.ErrTooManyOptions
		}
		added = true
		o.ID, err = writeOption(ctx, m.tx, catalog.LibraryOption{GroupID: g.ID, Names: o.Names, Sort: o.Sort})
		if err != nil {
			return err
		}
	}
	if added {
		m.tx.Queue(stmt("group_touch"), g.ID, m.now.UnixMilli())
	}
	return nil
}

// record writes one entry for the whole file, because an entry for each of a thousand dishes would fill the audit log.
func (m *menuImport) record(ctx context.Context) error {
	if m.change.Rows {
		return auditsql.Record(ctx, m.tx, m.rowEntries()...)
	}
	note := importNote{
		Source: m.change.Source, Created: m.change.Created, Updated: m.change.Updated, Draft: m.state.DraftID,
	}
	if m.change.SourceBranch != "" {
		note.SourceBranch, note.TargetBranch = m.change.SourceBranch, m.state.Branch.Name
	}
	return auditsql.Record(ctx, m.tx,
		auditEntry(m.by, m.now, audit.ActionMenuImported, "menu", m.state.MenuID, m.state.Branch.ID).WithAfter(note))
}

// rowEntries returns the audit entries that editing the dishes and the draft one by one would write.
func (m *menuImport) rowEntries() []audit.Entry {
	var entries []audit.Entry
	draft, branch := m.state.DraftID, m.state.Branch.ID
	for _, w := range m.change.Items {
		if w.WriteDish {
			entries = append(entries, auditEntry(m.by, m.now, audit.ActionDishEdited, "dish", w.Dish.ID, 0).
				WithAfter(dishNote(w.Dish)))
		}
		if w.List {
			e := auditEntry(m.by, m.now, audit.ActionMenuEdited, "menuVersion", draft, branch)
			if current := m.listed(w.ItemID); current != nil {
				e = e.WithBefore(entryNoteOf(w.ItemID, current.Names, current.Entry))
			}
			entries = append(entries, e.WithAfter(entryNoteOf(w.ItemID, w.Dish.Names, w.Entry)))
		}
	}
	return entries
}

// listed returns an item as it was listed before the import, or nil.
func (m *menuImport) listed(item int64) *catalog.MenuItemState {
	i := slices.IndexFunc(m.state.Items, func(s catalog.MenuItemState) bool { return s.ItemID == item && s.Listed })
	if i < 0 {
		return nil
	}
	return &m.state.Items[i]
}

// importNote is the audit log's record of an import.
type importNote struct {
	Source  string `json:"source"`
	Created int    `json:"created"`
	Updated int    `json:"updated"`
	Draft   int64  `json:"menuVersion,omitempty"`

	// Names of the branches of a copy as they were then; empty for a file and in older entries.
	SourceBranch string `json:"sourceBranch,omitempty"`
	TargetBranch string `json:"targetBranch,omitempty"`
}

func (m *menuImport) writeImages(ctx context.Context, images []catalog.Image) error {
	if len(images) == 0 {
		return nil
	}
	for _, p := range images {
		queueImage(m.tx, p, m.now)
	}
	return checkLimit(ctx, m.tx, stmt("image_count"), catalog.MaxImages+1, catalog.ErrTooManyImages)
}

// prepareDraft creates the menu and the draft, if entries are written and there is none.
func (m *menuImport) prepareDraft(ctx context.Context) (err error) {
	listed := slices.ContainsFunc(m.change.Items, func(w catalog.ItemWrite) bool { return w.List })
	if !listed || m.state.DraftID != 0 {
		return nil
	}
	if m.state.MenuID == 0 {
		made := catalog.NewMenu{Name: importedMenu}
		if m.made != nil {
			made = *m.made
		}
		m.state.MenuID, err = sqldb.Scalar[int64](ctx, m.tx, stmt("menu_insert"), m.state.Branch.ID, made.Name)
		if err != nil {
			return err
		}
		m.tx.QueueExactly(1, stmt("menu_schedule_set"), m.state.MenuID, scheduleText(made.Schedule))
	}
	m.state.DraftID, err = sqldb.Scalar[int64](ctx, m.tx, stmt("version_insert"), m.state.MenuID, m.now.UnixMilli())
	if err == nil {
		queueCopy(m.tx, m.state.DraftID, m.state.MenuID)
	}
	return err
}

// writeCategory adds or renames a category of the file and returns its id. A category that the file only refers to stays
// as it is. Menus of all branches share categories, so a new name touches every branch that uses it.
func (m *menuImport) writeCategory(ctx context.Context, c catalog.CategoryWrite) (id int64, err error) {
	switch {
	case !c.Write:
		return c.ID, nil
	case c.ID == 0:
		if err := checkLimit(ctx, m.tx, stmt("category_count"), maxCategories, errTooManyCategories); err != nil {
			return 0, err
		}
		c.ID, err = sqldb.Scalar[int64](ctx, m.tx, stmt("category_insert"), nil, jsonText(c.Names), "{}", m.now.UnixMilli(),
			m.by.String())
		if err != nil {
			return 0, err
		}
	default:
		current, err := selectCategory(ctx, m.tx, c.ID)
		if err != nil {
			return 0, err
		}
		m.tx.QueueExactly(1, stmt("category_update"), c.ID, current.Sort, jsonText(c.Names), textsJSON(current.Descriptions),
			m.now.UnixMilli(), m.by.String())
		m.touch(m.state.UsedBy[c.ID])
	}
	documentsql.Changed(m.tx, m.now, "category", decimal(c.ID))
	return c.ID, nil
}

func (m *menuImport) touch(branches []int64) {
	for _, b := range branches {
		m.touched[b] = true
	}
}

// checkDishes refuses an import that would exceed the limit of dishes.
func (m *menuImport) checkDishes(ctx context.Context) error {
	added := int64(0)
	for _, w := range m.change.Items {
		if w.Dish.ID == 0 {
			added++
		}
	}
	if added == 0 {
		return nil
	}
	return checkLimit(ctx, m.tx, stmt("dish_count"), catalog.MaxDishes-added+1, errTooManyDishes)
}

// writeItem writes a dish and its entry, and sets the ids of new ones.
func (m *menuImport) writeItem(ctx context.Context, w *catalog.ItemWrite) (err error) {
	if w.Category >= 0 {
		w.Dish.CategoryID = m.categories[w.Category]
	}
	if w.WriteDish {
		m.taxed = m.taxed || w.Dish.TaxClass != w.TaxClassBefore
		if w.Dish.ID, err = writeDish(ctx, m.tx, m.by, w.Dish, m.now); err != nil {
			return err
		}
		if id := catalog.ImageIDOf(w.Dish.ImageURL); id != "" {
			m.tx.QueueExactly(2, stmt("image_touch"), id, m.now.UnixMilli()) // one row per size
		}
		m.touch(m.state.DishUse[w.Dish.ID])
		documentsql.Changed(m.tx, m.now, "dish", decimal(w.Dish.ID))
	}
	if w.ItemID == 0 {
		if w.ItemID, err = ensureItem(ctx, m.tx, m.state.DraftID, w.Dish.ID); err != nil {
			return err
		}
	}
	if w.Key != "" {
		m.tx.Queue(stmt("item_key_free"), w.ItemID, w.Key)
		m.tx.QueueExactly(1, stmt("item_key_set"), w.ItemID, w.Key)
	}
	if !w.List {
		return nil
	}
	if m.change.Rows {
		return m.writeEntry(ctx, w)
	}
	m.tx.QueueExactly(1, stmt("entry_put"), m.state.DraftID, w.ItemID, w.Entry.Price, w.Entry.Quota,
		sqldb.Flag(w.Entry.Active), w.Entry.Sort)
	return nil
}

// writeEntry writes an entry, or returns why it cannot be written: a row of WriteRows may name a retired dish, which a
// plan of a file never does.
func (m *menuImport) writeEntry(ctx context.Context, w *catalog.ItemWrite) error {
	n, err := m.tx.Exec(ctx, stmt("entry_put"), m.state.DraftID, w.ItemID, w.Entry.Price, w.Entry.Quota,
		sqldb.Flag(w.Entry.Active), w.Entry.Sort)
	if err == nil && n == 0 {
		err = entryRefusal(ctx, m.tx, m.state.DraftID, w.ItemID)
	}
	return err
}
