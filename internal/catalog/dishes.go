package catalog

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/text"
)

// The faults of categories and dishes. ErrShared protects branches that the actor may not see: categories and dishes
// belong to the whole installation.
var (
	ErrCategory      = fault.New(fault.NotFound, "category_not_found", "Category not found.")
	ErrCategoryInUse = fault.New(fault.Conflict, "category_in_use", "This category still has dishes.")
	ErrDish          = fault.New(fault.NotFound, "dish_not_found", "Dish not found.")
	ErrDishInUse     = fault.New(fault.Conflict, "dish_in_use",
		"This dish is on a live menu or a draft. Remove it there first.")
	ErrDishRetired = fault.New(fault.Conflict, "dish_retired", "This dish is archived.")
	ErrShared      = fault.New(fault.Forbidden, "shared_with_others",
		"This is also on the menu of a branch that you cannot edit. Ask someone with access to all branches.")
	ErrImageUnknown = fault.New(fault.Invalid, "image_unknown", "Image not found. Upload it first.")
)

// CategoryEdit is a change to a category. Nil fields stay as they are.
type CategoryEdit struct {
	Sort         *int64
	Names        Texts
	Descriptions Texts
}

// apply returns the changed category. Texts that do not change are checked too, so that old texts meet the current
// limits.
func (e CategoryEdit) apply(c Category) (Category, error) {
	if err := checkSort(e.Sort); err != nil {
		return c, err
	}
	set(&c.Sort, e.Sort)
	if e.Names != nil {
		c.Names = e.Names
	}
	if e.Descriptions != nil {
		c.Descriptions = e.Descriptions
	}
	return c, checkTexts("A category", c.Names, c.Descriptions)
}

// checkTexts validates names, which are required, and descriptions, which are not.
func checkTexts(what string, names, descriptions Texts) error {
	if err := names.Check(what, MaxName); err != nil {
		return err
	}
	if len(descriptions) == 0 {
		return nil
	}
	return descriptions.Check(what+"'s description", MaxDescription)
}

// Dish is a dish as the staff manage it.
type Dish struct {
	ID           int64
	CategoryID   int64
	Names        Texts
	Descriptions Texts
	ImageURL     string // empty for none
	TaxClass     string // code; empty: not stated
	OnMenu       bool   // on the published menu of any branch
	Retired      bool
	UpdatedAt    time.Time
	Declaration
}

// DishEdit is a change to a dish. Nil fields stay as they are.
type DishEdit struct {
	CategoryID   *int64
	Names        Texts
	Descriptions Texts
	Image        *string // image id; empty removes the image
	TaxClass     *string // code; empty removes it
	Declared     DeclarationEdit
}

// changes reports whether the edit has any field.
func (e DishEdit) changes() bool {
	return e.CategoryID != nil || e.Names != nil || e.Descriptions != nil || e.Image != nil || e.TaxClass != nil ||
		e.Declared != DeclarationEdit{}
}

// apply returns the changed dish. The store checks that its category and image exist.
func (e DishEdit) apply(d Dish) (Dish, error) {
	if d.Retired {
		return d, ErrDishRetired
	}
	set(&d.CategoryID, e.CategoryID)
	if e.Names != nil {
		d.Names = e.Names
	}
	if e.Descriptions != nil {
		d.Descriptions = e.Descriptions
	}
	if e.Image != nil {
		d.ImageURL = ImageURL(*e.Image)
	}
	set(&d.TaxClass, e.TaxClass)
	var wrong fault.Problems
	d.Declaration = e.Declared.apply(d.Declaration, &wrong)
	return d, cmp.Or(checkTexts("A dish", d.Names, d.Descriptions), wrong.Err())
}

// The store calls changes while it holds the row locks, so they must not do I/O.
type (
	// CategoryChange returns the new state of a category.
	CategoryChange func(Category) (Category, error)
	// DishChange returns the new state of a dish.
	DishChange func(Dish) (Dish, error)
)

// DishStore stores categories and dishes; catalogsql implements it. The Put methods create a row for id 0 and return
// the branches whose menus show it.
type DishStore interface {
	Categories(ctx context.Context, limit, offset int) (page []Category, total int64, err error)
	PutCategory(
		ctx context.Context, by authz.Actor, id int64, now time.Time, change CategoryChange,
	) (Category, []int64, error)
	DeleteCategory(ctx context.Context, by authz.Actor, id int64, now time.Time) error
	// Dishes returns the dishes of a category, or all for 0, ordered by category and id; at most MaxDishes.
	Dishes(ctx context.Context, category int64, retired bool) ([]Dish, error)
	PutDish(ctx context.Context, by authz.Actor, id int64, now time.Time, change DishChange) (Dish, []int64, error)
	// Retire keeps a dish from being added to menus. It fails with ErrDishInUse while the dish is on a published menu or
	// a draft.
	Retire(ctx context.Context, by authz.Actor, id int64, now time.Time) error
}

// MaxDishes limits the dishes of an installation; most have hundreds. It bounds the memory of a search.
const MaxDishes = 5000

// DishService manages categories and dishes for the staff. Changes are visible at once in this process and within a
// second in others.
type DishService struct {
	Store DishStore
	Menus *MenuCache
	Now   func() time.Time
}

// Categories returns a page of the categories in menu order, and their total number.
func (s *DishService) Categories(ctx context.Context, limit, offset int) ([]Category, int64, error) {
	return s.Store.Categories(ctx, limit, offset)
}

// PutCategory changes a category, or creates one for id 0.
func (s *DishService) PutCategory(ctx context.Context, by authz.Actor, id int64, e CategoryEdit) (Category, error) {
	c, branches, err := s.Store.PutCategory(ctx, by, id, s.Now(), e.apply)
	s.Menus.changed(ctx, err, branches...)
	return c, err
}

// DeleteCategory deletes a category that has no dishes.
func (s *DishService) DeleteCategory(ctx context.Context, by authz.Actor, id int64) error {
	return s.Store.DeleteCategory(ctx, by, id, s.Now())
}

// DishFilter selects dishes. The zero value selects all that are not retired.
type DishFilter struct {
	Category int64
	Query    string // see text.Query; searched in the name in each locale
	Retired  bool   // includes retired dishes
	// Undeclared selects dishes without a declaration about allergens.
	Undeclared bool
	Limit      int
	Offset     int
}

// matches reports whether the filter selects a dish, apart from its category.
func (f DishFilter) matches(d Dish) bool {
	if f.Undeclared && d.Allergens != nil {
		return false
	}
	return d.Names.match(text.ParseQuery(f.Query))
}

// Dishes returns a page of the matching dishes and their total number. It filters in Go: PostgreSQL and SQLite differ
// in how they fold the case of letters beyond ASCII.
func (s *DishService) Dishes(ctx context.Context, f DishFilter) ([]Dish, int64, error) {
	all, err := s.Store.Dishes(ctx, f.Category, f.Retired)
	if err != nil {
		return nil, 0, err
	}
	all = slices.DeleteFunc(all, func(d Dish) bool { return !f.matches(d) })
	total := int64(len(all))
	all = all[min(f.Offset, len(all)):]
	return all[:min(f.Limit, len(all))], total, nil
}

// PutDish changes a dish, or creates one for id 0.
func (s *DishService) PutDish(ctx context.Context, by authz.Actor, id int64, e DishEdit) (Dish, error) {
	if e.Image != nil && *e.Image != "" && !ValidImageID(*e.Image) {
		return Dish{}, ErrImageUnknown
	}
	d, branches, err := s.Store.PutDish(ctx, by, id, s.Now(), e.apply)
	s.Menus.changed(ctx, err, branches...)
	return d, err
}

// Retire retires a dish. Orders and closed versions still refer to it.
func (s *DishService) Retire(ctx context.Context, by authz.Actor, id int64) error {
	return s.Store.Retire(ctx, by, id, s.Now())
}

// Maximum widths, in pixels, of the two sizes in which an image is stored.
const (
	Thumb = 320
	Large = 960
)

// MaxImages limits the images of an installation; each is two small files.
const MaxImages = 5000

// UnusedImageTTL is how long an image is kept that neither a dish nor the brand uses. It leaves time to upload an
// image first and put it on a dish later.
const UnusedImageTTL = 24 * time.Hour

// ErrTooManyImages refuses an image beyond MaxImages.
var ErrTooManyImages = fault.Newf(fault.Conflict, "image_limit", "At most %d images can be stored.", MaxImages)

// Image is one image in its sizes, as it is served. Its id is a hash of both sizes, so the same image has the same id.
type Image struct {
	ID    string
	Sizes map[int][]byte // JPEG by width; some of a brand are PNG
}

var imageIDPattern = regexp.MustCompile(`^[0-9a-f]{32}$`)

// ValidImageID reports whether id has the form of an image id.
func ValidImageID(id string) bool { return imageIDPattern.MatchString(id) }

// ImageURL returns the URL of an image in its large size, or an empty string for an empty id.
func ImageURL(id string) string {
	if id == "" {
		return ""
	}
	return fmt.Sprintf("/media/%s-%d.jpg", id, Large)
}

// ImageIDOf returns the id of the image that a URL made by ImageURL shows, or an empty string for any other URL.
func ImageIDOf(url string) string {
	id, ok := strings.CutSuffix(strings.TrimPrefix(url, "/media/"), "-"+strconv.Itoa(Large)+".jpg")
	if !ok || !ValidImageID(id) {
		return ""
	}
	return id
}

// ImageStore stores images; catalogsql implements it.
type ImageStore interface {
	// AddImage stores an image unless it exists, and deletes images that neither a dish nor the brand shows and that were
	// last used before the given instant.
	AddImage(ctx context.Context, p Image, now, before time.Time) error
}

// Images accepts images of dishes.
type Images struct {
	Store  ImageStore
	Resize func(ctx context.Context, raw []byte) (Image, error) // returns a fault if raw is not an image
	Now    func() time.Time
}

// Add resizes and stores an image and returns its id.
func (i *Images) Add(ctx context.Context, raw []byte) (string, error) {
	p, err := i.Resize(ctx, raw)
	if err != nil {
		return "", err
	}
	// Each upload also deletes unused images, so no separate job is needed.
	now := i.Now()
	return p.ID, i.Store.AddImage(ctx, p, now, now.Add(-UnusedImageTTL))
}
