package documenthttp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/document"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
)

// Reader reads documents; document.Reader implements it.
type Reader interface {
	Get(ctx context.Context, e *document.Entity, id string) (d document.Document, found bool, err error)
	Find(ctx context.Context, e *document.Entity, f document.Filter, p document.Page) ([]document.Document, int, error)
}

// ErrDishNotFound answers requests for a missing dish.
var ErrDishNotFound = fault.New(fault.NotFound, "dish_not_found", "Dish not found.")

// Register registers the routes.
func Register(a *httpapi.API, documents Reader) {
	o := &routes{documents}
	tags := []string{"Menus"}
	httpapi.Register(a, huma.Operation{
		OperationID: "category-list", Method: http.MethodGet, Path: "/categories", Tags: tags,
		Summary: "The categories of all menus",
	}, httpapi.Public, o.categories)
	httpapi.Register(a, huma.Operation{
		OperationID: "dish-list", Method: http.MethodGet, Path: "/dishes", Tags: tags,
		Summary: "What the house cooks, on whatever menu it stands",
	}, httpapi.Public, o.dishes)
	httpapi.Register(a, huma.Operation{
		OperationID: "dish-get", Method: http.MethodGet, Path: "/dishes/{id}", Tags: tags,
		Summary: "One dish",
	}, httpapi.Public, o.dish)
}

type routes struct{ documents Reader }

// Language is the requested language of names. It is exported because huma reads exported parts only.
type Language struct {
	Locale         string `query:"locale" text:"exact" maxLength:"16" doc:"Goes before Accept-Language."`
	AcceptLanguage string `header:"Accept-Language"`
}

// text returns the text in the requested language, or the best alternative.
func (l Language) text(texts map[string]string) string {
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
	Price       *int64  `json:"price" doc:"On the menu of the house's first branch that has it; null when none has."`
	Currency    *string `json:"currency"`
	Available   bool    `json:"available" doc:"On a published menu; a branch's menu has the remaining quantity."`
}

// texts are the names in all locales, which only the choice of language and the search use.
type texts struct {
	Names        map[string]string `json:"names"`
	Descriptions map[string]string `json:"descriptions"`
}

type list[T any] struct {
	Items []T `json:"items"`
	Total int `json:"total"`
}

type categoriesIn struct {
	Language
	httpapi.Paging
}

func (o *routes) categories(ctx context.Context, in *categoriesIn) (*httpapi.Output[list[category]], error) {
	docs, total, err := o.documents.Find(ctx, document.Category, nil,
		document.Page{Offset: (in.Page - 1) * in.Size, Limit: in.Size})
	if err != nil {
		return nil, err
	}
	out := httpapi.OutputOf(list[category]{[]category{}, total})
	for _, d := range docs {
		var c category
		var t texts
		if err := decode(d, &c, &t); err != nil {
			return nil, err
		}
		c.Name, c.Description = in.text(t.Names), in.text(t.Descriptions)
		out.Body.Items = append(out.Body.Items, c)
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
	Language
	httpapi.Paging
	CategoryID string `query:"categoryId" text:"exact" maxLength:"19"`
	Q          string `query:"q" text:"line" maxLength:"100" doc:"A part of the name, in any language."`
}

// dishes lists dishes by id. A search reads all of them instead.
func (o *routes) dishes(ctx context.Context, in *dishesIn) (*httpapi.Output[list[dish]], error) {
	filter := document.Filter{}
	if in.CategoryID != "" {
		filter["category"] = in.CategoryID
	}
	q := strings.ToLower(strings.TrimSpace(in.Q))
	if q != "" {
		return o.search(ctx, in, filter, q)
	}
	docs, total, err := o.documents.Find(ctx, document.Dish, filter,
		document.Page{Offset: (in.Page - 1) * in.Size, Limit: in.Size})
	if err != nil {
		return nil, err
	}
	out := httpapi.OutputOf(list[dish]{[]dish{}, total})
	for _, d := range docs {
		one, _, err := dishOf(d, in.Language)
		if err != nil {
			return nil, err
		}
		out.Body.Items = append(out.Body.Items, one)
	}
	return out, nil
}

const (
	searchPage  = 500
	maxSearched = 5000 // dishes that a search reads; restaurants have hundreds
)

// search reads all dishes: there are few, and their documents are in memory.
func (o *routes) search(
	ctx context.Context, in *dishesIn, filter document.Filter, q string,
) (*httpapi.Output[list[dish]], error) {
	var found []dish
	for from := 0; from < maxSearched; from += searchPage {
		docs, total, err := o.documents.Find(ctx, document.Dish, filter, document.Page{Offset: from, Limit: searchPage})
		if err != nil {
			return nil, err
		}
		for _, d := range docs {
			one, t, err := dishOf(d, in.Language)
			if err != nil {
				return nil, err
			}
			if t.contains(q) {
				found = append(found, one)
			}
		}
		if from+searchPage >= total {
			break
		}
	}
	return httpapi.OutputOf(list[dish]{append([]dish{}, httpapi.PageOf(in.Paging, found)...), len(found)}), nil
}

func (t texts) contains(q string) bool {
	for _, name := range t.Names {
		if strings.Contains(strings.ToLower(name), q) {
			return true
		}
	}
	return false
}

// dishOf returns a dish in the requested language, and its texts in all languages for the search.
func dishOf(d document.Document, l Language) (one dish, t texts, err error) {
	if err := decode(d, &one, &t); err != nil {
		return one, t, err
	}
	one.Name, one.Description = l.text(t.Names), l.text(t.Descriptions)
	return one, t, nil
}

type dishIn struct {
	Language
	ID string `path:"id" maxLength:"19"`
}

func (o *routes) dish(ctx context.Context, in *dishIn) (*httpapi.Output[dish], error) {
	d, found, err := o.documents.Get(ctx, document.Dish, in.ID)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, ErrDishNotFound
	}
	one, _, err := dishOf(d, in.Language)
	return httpapi.OutputOf(one), err
}
