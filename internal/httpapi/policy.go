package httpapi

import (
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

// The policies.
const (
	Public   Policy = "public"   // anybody
	Guest    Policy = "guest"    // whoever shows a customer token; the room resolves it (GuestHeader) and refuses
	Staff    Policy = "staff"    // the bearer of the service token
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
	case Public, Guest, Staff, Gateway, Internal:
		return true
	}
	return false
}

// security is how the OpenAPI document says the same.
func (p Policy) security() []map[string][]string {
	switch p {
	case Guest:
		return []map[string][]string{{"customerToken": {}}}
	case Staff:
		return []map[string][]string{{"serviceToken": {}}}
	}
	return nil
}

var securitySchemes = map[string]*huma.SecurityScheme{
	"customerToken": {Type: "apiKey", In: "header", Name: CustomerTokenHeader},
	"serviceToken":  {Type: "http", Scheme: "bearer"},
}

var errBearer = fault.New(fault.Unauthenticated, "unauthenticated", "A valid bearer token is needed.")

// guard decides whether a request may pass.
type guard struct {
	token     [sha256.Size]byte
	hasToken  bool
	crossSite *http.CrossOriginProtection
}

func newGuard(c Config) (guard, error) {
	p, err := c.crossOrigin()
	return guard{sha256.Sum256([]byte(c.ServiceToken)), c.ServiceToken != "", p}, err
}

// admit returns the kind of the actor for the log, or why the request may not pass. A gateway's request comes from a
// server or by a redirect from the gateway's site: its signature is what counts, not its origin.
func (g *guard) admit(p Policy, r *http.Request) (actor string, err error) {
	if p != Gateway {
		if err := g.crossSite.Check(r); err != nil {
			return "", fault.New(fault.Forbidden, "cross_origin", "Another site may not send this request.").Because(err)
		}
	}
	switch p {
	case Staff:
		if !g.bearer(r) {
			return "", errBearer
		}
		return "service", nil
	case Guest:
		if r.Header[CustomerTokenHeader] != nil {
			return "guest", nil
		}
	case Gateway:
		return "gateway", nil
	}
	return "anonymous", nil
}

// bearer compares digests, so that neither the length nor the beginning of the token shows in the time it takes.
func (g *guard) bearer(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(token))
	equal := subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1
	return equal && g.hasToken && strings.EqualFold(scheme, "Bearer")
}
