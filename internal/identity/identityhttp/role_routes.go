package identityhttp

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/httpapi"
	"comanda/internal/identity"
)

func (m *adminRoutes) registerRoles(a *httpapi.API) {
	op := func(id, method, path, summary string, status int) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: path, Tags: []string{"Roles"}, Summary: summary, DefaultStatus: status,
		}
	}
	httpapi.Register(a, op("role-list", http.MethodGet, "/api/roles",
		"All roles with what they may do", http.StatusOK), httpapi.Admin, m.roleList)
	httpapi.Register(a, op("role-create", http.MethodPost, "/api/roles",
		"Makes a role of the house's own", http.StatusCreated), httpapi.Admin, m.roleCreate)
	httpapi.Register(a, op("role-get", http.MethodGet, "/api/roles/{id}",
		"One role", http.StatusOK), httpapi.Admin, m.roleGet)
	httpapi.Register(a, op("role-change", http.MethodPatch, "/api/roles/{id}",
		"Renames or describes a role", http.StatusOK), httpapi.Admin, m.roleChange)
	httpapi.Register(a, op("role-delete", http.MethodDelete, "/api/roles/{id}",
		"Deletes a role that nobody has", http.StatusNoContent), httpapi.Admin, m.roleDelete)
	httpapi.Register(a, op("role-permissions", http.MethodPut, "/api/roles/{id}/permissions",
		"Says what a role may do from now on", http.StatusOK), httpapi.Admin, m.rolePermissions)
	httpapi.Register(a, op("permission-list", http.MethodGet, "/api/permissions",
		"All permissions: one for each route that asks for one", http.StatusOK), httpapi.Admin, m.permissions)
}

type role struct {
	ID            string    `json:"id"`
	Name          string    `json:"name"`
	Description   string    `json:"description"`
	IsDelivered   bool      `json:"isDelivered" doc:"It can be neither renamed nor deleted."`
	PermissionIDs []string  `json:"permissionIds"`
	CreatedAt     time.Time `json:"createdAt"`
	UpdatedAt     time.Time `json:"updatedAt"`
	Version       int64     `json:"version"`
}

func roleOf(r identity.Role) role {
	out := role{
		ID: strconv.FormatInt(r.ID, 10), Name: r.Name, Description: r.Description, IsDelivered: identity.IsDelivered(r.Name),
		PermissionIDs: make([]string, len(r.Permissions)), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Version: r.Version,
	}
	for i, id := range r.Permissions {
		out.PermissionIDs[i] = strconv.FormatInt(id, 10)
	}
	return out
}

type roleOut struct{ Body role }

func roleResult(r identity.Role, err error) (*roleOut, error) {
	if err != nil {
		return nil, err
	}
	return &roleOut{roleOf(r)}, nil
}

type listIn struct{ Paging }

type rolesOut struct{ Body listed[role] }

// roleList slices the page from the whole list: an installation has a dozen roles, not thousands.
func (m *adminRoutes) roleList(ctx context.Context, in *listIn) (*rolesOut, error) {
	all, err := m.administration.Roles.Roles(ctx)
	if err != nil {
		return nil, err
	}
	return &rolesOut{pageOf(in.Paging, pageSlice(in.Paging, all), int64(len(all)), roleOf)}, nil
}

func pageSlice[T any](p Paging, all []T) []T {
	all = all[min(p.offset(), len(all)):]
	return all[:min(p.Size, len(all))]
}

type roleIn struct {
	ID int64 `path:"id"`
}

func (m *adminRoutes) roleGet(ctx context.Context, in *roleIn) (*roleOut, error) {
	return roleResult(m.administration.Roles.Role(ctx, in.ID))
}

type roleCreateIn struct {
	Body struct {
		Name        string `json:"name" text:"line" minLength:"2" maxLength:"32" doc:"Capital letters, digits and underscores."`
		Description string `json:"description,omitempty" text:"lines" maxLength:"500"`
	}
}

func (m *adminRoutes) roleCreate(ctx context.Context, in *roleCreateIn) (*roleOut, error) {
	r := identity.Role{Name: in.Body.Name, Description: in.Body.Description}
	return roleResult(m.administration.CreateRole(ctx, identity.ActorOf(ctx), r))
}

type roleChangeIn struct {
	ID int64 `path:"id"`

	Body struct {
		Name        *string `json:"name,omitempty" text:"line" minLength:"2" maxLength:"32"`
		Description *string `json:"description,omitempty" text:"lines" maxLength:"500"`
	}
}

func (m *adminRoutes) roleChange(ctx context.Context, in *roleChangeIn) (*roleOut, error) {
	c := identity.RoleChange{Name: in.Body.Name, Description: in.Body.Description}
	return roleResult(m.administration.UpdateRole(ctx, identity.ActorOf(ctx), in.ID, c))
}

func (m *adminRoutes) roleDelete(ctx context.Context, in *roleIn) (*struct{}, error) {
	return nil, m.administration.DeleteRole(ctx, identity.ActorOf(ctx), in.ID)
}

type rolePermissionsIn struct {
	ID int64 `path:"id"`

	Body struct {
		PermissionIDs []string `json:"permissionIds" text:"exact" maxItems:"1000" doc:"All that the role holds afterwards."`
	}
}

func (m *adminRoutes) rolePermissions(ctx context.Context, in *rolePermissionsIn) (*roleOut, error) {
	ids := make([]int64, len(in.Body.PermissionIDs))
	for i, s := range in.Body.PermissionIDs {
		var err error
		if ids[i], err = parseID(s); err != nil {
			return nil, err
		}
	}
	return roleResult(m.administration.SetPermissions(ctx, identity.ActorOf(ctx), in.ID, ids))
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

func permissionOf(p identity.Permission) permission {
	return permission{
		strconv.FormatInt(p.ID, 10), p.Name, p.Path, p.Method, p.Module, p.CreatedAt, p.UpdatedAt, p.Version,
	}
}

type permissionsOut struct{ Body listed[permission] }

func (m *adminRoutes) permissions(ctx context.Context, in *listIn) (*permissionsOut, error) {
	all, err := m.administration.Roles.Permissions(ctx)
	if err != nil {
		return nil, err
	}
	return &permissionsOut{pageOf(in.Paging, pageSlice(in.Paging, all), int64(len(all)), permissionOf)}, nil
}
