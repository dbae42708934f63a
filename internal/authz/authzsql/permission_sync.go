package authzsql

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"comanda/internal/authz"
	"comanda/internal/document/documentsql"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
)

// SyncPermissions creates the built-in roles and updates the stored permissions to those of the route table: new ones
// are inserted and granted to their default roles, obsolete ones deleted, changed names updated. Grants and
// revocations by an operator are kept. While the schema belongs to a later release nothing is deleted, because unknown
// permissions belong to that release. Several processes may call it at once. Without differences it writes nothing.
func SyncPermissions(ctx context.Context, db *sqldb.DB, routes []authz.Permission, now time.Time) error {
	schema, err := db.Schema(ctx)
	if err != nil {
		return err
	}
	return db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		s := permissionSync{tx: tx, now: now, newer: schema.Newer(), touched: map[int64]bool{}}
		if err := s.roles(ctx); err != nil {
			return err
		}
		if err := s.permissions(ctx, routes); err != nil {
			return err
		}
		return s.grants(ctx)
	})
}

// permissionSync is one run of SyncPermissions.
type permissionSync struct {
	tx    sqldb.Tx
	now   time.Time
	newer bool // the schema belongs to a later release

	kept     []authz.Role
	newRoles []int64
	table    []authz.Permission // after the run, with ids
	fresh    map[authz.RouteKey]bool
	touched  map[int64]bool // roles whose permissions changed
}

// roles creates missing built-in roles and locks all roles. It inserts first: on an empty database there is no row to
// lock.
func (s *permissionSync) roles(ctx context.Context) (err error) {
	all := authz.Delivered()
	s.newRoles, err = sqldb.Collect(ctx, s.tx, sqldb.Value[int64], stmt("role_ensure"), sqldb.NewRowSet(len(all)).
		Text("name", func(i int) string { return all[i].Name }).
		Text("description", func(i int) string { return all[i].Description }), s.now.UnixMilli())
	if err != nil {
		return err
	}
	if err := LockRoles(ctx, s.tx); err != nil {
		return err
	}
	s.kept, err = selectRoles(ctx, s.tx)
	for _, id := range s.newRoles {
		s.touched[id] = true
	}
	return err
}

// LockRoles takes the one lock under which roles, permissions and assignments change. Take it before locking accounts.
func LockRoles(ctx context.Context, tx sqldb.Tx) error {
	_, err := sqldb.Scalar[int64](ctx, tx, stmt("role_lock"))
	return err
}

// permissions compares the stored permissions with the route table and writes the differences.
func (s *permissionSync) permissions(ctx context.Context, routes []authz.Permission) error {
	had, err := selectPermissions(ctx, s.tx)
	if err != nil {
		return err
	}
	// Routes are compared by method and path. After the loop, known contains the obsolete permissions.
	known := seq.Index(had, authz.Permission.Key)
	var fresh, renamed []authz.Permission
	own := map[authz.RouteKey]bool{}
	for _, p := range routes {
		own[p.Key()] = p.Own
		stored, found := known[p.Key()]
		delete(known, p.Key())
		switch {
		case !found:
			fresh = append(fresh, p)
		case stored.Name != p.Name || stored.Module != p.Module:
			p.ID = stored.ID
			renamed = append(renamed, p)
		}
	}
	// During an update processes of both releases run. The older one must not delete the permissions of the newer one.
	if !s.newer {
		if err := s.drop(ctx, slices.Collect(maps.Values(known))); err != nil {
			return err
		}
	}
	if err := s.insert(ctx, fresh, renamed); err != nil {
		return err
	}
	for i := range s.table {
		s.table[i].Own = own[s.table[i].Key()]
	}
	return nil
}

// drop revokes obsolete permissions from all roles and deletes them.
func (s *permissionSync) drop(ctx context.Context, gone []authz.Permission) error {
	if len(gone) == 0 {
		return nil
	}
	ids := sqldb.NewRowSet(len(gone)).Int("id", func(i int) int64 { return gone[i].ID })
	holders, err := sqldb.Collect(ctx, s.tx, sqldb.Value[int64], stmt("permission_revoke"), ids)
	if err != nil {
		return err
	}
	for _, role := range holders {
		s.touched[role] = true
	}
	for _, p := range gone {
		// Documents are copies, so each deletion is queued with the version that it ends.
		documentsql.Deleted(s.tx, s.now, "permission", strconv.FormatInt(p.ID, 10), p.Version)
	}
	s.tx.Queue(stmt("permission_delete"), ids)
	return nil
}

// insert writes new and changed permissions and reads the whole table with its ids.
func (s *permissionSync) insert(ctx context.Context, fresh, renamed []authz.Permission) (err error) {
	if len(fresh) > 0 {
		s.tx.Queue(stmt("permission_insert"), sqldb.NewRowSet(len(fresh)).
			Text("name", func(i int) string { return fresh[i].Name }).
			Text("path", func(i int) string { return fresh[i].Path }).
			Text("method", func(i int) string { return fresh[i].Method }).
			Text("module", func(i int) string { return fresh[i].Module }), s.now.UnixMilli())
	}
	if len(renamed) > 0 {
		s.tx.Queue(stmt("permission_update"), sqldb.NewRowSet(len(renamed)).
			Int("id", func(i int) int64 { return renamed[i].ID }).
			Text("name", func(i int) string { return renamed[i].Name }).
			Text("module", func(i int) string { return renamed[i].Module }), s.now.UnixMilli())
	}
	// The database has assigned the ids of new rows, which the grants refer to.
	if s.table, err = selectPermissions(ctx, s.tx); err != nil {
		return err
	}
	s.fresh = map[authz.RouteKey]bool{}
	for _, p := range fresh {
		s.fresh[p.Key()] = true
	}
	var changed []string
	for _, p := range s.table {
		if s.fresh[p.Key()] || slices.ContainsFunc(renamed, func(r authz.Permission) bool { return r.ID == p.ID }) {
			changed = append(changed, strconv.FormatInt(p.ID, 10))
		}
	}
	documentsql.Changed(s.tx, s.now, "permission", changed...)
	return nil
}

// grants inserts the default grants: of new permissions for every role, and of every permission for new roles.
func (s *permissionSync) grants(_ context.Context) error {
	type pair struct{ role, permission int64 }
	var pairs []pair
	for _, r := range s.kept {
		for _, p := range s.table {
			isNew := s.fresh[p.Key()] || slices.Contains(s.newRoles, r.ID)
			if isNew && authz.GrantedByDefault(r.Name, p) {
				pairs = append(pairs, pair{r.ID, p.ID})
				s.touched[r.ID] = true
			}
		}
	}
	if len(pairs) > 0 {
		s.tx.Queue(stmt("permission_grant"), sqldb.NewRowSet(len(pairs)).
			Int("role", func(i int) int64 { return pairs[i].role }).
			Int("permission", func(i int) int64 { return pairs[i].permission }))
	}
	bumpRoles(s.tx, s.now, authz.System(), slices.Sorted(maps.Keys(s.touched))...)
	return nil
}

// bumpRoles increments the version of roles, so that every process reloads their permissions.
func bumpRoles(tx sqldb.Tx, now time.Time, by authz.Actor, ids ...int64) {
	if len(ids) == 0 {
		return
	}
	tx.Queue(stmt("role_touch"), sqldb.IDs(ids), now.UnixMilli(), by.String())
	documentsql.Changed(tx, now, "role", seq.Map(ids, decimal)...)
}

func decimal(id int64) string { return strconv.FormatInt(id, 10) }
