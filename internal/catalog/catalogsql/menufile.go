package catalogsql

import (
	"cmp"
	"context"
	"slices"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
)

// MenuState returns a branch's menu as imports and exports see it.
func (s *Store) MenuState(ctx context.Context, by authz.Actor, branch, menu int64) (catalog.MenuState, error) {
	if !by.Sees(branch) {
		return catalog.MenuState{}, catalog.ErrBranch
	}
	return readMenuState(ctx, s.db, branch, menu, 0)
}

// PublishedMenus returns the menus of a branch as a copy of the branch takes them over.
func (s *Store) PublishedMenus(
	ctx context.Context, by authz.Actor, branch int64,
) (all []catalog.SourceMenu, err error) {
	oldest, err := s.MenuState(ctx, by, branch, 0)
	if err != nil {
		return nil, err
	}
	menus, err := s.MenusOf(ctx, branch)
	for _, m := range menus {
		if m.Published == 0 {
			continue
		}
		state := catalog.MenuState{Branch: oldest.Branch, MenuID: m.ID, VersionID: m.Published}
		if state, err = readMenu(ctx, s.db, state); err != nil {
			return nil, err
		}
		all = append(all, catalog.SourceMenu{Name: m.Name, Schedule: m.Schedule, MenuState: state})
	}
	if i := slices.IndexFunc(menus, func(m catalog.Menu) bool { return m.ID == oldest.MenuID }); len(all) == 0 && i >= 0 {
		all = []catalog.SourceMenu{{Name: menus[i].Name, Schedule: menus[i].Schedule, MenuState: oldest}}
	}
	return all, err
}

// readMenuState reads the given draft; for 0 the newest draft of the menu, else its published version. Menu 0 is the
// branch's default one.
func readMenuState(ctx context.Context, c sqldb.Conn, branch, menu, draft int64) (state catalog.MenuState, err error) {
	if state.Branch, err = sqldb.Get(ctx, c, catalog.ErrBranch, scanBranch, stmt("branch_select"), branch); err != nil {
		return state, err
	}
	var published int64
	found, err := sqldb.Read(ctx, c, []any{&state.MenuID, &state.DraftID, &published}, stmt("import_menu"), branch, menu)
	if err == nil && !found && menu != 0 {
		err = catalog.ErrMenu
	}
	if err == nil && draft != 0 {
		state.DraftID = draft
		state.MenuID, err = menuOfDraft(ctx, c, branch, draft)
	}
	if err != nil {
		return state, err
	}
	state.VersionID = cmp.Or(state.DraftID, published)
	return readMenu(ctx, c, state)
}

// stateFor reads the menu that an import writes. The state is empty if the import would create a menu that the branch has
// already.
func stateFor(
	ctx context.Context, c sqldb.Conn, branch int64, w catalog.MenuImport,
) (state catalog.MenuState, err error) {
	if w.New == nil {
		return readMenuState(ctx, c, branch, w.MenuID, w.DraftID)
	}
	menus, err := sqldb.Collect(ctx, c, scanMenu, stmt("menu_list"), branch, 0)
	if err != nil || len(menus) > w.New.Before {
		return state, err
	}
	if state.Branch, err = sqldb.Get(ctx, c, catalog.ErrBranch, scanBranch, stmt("branch_select"), branch); err != nil {
		return state, err
	}
	return readMenu(ctx, c, state)
}

// readMenu reads the items of a menu's version, and what all menus share.
func readMenu(ctx context.Context, c sqldb.Conn, state catalog.MenuState) (_ catalog.MenuState, err error) {
	branch := state.Branch.ID
	state.Items, err = sqldb.Collect(ctx, c, scanMenuItemState, stmt("import_items"), state.MenuID, state.VersionID)
	if err != nil {
		return state, err
	}
	if state.Others, err = sqldb.Collect(ctx, c, scanDish, stmt("import_others"), branch, state.MenuID); err != nil {
		return state, err
	}
	groups, err := selectGroups(ctx, c, state.VersionID, 0)
	if err != nil {
		return state, err
	}
	for i := range state.Items {
		state.Items[i].Groups = groups[state.Items[i].ItemID]
	}
	if state.Library, err = selectLibrary(ctx, c); err != nil {
		return state, err
	}
	if state.Categories, err = sqldb.Collect(ctx, c, scanCategory, stmt("category_all")); err != nil {
		return state, err
	}
	if state.DishUse, err = sqldb.Grouped[int64, int64](ctx, c, stmt("dish_branches"), branch); err != nil {
		return state, err
	}
	if state.UsedBy, err = sqldb.Grouped[int64, int64](ctx, c, stmt("category_branches")); err != nil {
		return state, err
	}
	classes, err := selectTaxClasses(ctx, c)
	if err != nil {
		return state, err
	}
	state.TaxClasses = seq.Set(seq.Map(classes, func(c catalog.TaxClass) string { return c.Code }))
	images, err := sqldb.Collect(ctx, c, sqldb.Value[string], stmt("image_ids"))
	state.Images = seq.Set(images)
	return state, err
}

// menuOfDraft returns the menu of a branch's draft.
func menuOfDraft(ctx context.Context, c sqldb.Conn, branch, draft int64) (int64, error) {
	v, err := selectVersion(ctx, c, draft)
	switch {
	case err != nil:
		return 0, err
	case v.BranchID != branch:
		return 0, catalog.ErrVersion
	case v.Status != catalog.Draft:
		return 0, catalog.ErrNotDraft
	}
	return v.MenuID, nil
}

func scanMenuItemState(r sqldb.Rows) (it catalog.MenuItemState, err error) {
	var allergens, diets string
	err = r.Scan(&it.ItemID, &it.DishID, &it.CategoryID, &it.ImportKey, sqldb.JSON(&it.Names),
		sqldb.JSON(&it.Descriptions), sqldb.NullText(&it.ImageURL), &it.TaxClass, &allergens, &diets, sqldb.Bool(&it.Listed),
		&it.Price, &it.Quota, sqldb.Bool(&it.Active))
	it.Declaration = catalog.DecodeDeclaration(allergens, diets)
	return it, err
}
