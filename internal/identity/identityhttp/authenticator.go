package identityhttp

import (
	"context"

	"comanda/internal/httpapi"
	"comanda/internal/identity"
)

// TokenAuthenticator resolves an access token to its actor, as identity.Authenticator does.
type TokenAuthenticator interface {
	Authenticate(ctx context.Context, bearer string) (identity.Actor, error)
}

// RouteAuthorizer decides whether an actor may use the route at a position of the route table, as identity.Authorizer
// does.
type RouteAuthorizer interface {
	Authorize(a *identity.Actor, route int) error
}

// Authenticator authenticates and authorizes the requests of accounts for httpapi.Server. The zero value accepts the
// service token only.
type Authenticator struct {
	Tokens TokenAuthenticator
	Routes RouteAuthorizer
	Denied func(l *httpapi.RouteInfo) // called when a permission is missing; may be nil
	Places map[identity.RouteKey]int  // positions of permissions in the route table, for identity.MayUse
}

// Account implements httpapi.Authenticator.
func (d Authenticator) Account(ctx context.Context, token string, l *httpapi.RouteInfo) (context.Context, string, error) {
	if d.Tokens == nil {
		return ctx, "", identity.ErrInvalidToken
	}
	a, err := d.Tokens.Authenticate(ctx, token)
	if err != nil {
		return ctx, "", err
	}
	if err := d.Routes.Authorize(&a, l.Index); err != nil {
		if d.Denied != nil {
			d.Denied(l)
		}
		return ctx, a.String(), err
	}
	a.Request, a.Address = httpapi.RequestID(ctx), httpapi.ClientAddress(ctx)
	ctx = identity.WithMayUse(ctx, func(k identity.RouteKey) bool {
		place, ok := d.Places[k]
		return ok && d.Routes.Authorize(&a, place) == nil
	})
	return identity.WithActor(ctx, a), a.String(), nil
}

// Service implements httpapi.Authenticator. The bearer of the service token works in all branches and may use every route.
func (d Authenticator) Service(ctx context.Context) context.Context {
	ctx = identity.WithMayUse(ctx, func(identity.RouteKey) bool { return true })
	return identity.WithActor(ctx, identity.Actor{
		Kind: identity.Service, AllBranches: true, Request: httpapi.RequestID(ctx), Address: httpapi.ClientAddress(ctx),
	})
}

// Places returns the positions in the route table of the routes that require a permission.
func Places(routes []httpapi.RouteInfo) map[identity.RouteKey]int {
	places := map[identity.RouteKey]int{}
	for _, l := range routes {
		if l.Policy.Permitted() {
			places[identity.RouteKey{Method: l.Method, Path: l.Path}] = l.Index
		}
	}
	return places
}

// Permissions returns the permissions that a route table requires.
func Permissions(routes []httpapi.RouteInfo) []identity.Permission {
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
