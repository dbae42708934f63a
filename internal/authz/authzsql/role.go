// Package authzsql stores roles, permissions and revocations in SQL.
//
// One lock protects all roles. Transactions that change roles, permissions or assignments take it first,
// before the locks of accounts.
package authzsql

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"slices"
	"strconv"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/document/documentsql"
	"comanda/internal/sqldb"
	"comanda/internal/uid"
)

// Roles is authz.GrantStore and authz.RoleStore on a database.
type Roles struct{ db *sqldb.DB }

// NewRoles returns a store on a database.
func NewRoles(db *sqldb.DB) *Roles { return &Roles{db} }

// RoleVersions returns the version of every role.
func (b *Roles) RoleVersions(ctx context.Context) (map[int64]int64, error) {
	return sqldb.Map[int64, int64](ctx, b.db, stmt("role_versions"))
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

// SelectRolePermissions returns the permissions of a role.
func SelectRolePermissions(ctx context.Context, conn sqldb.Reader, role int64) ([]authz.Permission, error) {
	return sqldb.Collect(ctx, conn, scanPermission, stmt("permission_of_role"), role)
}

func selectPermissions(ctx context.Context, conn sqldb.Conn) ([]authz.Permission, error) {
	return sqldb.Collect(ctx, conn, scanPermission, stmt("permission_list"))
}

var scanPermission = sqldb.Row(func(p *authz.Permission) []any {
	return []any{
		&p.ID, &p.Name, &p.Path, &p.Method, &p.Module, sqldb.Time(&p.CreatedAt), sqldb.Time(&p.UpdatedAt), &p.Version,
	}
})

// selectHolders returns the permission ids of each role, ascending.
func selectHolders(ctx context.Context, conn sqldb.Conn) (map[int64][]int64, error) {
	return sqldb.Grouped[int64, int64](ctx, conn, stmt("permission_holders"))
}

// auditedRole is the form of a role in the audit log.
type auditedRole struct {
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Permissions []int64 `json:"permissions,omitempty"`
}

func auditedRoleOf(r authz.Role) auditedRole {
	return auditedRole{r.Name, r.Description, r.Permissions}
}

// Change is the transaction of one administrative change of roles or accounts.
type Change struct {
	Tx        sqldb.Tx
	By        authz.Actor
	Principal authz.Principal // the role of By, with its current permissions
	Now       time.Time
}

// WriteChange runs a change in a transaction that has locked the roles and read the principal, so that the principal's
// permissions cannot change before the commit. It returns authz.ErrForbidden if the principal's account is not active.
func WriteChange(
	ctx context.Context, db *sqldb.DB, by authz.Actor, now time.Time,
	run func(ctx context.Context, tx sqldb.Tx, c *Change) error,
) error {
	return db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		c, err := beginChange(ctx, tx, by, now)
		if err != nil {
			return err
		}
		return run(ctx, tx, c)
	})
}

// beginChange locks the roles and then reads the actor's own role, in this order: the actor's permissions may otherwise be
// revoked between the check and the change.
func beginChange(ctx context.Context, tx sqldb.Tx, by authz.Actor, now time.Time) (*Change, error) {
	if err := LockRoles(ctx, tx); err != nil {
		return nil, err
	}
	c := &Change{Tx: tx, By: by, Principal: authz.OperatorPrincipal(), Now: now}
	if by.Kind == authz.Console { // the command line has no account
		return c, nil
	}
	var role int64
	c.Principal = authz.Principal{ID: by.UserID}
	err := sqldb.Each(ctx, tx, func(r sqldb.Rows) error {
		var branch int64
		err := r.Scan(&role, &branch)
		if branch != 0 {
			c.Principal.Branches = append(c.Principal.Branches, branch)
		}
		return err
	}, stmt("principal_select"), by.UserID)
	switch {
	case err != nil:
		return nil, err
	case role == 0:
		return nil, authz.ErrForbidden
	}
	c.Principal.Role, err = SelectRole(ctx, tx, role)
	return c, err
}

// roleEntry returns a new audit entry about a role.
func (c *Change) roleEntry(action string, id int64) audit.Entry {
	return audit.NewEntry(c.By, c.Now, action, "role", strconv.FormatInt(id, 10), 0)
}

// CreateRole creates a role with the permissions that members have, which are those for own data.
func (b *Roles) CreateRole(
	ctx context.Context, by authz.Actor, r authz.Role, now time.Time,
) (made authz.Role, err error) {
	err = WriteChange(ctx, b.db, by, now, func(ctx context.Context, tx sqldb.Tx, c *Change) error {
		own, err := memberPermissions(ctx, tx)
		if err != nil {
			return err
		}
		if err := c.Principal.MayGrant(authz.Role{Name: r.Name}, own); err != nil {
			return err
		}
		if err := checkRoleName(ctx, tx, r); err != nil {
			return err
		}
		id, err := sqldb.Scalar[int64](ctx, tx, stmt("role_insert"), r.Name, r.Description, now.UnixMilli(), by.String())
		if err != nil {
			return err
		}
		queueGrants(tx, id, own)
		documentsql.Changed(tx, now, "role", strconv.FormatInt(id, 10))
		if made, err = SelectRole(ctx, tx, id); err != nil {
			return err
		}
		return auditsql.Record(ctx, tx, c.roleEntry(audit.ActionRoleCreated, id).WithAfter(auditedRoleOf(made)))
	})
	return made, roleNameError(err)
}

// checkRoleName returns authz.ErrRoleName if another role has the name of r. The roles are locked, so none is created or
// renamed before the commit.
func checkRoleName(ctx context.Context, tx sqldb.Tx, r authz.Role) error {
	all, err := selectRoles(ctx, tx)
	if err != nil {
		return err
	}
	return r.CheckName(all)
}

// memberPermissions returns the permissions of members, which every role has at least.
func memberPermissions(ctx context.Context, tx sqldb.Tx) ([]int64, error) {
	return sqldb.Collect(ctx, tx, sqldb.Value[int64], stmt("role_permissions_by_name"), authz.RoleUser)
}

// queueGrants queues grants of permissions to a role.
func queueGrants(tx sqldb.Tx, role int64, permissions []int64) {
	if len(permissions) == 0 {
		return
	}
	tx.Queue(stmt("permission_grant"), sqldb.NewRowSet(len(permissions)).
		Int("role", func(int) int64 { return role }).
		Int("permission", func(i int) int64 { return permissions[i] }))
}

// roleNameError translates a unique violation into authz.ErrRoleName, because only the name of a role is unique.
func roleNameError(err error) error {
	if errors.Is(err, sqldb.ErrUnique) {
		return authz.ErrRoleName
	}
	return err
}

// UpdateRole applies change to a role's name and description.
func (b *Roles) UpdateRole(
	ctx context.Context, by authz.Actor, id int64, now time.Time, change func(authz.Role) (authz.Role, error),
) (r authz.Role, err error) {
	err = WriteChange(ctx, b.db, by, now, func(ctx context.Context, tx sqldb.Tx, c *Change) error {
		current, err := SelectRole(ctx, tx, id)
		if err != nil {
			return err
		}
		// Not even the description of a role with a higher rank may be changed.
		if authz.RankOf(current.Name) > authz.RankOf(c.Principal.Role.Name) {
			return authz.ErrRank
		}
		if r, err = change(current); err != nil {
			return err
		}
		if r.Name != current.Name {
			if err := checkRoleName(ctx, tx, r); err != nil {
				return err
			}
		}
		tx.QueueExactly(1, stmt("role_update"), id, r.Name, r.Description, now.UnixMilli(), by.String())
		documentsql.Changed(tx, now, "role", strconv.FormatInt(id, 10))
		if r, err = SelectRole(ctx, tx, id); err != nil {
			return err
		}
		before := auditedRole{Name: current.Name, Description: current.Description}
		after := auditedRole{Name: r.Name, Description: r.Description}
		return auditsql.Record(ctx, tx, c.roleEntry(audit.ActionRoleUpdated, id).WithBefore(before).WithAfter(after))
	})
	return r, roleNameError(err)
}

// DeleteRole deletes a custom role that no account has.
func (b *Roles) DeleteRole(ctx context.Context, by authz.Actor, id int64, now time.Time) error {
	return WriteChange(ctx, b.db, by, now, func(ctx context.Context, tx sqldb.Tx, c *Change) error {
		r, err := SelectRole(ctx, tx, id)
		if err != nil {
			return err
		}
		if authz.IsDelivered(r.Name) {
			return authz.ErrDelivered
		}
		used, err := sqldb.Scalar[int64](ctx, tx, stmt("role_used"), id)
		switch {
		case err != nil:
			return err
		case used > 0:
			return authz.ErrRoleUsed
		}
		// The grants refer to the role, so they are deleted first.
		tx.Queue(stmt("permission_withdraw"), id, sqldb.IDs(r.Permissions))
		tx.QueueExactly(1, stmt("role_delete"), id)
		documentsql.Deleted(tx, now, "role", strconv.FormatInt(id, 10), r.Version)
		return auditsql.Record(ctx, tx, c.roleEntry(audit.ActionRoleDeleted, id).WithBefore(auditedRoleOf(r)))
	})
}

// SetPermissions replaces a role's permissions. Without a difference it writes nothing.
func (b *Roles) SetPermissions(
	ctx context.Context, by authz.Actor, id int64, permissions []int64, now time.Time,
) (r authz.Role, err error) {
	to := slices.Compact(slices.Sorted(slices.Values(permissions)))
	err = WriteChange(ctx, b.db, by, now, func(ctx context.Context, tx sqldb.Tx, c *Change) error {
		if r, err = SelectRole(ctx, tx, id); err != nil {
			return err
		}
		if err := c.Principal.MayGrant(r, to); err != nil || slices.Equal(r.Permissions, to) {
			return err
		}
		if err := checkPermissions(ctx, tx, to); err != nil {
			return err
		}
		current := r
		without := func(all, removed []int64) []int64 {
			return slices.DeleteFunc(slices.Clone(all), func(id int64) bool { return slices.Contains(removed, id) })
		}
		tx.Queue(stmt("permission_withdraw"), id, sqldb.IDs(without(current.Permissions, to)))
		queueGrants(tx, id, without(to, current.Permissions))
		bumpRoles(tx, now, by, id)
		// This revocation ends no session; it makes other processes reload the role. They poll revocations and role
		// versions every second.
		QueueRevocations(tx, authz.Revocation{Kind: authz.RevokeRole, Subject: strconv.FormatInt(id, 10), At: now})
		if r, err = SelectRole(ctx, tx, id); err != nil {
			return err
		}
		before, after := auditedRole{current.Name, "", current.Permissions}, auditedRole{r.Name, "", r.Permissions}
		return auditsql.Record(ctx, tx, c.roleEntry(audit.ActionPrivileges, id).WithBefore(before).WithAfter(after))
	})
	return r, err
}

// checkPermissions returns an error if one of the ids is not the id of a permission.
func checkPermissions(ctx context.Context, tx sqldb.Tx, permissions []int64) error {
	// The permissions are read under the lock of the roles, so none of them can be deleted before the commit.
	all, err := selectPermissions(ctx, tx)
	if err != nil {
		return err
	}
	for _, id := range permissions {
		if !slices.ContainsFunc(all, func(p authz.Permission) bool { return p.ID == id }) {
			return authz.ErrPermission
		}
	}
	return nil
}

// QueueRevocations queues revocations, which every process reads within a second. A revocation without an id gets a
// new one.
func QueueRevocations(tx sqldb.Tx, all ...authz.Revocation) {
	tx.Queue(stmt("revocation_insert"), sqldb.NewRowSet(len(all)).
		Text("id", func(i int) string { return cmp.Or(all[i].ID, uid.New(all[i].At)) }).
		Text("kind", func(i int) string { return string(all[i].Kind) }).
		Text("subject", func(i int) string { return all[i].Subject }).
		Int("at", func(i int) int64 { return all[i].At.UnixMilli() }))
}

//go:embed *.sql
var files embed.FS

var stmts = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = stmts.Must
