package authz

import (
	"slices"

	"comanda/internal/fault"
)

// Errors of administration.
var (
	ErrUser             = fault.New(fault.NotFound, "user_not_found", "There is no such user.")
	ErrRank             = fault.New(fault.Forbidden, "rank_too_high", "You cannot create or change a user of a higher rank.")
	ErrExceedsOwnRights = fault.New(fault.Forbidden, "more_than_own", "You cannot grant permissions that you do not have.")
	ErrOtherBranches    = fault.New(fault.Forbidden, "works_elsewhere",
		"This user also works in branches that you cannot see. Ask an administrator.")
	ErrBranches  = fault.New(fault.Invalid, "branches_needed", "This role needs at least one branch.")
	ErrNoBranch  = fault.New(fault.NotFound, "branch_not_found", "There is no such branch.")
	ErrLastOwner = fault.New(fault.Conflict, "last_owner", "At least one owner must be able to log in.")
)

// Principal is what the rules of administration need of an account. It is read within the transaction that it
// authorizes, so that a permission revoked a moment ago no longer counts.
type Principal struct {
	ID       int64 // 0 is the operator at the command line, who may do everything
	Role     Role  // with its permissions
	Branches []int64
}

// OperatorPrincipal returns the principal of the installation's command line.
func OperatorPrincipal() Principal { return Principal{Role: Role{Name: RoleOwner}} }

// mayDoEverything reports whether the principal has every permission.
func (by Principal) mayDoEverything() bool { return by.Role.Name == RoleOwner }

// Sees reports whether the principal works in a branch.
func (by Principal) Sees(branch int64) bool {
	return WorksInEveryBranch(by.Role.Name) || slices.Contains(by.Branches, branch)
}

// SeesUser reports whether an account is visible: the principal's own, every account for those who work in all
// branches, else accounts that work in one of the principal's branches. Members and administrators belong to no branch.
func (by Principal) SeesUser(p Principal) bool {
	return by.ID == p.ID || WorksInEveryBranch(by.Role.Name) || slices.ContainsFunc(p.Branches, by.Sees)
}

// MayChange returns an error if the account is invisible, of a higher rank, or also works in branches that the
// principal does not see. Changing a user who also works elsewhere would end sessions in a branch that the principal
// does not run.
func (by Principal) MayChange(p Principal) error {
	switch {
	case !by.SeesUser(p):
		return ErrUser
	case RankOf(p.Role.Name) > RankOf(by.Role.Name):
		return ErrRank
	case slices.ContainsFunc(p.Branches, func(b int64) bool { return !by.Sees(b) }):
		return ErrOtherBranches
	}
	return nil
}

// MayAssign returns an error if the role has a higher rank or a permission that the principal lacks, or a branch is
// invisible to the principal. Otherwise a user could gain permissions through an account that they create.
func (by Principal) MayAssign(r Role, branches []int64) error {
	switch {
	case RankOf(r.Name) > RankOf(by.Role.Name):
		return ErrRank
	case !by.mayDoEverything() && !containsAll(by.Role.Permissions, r.Permissions):
		return ErrExceedsOwnRights
	case slices.ContainsFunc(branches, func(b int64) bool { return !by.Sees(b) }):
		return ErrNoBranch
	case len(branches) == 0 && IsStaff(r.Name) && !WorksInEveryBranch(r.Name):
		return ErrBranches
	}
	return nil
}

// BranchesOf returns the branches to store for a user of a role, sorted; none for roles that work in all branches or in
// none.
func BranchesOf(role string, branches []int64) []int64 {
	if !IsStaff(role) || WorksInEveryBranch(role) {
		return nil
	}
	// Sorted and without duplicates, so that the audit log shows equal assignments alike.
	branches = slices.Sorted(slices.Values(branches))
	return slices.Compact(branches)
}

// MayGrant returns an error if the principal may not replace a role's permissions with another set.
func (by Principal) MayGrant(r Role, to []int64) error {
	switch {
	case r.Name == RoleOwner:
		return ErrOwnerAll
	case RankOf(r.Name) > RankOf(by.Role.Name):
		return ErrRank
	case by.mayDoEverything():
		return nil
	}
	// Only differences count: a role may keep permissions that the principal lacks.
	for _, id := range slices.Concat(r.Permissions, to) {
		if slices.Contains(r.Permissions, id) != slices.Contains(to, id) && !slices.Contains(by.Role.Permissions, id) {
			return ErrExceedsOwnRights
		}
	}
	return nil
}
