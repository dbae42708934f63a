package stocksql

import (
	"context"
	"maps"
	"strconv"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// Recipe returns the stock that one portion of a menu item consumes, and the item's branch.
func (st *Store) Recipe(ctx context.Context, by authz.Actor, item int64) (branch int64, lines []stock.SKULine, err error) {
	if branch, err = visibleItemBranch(ctx, st.db, by, stmt("recipe_branch"), item); err != nil {
		return 0, nil, err
	}
	lines, err = recipe(ctx, st.db, item)
	return branch, lines, err
}

// visibleItemBranch returns the branch of a menu item, or ErrMenuItemNotFound if the actor may not see it.
func visibleItemBranch(ctx context.Context, c sqldb.Conn, by authz.Actor, q *sqldb.Stmt, item int64) (int64, error) {
	branch, found, err := sqldb.One(ctx, c, sqldb.Value[int64], q, item)
	if err == nil && (!found || !by.Sees(branch)) {
		err = stock.ErrMenuItemNotFound
	}
	return branch, err
}

func recipe(ctx context.Context, c sqldb.Conn, item int64) ([]stock.SKULine, error) {
	return sqldb.Collect(ctx, c, sqldb.Row(func(t *stock.SKULine) []any {
		return []any{&t.SKU, &t.Qty}
	}), stmt("recipe_lines"), item)
}

// SetRecipe replaces the stock that one portion of a menu item consumes. An unchanged recipe is not written.
func (st *Store) SetRecipe(
	ctx context.Context, by authz.Actor, item int64, lines []stock.SKULine,
) (branch int64, err error) {
	err = st.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if branch, err = visibleItemBranch(ctx, tx, by, stmt("recipe_lock"), item); err != nil {
			return err
		}
		before, err := recipe(ctx, tx, item)
		if err != nil {
			return err
		}
		wanted, err := resolve(ctx, tx, branch, lines)
		if err != nil || maps.Equal(amounts(before), amounts(lines)) {
			return err
		}
		tx.Queue(stmt("recipe_delete"), item)
		if len(wanted) > 0 {
			tx.Queue(stmt("recipe_insert"), sqldb.NewRowSet(len(wanted)).
				Int("item", func(i int) int64 { return wanted[i].Item }).
				Int("qty", func(i int) int64 { return wanted[i].Qty }), item)
		}
		entry := audit.NewEntry(by, st.db.Now(), audit.ActionRecipeEdited, "menuItem", strconv.FormatInt(item, 10), branch).
			WithBefore(amounts(before)).WithAfter(amounts(lines))
		return auditsql.Record(ctx, tx, entry)
	})
	return branch, err
}

// OptionRecipe returns the stock that one unit of an option consumes in a branch.
func (st *Store) OptionRecipe(ctx context.Context, branch, option int64) ([]stock.SKULine, error) {
	if err := checkOption(ctx, st.db, stmt("option_recipe_place"), branch, option); err != nil {
		return nil, err
	}
	return optionRecipe(ctx, st.db, branch, option)
}

// checkOption returns a fault unless the branch exists, and the option does and is not retired.
func checkOption(ctx context.Context, c sqldb.Conn, q *sqldb.Stmt, branch, option int64) error {
	known, _, err := sqldb.One(ctx, c, sqldb.Pair, q, branch, option)
	switch {
	case err != nil:
		return err
	case known[0] == 0:
		return stock.ErrBranchNotFound
	case known[1] == 0:
		return stock.ErrOptionNotFound
	}
	return nil
}

func optionRecipe(ctx context.Context, c sqldb.Conn, branch, option int64) ([]stock.SKULine, error) {
	return sqldb.Collect(ctx, c, sqldb.Row(func(t *stock.SKULine) []any {
		return []any{&t.SKU, &t.Qty}
	}), stmt("option_recipe_lines"), branch, option)
}

// SetOptionRecipe replaces the stock that one unit of an option consumes in a branch. An unchanged recipe is not written.
func (st *Store) SetOptionRecipe(ctx context.Context, by authz.Actor, branch, option int64, lines []stock.SKULine) error {
	return st.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		// The lock serializes changes of the option's recipes. Without it, two could delete the same lines and insert both.
		if _, _, err := sqldb.One(ctx, tx, sqldb.Value[int64], stmt("option_recipe_lock"), option); err != nil {
			return err
		}
		if err := checkOption(ctx, tx, stmt("option_recipe_place"), branch, option); err != nil {
			return err
		}
		before, err := optionRecipe(ctx, tx, branch, option)
		if err != nil {
			return err
		}
		wanted, err := resolve(ctx, tx, branch, lines)
		if err != nil || maps.Equal(amounts(before), amounts(lines)) {
			return err
		}
		tx.Queue(stmt("option_recipe_delete"), branch, option)
		if len(wanted) > 0 {
			tx.Queue(stmt("option_recipe_insert"), sqldb.NewRowSet(len(wanted)).
				Int("item", func(i int) int64 { return wanted[i].Item }).
				Int("qty", func(i int) int64 { return wanted[i].Qty }), option)
		}
		entry := audit.NewEntry(by, st.db.Now(), audit.ActionRecipeEdited, "option", strconv.FormatInt(option, 10), branch).
			WithBefore(amounts(before)).WithAfter(amounts(lines))
		return auditsql.Record(ctx, tx, entry)
	})
}

// resolve returns the lines of a recipe with the item numbers of its branch.
func resolve(ctx context.Context, tx sqldb.Tx, branch int64, lines []stock.SKULine) ([]stock.Line, error) {
	skus := make([]string, len(lines))
	for i, l := range lines {
		skus[i] = l.SKU
	}
	found, err := Items(ctx, tx, branch, skus)
	if err != nil {
		return nil, err
	}
	ids := make(map[string]int64, len(found))
	for _, t := range found {
		ids[t.SKU] = t.ID
	}
	wanted := make([]stock.Line, len(lines))
	for i, l := range lines {
		id, ok := ids[l.SKU]
		if !ok {
			return nil, stock.ErrItemNotFound.With("itemId", l.SKU)
		}
		wanted[i] = stock.Line{Item: id, Qty: l.Qty}
	}
	return wanted, nil
}

// amounts returns a recipe in the form of the audit log.
func amounts(lines []stock.SKULine) map[string]int64 {
	all := make(map[string]int64, len(lines))
	for _, l := range lines {
		all[l.SKU] = l.Qty
	}
	return all
}

// Recipes returns the stock that one portion of each menu item of a branch consumes. The stock that one unit of an option
// consumes is under the option's negative number, see catalog.OptionLevel.
func (st *Store) Recipes(ctx context.Context, branch int64) (map[int64][]stock.Line, error) {
	all := map[int64][]stock.Line{}
	return all, sqldb.Each(ctx, st.db, func(rows sqldb.Rows) error {
		var item int64
		var line stock.Line
		err := rows.Scan(&item, &line.Item, &line.Qty)
		all[item] = append(all[item], line)
		return err
	}, stmt("recipe_select"), branch)
}
