package authz

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"comanda/internal/fault"
	"comanda/internal/text"
)

// Names of the built-in roles. They cannot be deleted or renamed. Operators may add custom roles.
const (
	RoleOwner   = "OWNER"   // every permission, always
	RoleAdmin   = "ADMIN"   // everything except what only the owner may do
	RoleManager = "MANAGER" // runs branches and their staff
	RoleCashier = "CASHIER" // takes payments
	RoleKitchen = "KITCHEN" // prepares orders
	RoleStaff   = "STAFF"   // serves tables
	RoleUser    = "USER"    // a member: a guest with an account
)

// Rank orders roles. No user may create or change a user of a higher rank.
type Rank int

// Ranks. Custom roles have RankStaff, whatever their permissions.
const (
	RankMember Rank = iota
	RankStaff
	RankManager
	RankAdmin
	RankOwner
)

var ranks = map[string]Rank{
	RoleOwner: RankOwner, RoleAdmin: RankAdmin, RoleManager: RankManager, RoleCashier: RankStaff,
	RoleKitchen: RankStaff, RoleStaff: RankStaff, RoleUser: RankMember,
}

// Delivered returns the built-in roles with their descriptions, highest rank first.
func Delivered() []Role {
	return []Role{
		{Name: RoleOwner, Description: "Owns the restaurant and can do everything."},
		{Name: RoleAdmin, Description: "Administers accounts, settings and the system of all branches."},
		{Name: RoleManager, Description: "Runs branches: menus, tables, orders and people."},
		{Name: RoleCashier, Description: "Takes payments and cancels orders."},
		{Name: RoleKitchen, Description: "Sees orders and 86’s dishes."},
		{Name: RoleStaff, Description: "Serves tables and sees their orders."},
		{Name: RoleUser, Description: "A guest with an account."},
	}
}

// RankOf returns the rank of a role by name.
func RankOf(role string) Rank {
	if r, ok := ranks[role]; ok {
		return r
	}
	return RankStaff
}

// IsDelivered reports whether a role is built in.
func IsDelivered(role string) bool {
	_, ok := ranks[role]
	return ok
}

// IsStaff reports whether users of a role are staff, which all but members are.
func IsStaff(role string) bool { return RankOf(role) > RankMember }

// WorksInEveryBranch reports whether users of a role work in all branches. Others work in their assigned branches.
func WorksInEveryBranch(role string) bool { return RankOf(role) >= RankAdmin }

// Role is a named set of permissions.
type Role struct {
	ID          int64
	Name        string
	Description string
	Permissions []int64 // ids, ascending
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Version     int64
}

// Errors of roles.
var (
	ErrRole       = fault.New(fault.NotFound, "role_not_found", "Role not found.")
	ErrRoleName   = fault.New(fault.Conflict, "role_name_taken", "There is already a role with this name.")
	ErrDelivered  = fault.New(fault.Conflict, "role_delivered", "A built-in role cannot be renamed or deleted.")
	ErrRoleUsed   = fault.New(fault.Conflict, "role_in_use", "This role is still in use.")
	ErrPermission = fault.New(fault.Invalid, "permission_unknown", "Permission not found.")
	ErrOwnerAll   = fault.New(fault.Conflict, "owner_has_everything", "The owner always has every permission.")
)

// The bounds of a role's name and description, in characters.
const (
	minRoleName = 2
	maxRoleName = 32
	maxRoleText = 500
)

// Check returns the rule that a custom role breaks, or nil. Any name is allowed: accounts and grants refer to a role by its
// id, and rules refer to built-in roles only.
func (r Role) Check() error {
	if n := utf8.RuneCountInString(r.Name); n < minRoleName || n > maxRoleName {
		return fault.Newf(fault.Invalid, "invalid", "A role's name has %d to %d characters.", minRoleName, maxRoleName)
	}
	if utf8.RuneCountInString(r.Description) > maxRoleText {
		return fault.Newf(fault.Invalid, "invalid", "A role's description has at most %d characters.", maxRoleText)
	}
	return nil
}

// CheckName returns ErrRoleName if another role of all has a name that people could confuse with r's.
func (r Role) CheckName(all []Role) error {
	if slices.ContainsFunc(all, func(o Role) bool { return o.ID != r.ID && SameRoleName(o.Name, r.Name) }) {
		return ErrRoleName
	}
	return nil
}

// SameRoleName reports whether two names are equal but for case, accents and the characters between words. So no custom
// role is named Owner, and files may write SHIFT_LEAD for Shift lead.
func SameRoleName(a, b string) bool {
	words := func(s string) string {
		return strings.Join(strings.FieldsFunc(text.Fold(s), func(r rune) bool { return r == ' ' || r == '-' || r == '_' }), " ")
	}
	return words(a) == words(b)
}

// containsAll reports whether a set contains another one. Both are sorted.
func containsAll(all, subset []int64) bool {
	return !slices.ContainsFunc(subset, func(id int64) bool {
		_, found := slices.BinarySearch(all, id)
		return !found
	})
}

// RoleStore stores roles, normally authzsql. Each change is one transaction that checks the rules of Principal and
// writes the audit log.
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

// refreshGrants makes this process apply changed roles at once. If that fails, the loop applies them within a second.
func (s *Roles) refreshGrants(ctx context.Context, err error) error {
	if err == nil && s.Authorizer != nil {
		_ = s.Authorizer.Refresh(ctx)
	}
	return err
}

// PermittedRoutes returns the routes that an actor may use, in the order of the route table. The console shows only
// buttons of these routes; each request is authorized nevertheless.
func (s *Roles) PermittedRoutes(ctx context.Context, actor Actor) ([]RouteKey, error) {
	table, err := s.Store.Permissions(ctx)
	if err != nil {
		return nil, err
	}
	var role Role
	// The owner has every permission, whatever is stored for the role, as in Authorizer.Authorize.
	if actor.Role != RoleOwner {
		if role, err = s.Store.Role(ctx, actor.RoleID); err != nil {
			return nil, err
		}
	}
	held := make([]RouteKey, 0, len(table))
	for _, p := range table {
		if actor.Role == RoleOwner || slices.Contains(role.Permissions, p.ID) {
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
	ID      string // the row's id; empty for a revocation made by this process
	Kind    RevocationKind
	Subject string // id of the session, user or role
	At      time.Time
}
