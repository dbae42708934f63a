// Package authzhttp authenticates and authorizes requests for the server, and has the routes of roles and permissions.
package authzhttp

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
)

// roleRoutes are the routes of roles and permissions.
type roleRoutes struct{ roles *authz.Roles }

// RegisterRoles registers the administration of roles. It does not accept the service token: a script cannot raise
// permissions.
func RegisterRoles(a *httpapi.API, roles *authz.Roles) {
	m := &roleRoutes{roles}
	ops := a.Operations("Roles", httpapi.Admin)
	httpapi.Register(ops, "role-list", "GET /api/roles", "List roles with their permissions", m.roleList)
	httpapi.Register(ops, "role-create", "POST /api/roles", "Create a role", m.roleCreate, httpapi.Created)
	httpapi.Register(ops, "role-get", "GET /api/roles/{id}", "View a role", m.roleGet)
	httpapi.Register(ops, "role-change", "PATCH /api/roles/{id}",
		"Edit the name or description of a role", m.roleChange)
	httpapi.RegisterOutput(ops, "role-delete", "DELETE /api/roles/{id}", "Delete an unused role", m.roleDelete)
	httpapi.Register(ops, "role-permissions", "PUT /api/roles/{id}/permissions",
		"Set the permissions of a role", m.rolePermissions)
	httpapi.Register(ops, "permission-list", "GET /api/permissions",
		"List all permissions, one per route that requires one", m.permissions)
}

type role struct {
	ID            string    `json:"id"`
	Name          string    `json:"name"`
	Description   string    `json:"description"`
	IsDelivered   bool      `json:"isDelivered" doc:"Built in: cannot be renamed or deleted."`
	PermissionIDs []string  `json:"permissionIds"`
	CreatedAt     time.Time `json:"createdAt"`
	UpdatedAt     time.Time `json:"updatedAt"`
	Version       int64     `json:"version"`
}

// roleOf returns a role as the API shows it. Permissions are ids; their names come from the list of permissions.
func roleOf(r authz.Role) role {
	return role{
		ID: httpapi.FormatID(r.ID), Name: r.Name, Description: r.Description, IsDelivered: authz.IsDelivered(r.Name),
		PermissionIDs: seq.Map(r.Permissions, httpapi.FormatID), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		Version: r.Version,
	}
}

// roleResult returns the response for a role, or the error.
func roleResult(r authz.Role, err error) (role, error) {
	return roleOf(r), err
}

// roleList returns a page of the complete list: an installation has a dozen roles, not thousands.
func (rr *roleRoutes) roleList(ctx context.Context, in *httpapi.Paging) (httpapi.Listed[role], error) {
	all, err := rr.roles.Store.Roles(ctx)
	return httpapi.ListedOf(*in, httpapi.PageOf(*in, all), int64(len(all)), roleOf), err
}

func (rr *roleRoutes) roleGet(ctx context.Context, in *httpapi.ByID) (role, error) {
	return roleResult(rr.roles.Store.Role(ctx, in.ID))
}

type roleCreateIn struct {
	Body struct {
		Name        string `json:"name" text:"line" minLength:"2" maxLength:"32" doc:"Differs from other names in more than case, accents and spaces."`
		Description string `json:"description,omitempty" text:"lines" maxLength:"500"`
	}
}

func (rr *roleRoutes) roleCreate(ctx context.Context, in *roleCreateIn) (role, error) {
	r := authz.Role{Name: in.Body.Name, Description: in.Body.Description}
	return roleResult(rr.roles.CreateRole(ctx, authz.ActorOf(ctx), r))
}

type roleChangeIn struct {
	ID int64 `path:"id"`

	Body struct {
		Name        *string `json:"name,omitempty" text:"line" minLength:"2" maxLength:"32"`
		Description *string `json:"description,omitempty" text:"lines" maxLength:"500"`
	}
}

func (rr *roleRoutes) roleChange(ctx context.Context, in *roleChangeIn) (role, error) {
	c := authz.RoleChange{Name: in.Body.Name, Description: in.Body.Description}
	return roleResult(rr.roles.UpdateRole(ctx, authz.ActorOf(ctx), in.ID, c))
}

func (rr *roleRoutes) roleDelete(ctx context.Context, in *httpapi.ByID) (*struct{}, error) {
	return nil, rr.roles.DeleteRole(ctx, authz.ActorOf(ctx), in.ID)
}

type rolePermissionsIn struct {
	ID int64 `path:"id"`

	Body struct {
		PermissionIDs []string `json:"permissionIds" text:"exact" maxItems:"1000" doc:"The complete new set."`
	}
}

func (rr *roleRoutes) rolePermissions(ctx context.Context, in *rolePermissionsIn) (role, error) {
	ids, err := seq.TryMap(in.Body.PermissionIDs, httpapi.ParseID)
	if err != nil {
		return role{}, err
	}
	return roleResult(rr.roles.SetPermissions(ctx, authz.ActorOf(ctx), in.ID, ids))
}

type permission struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	APIPath   string    `json:"apiPath"`
	Method    string    `json:"method"`
	Module    string    `json:"module"`
	Set       string    `json:"set" doc:"The set that is granted as a whole, such as MONEY. OWN is the user's own account."`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Version   int64     `json:"version"`
}

func permissionOf(p authz.Permission) permission {
	return permission{
		httpapi.FormatID(p.ID), p.Name, p.Path, p.Method, p.Module, string(authz.SetOf(p)), p.CreatedAt, p.UpdatedAt, p.Version,
	}
}

func (rr *roleRoutes) permissions(ctx context.Context, in *httpapi.Paging) (httpapi.Listed[permission], error) {
	all, err := rr.roles.Store.Permissions(ctx)
	return httpapi.ListedOf(*in, httpapi.PageOf(*in, all), int64(len(all)), permissionOf), err
}

// RegisterOwnPermissions registers the route for the caller's own permissions, which requires no permission.
func RegisterOwnPermissions(a *httpapi.API, roles *authz.Roles) {
	m, ops := &roleRoutes{roles}, a.Operations("Members", httpapi.Member)
	httpapi.Register(ops, "me-permissions", "GET /me/permissions", "List your permissions", m.ownPermissions)
}

type ownPermissions struct {
	Permissions []string `json:"permissions" doc:"The routes that you may use, such as GET /api/tables."`
}

func (rr *roleRoutes) ownPermissions(ctx context.Context, _ *struct{}) (ownPermissions, error) {
	held, err := rr.roles.PermittedRoutes(ctx, authz.ActorOf(ctx))
	return ownPermissions{seq.Map(held, func(k authz.RouteKey) string { return k.Method + " " + k.Path })}, err
}
