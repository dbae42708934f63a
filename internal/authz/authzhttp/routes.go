package authzhttp

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
)

// roleRoutes are the routes of roles and permissions.
type roleRoutes struct{ roles *authz.Roles }

// Roles registers the administration of roles. It does not accept the service token: a script cannot raise permissions.
func Roles(a *httpapi.API, roles *authz.Roles) {
	m := &roleRoutes{roles}
	op := httpapi.Operations("Roles")
	httpapi.Register(a, op("role-list", http.MethodGet, "/api/roles",
		"Lists roles with their permissions", http.StatusOK), httpapi.Admin, m.roleList)
	httpapi.Register(a, op("role-create", http.MethodPost, "/api/roles",
		"Creates a custom role", http.StatusCreated), httpapi.Admin, m.roleCreate)
	httpapi.Register(a, op("role-get", http.MethodGet, "/api/roles/{id}",
		"Returns a role", http.StatusOK), httpapi.Admin, m.roleGet)
	httpapi.Register(a, op("role-change", http.MethodPatch, "/api/roles/{id}",
		"Changes the name or description of a role", http.StatusOK), httpapi.Admin, m.roleChange)
	httpapi.Register(a, op("role-delete", http.MethodDelete, "/api/roles/{id}",
		"Deletes an unused role", http.StatusNoContent), httpapi.Admin, m.roleDelete)
	httpapi.Register(a, op("role-permissions", http.MethodPut, "/api/roles/{id}/permissions",
		"Replaces the permissions of a role", http.StatusOK), httpapi.Admin, m.rolePermissions)
	httpapi.Register(a, op("permission-list", http.MethodGet, "/api/permissions",
		"Lists all permissions, one per route that requires one", http.StatusOK), httpapi.Admin, m.permissions)
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
	out := role{
		ID: strconv.FormatInt(r.ID, 10), Name: r.Name, Description: r.Description, IsDelivered: authz.IsDelivered(r.Name),
		PermissionIDs: make([]string, len(r.Permissions)), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Version: r.Version,
	}
	for i, id := range r.Permissions {
		out.PermissionIDs[i] = strconv.FormatInt(id, 10)
	}
	return out
}

// roleResult returns the response for a role, or the error.
func roleResult(r authz.Role, err error) (*httpapi.Output[role], error) {
	return httpapi.Answer(roleOf, r, err)
}

type listIn struct{ httpapi.Paging }

// roleList slices the page from the whole list: an installation has a dozen roles, not thousands.
func (m *roleRoutes) roleList(ctx context.Context, in *listIn) (*httpapi.Output[httpapi.Listed[role]], error) {
	all, err := m.roles.Store.Roles(ctx)
	if err != nil {
		return nil, err
	}
	return httpapi.OutputOf(httpapi.ListedOf(in.Paging, httpapi.PageOf(in.Paging, all), int64(len(all)), roleOf)), nil
}

type roleIn struct {
	ID int64 `path:"id"`
}

func (m *roleRoutes) roleGet(ctx context.Context, in *roleIn) (*httpapi.Output[role], error) {
	return roleResult(m.roles.Store.Role(ctx, in.ID))
}

type roleCreateIn struct {
	Body struct {
		Name        string `json:"name" text:"line" minLength:"2" maxLength:"32" doc:"Capital letters, digits and underscores."`
		Description string `json:"description,omitempty" text:"lines" maxLength:"500"`
	}
}

func (m *roleRoutes) roleCreate(ctx context.Context, in *roleCreateIn) (*httpapi.Output[role], error) {
	r := authz.Role{Name: in.Body.Name, Description: in.Body.Description}
	return roleResult(m.roles.CreateRole(ctx, authz.ActorOf(ctx), r))
}

type roleChangeIn struct {
	ID int64 `path:"id"`

	Body struct {
		Name        *string `json:"name,omitempty" text:"line" minLength:"2" maxLength:"32"`
		Description *string `json:"description,omitempty" text:"lines" maxLength:"500"`
	}
}

func (m *roleRoutes) roleChange(ctx context.Context, in *roleChangeIn) (*httpapi.Output[role], error) {
	c := authz.RoleChange{Name: in.Body.Name, Description: in.Body.Description}
	return roleResult(m.roles.UpdateRole(ctx, authz.ActorOf(ctx), in.ID, c))
}

func (m *roleRoutes) roleDelete(ctx context.Context, in *roleIn) (*struct{}, error) {
	return nil, m.roles.DeleteRole(ctx, authz.ActorOf(ctx), in.ID)
}

type rolePermissionsIn struct {
	ID int64 `path:"id"`

	Body struct {
		PermissionIDs []string `json:"permissionIds" text:"exact" maxItems:"1000" doc:"The complete new set."`
	}
}

func (m *roleRoutes) rolePermissions(ctx context.Context, in *rolePermissionsIn) (*httpapi.Output[role], error) {
	ids := make([]int64, len(in.Body.PermissionIDs))
	for i, s := range in.Body.PermissionIDs {
		var err error
		if ids[i], err = httpapi.ParseID(s); err != nil {
			return nil, err
		}
	}
	return roleResult(m.roles.SetPermissions(ctx, authz.ActorOf(ctx), in.ID, ids))
}

type permission struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	APIPath   string    `json:"apiPath"`
	Method    string    `json:"method"`
	Module    string    `json:"module"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Version   int64     `json:"version"`
}

func permissionOf(p authz.Permission) permission {
	return permission{
		strconv.FormatInt(p.ID, 10), p.Name, p.Path, p.Method, p.Module, p.CreatedAt, p.UpdatedAt, p.Version,
	}
}

func (m *roleRoutes) permissions(ctx context.Context, in *listIn) (*httpapi.Output[httpapi.Listed[permission]], error) {
	all, err := m.roles.Store.Permissions(ctx)
	if err != nil {
		return nil, err
	}
	return httpapi.OutputOf(httpapi.ListedOf(in.Paging, httpapi.PageOf(in.Paging, all), int64(len(all)), permissionOf)), nil
}
