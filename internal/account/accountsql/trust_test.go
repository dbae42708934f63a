package accountsql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/account"
	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

var importScore = sqldb.Load(fstest.MapFS{"score.sql": {Data: []byte(`UPDATE app_user SET trust_score = 90 WHERE id = $1`)}}).
	Must("score")

// A flag is removed by its id, however many newer ones there are, and the audit log has its content.
func TestUserAdmin_RemoveFlag_of_many(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newAdminEnv(t, db)
		by := h.owner.Actor("s")
		create := func(name string) account.User {
			assigned := account.Assignment{RoleID: h.byName[authz.RoleUser].ID}
			return testenv.Must(h.people.Create(t.Context(), by, user(name, authz.RoleUser), "", assigned))(t)
		}
		lan, minh := create("lan"), create("minh")
		rules := account.TrustRules{NoShow: 5, Period: 24 * time.Hour}
		oldest := account.Flag{
			ID: uid.New(h.now), User: lan.ID, Kind: account.FlagNoShow, Note: "the first", CreatedAt: h.now, CreatedBy: by.String(),
		}
		testenv.NoError(t, h.people.AddFlag(t.Context(), by, oldest, rules))
		newer := make([]account.Flag, 200)
		for i := range newer {
			newer[i] = account.Flag{ID: uid.New(h.now), User: lan.ID, Kind: account.FlagExpiredOrder, OrderID: fmt.Sprint("order", i), CreatedBy: "system"}
		}
		testenv.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
			_, err := insertFlags(ctx, tx, newer, h.now.Add(time.Second))
			return err
		}))
		if err := h.people.RemoveFlag(t.Context(), by, minh.ID, oldest.ID, rules, h.now); !errors.Is(err, account.ErrFlag) {
			t.Errorf("a flag of another account: error %v, want ErrFlag", err)
		}
		testenv.NoError(t, h.people.RemoveFlag(t.Context(), by, lan.ID, oldest.ID, rules, h.now))
		if err := h.people.RemoveFlag(t.Context(), by, lan.ID, oldest.ID, rules, h.now); !errors.Is(err, account.ErrFlag) {
			t.Errorf("the flag again: error %v, want ErrFlag", err)
		}
		removed, _, err := auditsql.NewLog(db).Entries(t.Context(), audit.Filter{
			Action: audit.ActionUserUnflagged, EveryBranch: true, To: h.now.AddDate(1, 0, 0), Limit: 10,
		})
		if err != nil || len(removed) != 1 || !strings.Contains(removed[0].After, "the first") {
			t.Errorf("audit log = %+v, %v, want the note of the flag", removed, err)
		}
	})
}

// All flags of an account are on its pages, newest first, also those behind the first 200.
func TestUserAdmin_Flags_pages(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newAdminEnv(t, db)
		assigned := account.Assignment{RoleID: h.byName[authz.RoleUser].ID}
		lan := testenv.Must(h.people.Create(t.Context(), h.owner.Actor("s"), user("lan", authz.RoleUser), "", assigned))(t)
		want := make([]string, 205)
		testenv.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
			for i := range want {
				at := h.now.Add(time.Duration(i/2) * time.Second) // two of the same time each
				f := account.Flag{ID: uid.New(at), User: lan.ID, Kind: account.FlagExpiredOrder, OrderID: fmt.Sprint(i), CreatedBy: "system"}
				if _, err := insertFlags(ctx, tx, []account.Flag{f}, at); err != nil {
					return err
				}
				want[len(want)-1-i] = f.OrderID
			}
			return nil
		}))
		var got []string
		for offset := 0; offset < 400; offset += 100 {
			page, total, err := h.people.Flags(t.Context(), lan.ID, 100, offset)
			if err != nil || total != 205 {
				t.Fatalf("the page after %d flags: total %d, error %v, want 205", offset, total, err)
			}
			for _, f := range page {
				got = append(got, f.OrderID)
			}
		}
		testenv.Equal(t, want, got)
		if page, total, err := h.people.Flags(t.Context(), h.owner.ID, 100, 0); err != nil || len(page) != 0 || total != 0 {
			t.Errorf("an account without flags: %v of %d, error %v", page, total, err)
		}
	})
}

// The flag of an expired order is set once and removed if the order is paid after all. A paid order without a flag changes
// nothing, so that an imported score stays. A flag that is too old no longer counts, and a new rule reaches accounts
// by RefreshScores.
func TestFollowExpiredOrders(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newAdminEnv(t, db)
		role := h.byName[authz.RoleUser]
		by := h.owner.Actor("s")
		lan := testenv.Must(h.people.Create(t.Context(), by, user("lan", authz.RoleUser), "", account.Assignment{RoleID: role.ID}))(t)
		testenv.Must(db.Exec(t.Context(), importScore, lan.ID))(t)
		rules := account.TrustRules{ExpiredOrder: 5, Period: 24 * time.Hour}
		read := func() account.User {
			t.Helper()
			return testenv.Must(oneUser(t.Context(), db, stmt("account_select"), lan.ID))(t)
		}
		follow := func(expired, others map[string]int64) {
			t.Helper()
			testenv.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx sqldb.Tx) error {
				return FollowExpiredOrders(ctx, tx, expired, others, rules, h.now)
			}))
		}
		want := func(what string, score int, flags ...account.FlagKind) {
			t.Helper()
			if u := read(); u.TrustScore != score || !slices.Equal(u.Flags, flags) {
				t.Errorf("after %s: the score is %d with %v, want %d with %v", what, u.TrustScore, u.Flags, score, flags)
			}
		}
		orders := func(names ...string) map[string]int64 {
			all := map[string]int64{}
			for _, name := range names {
				all[name] = lan.ID
			}
			return all
		}
		before := read().Version
		follow(nil, orders("paid"))
		want("a paid order", 90)
		if v := read().Version; v != before {
			t.Errorf("a paid order has raised the version from %d to %d", before, v)
		}
		for range 2 { // delivered twice
			follow(orders("a", "b"), orders("paid"))
			want("two expired orders", 90, account.FlagExpiredOrder)
		}
		follow(nil, orders("a"))
		want("a late payment", 95, account.FlagExpiredOrder)
		follow(map[string]int64{"staff": h.owner.ID}, nil)
		if flags, total, err := h.people.Flags(t.Context(), h.owner.ID, 10, 0); err != nil || total != 0 {
			t.Errorf("an owner has the flags %v, error %v", flags, err)
		}
		rules.ExpiredOrder = 30
		testenv.NoError(t, h.people.RefreshScores(t.Context(), rules, h.now))
		want("a new rule", 70, account.FlagExpiredOrder)
		testenv.NoError(t, h.people.RefreshScores(t.Context(), rules, h.now.Add(rules.Period+time.Second)))
		want("its period", 100)
		if flags, total, err := h.people.Flags(t.Context(), lan.ID, 10, 0); err != nil || total != 0 {
			t.Errorf("flags that do not count are still there: %v, error %v", flags, err)
		}
	})
}
