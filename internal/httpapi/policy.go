package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/fault"
	"comanda/internal/telemetry"
)

// Policy states which clients may call a route. The zero value is invalid, so every registration must choose one (H1).
type Policy string

// The policies. Staff, Admin and Member routes are permissions: an account may call them if its role has the permission
// for the route's method and pattern. They differ in whether the service token is accepted, and in the roles that have
// the permission by default.
const (
	Public   Policy = "public"   // any caller
	Guest    Policy = "guest"    // guests with a customer token; the handler verifies it (GuestHeader)
	Staff    Policy = "staff"    // accounts with the permission, or the service token
	Admin    Policy = "admin"    // accounts with the permission; the service token can neither create nor promote users
	Member   Policy = "member"   // accounts with the permission, by default all: the account's own data
	Gateway  Policy = "gateway"  // payment gateways; the handler verifies their signature
	Internal Policy = "internal" // probes and scrapes: open, not in the contract, not to be exposed by a proxy
)

// CustomerTokenHeader is the header with the guest's token.
const CustomerTokenHeader = "X-Customer-Token"

// GuestHeader is embedded in the inputs of guest routes. The token is a Secret, so printing the input does not reveal
// it.
type GuestHeader struct {
	CustomerToken telemetry.Secret `header:"X-Customer-Token" maxLength:"128" doc:"The customer token from the landing."`
}

func (p Policy) valid() bool {
	switch p {
	case Public, Guest, Staff, Admin, Member, Gateway, Internal:
		return true
	}
	return false
}

// Permitted reports whether routes of the policy require a permission.
func (p Policy) Permitted() bool { return p == Staff || p == Admin || p == Member }

// security returns the policy's security requirements for the OpenAPI document.
func (p Policy) security() []map[string][]string {
	switch p {
	case Guest:
		return []map[string][]string{{"customerToken": {}}}
	case Staff:
		return []map[string][]string{{"accessToken": {}}, {"serviceToken": {}}}
	case Admin, Member:
		return []map[string][]string{{"accessToken": {}}}
	}
	return nil
}

var securitySchemes = map[string]*huma.SecurityScheme{
	"customerToken": {Type: "apiKey", In: "header", Name: CustomerTokenHeader},
	"accessToken":   {Type: "http", Scheme: "bearer", BearerFormat: "JWT", Description: "The access token of a login."},
	"serviceToken":  {Type: "http", Scheme: "bearer", Description: "The service token of the installation, for scripts."},
}

// Authenticator authenticates and authorizes accounts by their access tokens.
type Authenticator interface {
	// Account returns the request's context with the account, and the actor for the log record. It returns an
	// Unauthenticated fault for an invalid token, and a Forbidden fault if the account may not use the route.
	Account(ctx context.Context, token string, l *RouteInfo) (_ context.Context, actor string, err error)
	// Service returns the context of a request with the service token.
	Service(ctx context.Context) context.Context
}

var errBearer = fault.New(fault.Unauthenticated, "unauthenticated", "Please log in. A valid bearer token is required.")

// Actors in log records for the service token and for requests without credentials.
const (
	serviceActor   = "service"
	anonymousActor = "anonymous"
)

// authorizer decides whether a request may pass.
type authorizer struct {
	// token is the digest of the service token. Digests have one length, which the comparison in constant time needs.
	token     [sha256.Size]byte
	hasToken  bool
	crossSite *atomic.Pointer[http.CrossOriginProtection] // replaced by SetPublicURL
	accounts  Authenticator                               // nil rejects all accounts
}

// newAuthorizer returns an authorizer that refuses all accounts until SetAuthenticator is called.
func newAuthorizer(c Config) (authorizer, error) {
	p, err := c.crossOrigin()
	crossSite := &atomic.Pointer[http.CrossOriginProtection]{}
	crossSite.Store(p)
	return authorizer{sha256.Sum256([]byte(c.ServiceToken)), c.ServiceToken != "", crossSite, nil}, err
}

// SetAuthenticator sets the Authenticator, before Start. Without it only the service token grants access.
func (s *Server) SetAuthenticator(d Authenticator) { s.auth.accounts = d }

// admit returns the context to continue with and the actor for the log record, or the reason for a refusal. Requests of
// a gateway come from a server or by a redirect from the gateway's site, so they are exempt from the cross-origin
// check; their signature is verified instead.
func (a *authorizer) admit(ctx context.Context, l *RouteInfo, r *http.Request) (_ context.Context, actor string, err error) {
	if l.Policy != Gateway {
		if err := a.crossSite.Load().Check(r); err != nil {
			return ctx, "", fault.New(fault.Forbidden, "cross_origin",
				"This request must not come from another site.").Because(err)
		}
	}
	switch l.Policy {
	case Staff, Admin, Member:
		return a.known(ctx, l, r)
	case Guest:
		// The actor is only a label for the log. The handler verifies the token, because only the handler needs the
		// guest.
		if r.Header[CustomerTokenHeader] != nil {
			return ctx, "guest", nil
		}
	case Gateway:
		return ctx, "gateway", nil
	}
	return ctx, anonymousActor, nil
}

// known authenticates the bearer. A token that is neither the service token nor an account's is refused, and the
// response does not reveal the difference.
func (a *authorizer) known(ctx context.Context, l *RouteInfo, r *http.Request) (context.Context, string, error) {
	token, ok := bearer(r)
	switch {
	case !ok:
		return ctx, "", errBearer
	case a.service(token):
		return a.serviceToken(ctx, l)
	case a.accounts == nil:
		return ctx, "", errBearer
	}
	return a.accounts.Account(ctx, token, l)
}

// serviceToken authorizes the service token for routes that need no account.
func (a *authorizer) serviceToken(ctx context.Context, l *RouteInfo) (context.Context, string, error) {
	if l.Policy != Staff {
		return ctx, serviceActor, fault.New(fault.Forbidden, "account_needed",
			"This requires an account. The service token is not enough.")
	}
	// A server without accounts has no actors to put into the context.
	if a.accounts != nil {
		ctx = a.accounts.Service(ctx)
	}
	return ctx, serviceActor, nil
}

// bearer returns the token of the Authorization header, if there is exactly one.
func bearer(r *http.Request) (token string, ok bool) {
	given := r.Header["Authorization"]
	if len(given) != 1 {
		return "", false
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	return token, token != "" && strings.EqualFold(scheme, "Bearer")
}

// service compares digests in constant time, so that timing reveals neither the length nor a prefix of the token.
func (a *authorizer) service(token string) bool {
	// With no service token configured a.token is the digest of "", which hasToken rules out.
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(sum[:], a.token[:]) == 1 && a.hasToken
}
