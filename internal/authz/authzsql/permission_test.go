package authzsql

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/authz"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

var syncAt = time.UnixMilli(1_000_000).UTC()

func route(method, path, module string) authz.Permission {
	return authz.Permission{Name: method + " " + path, Method: method, Path: path, Module: module}
}

// table returns a route table with a route for every kind of role.
func table() []authz.Permission {
	me := route("GET", "/me", "MEMBERS")
	me.Own = true
	return []authz.Permission{
		me, route("GET", "/api/orders/{id}", "ORDERS"), route("POST", "/api/orders/{id}/cancel", "ORDERS"),
		route("PUT", "/api/roles/{id}/permissions", "ROLES"),
	}
}

func syncs(t *testing.T, db *sqldb.DB, routes []authz.Permission) {
	t.Helper()
	testenv.NoError(t, SyncPermissions(t.Context(), db, routes, syncAt))
}

// grantedRoutes returns the routes of every role by name.
func grantedRoutes(t *testing.T, db *sqldb.DB) map[string][]string {
	t.Helper()
	b := NewRoles(db)
	roles := testenv.Must(b.Roles(t.Context()))(t)
	permissions := testenv.Must(b.Permissions(t.Context()))(t)
	held := map[string][]string{}
	for _, r := range roles {
		held[r.Name] = []string{}
		for _, p := range permissions {
			if slices.Contains(r.Permissions, p.ID) {
				held[r.Name] = append(held[r.Name], p.Method+" "+p.Path)
			}
		}
		slices.Sort(held[r.Name])
	}
	return held
}

func TestSyncPermissions(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		syncs(t, db, table())
		all := []string{"GET /api/orders/{id}", "GET /me", "POST /api/orders/{id}/cancel", "PUT /api/roles/{id}/permissions"}
		read := []string{"GET /api/orders/{id}", "GET /me"}
		want := map[string][]string{
			"OWNER": all, "ADMIN": all, "MANAGER": all[:3], "CASHIER": all[:3], "KITCHEN": read, "STAFF": read,
			"USER": {"GET /me"},
		}
		testenv.Equal(t, want, grantedRoutes(t, db))
		versions := testenv.Must(NewRoles(db).RoleVersions(t.Context()))(t)
		syncs(t, db, table())
		again, err := NewRoles(db).RoleVersions(t.Context())
		if d := cmp.Diff(versions, again); d != "" || err != nil {
			t.Errorf("second sync: error %v, versions (-before +after):\n%s", err, d)
		}
	})
}

var edits = sqldb.Load(fstest.MapFS{
	"take.sql": {Data: []byte(`DELETE FROM role_permission WHERE role_id = (SELECT id FROM role WHERE name = 'KITCHEN')
		AND permission_id = (SELECT id FROM permission WHERE api_path = '/api/orders/{id}')`)},
	"outbox.sql": {Data: []byte(`SELECT entity || ids FROM document_outbox ORDER BY entity, ids`)},
	"clear.sql":  {Data: []byte(`DELETE FROM document_outbox`)},
})

// A sync keeps what an operator revoked, grants only new permissions, and deletes vanished ones.
func TestSyncPermissions_later_versions(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		syncs(t, db, table())
		for _, edit := range []string{"take", "clear"} {
			testenv.Must(db.Exec(t.Context(), edits.Must(edit)))(t)
		}
		next := table()
		next[2] = route("GET", "/api/orders", "ORDERS") // replaces the route for cancelling
		next[3].Name = "Other words"
		syncs(t, db, next)
		all := []string{"GET /api/orders", "GET /api/orders/{id}", "GET /me", "PUT /api/roles/{id}/permissions"}
		want := map[string][]string{
			"OWNER": all, "ADMIN": all, "MANAGER": all[:3], "CASHIER": all[:3], "KITCHEN": {"GET /api/orders", "GET /me"},
			"STAFF": all[:3], "USER": {"GET /me"},
		}
		testenv.Equal(t, want, grantedRoutes(t, db))
		outbox, err := sqldb.Collect(t.Context(), db, sqldb.Value[string], edits.Must("outbox"))
		if err != nil || len(outbox) != 3 { // the deleted permission, the new and changed ones, and the roles
			t.Errorf("outbox = %q, %v, want three entries", outbox, err)
		}
	})
}

// While the schema belongs to a later release, unknown permissions stay.
func TestSyncPermissions_beside_a_later_release(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		syncs(t, db, table())
		before := grantedRoutes(t, db)
		sqldbtest.MigrateLater(t, db, 9000, 20)
		syncs(t, db, table()[1:])
		testenv.Equal(t, before, grantedRoutes(t, db))
	})
}

// Processes that start together create everything once.
func TestSyncPermissions_concurrent(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				if err := SyncPermissions(context.WithoutCancel(t.Context()), db, table(), syncAt); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if held := grantedRoutes(t, db); len(held) != 7 || len(held["OWNER"]) != 4 {
			t.Errorf("granted routes = %v, want seven roles, and four routes of OWNER", held)
		}
		versions, err := NewRoles(db).RoleVersions(t.Context())
		for id, v := range versions {
			if v != 2 || err != nil { // version 1 on creation, 2 after its grants
				t.Errorf("role %d was written %d times", id, v)
			}
		}
	})
}

// An authorizer applies changed grants at its next refresh.
func TestAuthorizer_Refresh(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		syncs(t, db, table())
		places := map[authz.RouteKey]int{}
		for i, p := range table() {
			places[p.Key()] = i * 40 // more than fits into one word
		}
		rights := authz.NewAuthorizer(NewRoles(db), time.Now, places)
		roles := testenv.Must(NewRoles(db).Roles(t.Context()))(t)
		kitchen := authz.Actor{Kind: authz.Account, Role: "KITCHEN"}
		for _, r := range roles {
			if r.Name == "KITCHEN" {
				kitchen.RoleID = r.ID
			}
		}
		may := func(place int, want error) {
			t.Helper()
			testenv.NoError(t, rights.Refresh(t.Context()))
			if err := rights.Authorize(&kitchen, place); err != want { //nolint:errorlint // returned unwrapped
				t.Errorf("place %d: %v", place, err)
			}
		}
		may(0, nil)
		may(40, nil)
		may(80, authz.ErrForbidden)
		may(1000, authz.ErrForbidden)
		testenv.Must(db.Exec(t.Context(), edits.Must("take")))(t)
		testenv.NoError(t, db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
			bumpRoles(tx, syncAt, authz.System(), kitchen.RoleID)
			return nil
		}))
		may(40, authz.ErrForbidden)
		may(0, nil)
	})
}

func TestStatements(t *testing.T) { sqldbtest.PrepareAll(t, stmts) }
