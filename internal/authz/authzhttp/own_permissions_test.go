package authzhttp_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/account/accounttest"
	"comanda/internal/authz"
	"comanda/internal/authz/authzhttp"
	"comanda/internal/authz/authzsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

func TestOwnPermissions(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := accounttest.Open(t, db, accounttest.NewSessionCache())
		testenv.NoError(t, authzsql.SyncPermissions(t.Context(), db, authzhttp.Permissions(routes), h.Clock.Now()))
		service := &authz.Roles{Store: authzsql.NewRoles(db)}
		all := testenv.Must(service.Store.Roles(t.Context()))(t)
		ids := map[string]int64{}
		for _, r := range all {
			ids[r.Name] = r.ID
		}
		me, cancel := authz.RouteKey{Method: "GET", Path: "/me"}, authz.RouteKey{Method: "POST", Path: "/api/orders/{id}/cancel"}
		roles := authz.RouteKey{Method: "GET", Path: "/api/roles"}
		for role, want := range map[string]map[authz.RouteKey]bool{
			authz.RoleOwner:   {me: true, cancel: true, roles: true},
			authz.RoleManager: {me: true, cancel: true, roles: true},
			authz.RoleCashier: {me: true, cancel: true},
			authz.RoleUser:    {me: true},
		} {
			held := testenv.Must(service.PermittedRoutes(t.Context(),
				authz.Actor{Kind: authz.Account, Role: role, RoleID: ids[role]}))(t)
			got := map[authz.RouteKey]bool{}
			for _, k := range held {
				got[k] = true
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("permissions of %s (-want +got):\n%s", role, d)
			}
		}
		gone := authz.Actor{Kind: authz.Account, Role: "GONE", RoleID: 999}
		if _, err := service.PermittedRoutes(t.Context(), gone); err == nil {
			t.Error("a deleted role has permissions")
		}
	})
}
