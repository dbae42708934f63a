package catalog

import (
	"context"
	"maps"
	"slices"

	"comanda/internal/authz"
	"comanda/internal/fault"
)

// MaxMenuRows limits the dishes of one change of a menu. A change locks every branch until it is written.
const MaxMenuRows = 500

// ErrRowsChanged refuses to overwrite a row that someone else has changed since it was read. Its member "dishes" has
// the current values.
var ErrRowsChanged = fault.New(fault.Conflict, "menu_rows_changed",
	"Someone else changed some of these dishes. Review the current values and save again.")

// RowState is the part of a dish on a menu that is compared to detect changes by others.
type RowState struct {
	CategoryID int64  `json:"categoryId,string"`
	Names      Texts  `json:"names"`
	Price      int64  `json:"price"`
	Quota      *int64 `json:"dailyQuota"` // nil is unlimited
}

func (s RowState) equal(o RowState) bool {
	return s.CategoryID == o.CategoryID && s.Price == o.Price && equalQuota(s.Quota, o.Quota) && maps.Equal(s.Names, o.Names)
}

// MenuRow is a dish with its price on a branch's menu. Nil texts, image and category stay as they are; a new dish needs
// names and a category.
type MenuRow struct {
	DishID       int64 // 0: a new dish
	CategoryID   *int64
	Names        Texts
	Descriptions Texts
	Image        *string // image id; empty removes the image
	TaxClass     *string // code; empty removes it
	Declared     DeclarationEdit
	Price        int64
	Quota        *int64
	Before       *RowState // the row as it was read; nil: do not compare
}

// MenuRows is a change of several dishes of a branch's menu.
type MenuRows struct {
	VersionID int64 // a draft of the branch; 0: the newest draft, or a new one
	Rows      []MenuRow
	Publish   bool // publish the draft, including its earlier changes
}

// MenuRowsResult is the result of WriteRows.
type MenuRowsResult struct {
	VersionID int64 // 0: there is no draft, because nothing changed
	Created   int
	Updated   int
}

// ChangedRow is the current state of a row that someone else has changed.
type ChangedRow struct {
	DishID int64 `json:"dishId,string"`
	RowState
}

// WriteRows changes dishes with their prices and quotas in one transaction. A repeated request changes nothing: rows
// that already have the requested values are skipped, and a new dish that equals one on the menu is that dish.
//
// Prices and quotas are written to a draft; names and categories belong to the dish, so guests see them at once.
func (m *MenuFiles) WriteRows(ctx context.Context, by authz.Actor, branch int64, w MenuRows) (MenuRowsResult, error) {
	if len(w.Rows) == 0 || len(w.Rows) > MaxMenuRows {
		return MenuRowsResult{}, invalid("A change has 1 to %d dishes.", MaxMenuRows)
	}
	for _, r := range w.Rows {
		if err := (Entry{Price: r.Price, Quota: r.Quota}).Check(); err != nil {
			return MenuRowsResult{}, err
		}
	}
	var c MenuChange
	version, err := m.write(ctx, by, branch, MenuImport{DraftID: w.VersionID, Publish: w.Publish},
		func(s MenuState) (_ MenuChange, err error) {
			c, err = planRows(s, by, w.Rows)
			return c, err
		})
	return MenuRowsResult{version, c.Created, c.Updated}, err
}

// planRows returns the changes that the rows make, or the refusal of the first row that cannot be written.
func planRows(s MenuState, by authz.Actor, rows []MenuRow) (MenuChange, error) {
	c := MenuChange{Rows: true}
	seen := map[int64]bool{}
	var changed []ChangedRow
	for _, r := range rows {
		if r.DishID != 0 && seen[r.DishID] {
			return c, invalid("A request can change each dish only once.")
		}
		seen[r.DishID] = true
		at := s.itemOf(r)
		it := MenuItemState{Entry: Entry{Active: true}}
		if at >= 0 {
			it = s.Items[at]
		}
		w, err := planRow(s, by, r, it)
		switch {
		case err != nil:
			return c, err
		case !w.WriteDish && !w.List: // the row has the requested values already
		case r.Before != nil && !it.rowState().equal(*r.Before):
			changed = append(changed, ChangedRow{r.DishID, it.rowState()})
		default:
			c.Items = append(c.Items, w)
			if r.DishID == 0 {
				c.Created++
			} else {
				c.Updated++
			}
		}
	}
	if len(changed) > 0 {
		return c, ErrRowsChanged.With("dishes", changed)
	}
	return c, nil
}

// itemOf returns the index of a row's item, or -1. The item of a new dish is found by comparing all values.
func (s MenuState) itemOf(r MenuRow) int {
	return slices.IndexFunc(s.Items, func(it MenuItemState) bool {
		if r.DishID != 0 {
			return it.DishID == r.DishID
		}
		return it.Listed && r.CategoryID != nil && it.rowState().equal(RowState{*r.CategoryID, r.Names, r.Price, r.Quota}) &&
			maps.Equal(it.Descriptions, r.Descriptions)
	})
}

func (it MenuItemState) rowState() RowState {
	return RowState{it.CategoryID, it.Names, it.Price, it.Quota}
}

// planRow returns the changes that one row makes to its item. The item is zero for a dish that was never on this menu.
func planRow(s MenuState, by authz.Actor, r MenuRow, it MenuItemState) (ItemWrite, error) {
	current := it.dish()
	w := ItemWrite{ItemID: it.ItemID, Dish: current, Category: -1, Entry: it.Entry, TaxClassBefore: it.TaxClass}
	edit := DishEdit{CategoryID: r.CategoryID, Names: r.Names, Descriptions: r.Descriptions, Image: r.Image,
		TaxClass: r.TaxClass, Declared: r.Declared}
	switch {
	case r.DishID != 0 && it.DishID == 0:
		// The other menus that show a dish are known only for dishes of this menu. Without them the permission to
		// change the dish cannot be checked.
		if edit.changes() {
			return w, ErrItem
		}
		w.Dish.ID = r.DishID
	case r.DishID == 0 && r.CategoryID == nil:
		return w, invalid("A new dish needs a category.")
	default:
		var err error
		if w.Dish, err = edit.apply(current); err != nil {
			return w, err
		}
		w.WriteDish = w.Dish.CategoryID != current.CategoryID || w.Dish.ImageURL != current.ImageURL ||
			!maps.Equal(w.Dish.Names, current.Names) || !maps.Equal(w.Dish.Descriptions, current.Descriptions) ||
			w.Dish.TaxClass != current.TaxClass || !w.Dish.equal(current.Declaration)
	}
	if w.WriteDish {
		if err := s.checkDishWrite(by, current, w.Dish); err != nil {
			return w, err
		}
	}
	w.List = !it.Listed || it.Price != r.Price || !equalQuota(it.Quota, r.Quota)
	w.Entry.Price, w.Entry.Quota, w.Entry.Sort = r.Price, r.Quota, nil
	if !it.Listed {
		w.Entry.Active = true
	}
	return w, nil
}

// checkDishWrite refuses a change of a dish that another branch shows, and references to rows that do not exist.
func (s MenuState) checkDishWrite(by authz.Actor, current, d Dish) error {
	if slices.ContainsFunc(s.DishUse[current.ID], func(b int64) bool { return !by.Sees(b) }) {
		return ErrShared
	}
	if !slices.ContainsFunc(s.Categories, func(c Category) bool { return c.ID == d.CategoryID }) {
		return ErrCategory
	}
	if d.TaxClass != current.TaxClass && !s.knowsTaxClass(d.TaxClass) {
		return ErrTaxClass
	}
	if id := ImageIDOf(d.ImageURL); d.ImageURL != current.ImageURL && d.ImageURL != "" && !s.Images[id] {
		return ErrImageUnknown
	}
	return nil
}
