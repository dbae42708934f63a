package catalogsql

import (
	"context"
	"errors"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/document/documentsql"
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
	err = r.Scan(&d.ID, &d.CategoryID, sqldb.JSON(&d.Names), sqldb.JSON(&d.Descriptions), sqldb.NullText(&d.ImageURL),
		&retired, &updated, sqldb.Bool(&d.OnMenu))
	d.Retired, d.UpdatedAt = retired != nil, time.UnixMilli(updated).UTC()
	return d, err
}

// selectDish returns a dish and locks its row, or returns catalog.ErrDish.
func selectDish(ctx context.Context, tx sqldb.Tx, id int64) (catalog.Dish, error) {
	return sqldb.Get(ctx, tx, catalog.ErrDish, scanDish, stmt("dish_lock"), id)
}

func dishNote(d catalog.Dish) note {
	return note{Names: d.Names, Descriptions: d.Descriptions, Category: d.CategoryID, Image: d.ImageURL}
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
		var was catalog.Dish
		if id == 0 {
			err = checkLimit(ctx, tx, stmt("dish_count"), catalog.MaxDishes, errTooManyDishes)
		} else {
			was, err = selectDish(ctx, tx, id)
		}
		if err != nil {
			return err
		}
		if d, err = change(was); err != nil {
			return err
		}
		if err := checkImage(ctx, tx, was, d, now); err != nil {
			return err
		}
		d.UpdatedAt = now
		if d.ID, err = writeDish(ctx, tx, by, d, now); err != nil {
			return err
		}
		touchBranches(tx, branches)
		documentsql.Changed(tx, now, "dish", decimal(d.ID))
		entry := auditEntry(by, now, audit.ActionDishEdited, "dish", d.ID, 0).WithAfter(dishNote(d))
		if id != 0 {
			entry = entry.WithBefore(dishNote(was))
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
func checkImage(ctx context.Context, tx sqldb.Tx, was, d catalog.Dish, now time.Time) error {
	id := catalog.ImageIDOf(d.ImageURL)
	if id == "" || d.ImageURL == was.ImageURL {
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
	if d.ID == 0 {
		return sqldb.Scalar[int64](ctx, tx, stmt("dish_insert"), d.CategoryID, names, descriptions, image, now.UnixMilli(),
			by.String())
	}
	_, err := tx.Exec(ctx, stmt("dish_update"), d.ID, d.CategoryID, names, descriptions, image, now.UnixMilli(), by.String())
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
		// Checked under the branches' locks, which edits and publications of their menus take too.
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
