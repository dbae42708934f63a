package accountsql

import (
	"context"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/account"
	"comanda/internal/authz"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

var importScore = sqldb.Load(fstest.MapFS{"score.sql": {Data: []byte(`UPDATE app_user SET trust_score = 90 WHERE id = $1`)}}).
	Must("score")

// The flag of an expired order is set once and removed if the order is paid after all. A paid order without a flag changes
// nothing, so that an imported score stays. A flag that is too old does not count any more, and a new rule reaches accounts
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
		if flags := testenv.Must(h.people.Flags(t.Context(), h.owner.ID))(t); len(flags) != 0 {
			t.Errorf("an owner has the flags %v", flags)
		}
		rules.ExpiredOrder = 30
		testenv.NoError(t, h.people.RefreshScores(t.Context(), rules, h.now))
		want("a new rule", 70, account.FlagExpiredOrder)
		testenv.NoError(t, h.people.RefreshScores(t.Context(), rules, h.now.Add(rules.Period+time.Second)))
		want("its period", 100)
		if flags := testenv.Must(h.people.Flags(t.Context(), lan.ID))(t); len(flags) != 0 {
			t.Errorf("flags that do not count are still there: %v", flags)
		}
	})
}
