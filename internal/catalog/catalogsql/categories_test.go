package catalogsql_test

import (
	"errors"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// tableQueries are statements with which tests read the tables directly.
var tableQueries = sqldb.Load(fstest.MapFS{
	"documents.sql": {Data: []byte(`SELECT entity || ' ' || ids FROM document_outbox WHERE created_at = $1 ORDER BY entity, ids`)},
	"version.sql":   {Data: []byte(`SELECT version FROM dish WHERE id = $1`)},
	"images.sql":    {Data: []byte(`SELECT COUNT(*) FROM image`)},
	"dead.sql":      {Data: []byte(`SELECT dead FROM document_tombstone WHERE entity = 'category'`)},
})

func peek[T any](t *testing.T, db *sqldb.DB, name string, args ...any) []T {
	t.Helper()
	return testenv.Must(sqldb.Collect(t.Context(), db, sqldb.Value[T], tableQueries.Must(name), args...))(t)
}

func dishService(s *catalogsql.Store, at time.Time) *catalog.DishService {
	return &catalog.DishService{
		Store: s, Menus: catalog.NewMenuCache(s, catalog.NoSharedCache{}, func() time.Time { return at }),
		Now: func() time.Time { return at },
	}
}

var soup = catalog.Texts{catalog.Vietnamese: "Canh", catalog.English: "Soup"}

func TestStore_PutCategory(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		c := dishService(s, now)
		before := content(t, s)
		page, total, err := c.Categories(t.Context(), 100, 0)
		if err != nil || total != int64(len(page)) || page[0].Names[catalog.English] != "Pho" || page[0].Dishes != 3 {
			t.Fatalf("%d of %d, %+v, %v", len(page), total, page[0], err)
		}
		testenv.Equal(t, []int64{1}, page[0].Branches)
		h, err := c.PutCategory(t.Context(), cook, 0, catalog.CategoryEdit{Names: soup})
		if err != nil || h.Sort != page[len(page)-1].Sort+1 || !h.UpdatedAt.Equal(now) || h.Dishes != 0 {
			t.Fatalf("PutCategory = %+v, %v, want a new last one without dishes", h, err)
		}
		// The category is only on menus of branch 1, and the change is visible there.
		edited, err := c.PutCategory(t.Context(), cook, page[0].ID, catalog.CategoryEdit{Names: soup})
		if err != nil || edited.Sort != page[0].Sort || edited.Names[catalog.English] != "Soup" {
			t.Errorf("PutCategory = %+v, %v, want Soup in the same position", edited, err)
		}
		after := content(t, s)
		if after.Revision <= before.Revision || after.Edition.Categories[0].Names[catalog.English] != "Soup" {
			t.Errorf("revision %d after %d, %v", after.Revision, before.Revision, after.Edition.Categories[0].Names)
		}
		want := []string{`category ["1"]`, `category ["` + decimal(h.ID) + `"]`}
		testenv.Equal(t, want, peek[string](t, db, "documents", now.UnixMilli()))
		_, byOther := c.PutCategory(t.Context(), otherBranchActor, page[0].ID, catalog.CategoryEdit{Names: soup})
		_, missing := c.PutCategory(t.Context(), cook, 999, catalog.CategoryEdit{Names: soup})
		_, nameless := c.PutCategory(t.Context(), cook, 0, catalog.CategoryEdit{})
		for name, p := range map[string]struct{ got, want error }{
			"foreign": {byOther, catalog.ErrShared}, "missing": {missing, catalog.ErrCategory},
			"in use":        {c.DeleteCategory(t.Context(), cook, page[0].ID), catalog.ErrCategoryInUse},
			"dropped twice": {errors.Join(c.DeleteCategory(t.Context(), cook, h.ID), c.DeleteCategory(t.Context(), cook, h.ID)), catalog.ErrCategory},
		} {
			if !errors.Is(p.got, p.want) {
				t.Errorf("%s: error %v, want %v", name, p.got, p.want)
			}
		}
		if nameless == nil {
			t.Error("a category without a name was accepted")
		}
		if dead := peek[string](t, db, "dead"); len(dead) != 1 || dead[0] != `{"`+decimal(h.ID)+`":2}` {
			t.Errorf("its document's tombstone is %v", dead)
		}
	})
}

func TestStore_PutDish(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		c := dishService(s, now)
		picture := catalog.Image{ID: "0123456789abcdef0123456789abcdef", Sizes: map[int][]byte{320: {1}, 960: {2}}}
		testenv.NoError(t, s.AddImage(t.Context(), picture, now, now))
		d, err := c.PutDish(t.Context(), cook, 0, catalog.DishEdit{CategoryID: new(int64(1)), Names: soup, Image: &picture.ID})
		url := "/media/" + picture.ID + "-960.jpg"
		if err != nil || d.ImageURL != url || d.OnMenu || d.Names[catalog.Vietnamese] != "Canh" {
			t.Fatalf("PutDish = %+v, %v, want Canh with image %s, on no menu", d, err, url)
		}
		before := content(t, s)
		version := peek[int64](t, db, "version", int64(4))[0]
		testenv.Must(c.PutDish(t.Context(), cook, 4, catalog.DishEdit{Names: soup, Image: &picture.ID}))(t)
		after := content(t, s)
		it, _ := after.Edition.Item(item)
		if after.Revision <= before.Revision || it.Names[catalog.English] != "Soup" || it.ImageURL != url ||
			peek[int64](t, db, "version", int64(4))[0] != version+1 {
			t.Errorf("%+v at revision %d after %d", it, after.Revision, before.Revision)
		}
		want := []string{`dish ["4"]`, `dish ["` + decimal(d.ID) + `"]`} // 4 and 43
		testenv.Equal(t, want, peek[string](t, db, "documents", now.UnixMilli()))
		if _, err := c.PutDish(t.Context(), cook, 4, catalog.DishEdit{Image: new("")}); err != nil {
			t.Error(err)
		}
		if it, _ := content(t, s).Edition.Item(item); it.ImageURL != "" {
			t.Errorf("the image is still %s", it.ImageURL)
		}
		found, total, err := c.Dishes(t.Context(), catalog.DishFilter{Query: " CANH", Limit: 1})
		if err != nil || total != 2 || len(found) != 1 || !found[0].OnMenu {
			t.Errorf("%+v of %d, %v", found, total, err)
		}
		_, byOther := c.PutDish(t.Context(), otherBranchActor, 4, catalog.DishEdit{Names: soup})
		_, missing := c.PutDish(t.Context(), cook, 999, catalog.DishEdit{Names: soup})
		_, uncategorised := c.PutDish(t.Context(), cook, 4, catalog.DishEdit{CategoryID: new(int64(999))})
		_, unseen := c.PutDish(t.Context(), cook, 4, catalog.DishEdit{Image: new("ffffffffffffffffffffffffffffffff")})
		_, path := c.PutDish(t.Context(), cook, 4, catalog.DishEdit{Image: new("../../etc")})
		for name, p := range map[string]struct{ got, want error }{
			"foreign": {byOther, catalog.ErrShared}, "missing": {missing, catalog.ErrDish},
			"no such category": {uncategorised, catalog.ErrCategory}, "no such image": {unseen, catalog.ErrImageUnknown},
			"no id of an image": {path, catalog.ErrImageUnknown},
		} {
			if !errors.Is(p.got, p.want) {
				t.Errorf("%s: error %v, want %v", name, p.got, p.want)
			}
		}
	})
}

func TestStore_Retire(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		c := dishService(s, now)
		testenv.ErrorIs(t, catalog.ErrDishInUse, c.Retire(t.Context(), cook, 4), "a dish on a menu")
		d := testenv.Must(c.PutDish(t.Context(), cook, 0, catalog.DishEdit{CategoryID: new(int64(1)), Names: soup}))(t)
		v := draft(t, s, 70000)
		line := testenv.Must(s.AddLine(t.Context(), cook, v.ID, d.ID, catalog.Entry{Price: 5, Active: true}, now))(t)
		testenv.ErrorIs(t, catalog.ErrDishInUse, c.Retire(t.Context(), cook, d.ID), "a dish on a draft")
		testenv.NoError(t, s.RemoveLine(t.Context(), cook, v.ID, line.ItemID, now))
		for range 2 { // the second call changes nothing
			testenv.NoError(t, c.Retire(t.Context(), cook, d.ID))
		}
		_, added := s.AddLine(t.Context(), cook, v.ID, d.ID, catalog.Entry{Price: 5}, now)
		_, edited := c.PutDish(t.Context(), cook, d.ID, catalog.DishEdit{Names: soup})
		put := s.EditDraft(t.Context(), cook, v.ID, line.ItemID, catalog.Entry{Price: 5}, now)
		for name, err := range map[string]error{"put on a draft": added, "edited": edited, "put by its item": put} {
			if !errors.Is(err, catalog.ErrDishRetired) {
				t.Errorf("%s: error %v, want ErrDishRetired", name, err)
			}
		}
		if _, total, err := c.Dishes(t.Context(), catalog.DishFilter{Query: "Canh", Limit: 9}); err != nil || total != 0 {
			t.Errorf("%d are still listed, %v", total, err)
		}
		if _, total, err := c.Dishes(t.Context(), catalog.DishFilter{Query: "Canh", Limit: 9, Retired: true}); err != nil || total != 1 {
			t.Errorf("%d are listed of those retired, %v", total, err)
		}
	})
}

// Retiring a dish and putting it on a draft for the first time cannot both succeed.
func TestStore_Retire_races(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		c := dishService(s, now)
		v := draft(t, s, 70000)
		for range 10 {
			d := testenv.Must(c.PutDish(t.Context(), cook, 0, catalog.DishEdit{CategoryID: new(int64(1)), Names: soup}))(t)
			var retired, added error
			var wg sync.WaitGroup
			wg.Go(func() { retired = c.Retire(t.Context(), authz.System(), d.ID) })
			wg.Go(func() { _, added = s.AddLine(t.Context(), cook, v.ID, d.ID, catalog.Entry{Price: 5}, now) })
			wg.Wait()
			gone, kept := retired == nil && errors.Is(added, catalog.ErrDishRetired), added == nil && errors.Is(retired, catalog.ErrDishInUse)
			if !gone && !kept {
				t.Errorf("retired: %v, added: %v", retired, added)
			}
		}
	})
}

// Publishing and editing a dish both lock the branch before its dishes, so they cannot deadlock.
func TestStore_PutDish_while_publishing(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		c := dishService(s, now)
		var wg sync.WaitGroup
		for range 5 {
			v := draft(t, s, 70000)
			wg.Go(func() {
				if _, err := s.Publish(t.Context(), authz.System(), v.ID, now); err != nil {
					t.Error(err)
				}
			})
			wg.Go(func() {
				if _, err := c.PutDish(t.Context(), cook, 5, catalog.DishEdit{Names: soup}); err != nil {
					t.Error(err)
				}
			})
			wg.Go(func() {
				if _, err := c.PutCategory(t.Context(), cook, 1, catalog.CategoryEdit{Names: soup}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

func TestStore_AddImage(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		keep := func(id string, at, before time.Time) {
			t.Helper()
			p := catalog.Image{ID: id, Sizes: map[int][]byte{320: []byte("small" + id), 960: []byte("large" + id)}}
			testenv.NoError(t, s.AddImage(t.Context(), p, at, before))
		}
		has := func(id string) bool {
			t.Helper()
			b, found, err := s.Image(t.Context(), id, 960)
			if err != nil || found && string(b) != "large"+id {
				t.Errorf("Image = %q, %v, want the large size", b, err)
			}
			return found
		}
		const shown, old, fresh = "00000000000000000000000000000001", "00000000000000000000000000000002", "00000000000000000000000000000003"
		keep(shown, now, now)
		keep(shown, now, now) // a repetition
		testenv.Must(dishService(s, now).PutDish(t.Context(), cook, 4, catalog.DishEdit{Image: new(shown)}))(t)
		keep(old, now, now)
		keep(fresh, now.Add(2*time.Hour), now.Add(time.Hour))
		if !has(shown) || has(old) || !has(fresh) || peek[int64](t, db, "images")[0] != 4 {
			t.Errorf("shown %t, old %t, fresh %t", has(shown), has(old), has(fresh))
		}
		if _, found, err := s.Image(t.Context(), shown, 640); found || err != nil {
			t.Errorf("an unknown size: %t, %v", found, err)
		}
	})
}
