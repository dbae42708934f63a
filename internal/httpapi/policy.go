package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/fault"
	"comanda/internal/telemetry"
)

// Policy says who may call a route. The zero value is no policy, and no route can be registered with it (H1).
type Policy string

// The policies. Staff, Admin and Member routes are permissions: an account may call one if its role holds the
// permission for the route's method and pattern. They differ in whether the service token will do as well, and in whom
// a permission is first given to.
const (
	Public   Policy = "public"   // anybody
	Guest    Policy = "guest"    // whoever shows a customer token; the room resolves it (GuestHeader) and refuses
	Staff    Policy = "staff"    // an account with the permission, or the bearer of the service token
	Admin    Policy = "admin"    // an account with the permission; a script can neither make users nor raise them
	Member   Policy = "member"   // an account with the permission, which every role is given at first: one's own affairs
	Gateway  Policy = "gateway"  // a payment gateway; the room verifies the signature of what it sends
	Internal Policy = "internal" // probes and scrapes: open, not in the contract, not to be forwarded by a proxy
)

// CustomerTokenHeader carries the guest's token.
const CustomerTokenHeader = "X-Customer-Token"

// GuestHeader is embedded in the inputs of guest routes. The token is a Secret: printing the input does not show it.
type GuestHeader struct {
	CustomerToken telemetry.Secret `header:"X-Customer-Token" maxLength:"128" doc:"What the landing answered."`
}

func (p Policy) valid() bool {
	switch p {
	case Public, Guest, Staff, Admin, Member, Gateway, Internal:
		return true
	}
	return false
}

// Permitted tells whether the policy asks for a permission.
func (p Policy) Permitted() bool { return p == Staff || p == Admin || p == Member }

// security is how the OpenAPI document says the same.
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
	"accessToken":   {Type: "http", Scheme: "bearer", BearerFormat: "JWT", Description: "What a login answers."},
	"serviceToken":  {Type: "http", Scheme: "bearer", Description: "The installation's own, for scripts."},
}

// Doorkeeper knows accounts by the access tokens that they bring.
type Doorkeeper interface {
	// Account gives the request's context with the account in it, and the account's name for the record. It refuses
	// with an Unauthenticated fault who cannot be told, and with a Forbidden one who may not use the route.
	Account(ctx context.Context, token string, l *Listing) (_ context.Context, actor string, err error)
	// Service gives the context of a request that brought the service token.
	Service(ctx context.Context) context.Context
}

var errBearer = fault.New(fault.Unauthenticated, "unauthenticated", "A valid bearer token is needed.")

// How records name whoever brings the service token, and whoever brings nothing.
const (
	serviceActor   = "service"
	anonymousActor = "anonymous"
)

// guard decides whether a request may pass.
type guard struct {
	token     [sha256.Size]byte
	hasToken  bool
	crossSite *http.CrossOriginProtection
	keeper    Doorkeeper // nil knows no account
}

func newGuard(c Config) (guard, error) {
	p, err := c.crossOrigin()
	return guard{sha256.Sum256([]byte(c.ServiceToken)), c.ServiceToken != "", p, nil}, err
}

// KeepDoor sets who knows accounts, before Start. Without a doorkeeper only the service token opens anything.
func (s *Server) KeepDoor(d Doorkeeper) { s.guard.keeper = d }

// admit gives the context to go on with and the kind of the actor for the record, or why the request may not pass. A
// gateway's request comes from a server or by a redirect from the gateway's site: its signature is what counts, not its
// origin.
func (g *guard) admit(ctx context.Context, l *Listing, r *http.Request) (_ context.Context, actor string, err error) {
	if l.Policy != Gateway {
		if err := g.crossSite.Check(r); err != nil {
			return ctx, "", fault.New(fault.Forbidden, "cross_origin", "Another site may not send this request.").Because(err)
		}
	}
	switch l.Policy {
	case Staff, Admin, Member:
		return g.known(ctx, l, r)
	case Guest:
		if r.Header[CustomerTokenHeader] != nil {
			return ctx, "guest", nil
		}
	case Gateway:
		return ctx, "gateway", nil
	}
	return ctx, anonymousActor, nil
}

// known asks who the bearer is. A token that is neither the service's nor an account's opens nothing, and the answer
// does not tell which of the two it failed to be.
func (g *guard) known(ctx context.Context, l *Listing, r *http.Request) (context.Context, string, error) {
	token, ok := bearer(r)
	switch {
	case !ok:
		return ctx, "", errBearer
	case g.service(token):
		return g.script(ctx, l)
	case g.keeper == nil:
		return ctx, "", errBearer
	}
	return g.keeper.Account(ctx, token, l)
}

// script admits the bearer of the service token to what needs no account.
func (g *guard) script(ctx context.Context, l *Listing) (context.Context, string, error) {
	if l.Policy != Staff {
		return ctx, serviceActor, fault.New(fault.Forbidden, "account_needed", "Only an account may do this.")
	}
	if g.keeper != nil {
		ctx = g.keeper.Service(ctx)
	}
	return ctx, serviceActor, nil
}

// bearer reads the one Authorization header of a request.
func bearer(r *http.Request) (token string, ok bool) {
	given := r.Header["Authorization"]
	if len(given) != 1 {
		return "", false
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	return token, token != "" && strings.EqualFold(scheme, "Bearer")
}

// service compares digests, so that neither the length nor the beginning of the token shows in the time it takes.
func (g *guard) service(token string) bool {
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1 && g.hasToken
}
