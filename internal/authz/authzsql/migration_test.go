package authzsql

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/document/documentsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

var earlierGrants = sqldb.Load(fstest.MapFS{
	"grant.sql": {Data: []byte(`INSERT INTO role_permission (role_id, permission_id)
		SELECT r.id, p.id FROM role r CROSS JOIN permission p
		WHERE r.name IN ('KITCHEN', 'CHEF') AND p.api_path IN ('/api/menu-items/{id}/quota', '/api/stock/reservations')
		ON CONFLICT DO NOTHING`)},
	"chef.sql":  {Data: []byte(`INSERT INTO role (name, created_at, updated_at) VALUES ('CHEF', 1, 1)`)},
	"clear.sql": {Data: []byte(`DELETE FROM document_outbox`)},
})

func do(t *testing.T, db *sqldb.DB, name string) int64 {
	t.Helper()
	return testenv.Must(db.Exec(t.Context(), earlierGrants.Must(name)))(t)
}

// The migration revokes quotas and reservations from the kitchen once: later grants by an owner stay. Other roles keep
// their permissions, and the documents follow.
func TestMigration_kitchen_grants(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		sqldbtest.MigrateBefore(t, db, 23)
		routes := append(table(), route("PUT", "/api/menu-items/{id}/quota", "MENUS"), route("GET", "/api/stock/reservations", "STOCK"),
			route("POST", "/api/menu-items/{id}/86", "MENUS"))
		syncs(t, db, routes)
		do(t, db, "chef")
		testenv.Equal(t, 4, do(t, db, "grant"))
		do(t, db, "clear")
		want := grantedRoutes(t, db)
		want["KITCHEN"] = []string{"GET /api/orders/{id}", "GET /me", "POST /api/menu-items/{id}/86"}
		versions := testenv.Must(NewRoles(db).RoleVersions(t.Context()))(t)

		testenv.NoError(t, db.Migrate(t.Context()))
		testenv.Equal(t, want, grantedRoutes(t, db))
		var kitchen string
		after, err := NewRoles(db).RoleVersions(t.Context())
		for id, v := range after {
			if changed := v - versions[id]; changed == 1 && kitchen == "" {
				kitchen = decimal(id)
			} else if changed != 0 || err != nil {
				t.Errorf("role %d has version %d, and had %d; %v", id, v, versions[id], err)
			}
		}
		now := time.Now()
		claimed, err := documentsql.New(db).Claim(t.Context(), now, now.Add(time.Minute), 10)
		if err != nil || len(claimed) != 1 || claimed[0].Entity.Name != "role" || !cmp.Equal(claimed[0].IDs, []string{kitchen}) {
			t.Errorf("documents of %+v, %v; want role %s", claimed, err, kitchen)
		}

		do(t, db, "grant") // grants them to the kitchen again; the chef has them
		again := grantedRoutes(t, db)
		syncs(t, db, routes)
		testenv.NoError(t, db.Migrate(t.Context()))
		if d := cmp.Diff(again, grantedRoutes(t, db)); d != "" || len(again["KITCHEN"]) != 5 {
			t.Errorf("routes of KITCHEN = %v after a later grant, all (-before +after):\n%s", again["KITCHEN"], d)
		}
	})
}

// A new installation, and one without these grants, is not changed.
func TestMigration_kitchen_permissions_exist(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		sqldbtest.MigrateBefore(t, db, 23)
		syncs(t, db, table())
		do(t, db, "clear")
		versions := testenv.Must(NewRoles(db).RoleVersions(t.Context()))(t)
		testenv.NoError(t, db.Migrate(t.Context()))
		testenv.Equal(t, versions, testenv.Must(NewRoles(db).RoleVersions(t.Context()))(t))
		testenv.Equal(t, 0, testenv.Must(documentsql.New(db).Backlog(t.Context(), db.Now()))(t).Pending)
	})
}
