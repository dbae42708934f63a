package authz

import (
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"comanda/internal/fault"
)

// Names of the built-in roles. Operators may add custom roles; these cannot be deleted or renamed.
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
	ErrRole       = fault.New(fault.NotFound, "role_not_found", "There is no such role.")
	ErrRoleName   = fault.New(fault.Conflict, "role_name_taken", "There is already a role with this name.")
	ErrDelivered  = fault.New(fault.Conflict, "role_delivered", "A built-in role cannot be renamed or deleted.")
	ErrRoleUsed   = fault.New(fault.Conflict, "role_in_use", "This role is still in use.")
	ErrPermission = fault.New(fault.Invalid, "permission_unknown", "There is no such permission.")
	ErrOwnerAll   = fault.New(fault.Conflict, "owner_has_everything", "The owner always has every permission.")
)

// maxRoleText bounds a role's description, in characters.
const maxRoleText = 500

var roleName = regexp.MustCompile(`^[A-Z][A-Z0-9_]{1,31}$`)

// Check returns what is wrong with a custom role, or nil.
func (r Role) Check() error {
	if !roleName.MatchString(r.Name) {
		return fault.New(fault.Invalid, "invalid",
			"A role's name has 2 to 32 capital letters, digits and underscores, and starts with a letter.")
	}
	if utf8.RuneCountInString(r.Description) > maxRoleText {
		return fault.Newf(fault.Invalid, "invalid", "A role's description has at most %d characters.", maxRoleText)
	}
	return nil
}

// containsAll reports whether a set contains another one. Both are sorted.
func containsAll(all, some []int64) bool {
	return !slices.ContainsFunc(some, func(id int64) bool {
		_, found := slices.BinarySearch(all, id)
		return !found
	})
}
