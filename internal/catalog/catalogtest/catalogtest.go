// Package catalogtest builds valid branches and menus for tests, and provides an in-memory catalog.Source.
package catalogtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/catalog"
	"comanda/internal/money"
	"comanda/internal/testenv"
)

// Branch returns the branch with id 1, in Hà Nội, whose business day starts at four.
func Branch() catalog.Branch {
	b, err := catalog.NewBranch(catalog.Branch{
		ID: 1, Name: "Hà Nội", Currency: money.VND, Timezone: "Asia/Ho_Chi_Minh", DayStart: 4,
		Locales: []catalog.Locale{catalog.Vietnamese, catalog.English}, AutoClose: 2 * time.Hour, Open: true, Revision: 1,
	})
	if err != nil {
		panic(err) // a broken builder must fail every test
	}
	return b
}

// Item returns an active item of category 1 with texts in Vietnamese and English.
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

// Content returns the menu of branch 1: a version with the given items in one category.
func Content(version int64, quotas map[int64]int64, items ...catalog.Item) catalog.Content {
	categories := []catalog.Category{{ID: 1, Names: catalog.Texts{catalog.Vietnamese: "Phở", catalog.English: "Pho"}}}
	return catalog.Content{
		Revision: version, Edition: catalog.NewEdition(version, 1, categories, items), Quotas: quotas,
	}
}

// MemorySource is an in-memory catalog.Source. It is safe for concurrent use.
type MemorySource struct {
	mu       sync.Mutex
	branches map[int64]catalog.Branch
	contents map[int64]catalog.Content
	editions map[int64]*catalog.Edition
	err      error
}

// NewMemorySource returns a source without branches.
func NewMemorySource() *MemorySource {
	return &MemorySource{
		branches: map[int64]catalog.Branch{}, contents: map[int64]catalog.Content{}, editions: map[int64]*catalog.Edition{},
	}
}

// Put sets a branch and its published content; the branch's revision is set to the content's.
func (s *MemorySource) Put(b catalog.Branch, c catalog.Content) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.Revision = c.Revision
	s.branches[b.ID], s.contents[b.ID], s.editions[c.Edition.VersionID] = b, c, c.Edition
}

// Fail makes every read return err. With nil, reads succeed again.
func (s *MemorySource) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// Branch returns a branch, or catalog.ErrBranch.
func (s *MemorySource) Branch(_ context.Context, id int64) (catalog.Branch, error) {
	return find(s, s.branches, id, catalog.ErrBranch)
}

// Content returns a branch's published content, or catalog.ErrMenu.
func (s *MemorySource) Content(_ context.Context, branch int64) (catalog.Content, error) {
	return find(s, s.contents, branch, catalog.ErrMenu)
}

// Edition returns a version, or catalog.ErrVersion.
func (s *MemorySource) Edition(_ context.Context, version int64) (*catalog.Edition, error) {
	return find(s, s.editions, version, catalog.ErrVersion)
}

// AddCombination stores a combination of the published versions.
func (s *MemorySource) AddCombination(_ context.Context, branch int64, parts []catalog.MenuPart, _ time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.editions[catalog.CombinationID(branch, parts)] = s.contents[branch].Edition.Combine(parts)
	return nil
}

func find[V any](s *MemorySource, in map[int64]V, id int64, missing error) (V, error) {
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

// Levels is an in-memory catalog.Levels. It is safe for concurrent use.
type Levels struct {
	mu sync.Mutex
	of map[int64]int64
}

// Set sets the remaining units of an item; a negative number means no limit.
func (l *Levels) Set(item, left int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[int64]int64{}
	}
	l.of[item] = left
}

// Left returns the levels that were set for the items.
func (l *Levels) Left(_ context.Context, _ int64, _ string, items []int64) (map[int64]int64, error) {
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

// SourceSuite is the conformance suite of catalog.Source. In s, branch 1 has a published menu, and branch 999 and
// version 999 do not exist.
func SourceSuite(t *testing.T, s catalog.Source) {
	t.Helper()
	ctx := t.Context()
	b, err := s.Branch(ctx, 1)
	if err != nil || b.ID != 1 || b.Calendar() == nil {
		t.Fatalf("branch 1 is %+v, %v", b, err)
	}
	c := testenv.Must(s.Content(ctx, 1))(t)
	if c.Revision != b.Revision || c.Edition.BranchID != 1 {
		t.Errorf("revision %d of branch %d, want %d of 1", c.Revision, c.Edition.BranchID, b.Revision)
	}
	if _, ok := c.Edition.Item(c.Edition.Items[0].ID); !ok {
		t.Error("the first item is not found by its id")
	}
	e, err := s.Edition(ctx, c.Edition.VersionID)
	if d := cmp.Diff(c.Edition, e, cmp.AllowUnexported(catalog.Edition{})); err != nil || d != "" {
		t.Errorf("published version by its id: error %v, (-want +got):\n%s", err, d)
	}
	_, noBranch := s.Branch(ctx, 999)
	_, noMenu := s.Content(ctx, 999)
	_, noVersion := s.Edition(ctx, 999)
	for _, c := range []struct{ got, want error }{
		{noBranch, catalog.ErrBranch}, {noMenu, catalog.ErrMenu}, {noVersion, catalog.ErrVersion},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}
