package authzhttp

import (
	"context"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
)

// OwnPermissions registers the route for the caller's own permissions, which needs no right to read those of
// others.
func OwnPermissions(a *httpapi.API, roles *authz.Roles) {
	m, ops := &roleRoutes{roles}, a.Operations("Members", httpapi.Member)
	httpapi.Register(ops, "me-permissions", "GET /me/permissions", "List your permissions", m.ownPermissions)
}

type ownPermissions struct {
	Permissions []string `json:"permissions" doc:"The routes that you may use, such as GET /api/tables."`
}

func (m *roleRoutes) ownPermissions(ctx context.Context, _ *struct{}) (ownPermissions, error) {
	held, err := m.roles.PermittedRoutes(ctx, authz.ActorOf(ctx))
	return ownPermissions{httpapi.Views(held, func(k authz.RouteKey) string { return k.Method + " " + k.Path })}, err
}
