package authz

import (
	"context"
	"slices"
	"strconv"

	"comanda/internal/fault"
)

// ActorKind is the kind of caller of an Actor.
type ActorKind string

// The kinds of actors.
const (
	Anonymous ActorKind = ""        // unknown; guests are identified by package visit
	Service   ActorKind = "service" // the bearer of the service token: another system or a script
	Console   ActorKind = "system"  // the operator's command line, or the installation itself
	Account   ActorKind = "user"    // an account of the staff or of a member
)

// Actor is the caller of a request. The request's context carries it.
type Actor struct {
	Kind    ActorKind
	UserID  int64  // for an Account only
	RoleID  int64  // for an Account only
	Role    string // name of the role, such as OWNER
	Session string // session id, of an Account
	Request string // request id, for the audit log
	Address string // client address, for the audit log

	AllBranches bool    // works in every branch: owners, administrators, the service token
	Branches    []int64 // branches of a staff member without AllBranches
}

// Sees reports whether the actor works in a branch. Data of other branches is reported as not found.
func (a Actor) Sees(branch int64) bool { return a.AllBranches || slices.Contains(a.Branches, branch) }

// String returns the actor's name in records: user:7, service, system or anonymous.
func (a Actor) String() string {
	switch a.Kind {
	case Account:
		return "user:" + strconv.FormatInt(a.UserID, 10)
	case Service, Console:
		return string(a.Kind)
	}
	return "anonymous"
}

// System returns the actor of the operator's command line and of the installation itself.
func System() Actor { return Actor{Kind: Console, AllBranches: true} }

// Principal returns the actor for checks of visibility; it has no permissions.
func (a Actor) Principal() Principal {
	p := Principal{ID: a.UserID, Role: Role{Name: a.Role}, Branches: a.Branches}
	// The service token and the command line have no role; they see what an owner sees.
	if a.AllBranches && a.Kind != Account {
		p.Role.Name = RoleOwner
	}
	return p
}

type (
	actorKey  struct{}
	mayUseKey struct{}
)

// WithActor returns a context that carries the actor of a request.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf returns the actor of a request, or an Anonymous one.
func ActorOf(ctx context.Context) Actor {
	a, _ := ctx.Value(actorKey{}).(Actor)
	return a
}

// Everywhere returns a handler that refuses actors who are restricted to some branches, for data of all branches.
func Everywhere[I, O any](handle func(context.Context, I) (O, error)) func(context.Context, I) (O, error) {
	return func(ctx context.Context, in I) (O, error) {
		if !ActorOf(ctx).AllBranches {
			return *new(O), ErrForbidden
		}
		return handle(ctx, in)
	}
}

// WithMayUse returns a context that answers MayUse with may.
func WithMayUse(ctx context.Context, may func(RouteKey) bool) context.Context {
	return context.WithValue(ctx, mayUseKey{}, may)
}

// MayUse reports whether the actor of a request may also use route k. Handlers hide fields that have a route of their
// own from actors who may not use it. Without an actor it returns false.
func MayUse(ctx context.Context, k RouteKey) bool {
	may, ok := ctx.Value(mayUseKey{}).(func(RouteKey) bool)
	return ok && may(k)
}

// ErrInvalidToken refuses an access token. It does not say why: only the bearer of a valid token needs details.
var ErrInvalidToken = fault.New(fault.Unauthenticated, "unauthenticated", "A valid bearer token is required.")

// Errors of administration.
var (
	ErrUser             = fault.New(fault.NotFound, "user_not_found", "User not found.")
	ErrRank             = fault.New(fault.Forbidden, "rank_too_high", "You cannot create or change a user of a higher rank.")
	ErrExceedsOwnRights = fault.New(fault.Forbidden, "more_than_own", "You cannot grant permissions that you do not have.")
	ErrOtherBranches    = fault.New(fault.Forbidden, "works_elsewhere",
		"This user also works in branches that you cannot see. Ask an administrator.")
	ErrBranches  = fault.New(fault.Invalid, "branches_needed", "This role needs at least one branch.")
	ErrNoBranch  = fault.New(fault.NotFound, "branch_not_found", "Branch not found.")
	ErrLastOwner = fault.New(fault.Conflict, "last_owner", "At least one owner must be able to log in.")
)

// Principal has the fields of an account that the rules of administration check. It is read within the transaction
// that it authorizes, so that a permission revoked a moment ago no longer counts.
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
