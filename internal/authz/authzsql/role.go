package authzsql

import (
	"context"

	"comanda/internal/authz"
	"comanda/internal/sqldb"
)

// Roles is authz.GrantStore and authz.RoleStore on a database.
type Roles struct{ db *sqldb.DB }

// NewRoles returns a store on a database.
func NewRoles(db *sqldb.DB) *Roles { return &Roles{db} }

// RoleVersions returns the version of every role.
func (b *Roles) RoleVersions(ctx context.Context) (map[int64]int64, error) {
	pairs, err := sqldb.Collect(ctx, b.db, sqldb.Pair, stmt("role_versions"))
	versions := make(map[int64]int64, len(pairs))
	for _, p := range pairs {
		versions[p[0]] = p[1]
	}
	return versions, err
}

// Grants returns the routes that each role may use.
func (b *Roles) Grants(ctx context.Context) (map[int64][]authz.RouteKey, error) {
	type held struct {
		role int64
		key  authz.RouteKey
	}
	all, err := sqldb.Collect(ctx, b.db, sqldb.Row(func(h *held) []any {
		return []any{&h.role, &h.key.Method, &h.key.Path}
	}), stmt("permission_routes"))
	granted := map[int64][]authz.RouteKey{}
	for _, h := range all {
		granted[h.role] = append(granted[h.role], h.key)
	}
	return granted, err
}

// Roles returns all roles with their permissions, by id.
func (b *Roles) Roles(ctx context.Context) ([]authz.Role, error) {
	all, err := selectRoles(ctx, b.db)
	if err != nil {
		return nil, err
	}
	held, err := selectHolders(ctx, b.db)
	for i := range all {
		all[i].Permissions = held[all[i].ID]
	}
	return all, err
}

// Role returns a role with its permissions, or authz.ErrRole.
func (b *Roles) Role(ctx context.Context, id int64) (authz.Role, error) {
	return SelectRole(ctx, b.db, id)
}

// Permissions returns all permissions by module and route.
func (b *Roles) Permissions(ctx context.Context) ([]authz.Permission, error) {
	return selectPermissions(ctx, b.db)
}

func selectRoles(ctx context.Context, conn sqldb.Conn) ([]authz.Role, error) {
	return sqldb.Collect(ctx, conn, scanRole, stmt("role_list"))
}

// SelectRole returns a role with its permissions, or authz.ErrRole.
func SelectRole(ctx context.Context, conn sqldb.Conn, id int64) (authz.Role, error) {
	r, err := sqldb.Get(ctx, conn, authz.ErrRole, scanRole, stmt("role_select"), id)
	if err != nil {
		return r, err
	}
	r.Permissions, err = sqldb.Collect(ctx, conn, sqldb.Value[int64], stmt("permission_held"), id)
	return r, err
}

var scanRole = sqldb.Row(func(role *authz.Role) []any {
	return []any{
		&role.ID, &role.Name, &role.Description, sqldb.Time(&role.CreatedAt), sqldb.Time(&role.UpdatedAt), &role.Version,
	}
})

func selectPermissions(ctx context.Context, conn sqldb.Conn) ([]authz.Permission, error) {
	return sqldb.Collect(ctx, conn, sqldb.Row(func(p *authz.Permission) []any {
		return []any{
			&p.ID, &p.Name, &p.Path, &p.Method, &p.Module, sqldb.Time(&p.CreatedAt), sqldb.Time(&p.UpdatedAt), &p.Version,
		}
	}), stmt("permission_list"))
}

// selectHolders returns the permission ids of each role, ascending.
func selectHolders(ctx context.Context, conn sqldb.Conn) (map[int64][]int64, error) {
	pairs, err := sqldb.Collect(ctx, conn, sqldb.Pair, stmt("permission_holders"))
	held := map[int64][]int64{}
	for _, p := range pairs {
		held[p[0]] = append(held[p[0]], p[1])
	}
	return held, err
}
