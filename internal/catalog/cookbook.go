package catalog

import (
	"context"
	"slices"
	"strings"
	"time"

	"comanda/internal/fault"
	"comanda/internal/identity"
)

// The faults of categories and dishes.
var (
	ErrCategory      = fault.New(fault.NotFound, "category_not_found", "There is no such category.")
	ErrCategoryInUse = fault.New(fault.Conflict, "category_in_use", "There are dishes in this category.")
	ErrDish          = fault.New(fault.NotFound, "dish_not_found", "There is no such dish.")
	ErrDishInUse     = fault.New(fault.Conflict, "dish_in_use", "The dish is on a menu in force or a draft; take it off first.")
	ErrDishRetired   = fault.New(fault.Conflict, "dish_retired", "The dish was retired.")
	ErrShared        = fault.New(fault.Forbidden, "shared_with_others",
		"A branch in which you do not work has this on its menus; somebody must change it who sees them all.")
	ErrPictureUnknown = fault.New(fault.Invalid, "image_unknown", "There is no such image; send it first.")
)

// Heading is a category as the staff keep it. Categories and dishes are the house's, not a branch's: whoever changes one
// must see all the branches that have it on a menu.
type Heading struct {
	ID           int64
	Sort         int64
	Names        Texts
	Descriptions Texts
	Dishes       int64 // in it, those included that were retired
	UpdatedAt    time.Time
}

// HeadingEdit is what is to be changed of a category; what is nil stays.
type HeadingEdit struct {
	Sort         *int64
	Names        Texts
	Descriptions Texts
}

func (e HeadingEdit) apply(h Heading) (Heading, error) {
	if err := checkSort(e.Sort); err != nil {
		return h, err
	}
	if e.Sort != nil {
		h.Sort = *e.Sort
	}
	if e.Names != nil {
		h.Names = e.Names
	}
	if e.Descriptions != nil {
		h.Descriptions = e.Descriptions
	}
	return h, checkTexts("A category", h.Names, h.Descriptions)
}

// checkTexts refuses names that are none; descriptions may be missing.
func checkTexts(what string, names, descriptions Texts) error {
	if err := names.Check(what, MaxName); err != nil {
		return err
	}
	if len(descriptions) == 0 {
		return nil
	}
	return descriptions.Check(what+"'s description", MaxDescription)
}

// Dish is what the house cooks, as the staff keep it.
type Dish struct {
	ID           int64
	CategoryID   int64
	Names        Texts
	Descriptions Texts
	ImageURL     string // empty: no image
	OnMenu       bool   // of a branch, in force now
	Retired      bool
	UpdatedAt    time.Time
}

// DishEdit is what is to be changed of a dish; what is nil stays.
type DishEdit struct {
	CategoryID   *int64
	Names        Texts
	Descriptions Texts
	Image        *string // the id of a picture; empty for none
}

// apply gives the dish as it is wanted. Whether its category and its picture exist, the store tells.
func (e DishEdit) apply(d Dish) (Dish, error) {
	if d.Retired {
		return d, ErrDishRetired
	}
	if e.CategoryID != nil {
		d.CategoryID = *e.CategoryID
	}
	if e.Names != nil {
		d.Names = e.Names
	}
	if e.Descriptions != nil {
		d.Descriptions = e.Descriptions
	}
	if e.Image != nil {
		d.ImageURL = PictureURL(*e.Image)
	}
	return d, checkTexts("A dish", d.Names, d.Descriptions)
}

// The store runs changes under the locks that protect what they decide on. They do no I/O.
type (
	// HeadingChange makes a category what it is to be.
	HeadingChange func(Heading) (Heading, error)
	// DishChange makes a dish what it is to be.
	DishChange func(Dish) (Dish, error)
)

// DishStore keeps categories and dishes, normally catalogsql. Changes tell which branches' menus show them. An id of 0
// makes a new one.
type DishStore interface {
	Headings(ctx context.Context, limit, offset int) (page []Heading, total int64, err error)
	PutHeading(ctx context.Context, by identity.Actor, id int64, now time.Time, change HeadingChange) (Heading, []int64, error)
	DropHeading(ctx context.Context, by identity.Actor, id int64, now time.Time) error
	// Dishes gives those of a category, 0 for all, by category and id; at most MaxDishes.
	Dishes(ctx context.Context, category int64, retired bool) ([]Dish, error)
	PutDish(ctx context.Context, by identity.Actor, id int64, now time.Time, change DishChange) (Dish, []int64, error)
	// Retire has a dish put on no menu any more; ErrDishInUse while it is on one.
	Retire(ctx context.Context, by identity.Actor, id int64, now time.Time) error
}

// MaxDishes bounds how many dishes a house keeps; it has hundreds.
const MaxDishes = 5000

// Cookbook keeps categories and dishes. What it changes is seen at once in this process and within a second elsewhere.
type Cookbook struct {
	Store DishStore
	Menus *Menus
	Now   func() time.Time
}

// Headings lists categories in the order of menus.
func (c *Cookbook) Headings(ctx context.Context, limit, offset int) ([]Heading, int64, error) {
	return c.Store.Headings(ctx, limit, offset)
}

// PutHeading changes a category; 0 makes one.
func (c *Cookbook) PutHeading(ctx context.Context, by identity.Actor, id int64, e HeadingEdit) (Heading, error) {
	h, branches, err := c.Store.PutHeading(ctx, by, id, c.Now(), e.apply)
	c.seen(ctx, branches, err)
	return h, err
}

// DropHeading deletes a category without dishes.
func (c *Cookbook) DropHeading(ctx context.Context, by identity.Actor, id int64) error {
	return c.Store.DropHeading(ctx, by, id, c.Now())
}

// DishFilter chooses dishes; zero values choose all that are not retired.
type DishFilter struct {
	Category int64
	Query    string // a part of a name in any locale
	Retired  bool   // those that were retired too
	Limit    int
	Offset   int
}

func (f DishFilter) wants(d Dish) bool {
	q := strings.ToLower(strings.TrimSpace(f.Query))
	if q == "" {
		return true
	}
	for _, name := range d.Names {
		if strings.Contains(strings.ToLower(name), q) {
			return true
		}
	}
	return false
}

// Dishes lists dishes. A search looks at all of them: databases do not agree on what upper and lower case are.
func (c *Cookbook) Dishes(ctx context.Context, f DishFilter) ([]Dish, int64, error) {
	all, err := c.Store.Dishes(ctx, f.Category, f.Retired)
	if err != nil {
		return nil, 0, err
	}
	all = slices.DeleteFunc(all, func(d Dish) bool { return !f.wants(d) })
	total := int64(len(all))
	all = all[min(f.Offset, len(all)):]
	return all[:min(f.Limit, len(all))], total, nil
}

// PutDish changes a dish; 0 makes one.
func (c *Cookbook) PutDish(ctx context.Context, by identity.Actor, id int64, e DishEdit) (Dish, error) {
	if e.Image != nil && *e.Image != "" && !ValidPicture(*e.Image) {
		return Dish{}, ErrPictureUnknown
	}
	d, branches, err := c.Store.PutDish(ctx, by, id, c.Now(), e.apply)
	c.seen(ctx, branches, err)
	return d, err
}

// Retire takes a dish out of the house.
func (c *Cookbook) Retire(ctx context.Context, by identity.Actor, id int64) error {
	return c.Store.Retire(ctx, by, id, c.Now())
}

func (c *Cookbook) seen(ctx context.Context, branches []int64, err error) {
	if err != nil {
		return
	}
	for _, b := range branches {
		c.Menus.Invalidate(ctx, b)
	}
}
