package identity

import (
	"slices"

	"comanda/internal/fault"
)

// The refusals of administration.
var (
	ErrRank = fault.New(fault.Forbidden, "rank_too_high", "Nobody can make or change somebody above themselves.")
	ErrMore = fault.New(fault.Forbidden, "more_than_own", "Nobody can give away what they may not do themselves.")
	ErrElse = fault.New(fault.Forbidden, "works_elsewhere",
		"They also work in branches that you do not see; somebody who does must change this.")
	ErrBranches  = fault.New(fault.Invalid, "branches_needed", "People of this role need a branch to work in.")
	ErrNoBranch  = fault.New(fault.NotFound, "branch_not_found", "There is no such branch.")
	ErrLastOwner = fault.New(fault.Conflict, "last_owner", "The house needs an owner who can log in.")
)

// Person is what administration must know of an account to decide about it. It is read within the transaction that
// decides, so that nobody uses a power that was taken from them a moment ago.
type Person struct {
	ID       int64 // 0 is the operator at the console, who may do everything
	Role     Role  // with its permissions
	Branches []int64
	Status   Status
}

// Operator is whoever has the installation's console.
func Operator() Person { return Person{Role: Role{Name: RoleOwner}} }

// everything tells whether somebody may do everything, always.
func (by Person) everything() bool { return by.Role.Name == RoleOwner }

// Sees tells whether somebody works in a branch.
func (by Person) Sees(branch int64) bool {
	return EveryBranch(by.Role.Name) || slices.Contains(by.Branches, branch)
}

// SeesPerson tells whether an account is there for somebody: themselves, everybody for whoever works in all branches,
// else whoever works in one of their own. Members and administrators belong to no branch.
func (by Person) SeesPerson(p Person) bool {
	return by.ID == p.ID || EveryBranch(by.Role.Name) || slices.ContainsFunc(p.Branches, by.Sees)
}

// MayChange refuses changes of somebody who is not there for them, who ranks above them, or who also works elsewhere.
func (by Person) MayChange(p Person) error {
	switch {
	case !by.SeesPerson(p):
		return ErrUser
	case RankOf(p.Role.Name) > RankOf(by.Role.Name):
		return ErrRank
	case slices.ContainsFunc(p.Branches, func(b int64) bool { return !by.Sees(b) }):
		return ErrElse
	}
	return nil
}

// MayGive refuses to give somebody a role, and branches with it, that is above the giver, that may do what the giver may
// not, or in branches that the giver does not see. Whoever is told to give what they have not would have it through
// somebody else.
func (by Person) MayGive(r Role, branches []int64) error {
	switch {
	case RankOf(r.Name) > RankOf(by.Role.Name):
		return ErrRank
	case !by.everything() && !holds(by.Role.Permissions, r.Permissions):
		return ErrMore
	case slices.ContainsFunc(branches, func(b int64) bool { return !by.Sees(b) }):
		return ErrNoBranch
	case len(branches) == 0 && IsStaff(r.Name) && !EveryBranch(r.Name):
		return ErrBranches
	}
	return nil
}

// BranchesOf gives the branches that are kept for people of a role: none where all or none are theirs.
func BranchesOf(role string, branches []int64) []int64 {
	if !IsStaff(role) || EveryBranch(role) {
		return nil
	}
	branches = slices.Sorted(slices.Values(branches))
	return slices.Compact(branches)
}

// MayGrant refuses to change what a role holds from one set of permissions to another.
func (by Person) MayGrant(r Role, to []int64) error {
	switch {
	case r.Name == RoleOwner:
		return ErrOwnerAll
	case RankOf(r.Name) > RankOf(by.Role.Name):
		return ErrRank
	case by.everything():
		return nil
	}
	for _, id := range slices.Concat(r.Permissions, to) {
		if slices.Contains(r.Permissions, id) != slices.Contains(to, id) && !slices.Contains(by.Role.Permissions, id) {
			return ErrMore
		}
	}
	return nil
}
