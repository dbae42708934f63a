package identity

import (
	"context"
	"slices"
)

// PermittedRoutes returns the routes that an actor may use, in the order of the route table. The console shows its
// buttons by it; each request is still authorized.
func (m *Administration) PermittedRoutes(ctx context.Context, who Actor) ([]RouteKey, error) {
	table, err := m.Roles.Permissions(ctx)
	if err != nil {
		return nil, err
	}
	var role Role
	if who.Role != RoleOwner {
		if role, err = m.Roles.Role(ctx, who.RoleID); err != nil {
			return nil, err
		}
	}
	held := make([]RouteKey, 0, len(table))
	for _, p := range table {
		if who.Role == RoleOwner || slices.Contains(role.Permissions, p.ID) {
			held = append(held, p.Key())
		}
	}
	return held, nil
}
