package catalogsql_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/catalog/catalogtest"
	"comanda/internal/demo"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// The demo's first menu: branch 1, menu 1, version 5, and item 11 for 65,000 with a quota of 20.
const (
	branchID  = 1
	menuID    = 1
	versionID = 5
	item      = 11
)

var now = time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)

// each runs a test on both engines with the demo's menus.
func each(t *testing.T, test func(t *testing.T, db *sqldb.DB, s *catalogsql.Store)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		testenv.NoError(t, demo.Load(t.Context(), db))
		test(t, db, catalogsql.New(db, nil))
	})
}

func content(t *testing.T, s *catalogsql.Store) catalog.Content {
	t.Helper()
	return testenv.Must(s.Content(t.Context(), branchID))(t)
}

// draft makes a draft of menu 1 with another price for item 11.
func draft(t *testing.T, s *catalogsql.Store, price int64) catalog.Version {
	t.Helper()
	v := testenv.Must(s.Draft(t.Context(), authz.System(), menuID, now))(t)
	e := catalog.Entry{Price: price, Quota: new(int64(20)), Active: true}
	testenv.NoError(t, s.EditDraft(t.Context(), authz.System(), v.ID, item, e, now))
	return v
}

func TestStore_is_a_source(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) { catalogtest.SourceSuite(t, s) })
}

func TestStore_Branch(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		b := testenv.Must(s.Branch(t.Context(), 2))(t)
		if b.Name != "Comanda 台北" || b.Currency != "TWD" || b.DayStart != 5 || b.AutoClose != 90*time.Minute || !b.Open {
			t.Errorf("Branch = %+v, want Comanda 台北 in TWD, from 5:00, closing visits after 90 min", b)
		}
		if got := b.Calendar().BizDate(now.Add(15 * time.Hour)); got != "2026-02-26" {
			t.Errorf("business date at four in the morning in Taipei = %s, want 2026-02-26", got)
		}
		testenv.ErrorIs(t, catalog.ErrBranch, testenv.Err(s.Branch(t.Context(), 4)), "branch 4")
		testenv.ErrorIs(t, catalog.ErrMenu, testenv.Err(s.Content(t.Context(), 4)), "the menu of branch 4")
	})
}

func TestStore_Publish(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		before := content(t, s)
		v := draft(t, s, 70000)
		if v.Number != 2 || v.Status != catalog.Draft || v.BranchID != branchID {
			t.Errorf("draft = %+v, want version 2 of branch 1", v)
		}
		testenv.Equal(t, before, content(t, s), cmp.AllowUnexported(catalog.Edition{}))
		published, err := s.Publish(t.Context(), authz.System(), v.ID, now)
		if err != nil || published.Status != catalog.Published || !published.PublishedAt.Equal(now) {
			t.Fatalf("Publish = %+v, %v, want PUBLISHED now", published, err)
		}
		after := content(t, s)
		if it, _ := after.Edition.Item(item); after.Edition.VersionID != v.ID || it.Price != 70000 {
			t.Errorf("version %d is published with price %d, want %d with 70000", after.Edition.VersionID, it.Price, v.ID)
		}
		testenv.Equal(t, len(before.Edition.Items), len(after.Edition.Items))
		if after.Revision <= before.Revision {
			t.Errorf("revision went from %d to %d, want a higher one", before.Revision, after.Revision)
		}
		again, err := s.Publish(t.Context(), authz.System(), v.ID, now.Add(time.Hour))
		if err != nil || again != published || content(t, s).Revision != after.Revision {
			t.Errorf("repeated Publish = %+v, %v, want the same version and revision", again, err)
		}
		if _, err := s.Publish(t.Context(), authz.System(), versionID, now); !errors.Is(err, catalog.ErrNotDraft) {
			t.Errorf("a closed version was published again: error %v, want ErrNotDraft", err)
		}
	})
}

// I13: no call changes the items or prices of a published version.
func TestStore_published_versions_never_change(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		before := content(t, s)
		check := func() {
			t.Helper()
			e := catalog.Entry{Price: 1, Active: false}
			if err := s.EditDraft(t.Context(), authz.System(), versionID, item, e, now); !errors.Is(err, catalog.ErrNotDraft) {
				t.Errorf("a published version was edited: error %v, want ErrNotDraft", err)
			}
			testenv.Must(s.SetQuota(t.Context(), authz.System(), item, new(int64(3)), now))(t)
			now := testenv.Must(s.Edition(t.Context(), versionID))(t)
			if d := cmp.Diff(before.Edition, now, cmp.AllowUnexported(catalog.Edition{})); d != "" {
				t.Errorf("version %d (-before +after):\n%s", versionID, d)
			}
		}
		check()
		testenv.Must(s.Publish(t.Context(), authz.System(), draft(t, s, 70000).ID, now))(t)
		check()
	})
}

func TestStore_Publish_at_once(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		drafts := []catalog.Version{draft(t, s, 70000), draft(t, s, 80000), draft(t, s, 90000)}
		var wg sync.WaitGroup
		for _, v := range append(drafts, drafts...) { // each twice
			wg.Go(func() {
				_, err := s.Publish(context.WithoutCancel(t.Context()), authz.System(), v.ID, now)
				if err != nil && !errors.Is(err, catalog.ErrNotDraft) { // another publisher may have been faster
					t.Error(err)
				}
			})
		}
		wg.Wait()
		inForce := content(t, s).Edition
		it, _ := inForce.Item(item)
		want := map[int64]int64{drafts[0].ID: 70000, drafts[1].ID: 80000, drafts[2].ID: 90000}[inForce.VersionID]
		if it.Price != want {
			t.Errorf("version %d is published with price %d, want %d", inForce.VersionID, it.Price, want)
		}
		for _, v := range drafts {
			if _, err := s.Edition(t.Context(), v.ID); err != nil {
				t.Errorf("Edition(%d): %v", v.ID, err)
			}
		}
	})
}

func TestStore_Edition_refuses_drafts(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		for _, id := range []int64{draft(t, s, 1).ID, 999} {
			if _, err := s.Edition(t.Context(), id); !errors.Is(err, catalog.ErrVersion) {
				t.Errorf("version %d: error %v, want ErrVersion", id, err)
			}
		}
	})
}

func TestStore_Publish_refuses_an_empty_version(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		v := draft(t, s, 70000)
		for _, it := range content(t, s).Edition.Items {
			testenv.NoError(t, s.EditDraft(t.Context(), authz.System(), v.ID, it.ID, catalog.Entry{Price: it.Price}, now))
		}
		if _, err := s.Publish(t.Context(), authz.System(), v.ID, now); !errors.Is(err, catalog.ErrEmpty) {
			t.Errorf("a menu without an active item: error %v, want ErrEmpty", err)
		}
		if got := content(t, s).Edition.VersionID; got != versionID {
			t.Errorf("version %d is published after a refusal, want %d", got, versionID)
		}
	})
}

func TestStore_refuses_missing_rows(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		v := draft(t, s, 70000)
		_, noMenu := s.Draft(t.Context(), authz.System(), 99, now)
		_, noVersion := s.Publish(t.Context(), authz.System(), 99, now)
		_, noItem := s.SetQuota(t.Context(), authz.System(), 99, nil, now)
		for name, c := range map[string]struct{ got, want error }{
			"draft of no menu":       {noMenu, catalog.ErrMenu},
			"publish no version":     {noVersion, catalog.ErrVersion},
			"quota of no item":       {noItem, catalog.ErrItem},
			"edit no version":        {s.EditDraft(t.Context(), authz.System(), 99, item, catalog.Entry{}, now), catalog.ErrVersion},
			"edit no item":           {s.EditDraft(t.Context(), authz.System(), v.ID, 99, catalog.Entry{}, now), catalog.ErrItem},
			"edit a stranger's item": {s.EditDraft(t.Context(), authz.System(), v.ID, 22, catalog.Entry{}, now), catalog.ErrItem},
		} {
			if !errors.Is(c.got, c.want) {
				t.Errorf("%s: error %v, want %v", name, c.got, c.want)
			}
		}
	})
}

func TestStore_SetQuota(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		before := content(t, s)
		for _, want := range []*int64{new(int64(0)), new(int64(50)), nil} {
			testenv.Equal(t, branchID, testenv.Must(s.SetQuota(t.Context(), authz.System(), item, want, now))(t))
			got, limited := content(t, s).Quotas[item]
			if limited != (want != nil) || limited && got != *want {
				t.Errorf("quota = %d, limited %t, want that of SetQuota", got, limited)
			}
		}
		if got := content(t, s).Revision; got != before.Revision+3 {
			t.Errorf("three changes moved the revision from %d to %d, want 3 more", before.Revision, got)
		}
	})
}

// Publishing does not undo a quota that was changed after the draft was made, unless the draft has its own.
func TestStore_Publish_changes_only_its_own_quotas(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		v := draft(t, s, 70000) // item 11 keeps its quota of 20
		testenv.NoError(t, s.EditDraft(t.Context(), authz.System(), v.ID, 13,
			catalog.Entry{Price: 75000, Quota: new(int64(6)), Active: true}, now))
		for _, it := range []int64{item, 13} { // both get a quota of 0
			testenv.Must(s.SetQuota(t.Context(), authz.System(), it, new(int64(0)), now))(t)
		}
		testenv.Must(s.Publish(t.Context(), authz.System(), v.ID, now))(t)
		got := content(t, s).Quotas
		if got[item] != 0 || got[13] != 6 {
			t.Errorf("item 11 has the quota %d, item 13 %d; want 0 and 6", got[item], got[13])
		}
	})
}

func TestStore_calls_the_hook(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		testenv.NoError(t, demo.Load(t.Context(), db))
		var calls []string
		fails := false
		s := catalogsql.New(db, func(_ context.Context, _ sqldb.Tx, branch, item int64, quota *int64) error {
			n := "none"
			if quota != nil {
				n = fmt.Sprint(*quota)
			}
			calls = append(calls, fmt.Sprintf("%d/%d=%s", branch, item, n))
			if fails {
				return errors.New("the counter is stuck")
			}
			return nil
		})
		testenv.Must(s.SetQuota(t.Context(), authz.System(), item, new(int64(5)), now))(t)
		v := draft(t, s, 70000) // with a quota of 20
		testenv.NoError(t, s.EditDraft(t.Context(), authz.System(), v.ID, 14, catalog.Entry{Price: 70000, Active: true}, now))
		testenv.Must(s.Publish(t.Context(), authz.System(), v.ID, now))(t)
		testenv.Equal(t, []string{"1/11=5", "1/11=20", "1/14=none"}, calls)
		fails = true
		if _, err := s.SetQuota(t.Context(), authz.System(), item, nil, now); err == nil {
			t.Error("the hook's error was swallowed")
		}
		if got := content(t, s).Quotas[item]; got != 20 {
			t.Errorf("quota after the hook's refusal = %d, want 20", got)
		}
	})
}

// An actor of another branch gets not-found errors and changes nothing. Every other change is in the audit log.
func TestStore_other_branches(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		v := draft(t, s, 70000) // the draft has two changes
		otherBranchActor := authz.Actor{Kind: authz.Account, UserID: 7, Branches: []int64{branchID + 1}}
		before := content(t, s)
		_, noMenu := s.Draft(t.Context(), otherBranchActor, menuID, now)
		_, noVersion := s.Publish(t.Context(), otherBranchActor, v.ID, now)
		_, noItem := s.SetQuota(t.Context(), otherBranchActor, item, nil, now)
		for name, c := range map[string]struct{ got, want error }{
			"draft":   {noMenu, catalog.ErrMenu},
			"publish": {noVersion, catalog.ErrVersion},
			"quota":   {noItem, catalog.ErrItem},
			"edit":    {s.EditDraft(t.Context(), otherBranchActor, v.ID, item, catalog.Entry{Price: 1}, now), catalog.ErrVersion},
		} {
			if !errors.Is(c.got, c.want) {
				t.Errorf("%s in another branch: error %v, want %v", name, c.got, c.want)
			}
		}
		testenv.Equal(t, before, content(t, s), cmp.AllowUnexported(catalog.Edition{}))
		audit, err := auditsql.Verify(t.Context(), db)
		if err != nil || audit.Entries != 2 || len(audit.Broken) != 0 {
			t.Errorf("Verify = %+v, %v, want an unbroken chain of two entries", audit, err)
		}
	})
}
