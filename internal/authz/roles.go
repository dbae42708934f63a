package authz

import (
	"context"
	"slices"
	"time"
)

// RoleStore stores roles, normally authzsql. Each change is one transaction that
// checks the rules of Principal and writes the audit log.
type RoleStore interface {
	Roles(ctx context.Context) ([]Role, error)
	Role(ctx context.Context, id int64) (Role, error)
	Permissions(ctx context.Context) ([]Permission, error)
	CreateRole(ctx context.Context, by Actor, r Role, now time.Time) (Role, error)
	UpdateRole(ctx context.Context, by Actor, id int64, now time.Time, change func(Role) (Role, error)) (Role, error)
	DeleteRole(ctx context.Context, by Actor, id int64, now time.Time) error
	SetPermissions(ctx context.Context, by Actor, role int64, permissions []int64, now time.Time) (Role, error)
}

// Roles manages roles. A revoked permission is lost at once in this process and within five seconds in every other.
type Roles struct {
	Store      RoleStore
	Authorizer *Authorizer // may be nil
	Now        func() time.Time
}

// CreateRole creates a custom role. It starts with the permissions that every account has.
func (s *Roles) CreateRole(ctx context.Context, by Actor, r Role) (Role, error) {
	if err := r.Check(); err != nil {
		return Role{}, err
	}
	r, err := s.Store.CreateRole(ctx, by, r, s.Now())
	return r, s.refreshGrants(ctx, err)
}

// RoleChange is a partial update of a role; nil leaves a field as it is.
type RoleChange struct{ Name, Description *string }

// UpdateRole changes the name or description of a role.
func (s *Roles) UpdateRole(ctx context.Context, by Actor, id int64, c RoleChange) (Role, error) {
	return s.Store.UpdateRole(ctx, by, id, s.Now(), func(r Role) (Role, error) {
		if c.Name != nil && *c.Name != r.Name {
			// The rules and defaults refer to built-in roles by name.
			if IsDelivered(r.Name) {
				return r, ErrDelivered
			}
			r.Name = *c.Name
		}
		if c.Description != nil {
			r.Description = *c.Description
		}
		return r, r.Check()
	})
}

// DeleteRole deletes a custom role that no account has.
func (s *Roles) DeleteRole(ctx context.Context, by Actor, id int64) error {
	return s.refreshGrants(ctx, s.Store.DeleteRole(ctx, by, id, s.Now()))
}

// SetPermissions replaces the permissions of a role.
func (s *Roles) SetPermissions(ctx context.Context, by Actor, id int64, permissions []int64) (Role, error) {
	r, err := s.Store.SetPermissions(ctx, by, id, permissions, s.Now())
	return r, s.refreshGrants(ctx, err)
}

// refreshGrants makes this process apply changed roles at once. If it fails the loop does so within a second.
func (s *Roles) refreshGrants(ctx context.Context, err error) error {
	if err == nil && s.Authorizer != nil {
		_ = s.Authorizer.Refresh(ctx)
	}
	return err
}

// PermittedRoutes returns the routes that an actor may use, in the order of the route table. The console shows its
// buttons by it; each request is still authorized.
func (s *Roles) PermittedRoutes(ctx context.Context, who Actor) ([]RouteKey, error) {
	table, err := s.Store.Permissions(ctx)
	if err != nil {
		return nil, err
	}
	var role Role
	// The owner has every permission, whatever is stored for the role, as in Authorizer.Authorize.
	if who.Role != RoleOwner {
		if role, err = s.Store.Role(ctx, who.RoleID); err != nil {
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

// RevocationKind is the kind of subject of a revocation.
type RevocationKind string

// Kinds of revocations. One of a role ends no session: it announces that the role's permissions have changed.
const (
	RevokeSession RevocationKind = "SESSION"
	RevokeUser    RevocationKind = "USER"
	RevokeRole    RevocationKind = "ROLE"
)

// Revocation invalidates access tokens before they expire.
type Revocation struct {
	ID      string // of the row; empty for one made by this process
	Kind    RevocationKind
	Subject string // id of the session, user or role
	At      time.Time
}
