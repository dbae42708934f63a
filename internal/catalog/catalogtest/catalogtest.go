// Package catalogtest builds valid branches and menus for tests, and a source that keeps them in memory.
package catalogtest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/money"
)

// Branch is the branch with id 1, in Hà Nội, whose day starts at four.
func Branch() catalog.Branch {
	b, err := catalog.NewBranch(catalog.Branch{
		ID: 1, Name: "Hà Nội", Currency: money.VND, Timezone: "Asia/Ho_Chi_Minh", DayStart: 4,
		Locales: []catalog.Locale{catalog.Vietnamese, catalog.English}, AutoClose: 2 * time.Hour, Open: true, Revision: 1,
	})
	if err != nil {
		panic(err) // a builder that is wrong fails every test
	}
	return b
}

// Item is an active item of category 1 with texts in Vietnamese and English.
func Item(id, price int64) catalog.Item {
	return catalog.Item{
		ID: id, DishID: id - 7, CategoryID: 1, Price: price, Active: true,
		Names: catalog.Texts{catalog.Vietnamese: fmt.Sprintf("Món %d", id), catalog.English: fmt.Sprintf("Dish %d", id)},
		Descriptions: catalog.Texts{
			catalog.Vietnamese: "Bánh phở mềm, thịt bò chín, nước dùng xương bò ninh mười hai tiếng với hồi, quế và gừng nướng.",
			catalog.English:    "Soft rice noodles and tender beef in a bone broth simmered for twelve hours with star anise.",
		},
	}
}

// Content is the menu of branch 1: a version with the given items in one category.
func Content(version int64, quotas map[int64]int64, items ...catalog.Item) catalog.Content {
	categories := []catalog.Category{{ID: 1, Names: catalog.Texts{catalog.Vietnamese: "Phở", catalog.English: "Pho"}}}
	return catalog.Content{
		Revision: version, Edition: catalog.NewEdition(version, 1, 1, categories, items), Quotas: quotas,
	}
}

// Shelf is catalog.Source in memory. It is safe for concurrent use.
type Shelf struct {
	mu       sync.Mutex
	branches map[int64]catalog.Branch
	contents map[int64]catalog.Content
	editions map[int64]*catalog.Edition
	err      error
}

// NewShelf makes a shelf without branches.
func NewShelf() *Shelf {
	return &Shelf{
		branches: map[int64]catalog.Branch{}, contents: map[int64]catalog.Content{}, editions: map[int64]*catalog.Edition{},
	}
}

// Put sets a branch and what it has published; the branch's revision follows the content's.
func (s *Shelf) Put(b catalog.Branch, c catalog.Content) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.Revision = c.Revision
	s.branches[b.ID], s.contents[b.ID], s.editions[c.Edition.VersionID] = b, c, c.Edition
}

// Fail makes every reading fail with err until it is called with nil.
func (s *Shelf) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// Branch gives a branch, or catalog.ErrBranch.
func (s *Shelf) Branch(_ context.Context, id int64) (catalog.Branch, error) {
	return find(s, s.branches, id, catalog.ErrBranch)
}

// Content gives what a branch has published, or catalog.ErrMenu.
func (s *Shelf) Content(_ context.Context, branch int64) (catalog.Content, error) {
	return find(s, s.contents, branch, catalog.ErrMenu)
}

// Edition gives a version, or catalog.ErrVersion.
func (s *Shelf) Edition(_ context.Context, version int64) (*catalog.Edition, error) {
	return find(s, s.editions, version, catalog.ErrVersion)
}

func find[V any](s *Shelf, in map[int64]V, id int64, missing error) (V, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := in[id]
	switch {
	case s.err != nil:
		return *new(V), s.err
	case !ok:
		return v, missing
	}
	return v, nil
}

// Left is catalog.Availability in memory.
type Left struct {
	mu sync.Mutex
	of map[int64]int64
}

// Set says how many of an item are left; a negative number is no limit.
func (l *Left) Set(item, left int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[int64]int64{}
	}
	l.of[item] = left
}

// Left gives what was set for the items.
func (l *Left) Left(_ context.Context, _ int64, _ string, items []int64) (map[int64]int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	got := map[int64]int64{}
	for _, id := range items {
		if n, ok := l.of[id]; ok {
			got[id] = n
		}
	}
	return got, nil
}
