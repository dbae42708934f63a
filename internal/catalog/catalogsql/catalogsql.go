// Package catalogsql stores branches and menus in SQL.
//
// Every change to a branch's menu first locks the branch's row and increases its revision. The lock serializes concurrent
// publishers; the revision shows readers that their copy is outdated.
package catalogsql

import (
	"context"
	"embed"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/document/documentsql"
	"comanda/internal/money"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
)

//go:embed *.sql
var files embed.FS

var stmts = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = stmts.Must

// QuotaHook applies an item's new standing quota to the counter of the current business date. It runs in the
// transaction that changes the quota; an error rolls that transaction back.
type QuotaHook func(ctx context.Context, tx sqldb.Tx, branch, item int64, quota *int64) error

// Store implements catalog.Source and the stores of package catalog on a database.
type Store struct {
	// OnQuota is called after the commit of each change that may have set quotas, if it is not nil.
	OnQuota func(ctx context.Context)

	db   *sqldb.DB
	hook QuotaHook
}

// New returns a store. A nil hook does nothing.
func New(db *sqldb.DB, hook QuotaHook) *Store {
	if hook == nil {
		hook = func(context.Context, sqldb.Tx, int64, int64, *int64) error { return nil }
	}
	return &Store{db: db, hook: hook}
}

// writeQuota runs a transaction that may set quotas.
func (s *Store) writeQuota(ctx context.Context, run func(context.Context, sqldb.Tx) error) error {
	err := s.db.Write(ctx, run)
	if err == nil && s.OnQuota != nil {
		s.OnQuota(ctx)
	}
	return err
}

// Branch returns a branch, or catalog.ErrBranch.
func (s *Store) Branch(ctx context.Context, id int64) (catalog.Branch, error) {
	return sqldb.Get(ctx, s.db, catalog.ErrBranch, scanBranch, stmt("branch_select"), id)
}

// RetiredBranches returns the branches that are no longer in use, by id.
func (s *Store) RetiredBranches(ctx context.Context) ([]catalog.Branch, error) {
	return sqldb.Collect(ctx, s.db, scanBranch, stmt("branch_list_retired"))
}

// Branches returns the branches in use by id.
func (s *Store) Branches(ctx context.Context) ([]catalog.Branch, error) {
	return sqldb.Collect(ctx, s.db, scanBranch, stmt("branch_list"))
}

// scanBranch reads a row of all statements about branches, which share their list of columns.
func scanBranch(r sqldb.Rows) (catalog.Branch, error) {
	var b catalog.Branch
	var currency, locales, country, hours, pricing string
	var minutes, open, orders int64
	var retired *int64
	var p pauseRow
	err := r.Scan(&b.ID, &b.Name, &currency, &b.Timezone, &b.DayStart, &locales, &minutes, &open, &b.Revision,
		&p.at, &p.until, &p.code, &p.texts, &p.by, &country, &hours, &retired, &b.MailFrom, sqldb.Bool(&b.SharedCart),
		&pricing, &b.Slug, &orders, sqldb.Bool(&b.Vouchers))
	if err == nil {
		b.Pause, err = p.pause()
	}
	if err != nil {
		return catalog.Branch{}, err
	}
	if err := json.Unmarshal([]byte(locales), &b.Locales); err != nil {
		return catalog.Branch{}, err
	}
	if hours != "" {
		if err := json.Unmarshal([]byte(hours), &b.Hours); err != nil {
			return catalog.Branch{}, err
		}
	}
	if pricing != "" {
		if err := json.Unmarshal([]byte(pricing), &b.Pricing); err != nil {
			return catalog.Branch{}, err
		}
	}
	b.RetiredAt, b.HasOrders = sqldb.NullInstant(retired), orders == 1
	b.Country = catalog.Country(country)
	b.Currency, b.AutoClose, b.Open = money.Currency(currency), time.Duration(minutes)*time.Minute, open == 1
	// The branch is validated on each read, because that computes its calendar, and a row may have been edited by
	// hand.
	return catalog.NewBranch(b)
}

// Content returns a branch's published menus. It reads the revision first: a change in between makes the content newer
// than its revision, which costs one more load but never serves a stale menu.
func (s *Store) Content(ctx context.Context, branch int64) (catalog.Content, error) {
	var c catalog.Content
	menus, err := sqldb.Collect(ctx, s.db, func(r sqldb.Rows) (m catalog.PublishedMenu, err error) {
		var schedule string
		if err = r.Scan(&c.Revision, &m.VersionID, &m.MenuID, &schedule); err == nil {
			m.Schedule, err = readSchedule(schedule)
		}
		return m, err
	}, stmt("published_select"), branch)
	if err == nil && len(menus) == 0 {
		err = catalog.ErrMenu
	}
	if err != nil {
		return c, err
	}
	c.Menus = catalog.SortMenus(menus)
	parts := seq.Map(c.Menus, func(m catalog.PublishedMenu) catalog.MenuPart {
		return catalog.MenuPart{VersionID: m.VersionID}
	})
	if c.Edition, err = s.edition(ctx, branch, parts); err != nil {
		return c, err
	}
	if c.Quotas, err = s.quotas(ctx, branch); err != nil {
		return c, err
	}
	// The ids are sorted, so that equal menus have equal copies in Redis.
	absent, err := s.OffItems(ctx, branch)
	c.Off = slices.Sorted(maps.Keys(absent))
	if err != nil {
		return c, err
	}
	options, err := s.OffOptions(ctx, branch)
	c.OffOptions = slices.Sorted(maps.Keys(options))
	return c, err
}

// Edition returns the content of a published or closed version, or of a combination. A draft is catalog.ErrVersion,
// because it may change and editions are cached.
func (s *Store) Edition(ctx context.Context, version int64) (*catalog.Edition, error) {
	if catalog.IsCombination(version) {
		var branch int64
		var parts []catalog.MenuPart
		found, err := sqldb.Read(ctx, s.db, []any{&branch, sqldb.JSON(&parts)}, stmt("combination_select"), version)
		if err == nil && !found {
			err = catalog.ErrVersion
		}
		if err != nil {
			return nil, err
		}
		all, err := s.edition(ctx, branch, parts)
		if err != nil {
			return nil, err
		}
		return all.Combine(parts), nil
	}
	v, err := selectVersion(ctx, s.db, version)
	if err != nil {
		return nil, err
	}
	if v.Status == catalog.Draft {
		return nil, catalog.ErrVersion
	}
	return s.edition(ctx, v.BranchID, []catalog.MenuPart{{VersionID: v.ID}})
}

// edition returns all items of the parts' versions.
func (s *Store) edition(ctx context.Context, branch int64, parts []catalog.MenuPart) (*catalog.Edition, error) {
	id := catalog.CombinationID(branch, parts)
	var categories []catalog.Category
	items, err := sqldb.Collect(ctx, s.db, func(r sqldb.Rows) (catalog.Item, error) {
		it, c, err := scanItem(r)
		// The statement orders items by category, so a new id begins the next category.
		if n := len(categories); n == 0 || categories[n-1].ID != c.ID {
			categories = append(categories, c)
		}
		return it, err
	}, stmt("version_items"), sqldb.NewRowSet(len(parts)).
		Int("id", func(i int) int64 { return parts[i].VersionID }).
		Int("place", func(i int) int64 { return int64(i) }))
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		groups, err := selectGroups(ctx, s.db, p.VersionID, 0)
		if err != nil {
			return nil, err
		}
		for i := range items {
			if it := &items[i]; it.Version == p.VersionID {
				it.Groups = catalog.GroupsOf(groups[it.ID])
			}
		}
	}
	if len(parts) == 1 && id == parts[0].VersionID {
		for i := range items {
			items[i].Version = 0 // the edition's own
		}
	}
	return catalog.NewEdition(id, branch, categories, items), nil
}

func scanItem(r sqldb.Rows) (it catalog.Item, c catalog.Category, err error) {
	var allergens, diets string
	err = r.Scan(&it.Version, &it.ID, &it.DishID, &c.ID, sqldb.JSON(&c.Names), &it.Price, sqldb.Bool(&it.Active),
		sqldb.JSON(&it.Names), sqldb.JSON(&it.Descriptions), sqldb.NullText(&it.ImageURL), &it.TaxClass,
		&allergens, &diets)
	it.CategoryID, it.Declaration = c.ID, catalog.DecodeDeclaration(allergens, diets)
	return it, c, err
}

func (s *Store) quotas(ctx context.Context, branch int64) (map[int64]int64, error) {
	return sqldb.Map[int64, int64](ctx, s.db, stmt("quota_list"), branch)
}

func selectVersion(ctx context.Context, conn sqldb.Conn, id int64) (catalog.Version, error) {
	return sqldb.Get(ctx, conn, catalog.ErrVersion, scanVersion, stmt("version_select"), id)
}

var scanVersion = sqldb.Row(func(v *catalog.Version) []any {
	return []any{&v.ID, &v.MenuID, &v.BranchID, &v.Number, &v.Status, sqldb.Time(&v.CreatedAt), sqldb.Time(&v.PublishedAt)}
})

// jsonText converts a value for a JSON column. Texts and lists of locales always marshal.
func jsonText(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// DishesOnSale returns the dishes that have stored sales.
func (s *Store) DishesOnSale(ctx context.Context) ([]int64, error) {
	return sqldb.Collect(ctx, s.db, sqldb.Value[int64], stmt("dish_sale_ids"))
}

// DishSalesUpdate contains the sales of one dish; without branches it is on no published menu.
type DishSalesUpdate struct {
	Dish  int64
	Sales catalog.DishSales
}

// SaveDishSales stores the sales of dishes and queues the projection of those that differ from what is stored. Several
// processes may call it: the second one changes nothing.
func (s *Store) SaveDishSales(ctx context.Context, all []DishSalesUpdate, now time.Time) (changed int, err error) {
	if len(all) == 0 {
		return 0, nil
	}
	rows := sqldb.NewRowSet(len(all)).
		Int("id", func(i int) int64 { return all[i].Dish }).
		Text("branches", func(i int) string { return salesText(all[i].Sales) }).
		NullInt("stock", func(i int) (int64, bool) { return all[i].Sales.Stock() }).
		NullInt("sold", func(i int) (int64, bool) { return all[i].Sales.SoldToday(), len(all[i].Sales) > 0 }).
		Int("open", func(i int) int64 {
			if all[i].Sales.Available() {
				return 1
			}
			return 0
		})
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		ids, err := sqldb.Collect(ctx, tx, sqldb.Value[int64], stmt("dish_sale_save"), rows)
		if err != nil {
			return err
		}
		changed = len(ids)
		documentsql.Changed(tx, now, "dish", seq.Map(ids, decimal)...)
		return nil
	})
	return changed, err
}

func salesText(s catalog.DishSales) string {
	if len(s) == 0 {
		return "{}"
	}
	text, _ := json.Marshal(s) // numbers always marshal, and keys are sorted
	return string(text)
}
