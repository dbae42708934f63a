package catalogsql

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/document/documentsql"
	"comanda/internal/fault"
	"comanda/internal/sqldb"
)

// Dishes returns the dishes of a category, or all for 0.
func (s *Store) Dishes(ctx context.Context, category int64, retired bool) ([]catalog.Dish, error) {
	return sqldb.Collect(ctx, s.db, scanDish, stmt("dish_list"), category, sqldb.Flag(retired), catalog.MaxDishes)
}

// scanDish keeps the Unix epoch, as scanCategory does.
func scanDish(r sqldb.Rows) (d catalog.Dish, err error) {
	var retired *int64
	var updated int64
	var allergens, diets string
	err = r.Scan(&d.ID, &d.CategoryID, sqldb.JSON(&d.Names), sqldb.JSON(&d.Descriptions), sqldb.NullText(&d.ImageURL),
		&d.TaxClass, &allergens, &diets, &retired, &updated, sqldb.Bool(&d.OnMenu))
	d.Declaration = catalog.DecodeDeclaration(allergens, diets)
	d.Retired, d.UpdatedAt = retired != nil, time.UnixMilli(updated).UTC()
	return d, err
}

// selectDish returns a dish and locks its row, or returns catalog.ErrDish.
func selectDish(ctx context.Context, tx sqldb.Tx, id int64) (catalog.Dish, error) {
	return sqldb.Get(ctx, tx, catalog.ErrDish, scanDish, stmt("dish_lock"), id)
}

func dishNote(d catalog.Dish) note {
	return note{
		Names: d.Names, Descriptions: d.Descriptions, Category: d.CategoryID, Image: d.ImageURL, TaxClass: d.TaxClass,
		Declaration: d.Declaration,
	}
}

// PutDish changes a dish, or creates one for id 0.
func (s *Store) PutDish(
	ctx context.Context, by authz.Actor, id int64, now time.Time, change catalog.DishChange,
) (d catalog.Dish, branches []int64, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		// A new dish, with id 0, is on no menu, so this locks nothing.
		if branches, err = lockBranches(ctx, tx, by, stmt("branch_lock_dish"), id); err != nil {
			return err
		}
		var current catalog.Dish
		if id == 0 {
			err = checkLimit(ctx, tx, stmt("dish_count"), catalog.MaxDishes, errTooManyDishes)
		} else {
			current, err = selectDish(ctx, tx, id)
		}
		if err != nil {
			return err
		}
		if d, err = change(current); err != nil {
			return err
		}
		if err := checkImage(ctx, tx, current, d, now); err != nil {
			return err
		}
		d.UpdatedAt = now
		if d.TaxClass != current.TaxClass && d.TaxClass != "" {
			if _, err := taxClassOf(ctx, tx, d.TaxClass); err != nil {
				return err
			}
		}
		if d.ID, err = writeDish(ctx, tx, by, d, now); err != nil {
			return err
		}
		if d.TaxClass != current.TaxClass {
			if err := checkTaxedBranches(ctx, tx, branches); err != nil {
				return err
			}
		}
		touchBranches(tx, branches)
		documentsql.Changed(tx, now, "dish", decimal(d.ID))
		entry := auditEntry(by, now, audit.ActionDishEdited, "dish", d.ID, 0).WithAfter(dishNote(d))
		if id != 0 {
			entry = entry.WithBefore(dishNote(current))
		}
		return auditsql.Record(ctx, tx, entry)
	})
	if errors.Is(err, sqldb.ErrForeignKey) { // the category is the only foreign key of a dish
		err = catalog.ErrCategory
	}
	return d, branches, err
}

// checkImage refuses an unknown image. It updates the time of a known one, so that it is not purged before the dish is
// committed.
func checkImage(ctx context.Context, tx sqldb.Tx, current, d catalog.Dish, now time.Time) error {
	id := catalog.ImageIDOf(d.ImageURL)
	if id == "" || d.ImageURL == current.ImageURL {
		return nil
	}
	n, err := tx.Exec(ctx, stmt("image_touch"), id, now.UnixMilli())
	if err == nil && n == 0 {
		err = catalog.ErrImageUnknown
	}
	return err
}

func writeDish(ctx context.Context, tx sqldb.Tx, by authz.Actor, d catalog.Dish, now time.Time) (int64, error) {
	var image *string
	if d.ImageURL != "" {
		image = &d.ImageURL
	}
	names, descriptions := jsonText(d.Names), textsJSON(d.Descriptions)
	allergens, diets := d.Encode()
	if d.ID == 0 {
		return sqldb.Scalar[int64](ctx, tx, stmt("dish_insert"), d.CategoryID, names, descriptions, image, now.UnixMilli(),
			by.String(), d.TaxClass, allergens, diets)
	}
	_, err := tx.Exec(ctx, stmt("dish_update"), d.ID, d.CategoryID, names, descriptions, image, now.UnixMilli(), by.String(),
		d.TaxClass, allergens, diets)
	return d.ID, err
}

// Retire retires a dish. Its row stays, because orders, carts and closed versions refer to it.
func (s *Store) Retire(ctx context.Context, by authz.Actor, id int64, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if _, err := lockBranches(ctx, tx, by, stmt("branch_lock_dish"), id); err != nil {
			return err
		}
		d, err := selectDish(ctx, tx, id)
		if err != nil || d.Retired {
			return err
		}
		// The use of the dish is checked under the branches' locks, which edits and publications of their menus take
		// too.
		n, err := sqldb.Scalar[int64](ctx, tx, stmt("dish_used"), id)
		if err == nil && n > 0 {
			err = catalog.ErrDishInUse
		}
		if err != nil {
			return err
		}
		tx.QueueExactly(1, stmt("dish_retire"), id, now.UnixMilli(), by.String())
		documentsql.Changed(tx, now, "dish", decimal(id))
		return auditsql.Record(ctx, tx,
			auditEntry(by, now, audit.ActionDishRetired, "dish", id, 0).WithBefore(dishNote(d)))
	})
}

// Locks are taken in this order: the branches whose menus show a category or dish, then the category or dish.
// Publishing uses the same order.

// maxCategories limits the categories of an installation.
const maxCategories = 1000

var (
	errTooManyCategories = fault.Newf(fault.Conflict, "category_limit", "At most %d categories can be stored.", maxCategories)
	errTooManyDishes     = fault.Newf(fault.Conflict, "dish_limit", "At most %d dishes can be stored.", catalog.MaxDishes)
)

// lockBranches locks the branches whose menus show a category or a dish and returns their ids. It fails with
// catalog.ErrShared if the actor may not see one of them.
func lockBranches(ctx context.Context, tx sqldb.Tx, by authz.Actor, q *sqldb.Stmt, id int64) ([]int64, error) {
	branches, err := sqldb.Collect(ctx, tx, sqldb.Value[int64], q, id)
	for _, b := range branches {
		if err == nil && !by.Sees(b) {
			err = catalog.ErrShared
		}
	}
	return branches, err
}

// touchBranches increases the revision of branches, which invalidates their cached menus.
func touchBranches(tx sqldb.Tx, branches []int64) {
	for _, b := range branches {
		tx.Queue(stmt("branch_touch"), b)
	}
}

// checkLimit returns full if the statement counts limit rows or more.
func checkLimit(ctx context.Context, tx sqldb.Tx, q *sqldb.Stmt, limit int64, full error) error {
	n, err := sqldb.Scalar[int64](ctx, tx, q)
	if err == nil && n >= limit {
		err = full
	}
	return err
}

// Categories returns a page of the categories in menu order with their branches, and their total number.
func (s *Store) Categories(ctx context.Context, limit, offset int) ([]catalog.Category, int64, error) {
	page, total, err := sqldb.Page(ctx, s.db, scanCategory, stmt("category_count"), stmt("category_list"), limit, offset)
	if err != nil {
		return nil, 0, err
	}
	branches, err := sqldb.Grouped[int64, int64](ctx, s.db, stmt("category_branches"))
	for i := range page {
		page[i].Branches = branches[page[i].ID]
	}
	return page, total, err
}

// scanCategory keeps the Unix epoch of rows that are older than their column updated_at.
func scanCategory(r sqldb.Rows) (h catalog.Category, err error) {
	var updated int64
	err = r.Scan(&h.ID, &h.Sort, sqldb.JSON(&h.Names), sqldb.JSON(&h.Descriptions), &h.Dishes, &updated)
	h.UpdatedAt = time.UnixMilli(updated).UTC()
	return h, err
}

// selectCategory returns a category and locks its row, or returns catalog.ErrCategory.
func selectCategory(ctx context.Context, tx sqldb.Tx, id int64) (catalog.Category, error) {
	return sqldb.Get(ctx, tx, catalog.ErrCategory, scanCategory, stmt("category_lock"), id)
}

// note is the audit log's record of a category or a dish.
type note struct {
	Names        catalog.Texts `json:"names"`
	Descriptions catalog.Texts `json:"descriptions,omitempty"`
	Sort         *int64        `json:"sort,omitempty"`
	Category     int64         `json:"categoryId,omitempty"`
	Image        string        `json:"imageUrl,omitempty"`
	TaxClass     string        `json:"taxClass,omitempty"`
	catalog.Declaration
}

func categoryNote(h catalog.Category) note {
	return note{Names: h.Names, Descriptions: h.Descriptions, Sort: &h.Sort}
}

// PutCategory changes a category, or creates one for id 0. A new category without a position is the last.
func (s *Store) PutCategory(
	ctx context.Context, by authz.Actor, id int64, now time.Time, change catalog.CategoryChange,
) (h catalog.Category, branches []int64, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if id == 0 {
			h, err = addCategory(ctx, tx, by, now, change)
			return err
		}
		if branches, err = lockBranches(ctx, tx, by, stmt("branch_lock_category"), id); err != nil {
			return err
		}
		current, err := selectCategory(ctx, tx, id)
		if err != nil {
			return err
		}
		if h, err = change(current); err != nil {
			return err
		}
		h.UpdatedAt = now
		tx.QueueExactly(1, stmt("category_update"), id, h.Sort, jsonText(h.Names), textsJSON(h.Descriptions),
			now.UnixMilli(), by.String())
		touchBranches(tx, branches)
		documentsql.Changed(tx, now, "category", decimal(id))
		return auditsql.Record(ctx, tx, auditEntry(by, now, audit.ActionCategoryEdited, "category", id, 0).
			WithBefore(categoryNote(current)).WithAfter(categoryNote(h)))
	})
	return h, branches, err
}

// sortLast marks a new category whose position was not set.
const sortLast = -1

// addCategory adds a category. Without a position it comes last. The statement computes that position, which saves a read.
func addCategory(
	ctx context.Context, tx sqldb.Tx, by authz.Actor, now time.Time, change catalog.CategoryChange,
) (catalog.Category, error) {
	// checkSort refuses negative positions, so sortLast cannot come from a request.
	h, err := change(catalog.Category{Sort: sortLast})
	if err == nil {
		err = checkLimit(ctx, tx, stmt("category_count"), maxCategories, errTooManyCategories)
	}
	if err != nil {
		return h, err
	}
	var sort *int64
	if h.Sort != sortLast {
		sort = &h.Sort
	}
	id, err := sqldb.Scalar[int64](ctx, tx, stmt("category_insert"), sort, jsonText(h.Names), textsJSON(h.Descriptions),
		now.UnixMilli(), by.String())
	if err != nil {
		return h, err
	}
	documentsql.Changed(tx, now, "category", decimal(id))
	if h, err = selectCategory(ctx, tx, id); err != nil {
		return h, err
	}
	return h, auditsql.Record(ctx, tx,
		auditEntry(by, now, audit.ActionCategoryEdited, "category", id, 0).WithAfter(categoryNote(h)))
}

// textsJSON converts optional texts for a JSON column.
func textsJSON(t catalog.Texts) string {
	if len(t) == 0 {
		return "{}"
	}
	return jsonText(t)
}

// DeleteCategory deletes a category. The foreign key of dishes refuses one in use.
func (s *Store) DeleteCategory(ctx context.Context, by authz.Actor, id int64, now time.Time) error {
	err := s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		current, err := selectCategory(ctx, tx, id)
		if err != nil {
			return err
		}
		version, err := sqldb.Scalar[int64](ctx, tx, stmt("category_delete"), id)
		if err != nil {
			return err
		}
		documentsql.Deleted(tx, now, "category", decimal(id), version)
		return auditsql.Record(ctx, tx,
			auditEntry(by, now, audit.ActionCategoryDeleted, "category", id, 0).WithBefore(categoryNote(current)))
	})
	if errors.Is(err, sqldb.ErrForeignKey) {
		return catalog.ErrCategoryInUse
	}
	return err
}

// AddImage stores an image and purges images that neither a dish nor the brand shows and that were last used before an
// instant.
func (s *Store) AddImage(ctx context.Context, p catalog.Image, now, before time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		tx.Queue(stmt("image_purge"), before.UnixMilli())
		queueImage(tx, p, now)
		return checkLimit(ctx, tx, stmt("image_count"), catalog.MaxImages+1, catalog.ErrTooManyImages)
	})
}

// queueImage stores an image, or renews it.
func queueImage(tx sqldb.Tx, p catalog.Image, now time.Time) {
	// Sizes are written in ascending order, so that two uploads of one image cannot deadlock.
	for _, width := range slices.Sorted(maps.Keys(p.Sizes)) {
		tx.Queue(stmt("image_insert"), p.ID, width, p.Sizes[width], now.UnixMilli())
	}
}

// Image returns an image in one of its sizes; found is false for an unknown id or width.
func (s *Store) Image(ctx context.Context, id string, width int) (bytes []byte, found bool, err error) {
	return sqldb.One(ctx, s.db, sqldb.Value[[]byte], stmt("image_select"), id, width)
}
