package authzhttp

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
)

// OwnPermissions registers the route for the caller's own permissions, which needs no right to read those of
// others.
func OwnPermissions(a *httpapi.API, roles *authz.Roles) {
	m := &roleRoutes{roles}
	httpapi.Register(a, huma.Operation{
		OperationID: "me-permissions", Method: http.MethodGet, Path: "/me/permissions", Tags: []string{"Members"},
		Summary: "Lists your permissions",
	}, httpapi.Member, m.ownPermissions)
}

type ownPermissions struct {
	Permissions []string `json:"permissions" doc:"The routes that you may use, such as GET /api/tables."`
}

func (m *roleRoutes) ownPermissions(ctx context.Context, _ *struct{}) (*httpapi.Output[ownPermissions], error) {
	held, err := m.roles.PermittedRoutes(ctx, authz.ActorOf(ctx))
	if err != nil {
		return nil, err
	}
	// Never null in JSON, also for a role without permissions.
	out := httpapi.OutputOf(ownPermissions{make([]string, len(held))})
	for i, k := range held {
		out.Body.Permissions[i] = k.Method + " " + k.Path
	}
	return out, nil
}
