package documenthttp

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"comanda/internal/document"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
	"comanda/internal/text"
)

// Limits of the search. A restaurant has hundreds of dishes; searchable texts of 5,000 take some megabytes.
const (
	searchPage  = 500
	maxSearched = 5000             // dishes that a search finds, the first by id
	searchAge   = 10 * time.Second // how long a new name, or a dish that is new on a menu, may be missing in searches
)

// searchable contains the folded texts of a dish: its names, and everything that a phone searches
// (web/guest/src/menu/search.ts), in all languages.
type searchable struct {
	id, category string
	names        []string
	all          string
}

// rank orders the dishes that a query finds: first those with a name that begins with it, then those with its words in the
// names, then the others.
func (s searchable) rank(q text.Query) int {
	switch {
	case slices.ContainsFunc(s.names, q.Begins):
		return 0
	case slices.ContainsFunc(s.names, q.In):
		return 1
	}
	return 2
}

// searchables returns the texts of the dishes on published menus, by id. They are kept for a while: reading all documents
// for each request would cost more than the search.
func (r *routes) searchables(ctx context.Context) ([]searchable, error) {
	return r.texts.Load(struct{}{}, r.now, searchAge, func() ([]searchable, error) {
		categories := map[string]string{}
		err := r.each(ctx, document.Category, nil, func(d document.Document) error {
			var t texts
			err := decode(d, &t)
			categories[d.ID] = text.FoldLines(maps.Values(t.Names))
			return err
		})
		if err != nil {
			return nil, err
		}
		var all []searchable
		err = r.each(ctx, document.Dish, document.Filter{onMenus: "yes"}, func(d document.Document) error {
			var one struct {
				CategoryID string `json:"categoryId"`
				texts
			}
			if err := decode(d, &one); err != nil {
				return err
			}
			s := searchable{id: d.ID, category: one.CategoryID}
			for _, name := range one.Names {
				s.names = append(s.names, text.Fold(name))
			}
			s.all = strings.Join(s.names, "\n") + "\n" + text.FoldLines(maps.Values(one.Descriptions)) + categories[one.CategoryID]
			all = append(all, s)
			return nil
		})
		return all, err
	})
}

// each calls do for the documents that have all values of a filter, at most maxSearched.
func (r *routes) each(ctx context.Context, e *document.Entity, f document.Filter, do func(document.Document) error) error {
	for from := 0; from < maxSearched; from += searchPage {
		docs, total, err := r.documents.Find(ctx, e, f, document.Page{Offset: from, Limit: searchPage})
		if err != nil {
			return err
		}
		for _, d := range docs {
			if err := do(d); err != nil {
				return err
			}
		}
		if from+searchPage >= total {
			return nil
		}
	}
	return nil
}

// search finds dishes by their texts, and reads only the documents of the page. A dish that left all menus since the texts
// were read is left out; the total may still contain it.
func (r *routes) search(ctx context.Context, in *dishesIn, q text.Query) (out httpapi.List[dish], err error) {
	all, err := r.searchables(ctx)
	if err != nil {
		return out, err
	}
	type hit struct {
		id   string
		rank int
	}
	var hits []hit
	for _, s := range all {
		if (in.CategoryID == "" || in.CategoryID == s.category) && q.In(s.all) {
			hits = append(hits, hit{s.id, s.rank(q)})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.rank, b.rank) })
	out = httpapi.List[dish]{Items: []dish{}, Total: len(hits)}
	page := httpapi.PageOf(in.Paging, hits)
	docs, err := r.documents.GetMany(ctx, document.Dish, seq.Map(page, func(h hit) string { return h.id }))
	if err != nil {
		return out, err
	}
	for _, d := range docs {
		var seen public
		if err := decode(d, &seen); err != nil {
			return out, err
		}
		if !seen.OnMenu {
			continue
		}
		one, err := dishOf(d, in.Language)
		if err != nil {
			return out, err
		}
		out.Items = append(out.Items, one)
	}
	return out, nil
}
