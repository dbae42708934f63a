package accounthttp

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"comanda/internal/account"
	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/telemetry"
)

// googleCookie binds a sign-in with Google to the browser that has started it.
const googleCookie = "comanda_google"

// googleRoutes are the routes of signing in with Google.
type googleRoutes struct {
	google *account.Google
	member *memberRoutes
}

// RegisterGoogle registers the routes. The pages of the guest app go to Google and come back to /shop/google, which
// posts the code, so that no token is ever part of an address.
func RegisterGoogle(a *httpapi.API, google *account.Google, accounts *account.Service, secure func() bool) {
	m := &googleRoutes{google, &memberRoutes{accounts, secure}}
	ops := a.Operations("Members", httpapi.Public)
	httpapi.RegisterOutput(ops, "google-start", "POST /auth/google/start", "Begin to log in with Google", m.start)
	httpapi.RegisterOutput(ops, "google-finish", "POST /auth/google/finish", "Log in with the code of Google", m.finish)
	own := a.Operations("Members", httpapi.Member)
	httpapi.RegisterOutput(own, "me-google-start", "POST /me/google/start", "Begin to connect your Google account", m.startLink)
	httpapi.RegisterOutput(own, "me-google-finish", "POST /me/google/finish",
		"Connect your Google account with its code", m.finishLink)
	httpapi.Register(own, "me-google-unlink", "POST /me/google/unlink", "Disconnect your Google account", m.unlink)
}

// GoogleCookieOut is embedded in outputs that set the cookie. It is exported because huma only reads exported parts.
type GoogleCookieOut struct {
	SetCookie []http.Cookie `header:"Set-Cookie" doc:"The cookie of the sign-in."`
}

// cookie keeps a flow in the browser; an empty one removes it. Scripts cannot read it, and other sites cannot send it: the
// page that posts the code is ours.
func (r *googleRoutes) cookie(flow string) http.Cookie {
	age := int(account.GoogleFlowTTL.Seconds())
	if flow == "" {
		age = -1
	}
	return http.Cookie{ //nolint:gosec // browsers drop secure cookies without https
		Name: googleCookie, Value: flow, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.member.secure(),
	}
}

type googleStarted struct {
	GoogleCookieOut

	Body struct {
		URL string `json:"url" doc:"The page at Google to open. It returns to /shop/google with code and state."`
	}
}

func (r *googleRoutes) started(url, flow string, err error) (*googleStarted, error) {
	if err != nil {
		return nil, err
	}
	out := &googleStarted{GoogleCookieOut: GoogleCookieOut{[]http.Cookie{r.cookie(flow)}}}
	out.Body.URL = url
	return out, nil
}

type googleStartIn struct{ CallerIn }

func (r *googleRoutes) start(ctx context.Context, in *googleStartIn) (*googleStarted, error) {
	return r.started(r.google.Start(ctx, in.caller))
}

type googlePasswordBody struct {
	CurrentPassword telemetry.Secret `json:"currentPassword" minLength:"1" maxLength:"128"`
}

type googleLinkIn struct {
	CallerIn

	Body googlePasswordBody
}

func (r *googleRoutes) startLink(ctx context.Context, in *googleLinkIn) (*googleStarted, error) {
	return r.started(r.google.StartLink(ctx, authz.ActorOf(ctx), string(in.Body.CurrentPassword), in.caller))
}

// GoogleCodeIn is the end of a flow. It is exported because huma only reads exported parts.
type GoogleCodeIn struct {
	Flow telemetry.Secret `cookie:"comanda_google" doc:"Set when the sign-in began."`
	Body struct {
		Code  telemetry.Secret `json:"code" minLength:"1" maxLength:"2048"`
		State telemetry.Secret `json:"state" minLength:"1" maxLength:"128"`
	}
}

type googleFinishIn struct {
	CallerIn
	DeviceCookieIn
	GoogleCodeIn
}

func (r *googleRoutes) finish(ctx context.Context, in *googleFinishIn) (*loginOut, error) {
	in.caller.DeviceCookie = string(in.DeviceCookie)
	g, err := r.google.Finish(ctx, string(in.Flow), string(in.Body.State), string(in.Body.Code), in.caller)
	if err != nil {
		return nil, err
	}
	out := &loginOut{r.member.setDeviceCookie(g.DeviceCookie), grantOf(g)}
	out.SetCookie = append(out.SetCookie, r.cookie(""))
	return out, nil
}

type googleFinishLinkIn struct {
	CallerIn
	GoogleCodeIn
}

type googleLinked struct {
	GoogleCookieOut

	Body Account
}

func (r *googleRoutes) finishLink(ctx context.Context, in *googleFinishLinkIn) (*googleLinked, error) {
	u, err := r.google.FinishLink(
		ctx, authz.ActorOf(ctx), string(in.Flow), string(in.Body.State), string(in.Body.Code), in.caller)
	if err != nil {
		return nil, err
	}
	return &googleLinked{GoogleCookieOut{[]http.Cookie{r.cookie("")}}, accountOf(u)}, nil
}

type googleUnlinkIn struct {
	CallerIn

	Body googlePasswordBody
}

func (r *googleRoutes) unlink(ctx context.Context, in *googleUnlinkIn) (Account, error) {
	return accountResult(r.google.Unlink(ctx, authz.ActorOf(ctx), string(in.Body.CurrentPassword), in.caller))
}

// registerPins registers the routes by which staff take over a shared tablet.
func (r *memberRoutes) registerPins(a *httpapi.API) {
	ops := a.Operations("Members", httpapi.Member)
	httpapi.RegisterOutput(ops, "me-pin", "PUT /me/pin", "Set your PIN", r.setPin)
	httpapi.RegisterOutput(ops, "me-pin-remove", "DELETE /me/pin", "Remove your PIN", r.removePin)
	httpapi.Register(ops, "pin-colleagues", "GET /auth/pin",
		"List the colleagues who can take over this device by PIN", r.colleagues)
	httpapi.Register(ops, "pin-login", "POST /auth/pin",
		"Let a colleague take over this device by PIN; their session ends no later than yours", r.takeOver)
}

type pinIn struct {
	Body struct {
		Password telemetry.Secret `json:"password" minLength:"1" maxLength:"128" doc:"The current password."`
		Pin      telemetry.Secret `json:"pin" minLength:"4" maxLength:"8" doc:"4 to 8 digits."`
	}
}

func (r *memberRoutes) setPin(ctx context.Context, in *pinIn) (*struct{}, error) {
	return nil, r.accounts.SetPin(ctx, authz.ActorOf(ctx), string(in.Body.Password), string(in.Body.Pin))
}

func (r *memberRoutes) removePin(ctx context.Context, _ *struct{}) (*struct{}, error) {
	return nil, r.accounts.RemovePin(ctx, authz.ActorOf(ctx))
}

type colleague struct {
	UserID    string `json:"userId"`
	Name      string `json:"name"`
	Role      string `json:"role"`
	IsBlocked bool   `json:"isBlocked" doc:"Too many wrong PINs. Only your own blocked PIN is listed."`
}

// colleagues returns all colleagues by name in one page: a branch has few.
func (r *memberRoutes) colleagues(ctx context.Context, in *httpapi.NameOrder) (httpapi.List[colleague], error) {
	all, err := r.accounts.Colleagues(ctx, authz.ActorOf(ctx))
	list := httpapi.ListOf(all, len(all), func(c account.Colleague) colleague {
		return colleague{httpapi.FormatID(c.UserID), c.Name(in.Language()), c.Role, c.Blocked}
	})
	slices.SortStableFunc(list.Items, func(a, b colleague) int { return cmp.Compare(a.Name, b.Name) })
	return list, err
}

type takeOverIn struct {
	CallerIn

	Body struct {
		UserID string           `json:"userId" pattern:"^[1-9][0-9]{0,17}$"`
		Pin    telemetry.Secret `json:"pin" minLength:"4" maxLength:"8"`
	}
}

// takeOver needs the session of the colleague who is logged in; the new session does not end that one.
func (r *memberRoutes) takeOver(ctx context.Context, in *takeOverIn) (grant, error) {
	user := httpapi.IDOf(in.Body.UserID)
	g, err := r.accounts.TakeOver(ctx, authz.ActorOf(ctx), user, string(in.Body.Pin), in.caller)
	return grantOf(g), err
}

// RegisterSetup registers the routes of an installation without an owner.
func RegisterSetup(a *httpapi.API, setup *account.Setup) {
	ops := a.Operations("Set-up", httpapi.Public)
	httpapi.Register(ops, "setup", "POST /auth/setup", "Create the first owner with the code that the server printed",
		func(ctx context.Context, in *setupIn) (Account, error) {
			p := account.Profile{Email: in.Body.Email, Username: in.Body.Username}
			return accountResult(setup.CreateOwner(ctx, string(in.Body.Code), p, string(in.Body.Password), in.caller))
		}, httpapi.Created)
	httpapi.Register(ops, "setup-state", "GET /auth/setup", "Check whether the first owner is still missing",
		func(ctx context.Context, _ *struct{}) (setupState, error) {
			needed, err := setup.Needed(ctx)
			return setupState{needed}, err
		})
}

type setupState struct {
	IsNeeded bool `json:"isNeeded" doc:"Whether the first owner is missing. The server has then printed a link that creates one."`
}

type setupIn struct {
	CallerIn

	Body struct {
		Code     telemetry.Secret `json:"code" minLength:"1" maxLength:"128"`
		Email    string           `json:"email" text:"line" minLength:"3" maxLength:"254"`
		Username string           `json:"username,omitempty" text:"line" maxLength:"64"`
		Password telemetry.Secret `json:"password" minLength:"15" maxLength:"128" doc:"Used exactly as sent; not trimmed."`
	}
}
