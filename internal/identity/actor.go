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

type actorKey struct{}

// WithActor puts the actor of a request into its context.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf gives the actor of a request; Anonymous where there is none.
func ActorOf(ctx context.Context) Actor {
	a, _ := ctx.Value(actorKey{}).(Actor)
	return a
}
