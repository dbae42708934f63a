package catalogsql_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/demo"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
)

var (
	cook             = authz.Actor{Kind: authz.Account, UserID: 9, Branches: []int64{branchID}}
	otherBranchActor = authz.Actor{Kind: authz.Account, UserID: 7, Branches: []int64{branchID + 1}}
)

// caps records the calls of the hook.
type caps []string

func (c *caps) hook(_ context.Context, _ sqldb.Tx, _, item int64, quota *int64) error {
	n := "none"
	if quota != nil {
		n = fmt.Sprint(*quota)
	}
	*c = append(*c, fmt.Sprintf("%d=%s", item, n))
	return nil
}

func (c *caps) want(t *testing.T, want ...string) {
	t.Helper()
	testenv.Equal(t, want, []string(*c))
	*c = nil
}

func TestStore_TakeOff(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		testenv.NoError(t, demo.Load(t.Context(), db))
		var calls caps
		s := catalogsql.New(db, calls.hook)
		before := content(t, s)
		at, a, err := s.TakeOff(t.Context(), cook, item, catalog.Until{DayEnd: true}, now)
		end := time.Date(2026, 2, 26, 21, 0, 0, 0, time.UTC) // four in the morning in Hà Nội
		want := catalog.OffItem{Item: item, Since: now, Until: end, By: "user:9"}
		if err != nil || at != (catalog.ItemRef{Branch: branchID, Dish: 4}) || a != want {
			t.Fatalf("TakeOff = %+v, %+v, %v, want dish 4, %+v", at, a, err, want)
		}
		calls.want(t, "11=0")
		c := content(t, s)
		if d := cmp.Diff([]int64{item}, c.Off); d != "" || c.Revision <= before.Revision || c.Quotas[item] != 20 {
			t.Errorf("items off (-want +got):\n%s\nrevision %d, quota %d", d, c.Revision, c.Quotas[item])
		}
		if absent, err := s.OffItems(t.Context(), branchID); err != nil || absent[item] != want {
			t.Errorf("OffItems = %v, %v, want %+v", absent, err, want)
		}

		// A quota that is set while the item is off applies when it is restored; a new end keeps Since.
		testenv.Must(s.SetQuota(t.Context(), cook, item, new(int64(7)), now))(t)
		calls.want(t)
		if _, a, err = s.TakeOff(t.Context(), cook, item, catalog.Until{}, now.Add(time.Hour)); err != nil || !a.Since.Equal(now) || !a.Until.IsZero() {
			t.Errorf("TakeOff again = %+v, %v, want the first start and no end", a, err)
		}
		calls.want(t, "11=0")
		testenv.Must(s.Restore(t.Context(), cook, item, now))(t)
		calls.want(t, "11=7")
		revision := content(t, s).Revision
		testenv.Must(s.Restore(t.Context(), cook, item, now))(t)
		calls.want(t)
		if c := content(t, s); len(c.Off) != 0 || c.Revision != revision {
			t.Errorf("restoring an item that is not off changed something: %v, %d", c.Off, c.Revision-revision)
		}
		log, err := auditsql.Verify(t.Context(), db)
		if err != nil || log.Entries != 4 {
			t.Errorf("Verify = %+v, %v, want four entries", log, err)
		}
	})
}

func TestStore_RestoreDue(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		testenv.NoError(t, demo.Load(t.Context(), db))
		var calls caps
		s := catalogsql.New(db, calls.hook)
		for id, until := range map[int64]catalog.Until{11: {At: now.Add(time.Hour)}, 12: {}, 13: {At: now.Add(2 * time.Hour)}, 22: {At: now.Add(time.Hour)}} {
			testenv.Must2(s.TakeOff(t.Context(), authz.System(), id, until, now))(t)
		}
		calls = nil
		if branches, err := s.RestoreDue(t.Context(), now.Add(time.Hour-time.Millisecond)); err != nil || branches != nil {
			t.Errorf("too early: %v, %v", branches, err)
		}
		calls.want(t)
		testenv.Equal(t, []int64{1, 2}, testenv.Must(s.RestoreDue(t.Context(), now.Add(time.Hour)))(t))
		calls.want(t, "11=20", "22=20")
		if again, err := s.RestoreDue(t.Context(), now.Add(time.Hour)); err != nil || again != nil {
			t.Errorf("again: %v, %v", again, err)
		}
		testenv.Equal(t, []int64{12, 13}, content(t, s).Off)
	})
}

// Counters of dates that start while an item is off start with a cap of 0, later ones with its quota.
func TestStore_TakeOff_through_the_night(t *testing.T) {
	for name, c := range map[string]struct {
		until catalog.Until
		caps  []int64 // caps on the 26th, 27th and 28th
	}{
		"until it is restored": {catalog.Until{}, []int64{0, 0, 0}},
		"until the day ends":   {catalog.Until{DayEnd: true}, []int64{0, 20, 20}},
		"until tomorrow noon":  {catalog.Until{At: now.Add(24 * time.Hour)}, []int64{0, 0, 20}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, db *sqldb.DB, s *catalogsql.Store) {
				for _, id := range []int64{item, 13} { // quotas of 20 and 12
					testenv.Must2(s.TakeOff(t.Context(), cook, id, c.until, now))(t)
				}
				var got, whole []int64
				for _, date := range []string{"2026-02-26", "2026-02-27", "2026-02-28"} {
					scope := stock.Scope{Branch: branchID, Date: date}
					hold := stock.Hold{Scope: scope, Lines: []stock.Line{{Item: item, Qty: 1}}}
					if err := stocksql.NewCounters(db).Ensure(t.Context(), hold); err != nil { // as an order does
						t.Fatal(err)
					}
					got = append(got, capOf(t, db, scope, item))
					if err := stocksql.New(db).PrepareRebuild(t.Context(), scope); err != nil { // as a rebuild does
						t.Fatal(err)
					}
					whole = append(whole, capOf(t, db, scope, 13))
				}
				for i, n := range whole {
					whole[i] = n * 20 / 12
				}
				testenv.Equal(t, c.caps, got)
				testenv.Equal(t, c.caps, whole)
			})
		})
	}
}

func capOf(t *testing.T, db *sqldb.DB, s stock.Scope, id int64) int64 {
	t.Helper()
	counts := testenv.Must(stocksql.New(db).Counts(t.Context(), s))(t)
	for _, c := range counts {
		if c.Item == id {
			return c.Cap
		}
	}
	t.Fatal("there is no counter")
	return 0
}

func TestStore_TakeOff_refuses(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		before := content(t, s)
		_, _, noItem := s.TakeOff(t.Context(), cook, 999, catalog.Until{}, now)
		_, _, byOther := s.TakeOff(t.Context(), otherBranchActor, item, catalog.Until{}, now)
		_, stranger := s.Restore(t.Context(), otherBranchActor, item, now)
		for name, err := range map[string]error{"no item": noItem, "foreign": byOther, "restored by a stranger": stranger} {
			if !errors.Is(err, catalog.ErrItem) {
				t.Errorf("%s: error %v, want ErrItem", name, err)
			}
		}
		for _, at := range []time.Time{now, now.Add(-time.Hour), now.Add(catalog.MaxAhead + time.Second)} {
			if _, _, err := s.TakeOff(t.Context(), cook, item, catalog.Until{At: at}, now); err == nil {
				t.Errorf("until %v", at)
			}
		}
		testenv.Equal(t, before, content(t, s), cmp.AllowUnexported(catalog.Edition{}))
	})
}
