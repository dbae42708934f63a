package catalogsql_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/fstest"

	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
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
		if all, err := s.Branches(t.Context()); len(all) != 1 || err != nil {
			t.Errorf("%d branches, %v", len(all), err)
		}
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
