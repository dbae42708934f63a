package visithttp

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/money"
	"comanda/internal/visit"
)

// RegisterGuest registers the guests' landing routes.
func RegisterGuest(a *httpapi.API, landing *visit.Landing) {
	g, ops := &guest{landing}, a.Operations("Visits", httpapi.Public)
	httpapi.Register(ops, "landing", "GET /cis/landing",
		"Open or join the visit of the table whose code was scanned", g.get)
	httpapi.Register(ops, "landing-post", "POST /cis/landing",
		"Open or join a visit, with the code hidden from proxies and browser histories", g.post)
}

// RegisterScan registers the path of the printed code for a binary without the guest app: it redirects to the landing
// route.
func RegisterScan(a *httpapi.API) {
	a.Handle(httpapi.Route{
		Pattern: "GET /m/{token}", Policy: httpapi.Public, Handler: httpapi.RefusePrefetch(http.HandlerFunc(scan)),
	})
}

// scan moves the token into the query, which is never logged.
func scan(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/cis/landing?qr="+url.QueryEscape(r.PathValue("token")), http.StatusSeeOther)
}

type guest struct{ landing *visit.Landing }

type landingGet struct {
	httpapi.GuestHeader
	QR             string `query:"qr" text:"exact" required:"true" maxLength:"128"`
	AcceptLanguage string `header:"Accept-Language"`

	head, prefetch bool // the method is HEAD; the browser prefetches
}

// Resolve detects requests that must not open a visit: link checkers send HEAD, and browsers prefetch.
func (in *landingGet) Resolve(c huma.Context) []error {
	in.head, in.prefetch = c.Method() == http.MethodHead, httpapi.Prefetching(c.Header)
	return nil
}

type landingPost struct {
	httpapi.GuestHeader
	AcceptLanguage string `header:"Accept-Language"`
	Body           landingRequest
}

type landingRequest struct {
	QR            string `json:"qr" text:"exact" maxLength:"128"`
	CustomerToken string `json:"customerToken,omitempty" text:"exact" maxLength:"128" doc:"For clients that cannot send the header."`
}

type landing struct {
	CustomerToken string `json:"customerToken" doc:"The secret of this phone; send it as X-Customer-Token."`
	VisitID       string `json:"visitId"`
	BranchID      string `json:"branchId"`
	TableID       string `json:"tableId"`
	TableLabel    string `json:"tableLabel"`
	Branch        branch `json:"branch"`

	Paused *paused `json:"paused" doc:"Reason and end of a pause; null while ordering is possible."`
}

// paused is the reason why a branch takes no orders, as guests see it.
type paused struct {
	ReasonCode *string    `json:"reasonCode" enum:"BUSY,STAFF,TECHNICAL,EVENT" doc:"null if the reason is a text."`
	Reason     *string    `json:"reason" doc:"In the language of the response; null if there is a code."`
	Until      *time.Time `json:"until" doc:"null if not known yet."`
}

// pausedOf returns the pause in the locale that the browser prefers among the branch's.
func pausedOf(b catalog.Branch, now time.Time, acceptLanguage string) *paused {
	p := b.Paused(now)
	if p == nil {
		return nil
	}
	out := &paused{Until: httpapi.TimeOrNull(p.Until)}
	if p.Code != "" {
		out.ReasonCode = new(string(p.Code))
		return out
	}
	preferred := append([]catalog.Locale{httpapi.Locale(acceptLanguage, b.Locales...)}, b.Locales...)
	out.Reason = new(p.Texts.In(preferred...))
	return out
}

type branch struct {
	ID       string           `json:"id"`
	Name     string           `json:"name"`
	Currency money.Currency   `json:"currency"`
	Timezone string           `json:"timezone"`
	Locales  []catalog.Locale `json:"locales"`

	SharedCart bool `json:"sharedCart" doc:"Whether the phones of the table share one cart, see /cis/visit/{visitId}/cart."`
}

// get opens visits although the method is GET, because a phone's camera can only open a URL.
func (g *guest) get(ctx context.Context, in *landingGet) (landing, error) {
	switch {
	case in.prefetch:
		return landing{}, httpapi.ErrPrefetch
	case in.head:
		return landing{}, nil // empty, whether or not the code exists
	}
	return g.scan(ctx, in.QR, string(in.CustomerToken), in.AcceptLanguage)
}

func (g *guest) post(ctx context.Context, in *landingPost) (landing, error) {
	token := cmp.Or(string(in.CustomerToken), in.Body.CustomerToken)
	return g.scan(ctx, in.Body.QR, token, in.AcceptLanguage)
}

func (g *guest) scan(ctx context.Context, qr, token, acceptLanguage string) (landing, error) {
	if err := checkLimits(ctx); err != nil {
		return landing{}, err
	}
	l, err := g.landing.Scan(ctx, qr, token)
	if err != nil {
		if errors.Is(err, visit.ErrQRUnknown) { // limits guessing of codes
			_ = httpapi.Allow(ctx, limitFailed, httpapi.ClientNetwork(ctx)) // this request fails in any case
		}
		return landing{}, err
	}
	b := l.Branch
	return landing{
		CustomerToken: l.CustomerToken, VisitID: l.VisitID, BranchID: httpapi.FormatID(b.ID),
		TableID: httpapi.FormatID(l.TableID), TableLabel: l.TableLabel,
		Branch: branch{httpapi.FormatID(b.ID), b.Name, b.Currency, b.Timezone, b.Locales, b.SharedCart},
		Paused: pausedOf(b, g.landing.Now(), acceptLanguage),
	}, nil
}

// The rate limits of scans: of all, and of those with an unknown code.
const (
	limitScans  = "qr_ip"
	limitFailed = "qr_fail_ip"
)

func checkLimits(ctx context.Context) error {
	client := httpapi.ClientNetwork(ctx)
	if err := httpapi.Peek(ctx, limitFailed, client); err != nil {
		return err
	}
	return httpapi.Allow(ctx, limitScans, client)
}
