package identity

import (
	"context"
	"slices"
	"strconv"
)

// ActorKind says what kind of caller an Actor is.
type ActorKind string

// The kinds of actors.
const (
	Anonymous ActorKind = ""        // nobody that we know; a guest's token is the visit room's affair
	Service   ActorKind = "service" // the bearer of the service token: another system, or a script of the house
	Console   ActorKind = "system"  // the operator at a command, or the installation itself
	Account   ActorKind = "user"    // an account, of the staff or a member
)

// Actor is who sends a request. It travels in the request's context.
type Actor struct {
	Kind    ActorKind
	UserID  int64  // of an Account
	RoleID  int64  // of an Account
	Role    string // its name, such as OWNER
	Session string // id of the login, of an Account
	Request string // id of the request, for the audit log
	Address string // of the client, for the audit log

	AllBranches bool    // works in every branch: owners, administrators, the service token
	Branches    []int64 // where a member of the staff works otherwise
}

// Sees tells whether the actor works in a branch. What somebody does not see is answered as if it did not exist.
func (a Actor) Sees(branch int64) bool { return a.AllBranches || slices.Contains(a.Branches, branch) }

// String names the actor in records: user:7, service, anonymous.
func (a Actor) String() string {
	switch a.Kind {
	case Account:
		return "user:" + strconv.FormatInt(a.UserID, 10)
	case Service, Console:
		return string(a.Kind)
	}
	return "anonymous"
}

type (
	actorKey  struct{}
	rightsKey struct{}
)

// WithActor puts the actor of a request into its context.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf gives the actor of a request; Anonymous where there is none.
func ActorOf(ctx context.Context) Actor {
	a, _ := ctx.Value(actorKey{}).(Actor)
	return a
}

// WithRights puts into a request's context which other routes its actor may use.
func WithRights(ctx context.Context, may func(RouteKey) bool) context.Context {
	return context.WithValue(ctx, rightsKey{}, may)
}

// Holds reports whether the actor of a request may use another route, too: a field that has a route of its own is shown
// only to those who may use it. Without an actor it is false.
func Holds(ctx context.Context, k RouteKey) bool {
	may, ok := ctx.Value(rightsKey{}).(func(RouteKey) bool)
	return ok && may(k)
}
