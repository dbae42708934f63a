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
	UserID  int64  // of an Account
	RoleID  int64  // of an Account
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
