package identityhttp

import (
	"context"

	"comanda/internal/httpapi"
	"comanda/internal/identity"
)

// Guard tells who the bearer of an access token is, as identity.Guard does.
type Guard interface {
	Admit(ctx context.Context, bearer string) (identity.Actor, error)
}

// Rights tells whether an actor may use the route at a place of the route table, as identity.Rights does.
type Rights interface {
	May(a *identity.Actor, route int) error
}

// Door is the doorkeeper of the server. The zero value knows nobody but the bearer of the service token.
type Door struct {
	Guard  Guard
	Rights Rights
	Denied func(l *httpapi.Listing)  // hears whom a permission was missing; nil for nobody
	Places map[identity.RouteKey]int // of permissions in the route table, for identity.Holds
}

// Account implements httpapi.Doorkeeper.
func (d Door) Account(ctx context.Context, token string, l *httpapi.Listing) (context.Context, string, error) {
	if d.Guard == nil {
		return ctx, "", identity.ErrToken
	}
	a, err := d.Guard.Admit(ctx, token)
	if err != nil {
		return ctx, "", err
	}
	if err := d.Rights.May(&a, l.Index); err != nil {
		if d.Denied != nil {
			d.Denied(l)
		}
		return ctx, a.String(), err
	}
	a.Request, a.Address = httpapi.RequestID(ctx), httpapi.ClientAddress(ctx)
	ctx = identity.WithRights(ctx, func(k identity.RouteKey) bool {
		place, ok := d.Places[k]
		return ok && d.Rights.May(&a, place) == nil
	})
	return identity.WithActor(ctx, a), a.String(), nil
}

// Service implements httpapi.Doorkeeper: a script of the house works in all branches.
func (d Door) Service(ctx context.Context) context.Context {
	ctx = identity.WithRights(ctx, func(identity.RouteKey) bool { return true })
	return identity.WithActor(ctx, identity.Actor{
		Kind: identity.Service, AllBranches: true, Request: httpapi.RequestID(ctx), Address: httpapi.ClientAddress(ctx),
	})
}

// Places gives where in the route table the routes stand that are permissions.
func Places(routes []httpapi.Listing) map[identity.RouteKey]int {
	places := map[identity.RouteKey]int{}
	for _, l := range routes {
		if l.Policy.Permitted() {
			places[identity.RouteKey{Method: l.Method, Path: l.Path}] = l.Index
		}
	}
	return places
}

// Permissions gives the permissions that a route table asks for.
func Permissions(routes []httpapi.Listing) []identity.Permission {
	var all []identity.Permission
	for _, l := range routes {
		if l.Policy.Permitted() {
			all = append(all, identity.Permission{
				Name: l.Name, Path: l.Path, Method: l.Method, Module: l.Module, Own: l.Policy == httpapi.Member,
			})
		}
	}
	return all
}
