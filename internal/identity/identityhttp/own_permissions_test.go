package identityhttp_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/identity"
	"comanda/internal/identity/identityhttp"
	"comanda/internal/identity/identitysql"
	"comanda/internal/identity/identitytest"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
)

func TestOwnPermissions(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := identitytest.Open(t, db, identitytest.NewSessionCache())
		if err := identitysql.SyncPermissions(t.Context(), db, identityhttp.Permissions(routes), h.Clock.Now()); err != nil {
			t.Fatal(err)
		}
		service := &identity.Roles{Store: identitysql.NewRoles(db)}
		all, err := service.Store.Roles(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]int64{}
		for _, r := range all {
			ids[r.Name] = r.ID
		}
		me, cancel := identity.RouteKey{Method: "GET", Path: "/me"}, identity.RouteKey{Method: "POST", Path: "/api/orders/{id}/cancel"}
		roles := identity.RouteKey{Method: "GET", Path: "/api/roles"}
		for role, want := range map[string]map[identity.RouteKey]bool{
			identity.RoleOwner:   {me: true, cancel: true, roles: true},
			identity.RoleManager: {me: true, cancel: true, roles: true},
			identity.RoleCashier: {me: true, cancel: true},
			identity.RoleUser:    {me: true},
		} {
			held, err := service.PermittedRoutes(t.Context(), identity.Actor{Kind: identity.Account, Role: role, RoleID: ids[role]})
			if err != nil {
				t.Fatal(err)
			}
			got := map[identity.RouteKey]bool{}
			for _, k := range held {
				got[k] = true
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: %s", role, d)
			}
		}
		gone := identity.Actor{Kind: identity.Account, Role: "GONE", RoleID: 999}
		if _, err := service.PermittedRoutes(t.Context(), gone); err == nil {
			t.Error("a deleted role has permissions")
		}
	})
}
