package identityhttp

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/httpapi"
	"comanda/internal/identity"
)

// held registers what somebody may ask about their own role, which needs no right to see others'.
func (m *admin) held(a *httpapi.API) {
	httpapi.Register(a, huma.Operation{
		OperationID: "me-permissions", Method: http.MethodGet, Path: "/me/permissions", Tags: []string{"Members"},
		Summary: "What one may do",
	}, httpapi.Member, m.ownPermissions)
}

type ownPermissions struct {
	Permissions []string `json:"permissions" doc:"The routes that one may use, such as GET /api/tables."`
}

type ownPermissionsOut struct{ Body ownPermissions }

func (m *admin) ownPermissions(ctx context.Context, _ *struct{}) (*ownPermissionsOut, error) {
	held, err := m.house.Held(ctx, identity.ActorOf(ctx))
	if err != nil {
		return nil, err
	}
	out := &ownPermissionsOut{ownPermissions{make([]string, len(held))}}
	for i, k := range held {
		out.Body.Permissions[i] = k.Method + " " + k.Path
	}
	return out, nil
}
