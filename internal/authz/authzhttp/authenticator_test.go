package authzhttp_test

import (
	"context"
	"errors"
	"testing"

	"comanda/internal/account/accounttest"
	"comanda/internal/authz"
	"comanda/internal/authz/authzhttp"
	"comanda/internal/authz/authzsql"
	"comanda/internal/httpapi"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

var routes = []httpapi.RouteInfo{
	{Method: "GET", Path: "/livez", Policy: httpapi.Internal},
	{Method: "GET", Path: "/me", Policy: httpapi.Member, Module: "MEMBERS", Name: "Me", Index: 1},
	{Method: "POST", Path: "/api/orders/{id}/cancel", Policy: httpapi.Staff, Module: "ORDERS", Name: "Cancel", Index: 2},
	{Method: "GET", Path: "/api/roles", Policy: httpapi.Admin, Module: "ROLES", Name: "Roles", Index: 3},
}

func TestPermissions(t *testing.T) {
	want := []authz.Permission{
		{Method: "GET", Path: "/me", Module: "MEMBERS", Name: "Me", Own: true},
		{Method: "POST", Path: "/api/orders/{id}/cancel", Module: "ORDERS", Name: "Cancel"},
		{Method: "GET", Path: "/api/roles", Module: "ROLES", Name: "Roles"},
	}
	testenv.Equal(t, want, authzhttp.Permissions(routes))
	places := authzhttp.Places(routes)
	if len(places) != 3 || places[want[1].Key()] != 2 {
		t.Errorf("Places = %v, want three, %s in place 2", places, want[1].Key())
	}
}

// newAuthenticator returns an authenticator like that of a server, and the access token of a cashier.
func newAuthenticator(t testing.TB, denied func(*httpapi.RouteInfo)) (authzhttp.Authenticator, string) {
	t.Helper()
	db := sqldbtest.SQLite(t)
	h := accounttest.Open(t, db, accounttest.NewSessionCache())
	testenv.NoError(t, authzsql.SyncPermissions(t.Context(), db, authzhttp.Permissions(routes), h.Clock.Now()))
	rights := authz.NewAuthorizer(authzsql.NewRoles(db), h.Clock.Now, authzhttp.Places(routes))
	testenv.NoError(t, rights.Refresh(t.Context()))
	h.CreateStaff(t, "cashier@example.com", authz.RoleCashier)
	access := h.MustLogin(t, "cashier@example.com").Access
	return authzhttp.Authenticator{Tokens: h.Authenticator, Routes: rights, Denied: denied}, access
}

func TestAuthenticator(t *testing.T) {
	denied := 0
	d, access := newAuthenticator(t, func(*httpapi.RouteInfo) { denied++ })
	for _, c := range []struct {
		name  string
		door  authzhttp.Authenticator
		token string
		route int
		want  error
	}{
		{"a route that the role may use", d, access, 2, nil}, {"one's own", d, access, 1, nil},
		{"a route that it may not use", d, access, 3, authz.ErrForbidden},
		{"another token", d, access + "x", 1, authz.ErrInvalidToken},
		{"without an authenticator", authzhttp.Authenticator{}, access, 1, authz.ErrInvalidToken},
	} {
		ctx, name, err := c.door.Account(t.Context(), c.token, &routes[c.route])
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
		actor := authz.ActorOf(ctx)
		if (err == nil) != (actor.Kind == authz.Account && actor.Role == authz.RoleCashier) {
			t.Errorf("%s: actor %+v, want a CASHIER only after success", c.name, actor)
		}
		if err == nil && name != actor.String() {
			t.Errorf("%s: the record names %q", c.name, name)
		}
	}
	if denied != 1 {
		t.Errorf("%d refusals were counted", denied)
	}
	service := authz.ActorOf(authzhttp.Authenticator{}.Service(context.Background()))
	if service.String() != "service" || !service.Sees(1) || !service.Sees(99) {
		t.Errorf("service actor = %+v, want service, which sees every branch", service)
	}
}

// BenchmarkAuthenticator_Account measures the check of a request with a cached token. The target is 5 microseconds.
func BenchmarkAuthenticator_Account(b *testing.B) {
	d, access := newAuthenticator(b, nil)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := d.Account(ctx, access, &routes[2]); err != nil {
			b.Fatal(err)
		}
	}
}
