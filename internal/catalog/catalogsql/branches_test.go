package catalogsql_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/money"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

var branchRows = sqldb.Load(fstest.MapFS{
	"fill.sql": {Data: []byte(`INSERT INTO branch (name, currency, timezone, biz_day_start_hour, locales, auto_close_minutes, created_at)
		SELECT r.name, 'VND', 'Asia/Ho_Chi_Minh', 4, '["vi"]', 60, 0 FROM @rows($1: name text) AS r`)},
})

func newBranch(t *testing.T, name string) (catalog.Branch, string) {
	t.Helper()
	r := catalog.NewBranchRequest{Name: name, Country: "VN"}
	b := testenv.Must(r.Branch())(t)
	return b, r.Digest()
}

// A branch is created in an empty database and read back, and the audit log has it.
func TestStore_CreateBranch(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := catalogsql.New(db, nil)
		want, digest := newBranch(t, "Quán Hoa")
		made, err := s.CreateBranch(t.Context(), authz.System(), want, "", digest, now)
		if err != nil || made.ID != 1 {
			t.Fatalf("CreateBranch = %+v, %v, want branch 1", made, err)
		}
		got, err := s.Branch(t.Context(), made.ID)
		if err != nil || got.Name != want.Name || got.Country != "VN" || got.Currency != want.Currency || !got.Open ||
			got.Calendar().BizDate(now) == "" {
			t.Errorf("Branch = %+v, %v, want an open one in VN as created", got, err)
		}
		second, err := s.CreateBranch(t.Context(), authz.System(), want, "", digest, now)
		if err != nil || second.ID != 2 {
			t.Errorf("without a key an equal request creates another branch: %+v, %v", second, err)
		}
		if a, err := auditsql.Verify(t.Context(), db); err != nil || a.Entries != 2 || len(a.Broken) != 0 {
			t.Errorf("Verify = %+v, %v, want an unbroken chain of two entries", a, err)
		}
	})
}

// Equal requests under one key create one branch, even concurrently. Another request under the key is refused.
func TestStore_CreateBranch_repeated(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := catalogsql.New(db, nil)
		b, digest := newBranch(t, "Quán Hoa")
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				made, err := s.CreateBranch(context.WithoutCancel(t.Context()), authz.System(), b, "k", digest, now)
				if err != nil || made.ID == 0 || made.Name != b.Name {
					t.Errorf("CreateBranch = %+v, %v, want %s", made, err, b.Name)
				}
			})
		}
		wg.Wait()
		testenv.Equal(t, 1, len(testenv.Must(s.Branches(t.Context()))(t)))
		other, digest := newBranch(t, "Quán Huệ")
		if _, err := s.CreateBranch(t.Context(), authz.System(), other, "k", digest, now); !errors.Is(err, catalog.ErrBranchKeyReused) {
			t.Errorf("another branch under the same key: error %v, want ErrBranchKeyReused", err)
		}
	})
}

func TestStore_CreateBranch_limit(t *testing.T) {
	full := sqldb.NewRowSet(catalog.MaxBranches-1).Text("name", func(i int) string { return fmt.Sprint("B", i) })
	db := sqldbtest.SQLite(t)
	s := catalogsql.New(db, nil)
	testenv.Must(db.Exec(t.Context(), branchRows.Must("fill"), full))(t)
	b, digest := newBranch(t, "Hoa")
	if _, err := s.CreateBranch(t.Context(), authz.System(), b, "", digest, now); err != nil {
		t.Errorf("the last branch: %v", err)
	}
	if _, err := s.CreateBranch(t.Context(), authz.System(), b, "", digest, now); !errors.Is(err, catalog.ErrTooManyBranches) {
		t.Errorf("one branch too many: error %v, want ErrTooManyBranches", err)
	}
}

// slugEnv creates and renames branches.
type slugEnv struct {
	t *testing.T
	s *catalogsql.Store
}

func (e slugEnv) create(name string) catalog.Branch {
	e.t.Helper()
	b, digest := newBranch(e.t, name)
	made, err := e.s.CreateBranch(context.WithoutCancel(e.t.Context()), authz.System(), b, "", digest, now)
	if err != nil {
		e.t.Error(err)
	}
	return made
}

func (e slugEnv) rename(id int64, name string) string {
	e.t.Helper()
	b := testenv.Must(e.s.ChangeBranch(e.t.Context(), authz.System(), id, audit.ActionBranchEdited, now,
		func(b catalog.Branch) (catalog.Branch, error) { b.Name = name; return b, nil }))(e.t)
	stored, err := e.s.Branch(e.t.Context(), id)
	if err != nil || stored.Slug != b.Slug {
		e.t.Errorf("stored slug %q, returned %q, %v, want the same", stored.Slug, b.Slug, err)
	}
	return b.Slug
}

func (e slugEnv) wantBranch(slug string, want int64) {
	e.t.Helper()
	if id, err := e.s.BranchBySlug(e.t.Context(), slug); err != nil || id != want {
		e.t.Errorf("%q leads to branch %d, want %d; %v", slug, id, want, err)
	}
}

// A slug follows the name. Former slugs keep leading to their branch and are never given to another.
func TestStore_slugs(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := slugEnv{t, catalogsql.New(db, nil)}
		a, b := e.create("Quán Hoa"), e.create("quan hoa!")
		if a.Slug != "quan-hoa" || b.Slug != "quan-hoa-2" {
			t.Fatalf("slugs = %q and %q, want quan-hoa and quan-hoa-2", a.Slug, b.Slug)
		}
		testenv.Equal(t, "quan-mai", e.rename(a.ID, "Quán Mai"))
		e.wantBranch("quan-hoa", a.ID)
		e.wantBranch("quan-mai", a.ID)
		testenv.Equal(t, "quan-hoa-3", e.create("Quán Hoa").Slug)
		testenv.Equal(t, "quan-mai", e.rename(a.ID, "Quán Mai"))
		testenv.Equal(t, "quan-mai", e.rename(a.ID, "QUÁN MÀI"))
		testenv.Equal(t, "quan-hoa", e.rename(a.ID, "Quán Hoa"))
		e.wantBranch("quan-mai", a.ID)
		e.wantBranch("unknown", 0)
		e.wantBranch("", 0)
		failed := errors.New("refused")
		_, err := e.s.ChangeBranch(t.Context(), authz.System(), a.ID, audit.ActionBranchEdited, now,
			func(b catalog.Branch) (catalog.Branch, error) { return b, failed })
		testenv.ErrorIs(t, failed, err)
		testenv.Equal(t, "quan-hoa", testenv.Must(e.s.Branch(t.Context(), a.ID))(t).Slug)
	})
}

// Branches with one name that are created at once have different slugs.
func TestStore_slugs_at_once(t *testing.T) {
	const n = 8
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := slugEnv{t, catalogsql.New(db, nil)}
		got := make([]string, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { got[i] = e.create("Hoa").Slug })
		}
		wg.Wait()
		want := []string{"hoa"}
		for i := 2; i <= n; i++ {
			want = append(want, fmt.Sprint("hoa-", i))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("slugs = %v, want %v", got, want)
		}
	})
}

// Branches from before slugs were stored receive theirs when a process starts, once, even if two processes start.
func TestStore_AssignSlugs(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := slugEnv{t, catalogsql.New(db, nil)}
		old := sqldb.NewRowSet(3).Text("name", func(i int) string { return []string{"Quán Hoa", "Quán Hoa", "🍜"}[i] })
		testenv.Must(db.Exec(t.Context(), branchRows.Must("fill"), old))(t)
		named := e.create("Quán Hoa")
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := e.s.AssignSlugs(context.WithoutCancel(t.Context()), now); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		all, err := e.s.Branches(t.Context())
		if err != nil || len(all) != 4 {
			t.Fatal(all, err)
		}
		var got []string
		for _, b := range all {
			got = append(got, b.Slug)
		}
		if !slices.Equal(got, []string{"quan-hoa-2", "quan-hoa-3", "branch", "quan-hoa"}) || all[3].ID != named.ID {
			t.Errorf("slugs = %v, want three new ones and quan-hoa", got)
		}
	})
}

// The sender of a branch's e-mails uses the restaurant's mail server, so staff of one branch cannot change it. A copy
// of the branch does not have it.
func TestBranchAdmin_mail_sender(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		files := menuFiles(s)
		admin := catalog.BranchAdmin{Store: s, Menus: files.Menus, Now: files.Now}
		const sender = "Quán Hoa <hoa@house.example>"
		manager := authz.Actor{Kind: authz.Account, UserID: 5, Role: authz.RoleManager, Branches: []int64{branchID}}
		owner := authz.Actor{Kind: authz.Account, UserID: 1, Role: authz.RoleOwner, AllBranches: true}
		if _, err := admin.Edit(t.Context(), manager, branchID, catalog.BranchEdit{MailFrom: new(sender)}); !errors.Is(err, authz.ErrForbidden) {
			t.Errorf("a manager: error %v, want ErrForbidden", err)
		}
		for _, e := range []catalog.BranchEdit{
			{Country: new(catalog.Country("JP"))}, {Currency: new(money.Currency("USD"))}, {Timezone: new("Asia/Tokyo")},
		} {
			if _, err := admin.Edit(t.Context(), manager, branchID, e); !errors.Is(err, authz.ErrForbidden) {
				t.Errorf("a manager changes %+v: error %v, want ErrForbidden", e, err)
			}
		}
		if b, err := admin.Edit(t.Context(), owner, branchID, catalog.BranchEdit{MailFrom: new(sender)}); err != nil || b.MailFrom != sender {
			t.Errorf("Edit by the owner = %+v, %v, want the sender", b, err)
		}
		// A form that sends the field unchanged does not change it.
		if _, err := admin.Edit(t.Context(), manager, branchID, catalog.BranchEdit{MailFrom: new(sender), Open: new(true)}); err != nil {
			t.Errorf("Edit by a manager with the sender unchanged: %v", err)
		}
		if _, err := admin.Edit(t.Context(), owner, branchID, catalog.BranchEdit{MailFrom: new("nobody")}); !errors.Is(err, catalog.ErrMailFrom) {
			t.Errorf("no address: error %v, want ErrMailFrom", err)
		}
		testenv.Equal(t, sender, testenv.Must(s.Branch(t.Context(), branchID))(t).MailFrom)
		b, err := admin.Copy(t.Context(), owner, files, catalog.BranchCopy{From: branchID, Name: "Quán Hoa 2"})
		if err != nil || b.MailFrom != "" || b.Slug != "quan-hoa-2" {
			t.Errorf("Copy = %+v, %v, want quan-hoa-2 without a sender", b, err)
		}
	})
}

// Staff who edit a branch decide whether the guests of a table share a cart. The change is audited, and a copy of the
// branch has the same setting.
func TestBranchAdmin_shared_cart(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
		files := menuFiles(s)
		admin := catalog.BranchAdmin{Store: s, Menus: files.Menus, Now: files.Now}
		manager := authz.Actor{Kind: authz.Account, UserID: 5, Role: authz.RoleManager, Branches: []int64{branchID}}
		owner := authz.Actor{Kind: authz.Account, UserID: 1, Role: authz.RoleOwner, AllBranches: true}
		if b, err := admin.Edit(t.Context(), manager, branchID, catalog.BranchEdit{Open: new(true)}); err != nil || b.SharedCart {
			t.Errorf("Edit = %+v, %v, want no shared cart", b, err)
		}
		if b, err := admin.Edit(t.Context(), manager, branchID, catalog.BranchEdit{SharedCart: new(true)}); err != nil || !b.SharedCart {
			t.Errorf("Edit by a manager = %+v, %v, want a shared cart", b, err)
		}
		if b, err := s.Branch(t.Context(), branchID); err != nil || !b.SharedCart {
			t.Errorf("stored branch = %+v, %v, want a shared cart", b, err)
		}
		if b, err := admin.Copy(t.Context(), owner, files, catalog.BranchCopy{From: branchID, Name: "Quán Hoa 2"}); err != nil || !b.SharedCart {
			t.Errorf("Copy = %+v, %v, want a shared cart", b, err)
		}
		all, _, err := auditsql.NewLog(db).Entries(t.Context(), audit.Filter{To: files.Now().Add(time.Hour), Limit: 10, EveryBranch: true})
		if err != nil || !slices.ContainsFunc(all, func(e audit.Entry) bool {
			return e.Action == audit.ActionBranchEdited && e.Actor == manager.String() && strings.Contains(e.After, `"sharedCart":true`) &&
				!strings.Contains(e.Before, "sharedCart")
		}) {
			t.Errorf("audit log = %+v, %v, want the change of sharedCart", all, err)
		}
	})
}
