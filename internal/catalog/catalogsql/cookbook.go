package catalogsql

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/document/documentsql"
	"comanda/internal/fault"
	"comanda/internal/identity"
	"comanda/internal/identity/identitysql"
	"comanda/internal/sqldb"
)

// Categories and dishes are locked behind the branches that show them, as publishing does.

// maxCategories bounds how many categories a house keeps.
const maxCategories = 1000

var (
	errTooManyCategories = fault.Newf(fault.Conflict, "category_limit", "A house keeps at most %d categories.", maxCategories)
	errTooManyDishes     = fault.Newf(fault.Conflict, "dish_limit", "A house keeps at most %d dishes.", catalog.MaxDishes)
)

// lockAll locks the branches that show something of the house's; an actor who does not see them all may not change it.
func lockAll(ctx context.Context, tx sqldb.Tx, by identity.Actor, q *sqldb.Stmt, id int64) ([]int64, error) {
	rows, err := tx.Query(ctx, q, id)
	branches, err := sqldb.Collect(rows, err, scanID)
	for _, b := range branches {
		if err == nil && !by.Sees(b) {
			err = catalog.ErrShared
		}
	}
	return branches, err
}

func touch(tx sqldb.Tx, branches []int64) {
	for _, b := range branches {
		tx.Queue(branchTouch, b)
	}
}

// room refuses what would be one too many.
func room(ctx context.Context, tx sqldb.Tx, q *sqldb.Stmt, most int64, full error) error {
	rows, err := tx.Query(ctx, q)
	n, _, err := sqldb.One(rows, err, scanID)
	if err == nil && n >= most {
		err = full
	}
	return err
}

// Headings lists categories in the order of menus.
func (s *Store) Headings(ctx context.Context, limit, offset int) ([]catalog.Heading, int64, error) {
	rows, err := s.db.Query(ctx, categoryCount)
	total, _, err := sqldb.One(rows, err, scanID)
	if err != nil {
		return nil, 0, err
	}
	rows, err = s.db.Query(ctx, categoryList, limit, offset)
	page, err := sqldb.Collect(rows, err, scanHeading)
	return page, total, err
}

func scanHeading(r sqldb.Rows) (h catalog.Heading, err error) {
	var names, descriptions string
	var updated int64
	if err := r.Scan(&h.ID, &h.Sort, &names, &descriptions, &h.Dishes, &updated); err != nil {
		return h, err
	}
	h.UpdatedAt = time.UnixMilli(updated).UTC()
	return h, errors.Join(json.Unmarshal([]byte(names), &h.Names), json.Unmarshal([]byte(descriptions), &h.Descriptions))
}

func selectHeading(ctx context.Context, tx sqldb.Tx, id int64) (catalog.Heading, error) {
	rows, err := tx.Query(ctx, categoryLock, id)
	h, found, err := sqldb.One(rows, err, scanHeading)
	if err == nil && !found {
		err = catalog.ErrCategory
	}
	return h, err
}

// note is what the audit log says of a category or a dish.
type note struct {
	Names        catalog.Texts `json:"names"`
	Descriptions catalog.Texts `json:"descriptions,omitempty"`
	Sort         *int64        `json:"sort,omitempty"`
	Category     int64         `json:"categoryId,omitempty"`
	Image        string        `json:"imageUrl,omitempty"`
}

func headingNote(h catalog.Heading) note {
	return note{Names: h.Names, Descriptions: h.Descriptions, Sort: &h.Sort}
}

// PutHeading changes a category; 0 makes one, which stands last unless the change says where.
func (s *Store) PutHeading(
	ctx context.Context, by identity.Actor, id int64, now time.Time, change catalog.HeadingChange,
) (h catalog.Heading, branches []int64, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if id == 0 {
			h, err = addHeading(ctx, tx, by, now, change)
			return err
		}
		if branches, err = lockAll(ctx, tx, by, branchLockCategory, id); err != nil {
			return err
		}
		was, err := selectHeading(ctx, tx, id)
		if err != nil {
			return err
		}
		if h, err = change(was); err != nil {
			return err
		}
		h.UpdatedAt = now
		tx.QueueExactly(1, categoryUpdate, id, h.Sort, text(h.Names), textOrNone(h.Descriptions), now.UnixMilli(), by.String())
		touch(tx, branches)
		documentsql.Changed(tx, now, "category", decimal(id))
		return identitysql.RecordAudit(ctx, tx, did(by, now, identity.ActionCategoryEdited, "category", id, 0).
			WithBefore(headingNote(was)).WithAfter(headingNote(h)))
	})
	return h, branches, err
}

// unplaced marks a category that is to stand last.
const unplaced = -1

func addHeading(
	ctx context.Context, tx sqldb.Tx, by identity.Actor, now time.Time, change catalog.HeadingChange,
) (catalog.Heading, error) {
	h, err := change(catalog.Heading{Sort: unplaced})
	if err == nil {
		err = room(ctx, tx, categoryCount, maxCategories, errTooManyCategories)
	}
	if err != nil {
		return h, err
	}
	var sort *int64
	if h.Sort != unplaced {
		sort = &h.Sort
	}
	rows, err := tx.Query(ctx, categoryInsert, sort, text(h.Names), textOrNone(h.Descriptions), now.UnixMilli(), by.String())
	id, _, err := sqldb.One(rows, err, scanID)
	if err != nil {
		return h, err
	}
	documentsql.Changed(tx, now, "category", decimal(id))
	if h, err = selectHeading(ctx, tx, id); err != nil {
		return h, err
	}
	return h, identitysql.RecordAudit(ctx, tx,
		did(by, now, identity.ActionCategoryEdited, "category", id, 0).WithAfter(headingNote(h)))
}

// textOrNone writes texts that may be missing.
func textOrNone(t catalog.Texts) string {
	if len(t) == 0 {
		return "{}"
	}
	return text(t)
}

// DropHeading deletes a category without dishes.
func (s *Store) DropHeading(ctx context.Context, by identity.Actor, id int64, now time.Time) error {
	err := s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		was, err := selectHeading(ctx, tx, id)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, categoryDelete, id)
		version, _, err := sqldb.One(rows, err, scanID)
		if err != nil {
			return err
		}
		documentsql.Deleted(tx, now, "category", decimal(id), version)
		return identitysql.RecordAudit(ctx, tx,
			did(by, now, identity.ActionCategoryDeleted, "category", id, 0).WithBefore(headingNote(was)))
	})
	if errors.Is(err, sqldb.ErrForeignKey) {
		return catalog.ErrCategoryInUse
	}
	return err
}
