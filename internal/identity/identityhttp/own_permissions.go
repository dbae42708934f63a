package identityhttp

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/httpapi"
	"comanda/internal/identity"
)

// registerOwnPermissions registers the route for the caller's own permissions, which needs no right to read those of
// others.
func (m *adminRoutes) registerOwnPermissions(a *httpapi.API) {
	httpapi.Register(a, huma.Operation{
		OperationID: "me-permissions", Method: http.MethodGet, Path: "/me/permissions", Tags: []string{"Members"},
		Summary: "Lists your permissions",
	}, httpapi.Member, m.ownPermissions)
}

type ownPermissions struct {
	Permissions []string `json:"permissions" doc:"The routes that you may use, such as GET /api/tables."`
}

type ownPermissionsOut struct{ Body ownPermissions }

func (m *adminRoutes) ownPermissions(ctx context.Context, _ *struct{}) (*ownPermissionsOut, error) {
	held, err := m.administration.PermittedRoutes(ctx, identity.ActorOf(ctx))
	if err != nil {
		return nil, err
	}
	out := &ownPermissionsOut{ownPermissions{make([]string, len(held))}}
	for i, k := range held {
		out.Body.Permissions[i] = k.Method + " " + k.Path
	}
	return out, nil
}
