package authzhttp

import (
	"context"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
)

// TokenAuthenticator resolves an access token to its actor, as account.Authenticator does.
type TokenAuthenticator interface {
	Authenticate(ctx context.Context, bearer string) (authz.Actor, error)
}

// RouteAuthorizer decides whether an actor may use the route at a position of the route table, as authz.Authorizer
// does.
type RouteAuthorizer interface {
	Authorize(a *authz.Actor, route int) error
}

// Authenticator authenticates and authorizes the requests of accounts for httpapi.Server. The zero value accepts the
// service token only.
type Authenticator struct {
	Tokens TokenAuthenticator
	Routes RouteAuthorizer
	Denied func(l *httpapi.RouteInfo) // called when a permission is missing; may be nil
	Places map[authz.RouteKey]int     // positions of permissions in the route table, for authz.MayUse
}

// Account implements httpapi.Authenticator.
func (d Authenticator) Account(ctx context.Context, token string, l *httpapi.RouteInfo) (context.Context, string, error) {
	if d.Tokens == nil {
		return ctx, "", authz.ErrInvalidToken
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
	// Cached actors are shared by requests. a is a copy, so the request's data does not leak into the cache.
	a.Request, a.Address = httpapi.RequestID(ctx), httpapi.ClientAddress(ctx)
	ctx = authz.WithMayUse(ctx, func(k authz.RouteKey) bool {
		// A key that is not a route is refused, so that a misspelt one hides a field instead of showing it.
		place, ok := d.Places[k]
		return ok && d.Routes.Authorize(&a, place) == nil
	})
	return authz.WithActor(ctx, a), a.String(), nil
}

// Service implements httpapi.Authenticator. The bearer of the service token works in all branches and may use every route.
func (d Authenticator) Service(ctx context.Context) context.Context {
	ctx = authz.WithMayUse(ctx, func(authz.RouteKey) bool { return true })
	return authz.WithActor(ctx, authz.Actor{
		Kind: authz.Service, AllBranches: true, Request: httpapi.RequestID(ctx), Address: httpapi.ClientAddress(ctx),
	})
}

// Places returns the positions in the route table of the routes that require a permission.
func Places(routes []httpapi.RouteInfo) map[authz.RouteKey]int {
	places := map[authz.RouteKey]int{}
	for _, l := range routes {
		if l.Policy.Permitted() {
			places[authz.RouteKey{Method: l.Method, Path: l.Path}] = l.Index
		}
	}
	return places
}

// Permissions returns the permissions that a route table requires.
func Permissions(routes []httpapi.RouteInfo) []authz.Permission {
	var all []authz.Permission
	for _, l := range routes {
		if l.Policy.Permitted() {
			all = append(all, authz.Permission{
				Name: l.Name, Path: l.Path, Method: l.Method, Module: l.Module, Own: l.Policy == httpapi.Member,
			})
		}
	}
	return all
}
