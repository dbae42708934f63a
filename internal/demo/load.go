package demo

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/document/documentsql"
	"comanda/internal/fault"
	"comanda/internal/sqldb"
	"comanda/internal/uid"
	"comanda/internal/visit"
)

//go:embed *.sql
var files embed.FS

var stmts = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = stmts.Must

// ErrTaken refuses a database of a real restaurant.
var ErrTaken = fault.New(fault.Conflict, "not_a_demo", "The database holds another restaurant; the demo needs its own.")

// errLoaded ends the transaction of a second load, which may have inserted branches that an earlier release's demo lacks.
var errLoaded = errors.New("demo: loaded already")

// Load inserts the demo restaurant into a migrated database. A database that has it already is not changed, so that edits
// survive a restart, even if an earlier release has loaded it without the newer branches: their ids may be in use. A
// database with another restaurant is ErrTaken. Concurrent calls insert it once, because the branches' rows come first and
// their ids are fixed.
func Load(ctx context.Context, db *sqldb.DB) error {
	r, err := read()
	if err != nil {
		return fault.Wrap("read the demo", err)
	}
	instant := db.Now()
	now := instant.UnixMilli()
	err = db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		fresh, err := tx.Exec(ctx, stmt("branch_insert"), r.branchRows(), now)
		if err != nil {
			return err
		}
		// Some branches existed already: either they are the demo's own and nothing has to be done, or another
		// restaurant has their ids.
		if existed := int64(len(r.branches)) - fresh; existed > 0 {
			return r.same(ctx, tx, existed)
		}
		tx.Queue(stmt("category_insert"), r.categoryRows(), now)
		tx.Queue(stmt("dish_insert"), r.dishRows(), now)
		tx.Queue(stmt("menu_insert"), r.menuRows())
		tx.Queue(stmt("item_insert"), r.itemRows())
		tx.Queue(stmt("version_insert"), r.versionRows(), now)
		tx.Queue(stmt("entry_insert"), r.entryRows())
		r.queueOptions(tx, now)
		r.queueStock(tx, instant)
		tx.Queue(stmt("table_insert"), r.tableRows())
		tx.Queue(stmt("qr_insert"), r.qrRows(), now)
		documentsql.Queue(tx, instant, r.documents()...)
		rows, err := tx.Query(ctx, stmt("identity_advance")) // new rows get ids after the demo's
		if err != nil {
			return err
		}
		rows.Close()
		return rows.Err()
	})
	if errors.Is(err, errLoaded) {
		return nil
	}
	return err
}

// documents returns the demo's categories and dishes, whose documents must be built beside those of its menus.
func (r restaurant) documents() []documentsql.Change {
	categories, dishes := documentsql.Change{Entity: "category"}, documentsql.Change{Entity: "dish"}
	for _, c := range r.categories {
		categories.IDs = append(categories.IDs, strconv.FormatInt(c.ID, 10))
	}
	for _, d := range r.dishes {
		dishes.IDs = append(dishes.IDs, strconv.FormatInt(d.ID, 10))
	}
	return []documentsql.Change{categories, dishes}
}

// firstBranches is the number of branches that the demo has had since the first release. They identify it.
const firstBranches = 2

// same returns errLoaded if the demo's first branches are those that existed, and ErrTaken otherwise.
func (r restaurant) same(ctx context.Context, tx sqldb.Tx, existed int64) error {
	_, found, err := sqldb.One(ctx, tx, sqldb.Value[string], stmt("branch_conflict"), sqldb.NewRowSet(firstBranches).
		Int("id", func(i int) int64 { return r.branches[i].ID }).
		Text("name", func(i int) string { return r.branches[i].Name }))
	switch {
	case err != nil:
		return err
	case found, existed < firstBranches:
		return ErrTaken
	}
	return errLoaded
}

func (r restaurant) branchRows() *sqldb.RowSet {
	return sqldb.NewRowSet(len(r.branches)).
		Int("id", func(i int) int64 { return r.branches[i].ID }).
		Text("name", func(i int) string { return r.branches[i].Name }).
		Text("country", func(i int) string { return string(r.branches[i].Country) }).
		Text("currency", func(i int) string { return string(r.branches[i].Currency) }).
		Text("timezone", func(i int) string { return r.branches[i].Timezone }).
		Int("hour", func(i int) int64 { return int64(r.branches[i].DayStart) }).
		Text("locales", func(i int) string { return text(r.branches[i].Locales) }).
		Int("minutes", func(i int) int64 { return int64(r.branches[i].AutoCloseMinutes) }).
		Text("pricing", func(i int) string { return r.branches[i].pricing() })
}

// pricing returns the stored form of a branch's pricing, which is empty for none.
func (b branch) pricing() string {
	if b.Pricing == nil {
		return ""
	}
	return text(b.Pricing)
}

func (r restaurant) categoryRows() *sqldb.RowSet {
	return sqldb.NewRowSet(len(r.categories)).
		Int("id", func(i int) int64 { return r.categories[i].ID }).
		Int("sort", func(i int) int64 { return r.categories[i].sort }).
		Text("names", func(i int) string { return text(r.categories[i].Names) })
}

func (r restaurant) dishRows() *sqldb.RowSet {
	return sqldb.NewRowSet(len(r.dishes)).
		Int("id", func(i int) int64 { return r.dishes[i].ID }).
		Text("image_url", func(i int) string { return "/media/" + strconv.FormatInt(r.dishes[i].ID, 10) }).
		Int("category_id", func(i int) int64 { return r.dishes[i].category }).
		Text("names", func(i int) string { return text(r.dishes[i].Names) }).
		Text("descriptions", func(i int) string { return text(r.dishes[i].Descriptions) }).
		Text("tax_class", func(i int) string { return r.dishes[i].TaxClass }).
		Text("allergens", func(i int) string { return allergens(r.dishes[i].Declaration) }).
		Text("diets", func(i int) string { return diets(r.dishes[i].Declaration) })
}

func (r restaurant) menuRows() *sqldb.RowSet {
	return sqldb.NewRowSet(len(r.branches)).
		Int("id", func(i int) int64 { return r.branches[i].MenuID }).
		Int("branch_id", func(i int) int64 { return r.branches[i].ID }).
		Text("name", func(i int) string { return r.branches[i].MenuName })
}

func (r restaurant) itemRows() *sqldb.RowSet {
	return sqldb.NewRowSet(len(r.dishes)).
		Int("id", func(i int) int64 { return r.dishes[i].ItemID }).
		Int("menu_id", func(i int) int64 { return r.dishes[i].branch.MenuID }).
		Int("branch_id", func(i int) int64 { return r.dishes[i].branch.ID }).
		Int("dish_id", func(i int) int64 { return r.dishes[i].ID }).
		NullInt("quota", r.quota)
}

func (r restaurant) versionRows() *sqldb.RowSet {
	return sqldb.NewRowSet(len(r.branches)).
		Int("id", func(i int) int64 { return r.branches[i].VersionID }).
		Int("menu_id", func(i int) int64 { return r.branches[i].MenuID }).
		Int("branch_id", func(i int) int64 { return r.branches[i].ID })
}

func (r restaurant) entryRows() *sqldb.RowSet {
	return sqldb.NewRowSet(len(r.dishes)).
		Int("version_id", func(i int) int64 { return r.dishes[i].branch.VersionID }).
		Int("item_id", func(i int) int64 { return r.dishes[i].ItemID }).
		Int("sort", func(i int) int64 { return r.dishes[i].sort }).
		Int("price", func(i int) int64 { return r.dishes[i].Price }).
		NullInt("quota", r.quota)
}

// queueOptions queues the library of options and the groups of dishes on the published menus.
func (r restaurant) queueOptions(tx sqldb.Tx, now int64) {
	tx.Queue(stmt("group_insert"), sqldb.NewRowSet(len(r.optionGroups)).
		Int("id", func(i int) int64 { return r.optionGroups[i].ID }).
		Text("kind", func(i int) string { return string(r.optionGroups[i].Kind) }).
		Text("names", func(i int) string { return text(r.optionGroups[i].Names) }), now)
	tx.Queue(stmt("choice_insert"), sqldb.NewRowSet(len(r.options)).
		Int("id", func(i int) int64 { return r.options[i].ID }).
		Int("group_id", func(i int) int64 { return r.options[i].group }).
		Text("names", func(i int) string { return text(r.options[i].Names) }).
		Text("short_name", func(i int) string { return r.options[i].ShortName }).
		NullInt("dish_id", func(i int) (int64, bool) { return r.options[i].DishID, r.options[i].DishID != 0 }).
		Int("sort", func(i int) int64 { return r.options[i].sort }).
		Text("allergens", func(i int) string { return allergens(r.options[i].Declaration) }).
		Text("diets", func(i int) string { return diets(r.options[i].Declaration) }))
	tx.Queue(stmt("version_group_insert"), sqldb.NewRowSet(len(r.dishGroups)).
		Int("version_id", func(i int) int64 { return r.dishGroups[i].dish.branch.VersionID }).
		Int("item_id", func(i int) int64 { return r.dishGroups[i].dish.ItemID }).
		Int("parent_id", func(i int) int64 { return r.dishGroups[i].ParentID }).
		Int("group_id", func(i int) int64 { return r.dishGroups[i].GroupID }).
		Int("sort", func(i int) int64 { return r.dishGroups[i].sort }).
		Int("min_units", func(i int) int64 { return r.dishGroups[i].Min }).
		Int("max_units", func(i int) int64 { return r.dishGroups[i].Max }).
		Int("max_each", func(i int) int64 { return r.dishGroups[i].MaxEach }))
	tx.Queue(stmt("version_choice_insert"), sqldb.NewRowSet(len(r.prices)).
		Int("version_id", func(i int) int64 { return r.prices[i].group.dish.branch.VersionID }).
		Int("item_id", func(i int) int64 { return r.prices[i].group.dish.ItemID }).
		Int("parent_id", func(i int) int64 { return r.prices[i].group.ParentID }).
		Int("group_id", func(i int) int64 { return r.prices[i].group.GroupID }).
		Int("choice_id", func(i int) int64 { return r.prices[i].OptionID }).
		Int("sort", func(i int) int64 { return r.prices[i].sort }).
		Int("price", func(i int) int64 { return r.prices[i].Price }).
		Int("is_default", func(i int) int64 { return sqldb.Flag(r.prices[i].Default) }).
		NullInt("component", func(i int) (int64, bool) { return r.prices[i].component, r.prices[i].component != 0 }))
}

// quota returns the daily quota of a dish; ok is false for none, which is stored as NULL.
func (r restaurant) quota(i int) (int64, bool) {
	if q := r.dishes[i].Quota; q != nil {
		return *q, true
	}
	return 0, false
}

// queueStock queues the stock with its first delivery: a ledger entry must explain every quantity.
func (r restaurant) queueStock(tx sqldb.Tx, at time.Time) {
	now := at.UnixMilli()
	rows := func() *sqldb.RowSet {
		return sqldb.NewRowSet(len(r.stock)).
			Int("id", func(i int) int64 { return r.stock[i].ID }).
			Int("branch_id", func(i int) int64 { return r.stock[i].branch })
	}
	available := func(i int) int64 { return r.stock[i].Available }
	tx.Queue(stmt("stock_item_insert"), rows().
		Text("sku", func(i int) string { return r.stock[i].SKU }).
		Text("name", func(i int) string { return r.stock[i].Name }).
		Text("unit", func(i int) string { return r.stock[i].Unit }).
		Int("low_at", func(i int) int64 { return r.stock[i].LowAt }), now)
	tx.Queue(stmt("inventory_insert"), rows().Int("available", available))
	ids := make([]string, len(r.stock))
	for i := range ids {
		ids[i] = uid.New(at)
	}
	tx.Queue(stmt("delivery_insert"), rows().
		Text("uid", func(i int) string { return ids[i] }).
		Int("available", available), now)
	tx.Queue(stmt("recipe_insert"), sqldb.NewRowSet(len(r.recipes)).
		Int("menu_item_id", func(i int) int64 { return r.recipes[i].menuItem }).
		Int("item_id", func(i int) int64 { return r.recipes[i].item }).
		Int("qty", func(i int) int64 { return r.recipes[i].qty }))
}

// tableShapes are the shapes of a branch's tables, which stand in two rows of three on its plan.
var tableShapes = []visit.Shape{
	visit.ShapeSquare, visit.ShapeSquare, visit.ShapeRound, visit.ShapeWide, visit.ShapeSquare, visit.ShapeRound,
}

func (r restaurant) tableRows() *sqldb.RowSet {
	nth := func(i int) int { return int(r.tables[i].id-1) % len(tableShapes) } // ids begin at 1, and a branch has six tables
	return sqldb.NewRowSet(len(r.tables)).
		Int("id", func(i int) int64 { return r.tables[i].id }).
		Int("branch_id", func(i int) int64 { return r.tables[i].branch }).
		Text("label", func(i int) string { return r.tables[i].label }).
		Int("plan_column", func(i int) int64 { return int64(nth(i) % 3 * 2) }).
		Int("plan_row", func(i int) int64 { return int64(nth(i) / 3 * 2) }).
		Text("shape", func(i int) string { return string(tableShapes[nth(i)]) })
}

func (r restaurant) qrRows() *sqldb.RowSet {
	return sqldb.NewRowSet(len(r.tables)).
		Text("token", func(int) string { return visit.NewQRToken() }).
		Int("table_id", func(i int) int64 { return r.tables[i].id })
}

func allergens(d catalog.Declaration) string {
	encoded, _ := d.Encode()
	return encoded
}

func diets(d catalog.Declaration) string {
	_, encoded := d.Encode()
	return encoded
}

// text returns a value of the file in its stored form.
func text(v any) string {
	b, _ := json.Marshal(v) // cannot fail: it was decoded from JSON
	return string(b)
}
