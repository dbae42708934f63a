package identity

import (
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"comanda/internal/fault"
)

// The names of the roles that are delivered. A house may add its own; these cannot be deleted or renamed.
const (
	RoleOwner   = "OWNER"   // everything, always
	RoleAdmin   = "ADMIN"   // everything that is not the owner's own
	RoleManager = "MANAGER" // runs branches and their staff
	RoleCashier = "CASHIER" // takes money
	RoleKitchen = "KITCHEN" // cooks
	RoleStaff   = "STAFF"   // waits at tables
	RoleUser    = "USER"    // a member: a guest with an account
)

// Rank orders roles: nobody makes somebody of a higher one, or changes one.
type Rank int

// The ranks. A house's own roles are ranked with the staff, whatever they may do.
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

// Delivered lists the delivered roles, the highest first, with what they are for.
func Delivered() []Role {
	return []Role{
		{Name: RoleOwner, Description: "Owns the house; may do everything, always."},
		{Name: RoleAdmin, Description: "Administers the installation in all branches."},
		{Name: RoleManager, Description: "Runs branches: menus, tables, orders, staff."},
		{Name: RoleCashier, Description: "Takes money and cancels orders."},
		{Name: RoleKitchen, Description: "Sees orders and takes dishes off the day."},
		{Name: RoleStaff, Description: "Waits at tables: visits and orders."},
		{Name: RoleUser, Description: "A member: a guest with an account."},
	}
}

// RankOf gives the rank of a role by its name.
func RankOf(role string) Rank {
	if r, ok := ranks[role]; ok {
		return r
	}
	return RankStaff
}

// IsDelivered tells whether a role is one of those that are delivered.
func IsDelivered(role string) bool {
	_, ok := ranks[role]
	return ok
}

// IsStaff tells whether people of a role work here. Everybody but members does.
func IsStaff(role string) bool { return RankOf(role) > RankMember }

// EveryBranch tells whether people of a role work in all branches; others work where they were put.
func EveryBranch(role string) bool { return RankOf(role) >= RankAdmin }

// Role is what some people may do.
type Role struct {
	ID          int64
	Name        string
	Description string
	Permissions []int64 // ids, ascending
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Version     int64
}

// The faults of roles.
var (
	ErrRole      = fault.New(fault.NotFound, "role_not_found", "There is no such role.")
	ErrRoleName  = fault.New(fault.Conflict, "role_name_taken", "There is a role with this name.")
	ErrDelivered = fault.New(fault.Conflict, "role_delivered", "A delivered role can be neither renamed nor deleted.")
	ErrRoleUsed  = fault.New(fault.Conflict, "role_in_use", "Somebody has this role.")
	ErrOwnerAll  = fault.New(fault.Conflict, "owner_has_everything", "The owner has every permission, always.")
)

// maxRoleText bounds a role's description, in characters.
const maxRoleText = 500

var roleName = regexp.MustCompile(`^[A-Z][A-Z0-9_]{1,31}$`)

// Check tells what is wrong with a role that a house makes.
func (r Role) Check() error {
	if !roleName.MatchString(r.Name) {
		return fault.New(fault.Invalid, "invalid",
			"A role's name has 2 to 32 capital letters, digits and underscores and begins with a letter.")
	}
	if utf8.RuneCountInString(r.Description) > maxRoleText {
		return fault.Newf(fault.Invalid, "invalid", "A role's description has at most %d characters.", maxRoleText)
	}
	return nil
}

// holds tells whether a set of permissions has all of another. Both are ascending.
func holds(all, some []int64) bool {
	return !slices.ContainsFunc(some, func(id int64) bool {
		_, found := slices.BinarySearch(all, id)
		return !found
	})
}
