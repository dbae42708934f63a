// Package documenthttp serves categories and dishes to the public, from their documents.
package documenthttp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"comanda/internal/cache"
	"comanda/internal/document"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/tagcache"
	"comanda/internal/text"
)

// Reader reads documents; document.Reader implements it.
type Reader interface {
	Get(ctx context.Context, e *document.Entity, id string) (d document.Document, found bool, err error)
	GetMany(ctx context.Context, e *document.Entity, ids []string) ([]document.Document, error)
	Find(ctx context.Context, e *document.Entity, f document.Filter, p document.Page) ([]document.Document, int, error)
}

// ErrDishNotFound answers requests for a missing dish.
var ErrDishNotFound = fault.New(fault.NotFound, "dish_not_found", "Dish not found.")

// Register registers the routes. pages caches dishes and pages of them; it may be nil.
func Register(a *httpapi.API, documents Reader, pages *tagcache.Cache, now func() time.Time) {
	o, ops := &routes{documents: documents, pages: pages, now: now}, a.Operations("Menus", httpapi.Public)
	httpapi.Register(ops, "category-list", "GET /categories", "List the categories of all menus", o.categories)
	httpapi.Register(ops, "dish-list", "GET /dishes", "List the dishes of all published menus", o.dishes)
	httpapi.Register(ops, "dish-get", "GET /dishes/{id}", "View a dish", o.dish)
}

type routes struct {
	documents Reader
	pages     *tagcache.Cache
	now       func() time.Time
	texts     cache.Cache[struct{}, []searchable]
}

// textIn returns the text in the requested language, or the best alternative.
func textIn(l httpapi.Language, texts map[string]string) string {
	if text := texts[l.Locale]; text != "" {
		return text
	}
	if l.AcceptLanguage == "" {
		return document.TextIn(texts, document.DefaultLocale)
	}
	have := slices.Sorted(maps.Keys(texts))
	if i := slices.Index(have, document.DefaultLocale); i > 0 { // the first is the default if nothing matches
		have = slices.Insert(slices.Delete(have, i, i+1), 0, document.DefaultLocale)
	}
	return document.TextIn(texts, httpapi.Locale(l.AcceptLanguage, have...))
}

type category struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

type dish struct {
	ID          string  `json:"id"`
	CategoryID  string  `json:"categoryId"`
	Name        string  `json:"name"`
	Description string  `json:"description"`
	ImageURL    *string `json:"imageUrl"`
	Price       *int64  `json:"price" doc:"Price on the menu of the restaurant's first branch with the dish; null if no branch has it."`
	Currency    *string `json:"currency"`
	Available   bool    `json:"available" doc:"Whether a branch can sell the dish now."`
	Stock       *int64  `json:"stock" doc:"Units left in all branches; null if nothing limits them."`
	SoldToday   *int64  `json:"soldToday" doc:"Units sold in all branches on the current business date."`

	Branches map[string]sale `json:"branches" doc:"By the id of a branch that has the dish on a published menu. At most a few seconds old."`
}

// sale is the state of a dish in one branch, as catalog.DishSale writes it into documents.
type sale struct {
	Stock     *int64 `json:"stock" doc:"Units left; null if nothing limits them, or if the dish is not offered now."`
	SoldToday int64  `json:"soldToday" doc:"Units of paid orders of the current business date."`
	Available bool   `json:"available" doc:"Whether the branch can sell the dish now: it is open, a menu with the dish is in force, and units are left."`
}

// public has the field of a document that decides whether guests see a dish: drafts and retired dishes are on no
// published menu.
type public struct {
	OnMenu bool `json:"onMenu"`
}

// onMenus selects the dishes that guests see.
const onMenus = "onMenu"

// texts holds names and descriptions in all locales. Only language selection and search use them.
type texts struct {
	Names        map[string]string `json:"names"`
	Descriptions map[string]string `json:"descriptions"`
}

type categoriesIn struct {
	httpapi.Language
	httpapi.Paging
}

func (r *routes) categories(ctx context.Context, in *categoriesIn) (httpapi.List[category], error) {
	docs, total, err := r.documents.Find(ctx, document.Category, nil,
		document.Page{Offset: in.Offset(), Limit: in.Size})
	if err != nil {
		return httpapi.List[category]{}, err
	}
	out := httpapi.List[category]{Items: []category{}, Total: total}
	for _, d := range docs {
		var c category
		var t texts
		if err := decode(d, &c, &t); err != nil {
			return httpapi.List[category]{}, err
		}
		c.Name, c.Description = textIn(in.Language, t.Names), textIn(in.Language, t.Descriptions)
		out.Items = append(out.Items, c)
	}
	return out, nil
}

// decode parses a document into several views.
func decode(d document.Document, views ...any) error {
	for _, v := range views {
		if err := json.Unmarshal([]byte(d.JSON), v); err != nil {
			return fmt.Errorf("document %s: %w", d.Ref(), err)
		}
	}
	return nil
}

type dishesIn struct {
	httpapi.Language
	httpapi.Paging
	CategoryID string `query:"categoryId" text:"exact" maxLength:"19"`
	Q          string `query:"q" text:"line" maxLength:"100" doc:"Words that the name, the description or the category contains, in any language; case and accents do not matter. Dishes whose name begins with them come first."`
}

// dishes lists dishes by id, or those that a search finds. A changed dish or category invalidates all pages. Those of a
// search expire with the searched texts too, which are not read anew for each search.
func (r *routes) dishes(ctx context.Context, in *dishesIn) (httpapi.List[dish], error) {
	q := text.ParseQuery(in.Q)
	life := tagcache.ListLife
	if !q.Empty() {
		life = searchAge
	}
	e := entryOf(tagcache.List, in.Language, in.CategoryID, in.Q, strconv.Itoa(in.Page), strconv.Itoa(in.Size))
	return tagcache.Value(ctx, r.pages, e, life, func(ctx context.Context) (httpapi.List[dish], error) {
		if !q.Empty() {
			return r.search(ctx, in, q)
		}
		return r.list(ctx, in)
	})
}

// entryOf names a cached value in a language.
func entryOf(kind tagcache.Kind, l httpapi.Language, parts ...string) tagcache.Entry {
	return tagcache.NewEntry(tagcache.Dishes, kind, 0, tagcache.DateRange{}, append(parts, l.Locale, l.AcceptLanguage)...)
}

// list lists dishes by id.
func (r *routes) list(ctx context.Context, in *dishesIn) (httpapi.List[dish], error) {
	filter := document.Filter{onMenus: "yes"}
	if in.CategoryID != "" {
		filter["category"] = in.CategoryID
	}
	docs, total, err := r.documents.Find(ctx, document.Dish, filter,
		document.Page{Offset: in.Offset(), Limit: in.Size})
	if err != nil {
		return httpapi.List[dish]{}, err
	}
	out := httpapi.List[dish]{Items: []dish{}, Total: total}
	for _, d := range docs {
		one, err := dishOf(d, in.Language)
		if err != nil {
			return httpapi.List[dish]{}, err
		}
		out.Items = append(out.Items, one)
	}
	return out, nil
}

// dishOf returns a dish in the requested language.
func dishOf(d document.Document, l httpapi.Language) (one dish, err error) {
	var t texts
	if err := decode(d, &one, &t); err != nil {
		return one, err
	}
	one.Name, one.Description = textIn(l, t.Names), textIn(l, t.Descriptions)
	return one, nil
}

type dishIn struct {
	httpapi.Language
	ID string `path:"id" maxLength:"19"`
}

func (r *routes) dish(ctx context.Context, in *dishIn) (dish, error) {
	e := entryOf(tagcache.Detail, in.Language, in.ID)
	return tagcache.Value(ctx, r.pages, e, tagcache.DetailLife, func(ctx context.Context) (dish, error) {
		return r.read(ctx, in)
	})
}

func (r *routes) read(ctx context.Context, in *dishIn) (dish, error) {
	d, found, err := r.documents.Get(ctx, document.Dish, in.ID)
	if err != nil {
		return dish{}, err
	}
	if !found {
		return dish{}, ErrDishNotFound
	}
	var seen public
	if err := decode(d, &seen); err != nil {
		return dish{}, err
	}
	if !seen.OnMenu {
		return dish{}, ErrDishNotFound
	}
	one, err := dishOf(d, in.Language)
	return one, err
}
